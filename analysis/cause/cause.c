/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cause/cause.h"
#include "analysis/graph.h"
#include "analysis/progress/loop_nest.h"

enum { MAX_BLOCKS = 8192 }; /* of a function; larger ones take too long */

/* ---- Postdominators ---- */

/* After Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001), on the graph with
 * its edges turned. One more node, the last one, is where all ways end. */
struct ends {
	const struct flow *flow;
	uint32_t exit;
	uint32_t *next;     /* [num_blocks + 1] the immediate postdominator */
	uint32_t *position; /* [num_blocks + 1] in the order of the search from the end */
	bool *is_exit;      /* [num_blocks] is it joined to the end? */
};

struct joint {
	uint32_t first, num; /* in `from` */
};

static struct joint *turn_edges(struct arena *arena, const struct flow *flow, uint32_t **from_ret)
{
	struct joint *joints = arena_array(arena, flow->num_blocks + 1, sizeof(*joints));
	size_t total = 0, num;

	for (uint32_t i = 0; i < flow->num_blocks; i++) {
		const uint32_t *to = graph_successors(flow->graph, i, &num);

		for (size_t k = 0; k < num; k++)
			joints[to[k]].num++;
		total += num;
	}
	*from_ret = arena_array(arena, total + 1, sizeof(**from_ret));
	for (uint32_t i = 0, first = 0; i < flow->num_blocks; i++) {
		joints[i].first = first;
		first += joints[i].num;
		joints[i].num = 0;
	}
	for (uint32_t i = 0; i < flow->num_blocks; i++) {
		const uint32_t *to = graph_successors(flow->graph, i, &num);

		for (size_t k = 0; k < num; k++)
			(*from_ret)[joints[to[k]].first + joints[to[k]].num++] = i;
	}
	return joints;
}

/* Search backwards from a block; postorder goes to `order`. */
static size_t search_back(struct arena *scratch, const struct flow *flow,
			  const struct joint *joints, const uint32_t *from, uint32_t root,
			  bool *seen, uint32_t *order, size_t num)
{
	uint32_t *stack = arena_array(scratch, flow->num_blocks + 1, sizeof(*stack));
	uint32_t *at = arena_array(scratch, flow->num_blocks + 1, sizeof(*at));
	size_t depth = 0;

	stack[depth] = root;
	at[depth++] = 0;
	seen[root] = true;
	while (depth) {
		const struct joint *joint = &joints[stack[depth - 1]];
		uint32_t next;

		if (at[depth - 1] == joint->num) {
			order[num++] = stack[--depth];
			continue;
		}
		next = from[joint->first + at[depth - 1]++];
		if (seen[next])
			continue;
		seen[next] = true;
		stack[depth] = next;
		at[depth++] = 0;
	}
	return num;
}

static uint32_t meet(const struct ends *ends, uint32_t a, uint32_t b)
{
	while (a != b) {
		while (ends->position[a] < ends->position[b])
			a = ends->next[a];
		while (ends->position[b] < ends->position[a])
			b = ends->next[b];
	}
	return a;
}

static bool improve(struct ends *ends, const uint32_t *order, size_t num_order)
{
	bool has_changed = false;

	for (size_t i = num_order; i-- > 0;) {
		uint32_t block = order[i], next = ends->is_exit[block] ? ends->exit : CAUSE_NONE;
		size_t num;
		const uint32_t *to = graph_successors(ends->flow->graph, block, &num);

		for (size_t k = 0; k < num; k++)
			if (ends->next[to[k]] != CAUSE_NONE)
				next = next == CAUSE_NONE ? to[k] : meet(ends, next, to[k]);
		has_changed |= next != ends->next[block];
		ends->next[block] = next;
	}
	return has_changed;
}

/* An endless loop ends, too: at its block that is last in the order of the code. */
static void find_ends(struct arena *arena, const struct flow *flow, struct ends *ends)
{
	size_t total = flow->num_blocks, num = 0, num_successors;
	uint32_t *from, *order = arena_array(arena, total + 1, sizeof(*order));
	struct joint *joints = turn_edges(arena, flow, &from);
	bool *seen = arena_array(arena, total + 1, sizeof(*seen));

	*ends = (struct ends){.flow = flow, .exit = (uint32_t)total};
	ends->next = arena_array(arena, total + 1, sizeof(*ends->next));
	ends->position = arena_array(arena, total + 1, sizeof(*ends->position));
	ends->is_exit = arena_array(arena, total + 1, sizeof(*ends->is_exit));
	for (int round = 0; round < 2; round++)
		for (size_t i = total; i-- > 0;) {
			uint32_t block = flow->order[i];

			graph_successors(flow->graph, block, &num_successors);
			if (seen[block] || (round == 0 && num_successors))
				continue;
			ends->is_exit[block] = true;
			num = search_back(arena, flow, joints, from, block, seen, order, num);
		}
	for (size_t i = 0; i < num; i++) {
		ends->position[order[i]] = (uint32_t)i;
		ends->next[order[i]] = CAUSE_NONE;
	}
	ends->position[ends->exit] = (uint32_t)num;
	ends->next[ends->exit] = ends->exit;
	while (improve(ends, order, num))
		;
}

/* ---- Control dependence ---- */

/* Note in depends[branch] the successor by which it leads to the place; two: both do. */
enum { BOTH_SIDES = UINT32_MAX - 1 };

/* Does the edge lead to a block of the set in any case, though its branch need not? */
static bool leads_to(const struct ends *ends, uint32_t branch, uint32_t successor, const bool *set)
{
	uint32_t end = ends->next[branch];

	for (uint32_t at = successor; at != end && at != ends->exit && at != CAUSE_NONE;
	     at = ends->next[at])
		if (set[at])
			return true;
	return false;
}

static void find_dependences(const struct ends *ends, bool *set, uint32_t *depends)
{
	const struct flow *flow = ends->flow;
	bool has_changed = true;

	for (uint32_t i = 0; i < flow->num_blocks; i++)
		depends[i] = CAUSE_NONE;
	while (has_changed) {
		has_changed = false;
		for (uint32_t i = 0; i < flow->num_blocks; i++) {
			size_t num;
			const uint32_t *to = graph_successors(flow->graph, i, &num);
			uint32_t side = CAUSE_NONE;

			for (size_t k = 0; num > 1 && k < num; k++)
				if (leads_to(ends, i, to[k], set))
					side = side == CAUSE_NONE ? to[k] : BOTH_SIDES;
			has_changed |= side != depends[i];
			depends[i] = side;
			if (side != CAUSE_NONE)
				set[i] = true;
		}
	}
}

static bool has_unknown_jumps(const struct flow *flow)
{
	for (uint32_t i = 0; i < flow->num_blocks; i++)
		if (flow_is_reachable(flow, i) && flow_is_unknown_jump(flow, i))
			return true;
	return false;
}

/* Is the side before the branch in the iteration that both sides are in? It has not come there. */
static bool is_before(const struct cause_places *places, uint32_t side, uint32_t block)
{
	const struct flow *flow = places->flow;
	const struct flow_block *of = &flow->blocks[block];
	const struct flow_place jump = {of->first + of->num - 1, false};

	return !places->has_left[side] && places->earlier != !side &&
	       flow_compare(flow, places->place[side], jump) == FLOW_BEFORE;
}

size_t cause_branches(struct arena *arena, const struct cause_places *places,
		      struct cause_branch **ret, bool *is_known_ret)
{
	struct arena *scratch SCOPED(arena) = arena_create();
	const struct flow *flow = places->flow;
	uint32_t *depends[2];
	struct ends ends;
	size_t num = 0, capacity = 0;

	*ret = NULL;
	*is_known_ret = false;
	if (has_unknown_jumps(flow) || flow->num_blocks > MAX_BLOCKS)
		return 0;
	find_ends(scratch, flow, &ends);
	for (int side = 0; side < 2; side++) {
		bool *set = arena_array(scratch, flow->num_blocks + 1, sizeof(*set));
		uint32_t block = places->has_left[side] ? CAUSE_NONE
							: flow->block_of[places->place[side].insn];

		if (block != CAUSE_NONE && !flow_is_reachable(flow, block))
			return 0;
		depends[side] = arena_array(scratch, flow->num_blocks + 1, sizeof(uint32_t));
		if (block != CAUSE_NONE)
			set[block] = true;
		for (size_t i = 0; i < places->num_copies[side]; i++)
			set[flow->block_of[places->copies[side][i]]] = true;
		find_dependences(&ends, set, depends[side]);
	}
	*is_known_ret = true;
	for (size_t i = 0; i < flow->num_reachable; i++) {
		uint32_t block = flow->order[i];
		struct cause_branch branch = {.block = block,
					      .address = flow_last_insn(flow, block)->address};

		for (int side = 0; side < 2; side++) {
			branch.to[side] = depends[side][block];
			if (branch.to[side] == BOTH_SIDES)
				branch.to[side] = CAUSE_NONE;
		}
		if (branch.to[0] == branch.to[1] ||
		    (branch.to[0] == CAUSE_NONE && is_before(places, 0, block)) ||
		    (branch.to[1] == CAUSE_NONE && is_before(places, 1, block)))
			continue;
		*ARENA_PUSH(arena, *ret, num, capacity) = branch;
	}
	return num;
}

bool cause_are_equivalent(const struct flow *flow, uint32_t insn_a, uint32_t insn_b)
{
	struct arena *scratch SCOPED(arena) = arena_create();
	const uint32_t blocks[2] = {flow->block_of[insn_a], flow->block_of[insn_b]};
	uint32_t *depends[2];
	struct ends ends;

	if (has_unknown_jumps(flow) || flow->num_blocks > MAX_BLOCKS ||
	    !flow_is_reachable(flow, blocks[0]) || !flow_is_reachable(flow, blocks[1]))
		return false;
	find_ends(scratch, flow, &ends);
	for (int i = 0; i < 2; i++) {
		bool *set = arena_array(scratch, flow->num_blocks + 1, sizeof(*set));

		set[blocks[i]] = true;
		depends[i] = arena_array(scratch, flow->num_blocks + 1, sizeof(uint32_t));
		find_dependences(&ends, set, depends[i]);
	}
	return !memcmp(depends[0], depends[1], flow->num_blocks * sizeof(uint32_t));
}

/* ---- Values ---- */

static uint32_t block_at(const struct flow *flow, uint64_t address)
{
	const struct code_insn *insn = code_function_find(flow->code, address);

	return insn && insn->address == address ? flow->block_of[insn - flow->code->insns]
						: CAUSE_NONE;
}

uint32_t cause_successor(const struct flow *flow, const struct cause_branch *branch,
			 const struct condition *condition, double left, double right)
{
	const struct code_insn *jump = flow_last_insn(flow, branch->block);
	int64_t index;
	int holds;

	if (jump->kind == CODE_SWITCH) {
		index = condition_index(condition, left);
		return index < 0 || index >= jump->num_targets
			       ? CAUSE_NONE
			       : block_at(flow, flow->code->targets[jump->first_target + index]);
	}
	holds = condition_holds(condition, left, right);
	if (holds < 0)
		return CAUSE_NONE;
	return block_at(flow, holds ? jump->target : jump->address + jump->length);
}

/* Blocks that can be reached from `block` without the branch. */
static void spread(const struct flow *flow, uint32_t block, uint32_t branch, bool *seen,
		   uint32_t *stack)
{
	size_t depth = 0;

	if (block == branch)
		return;
	seen[block] = true;
	stack[depth++] = block;
	while (depth) {
		size_t num;
		const uint32_t *to = graph_successors(flow->graph, stack[--depth], &num);

		for (size_t k = 0; k < num; k++)
			if (!seen[to[k]] && to[k] != branch) {
				seen[to[k]] = true;
				stack[depth++] = to[k];
			}
	}
}

static bool overlaps(const struct code_place *a, const struct code_place *b)
{
	if (a->kind != b->kind || a->reg != b->reg)
		return false;
	return a->kind == CODE_REGISTER || (a->displacement < b->displacement + b->size &&
					    b->displacement < a->displacement + a->size);
}

/* Or the register that leads to the place. is_outside: memory that called functions, and stores
 * through pointers, can change. */
static bool writes(const struct flow *flow, uint32_t insn, const struct code_place *place,
		   bool is_outside)
{
	const struct code_insn *of = &flow->code->insns[insn];

	if (of->kind == CODE_CALL && (is_outside || (place->kind == CODE_REGISTER &&
						     !(flow->code->preserved >> place->reg & 1))))
		return true;
	for (uint32_t i = 0; i < of->num_effects; i++) {
		const struct code_place *to = &flow->effects[of->first_effect + i].to;

		if (overlaps(to, place) || (to->kind == CODE_REGISTER && to->reg == place->reg) ||
		    (is_outside && to->kind == CODE_MEMORY &&
		     (to->reg != CODE_CFA ||
		      flow_is_shared(flow, to->displacement, to->size, false))))
			return true;
	}
	return false;
}

bool cause_is_unchanged(const struct cause_places *places, const struct cause_branch *branch,
			uint32_t side, const struct code_place *of, uint64_t at_address)
{
	const struct flow *flow = places->flow;
	struct arena *scratch SCOPED(arena) = arena_create();
	bool *seen = arena_array(scratch, flow->num_blocks, sizeof(*seen));
	uint32_t *stack = arena_array(scratch, flow->num_blocks, sizeof(*stack));
	uint32_t *order = arena_array(scratch, flow->num_blocks, sizeof(*order));
	bool *reached = arena_array(scratch, flow->num_blocks, sizeof(*reached));
	uint32_t end = flow->block_of[places->place[side].insn], *from;
	struct joint *joints;
	size_t num;
	const uint32_t *to = graph_successors(flow->graph, branch->block, &num);

	const struct code_insn *from_insn = code_function_find(flow->code, at_address);
	struct code_place resolved, *place = &resolved;
	bool is_outside;
	const struct flow_place *at = &places->place[side];

	if (places->has_left[side] || !from_insn ||
	    flow->block_of[from_insn - flow->code->insns] != branch->block)
		return false;
	const struct flow_frame frame =
		flow_frame_at(flow, (uint32_t)(from_insn - flow->code->insns));
	resolved = flow_resolve(&frame, *of);
	is_outside = place->kind == CODE_MEMORY &&
		     (place->reg != CODE_CFA ||
		      flow_is_shared(flow, place->displacement, place->size, true));
	if (is_outside && at->is_inside && !places->is_in_library[side])
		return false;
	for (; from_insn->address < branch->address; from_insn++)
		if (writes(flow, (uint32_t)(from_insn - flow->code->insns), place, is_outside))
			return false;
	for (size_t k = 0; k < num; k++)
		if (branch->to[side] == CAUSE_NONE ? to[k] != branch->to[!side]
						   : to[k] == branch->to[side])
			spread(flow, to[k], branch->block, seen, stack);
	joints = turn_edges(scratch, flow, &from);
	reached[branch->block] = true;
	search_back(scratch, flow, joints, from, end, reached, order, 0);
	for (uint32_t i = 0; i < flow->num_blocks; i++) {
		uint32_t last = flow->blocks[i].first + flow->blocks[i].num;

		if (!seen[i] || !reached[i])
			continue;
		/* In a loop what is behind the place comes before it, too. */
		if (i == end && flow->nest->loop_of[i] == LOOP_NONE)
			last = at->insn;
		for (uint32_t insn = flow->blocks[i].first; insn < last; insn++)
			if (writes(flow, insn, place, is_outside))
				return false;
	}
	return seen[end];
}

bool cause_is_counter(const struct cause_places *places, const struct cause_branch *branch,
		      const struct code_place *place)
{
	const struct flow *flow = places->flow;
	uint32_t loop = flow->nest->loop_of[branch->block];

	for (uint32_t insn = 0; loop != LOOP_NONE && insn < flow->code->num_insns; insn++) {
		const struct code_insn *of = &flow->code->insns[insn];

		if (!loop_nest_contains(flow->nest, loop, flow->block_of[insn]))
			continue;
		for (uint32_t i = 0; i < of->num_effects; i++) {
			const struct code_effect *effect = &flow->effects[of->first_effect + i];
			const struct code_value *value = &effect->value;

			if (overlaps(&effect->to, place) && value->is_known &&
			    value->num_terms == 1 && value->constant &&
			    overlaps(&value->terms[0].place, place))
				return true;
		}
	}
	return false;
}

bool cause_is_in_loop(const struct cause_places *places, const struct cause_branch *branch,
		      uint32_t side)
{
	const struct loop_nest *nest = places->flow->nest;
	uint32_t loop = nest->loop_of[branch->block];

	if (places->has_left[side] || branch->to[side] == CAUSE_NONE)
		return false;
	for (; loop != LOOP_NONE; loop = nest->loops[loop].parent) {
		bool is_in = loop_nest_contains(nest, loop,
						places->flow->block_of[places->place[side].insn]);
		bool is_other_in =
			!places->has_left[!side] &&
			loop_nest_contains(nest, loop,
					   places->flow->block_of[places->place[!side].insn]);

		if (is_in && !is_other_in)
			return true;
	}
	return false;
}

/* ---- The decision ---- */

enum judgement {
	AGREE, /* they have not parted there */
	SAME,  /* nor would they now, but the values may have been others */
	PART,  /* they have */
	UNKNOWN,
};

/* Do values of now tell of the branch that only ranks of `side` must have come through? The others'
 * are of the iteration that they are in. */
static bool is_comparable(const struct cause_places *places, int side, const bool is_together[2])
{
	return places->earlier == -1 || (is_together[side] && places->earlier != !side);
}

/* Of a branch that only ranks of `side` must have come through, by its successor. */
static enum judgement judge_one(const struct cause_places *places,
				const struct cause_branch *branch,
				const struct cause_evidence *evidence, int side,
				const bool is_together[2])
{
	uint32_t must = branch->to[side], own = evidence->now[side], other = evidence->now[!side];

	if (other == CAUSE_NONE)
		return UNKNOWN;
	if (evidence->is_unchanged[!side] &&
	    (other == must || (own == other && evidence->is_unchanged[side])))
		return AGREE;
	if (other == must && own == must)
		return SAME;
	if (other == must || !is_comparable(places, side, is_together))
		return UNKNOWN;
	return own == must || evidence->is_unchanged[!side] ? PART : UNKNOWN;
}

/* May a side still be in the loop only because it is slower? Not where it waits for the others. */
static bool may_be_slower(const struct cause_evidence *evidence, const bool is_together[2])
{
	return (evidence->is_inside[0] && !is_together[0]) ||
	       (evidence->is_inside[1] && !is_together[1]);
}

/* Of a branch that both have come through, by different sides as it seems. */
static enum judgement judge_both(const struct cause_places *places,
				 const struct cause_branch *branch,
				 const struct cause_evidence *evidence)
{
	bool is_same_iteration = places->earlier == -1;

	/* In different iterations it is no wonder. */
	if (places->earlier >= 0 || (evidence->is_counted && !is_same_iteration))
		return UNKNOWN;
	return evidence->now[0] == branch->to[0] && evidence->now[1] == branch->to[1] ? PART
										      : UNKNOWN;
}

static enum judgement judge(const struct cause_places *places, const struct cause_branch *branch,
			    const struct cause_evidence *evidence, const bool is_together[2])
{
	enum judgement judgement;

	if (evidence->is_behind)
		return AGREE;
	if (branch->to[0] == CAUSE_NONE)
		judgement = judge_one(places, branch, evidence, 1, is_together);
	else if (branch->to[1] == CAUSE_NONE)
		judgement = judge_one(places, branch, evidence, 0, is_together);
	else
		judgement = judge_both(places, branch, evidence);
	return judgement == PART && may_be_slower(evidence, is_together) ? UNKNOWN : judgement;
}

/* Does the code alone tell that they parted at these branches, all of one line? Either no side
 * could be at the other's place; or one has not been where the other waits for it. In another iteration
 * it may have taken other ways through branches that both places depend on. Where all would go the
 * same way now, what was missed may have been another call, whose part this one has taken. */
static bool is_told_by_code(const struct cause_places *places, const struct cause_branch *branches,
			    const struct cause_evidence *evidence, size_t num, uint32_t line,
			    const bool is_together[2])
{
	bool is_told = false;

	for (size_t i = 0; i < num; i++) {
		bool is_owner[2] = {branches[i].to[0] != CAUSE_NONE,
				    branches[i].to[1] != CAUSE_NONE};

		if (evidence[i].line != line)
			continue;
		if (may_be_slower(&evidence[i], is_together))
			return false;
		if (!(is_owner[0] && is_owner[1]) && evidence[i].now[0] != CAUSE_NONE &&
		    evidence[i].now[0] == evidence[i].now[1])
			continue;
		is_told |= (is_owner[0] && (is_owner[1] || is_together[0])) ||
			   (is_owner[1] && is_together[1]);
	}
	return places->earlier == -1 && is_told;
}

enum cause_result cause_choose(const struct cause_places *places,
			       const struct cause_branch *branches,
			       const struct cause_evidence *evidence, size_t num,
			       const bool is_together[2], uint32_t *branch_ret)
{
	uint32_t open = CAUSE_NONE, same = CAUSE_NONE;

	for (size_t i = 0; i < num; i++) {
		enum judgement judgement = judge(places, &branches[i], &evidence[i], is_together);

		if (judgement == SAME && same == CAUSE_NONE)
			same = (uint32_t)i;
		if (judgement == AGREE || judgement == SAME)
			continue;
		/* They may have parted at an earlier line. */
		if (open != CAUSE_NONE && evidence[open].line != evidence[i].line)
			return CAUSE_NOT_KNOWN;
		if (judgement == PART) {
			*branch_ret = (uint32_t)i;
			return same == CAUSE_NONE || evidence[same].line == evidence[i].line
				       ? CAUSE_FOUND
				       : CAUSE_LIKELY;
		}
		if (open == CAUSE_NONE)
			open = (uint32_t)i;
	}
	if (open != CAUSE_NONE && same != CAUSE_NONE && evidence[open].line != evidence[same].line)
		return CAUSE_NOT_KNOWN;
	if (open == CAUSE_NONE)
		open = same;
	if (open == CAUSE_NONE)
		return CAUSE_ELSEWHERE;
	*branch_ret = open;
	return is_told_by_code(places, branches, evidence, num, evidence[open].line, is_together)
		       ? CAUSE_FOUND
		       : CAUSE_NOT_KNOWN;
}
