/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "analysis/graph.h"
#include "analysis/loop_nest.h"
#include "analysis/symbolic.h"
#include "model/xalloc.h"

#define MAX_SLOTS 1024
#define NO_INDEX UINT32_MAX

/* A sum over what places held at the header; places by index: registers, then slots. */
struct sum {
	bool is_known, is_unsigned;
	uint8_t num_terms, shift;
	int64_t constant;
	struct {
		uint32_t place;
		int64_t factor;
	} terms[CODE_MAX_TERMS];
};

struct slot {
	int64_t displacement; /* from the CFA */
	uint8_t size;
};

struct symbolic {
	const struct flow *flow;
	uint32_t loop;
	struct slot *slots; /* by displacement */
	size_t num_slots, capacity, num_places;
	struct sum **states; /* [blocks] where it begins; NULL: not in the loop */
	struct sum *end;     /* of the iteration; NULL: none was reached */
};

/* ---- Slots --------------------------------------------------------------------------------- */

static void add_slot(struct symbolic *symbolic, const struct code_place *place)
{
	if (place->kind != CODE_MEMORY || place->reg != CODE_CFA)
		return;
	symbolic->slots = xgrow(symbolic->slots, symbolic->num_slots, &symbolic->capacity,
				sizeof(*symbolic->slots));
	symbolic->slots[symbolic->num_slots++] = (struct slot){place->displacement, place->size};
}

static void add_value_slots(struct symbolic *symbolic, const struct code_value *value)
{
	for (unsigned int i = 0; i < value->num_terms; i++)
		add_slot(symbolic, &value->terms[i].place);
}

static int by_displacement(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return (x->displacement > y->displacement) - (x->displacement < y->displacement);
}

static bool in_loop(const struct symbolic *symbolic, uint32_t block)
{
	return loop_nest_contains(symbolic->flow->nest, symbolic->loop, block);
}

static void find_slots(struct symbolic *symbolic, const struct code_variables *variables)
{
	const struct flow *flow = symbolic->flow;
	size_t num = 0;

	for (size_t i = 0; i < flow->code->num_insns; i++) {
		const struct code_insn *insn = &flow->code->insns[i];

		if (!in_loop(symbolic, flow->block_of[i]))
			continue;
		for (uint32_t j = 0; j < insn->num_effects; j++) {
			const struct code_effect *effect = &flow->effects[insn->first_effect + j];

			add_slot(symbolic, &effect->to);
			add_value_slots(symbolic, &effect->value);
		}
	}
	for (size_t i = 0; i < variables->num_variables; i++)
		for (size_t j = 0; j < variables->variables[i].num_locations; j++)
			add_value_slots(symbolic, &variables->variables[i].locations[j].value);
	if (symbolic->num_slots)
		qsort(symbolic->slots, symbolic->num_slots, sizeof(*symbolic->slots),
		      by_displacement);
	for (size_t i = 0; i < symbolic->num_slots && num < MAX_SLOTS; i++) {
		const struct slot *slot = &symbolic->slots[i];

		if (num && symbolic->slots[num - 1].displacement == slot->displacement) {
			if (slot->size > symbolic->slots[num - 1].size)
				symbolic->slots[num - 1].size = slot->size;
		} else {
			symbolic->slots[num++] = *slot;
		}
	}
	symbolic->num_slots = num;
	symbolic->num_places = CODE_NUM_REGISTERS + num;
}

static uint32_t index_of(const struct symbolic *symbolic, const struct code_place *place)
{
	struct slot key = {.displacement = place->displacement};
	const struct slot *slot;

	if (place->kind == CODE_REGISTER)
		return place->reg;
	if (place->reg != CODE_CFA || !symbolic->num_slots)
		return NO_INDEX;
	slot = bsearch(&key, symbolic->slots, symbolic->num_slots, sizeof(*slot), by_displacement);
	return slot ? CODE_NUM_REGISTERS + (uint32_t)(slot - symbolic->slots) : NO_INDEX;
}

/* ---- Sums ---------------------------------------------------------------------------------- */

static const struct sum unknown;

static struct sum identity(uint32_t place)
{
	return (struct sum){.is_known = true, .num_terms = 1, .terms[0] = {place, 1}};
}

static bool equals(const struct sum *a, const struct sum *b)
{
	if (a->is_known != b->is_known || a->num_terms != b->num_terms || a->shift != b->shift ||
	    a->constant != b->constant || a->is_unsigned != b->is_unsigned)
		return false;
	for (unsigned int i = 0; i < a->num_terms; i++)
		if (a->terms[i].place != b->terms[i].place ||
		    a->terms[i].factor != b->terms[i].factor)
			return false;
	return true;
}

static void drop_zeros(struct sum *sum)
{
	uint8_t num = 0;

	for (uint8_t i = 0; i < sum->num_terms; i++)
		if (sum->terms[i].factor)
			sum->terms[num++] = sum->terms[i];
	sum->num_terms = num;
}

static bool add_term(struct sum *sum, uint32_t place, int64_t factor)
{
	uint8_t at = 0;

	while (at < sum->num_terms && sum->terms[at].place < place)
		at++;
	if (at < sum->num_terms && sum->terms[at].place == place) {
		sum->terms[at].factor += factor;
		drop_zeros(sum);
		return true;
	}
	if (sum->num_terms == CODE_MAX_TERMS)
		return false;
	memmove(&sum->terms[at + 1], &sum->terms[at],
		(size_t)(sum->num_terms - at) * sizeof(sum->terms[0]));
	sum->terms[at].place = place;
	sum->terms[at].factor = factor;
	sum->num_terms++;
	return true;
}

/* The sign of a number as 0 or 1, which compilers add before they divide by shifting; numbers of
 * iterations are not negative, so it is 0. */
static bool is_sign(const struct sum *sum)
{
	return sum->is_known && sum->is_unsigned && (sum->shift == 31 || sum->shift == 63);
}

/* value, with its places as they are in `state`. */
static struct sum evaluate(const struct symbolic *symbolic, const struct sum *state,
			   const struct code_value *value)
{
	struct sum sum = {.is_known = value->is_known, .constant = value->constant};

	for (unsigned int i = 0; i < value->num_terms && sum.is_known; i++) {
		uint32_t place = index_of(symbolic, &value->terms[i].place);
		const struct sum *term = place == NO_INDEX ? &unknown : &state[place];
		int64_t factor = value->terms[i].factor;

		if (!term->is_known)
			return unknown;
		if (is_sign(term) && value->num_terms == 2)
			continue;
		if (term->shift) {
			bool is_copy = value->num_terms == 1 && factor == 1 && !value->constant &&
				       !value->shift;

			return is_copy ? *term : unknown;
		}
		for (unsigned int t = 0; t < term->num_terms; t++)
			if (!add_term(&sum, term->terms[t].place, factor * term->terms[t].factor))
				return unknown;
		sum.constant += factor * term->constant;
	}
	if (!sum.is_known)
		return unknown;
	sum.shift = value->shift;
	sum.is_unsigned = value->is_unsigned && value->shift;
	return sum;
}

/* ---- States -------------------------------------------------------------------------------- */

static void write_place(const struct symbolic *symbolic, struct sum *state,
			const struct code_place *to, const struct sum *value)
{
	if (to->kind == CODE_REGISTER) {
		state[to->reg] = *value;
		return;
	}
	if (to->reg != CODE_CFA)
		return;
	for (size_t i = 0; i < symbolic->num_slots; i++) {
		const struct slot *slot = &symbolic->slots[i];
		struct sum *of = &state[CODE_NUM_REGISTERS + i];

		if (slot->displacement == to->displacement)
			*of = to->size >= slot->size ? *value : unknown;
		else if (slot->displacement < to->displacement + to->size &&
			 to->displacement < slot->displacement + slot->size)
			*of = unknown;
	}
}

static void apply_insn(const struct symbolic *symbolic, struct sum *state,
		       const struct code_insn *insn)
{
	const struct flow *flow = symbolic->flow;

	for (uint32_t i = 0; i < insn->num_effects; i++) {
		const struct code_effect *effect = &flow->effects[insn->first_effect + i];
		struct sum sum = evaluate(symbolic, state, &effect->value);

		write_place(symbolic, state, &effect->to, &sum);
	}
	if (insn->kind != CODE_CALL)
		return;
	for (unsigned int i = 0; i < CODE_NUM_REGISTERS; i++)
		if (!(flow->code->preserved >> i & 1))
			state[i] = unknown;
}

static void apply_until(const struct symbolic *symbolic, struct sum *state, uint32_t block,
			uint32_t end)
{
	for (uint32_t i = symbolic->flow->blocks[block].first; i < end; i++)
		apply_insn(symbolic, state, &symbolic->flow->code->insns[i]);
}

/* Nothing is known any more of what is written in an inner loop. */
static void forget_written(const struct symbolic *symbolic, struct sum *state, uint32_t loop)
{
	const struct flow *flow = symbolic->flow;

	for (uint32_t block = 0; block < flow->num_blocks; block++) {
		if (!loop_nest_contains(flow->nest, loop, block))
			continue;
		for (uint32_t i = 0; i < flow->blocks[block].num; i++) {
			struct code_insn insn = flow->code->insns[flow->blocks[block].first + i];

			for (uint32_t j = 0; j < insn.num_effects; j++)
				write_place(symbolic, state,
					    &flow->effects[insn.first_effect + j].to, &unknown);
			insn.num_effects = 0;
			apply_insn(symbolic, state, &insn);
		}
	}
}

static struct sum *copy_state(const struct symbolic *symbolic, const struct sum *state)
{
	struct sum *copy = xcalloc(symbolic->num_places, sizeof(*copy));

	memcpy(copy, state, symbolic->num_places * sizeof(*copy));
	return copy;
}

static void meet(const struct symbolic *symbolic, struct sum *into, const struct sum *other)
{
	for (size_t i = 0; i < symbolic->num_places; i++)
		if (!equals(&into[i], &other[i]))
			into[i] = unknown;
}

static bool is_step(const struct sum *sum, uint32_t place)
{
	return sum->is_known && sum->num_terms == 1 && sum->terms[0].place == place &&
	       sum->terms[0].factor == 1 && !sum->shift && sum->constant;
}

/* Ends of the iteration may differ in how far they go, not in the direction. */
static void meet_end(const struct symbolic *symbolic, struct sum *into, const struct sum *other)
{
	for (uint32_t i = 0; i < symbolic->num_places; i++) {
		if (equals(&into[i], &other[i]))
			continue;
		if (!is_step(&into[i], i) || !is_step(&other[i], i) ||
		    (into[i].constant > 0) != (other[i].constant > 0))
			into[i] = unknown;
	}
}

static void join(const struct symbolic *symbolic, struct sum **into, const struct sum *state,
		 bool is_end)
{
	if (!*into)
		*into = copy_state(symbolic, state);
	else if (is_end)
		meet_end(symbolic, *into, state);
	else
		meet(symbolic, *into, state);
}

/* Hand what is so at the block's end on. False: an edge that leads back is of no proper loop. */
static bool spread(struct symbolic *symbolic, uint32_t block, const struct sum *state)
{
	const struct flow *flow = symbolic->flow;
	uint32_t header = flow->nest->loops[symbolic->loop].header;
	size_t num;
	const uint32_t *successors = graph_successors(flow->graph, block, &num);

	for (size_t i = 0; i < num; i++) {
		uint32_t to = successors[i];

		if (!in_loop(symbolic, to))
			continue;
		if (to == header)
			join(symbolic, &symbolic->end, state, true);
		else if (flow->position[to] > flow->position[block])
			join(symbolic, &symbolic->states[to], state, false);
		else if (!flow_is_back_edge(flow, block, to))
			return false;
	}
	return true;
}

static bool is_unknown_jump(const struct flow *flow, uint32_t block)
{
	const struct flow_block *of = &flow->blocks[block];
	const struct code_insn *last = &flow->code->insns[of->first + of->num - 1];

	return last->kind == CODE_SWITCH && !last->num_targets;
}

static enum symbolic_result follow(struct symbolic *symbolic)
{
	const struct flow *flow = symbolic->flow;
	const struct loop_nest *nest = flow->nest;
	uint32_t header = nest->loops[symbolic->loop].header;
	bool is_proper = true;

	symbolic->states[header] = xcalloc(symbolic->num_places, sizeof(struct sum));
	for (uint32_t i = 0; i < symbolic->num_places; i++)
		symbolic->states[header][i] = identity(i);
	for (size_t i = flow->position[header]; i < flow->num_blocks && is_proper; i++) {
		uint32_t block = flow->order[i], inner = nest->loop_of[block];
		struct sum *state = symbolic->states[block];

		if (!state)
			continue;
		if (is_unknown_jump(flow, block))
			return SYMBOLIC_UNKNOWN_JUMP;
		if (nest->loops[inner].is_irreducible)
			return SYMBOLIC_IRREDUCIBLE;
		if (block != header && nest->loops[inner].header == block)
			forget_written(symbolic, state, inner);
		state = copy_state(symbolic, state);
		apply_until(symbolic, state, block,
			    flow->blocks[block].first + flow->blocks[block].num);
		is_proper = spread(symbolic, block, state);
		free(state);
	}
	return is_proper ? SYMBOLIC_DONE : SYMBOLIC_IRREDUCIBLE;
}

/* ---- All of it ----------------------------------------------------------------------------- */

struct symbolic *symbolic_create(const struct flow *flow, const struct code_variables *variables,
				 uint32_t loop, enum symbolic_result *result_ret)
{
	struct symbolic *symbolic = xcalloc(1, sizeof(*symbolic));

	symbolic->flow = flow;
	symbolic->loop = loop;
	symbolic->states = xcalloc(flow->num_blocks, sizeof(*symbolic->states));
	find_slots(symbolic, variables);
	*result_ret =
		flow->nest->loops[loop].is_irreducible ? SYMBOLIC_IRREDUCIBLE : follow(symbolic);
	if (*result_ret == SYMBOLIC_DONE)
		return symbolic;
	symbolic_destroy(symbolic);
	return NULL;
}

void symbolic_destroy(struct symbolic *symbolic)
{
	if (!symbolic)
		return;
	for (size_t i = 0; i < symbolic->flow->num_blocks; i++)
		free(symbolic->states[i]);
	free(symbolic->states);
	free(symbolic->end);
	free(symbolic->slots);
	free(symbolic);
}

static struct code_value to_value(const struct symbolic *symbolic, const struct sum *sum)
{
	struct code_value value = {
		.is_known = sum->is_known,
		.is_unsigned = sum->is_unsigned,
		.num_terms = sum->num_terms,
		.shift = sum->shift,
		.constant = sum->constant,
	};

	for (unsigned int i = 0; i < sum->num_terms; i++) {
		uint32_t place = sum->terms[i].place;

		value.terms[i].factor = sum->terms[i].factor;
		value.terms[i].place = (struct code_place){
			.kind = CODE_REGISTER, .reg = (uint8_t)place, .size = 8};
		if (place >= CODE_NUM_REGISTERS) {
			const struct slot *slot = &symbolic->slots[place - CODE_NUM_REGISTERS];

			value.terms[i].place = (struct code_place){
				.kind = CODE_MEMORY,
				.reg = CODE_CFA,
				.size = slot->size,
				.displacement = slot->displacement,
			};
		}
	}
	return value;
}

struct code_value symbolic_at(const struct symbolic *symbolic, uint32_t insn,
			      const struct code_value *value)
{
	uint32_t block = symbolic->flow->block_of[insn];
	struct sum *state, sum;

	if (!symbolic->states[block])
		return to_value(symbolic, &unknown);
	state = copy_state(symbolic, symbolic->states[block]);
	apply_until(symbolic, state, block, insn);
	sum = evaluate(symbolic, state, value);
	free(state);
	return to_value(symbolic, &sum);
}

struct code_value symbolic_next(const struct symbolic *symbolic, struct code_place place)
{
	uint32_t index = index_of(symbolic, &place);

	if (index == NO_INDEX || !symbolic->end)
		return to_value(symbolic, &unknown);
	return to_value(symbolic, &symbolic->end[index]);
}
