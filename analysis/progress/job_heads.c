/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/graph.h"
#include "analysis/progress/job_heads.h"
#include "model/arena.h"
#include "model/job/callpath.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/pair_map.h"

static void collect_shapes(struct job_heads *jh)
{
	const struct job_model *jm = jh->jm;

	for (size_t i = 0; i < jm->num_lanes; i++) {
		const struct job_lane *lane = &jm->lanes[i];
		uint64_t key = (uintptr_t)lane->site_map;
		uint32_t shape = pair_map_get(jh->shape_of, key);

		if (shape == PAIR_NONE) {
			shape = (uint32_t)jh->num_shapes;
			pair_map_add(jh->shape_of, key, shape);
			*ARENA_PUSH(jh->scratch, jh->shapes, jh->num_shapes, jh->shapes_capacity) =
				(struct shape){
					.site_map = lane->site_map,
					.num_sites = lane->model->num_sites,
				};
		}
		if (i > 0 && jm->lanes[i - 1].rank == lane->rank)
			continue;
		jh->num_ranks++;
		jh->shapes[shape].num_ranks++;
	}
	for (size_t i = 0; i < jh->num_shapes; i++)
		for (size_t s = 0; s < jh->shapes[i].num_sites; s++)
			jh->visits[jh->shapes[i].site_map[s]] += jh->shapes[i].num_ranks;
}

/* By site, so that a loop of few does not take a look at all that each shape has. */
static void collect_visitors(struct job_heads *jh)
{
	size_t num_sites = jh->jm->num_sites;
	size_t *at = jh->first_visitor = arena_array(jh->scratch, num_sites + 2, sizeof(*at));

	/* at[site + 2] counts them, then at[site + 1] is the next free place of the site. */
	for (size_t i = 0; i < jh->num_shapes; i++)
		for (size_t s = 0; s < jh->shapes[i].num_sites; s++)
			at[jh->shapes[i].site_map[s] + 2]++;
	for (size_t site = 2; site < num_sites + 2; site++)
		at[site] += at[site - 1];
	jh->visitors = arena_array(jh->scratch, at[num_sites + 1], sizeof(*jh->visitors));
	jh->visitor_sites = arena_array(jh->scratch, at[num_sites + 1], sizeof(*jh->visitor_sites));
	for (size_t i = 0; i < jh->num_shapes; i++)
		for (size_t s = 0; s < jh->shapes[i].num_sites; s++) {
			size_t v = at[jh->shapes[i].site_map[s] + 1]++;

			jh->visitors[v] = (uint32_t)i;
			jh->visitor_sites[v] = (uint32_t)s;
		}
	jh->shape_stamp = arena_array(jh->scratch, jh->num_shapes, sizeof(*jh->shape_stamp));
}

uint32_t job_heads_count_runners(struct job_heads *jh, const struct loop_part *part)
{
	uint32_t num = 0;

	jh->part_stamp++;
	for (size_t i = 0; i < part->num_states; i++)
		jh->in_part[SEG_STATE_SITE(part->states[i])] = jh->part_stamp;
	for (size_t i = 0; i < part->num_states && num < jh->num_ranks; i++) {
		uint32_t site = SEG_STATE_SITE(part->states[i]);

		for (size_t v = jh->first_visitor[site]; v < jh->first_visitor[site + 1]; v++) {
			uint32_t shape = jh->visitors[v];

			if (jh->shape_stamp[shape] == jh->part_stamp)
				continue;
			jh->shape_stamp[shape] = jh->part_stamp;
			num += jh->shapes[shape].num_ranks;
		}
	}
	return num;
}

/* A call that all ranks make in the loop. */
struct mark {
	uint32_t state;           /* enter */
	bool is_repeated;         /* right after itself */
	struct range calls, runs; /* of one rank; several calls in a row are one run */
};

static struct mark *collect_marks(struct job_heads *jh, const struct loop_part *part,
				  uint32_t num_runners, size_t *num_ret)
{
	struct mark *marks = arena_array(jh->scratch, part->num_states, sizeof(*marks));
	size_t num = 0;

	for (size_t i = 0; i < part->num_states; i++) {
		uint32_t state = part->states[i];

		if (SEG_STATE_IS_EXIT(state) || job_heads_count_visits(jh, state) != num_runners)
			continue;
		jh->mark_of[state] = (uint32_t)num;
		marks[num++] = (struct mark){
			.state = state,
			.calls.least = UINT64_MAX,
			.runs.least = UINT64_MAX,
		};
	}
	*num_ret = num;
	return marks;
}

static uint32_t shape_of(const struct job_heads *jh, const struct job_lane *lane)
{
	return pair_map_get(jh->shape_of, (uintptr_t)lane->site_map);
}

static struct arrivals list_arrivals(const struct job_heads *jh, const struct job_lane *lane)
{
	const struct model_lane *data = lane->data;
	size_t num_sites = lane->model->num_sites;
	struct arrivals all = {.first =
				       arena_array(jh->scratch, num_sites + 2, sizeof(*all.first))};

	/* first[s + 2] counts them, then first[s + 1] is the next free place of the site. */
	for (size_t t = 0; t < data->num_transitions; t++)
		if (!SEG_STATE_IS_EXIT(data->transitions[t].to))
			all.first[SEG_STATE_SITE(data->transitions[t].to) + 2]++;
	for (size_t s = 2; s < num_sites + 2; s++)
		all.first[s] += all.first[s - 1];
	all.made = arena_array(jh->scratch, all.first[num_sites + 1], sizeof(*all.made));
	for (size_t t = 0; t < data->num_transitions; t++)
		if (!SEG_STATE_IS_EXIT(data->transitions[t].to))
			all.made[all.first[SEG_STATE_SITE(data->transitions[t].to) + 1]++] =
				(uint32_t)t;
	return all;
}

/* Once, so that a loop of few states does not take a look at all transitions of all lanes. */
static void collect_arrivals(struct job_heads *jh)
{
	size_t num_lanes = jh->jm->num_lanes, *at;

	if (jh->arrivals)
		return;
	at = jh->first_lane = arena_array(jh->scratch, jh->num_shapes + 2, sizeof(*at));
	jh->shape_lanes = arena_array(jh->scratch, num_lanes, sizeof(*jh->shape_lanes));
	jh->arrivals = arena_array(jh->scratch, num_lanes, sizeof(*jh->arrivals));
	jh->lane_stamp = arena_array(jh->scratch, num_lanes, sizeof(*jh->lane_stamp));
	for (size_t l = 0; l < num_lanes; l++)
		if (jh->jm->lanes[l].like == l)
			at[shape_of(jh, &jh->jm->lanes[l]) + 2]++;
	for (size_t i = 2; i < jh->num_shapes + 2; i++)
		at[i] += at[i - 1];
	for (size_t l = 0; l < num_lanes; l++)
		if (jh->jm->lanes[l].like == l) {
			jh->shape_lanes[at[shape_of(jh, &jh->jm->lanes[l]) + 1]++] = (uint32_t)l;
			jh->arrivals[l] = list_arrivals(jh, &jh->jm->lanes[l]);
		}
}

/* Stamp the lanes that have come to a site of the part. */
static void mark_runners(struct job_heads *jh, uint32_t site)
{
	for (size_t v = jh->first_visitor[site]; v < jh->first_visitor[site + 1]; v++) {
		uint32_t shape = jh->visitors[v], local = jh->visitor_sites[v];

		for (size_t i = jh->first_lane[shape]; i < jh->first_lane[shape + 1]; i++) {
			uint32_t lane = jh->shape_lanes[i];
			const uint32_t *first = jh->arrivals[lane].first;

			if (first[local] < first[local + 1])
				jh->lane_stamp[lane] = jh->part_stamp;
		}
	}
}

/* What a lane that is in the part has done of a mark, which is its site `local`. */
static void count_calls(const struct job_heads *jh, uint32_t l, uint32_t local, struct mark *mark)
{
	const struct job_lane *lane = &jh->jm->lanes[l];
	const struct arrivals *all = &jh->arrivals[l];
	uint64_t num_calls = 0, num_runs = 0;

	for (uint32_t i = all->first[local]; i < all->first[local + 1]; i++) {
		const struct model_transition *made = &lane->data->transitions[all->made[i]];

		num_calls += made->count;
		if (made->from == SEG_STATE_EXIT(local))
			mark->is_repeated = true;
		else
			num_runs += made->count;
	}
	range_extend(&mark->calls, num_calls);
	range_extend(&mark->runs, num_runs);
}

/* How often each lane in the part has done each mark. */
static void count_marks(struct job_heads *jh, const struct loop_part *part, struct mark *marks,
			size_t num_marks)
{
	collect_arrivals(jh);
	for (size_t i = 0; i < part->num_states; i++)
		if (!SEG_STATE_IS_EXIT(part->states[i]))
			mark_runners(jh, SEG_STATE_SITE(part->states[i]));
	for (size_t i = 0; i < num_marks; i++) {
		uint32_t site = SEG_STATE_SITE(marks[i].state);

		/* All ranks in the part have its site. */
		for (size_t v = jh->first_visitor[site]; v < jh->first_visitor[site + 1]; v++) {
			uint32_t shape = jh->visitors[v];

			for (size_t k = jh->first_lane[shape]; k < jh->first_lane[shape + 1]; k++)
				if (jh->lane_stamp[jh->shape_lanes[k]] == jh->part_stamp)
					count_calls(jh, jh->shape_lanes[k], jh->visitor_sites[v],
						    &marks[i]);
		}
	}
}

/* Did ranks do `marked` once in each iteration, and `base` within these, some more often than
 * others? If they do `base` once in each iteration instead, and `marked` in one of n, they are n
 * times as far apart in `base` as in `marked`, give or take chance. */
static bool is_around(const struct range *marked, const struct range *base)
{
	double apart;

	if (marked->least < MIN_ITERATIONS)
		return false;
	apart = (double)range_spread(base) * (double)marked->least / (double)base->most -
		(double)range_spread(marked);
	return apart > 2 && apart * apart > 4 * (double)marked->most;
}

/* Can the loop go round through the header without passing the mark? */
static bool is_avoidable(struct job_heads *jh, const struct loop_part *part, uint32_t header,
			 uint32_t mark)
{
	uint32_t *stack = jh->stack;
	size_t num_stack = 0;

	jh->state_stamp++;
	for (size_t i = 0; i < part->num_states; i++)
		jh->unseen[part->states[i]] = jh->state_stamp;
	jh->unseen[mark] = 0;
	stack[num_stack++] = header;
	while (num_stack > 0) {
		size_t num;
		const uint32_t *to = graph_successors(jh->graph, stack[--num_stack], &num);

		for (size_t i = 0; i < num; i++) {
			if (to[i] == header)
				return true;
			if (jh->unseen[to[i]] != jh->state_stamp)
				continue;
			jh->unseen[to[i]] = 0;
			stack[num_stack++] = to[i];
		}
	}
	return false;
}

/* How often the ranks have been at a site: the least, and how far they are apart. */
static bool get_spread(const struct job_heads *jh, uint32_t enter, uint64_t *least_ret,
		       uint64_t *spread_ret)
{
	size_t index = job_model_find_transition(jh->jm, enter, enter + 1);
	const struct job_transition *transition;

	if (index == SIZE_MAX)
		return false;
	transition = &jh->jm->transitions[index];
	*least_ret = transition->counts[0].count;
	*spread_ret = transition->counts[transition->num_counts - 1].count - *least_ret;
	/* Somebody always is one ahead. */
	if (*spread_ret == 0)
		*spread_ret = 1;
	return true;
}

/* Ranks agree on the header, so that counting cannot show that it is in an inner loop. */
static bool is_agreed(const struct job_heads *jh, uint32_t header)
{
	uint64_t least, most_apart;

	return get_spread(jh, SEG_STATE_ENTER(SEG_STATE_SITE(header)), &least, &most_apart) &&
	       most_apart <= 2;
}

/* If the header is in a loop within the one that is meant, take what marks that one. */
static bool leave_inner_loop(struct job_heads *jh, struct job_loop *loop, struct loop_part *part,
			     uint32_t num_runners)
{
	size_t num_marks;
	struct mark *marks = collect_marks(jh, part, num_runners, &num_marks);
	uint32_t mark = jh->mark_of[SEG_STATE_ENTER(SEG_STATE_SITE(loop->header))];
	struct range *best = NULL;
	uint32_t header = loop->header;
	bool is_run = false;

	count_marks(jh, part, marks, num_marks);
	for (size_t i = 0; i < num_marks && mark != NO_MARK; i++) {
		struct range *kinds[] = {&marks[i].calls, &marks[i].runs};

		for (int k = 0; k < 1 + (marks[i].is_repeated && part->num_states > 2); k++) {
			if (!is_around(kinds[k], &marks[mark].calls) ||
			    (best && !range_is_closer(kinds[k], best)))
				continue;
			if (marks[i].state != (loop->header & ~1u) &&
			    !is_avoidable(jh, part, loop->header, marks[i].state))
				continue;
			if (!job_heads_can_be_around(jh, part, loop->header, marks[i].state,
						     k == 1))
				continue;
			best = kinds[k];
			header = marks[i].state;
			is_run = k == 1;
		}
	}
	loop->header = header;
	if (is_run)
		part->is_head = arena_array(jh->arena, part->num_states, sizeof(*part->is_head));
	for (size_t i = 0; is_run && i < part->num_states; i++)
		part->is_head[i] = (part->states[i] | 1) == (header | 1);
	for (size_t i = 0; i < num_marks; i++)
		jh->mark_of[marks[i].state] = NO_MARK;
	return best != NULL;
}

/* Of the states that all `num_runners` ranks visit: one on whose count they agree best, so that it
 * is not in an inner loop or branch that ranks take differently often. */
static uint32_t choose_common_state(const struct job_heads *jh, const struct loop_part *part,
				    uint32_t num_runners)
{
	uint32_t best = UINT32_MAX;
	uint64_t best_least = 0, best_spread = 0;

	for (size_t i = 0; i < part->num_states; i++) {
		uint32_t state = part->states[i];
		uint64_t least, spread;

		if (SEG_STATE_IS_EXIT(state) || job_heads_count_visits(jh, state) != num_runners ||
		    !get_spread(jh, state, &least, &spread))
			continue;
		if (best == UINT32_MAX || spread < best_spread ||
		    (spread == best_spread && least > best_least)) {
			best = state;
			best_least = least;
			best_spread = spread;
		}
	}
	return best;
}

static uint32_t parent_path(const struct job_heads *jh, uint32_t path)
{
	return callpaths_get(jh->jm->callpaths, path)->parent;
}

static void count_below(struct job_heads *jh, const struct loop_part *part)
{
	for (size_t i = 0; i < part->num_states; i++)
		for (uint32_t p = job_heads_path(jh, part->states[i]); p != CALLPATH_NONE;
		     p = parent_path(jh, p))
			jh->ranks_below[p] = jh->sites_below[p] = 0;
	for (size_t i = 0; i < part->num_states; i++)
		for (uint32_t p = job_heads_path(jh, part->states[i]); p != CALLPATH_NONE;
		     p = parent_path(jh, p))
			jh->sites_below[p]++;
	for (size_t i = 0; i < jh->num_shapes; i++) {
		const struct shape *shape = &jh->shapes[i];

		jh->stamp++;
		for (size_t s = 0; s < shape->num_sites; s++) {
			uint32_t site = shape->site_map[s];

			if (jh->in_part[site] != jh->part_stamp)
				continue;
			for (uint32_t p = jh->jm->sites[site].path;
			     p != CALLPATH_NONE && jh->path_stamp[p] != jh->stamp;
			     p = parent_path(jh, p)) {
				jh->path_stamp[p] = jh->stamp;
				jh->ranks_below[p] += shape->num_ranks;
			}
		}
	}
}

/* The longest part of a call path that all `num_runners` ranks visit and that does not hold all of
 * the loop (nobody would arrive there from outside). */
static uint32_t choose_region(struct job_heads *jh, const struct loop_part *part,
			      uint32_t num_runners)
{
	uint32_t best = CALLPATH_NONE, best_depth = 0;

	count_below(jh, part);
	for (size_t i = 0; i < part->num_states; i++) {
		for (uint32_t p = job_heads_path(jh, part->states[i]); p != CALLPATH_NONE;
		     p = parent_path(jh, p)) {
			uint32_t depth = callpaths_get(jh->jm->callpaths, p)->depth;

			if (jh->ranks_below[p] != num_runners ||
			    jh->sites_below[p] == part->num_states)
				continue;
			if (best == CALLPATH_NONE || depth > best_depth) {
				best = p;
				best_depth = depth;
			}
		}
	}
	return best;
}

/* For want of a better one. */
static uint32_t most_visited(const struct job_heads *jh, const struct loop_part *part)
{
	uint32_t best = part->states[0];

	for (size_t i = 1; i < part->num_states; i++)
		if (job_heads_count_visits(jh, part->states[i]) > job_heads_count_visits(jh, best))
			best = part->states[i];
	return best;
}

static void set_region(const struct job_heads *jh, struct job_loop *loop, struct loop_part *part)
{
	part->is_head = arena_array(jh->arena, part->num_states, sizeof(*part->is_head));
	loop->header = UINT32_MAX;
	for (size_t i = 0; i < part->num_states; i++) {
		uint32_t state = part->states[i];

		part->is_head[i] = callpaths_has_prefix(jh->jm->callpaths,
							job_heads_path(jh, state), loop->region);
		if (part->is_head[i] && loop->header == UINT32_MAX)
			loop->header = state;
	}
}

/* The states that lead to the head before to where iterations began at first: `begin`. */
static void find_before_head(struct job_heads *jh, const struct job_loop *loop,
			     struct loop_part *part, uint32_t begin)
{
	bool has_changed = true;

	part->is_before_head =
		arena_array(jh->arena, part->num_states, sizeof(*part->is_before_head));
	for (size_t i = 0; i < part->num_states; i++)
		jh->mark_of[part->states[i]] = (uint32_t)i;
	/* States are about in the order of the program, so that going backwards is soon done. */
	while (has_changed) {
		has_changed = false;
		for (size_t i = part->num_states; i-- > 0;) {
			uint32_t from = part->states[i];
			size_t num;
			const uint32_t *to = graph_successors(jh->graph, from, &num);

			if (part->is_before_head[i] || (from | 1) == (loop->header | 1))
				continue;
			for (size_t k = 0; k < num && !part->is_before_head[i]; k++)
				part->is_before_head[i] =
					to[k] == loop->header ||
					(to[k] != begin && jh->mark_of[to[k]] != NO_MARK &&
					 part->is_before_head[jh->mark_of[to[k]]]);
			has_changed |= part->is_before_head[i];
		}
	}
	for (size_t i = 0; i < part->num_states; i++)
		jh->mark_of[part->states[i]] = NO_MARK;
}

void job_heads_choose(struct job_heads *jh, struct job_loop *loop, struct loop_part *part)
{
	uint32_t num_runners = job_heads_count_runners(jh, part);
	uint32_t common = loop->header, begin = loop->header;

	loop->region = CALLPATH_NONE;
	loop->is_comparable = true;
	if (job_heads_count_visits(jh, loop->header) != num_runners)
		common = choose_common_state(jh, part, num_runners);
	if (common != UINT32_MAX) {
		loop->header = common;
		if (is_agreed(jh, common) || !leave_inner_loop(jh, loop, part, num_runners))
			job_heads_leave_repeated_call(jh, loop, part);
		else if (common == begin && (loop->header | 1) != (begin | 1))
			find_before_head(jh, loop, part, begin);
		return;
	}
	loop->region = choose_region(jh, part, num_runners);
	if (loop->region != CALLPATH_NONE) {
		set_region(jh, loop, part);
		return;
	}
	if (job_heads_choose_first_calls(jh, loop, part))
		return;
	loop->header = most_visited(jh, part);
	loop->is_comparable = false;
}

struct job_heads *job_heads_create(struct arena *arena, struct arena *scratch,
				   const struct job_model *jm, const struct graph *graph,
				   const struct progress_code *code)
{
	size_t num_paths = callpaths_count(jm->callpaths);
	struct job_heads *jh = arena_alloc(scratch, sizeof(*jh));

	jh->arena = arena;
	jh->scratch = scratch;
	jh->jm = jm;
	jh->graph = graph;
	jh->code = code;
	jh->shape_of = pair_map_in(scratch);
	jh->visits = arena_array(jh->scratch, jm->num_sites, sizeof(*jh->visits));
	jh->in_part = arena_array(jh->scratch, jm->num_sites, sizeof(*jh->in_part));
	jh->mark_of = arena_array(jh->scratch, job_model_num_states(jm), sizeof(*jh->mark_of));
	for (size_t i = 0; i < job_model_num_states(jm); i++)
		jh->mark_of[i] = NO_MARK;
	jh->unseen = arena_array(jh->scratch, job_model_num_states(jm), sizeof(*jh->unseen));
	jh->stack = arena_array(jh->scratch, job_model_num_states(jm), sizeof(*jh->stack));
	jh->ranks_below = arena_array(jh->scratch, num_paths, sizeof(*jh->ranks_below));
	jh->sites_below = arena_array(jh->scratch, num_paths, sizeof(*jh->sites_below));
	jh->path_stamp = arena_array(jh->scratch, num_paths, sizeof(*jh->path_stamp));
	collect_shapes(jh);
	collect_visitors(jh);
	return jh;
}
