/* SPDX-License-Identifier: BSD-3-Clause
 * Questions about the loops of a job: membership, arrivals, and searches in bodies. */
#include "analysis/graph.h"
#include "analysis/progress/job_loops.h"
#include "model/job/job_model.h"

/* The state's index in the part, which must contain it. */
static size_t find_member(const struct loop_part *part, uint32_t state)
{
	return sorted_first(&state, part->states, part->num_states, sizeof(state),
			    sorted_compare_u32);
}

bool job_loops_contains(const struct job_loops *jl, uint32_t loop, uint32_t state)
{
	uint32_t around = jl->loop_of[state];

	while (around != LOOP_NONE && jl->loops[around].depth > jl->loops[loop].depth)
		around = jl->loops[around].parent;
	return around == loop;
}

uint32_t job_loops_child(const struct job_loops *jl, uint32_t loop, uint32_t state)
{
	uint32_t child = jl->loop_of[state];

	while (child != loop && jl->loops[child].parent != loop)
		child = jl->loops[child].parent;
	return child == loop ? LOOP_NONE : child;
}

static bool is_head(const struct job_loops *jl, uint32_t loop, uint32_t state)
{
	const struct loop_part *part = &jl->parts[loop];

	return job_loops_contains(jl, loop, state) && part->is_head[find_member(part, state)];
}

bool job_loops_arrives(const struct job_loops *jl, uint32_t loop, uint32_t from, uint32_t to)
{
	if (!jl->parts[loop].is_head)
		return jl->loops[loop].header == to;
	return is_head(jl, loop, to) && !is_head(jl, loop, from);
}

unsigned int job_loops_level(const struct job_loops *jl, uint32_t loop, uint32_t from)
{
	const struct loop_part *part = &jl->parts[loop];

	if (!part->levels)
		return 0;
	if (!job_loops_contains(jl, loop, from))
		return part->num_levels - 1;
	return part->levels[find_member(part, from)];
}

unsigned int job_loops_level_in(const struct job_loops *jl, uint32_t loop, uint32_t state)
{
	const struct loop_part *part = &jl->parts[loop];

	return part->levels_in ? part->levels_in[find_member(part, state)] : 0;
}

bool job_loops_is_before_head(const struct job_loops *jl, uint32_t loop, uint32_t state)
{
	const struct loop_part *part = &jl->parts[loop];

	return part->is_before_head && part->is_before_head[find_member(part, state)];
}

struct body_search {
	const struct job_loops *jl;
	const bool *is_tail;
	uint32_t *stamps; /* [states + loops] */
	uint32_t *stack;  /* [states] */
	size_t num_states, num_stack;
	uint32_t stamp;
};

struct body_search *body_search_create(struct arena *arena, const struct job_loops *jl,
				       const bool *is_tail)
{
	size_t num_states = job_model_num_states(jl->jm);
	struct body_search *search = arena_alloc(arena, sizeof(*search));

	search->jl = jl;
	search->is_tail = is_tail;
	search->num_states = num_states;
	search->stamps = arena_array(arena, num_states + jl->num_loops, sizeof(*search->stamps));
	search->stack = arena_array(arena, num_states, sizeof(*search->stack));
	return search;
}

/* Go on from all states of the node. False if it was reached before. */
static bool push_node(struct body_search *search, uint32_t state, uint32_t child)
{
	const struct loop_part alone = {.states = &state, .num_states = 1};
	const struct loop_part *part = child == LOOP_NONE ? &alone : &search->jl->parts[child];
	uint32_t *stamp = &search->stamps[child == LOOP_NONE ? state : search->num_states + child];

	if (*stamp == search->stamp)
		return false;
	*stamp = search->stamp;
	for (size_t i = 0; i < part->num_states; i++)
		search->stack[search->num_stack++] = part->states[i];
	return true;
}

/* A tail is outside of the outermost loop, too, when a search leaves the loop that it is in. */
static bool is_tail_outside(const struct body_search *search, uint32_t outermost, uint32_t state)
{
	return search->is_tail && search->is_tail[state] &&
	       !job_loops_contains(search->jl, outermost, state);
}

void body_search_run(struct body_search *search, uint32_t loop, uint32_t state, uint32_t child,
		     body_reached_fn reached, void *context)
{
	const struct job_loops *jl = search->jl;
	uint32_t outermost = LOOP_NONE;

	if (loop != LOOP_NONE)
		outermost = job_loops_child(jl, LOOP_NONE, jl->loops[loop].header);
	search->stamp++;
	search->num_stack = 0;
	push_node(search, state, child);
	while (search->num_stack > 0) {
		uint32_t from = search->stack[--search->num_stack];
		size_t num;
		const uint32_t *to = graph_successors(jl->graph, from, &num);

		for (size_t i = 0; i < num; i++) {
			bool is_inside = loop == LOOP_NONE || job_loops_contains(jl, loop, to[i]);
			uint32_t inside;

			if (loop != LOOP_NONE && job_loops_arrives(jl, loop, from, to[i]))
				continue;
			inside = job_loops_child(jl, is_inside ? loop : LOOP_NONE, to[i]);
			if (!is_inside && !is_tail_outside(search, outermost, to[i]))
				continue;
			if (push_node(search, to[i], inside))
				reached(context, to[i], inside);
		}
	}
}
