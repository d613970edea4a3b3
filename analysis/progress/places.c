/* SPDX-License-Identifier: BSD-3-Clause
 * Each actor's place in the loops: counts from its transitions and from the ring of its last ones.
 *
 * The count of an outermost loop is that of all arrivals. Further in, what counts is since the
 * head of the loop around was last reached, found by going back through the ring. */
#include "analysis/progress/progress_private.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/arena.h"

#define NO_NODE UINT32_MAX

struct finder {
	struct progress_private *p;
	const struct job_loops *jl;
	const struct job_model *jm;
	size_t iterations_capacity, levels_capacity;
	const uint32_t *site_map;
	uint32_t *local_sites; /* job site -> site of the ranks with this mapping */
};

/* The nodes of the whole job's body: states in no loop, and after these the outermost loops. */
static uint32_t node_of(const struct finder *f, uint32_t state)
{
	uint32_t loop = job_loops_child(f->jl, LOOP_NONE, state);

	return loop == LOOP_NONE ? state : (uint32_t)job_model_num_states(f->jm) + loop;
}

enum kind { KIND_UNKNOWN, KIND_TAIL, KIND_OTHER };

struct node {
	/* The only node before or after it; NO_NODE if there are none or several. */
	uint32_t before, after;
	bool has_several_before, has_several_after;
	enum kind kind;
	uint32_t frontier_of, root;
};

struct nodes {
	struct node *of; /* [num] */
	uint32_t *way;   /* [num] for walking */
	uint32_t num, num_states;
};

static void add_neighbour(uint32_t *only, bool *has_several, uint32_t node)
{
	if (*only == NO_NODE && !*has_several) {
		*only = node;
	} else if (*only != node) {
		*only = NO_NODE;
		*has_several = true;
	}
}

static void find_neighbours(const struct finder *f, const struct nodes *n)
{
	for (size_t i = 0; i < n->num; i++)
		n->of[i].before = n->of[i].after = n->of[i].root = NO_NODE;
	for (size_t t = 0; t < f->jm->num_transitions; t++) {
		uint32_t from = node_of(f, f->jm->transitions[t].from);
		uint32_t to = node_of(f, f->jm->transitions[t].to);

		if (from == to)
			continue;
		add_neighbour(&n->of[from].after, &n->of[from].has_several_after, to);
		add_neighbour(&n->of[to].before, &n->of[to].has_several_before, from);
	}
}

/* Tails lead only to other tails, and at last nowhere: whoever was there still is, or is further
 * down the same way. A loop can only be the end of a tail. */
static void find_tails(const struct nodes *n)
{
	for (uint32_t i = 0; i < n->num; i++) {
		uint32_t at = i;
		size_t num_way = 0;

		while (n->of[at].kind == KIND_UNKNOWN) {
			struct node *node = &n->of[at];

			if (!node->has_several_after && node->after == NO_NODE) {
				node->kind = KIND_TAIL;
			} else if (node->has_several_after || at >= n->num_states) {
				node->kind = KIND_OTHER;
			} else {
				n->way[num_way++] = at;
				at = node->after;
			}
		}
		while (num_way > 0)
			n->of[n->way[--num_way]].kind = n->of[at].kind;
	}
}

/* Go back along each tail until there is a loop before it, or several nodes. */
static void find_roots(const struct nodes *n)
{
	for (uint32_t i = 0; i < n->num; i++) {
		uint32_t at = i;
		size_t num_way = 0;

		while (n->of[at].root == NO_NODE) {
			struct node *node = &n->of[at];
			bool has_before = node->kind == KIND_TAIL && node->before != NO_NODE;

			if (has_before && node->before < n->num_states) {
				n->way[num_way++] = at;
				at = node->before;
				continue;
			}
			node->root = at;
			node->frontier_of = has_before ? node->before - n->num_states : LOOP_NONE;
		}
		while (num_way > 0) {
			struct node *node = &n->of[n->way[--num_way]];

			node->root = n->of[at].root;
			node->frontier_of = n->of[at].frontier_of;
		}
	}
}

/* A tail with MPI_Finalize in it certainly comes after the loop. */
static void forget_ends(const struct finder *f, const struct nodes *n)
{
	bool *is_end = arena_array(f->p->scratch, n->num, sizeof(*is_end));

	for (uint32_t s = 0; s < n->num_states; s++)
		if (f->jm->sites[SEG_STATE_SITE(s)].class_id == SEG_CLASS_FINALIZE)
			is_end[n->of[node_of(f, s)].root] = true;
	for (size_t i = 0; i < n->num; i++)
		if (is_end[n->of[i].root])
			n->of[i].frontier_of = LOOP_NONE;
}

static void find_frontier(struct finder *f)
{
	struct progress_private *p = f->p;
	uint32_t num_states = (uint32_t)job_model_num_states(f->jm);
	struct nodes n = {.num = num_states + (uint32_t)f->jl->num_loops, .num_states = num_states};

	n.of = arena_array(p->scratch, n.num, sizeof(*n.of));
	n.way = arena_array(p->scratch, n.num, sizeof(*n.way));
	find_neighbours(f, &n);
	find_tails(&n);
	find_roots(&n);
	forget_ends(f, &n);
	p->is_tail = arena_array(p->arena, num_states, sizeof(*p->is_tail));
	p->frontier_of = arena_array(p->arena, num_states, sizeof(*p->frontier_of));
	p->tail_root = arena_array(p->arena, num_states, sizeof(*p->tail_root));
	p->num_roots = n.num;
	for (uint32_t s = 0; s < num_states; s++) {
		const struct node *node = &n.of[node_of(f, s)];

		p->is_tail[s] = node->kind == KIND_TAIL;
		p->frontier_of[s] = node->frontier_of;
		p->tail_root[s] = node->root;
	}
}

static void map_sites(struct finder *f, const struct job_lane *lane)
{
	if (f->site_map == lane->site_map)
		return;
	f->site_map = lane->site_map;
	memset(f->local_sites, 0xff, f->jm->num_sites * sizeof(*f->local_sites));
	for (uint32_t s = 0; s < lane->model->num_sites; s++)
		f->local_sites[lane->site_map[s]] = s;
}

/* All arrivals at the head of a loop, also by level. */
static uint64_t count_all(struct finder *f, const struct job_lane *lane, uint32_t loop,
			  uint64_t *by_level)
{
	const struct model_lane *data = lane->data;
	bool is_region = f->jl->parts[loop].is_head;
	uint32_t header, site;
	uint64_t total = 0;

	map_sites(f, lane);
	site = f->local_sites[SEG_STATE_SITE(f->jl->loops[loop].header)];
	if (site == UINT32_MAX && !is_region)
		return 0;
	header = site * 2 + (f->jl->loops[loop].header & 1);
	for (size_t t = 0; t < data->num_transitions; t++) {
		const struct model_transition *made = &data->transitions[t];
		uint32_t from;

		if (!is_region && made->to != header)
			continue;
		from = job_lane_state(lane, made->from);
		if (is_region &&
		    !job_loops_arrives(f->jl, loop, from, job_lane_state(lane, made->to)))
			continue;
		total += made->count;
		by_level[job_loops_level(f->jl, loop, from)] += made->count;
	}
	return total;
}

/* Counts of one loop, gathered backwards. */
struct tally {
	uint64_t arrivals;
	uint64_t by_level[JOB_LOOPS_MAX_LEVELS];
	unsigned int level; /* highest one seen: what comes before does not count for lower ones */
};

static void add_arrival(struct tally *tally, unsigned int level)
{
	tally->arrivals++;
	if (level < tally->level)
		return;
	tally->level = level;
	tally->by_level[level]++;
}

static uint32_t ring_state(const struct job_lane *lane, size_t i)
{
	return job_lane_state(lane, lane->data->ring[i].state);
}

/* Fill tallies[] of the loops, going back from the ring's entry `last`. Returns the loop to whose
 * beginning the ring did not reach, 0 if all are complete: the outermost's is for levels only. */
static uint32_t go_back(const struct job_loops *jl, const struct job_lane *lane, size_t last,
			const struct iteration *loops, uint32_t num_loops, struct tally *tallies)
{
	const struct model_lane *data = lane->data;
	bool is_whole = data->num_ring == data->events;
	uint32_t open = num_loops - 1;

	/* Down from 0 it wraps around. */
	for (size_t i = last; i < data->num_ring; i--) {
		uint32_t to = ring_state(lane, i), from;

		if (i == 0 && !is_whole)
			return open;
		from = i > 0 ? ring_state(lane, i - 1) : SEG_STATE_EXIT(0);
		for (;;) {
			uint32_t loop = loops[open].loop;

			if (job_loops_arrives(jl, loop, from, to))
				add_arrival(&tallies[open], job_loops_level(jl, loop, from));
			/* Did the present iteration of the loop around begin here? */
			if (open == 0 || (!job_loops_arrives(jl, loops[open - 1].loop, from, to) &&
					  job_loops_contains(jl, loops[open - 1].loop, from)))
				break;
			open--;
		}
		if (open == 0 && tallies[0].level + 1 >= jl->parts[loops[0].loop].num_levels)
			return 0;
	}
	return is_whole ? 0 : open;
}

static void add_chain(struct finder *f, uint32_t innermost, uint32_t depth)
{
	struct progress_private *p = f->p;
	uint32_t loop = innermost;

	for (uint32_t i = 0; i < depth; i++) {
		p->iterations = arena_grow(p->arena, p->iterations, p->num_iterations + i,
					   &f->iterations_capacity, sizeof(*p->iterations));
		p->levels = arena_grow(p->arena, p->levels, p->num_iterations + i,
				       &f->levels_capacity, sizeof(*p->levels));
		memset(&p->levels[p->num_iterations + i], 0, sizeof(*p->levels));
	}
	for (uint32_t i = depth; i-- > 0;) {
		p->iterations[p->num_iterations + i] = (struct iteration){.loop = loop};
		loop = f->jl->loops[loop].parent;
	}
	p->num_iterations += depth;
}

/* Count the loops of a chain up to the ring's entry `last`; with num_ring or more, the ring does
 * not hold the time when the actor was in them. */
static void count_loops(struct finder *f, const struct job_lane *lane, uint32_t first, uint32_t num,
			size_t last)
{
	struct progress_private *p = f->p;
	struct iteration *iterations = &p->iterations[first];
	struct tally tallies[JOB_LOOPS_MAX_DEPTH] = {0};
	bool has_levels = f->jl->parts[iterations[0].loop].num_levels > 1;
	bool is_whole = lane->data->num_ring == lane->data->events;
	uint32_t open = 0;

	if (num > 1 || has_levels)
		open = go_back(f->jl, lane, last, iterations, num, tallies);
	for (uint32_t i = 0; i < num; i++) {
		struct iteration *iteration = &iterations[i];
		struct level_counts *counts = &p->levels[first + i];
		unsigned int num_levels = f->jl->parts[iteration->loop].num_levels;

		iteration->total = count_all(f, lane, iteration->loop, counts->totals);
		memcpy(counts->arrivals, tallies[i].by_level, sizeof(counts->arrivals));
		if (last < lane->data->num_ring) {
			uint32_t state = ring_state(lane, last);

			counts->level_in = job_loops_level_in(f->jl, iteration->loop, state);
			counts->is_before_head =
				job_loops_is_before_head(f->jl, iteration->loop, state);
		}
		if (i == 0) {
			iteration->count = iteration->total;
			/* Of these, the ring tells what is since the last of the highest level. */
			counts->arrivals[num_levels - 1] = counts->totals[num_levels - 1];
			if (has_levels && tallies[0].level + 1 < num_levels && !is_whole)
				p->is_approximate[iteration->loop] = true;
		} else {
			iteration->count = tallies[i].arrivals;
			if (i <= open)
				p->is_approximate[iteration->loop] = true;
		}
	}
}

/* The last entry of the ring that lies in the loop, or num_ring. */
static size_t find_last_in(const struct job_loops *jl, const struct job_lane *lane, uint32_t loop)
{
	size_t num = lane->data->num_ring;

	for (size_t i = num; i-- > 0;)
		if (job_loops_contains(jl, loop, ring_state(lane, i)))
			return i;
	return num;
}

static void add_frontier(struct finder *f, const struct job_lane *lane, struct position *position)
{
	uint32_t loop = f->p->frontier_of[lane->state], innermost = loop;
	size_t last = find_last_in(f->jl, lane, loop);

	if (last < lane->data->num_ring)
		innermost = f->jl->loop_of[ring_state(lane, last)];
	position->first_frontier = (uint32_t)f->p->num_iterations;
	position->num_frontier = f->jl->loops[innermost].depth + 1;
	add_chain(f, innermost, position->num_frontier);
	count_loops(f, lane, position->first_frontier, position->num_frontier, last);
}

static void find_place(struct finder *f, size_t actor)
{
	const struct job_lane *lane = &f->jm->lanes[actor];
	struct position *position = &f->p->positions[actor];
	size_t num_ring = lane->data->num_ring;
	uint32_t innermost = f->jl->loop_of[lane->state];

	if (lane->like != actor) {
		*position = f->p->positions[lane->like];
		return;
	}
	if (f->p->frontier_of[lane->state] != LOOP_NONE)
		add_frontier(f, lane, position);
	position->first = (uint32_t)f->p->num_iterations;
	if (innermost == LOOP_NONE)
		return;
	position->num_loops = f->jl->loops[innermost].depth + 1;
	add_chain(f, innermost, position->num_loops);
	count_loops(f, lane, position->first, position->num_loops, num_ring ? num_ring - 1 : 0);
}

/* Counts that do not reach back as far as they should must not be compared with counts that do. */
static void use_totals(struct progress_private *p)
{
	for (size_t i = 0; i < p->num_iterations; i++) {
		struct iteration *iteration = &p->iterations[i];

		if (!p->is_approximate[iteration->loop])
			continue;
		iteration->count = iteration->total;
		/* All arrivals ever are what counts for an outermost loop. */
		iteration->is_approximate = p->jl->loops[iteration->loop].depth > 0;
	}
}

void progress_find_places(struct progress_private *p, const struct job_model *jm)
{
	struct finder f = {
		.p = p,
		.jl = p->jl,
		.jm = jm,
		.local_sites = arena_array(p->scratch, jm->num_sites, sizeof(*f.local_sites)),
	};

	p->positions = arena_array(p->arena, jm->num_lanes, sizeof(*p->positions));
	p->is_approximate = arena_array(p->arena, p->jl->num_loops, sizeof(*p->is_approximate));
	find_frontier(&f);
	for (size_t i = 0; i < jm->num_lanes; i++)
		find_place(&f, i);
	use_totals(p);
}
