/* SPDX-License-Identifier: BSD-3-Clause
 * From the frame in which the call outside goes its own way inwards, to that in which the first and
 * the last call part: a function of one of these frames goes round. */
#include "analysis/graph.h"
#include "analysis/progress/loop_nest.h"
#include "analysis/stacks/code_loops.h"
#include "analysis/stacks/flow.h"
#include "model/arena.h"
#include "model/hash.h"
#include "model/job/callpath.h"
#include "model/job/pair_map.h"

#define NO_BLOCK UINT32_MAX

struct code_loops {
	struct arena *arena;
	const struct callpaths *callpaths;
	struct temporal_source source;
	struct flow **flows; /* the first one is NULL: of functions that are not known */
	size_t num_flows, capacity;
	struct pair_map *flow_at; /* by the hash of a place: index in `flows` */
};

struct code_loops *code_loops_create(const struct callpaths *callpaths,
				     const struct temporal_source *source)
{
	struct arena *arena = arena_create();
	struct code_loops *loops = arena_alloc(arena, sizeof(*loops));

	loops->arena = arena;
	loops->callpaths = callpaths;
	loops->source = *source;
	loops->flow_at = pair_map_in(arena);
	loops->flows = arena_grow(arena, NULL, 0, &loops->capacity, sizeof(*loops->flows));
	loops->flows[loops->num_flows++] = NULL;
	return loops;
}

void code_loops_destroy(struct code_loops *loops)
{
	if (!loops)
		return;
	for (size_t i = 0; i < loops->num_flows; i++)
		flow_destroy(loops->flows[i]);
	arena_destroy(loops->arena);
}

static bool has_unknown_jump(const struct flow *flow)
{
	for (uint32_t block = 0; block < flow->num_blocks; block++)
		if (flow_is_reachable(flow, block) && flow_is_unknown_jump(flow, block))
			return true;
	return false;
}

/* A function with jumps of which it is not known where to is not known. */
static uint32_t add_flow(struct code_loops *loops, uint32_t module, uint64_t address)
{
	const struct code_function *code =
		loops->source.get_function(loops->source.context, module, address, NULL);
	struct flow *flow;

	if (!code || !code->num_insns)
		return 0;
	for (uint32_t i = 1; i < loops->num_flows; i++)
		if (loops->flows[i]->code == code)
			return i;
	flow = flow_create(code);
	if (has_unknown_jump(flow)) {
		flow_destroy(flow);
		return 0;
	}
	*ARENA_PUSH(loops->arena, loops->flows, loops->num_flows, loops->capacity) = flow;
	return (uint32_t)loops->num_flows - 1;
}

static const struct flow *find_flow(struct code_loops *loops, const struct callpath_node *node)
{
	uint64_t address = node->offset - node->is_return;
	uint64_t key = hash_word(node->module, address);
	uint32_t index = pair_map_get(loops->flow_at, key);

	if (index == PAIR_NONE) {
		index = add_flow(loops, node->module, address);
		pair_map_add(loops->flow_at, key, index);
	}
	return loops->flows[index];
}

/* The block of the frame's place; false: how it is reached is not known. */
static bool find_block(const struct flow *flow, const struct callpath_node *node, uint32_t *ret)
{
	struct flow_place place;

	if (!flow_find(flow, node->offset, node->is_return, &place))
		return false;
	*ret = flow->block_of[place.insn];
	return flow_is_reachable(flow, *ret);
}

/* Do several jumps lead back to where the loop begins? They may be those of several loops. */
static bool has_several_ends(const struct flow *flow, uint32_t loop)
{
	uint32_t header = flow->nest->loops[loop].header, num = 0;

	for (uint32_t block = 0; block < flow->num_blocks; block++) {
		size_t num_to;
		const uint32_t *to = graph_successors(flow->graph, block, &num_to);

		for (size_t i = 0; i < num_to; i++)
			num += to[i] == header && loop_nest_contains(flow->nest, loop, block);
	}
	return num > 1;
}

static uint32_t depth_of(const struct callpaths *paths, uint32_t path)
{
	return path == CALLPATH_NONE ? 0 : callpaths_get(paths, path)->depth + 1;
}

static const struct callpath_node *frame_at(const struct callpaths *paths, uint32_t path,
					    uint32_t depth)
{
	return callpaths_get(paths, callpaths_at_depth(paths, path, depth));
}

/* A function called from one place, and the calls of the loop in it. */
struct frame {
	const struct flow *flow;
	bool *is_call; /* [instructions] */
};

static struct frame find_calls(struct code_loops *loops, const struct flow *flow,
			       const struct progress_calls *calls, uint32_t path, uint32_t depth,
			       struct arena *arena)
{
	const struct callpaths *paths = loops->callpaths;
	struct frame frame = {flow, arena_array(arena, flow->code->num_insns, sizeof(bool))};
	uint32_t parent = frame_at(paths, path, depth)->parent;

	for (size_t i = 0; i < calls->num_all; i++) {
		struct flow_place place;
		const struct callpath_node *node;

		if (depth_of(paths, calls->all[i]) <= depth)
			continue;
		node = frame_at(paths, calls->all[i], depth);
		if (node->parent == parent && find_flow(loops, node) == flow &&
		    flow_find(flow, node->offset, node->is_return, &place))
			frame.is_call[place.insn] = true;
	}
	return frame;
}

/* Is a call of the loop made in the block, from that instruction on? */
static bool has_call(const struct frame *frame, uint32_t block, uint32_t first)
{
	const struct flow_block *of = &frame->flow->blocks[block];

	for (uint32_t insn = first; insn < of->first + of->num; insn++)
		if (frame->is_call[insn])
			return true;
	return false;
}

/* Does a way without calls of the loop lead from the instruction out of the loop `inner` and back
 * into it, or where that is LOOP_NONE to the block `to`, or with none to the function's end? */
static bool has_way(const struct frame *frame, uint32_t insn, uint32_t to, uint32_t inner,
		    struct arena *arena)
{
	const struct flow *flow = frame->flow;
	bool *is_seen = arena_array(arena, flow->num_blocks, sizeof(*is_seen));
	uint32_t *stack = arena_array(arena, flow->num_blocks + 1, sizeof(*stack));
	size_t num_stack = 0;

	if (!has_call(frame, flow->block_of[insn], insn))
		stack[num_stack++] = flow->block_of[insn];
	while (num_stack > 0) {
		uint32_t from = stack[--num_stack];
		bool is_out = inner != LOOP_NONE && !loop_nest_contains(flow->nest, inner, from);
		size_t num;
		const uint32_t *next = graph_successors(flow->graph, from, &num);

		if (to == NO_BLOCK && flow_last_insn(flow, from)->kind == CODE_END)
			return true;
		for (size_t i = 0; i < num; i++) {
			if (is_out && loop_nest_contains(flow->nest, inner, next[i]))
				return true;
			if (inner == LOOP_NONE && next[i] == to)
				return true;
			if (is_seen[next[i]] ||
			    has_call(frame, next[i], flow->blocks[next[i]].first))
				continue;
			is_seen[next[i]] = true;
			stack[num_stack++] = next[i];
		}
	}
	return false;
}

/* Of one function: a loop from the first call to the last. `outside` is NULL if it is not called
 * there. *inner_ret: the
 * outermost such loop. PROGRESS_ONE_LOOP: no loop of this function is meant. */
static enum progress_nesting ask_frame(struct code_loops *loops, const struct callpath_node *first,
				       const struct callpath_node *last,
				       const struct callpath_node *outside, uint32_t *inner_ret)
{
	const struct flow *flow = find_flow(loops, first);
	uint32_t from, to, beside, loop;

	*inner_ret = LOOP_NONE;
	if (!flow || first->module != last->module || !find_block(flow, first, &from) ||
	    !find_block(flow, last, &to))
		return PROGRESS_NESTING_NOT_KNOWN;
	loop = loop_nest_common(flow->nest, from, to);
	if (!outside)
		return loop == LOOP_NONE                        ? PROGRESS_ONE_LOOP
		       : flow->nest->loops[loop].is_irreducible ? PROGRESS_NESTING_NOT_KNOWN
								: PROGRESS_NESTED;
	if (outside->module != first->module || !find_block(flow, outside, &beside))
		return PROGRESS_NESTING_NOT_KNOWN;
	if (loop == LOOP_NONE)
		return PROGRESS_ONE_LOOP;
	if (flow->nest->loops[loop].is_irreducible)
		return PROGRESS_NESTING_NOT_KNOWN;
	if (loop_nest_contains(flow->nest, loop, beside))
		return has_several_ends(flow, loop) ? PROGRESS_NESTING_NOT_KNOWN
						    : PROGRESS_ONE_LOOP;
	/* Loops around without a call of their own go round by the same steps. */
	for (uint32_t around = loop;
	     around != LOOP_NONE && !loop_nest_contains(flow->nest, around, beside);
	     around = flow->nest->loops[around].parent)
		*inner_ret = around;
	return PROGRESS_NESTED;
}

/* The calls are those of nested loops: does whoever leaves the one inside make the one outside, or
 * another call? `depth` is that of the frame with both loops. */
static enum progress_nesting ask_way_out(struct code_loops *loops,
					 const struct progress_calls *calls, uint32_t depth,
					 uint32_t inner)
{
	const struct callpaths *paths = loops->callpaths;
	const struct callpath_node *node = frame_at(paths, calls->last, depth);
	const struct flow *flow = find_flow(loops, node);
	struct arena *arena SCOPED(arena) = arena_create();
	enum progress_nesting result = PROGRESS_NESTED;
	struct flow_place place, first;
	struct frame frame;
	uint32_t insn;

	/* They have been found before. */
	flow_find(flow, node->offset, node->is_return, &place);
	node = frame_at(paths, calls->first, depth);
	flow_find(flow, node->offset, node->is_return, &first);
	frame = find_calls(loops, flow, calls, calls->last, depth, arena);
	insn = place.insn + 1;
	if (insn == flow->code->num_insns || flow->block_of[insn] != flow->block_of[place.insn])
		insn = place.insn;
	if (insn == place.insn)
		frame.is_call[insn] = false;
	if (has_way(&frame, insn, flow->block_of[first.insn], inner, arena))
		result = PROGRESS_NESTING_NOT_KNOWN;
	for (uint32_t at = depth + 1;
	     result == PROGRESS_NESTED && at < depth_of(paths, calls->outside); at++) {
		flow = find_flow(loops, frame_at(paths, calls->outside, at));
		if (flow)
			frame = find_calls(loops, flow, calls, calls->outside, at, arena);
		if (!flow ||
		    has_way(&frame, flow->blocks[flow->entry].first, NO_BLOCK, LOOP_NONE, arena))
			result = PROGRESS_MAYBE_SKIPPED;
	}
	return result;
}

enum progress_nesting code_loops_ask(void *context, const struct progress_calls *calls)
{
	struct code_loops *loops = context;
	const struct callpaths *paths = loops->callpaths;
	uint32_t first = calls->first, last = calls->last, outside = calls->outside;
	uint32_t common = callpaths_common(paths, first, last);
	uint32_t depth = depth_of(paths, callpaths_common(paths, common, outside));
	uint32_t end = depth_of(paths, common), inner = LOOP_NONE, unused;
	bool is_known = true;

	/* Without a frame in which it differs nothing tells them apart. */
	if (depth >= depth_of(paths, outside) || depth >= depth_of(paths, first) ||
	    depth >= depth_of(paths, last))
		return PROGRESS_NESTING_NOT_KNOWN;
	/* One call that comes again goes round in its innermost frame at last. */
	if (end == depth_of(paths, first) || end == depth_of(paths, last))
		end--;
	for (uint32_t at = depth; at <= end; at++) {
		enum progress_nesting found =
			ask_frame(loops, frame_at(paths, first, at), frame_at(paths, last, at),
				  at == depth ? frame_at(paths, outside, at) : NULL,
				  at == depth ? &inner : &unused);

		if (found == PROGRESS_NESTING_NOT_KNOWN && at == depth)
			return found;
		if (found == PROGRESS_NESTED)
			return ask_way_out(loops, calls, depth, inner);
		is_known = is_known && found == PROGRESS_ONE_LOOP;
	}
	return is_known ? PROGRESS_ONE_LOOP : PROGRESS_NESTING_NOT_KNOWN;
}
