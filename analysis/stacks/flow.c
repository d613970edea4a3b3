/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/graph.h"
#include "analysis/progress/loop_nest.h"
#include "analysis/stacks/flow.h"

static uint32_t insn_at(const struct code_function *code, uint64_t address)
{
	const struct code_insn *insn = code_function_find(code, address);

	return insn && insn->address == address ? (uint32_t)(insn - code->insns) : UINT32_MAX;
}

static void mark(const struct code_function *code, bool *leaders, uint64_t address)
{
	uint32_t insn = insn_at(code, address);

	if (insn != UINT32_MAX)
		leaders[insn] = true;
}

static bool *find_targets(struct arena *arena, const struct code_function *code)
{
	bool *targets = arena_array(arena, code->num_insns, sizeof(*targets));

	mark(code, targets, code->entry);
	for (size_t i = 0; i < code->num_insns; i++) {
		const struct code_insn *insn = &code->insns[i];

		if (insn->kind == CODE_JUMP || insn->kind == CODE_BRANCH)
			mark(code, targets, insn->target);
		for (uint32_t t = 0; t < insn->num_targets; t++)
			mark(code, targets, code->targets[insn->first_target + t]);
	}
	return targets;
}

/* Does nothing run on from the instruction before this one? */
static bool is_after_end(const struct code_function *code, size_t insn)
{
	const struct code_insn *before = &code->insns[insn] - 1;

	return insn == 0 || before->address + before->length != code->insns[insn].address ||
	       before->kind == CODE_JUMP || before->kind == CODE_SWITCH || before->kind == CODE_END;
}

static void make_blocks(struct flow *flow, const bool *targets)
{
	const struct code_function *code = flow->code;

	flow->blocks = arena_array(flow->arena, code->num_insns, sizeof(*flow->blocks));
	flow->block_of = arena_array(flow->arena, code->num_insns, sizeof(*flow->block_of));
	for (size_t i = 0; i < code->num_insns; i++) {
		/* They begin at targets, and after what may jump. */
		if (targets[i] || is_after_end(code, i) || code->insns[i - 1].kind == CODE_BRANCH)
			flow->blocks[flow->num_blocks++].first = (uint32_t)i;
		flow->blocks[flow->num_blocks - 1].num++;
		flow->block_of[i] = (uint32_t)flow->num_blocks - 1;
	}
}

/* What aligns blocks, which nothing leads to: it must not look like another way into a loop. */
static bool is_padding(const struct flow *flow, const bool *targets, uint32_t block)
{
	const struct flow_block *of = &flow->blocks[block];

	if (targets[of->first] || !is_after_end(flow->code, of->first))
		return false;
	for (uint32_t i = 0; i < of->num; i++) {
		const struct code_insn *insn = &flow->code->insns[of->first + i];

		if (insn->kind != CODE_PLAIN || insn->num_effects)
			return false;
	}
	return true;
}

static void add_edge(struct flow *flow, uint32_t block, uint64_t target)
{
	uint32_t insn = insn_at(flow->code, target);

	if (insn != UINT32_MAX)
		graph_add_edge(flow->graph, block, flow->block_of[insn]);
}

static void make_graph(struct flow *flow, const bool *targets)
{
	const struct code_function *code = flow->code;

	flow->graph = graph_create(flow->arena, flow->num_blocks);
	for (uint32_t i = 0; i < flow->num_blocks; i++) {
		const struct code_insn *last = flow_last_insn(flow, i);

		if (is_padding(flow, targets, i))
			continue;
		if (last->kind == CODE_PLAIN || last->kind == CODE_CALL ||
		    last->kind == CODE_BRANCH)
			add_edge(flow, i, last->address + last->length);
		if (last->kind == CODE_JUMP || last->kind == CODE_BRANCH)
			add_edge(flow, i, last->target);
		for (uint32_t t = 0; t < last->num_targets; t++)
			add_edge(flow, i, code->targets[last->first_target + t]);
	}
}

static void make_order(struct flow *flow)
{
	const struct loop_nest *nest = flow->nest;
	size_t num = nest->num_reachable;

	flow->order = arena_array(flow->arena, flow->num_blocks, sizeof(*flow->order));
	flow->position = arena_array(flow->arena, flow->num_blocks, sizeof(*flow->position));
	flow->num_reachable = num;
	for (size_t i = 0; i < num; i++) {
		flow->order[i] = nest->postorder[num - 1 - i];
		flow->position[flow->order[i]] = (uint32_t)i + 1;
	}
	/* What nothing is known to lead to comes last. */
	for (uint32_t i = 0; i < flow->num_blocks; i++)
		if (!flow->position[i])
			flow->order[num++] = i;
	for (uint32_t i = 0; i < flow->num_blocks; i++)
		flow->position[flow->order[i]] = i;
}

bool flow_is_reachable(const struct flow *flow, uint32_t block)
{
	return flow->position[block] < flow->num_reachable;
}

const struct code_insn *flow_last_insn(const struct flow *flow, uint32_t block)
{
	return &flow->code->insns[flow->blocks[block].first + flow->blocks[block].num - 1];
}

bool flow_is_unknown_jump(const struct flow *flow, uint32_t block)
{
	const struct code_insn *last = flow_last_insn(flow, block);

	return last->kind == CODE_SWITCH && !last->num_targets;
}

bool flow_is_back_edge(const struct flow *flow, uint32_t from, uint32_t to)
{
	const struct loop_nest *nest = flow->nest;
	uint32_t loop = nest->loop_of[to];

	return loop != LOOP_NONE && nest->loops[loop].header == to &&
	       loop_nest_contains(nest, loop, from);
}

struct code_place flow_resolve(const struct flow_frame *frame, struct code_place place)
{
	if (place.kind == CODE_MEMORY && place.reg < CODE_NUM_REGISTERS &&
	    frame->is_known[place.reg]) {
		place.displacement += frame->offset[place.reg];
		place.reg = CODE_CFA;
	}
	return place;
}

static void apply_effect(struct flow_frame *frame, const struct code_effect *effect)
{
	const struct code_value *value = &effect->value;
	uint8_t reg = effect->to.reg;

	if (effect->to.kind != CODE_REGISTER)
		return;
	if (value->is_known && value->num_terms == 1 && value->terms[0].factor == 1 &&
	    !value->shift && value->terms[0].place.kind == CODE_REGISTER &&
	    value->terms[0].place.size == 8 && effect->to.size == 8) {
		uint8_t from = value->terms[0].place.reg;

		frame->is_known[reg] = frame->is_known[from];
		frame->offset[reg] = frame->offset[from] + value->constant;
		return;
	}
	frame->is_known[reg] = false;
}

/* What is left after the function that the instruction calls, if it does. */
static void apply_call(const struct code_function *code, struct flow_frame *frame,
		       const struct code_insn *insn)
{
	if (insn->kind != CODE_CALL)
		return;
	for (unsigned int i = 0; i < CODE_NUM_REGISTERS; i++)
		if (!(code->preserved >> i & 1))
			frame->is_known[i] = false;
}

static void apply_insn(const struct code_function *code, struct flow_frame *frame,
		       const struct code_insn *insn)
{
	for (uint32_t i = 0; i < insn->num_effects; i++)
		apply_effect(frame, &code->effects[insn->first_effect + i]);
	apply_call(code, frame, insn);
}

/* Keep what both agree on. Returns whether *into has changed. */
static bool meet(struct flow_frame *into, const struct flow_frame *other)
{
	bool has_changed = false;

	for (unsigned int i = 0; i < CODE_NUM_REGISTERS; i++) {
		if (!into->is_known[i] ||
		    (other->is_known[i] && other->offset[i] == into->offset[i]))
			continue;
		into->is_known[i] = false;
		has_changed = true;
	}
	return has_changed;
}

static bool spread(struct flow *flow, bool *is_reached, uint32_t block,
		   const struct flow_frame *frame)
{
	size_t num;
	const uint32_t *successors = graph_successors(flow->graph, block, &num);
	bool has_changed = false;

	for (size_t i = 0; i < num; i++) {
		uint32_t to = successors[i];

		if (!is_reached[to]) {
			is_reached[to] = true;
			flow->frames[to] = *frame;
			has_changed = true;
		} else if (meet(&flow->frames[to], frame)) {
			has_changed = true;
		}
	}
	return has_changed;
}

struct flow_frame flow_frame_at(const struct flow *flow, uint32_t insn)
{
	uint32_t block = flow->block_of[insn];
	struct flow_frame frame = flow->frames[block];

	for (uint32_t i = flow->blocks[block].first; i < insn; i++)
		apply_insn(flow->code, &frame, &flow->code->insns[i]);
	return frame;
}

static void find_frames(struct flow *flow)
{
	const struct code_function *code = flow->code;
	bool *is_reached = arena_array(flow->arena, flow->num_blocks, sizeof(*is_reached));
	struct flow_frame *entry;
	bool has_changed = true;

	flow->frames = arena_array(flow->arena, flow->num_blocks, sizeof(*flow->frames));
	entry = &flow->frames[flow->entry];
	entry->is_known[code->stack_pointer] = entry->is_known[CODE_CFA] = true;
	entry->offset[code->stack_pointer] = -(int64_t)code->entry_offset;
	is_reached[flow->entry] = true;
	while (has_changed) {
		has_changed = false;
		for (size_t i = 0; i < flow->num_blocks; i++) {
			uint32_t block = flow->order[i];
			const struct flow_block *of = &flow->blocks[block];
			struct flow_frame frame = flow->frames[block];

			if (!is_reached[block])
				continue;
			for (uint32_t j = 0; j < of->num; j++)
				apply_insn(code, &frame, &code->insns[of->first + j]);
			has_changed |= spread(flow, is_reached, block, &frame);
		}
	}
}

/* Note an address in the frame that goes into memory, or into a register that a called function may
 * take it from. Where something unknown is added, it may be of an array's element. */
static void find_taken(struct flow *flow, const struct flow_frame *frame,
		       const struct code_effect *effect)
{
	const struct code_value *value = &effect->value;

	if (effect->to.kind == CODE_REGISTER && flow->code->preserved >> effect->to.reg & 1)
		return;
	for (unsigned int i = 0; i < value->num_terms; i++) {
		const struct code_place *place = &value->terms[i].place;

		if (place->kind != CODE_REGISTER || !frame->is_known[place->reg])
			continue;
		*ARENA_PUSH(flow->arena, flow->taken, flow->num_taken, flow->taken_capacity) =
			frame->offset[place->reg] + value->constant;
	}
}

static int by_value(const void *a, const void *b)
{
	return SORTED_ORDER(*(const int64_t *)a, *(const int64_t *)b);
}

/* What the effects are in terms of the frame, and which pointers into it they make. */
static void resolve_effects(struct flow *flow)
{
	const struct code_function *code = flow->code;
	struct flow_frame frame = {.is_known = {false}};

	flow->effects = arena_array(flow->arena, code->num_effects, sizeof(*flow->effects));
	for (size_t i = 0; i < code->num_effects; i++)
		flow->effects[i] = code->effects[i];
	for (size_t i = 0; i < code->num_insns; i++) {
		const struct code_insn *insn = &code->insns[i];
		uint32_t block = flow->block_of[i];

		if (flow->blocks[block].first == i)
			frame = flow->frames[block];
		for (uint32_t j = 0; j < insn->num_effects; j++) {
			struct code_effect *effect = &flow->effects[insn->first_effect + j];

			find_taken(flow, &frame, effect);
			effect->to = flow_resolve(&frame, effect->to);
			for (unsigned int t = 0; t < effect->value.num_terms; t++)
				effect->value.terms[t].place =
					flow_resolve(&frame, effect->value.terms[t].place);
			/* Effects of one instruction follow each other. */
			apply_effect(&frame, &code->effects[insn->first_effect + j]);
		}
		apply_call(code, &frame, insn);
	}
	sorted_make(flow->taken, flow->num_taken, sizeof(*flow->taken), by_value);
}

bool flow_is_shared(const struct flow *flow, int64_t slot, unsigned int size, bool is_variable)
{
	size_t low = sorted_first(&slot, flow->taken, flow->num_taken, sizeof(slot), by_value);

	if (low > 0 && !is_variable)
		return true;
	return low < flow->num_taken && flow->taken[low] < slot + (int64_t)size;
}

struct flow *flow_create(const struct code_function *code)
{
	struct arena *arena = arena_create();
	struct flow *flow = arena_alloc(arena, sizeof(*flow));
	bool *targets = find_targets(arena, code);
	uint32_t entry;

	flow->arena = arena;
	flow->code = code;
	make_blocks(flow, targets);
	make_graph(flow, targets);
	entry = insn_at(code, code->entry);
	flow->entry = entry == UINT32_MAX ? 0 : flow->block_of[entry];
	flow->nest = loop_nest_create(arena, flow->graph, flow->entry);
	make_order(flow);
	find_frames(flow);
	resolve_effects(flow);
	return flow;
}

void flow_destroy(struct flow *flow)
{
	if (flow)
		arena_destroy(flow->arena);
}

bool flow_find(const struct flow *flow, uint64_t address, bool is_return, struct flow_place *ret)
{
	const struct code_insn *insn = code_function_find(flow->code, address - is_return);

	if (!insn)
		return false;
	*ret = (struct flow_place){(uint32_t)(insn - flow->code->insns), is_return};
	return true;
}

uint32_t flow_loop(const struct flow *flow, struct flow_place place)
{
	return flow->nest->loop_of[flow->block_of[place.insn]];
}

uint32_t flow_common_loop(const struct flow *flow, struct flow_place a, struct flow_place b)
{
	return loop_nest_common(flow->nest, flow->block_of[a.insn], flow->block_of[b.insn]);
}

struct reach {
	bool does;         /* it leads there */
	bool is_uncertain; /* a jump of which it is not known where to is on the way */
};

/* Does a way lead between blocks within an iteration of the loop (LOOP_NONE: the function)? */
static struct reach find_way(const struct flow *flow, uint32_t from, uint32_t to, uint32_t loop)
{
	struct arena *scratch SCOPED(arena) = arena_create();
	bool *seen = arena_array(scratch, flow->num_blocks, sizeof(*seen));
	uint32_t *stack = arena_array(scratch, flow->num_blocks, sizeof(*stack));
	struct reach reach = {false, false};
	size_t depth = 0;

	stack[depth++] = from;
	seen[from] = true;
	while (depth) {
		uint32_t block = stack[--depth];
		size_t num;
		const uint32_t *successors = graph_successors(flow->graph, block, &num);

		reach.is_uncertain |= flow_is_unknown_jump(flow, block);
		for (size_t i = 0; i < num; i++) {
			uint32_t next = successors[i];

			if (loop != LOOP_NONE && (next == flow->nest->loops[loop].header ||
						  !loop_nest_contains(flow->nest, loop, next)))
				continue;
			reach.does |= next == to;
			if (!seen[next])
				stack[depth++] = next;
			seen[next] = true;
		}
	}
	return reach;
}

/* Of two places in one block that are not the same. */
static enum flow_order compare_within(const struct flow_place *a, const struct flow_place *b)
{
	if (a->insn != b->insn)
		return a->insn < b->insn ? FLOW_BEFORE : FLOW_AFTER;
	return b->is_inside ? FLOW_BEFORE : FLOW_AFTER;
}

enum flow_order flow_compare(const struct flow *flow, struct flow_place a, struct flow_place b)
{
	uint32_t block_a = flow->block_of[a.insn], block_b = flow->block_of[b.insn];
	uint32_t loop = flow_common_loop(flow, a, b);
	struct reach forth, back;

	if (a.insn == b.insn && a.is_inside == b.is_inside)
		return FLOW_SAME;
	if (!flow_is_reachable(flow, block_a) || !flow_is_reachable(flow, block_b))
		return FLOW_NOT_KNOWN;
	if (block_a == block_b)
		return compare_within(&a, &b);
	forth = find_way(flow, block_a, block_b, loop);
	back = find_way(flow, block_b, block_a, loop);
	if (forth.does && back.does)
		return FLOW_IRREDUCIBLE;
	if (forth.does)
		return back.is_uncertain ? FLOW_NOT_KNOWN : FLOW_BEFORE;
	if (back.does)
		return forth.is_uncertain ? FLOW_NOT_KNOWN : FLOW_AFTER;
	return forth.is_uncertain || back.is_uncertain ? FLOW_NOT_KNOWN : FLOW_BRANCHES;
}
