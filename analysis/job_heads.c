/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "analysis/graph.h"
#include "analysis/job_heads.h"
#include "analysis/job_loops.h"
#include "model/callpath.h"
#include "model/job_model.h"
#include "model/model.h"
#include "model/xalloc.h"

/* ---- Which ranks visit what ----------------------------------------------------------------- */

/* Ranks with one table of sites: a rank has a site in its table once it has called from there. */
struct shape {
	const uint32_t *site_map;
	size_t num_sites;
	uint32_t num_ranks;
};

struct job_heads {
	const struct job_model *jm;
	const struct graph *graph;
	struct shape *shapes;
	size_t num_shapes, shapes_capacity;
	uint32_t num_ranks;
	uint32_t *visits;  /* [sites] ranks that have it */
	uint32_t *in_part; /* [sites] == part_stamp: in the part that is looked at */
	uint32_t part_stamp;
	uint32_t *mark_of; /* [states] a number for those of the part */
	/* For searches, [states]. */
	uint32_t *unseen, *stack;
	uint32_t state_stamp;
	/* For regions, [call path nodes]. */
	uint32_t *ranks_below, *sites_below, *path_stamp;
	uint32_t stamp;
};

static int compare_shapes(const void *a, const void *b)
{
	const struct shape *x = a, *y = b;

	return (x->site_map > y->site_map) - (x->site_map < y->site_map);
}

/* One entry for each run of ranks with one mapping first, so that sorting is cheap. */
static void collect_shapes(struct job_heads *jh)
{
	const struct job_model *jm = jh->jm;
	size_t num = 0;

	for (size_t i = 0; i < jm->num_lanes; i++) {
		const struct job_lane *lane = &jm->lanes[i];

		if (i > 0 && jm->lanes[i - 1].rank == lane->rank)
			continue;
		jh->num_ranks++;
		if (jh->num_shapes > 0 &&
		    jh->shapes[jh->num_shapes - 1].site_map == lane->site_map) {
			jh->shapes[jh->num_shapes - 1].num_ranks++;
			continue;
		}
		jh->shapes = xgrow(jh->shapes, jh->num_shapes, &jh->shapes_capacity,
				   sizeof(*jh->shapes));
		jh->shapes[jh->num_shapes++] = (struct shape){
			.site_map = lane->site_map,
			.num_sites = lane->model->num_sites,
			.num_ranks = 1,
		};
	}
	if (jh->num_shapes == 0)
		return;
	qsort(jh->shapes, jh->num_shapes, sizeof(*jh->shapes), compare_shapes);
	for (size_t i = 1; i < jh->num_shapes; i++) {
		if (jh->shapes[i].site_map == jh->shapes[num].site_map)
			jh->shapes[num].num_ranks += jh->shapes[i].num_ranks;
		else
			jh->shapes[++num] = jh->shapes[i];
	}
	jh->num_shapes = num + 1;
	for (size_t i = 0; i < jh->num_shapes; i++)
		for (size_t s = 0; s < jh->shapes[i].num_sites; s++)
			jh->visits[jh->shapes[i].site_map[s]] += jh->shapes[i].num_ranks;
}

static void mark_part(struct job_heads *jh, const struct loop_part *part)
{
	jh->part_stamp++;
	for (size_t i = 0; i < part->num_states; i++)
		jh->in_part[SEG_STATE_SITE(part->states[i])] = jh->part_stamp;
}

uint32_t job_heads_count_runners(struct job_heads *jh, const struct loop_part *part)
{
	uint32_t num = 0;

	mark_part(jh, part);
	for (size_t i = 0; i < jh->num_shapes; i++) {
		const struct shape *shape = &jh->shapes[i];

		for (size_t s = 0; s < shape->num_sites; s++) {
			if (jh->in_part[shape->site_map[s]] == jh->part_stamp) {
				num += shape->num_ranks;
				break;
			}
		}
	}
	return num;
}

uint32_t job_heads_count_visits(const struct job_heads *jh, uint32_t state)
{
	return jh->visits[SEG_STATE_SITE(state)];
}

/* ---- Marks of iterations -------------------------------------------------------------------- */

enum {
	NO_MARK = UINT32_MAX,
	MIN_ITERATIONS = 8, /* fewer say nothing about what recurs */
};

/* How often the ranks did something. */
struct range {
	uint64_t least, most;
};

static void extend(struct range *range, uint64_t count)
{
	if (count < range->least)
		range->least = count;
	if (count > range->most)
		range->most = count;
}

static uint64_t spread(const struct range *range)
{
	return range->most - range->least;
}

/* A call that all ranks make in the loop. */
struct mark {
	uint32_t state;		      /* enter */
	bool is_repeated;	      /* right after itself */
	uint64_t num_calls, num_runs; /* of one rank; several calls in a row are one run */
	struct range calls, runs;
};

static struct mark *collect_marks(struct job_heads *jh, const struct loop_part *part,
				  uint32_t num_runners, size_t *num_ret)
{
	struct mark *marks = xcalloc(part->num_states, sizeof(*marks));
	size_t num = 0;

	for (size_t i = 0; i < part->num_states; i++) {
		uint32_t state = part->states[i];

		if (SEG_STATE_IS_EXIT(state) || jh->visits[SEG_STATE_SITE(state)] != num_runners)
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

static void count_calls(const struct job_heads *jh, const struct job_lane *lane, struct mark *marks,
			size_t num_marks)
{
	bool is_runner = false;

	for (size_t t = 0; t < lane->data->num_transitions; t++) {
		const struct model_transition *made = &lane->data->transitions[t];
		uint32_t to = job_lane_state(lane, made->to);
		struct mark *mark;

		if (SEG_STATE_IS_EXIT(to) || jh->in_part[SEG_STATE_SITE(to)] != jh->part_stamp)
			continue;
		is_runner = true;
		if (jh->mark_of[to] == NO_MARK)
			continue;
		mark = &marks[jh->mark_of[to]];
		mark->num_calls += made->count;
		if (job_lane_state(lane, made->from) == (to | 1))
			mark->is_repeated = true;
		else
			mark->num_runs += made->count;
	}
	for (size_t i = 0; i < num_marks && is_runner; i++) {
		extend(&marks[i].calls, marks[i].num_calls);
		extend(&marks[i].runs, marks[i].num_runs);
		marks[i].num_calls = marks[i].num_runs = 0;
	}
}

/* Did ranks do `marked` once in each iteration, and `base` within these, some more often than
 * others? If on the contrary they do `base` once in each iteration, and `marked` in one of so many,
 * then they are as far apart in `base` as in `marked`, times so many; give or take what is left to
 * chance. */
static bool is_around(const struct range *marked, const struct range *base)
{
	double apart;

	if (marked->least < MIN_ITERATIONS)
		return false;
	apart = (double)spread(base) * (double)marked->least / (double)base->most -
		(double)spread(marked);
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

/* Do ranks agree better on x than on y? */
static bool is_closer(const struct range *x, const struct range *y)
{
	double spread_x = spread(x) ? (double)spread(x) : 1;
	double spread_y = spread(y) ? (double)spread(y) : 1;

	return spread_x * (double)y->least < spread_y * (double)x->least;
}

/* Both fit if all ranks repeat the call equally often. Sends and receives are repeated for one
 * neighbour after the other; anything else rather is the loop. */
static bool may_be_inner_loop(const struct job_heads *jh, const struct mark *mark)
{
	enum seg_class class_id = jh->jm->sites[SEG_STATE_SITE(mark->state)].class_id;

	return mark->is_repeated && mark->runs.least >= MIN_ITERATIONS &&
	       (class_id == SEG_CLASS_SEND || class_id == SEG_CLASS_RECV ||
		class_id == SEG_CLASS_SENDRECV || class_id == SEG_CLASS_START) &&
	       (spread(&mark->runs) <= 1 || !is_closer(&mark->calls, &mark->runs));
}

static void set_run(struct job_loop *loop, struct loop_part *part)
{
	part->is_head = xcalloc(part->num_states, sizeof(*part->is_head));
	for (size_t i = 0; i < part->num_states; i++)
		part->is_head[i] = (part->states[i] | 1) == (loop->header | 1);
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

/* Not worth counting if ranks agree on the header, unless it is repeated. */
static bool is_certain(const struct job_heads *jh, uint32_t header)
{
	uint32_t enter = SEG_STATE_ENTER(SEG_STATE_SITE(header));
	uint64_t least, most_apart;

	return job_model_find_transition(jh->jm, enter + 1, enter) == SIZE_MAX &&
	       get_spread(jh, enter, &least, &most_apart) && most_apart <= 2;
}

/* The header is a state that all ranks visit, maybe in a loop within the one that is meant: then
 * take what marks that one. */
static void leave_inner_loop(struct job_heads *jh, struct job_loop *loop, struct loop_part *part,
			     uint32_t num_runners)
{
	size_t num_marks;
	struct mark *marks = collect_marks(jh, part, num_runners, &num_marks);
	uint32_t mark = jh->mark_of[SEG_STATE_ENTER(SEG_STATE_SITE(loop->header))];
	struct range *best = NULL;
	uint32_t header = loop->header;
	bool is_run = false;

	for (size_t i = 0; i < jh->jm->num_lanes; i++)
		count_calls(jh, &jh->jm->lanes[i], marks, num_marks);
	for (size_t i = 0; i < num_marks && mark != NO_MARK; i++) {
		struct range *kinds[] = { &marks[i].calls, &marks[i].runs };

		for (int k = 0; k < 1 + (marks[i].is_repeated && part->num_states > 2); k++) {
			if (!is_around(kinds[k], &marks[mark].calls) ||
			    (best && !is_closer(kinds[k], best)))
				continue;
			if (marks[i].state != (loop->header & ~1u) &&
			    !is_avoidable(jh, part, loop->header, marks[i].state))
				continue;
			best = kinds[k];
			header = marks[i].state;
			is_run = k == 1;
		}
	}
	if (!best && mark != NO_MARK && part->num_states > 2)
		is_run = may_be_inner_loop(jh, &marks[mark]);
	loop->header = header;
	if (is_run)
		set_run(loop, part);
	for (size_t i = 0; i < num_marks; i++)
		jh->mark_of[marks[i].state] = NO_MARK;
	free(marks);
}

/* ---- The head of a loop --------------------------------------------------------------------- */

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

		if (SEG_STATE_IS_EXIT(state) || jh->visits[SEG_STATE_SITE(state)] != num_runners ||
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

static uint32_t path_of(const struct job_heads *jh, uint32_t state)
{
	return jh->jm->sites[SEG_STATE_SITE(state)].path;
}

static uint32_t parent_path(const struct job_heads *jh, uint32_t path)
{
	return callpaths_get(jh->jm->callpaths, path)->parent;
}

static void count_below(struct job_heads *jh, const struct loop_part *part)
{
	for (size_t i = 0; i < part->num_states; i++)
		for (uint32_t p = path_of(jh, part->states[i]); p != CALLPATH_NONE;
		     p = parent_path(jh, p))
			jh->ranks_below[p] = jh->sites_below[p] = 0;
	for (size_t i = 0; i < part->num_states; i++)
		for (uint32_t p = path_of(jh, part->states[i]); p != CALLPATH_NONE;
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
		for (uint32_t p = path_of(jh, part->states[i]); p != CALLPATH_NONE;
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
		if (jh->visits[SEG_STATE_SITE(part->states[i])] > jh->visits[SEG_STATE_SITE(best)])
			best = part->states[i];
	return best;
}

static void set_region(const struct job_heads *jh, struct job_loop *loop, struct loop_part *part)
{
	part->is_head = xcalloc(part->num_states, sizeof(*part->is_head));
	loop->header = UINT32_MAX;
	for (size_t i = 0; i < part->num_states; i++) {
		uint32_t state = part->states[i];

		part->is_head[i] =
			callpaths_has_prefix(jh->jm->callpaths, path_of(jh, state), loop->region);
		if (part->is_head[i] && loop->header == UINT32_MAX)
			loop->header = state;
	}
}

/* ---- The first calls of a loop's code ------------------------------------------------------- */

/* A state of the part, by where the loop's innermost common function calls. */
struct place_in_code {
	uint32_t module;
	uint64_t offset;
	uint32_t state;
};

static int compare_code(const void *a, const void *b)
{
	const struct place_in_code *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->state > y->state) - (x->state < y->state);
}

static struct place_in_code find_in_code(const struct job_heads *jh, uint32_t around,
					 uint32_t state)
{
	uint32_t path = path_of(jh, state);
	struct place_in_code place = {.state = state};

	while (path != around) {
		const struct callpath_node *node = callpaths_get(jh->jm->callpaths, path);

		place.module = node->module;
		place.offset = node->offset;
		path = node->parent;
	}
	return place;
}

/* Number the calls of the loop's code in its order: rank_of[] of each state of the part. */
static uint32_t number_calls(struct job_heads *jh, const struct job_loop *loop,
			     const struct loop_part *part)
{
	struct place_in_code *places = xcalloc(part->num_states, sizeof(*places));
	uint32_t num = 0;

	for (size_t i = 0; i < part->num_states; i++)
		places[i] = find_in_code(jh, loop->path, part->states[i]);
	qsort(places, part->num_states, sizeof(*places), compare_code);
	for (size_t i = 0; i < part->num_states; i++) {
		if (i > 0 && (places[i].module != places[i - 1].module ||
			      places[i].offset != places[i - 1].offset))
			num++;
		jh->mark_of[places[i].state] = num;
	}
	free(places);
	return num + 1;
}

/* How often the rank went from later calls, or from outside, to the first k + 1 calls: arrivals[k].
 */
static bool count_arrivals(const struct job_heads *jh, const struct job_lane *lane,
			   uint32_t num_calls, int64_t *arrivals)
{
	bool is_runner = false;

	memset(arrivals, 0, (num_calls + 1) * sizeof(*arrivals));
	for (size_t t = 0; t < lane->data->num_transitions; t++) {
		const struct model_transition *made = &lane->data->transitions[t];
		uint32_t from = jh->mark_of[job_lane_state(lane, made->from)];
		uint32_t to = jh->mark_of[job_lane_state(lane, made->to)];

		if (to == NO_MARK)
			continue;
		is_runner = true;
		if (from == NO_MARK)
			from = num_calls;
		if (to >= from)
			continue;
		arrivals[to] += (int64_t)made->count;
		arrivals[from] -= (int64_t)made->count;
	}
	for (uint32_t k = 1; k < num_calls; k++)
		arrivals[k] += arrivals[k - 1];
	return is_runner;
}

/* Do ranks agree well enough to take it for the number of iterations? */
static bool is_plausible(const struct range *range)
{
	return range->least >= MIN_ITERATIONS && spread(range) <= range->least / 2;
}

static void set_first_calls(const struct job_heads *jh, struct job_loop *loop,
			    struct loop_part *part, uint32_t last)
{
	part->is_head = xcalloc(part->num_states, sizeof(*part->is_head));
	loop->header = UINT32_MAX;
	for (size_t i = 0; i < part->num_states; i++) {
		part->is_head[i] = jh->mark_of[part->states[i]] <= last;
		if (part->is_head[i] && loop->header == UINT32_MAX)
			loop->header = part->states[i];
	}
}

/* Each rank makes some of the loop's calls. If the code runs in its order, then in each iteration
 * all come to one of the first few of them, and make one of the others before they come again. Take
 * as many for the first few as make ranks agree best on how often that was. */
static bool choose_first_calls(struct job_heads *jh, struct job_loop *loop, struct loop_part *part)
{
	uint32_t num_calls = number_calls(jh, loop, part), best = NO_MARK;
	struct range *ranges = xcalloc(num_calls, sizeof(*ranges));
	int64_t *arrivals = xcalloc(num_calls + 1, sizeof(*arrivals));

	for (uint32_t k = 0; k < num_calls; k++)
		ranges[k].least = UINT64_MAX;
	for (size_t i = 0; i < jh->jm->num_lanes; i++) {
		if (!count_arrivals(jh, &jh->jm->lanes[i], num_calls, arrivals))
			continue;
		for (uint32_t k = 0; k < num_calls; k++)
			extend(&ranges[k], (uint64_t)arrivals[k]);
	}
	for (uint32_t k = 0; k + 1 < num_calls; k++)
		if (is_plausible(&ranges[k]) &&
		    (best == NO_MARK || is_closer(&ranges[k], &ranges[best])))
			best = k;
	if (best != NO_MARK)
		set_first_calls(jh, loop, part, best);
	for (size_t i = 0; i < part->num_states; i++)
		jh->mark_of[part->states[i]] = NO_MARK;
	free(arrivals);
	free(ranges);
	return best != NO_MARK;
}

void job_heads_choose(struct job_heads *jh, struct job_loop *loop, struct loop_part *part)
{
	uint32_t num_runners = job_heads_count_runners(jh, part);
	uint32_t common = loop->header;

	loop->region = CALLPATH_NONE;
	loop->is_comparable = true;
	if (jh->visits[SEG_STATE_SITE(loop->header)] != num_runners)
		common = choose_common_state(jh, part, num_runners);
	if (common != UINT32_MAX) {
		loop->header = common;
		if (!is_certain(jh, common))
			leave_inner_loop(jh, loop, part, num_runners);
		return;
	}
	loop->region = choose_region(jh, part, num_runners);
	if (loop->region != CALLPATH_NONE) {
		set_region(jh, loop, part);
		return;
	}
	if (choose_first_calls(jh, loop, part))
		return;
	loop->header = most_visited(jh, part);
	loop->is_comparable = false;
}

/* ---- Create and destroy --------------------------------------------------------------------- */

struct job_heads *job_heads_create(const struct job_model *jm, const struct graph *graph)
{
	size_t num_paths = callpaths_count(jm->callpaths);
	struct job_heads *jh = xcalloc(1, sizeof(*jh));

	jh->jm = jm;
	jh->graph = graph;
	jh->visits = xcalloc(jm->num_sites, sizeof(*jh->visits));
	jh->in_part = xcalloc(jm->num_sites, sizeof(*jh->in_part));
	jh->mark_of = xcalloc(job_model_num_states(jm), sizeof(*jh->mark_of));
	for (size_t i = 0; i < job_model_num_states(jm); i++)
		jh->mark_of[i] = NO_MARK;
	jh->unseen = xcalloc(job_model_num_states(jm), sizeof(*jh->unseen));
	jh->stack = xcalloc(job_model_num_states(jm), sizeof(*jh->stack));
	jh->ranks_below = xcalloc(num_paths, sizeof(*jh->ranks_below));
	jh->sites_below = xcalloc(num_paths, sizeof(*jh->sites_below));
	jh->path_stamp = xcalloc(num_paths, sizeof(*jh->path_stamp));
	collect_shapes(jh);
	return jh;
}

void job_heads_destroy(struct job_heads *jh)
{
	if (!jh)
		return;
	free(jh->path_stamp);
	free(jh->sites_below);
	free(jh->ranks_below);
	free(jh->stack);
	free(jh->unseen);
	free(jh->mark_of);
	free(jh->in_part);
	free(jh->visits);
	free(jh->shapes);
	free(jh);
}
