/* SPDX-License-Identifier: BSD-3-Clause
 * The order of two actors is lexicographic, from the whole job inwards. In each body both are at a
 * node. Different nodes: by reachability in the body. The same loop: by its iterations; if these
 * are equal, go on in the body of that loop. So it is a partial order by construction. */
#include "analysis/progress/progress_private.h"
#include "model/hash.h"
#include "model/job/job_model.h"
#include "model/arena.h"
#include "model/job/pair_map.h"

/* A node of a body at which some actor is. */
struct body_node {
	uint32_t state, child;
};

struct body {
	struct body_node *nodes;
	size_t num_nodes, nodes_capacity;
	uint64_t *reach; /* [num_nodes][num_words]: bit k of row i: node i leads to node k */
	size_t num_words;
};

static struct body *body_of(const struct progress_private *p, uint32_t loop)
{
	return &p->bodies[loop == LOOP_NONE ? p->jl->num_loops : loop];
}

/* Of the node in the body of the loop, for p->index_of. */
static uint64_t key_of(const struct progress_private *p, uint32_t loop, uint32_t state,
		       uint32_t child)
{
	uint32_t num_states = (uint32_t)job_model_num_states(p->jl->jm);

	return pair_key(loop, child == LOOP_NONE ? state : num_states + child);
}

/* The index of a node, or PAIR_NONE if no actor is there. */
static uint32_t find_node(const struct progress_private *p, uint32_t loop, uint32_t state,
			  uint32_t child)
{
	return pair_map_get(p->index_of, key_of(p, loop, state, child));
}

static uint32_t add_node(struct progress_private *p, uint32_t loop, uint32_t state, uint32_t child)
{
	struct body *body = body_of(p, loop);
	uint32_t index = find_node(p, loop, state, child);

	if (index != PAIR_NONE)
		return index;
	index = (uint32_t)body->num_nodes;
	*ARENA_PUSH(p->arena, body->nodes, body->num_nodes, body->nodes_capacity) =
		(struct body_node){.state = state, .child = child};
	pair_map_add(p->index_of, key_of(p, loop, state, child), index);
	return index;
}

static void add_position(struct progress_private *p, uint32_t state, struct position *position,
			 size_t *capacity)
{
	uint32_t depth = position_depth(position), loop = LOOP_NONE;

	position->first_node = (uint32_t)p->num_nodes;
	for (uint32_t i = 0; i <= depth; i++) {
		uint32_t child = LOOP_NONE;

		if (i < depth)
			child = p->iterations[position_iteration(position, i)].loop;
		*ARENA_PUSH(p->arena, p->nodes, p->num_nodes, *capacity) =
			add_node(p, loop, state, child);
		loop = child;
	}
	/* In the body of the loop before it, for those who are still in there. */
	if (position->num_frontier > 0 && position->num_embedded == 0)
		add_node(p, p->frontier_of[state], state, job_loops_child(p->jl, LOOP_NONE, state));
}

struct row {
	const struct progress_private *p;
	uint32_t loop;
	uint64_t *bits;
};

static void note_reached(void *context, uint32_t state, uint32_t child)
{
	struct row *row = context;
	uint32_t index = find_node(row->p, row->loop, state, child);

	if (index != PAIR_NONE)
		row->bits[index / 64] |= UINT64_C(1) << index % 64;
}

static void find_reach(struct progress_private *p, uint32_t loop, struct body_search *search)
{
	struct body *body = body_of(p, loop);

	if (body->num_nodes < 2)
		return;
	body->num_words = (body->num_nodes + 63) / 64;
	body->reach =
		arena_array(p->arena, body->num_nodes * body->num_words, sizeof(*body->reach));
	for (size_t i = 0; i < body->num_nodes; i++) {
		struct row row = {p, loop, &body->reach[i * body->num_words]};

		body_search_run(search, loop, body->nodes[i].state, body->nodes[i].child,
				note_reached, &row);
	}
}

static void build_bodies(struct progress_private *p, const struct job_model *jm)
{
	struct body_search *search = body_search_create(p->scratch, p->jl, p->is_tail);
	size_t capacity = 0;

	p->bodies = arena_array(p->arena, p->jl->num_loops + 1, sizeof(*p->bodies));
	p->index_of = pair_map_in(p->arena);
	for (size_t i = 0; i < jm->num_lanes; i++) {
		uint32_t like = jm->lanes[i].like;

		if (like == i)
			add_position(p, jm->lanes[i].state, &p->positions[i], &capacity);
		else
			p->positions[i].first_node = p->positions[like].first_node;
	}
	for (uint32_t l = 0; l < p->jl->num_loops; l++)
		find_reach(p, l, search);
	find_reach(p, LOOP_NONE, search);
}

struct progress *progress_create_by_code(const struct job_model *jm,
					 const struct progress_code *code)
{
	struct arena *arena = arena_create();
	struct progress *progress = arena_alloc(arena, sizeof(*progress));
	struct progress_private *p = arena_alloc(arena, sizeof(*p));

	p->arena = arena;
	p->scratch = arena_create();
	p->jl = job_loops_create(arena, jm, code);
	progress->arena = arena;
	progress->jm = jm;
	progress->private = p;
	progress_find_places(p, jm);
	progress_embed_frontier(p, jm);
	build_bodies(p, jm);
	progress_show(progress);
	arena_destroy(p->scratch);
	return progress;
}

static enum progress_nesting know_nothing(void *context, const struct progress_calls *calls)
{
	(void)context;
	(void)calls;
	return PROGRESS_NESTING_NOT_KNOWN;
}

struct progress *progress_create(const struct job_model *jm)
{
	const struct progress_code code = {know_nothing, NULL};

	return progress_create_by_code(jm, &code);
}

void progress_destroy(struct progress *progress)
{
	if (progress)
		arena_destroy(progress->arena);
}

/* Compare as if there were a nest of loops with one head, each of neighbouring levels: bit i of
 * `cuts` parts level i from i + 1. SAME: in the same iterations of the same loops. */
static enum progress_order compare_levels(const struct level_counts *a,
					  const struct level_counts *b, unsigned int num_levels,
					  unsigned int cuts)
{
	uint64_t sum_a = 0, sum_b = 0;

	for (unsigned int l = num_levels; l-- > 0;) {
		sum_a += a->arrivals[l];
		sum_b += b->arrivals[l];
		if (l > 0 && !(cuts & 1u << (l - 1)))
			continue;
		if (sum_a != sum_b)
			return sum_a < sum_b ? PROGRESS_LESS : PROGRESS_MORE;
		/* Beyond the loops inside: their head is this one's, so they come first. */
		if (a->level_in >= l && b->level_in >= l)
			return PROGRESS_SAME;
		if (a->level_in >= l || b->level_in >= l)
			return a->level_in >= l ? PROGRESS_MORE : PROGRESS_LESS;
		sum_a = sum_b = 0;
	}
	return PROGRESS_SAME;
}

/* Nothing is known but how often they were there: the order by all arrivals, unless that by those
 * of the outermost loop is another one; if that is known to be a loop, it goes first. */
static enum progress_order compare_ends(const struct loop_part *part, const struct level_counts *a,
					const struct level_counts *b, enum progress_order order)
{
	uint64_t x = a->totals[part->num_levels - 1], y = b->totals[part->num_levels - 1];
	enum progress_order outer = x < y ? PROGRESS_LESS : PROGRESS_MORE;

	if (x == y || order == outer)
		return order;
	return part->nested & 1u << (part->num_levels - 2) ? outer : PROGRESS_UNORDERED;
}

static bool leads_to(const struct body *body, uint32_t from, uint32_t to)
{
	return body->reach[from * body->num_words + to / 64] >> to % 64 & 1;
}

/* Order by the iterations i and k of one loop; `rest` orders the places in an iteration. When the
 * head may be that of nested loops, say only what holds whichever there are. */
static enum progress_order compare_iterations(const struct progress_private *p, uint32_t i,
					      uint32_t k, enum progress_order rest)
{
	const struct iteration *a = &p->iterations[i], *b = &p->iterations[k];
	const struct loop_part *part = &p->jl->parts[a->loop];
	enum progress_order all = rest, order = rest;

	if (a->count != b->count)
		all = a->count < b->count ? PROGRESS_LESS : PROGRESS_MORE;
	if (!p->jl->loops[a->loop].is_comparable)
		return all == PROGRESS_SAME ? all : PROGRESS_UNORDERED;
	if (part->num_levels == 1)
		return all;
	if (p->is_approximate[a->loop])
		return compare_ends(part, &p->levels[i], &p->levels[k], all);
	for (unsigned int cuts = part->nested; cuts < 1u << (part->num_levels - 1); cuts++) {
		enum progress_order other = all;

		if ((cuts & part->nested) != part->nested)
			continue;
		if (cuts)
			other = compare_levels(&p->levels[i], &p->levels[k], part->num_levels,
					       cuts);
		if (other == PROGRESS_SAME)
			other = rest;
		if (cuts > part->nested && other != order)
			return PROGRESS_UNORDERED;
		order = other;
	}
	return order;
}

/* Of an actor in the loop after which others, at the frontier, may or may not be. */
static enum progress_order compare_with_frontier(const struct progress_private *p,
						 const struct position *inside, uint32_t state)
{
	uint32_t loop = p->frontier_of[state];
	const struct body *body = body_of(p, loop);
	uint32_t node = find_node(p, loop, state, job_loops_child(p->jl, LOOP_NONE, state));
	bool is_before = leads_to(body, p->nodes[inside->first_node + 1], node);
	enum progress_order order = compare_iterations(
		p, position_iteration(inside, 0), p->crowds[p->tail_root[state]].lowest,
		is_before ? PROGRESS_LESS : PROGRESS_UNORDERED);

	return order == PROGRESS_LESS ? order : PROGRESS_UNORDERED;
}

static bool is_after_loop_of(const struct progress_private *p, const struct position *frontier,
			     const struct position *other)
{
	return frontier->num_frontier > 0 && frontier->num_embedded == 0 &&
	       position_depth(other) > 0 &&
	       p->iterations[frontier->first_frontier].loop ==
		       p->iterations[position_iteration(other, 0)].loop;
}

/* From loop number i inwards, which both are in (0: from the whole job). */
static enum progress_order compare_inside(const struct progress_private *p, uint32_t loop,
					  const struct position *x, const struct position *y,
					  uint32_t i, uint32_t *loop_ret)
{
	const struct body *body = body_of(p, loop);
	uint32_t at_x = p->nodes[x->first_node + i], at_y = p->nodes[y->first_node + i];
	enum progress_order rest, order;
	uint32_t k, m;

	if (at_x != at_y && leads_to(body, at_x, at_y) == leads_to(body, at_y, at_x))
		return PROGRESS_UNORDERED;
	if (at_x != at_y)
		return leads_to(body, at_x, at_y) ? PROGRESS_LESS : PROGRESS_MORE;
	if (i == position_depth(x))
		return PROGRESS_SAME;
	k = position_iteration(x, i);
	m = position_iteration(y, i);
	loop = p->iterations[k].loop;
	rest = compare_inside(p, loop, x, y, i + 1, loop_ret);
	order = compare_iterations(p, k, m, rest);
	if (order != rest || p->iterations[k].count != p->iterations[m].count)
		*loop_ret = progress_find_decisive(p, k, m);
	return order;
}

enum progress_order progress_explain(const struct progress *progress, uint32_t a, uint32_t b,
				     uint32_t *loop_ret)
{
	const struct progress_private *p = progress->private;
	const struct job_lane *lanes = progress->jm->lanes;
	const struct position *x = &p->positions[a], *y = &p->positions[b];

	*loop_ret = LOOP_NONE;
	if (a == b)
		return PROGRESS_SAME;
	if (lanes[a].role != lanes[b].role)
		return PROGRESS_UNORDERED;
	if (is_after_loop_of(p, x, y))
		return compare_with_frontier(p, y, lanes[a].state) == PROGRESS_LESS
			       ? PROGRESS_MORE
			       : PROGRESS_UNORDERED;
	if (is_after_loop_of(p, y, x))
		return compare_with_frontier(p, x, lanes[b].state);
	return compare_inside(p, LOOP_NONE, x, y, 0, loop_ret);
}

enum progress_order progress_compare(const struct progress *progress, uint32_t a, uint32_t b)
{
	uint32_t loop;

	return progress_explain(progress, a, b, &loop);
}

uint64_t progress_hash_place(const struct progress *progress, uint32_t actor)
{
	const struct progress_private *p = progress->private;
	const struct position *position = &p->positions[actor];
	uint64_t hash =
		hash_word(progress->jm->lanes[actor].role, progress->jm->lanes[actor].state);

	for (uint32_t i = 0; i < position_depth(position); i++) {
		uint32_t k = position_iteration(position, i), loop = p->iterations[k].loop;
		const struct loop_part *part = &p->jl->parts[loop];

		/* In nested loops it does not matter how often they were in the inner one. */
		if (part->nested && !p->is_approximate[loop] && p->jl->loops[loop].is_comparable)
			hash = hash_word(hash, p->levels[k].arrivals[part->num_levels - 1]);
		else
			hash = hash_word(hash, p->iterations[k].count);
	}
	return hash;
}
