/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "analysis/graph.h"
#include "analysis/job_loops.h"
#include "model/callpath.h"
#include "model/job_model.h"
#include "model/model.h"
#include "model/xalloc.h"

/* ---- Which ranks visit what ------------------------------------------------------------------- */

/* Ranks with one table of sites: a rank has a site in its table once it has called from there. */
struct shape {
	const uint32_t *site_map;
	size_t num_sites;
	uint32_t num_ranks;
};

struct builder {
	struct job_loops *jl;
	const struct job_model *jm;
	struct shape *shapes;
	size_t num_shapes, shapes_capacity;
	uint32_t num_ranks;
	uint32_t *visits;   /* [sites] ranks that have it */
	uint32_t *in_part;  /* [sites] == part_stamp: in the part that is looked at */
	uint32_t part_stamp;
	uint32_t *local_of; /* [states] index in the part that is taken apart */
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
static void collect_shapes(struct builder *b)
{
	const struct job_model *jm = b->jm;
	size_t num = 0;

	for (size_t i = 0; i < jm->num_lanes; i++) {
		const struct job_lane *lane = &jm->lanes[i];

		if (i > 0 && jm->lanes[i - 1].rank == lane->rank)
			continue;
		b->num_ranks++;
		if (b->num_shapes > 0 &&
		    b->shapes[b->num_shapes - 1].site_map == lane->site_map) {
			b->shapes[b->num_shapes - 1].num_ranks++;
			continue;
		}
		b->shapes = xgrow(b->shapes, b->num_shapes, &b->shapes_capacity, sizeof(*b->shapes));
		b->shapes[b->num_shapes++] = (struct shape){
			.site_map = lane->site_map,
			.num_sites = lane->model->num_sites,
			.num_ranks = 1,
		};
	}
	if (b->num_shapes == 0)
		return;
	qsort(b->shapes, b->num_shapes, sizeof(*b->shapes), compare_shapes);
	for (size_t i = 1; i < b->num_shapes; i++) {
		if (b->shapes[i].site_map == b->shapes[num].site_map)
			b->shapes[num].num_ranks += b->shapes[i].num_ranks;
		else
			b->shapes[++num] = b->shapes[i];
	}
	b->num_shapes = num + 1;
	for (size_t i = 0; i < b->num_shapes; i++)
		for (size_t s = 0; s < b->shapes[i].num_sites; s++)
			b->visits[b->shapes[i].site_map[s]] += b->shapes[i].num_ranks;
}

static void mark_part(struct builder *b, const struct loop_part *part)
{
	b->part_stamp++;
	for (size_t i = 0; i < part->num_states; i++)
		b->in_part[SEG_STATE_SITE(part->states[i])] = b->part_stamp;
}

/* How many ranks visit any site of the marked part. */
static uint32_t count_runners(const struct builder *b)
{
	uint32_t num = 0;

	for (size_t i = 0; i < b->num_shapes; i++) {
		const struct shape *shape = &b->shapes[i];

		for (size_t s = 0; s < shape->num_sites; s++) {
			if (b->in_part[shape->site_map[s]] == b->part_stamp) {
				num += shape->num_ranks;
				break;
			}
		}
	}
	return num;
}

/* ---- The head of a loop ----------------------------------------------------------------------- */

/* How often the ranks have been at a site: the least, and how far they are apart. */
static bool get_spread(const struct builder *b, uint32_t enter, uint64_t *least_ret,
		       uint64_t *spread_ret)
{
	size_t index = job_model_find_transition(b->jm, enter, enter + 1);
	const struct job_transition *transition;

	if (index == SIZE_MAX)
		return false;
	transition = &b->jm->transitions[index];
	*least_ret = transition->counts[0].count;
	*spread_ret = transition->counts[transition->num_counts - 1].count - *least_ret;
	/* Somebody always is one ahead. */
	if (*spread_ret == 0)
		*spread_ret = 1;
	return true;
}

/* Of the states that all `num_runners` ranks visit: one on whose count they agree best, so that it
 * is not in an inner loop or branch that ranks take differently often. */
static uint32_t choose_common_state(const struct builder *b, const struct loop_part *part,
				    uint32_t num_runners)
{
	uint32_t best = UINT32_MAX;
	uint64_t best_least = 0, best_spread = 0;

	for (size_t i = 0; i < part->num_states; i++) {
		uint32_t state = part->states[i];
		uint64_t least, spread;

		if (SEG_STATE_IS_EXIT(state) || b->visits[SEG_STATE_SITE(state)] != num_runners ||
		    !get_spread(b, state, &least, &spread))
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

static uint32_t path_of(const struct builder *b, uint32_t state)
{
	return b->jm->sites[SEG_STATE_SITE(state)].path;
}

static uint32_t parent_path(const struct builder *b, uint32_t path)
{
	return callpaths_get(b->jm->callpaths, path)->parent;
}

static void count_below(struct builder *b, const struct loop_part *part)
{
	for (size_t i = 0; i < part->num_states; i++)
		for (uint32_t p = path_of(b, part->states[i]); p != CALLPATH_NONE;
		     p = parent_path(b, p))
			b->ranks_below[p] = b->sites_below[p] = 0;
	for (size_t i = 0; i < part->num_states; i++)
		for (uint32_t p = path_of(b, part->states[i]); p != CALLPATH_NONE;
		     p = parent_path(b, p))
			b->sites_below[p]++;
	for (size_t i = 0; i < b->num_shapes; i++) {
		const struct shape *shape = &b->shapes[i];

		b->stamp++;
		for (size_t s = 0; s < shape->num_sites; s++) {
			uint32_t site = shape->site_map[s];

			if (b->in_part[site] != b->part_stamp)
				continue;
			for (uint32_t p = b->jm->sites[site].path;
			     p != CALLPATH_NONE && b->path_stamp[p] != b->stamp;
			     p = parent_path(b, p)) {
				b->path_stamp[p] = b->stamp;
				b->ranks_below[p] += shape->num_ranks;
			}
		}
	}
}

/* The longest part of a call path that all `num_runners` ranks visit and that does not hold all of
 * the loop (nobody would arrive there from outside). */
static uint32_t choose_region(struct builder *b, const struct loop_part *part,
			      uint32_t num_runners)
{
	uint32_t best = CALLPATH_NONE, best_depth = 0;

	count_below(b, part);
	for (size_t i = 0; i < part->num_states; i++) {
		for (uint32_t p = path_of(b, part->states[i]); p != CALLPATH_NONE;
		     p = parent_path(b, p)) {
			uint32_t depth = callpaths_get(b->jm->callpaths, p)->depth;

			if (b->ranks_below[p] != num_runners ||
			    b->sites_below[p] == part->num_states)
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
static uint32_t most_visited(const struct builder *b, const struct loop_part *part)
{
	uint32_t best = part->states[0];

	for (size_t i = 1; i < part->num_states; i++)
		if (b->visits[SEG_STATE_SITE(part->states[i])] > b->visits[SEG_STATE_SITE(best)])
			best = part->states[i];
	return best;
}

static void set_region(const struct builder *b, struct job_loop *loop, struct loop_part *part)
{
	part->is_head = xcalloc(part->num_states, sizeof(*part->is_head));
	loop->header = UINT32_MAX;
	for (size_t i = 0; i < part->num_states; i++) {
		uint32_t state = part->states[i];

		part->is_head[i] =
			callpaths_has_prefix(b->jm->callpaths, path_of(b, state), loop->region);
		if (part->is_head[i] && loop->header == UINT32_MAX)
			loop->header = state;
	}
}

static void choose_head(struct builder *b, struct job_loop *loop, struct loop_part *part)
{
	uint32_t visits = b->visits[SEG_STATE_SITE(loop->header)];
	uint32_t num_runners, common;

	loop->region = CALLPATH_NONE;
	loop->is_comparable = true;
	if (visits == b->num_ranks)
		return;
	mark_part(b, part);
	num_runners = count_runners(b);
	if (visits == num_runners)
		return;
	common = choose_common_state(b, part, num_runners);
	if (common != UINT32_MAX) {
		loop->header = common;
		return;
	}
	loop->region = choose_region(b, part, num_runners);
	if (loop->region != CALLPATH_NONE) {
		set_region(b, loop, part);
		return;
	}
	loop->header = most_visited(b, part);
	loop->is_comparable = false;
}

/* ---- Taking apart ----------------------------------------------------------------------------- */

static uint32_t common_path(const struct job_model *jm, const struct loop_part *part)
{
	uint32_t path = jm->sites[SEG_STATE_SITE(part->states[0])].path;

	for (size_t i = 1; i < part->num_states; i++)
		path = callpaths_common(jm->callpaths, path,
					jm->sites[SEG_STATE_SITE(part->states[i])].path);
	return path;
}

static void add_loop(struct builder *b, uint32_t parent, const struct loop *found,
		     struct loop_part part)
{
	struct job_loops *jl = b->jl;
	struct job_loop loop = {
		.header = found->header, /* already a state of the job */
		.parent = parent,
		.depth = parent == LOOP_NONE ? 0 : jl->loops[parent].depth + 1,
		.is_irreducible = found->is_irreducible,
		.path = common_path(b->jm, &part),
	};

	choose_head(b, &loop, &part);
	for (size_t i = 0; i < part.num_states; i++)
		jl->loop_of[part.states[i]] = (uint32_t)jl->num_loops;
	jl->loops = xgrow(jl->loops, jl->num_loops, &jl->loops_capacity, sizeof(*jl->loops));
	jl->parts = xgrow(jl->parts, jl->num_loops, &jl->parts_capacity, sizeof(*jl->parts));
	jl->loops[jl->num_loops] = loop;
	jl->parts[jl->num_loops++] = part;
}

/* The graph of the states of `loop` without arrivals at its head. */
static struct graph *body_graph(struct builder *b, uint32_t loop, const uint32_t *states,
				size_t num_states)
{
	struct graph *graph = graph_create(num_states);

	for (size_t i = 0; i < num_states; i++)
		b->local_of[states[i]] = (uint32_t)i;
	for (size_t i = 0; i < num_states; i++) {
		size_t num;
		const uint32_t *to = graph_successors(b->jl->graph, states[i], &num);

		for (size_t k = 0; k < num; k++) {
			if (loop != LOOP_NONE && (!job_loops_contains(b->jl, loop, to[k]) ||
						  job_loops_arrives(b->jl, loop, states[i], to[k])))
				continue;
			graph_add_edge(graph, (uint32_t)i, b->local_of[to[k]]);
		}
	}
	return graph;
}

/* Find the outermost loops among `states`, which are those of `loop`, and add them. */
static void take_apart(struct builder *b, uint32_t loop, const uint32_t *states, size_t num_states,
		       uint32_t root)
{
	struct graph *graph = body_graph(b, loop, states, num_states);
	struct loop_nest *nest = loop_nest_create(graph, b->local_of[root]);
	struct loop_part *parts = xcalloc(nest->num_loops, sizeof(*parts));
	uint32_t *outermost = xcalloc(nest->num_loops, sizeof(*outermost));

	for (uint32_t l = 0; l < nest->num_loops; l++)
		outermost[l] = nest->loops[l].parent == LOOP_NONE ?
				       l :
				       outermost[nest->loops[l].parent];
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < num_states; i++) {
			struct loop_part *part;

			if (nest->loop_of[i] == LOOP_NONE)
				continue;
			part = &parts[outermost[nest->loop_of[i]]];
			if (pass == 1)
				part->states[part->num_states] = states[i];
			part->num_states++;
		}
		for (uint32_t l = 0; pass == 0 && l < nest->num_loops; l++) {
			if (outermost[l] == l)
				parts[l].states = xcalloc(parts[l].num_states, sizeof(uint32_t));
			parts[l].num_states = 0;
		}
	}
	for (uint32_t l = 0; l < nest->num_loops; l++) {
		struct loop found = nest->loops[l];

		if (outermost[l] != l)
			continue;
		found.header = states[found.header];
		add_loop(b, loop, &found, parts[l]);
	}
	free(outermost);
	free(parts);
	loop_nest_destroy(nest);
	graph_destroy(graph);
}

/* Loops are appended while the ones before are taken apart: outer before inner. */
static void build_loops(struct builder *b, size_t num_states)
{
	struct job_loops *jl = b->jl;
	uint32_t *all = xcalloc(num_states, sizeof(*all));

	for (uint32_t i = 0; i < num_states; i++) {
		all[i] = i;
		jl->loop_of[i] = LOOP_NONE;
	}
	take_apart(b, LOOP_NONE, all, num_states, SEG_STATE_EXIT(0));
	free(all);
	for (uint32_t l = 0; l < jl->num_loops; l++)
		if (jl->loops[l].depth + 1 < JOB_LOOPS_MAX_DEPTH)
			take_apart(b, l, jl->parts[l].states, jl->parts[l].num_states,
				   jl->loops[l].header);
}

/* ---- Several loops that share a head ---------------------------------------------------------- */

#define MAX_SOURCES 32

/* A node of a body from which transitions go back to the head. */
struct source {
	uint32_t state, child;
	bool is_common; /* all ranks that run the loop come by */
	unsigned int level;
	bool is_before[MAX_SOURCES]; /* leads to that source within an iteration */
};

struct sources {
	struct source of[MAX_SOURCES];
	size_t num;
	struct source *current;
};

static void note_before(void *context, uint32_t state, uint32_t child)
{
	struct sources *sources = context;

	for (size_t i = 0; i < sources->num; i++) {
		struct source *source = &sources->of[i];

		if (child != LOOP_NONE ? source->child == child :
					 source->child == LOOP_NONE && source->state == state)
			sources->current->is_before[i] = true;
	}
}

static bool goes_back(const struct job_loops *jl, uint32_t loop, uint32_t state)
{
	size_t num;
	const uint32_t *to = graph_successors(jl->graph, state, &num);

	for (size_t i = 0; i < num; i++)
		if (job_loops_contains(jl, loop, to[i]) && job_loops_arrives(jl, loop, state, to[i]))
			return true;
	return false;
}

static struct source *find_source(struct sources *sources, uint32_t state, uint32_t child)
{
	for (size_t i = 0; i < sources->num; i++)
		if (child != LOOP_NONE ? sources->of[i].child == child :
					 sources->of[i].child == LOOP_NONE &&
						 sources->of[i].state == state)
			return &sources->of[i];
	return NULL;
}

static bool collect_sources(const struct job_loops *jl, uint32_t loop, struct sources *sources)
{
	const struct loop_part *part = &jl->parts[loop];

	for (size_t i = 0; i < part->num_states; i++) {
		uint32_t state = part->states[i], child;

		if (!goes_back(jl, loop, state))
			continue;
		child = job_loops_child(jl, loop, state);
		if (find_source(sources, state, child))
			continue;
		if (sources->num == MAX_SOURCES)
			return false;
		sources->of[sources->num++] = (struct source){ .state = state, .child = child };
	}
	return true;
}

/* A source that comes after another one closes a loop around that of the other. If not all ranks
 * come by it cannot mark iterations of a loop, so it belongs to the one before. */
static unsigned int rank_sources(struct sources *sources)
{
	unsigned int highest = 0;

	for (size_t round = 0; round < sources->num; round++) {
		for (size_t i = 0; i < sources->num; i++) {
			for (size_t k = 0; k < sources->num; k++) {
				const struct source *before = &sources->of[i];
				struct source *after = &sources->of[k];
				unsigned int level = before->level + after->is_common;

				if (!before->is_before[k] || after->is_before[i])
					continue;
				if (level > JOB_LOOPS_MAX_LEVELS - 1)
					level = JOB_LOOPS_MAX_LEVELS - 1;
				if (level > after->level)
					after->level = level;
				if (level > highest)
					highest = level;
			}
		}
	}
	return highest + 1;
}

/* A state is in the loop of the lowest level to whose end it leads. */
static void find_levels_in(const struct builder *b, uint32_t loop, struct loop_part *part)
{
	const struct job_loops *jl = b->jl;
	bool has_changed = true;

	part->levels_in = xcalloc(part->num_states, sizeof(*part->levels_in));
	for (size_t i = 0; i < part->num_states; i++) {
		b->local_of[part->states[i]] = (uint32_t)i;
		part->levels_in[i] = goes_back(jl, loop, part->states[i]) ?
					     part->levels[i] :
					     (uint8_t)(part->num_levels - 1);
	}
	/* States are about in the order of the program, so that going backwards is soon done. */
	while (has_changed) {
		has_changed = false;
		for (size_t i = part->num_states; i-- > 0;) {
			size_t num;
			const uint32_t *to = graph_successors(jl->graph, part->states[i], &num);

			for (size_t k = 0; k < num; k++) {
				uint8_t level;

				if (!job_loops_contains(jl, loop, to[k]) ||
				    job_loops_arrives(jl, loop, part->states[i], to[k]))
					continue;
				level = part->levels_in[b->local_of[to[k]]];
				if (level >= part->levels_in[i])
					continue;
				part->levels_in[i] = level;
				has_changed = true;
			}
		}
	}
}

static void find_levels(struct builder *b, uint32_t loop, struct body_search *search)
{
	struct job_loops *jl = b->jl;
	struct loop_part *part = &jl->parts[loop];
	struct sources sources = { .num = 0 };
	uint32_t num_runners;

	part->num_levels = 1;
	if (!collect_sources(jl, loop, &sources) || sources.num < 2)
		return;
	mark_part(b, part);
	num_runners = count_runners(b);
	for (size_t i = 0; i < sources.num; i++) {
		struct source *source = &sources.of[i];
		uint32_t state = source->child == LOOP_NONE ? source->state :
							      jl->loops[source->child].header;

		source->is_common = b->visits[SEG_STATE_SITE(state)] == num_runners;
		sources.current = source;
		body_search_run(search, loop, source->state, source->child, note_before, &sources);
	}
	part->num_levels = rank_sources(&sources);
	if (part->num_levels == 1)
		return;
	part->levels = xcalloc(part->num_states, sizeof(*part->levels));
	for (size_t i = 0; i < part->num_states; i++) {
		uint32_t state = part->states[i];
		const struct source *source =
			find_source(&sources, state, job_loops_child(jl, loop, state));

		part->levels[i] = source ? (uint8_t)source->level : 0;
	}
	find_levels_in(b, loop, part);
}

/* ---- Create and destroy ----------------------------------------------------------------------- */

/* The role of a loop is that of an actor that has been in it: of the first one. */
static void find_roles(struct job_loops *jl)
{
	const struct job_model *jm = jl->jm;

	for (size_t l = 0; l < jl->num_loops; l++)
		jl->loops[l].role = UINT32_MAX;
	for (size_t i = 0; i < jm->num_lanes; i++) {
		const struct job_lane *lane = &jm->lanes[i];

		if (i > 0 && jm->lanes[i - 1].role == lane->role &&
		    jm->lanes[i - 1].site_map == lane->site_map)
			continue;
		for (size_t t = 0; t < lane->data->num_transitions; t++) {
			uint32_t state = job_lane_state(lane, lane->data->transitions[t].to);

			for (uint32_t l = jl->loop_of[state];
			     l != LOOP_NONE && jl->loops[l].role == UINT32_MAX;
			     l = jl->loops[l].parent)
				jl->loops[l].role = lane->role;
		}
	}
	for (size_t l = 0; l < jl->num_loops; l++)
		if (jl->loops[l].role == UINT32_MAX)
			jl->loops[l].role = 0;
}

struct job_loops *job_loops_create(const struct job_model *jm)
{
	size_t num_states = job_model_num_states(jm);
	size_t num_paths = callpaths_count(jm->callpaths);
	struct job_loops *jl = xcalloc(1, sizeof(*jl));
	struct builder b = {
		.jl = jl,
		.jm = jm,
		.visits = xcalloc(jm->num_sites, sizeof(*b.visits)),
		.in_part = xcalloc(jm->num_sites, sizeof(*b.in_part)),
		.local_of = xcalloc(num_states, sizeof(*b.local_of)),
		.ranks_below = xcalloc(num_paths, sizeof(*b.ranks_below)),
		.sites_below = xcalloc(num_paths, sizeof(*b.sites_below)),
		.path_stamp = xcalloc(num_paths, sizeof(*b.path_stamp)),
	};
	struct body_search *search;

	jl->jm = jm;
	jl->graph = graph_create(num_states);
	for (size_t i = 0; i < jm->num_transitions; i++)
		graph_add_edge(jl->graph, jm->transitions[i].from, jm->transitions[i].to);
	jl->loop_of = xcalloc(num_states, sizeof(*jl->loop_of));
	collect_shapes(&b);
	if (num_states > 0)
		build_loops(&b, num_states);
	search = body_search_create(jl, NULL);
	for (uint32_t l = 0; l < jl->num_loops; l++)
		find_levels(&b, l, search);
	body_search_destroy(search);
	find_roles(jl);
	free(b.path_stamp);
	free(b.sites_below);
	free(b.ranks_below);
	free(b.local_of);
	free(b.in_part);
	free(b.visits);
	free(b.shapes);
	return jl;
}

void job_loops_destroy(struct job_loops *jl)
{
	if (!jl)
		return;
	for (size_t l = 0; l < jl->num_loops; l++) {
		free(jl->parts[l].states);
		free(jl->parts[l].is_head);
		free(jl->parts[l].levels);
		free(jl->parts[l].levels_in);
	}
	free(jl->parts);
	free(jl->loops);
	free(jl->loop_of);
	graph_destroy(jl->graph);
	free(jl);
}
