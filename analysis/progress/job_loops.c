/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/graph.h"
#include "analysis/progress/job_heads.h"
#include "analysis/progress/job_loops.h"
#include "model/job/callpath.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/arena.h"

struct builder {
	struct arena *arena, *scratch; /* of what is found, and of all else */
	struct job_loops *jl;
	const struct job_model *jm;
	const struct progress_code *code;
	struct job_heads *heads;
	uint32_t *local_of; /* [states] index in the part that is taken apart */
};

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

	job_heads_choose(b->heads, &loop, &part);
	for (size_t i = 0; i < part.num_states; i++)
		jl->loop_of[part.states[i]] = (uint32_t)jl->num_loops;
	jl->parts = arena_grow(b->arena, jl->parts, jl->num_loops, &jl->parts_capacity,
			       sizeof(*jl->parts));
	jl->parts[jl->num_loops] = part;
	*ARENA_PUSH(b->arena, jl->loops, jl->num_loops, jl->loops_capacity) = loop;
}

/* The graph of the states of `loop` without arrivals at its head. */
static struct graph *body_graph(struct builder *b, uint32_t loop, const uint32_t *states,
				size_t num_states)
{
	struct graph *graph = graph_create(b->scratch, num_states);

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
	struct loop_nest *nest = loop_nest_create(b->scratch, graph, b->local_of[root]);
	struct loop_part *parts = arena_array(b->scratch, nest->num_loops, sizeof(*parts));
	uint32_t *outermost = arena_array(b->scratch, nest->num_loops, sizeof(*outermost));

	for (uint32_t l = 0; l < nest->num_loops; l++)
		outermost[l] =
			nest->loops[l].parent == LOOP_NONE ? l : outermost[nest->loops[l].parent];
	for (size_t i = 0; i < num_states; i++) {
		struct loop_part *part;

		if (nest->loop_of[i] == LOOP_NONE)
			continue;
		part = &parts[outermost[nest->loop_of[i]]];
		*ARENA_PUSH(b->arena, part->states, part->num_states, part->capacity) = states[i];
	}
	for (uint32_t l = 0; l < nest->num_loops; l++) {
		struct loop found = nest->loops[l];

		if (outermost[l] != l)
			continue;
		found.header = states[found.header];
		add_loop(b, loop, &found, parts[l]);
	}
}

/* Loops are appended while the ones before are taken apart: outer before inner. */
static void build_loops(struct builder *b, size_t num_states)
{
	struct job_loops *jl = b->jl;
	uint32_t *all = arena_array(b->scratch, num_states, sizeof(*all));

	for (uint32_t i = 0; i < num_states; i++) {
		all[i] = i;
		jl->loop_of[i] = LOOP_NONE;
	}
	take_apart(b, LOOP_NONE, all, num_states, SEG_STATE_EXIT(0));
	for (uint32_t l = 0; l < jl->num_loops; l++)
		if (jl->loops[l].depth + 1 < JOB_LOOPS_MAX_DEPTH)
			take_apart(b, l, jl->parts[l].states, jl->parts[l].num_states,
				   jl->loops[l].header);
}

enum { MAX_SOURCES = 32, ENOUGH_ROUNDS = 4 };

/* A node of a body from which transitions go back to the head. */
struct source {
	uint32_t state, child;
	uint32_t mark;  /* by which ranks come if they come by: `state`, or the child's header */
	bool is_common; /* all ranks that run the loop come by, or may yet */
	unsigned int level;
	bool is_before[MAX_SOURCES]; /* leads to that source within an iteration */
};

struct sources {
	struct source of[MAX_SOURCES];
	size_t num;
	struct source *current;
};

static struct source *find_source(struct sources *sources, uint32_t state, uint32_t child)
{
	for (size_t i = 0; i < sources->num; i++)
		if (child != LOOP_NONE
			    ? sources->of[i].child == child
			    : sources->of[i].child == LOOP_NONE && sources->of[i].state == state)
			return &sources->of[i];
	return NULL;
}

static void note_before(void *context, uint32_t state, uint32_t child)
{
	struct sources *sources = context;
	const struct source *source = find_source(sources, state, child);

	if (source)
		sources->current->is_before[source - sources->of] = true;
}

static bool goes_back(const struct job_loops *jl, uint32_t loop, uint32_t state)
{
	size_t num;
	const uint32_t *to = graph_successors(jl->graph, state, &num);

	for (size_t i = 0; i < num; i++)
		if (job_loops_contains(jl, loop, to[i]) &&
		    job_loops_arrives(jl, loop, state, to[i]))
			return true;
	return false;
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
		sources->of[sources->num++] = (struct source){.state = state, .child = child};
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

	part->levels_in = arena_array(b->arena, part->num_states, sizeof(*part->levels_in));
	for (size_t i = 0; i < part->num_states; i++) {
		b->local_of[part->states[i]] = (uint32_t)i;
		part->levels_in[i] = goes_back(jl, loop, part->states[i])
					     ? part->levels[i]
					     : (uint8_t)(part->num_levels - 1);
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

/* How often ranks went round: most for each time they came by a source, least without coming by. */
struct rounds {
	uint64_t most_between, least_without;
	uint64_t num_visits; /* of one rank */
};

static void count_rounds(const struct builder *b, uint32_t loop, const struct job_lane *lane,
			 struct rounds *rounds, const struct sources *sources)
{
	uint64_t num = 0;

	for (size_t t = 0; t < lane->data->num_transitions; t++) {
		const struct model_transition *made = &lane->data->transitions[t];
		uint32_t from = job_lane_state(lane, made->from);
		uint32_t to = job_lane_state(lane, made->to);

		if (!job_loops_contains(b->jl, loop, to))
			continue;
		if (job_loops_arrives(b->jl, loop, from, to))
			num += made->count;
		if (b->local_of[to] < sources->num)
			rounds[b->local_of[to]].num_visits += made->count;
	}
	for (size_t i = 0; i < sources->num && num > 0; i++) {
		struct rounds *of = &rounds[i];

		if (of->num_visits == 0 && num < of->least_without)
			of->least_without = num;
		if (of->num_visits > 0 && num / of->num_visits + 1 > of->most_between)
			of->most_between = num / of->num_visits + 1;
		of->num_visits = 0;
	}
}

/* A rank that has not come by a source may just not have come so far yet; if it has gone round
 * often enough for others to come by several times, it never does. */
static void find_common_sources(struct builder *b, uint32_t loop, struct sources *sources)
{
	const struct loop_part *part = &b->jl->parts[loop];
	struct rounds rounds[MAX_SOURCES] = {0};

	for (size_t i = 0; i < part->num_states; i++)
		b->local_of[part->states[i]] = UINT32_MAX;
	for (size_t i = 0; i < sources->num; i++) {
		b->local_of[sources->of[i].mark] = (uint32_t)i;
		rounds[i].least_without = UINT64_MAX;
	}
	for (size_t i = 0; i < b->jm->num_lanes; i++)
		if (b->jm->lanes[i].like == i)
			count_rounds(b, loop, &b->jm->lanes[i], rounds, sources);
	for (size_t i = 0; i < sources->num; i++)
		if (rounds[i].least_without < ENOUGH_ROUNDS * rounds[i].most_between)
			sources->of[i].is_common = true;
}

static uint32_t path_of(const struct builder *b, uint32_t state)
{
	return b->jm->sites[SEG_STATE_SITE(state)].path;
}

static unsigned int level_of(const struct job_loops *jl, uint32_t loop, struct sources *sources,
			     uint32_t from)
{
	const struct source *source;

	if (!job_loops_contains(jl, loop, from))
		return JOB_LOOPS_MAX_LEVELS;
	source = find_source(sources, from, job_loops_child(jl, loop, from));
	return source ? source->level : 0;
}

/* Do all ranks agree how often they began an iteration of the loop around a level? */
static bool is_agreed(const struct builder *b, uint32_t loop, struct sources *sources,
		      unsigned int level)
{
	struct range outer = {.least = UINT64_MAX};

	for (size_t i = 0; i < b->jm->num_lanes; i++) {
		const struct job_lane *lane = &b->jm->lanes[i];
		uint64_t num = 0;

		for (size_t t = 0; lane->like == i && t < lane->data->num_transitions; t++) {
			const struct model_transition *made = &lane->data->transitions[t];
			uint32_t from = job_lane_state(lane, made->from);
			uint32_t to = job_lane_state(lane, made->to);

			if (job_loops_contains(b->jl, loop, to) &&
			    job_loops_arrives(b->jl, loop, from, to) &&
			    level_of(b->jl, loop, sources, from) > level)
				num += made->count;
		}
		if (num > 0)
			range_extend(&outer, num);
	}
	return range_spread(&outer) <= 1;
}

/* Are sources of a level the ends of a loop without those of the next one that they lead to? */
static enum progress_nesting ask_code(const struct builder *b, uint32_t loop,
				      struct sources *sources, unsigned int level,
				      const struct progress_calls *all)
{
	struct progress_calls calls = *all;
	bool is_known = false;

	for (size_t i = 0; i < sources->num; i++)
		for (size_t k = 0; k < sources->num; k++) {
			const struct source *last = &sources->of[i], *outside = &sources->of[k];
			enum progress_nesting found;

			if (last->level != level || outside->level != level + 1 ||
			    !last->is_before[k])
				continue;
			calls.last = path_of(b, last->state);
			calls.outside = path_of(b, outside->state);
			found = b->code->ask(b->code->context, &calls);
			if (found == PROGRESS_MAYBE_SKIPPED)
				found = is_agreed(b, loop, sources, level)
						? PROGRESS_NESTED
						: PROGRESS_NESTING_NOT_KNOWN;
			if (found != PROGRESS_ONE_LOOP)
				return found;
			is_known = true;
		}
	return is_known ? PROGRESS_ONE_LOOP : PROGRESS_NESTING_NOT_KNOWN;
}

/* Levels that the code has in one loop become one. */
static void unite_levels(const struct builder *b, uint32_t loop, struct sources *sources,
			 struct loop_part *part)
{
	unsigned int level_as[JOB_LOOPS_MAX_LEVELS] = {0}, num = part->num_levels;
	uint32_t *paths = arena_array(b->scratch, part->num_states, sizeof(*paths));
	const struct progress_calls calls = {
		.first = path_of(b, b->jl->loops[loop].header),
		.all = paths,
		.num_all = part->num_states,
	};

	for (size_t i = 0; i < part->num_states; i++)
		paths[i] = path_of(b, part->states[i]);
	part->num_levels = 1;
	for (unsigned int level = 0; level + 1 < num; level++) {
		enum progress_nesting nesting = ask_code(b, loop, sources, level, &calls);

		if (nesting == PROGRESS_NESTED)
			part->nested |= 1u << (part->num_levels - 1);
		if (nesting != PROGRESS_ONE_LOOP)
			part->num_levels++;
		level_as[level + 1] = part->num_levels - 1;
	}
	for (size_t i = 0; i < sources->num; i++)
		sources->of[i].level = level_as[sources->of[i].level];
}

static void find_levels(struct builder *b, uint32_t loop, struct body_search *search)
{
	struct job_loops *jl = b->jl;
	struct loop_part *part = &jl->parts[loop];
	struct sources sources = {.num = 0};
	uint32_t num_runners;
	bool is_sure = true;

	part->num_levels = 1;
	if (!collect_sources(jl, loop, &sources) || sources.num < 2)
		return;
	num_runners = job_heads_count_runners(b->heads, part);
	for (size_t i = 0; i < sources.num; i++) {
		struct source *source = &sources.of[i];

		source->mark = source->child == LOOP_NONE ? source->state
							  : jl->loops[source->child].header;
		source->is_common = job_heads_count_visits(b->heads, source->mark) == num_runners;
		is_sure = is_sure && source->is_common;
		sources.current = source;
		body_search_run(search, loop, source->state, source->child, note_before, &sources);
	}
	if (!is_sure)
		find_common_sources(b, loop, &sources);
	part->num_levels = rank_sources(&sources);
	if (part->num_levels > 1)
		unite_levels(b, loop, &sources, part);
	if (part->num_levels == 1)
		return;
	part->levels = arena_array(b->arena, part->num_states, sizeof(*part->levels));
	for (size_t i = 0; i < part->num_states; i++) {
		uint32_t state = part->states[i];
		const struct source *source =
			find_source(&sources, state, job_loops_child(jl, loop, state));

		part->levels[i] = source ? (uint8_t)source->level : 0;
	}
	find_levels_in(b, loop, part);
}

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

struct job_loops *job_loops_create(struct arena *arena, const struct job_model *jm,
				   const struct progress_code *code)
{
	size_t num_states = job_model_num_states(jm);
	struct job_loops *jl = arena_alloc(arena, sizeof(*jl));
	struct builder b = {arena, arena_create(), jl, jm, code, NULL, NULL};
	struct body_search *search;

	b.local_of = arena_array(b.scratch, num_states, sizeof(*b.local_of));
	jl->jm = jm;
	jl->graph = graph_create(arena, num_states);
	for (size_t i = 0; i < jm->num_transitions; i++)
		graph_add_edge(jl->graph, jm->transitions[i].from, jm->transitions[i].to);
	b.heads = job_heads_create(arena, b.scratch, jm, jl->graph, code);
	jl->loop_of = arena_array(arena, num_states, sizeof(*jl->loop_of));
	if (num_states > 0)
		build_loops(&b, num_states);
	search = body_search_create(b.scratch, jl, NULL);
	for (uint32_t l = 0; l < jl->num_loops; l++)
		find_levels(&b, l, search);
	find_roles(jl);
	arena_destroy(b.scratch);
	return jl;
}
