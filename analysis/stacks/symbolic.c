/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/graph.h"
#include "analysis/progress/loop_nest.h"
#include "analysis/stacks/symbolic.h"
#include "model/sorted.h"
#include "model/xalloc.h"

#define MAX_SLOTS 1024
#define NO_INDEX UINT32_MAX

struct slot {
	int64_t displacement; /* from the CFA */
	uint8_t size;
	bool is_variable, is_protected;
	bool is_shared; /* others may change it */
};

/* States are what each place holds, as a sum of what places held at the header: registers, then
 * slots. Terms are in that order. */
struct symbolic {
	const struct flow *flow;
	uint32_t loop;
	struct slot *slots; /* by displacement */
	size_t num_slots, capacity, num_places;
	struct code_value **states;  /* [blocks] where it begins; NULL: not in the loop */
	struct code_value **entries; /* [blocks] of headers of loops inside: as they are entered */
	struct code_value *end;      /* of the iteration; NULL: none was reached */
};

static void add_slot(struct symbolic *symbolic, const struct code_place *place,
		     const struct code_variable *of)
{
	if (place->kind != CODE_MEMORY || place->reg != CODE_CFA)
		return;
	*XPUSH(symbolic->slots, symbolic->num_slots, symbolic->capacity) = (struct slot){
		.displacement = place->displacement,
		.size = place->size,
		.is_variable = of != NULL,
		.is_protected = of && of->is_protected,
	};
}

/* of: the variable that is there, or NULL. */
static void add_value_slots(struct symbolic *symbolic, const struct code_value *value,
			    const struct code_variable *of)
{
	for (unsigned int i = 0; i < value->num_terms; i++)
		add_slot(symbolic, &value->terms[i].place, of);
}

SORTED_BY(by_displacement, struct slot, displacement)

static bool in_loop(const struct symbolic *symbolic, uint32_t block)
{
	return symbolic->loop == LOOP_NONE ||
	       loop_nest_contains(symbolic->flow->nest, symbolic->loop, block);
}

/* Each slot once, as large as it is anywhere. */
static void unite_slots(struct symbolic *symbolic)
{
	size_t num = 0;

	sorted_make(symbolic->slots, symbolic->num_slots, sizeof(*symbolic->slots),
		    by_displacement);
	for (size_t i = 0; i < symbolic->num_slots; i++) {
		const struct slot *slot = &symbolic->slots[i];
		struct slot *last = num ? &symbolic->slots[num - 1] : NULL;

		if (!last || last->displacement != slot->displacement) {
			if (num == MAX_SLOTS)
				break;
			symbolic->slots[num++] = *slot;
			continue;
		}
		if (slot->size > last->size)
			last->size = slot->size;
		last->is_variable |= slot->is_variable;
		last->is_protected |= slot->is_protected;
	}
	symbolic->num_slots = num;
	symbolic->num_places = CODE_NUM_REGISTERS + num;
}

static void find_slots(struct symbolic *symbolic, const struct code_variables *variables)
{
	const struct flow *flow = symbolic->flow;

	for (size_t i = 0; i < flow->code->num_insns; i++) {
		const struct code_insn *insn = &flow->code->insns[i];

		if (!in_loop(symbolic, flow->block_of[i]))
			continue;
		for (uint32_t j = 0; j < insn->num_effects; j++) {
			const struct code_effect *effect = &flow->effects[insn->first_effect + j];

			add_slot(symbolic, &effect->to, NULL);
			add_value_slots(symbolic, &effect->value, NULL);
		}
	}
	for (size_t i = 0; i < variables->num_variables; i++) {
		const struct code_variable *variable = &variables->variables[i];

		for (size_t j = 0; j < variable->num_locations; j++)
			add_value_slots(symbolic, &variable->locations[j].value, variable);
	}
	unite_slots(symbolic);
	for (size_t i = 0; i < symbolic->num_slots; i++) {
		struct slot *slot = &symbolic->slots[i];

		slot->is_shared =
			flow_is_shared(flow, slot->displacement, slot->size, slot->is_variable);
	}
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

static const struct code_value unknown;

/* What a place holds as long as nothing is written there. */
static struct code_value identity(const struct symbolic *symbolic, uint32_t place)
{
	struct code_value value = {.is_known = true, .num_terms = 1};
	const struct slot *slot;

	value.terms[0].factor = 1;
	if (place < CODE_NUM_REGISTERS) {
		value.terms[0].place = (struct code_place){
			.kind = CODE_REGISTER, .reg = (uint8_t)place, .size = 8};
		return value;
	}
	slot = &symbolic->slots[place - CODE_NUM_REGISTERS];
	value.terms[0].place = (struct code_place){
		.kind = CODE_MEMORY,
		.reg = CODE_CFA,
		.size = slot->size,
		.displacement = slot->displacement,
	};
	return value;
}

static int compare_places(const struct code_place *a, const struct code_place *b)
{
	return SORTED_ORDER(a->kind, b->kind) ?: SORTED_ORDER(a->reg, b->reg)
					      ?: SORTED_ORDER(a->displacement, b->displacement);
}

static void drop_zeros(struct code_value *sum)
{
	uint8_t num = 0;

	for (uint8_t i = 0; i < sum->num_terms; i++)
		if (sum->terms[i].factor)
			sum->terms[num++] = sum->terms[i];
	sum->num_terms = num;
}

static bool add_term(struct code_value *sum, const struct code_place *place, int64_t factor)
{
	uint8_t at = 0;

	while (at < sum->num_terms && compare_places(&sum->terms[at].place, place) < 0)
		at++;
	if (at < sum->num_terms && !compare_places(&sum->terms[at].place, place)) {
		if (__builtin_add_overflow(sum->terms[at].factor, factor, &sum->terms[at].factor))
			return false;
		drop_zeros(sum);
		return true;
	}
	if (sum->num_terms == CODE_MAX_TERMS)
		return false;
	memmove(&sum->terms[at + 1], &sum->terms[at],
		(size_t)(sum->num_terms - at) * sizeof(sum->terms[0]));
	sum->terms[at].place = *place;
	sum->terms[at].factor = factor;
	sum->num_terms++;
	return true;
}

/* The sign of a number as 0 or 1, which compilers add before they divide by shifting; numbers of
 * iterations are not negative, so it is 0. */
static bool is_sign(const struct code_value *sum)
{
	return sum->is_known && sum->is_unsigned && (sum->shift == 31 || sum->shift == 63);
}

/* May others have changed what the program put there at any moment? */
static bool is_shared(const struct symbolic *symbolic, uint32_t place)
{
	const struct slot *slot;

	if (place < CODE_NUM_REGISTERS)
		return false;
	slot = &symbolic->slots[place - CODE_NUM_REGISTERS];
	return slot->is_shared && !slot->is_protected;
}

/* value += factor * of. False: that is more than a number can be. */
static bool add_scaled(int64_t *value, int64_t factor, int64_t of)
{
	int64_t product;

	return !__builtin_mul_overflow(factor, of, &product) &&
	       !__builtin_add_overflow(*value, product, value);
}

/* A sum's bits that a shift to the left has pushed out do not come back. */
static bool can_shift(const struct code_value *sum)
{
	for (unsigned int i = 0; i < sum->num_terms; i++)
		if (sum->terms[i].factor != 1 && sum->terms[i].factor != -1)
			return false;
	return true;
}

/* value, with its places as they are in `state`. What is smaller than an int begins anew after a
 * few numbers, so it does not count. */
static struct code_value evaluate(const struct symbolic *symbolic, const struct code_value *state,
				  const struct code_value *value)
{
	struct code_value sum = {.is_known = value->is_known, .constant = value->constant};

	for (unsigned int i = 0; i < value->num_terms && sum.is_known; i++) {
		uint32_t place = index_of(symbolic, &value->terms[i].place);
		const struct code_value *term = place == NO_INDEX ? &unknown : &state[place];
		int64_t factor = value->terms[i].factor;

		if (!term->is_known || value->terms[i].place.size < 4 || is_shared(symbolic, place))
			return unknown;
		if (is_sign(term) && value->num_terms == 2)
			continue;
		if (term->shift) {
			bool is_copy = value->num_terms == 1 && factor == 1 && !value->constant &&
				       !value->shift;

			return is_copy ? *term : unknown;
		}
		for (unsigned int t = 0; t < term->num_terms; t++) {
			int64_t scaled = 0;

			if (!add_scaled(&scaled, factor, term->terms[t].factor) ||
			    !add_term(&sum, &term->terms[t].place, scaled))
				return unknown;
		}
		if (!add_scaled(&sum.constant, factor, term->constant))
			return unknown;
	}
	if (!sum.is_known || (value->shift && !can_shift(&sum)))
		return unknown;
	sum.shift = value->shift;
	sum.is_unsigned = value->is_unsigned && value->shift;
	return sum;
}

static void write_place(const struct symbolic *symbolic, struct code_value *state,
			const struct code_place *to, const struct code_value *value)
{
	if (to->kind == CODE_REGISTER) {
		state[to->reg] = *value;
		return;
	}
	if (to->reg != CODE_CFA)
		return;
	for (size_t i = 0; i < symbolic->num_slots; i++) {
		const struct slot *slot = &symbolic->slots[i];
		struct code_value *of = &state[CODE_NUM_REGISTERS + i];

		if (slot->displacement == to->displacement)
			*of = to->size >= slot->size ? *value : unknown;
		else if (slot->displacement < to->displacement + to->size &&
			 to->displacement < slot->displacement + slot->size)
			*of = unknown;
	}
}

/* A called function leaves some registers as they were. What it has a pointer to it may change,
 * even where the language forbids that for the variable that counts: it has just been given its
 * first value by such a function, or what is handed over is a copy. */
static void apply_call(const struct symbolic *symbolic, struct code_value *state)
{
	for (unsigned int i = 0; i < CODE_NUM_REGISTERS; i++)
		if (!(symbolic->flow->code->preserved >> i & 1))
			state[i] = unknown;
	for (uint32_t i = CODE_NUM_REGISTERS; i < symbolic->num_places; i++)
		if (symbolic->slots[i - CODE_NUM_REGISTERS].is_shared &&
		    (state[i].num_terms != 1 || index_of(symbolic, &state[i].terms[0].place) != i))
			state[i] = unknown;
}

static void apply_insn(const struct symbolic *symbolic, struct code_value *state,
		       const struct code_insn *insn)
{
	const struct flow *flow = symbolic->flow;

	for (uint32_t i = 0; i < insn->num_effects; i++) {
		const struct code_effect *effect = &flow->effects[insn->first_effect + i];
		struct code_value sum = evaluate(symbolic, state, &effect->value);

		write_place(symbolic, state, &effect->to, &sum);
	}
	if (insn->kind == CODE_CALL)
		apply_call(symbolic, state);
}

static void apply_until(const struct symbolic *symbolic, struct code_value *state, uint32_t block,
			uint32_t end)
{
	for (uint32_t i = symbolic->flow->blocks[block].first; i < end; i++)
		apply_insn(symbolic, state, &symbolic->flow->code->insns[i]);
}

/* Nothing is known any more of what is written in an inner loop. */
static void forget_written(const struct symbolic *symbolic, struct code_value *state, uint32_t loop)
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

static struct code_value *copy_state(const struct symbolic *symbolic,
				     const struct code_value *state)
{
	struct code_value *copy = xcalloc(symbolic->num_places, sizeof(*copy));

	memcpy(copy, state, symbolic->num_places * sizeof(*copy));
	return copy;
}

/* Keep what both agree on. */
static void join(const struct symbolic *symbolic, struct code_value **into,
		 const struct code_value *state)
{
	if (!*into)
		*into = copy_state(symbolic, state);
	for (size_t i = 0; i < symbolic->num_places; i++)
		if (!code_value_is_same(&(*into)[i], &state[i]))
			(*into)[i] = unknown;
}

static uint32_t header_of(const struct symbolic *symbolic)
{
	const struct flow *flow = symbolic->flow;

	return symbolic->loop == LOOP_NONE ? flow->entry : flow->nest->loops[symbolic->loop].header;
}

/* In a loop inside this one that has several entries? */
static bool is_in_irreducible(const struct symbolic *symbolic, uint32_t block)
{
	const struct loop_nest *nest = symbolic->flow->nest;
	uint32_t loop = nest->loop_of[block];

	while (loop != symbolic->loop && !nest->loops[loop].is_irreducible)
		loop = nest->loops[loop].parent;
	return loop != symbolic->loop || (loop != LOOP_NONE && nest->loops[loop].is_irreducible);
}

/* Hand what is so at the block's end on. False: an edge that leads back is of no proper loop. */
static bool spread(struct symbolic *symbolic, uint32_t block, const struct code_value *state)
{
	const struct flow *flow = symbolic->flow;
	uint32_t header = header_of(symbolic);
	size_t num;
	const uint32_t *successors = graph_successors(flow->graph, block, &num);

	for (size_t i = 0; i < num; i++) {
		uint32_t to = successors[i];

		if (!in_loop(symbolic, to))
			continue;
		if (to == header)
			join(symbolic, &symbolic->end, state);
		else if (flow->position[to] > flow->position[block])
			join(symbolic, &symbolic->states[to], state);
		else if (!flow_is_back_edge(flow, block, to) &&
			 (symbolic->loop != LOOP_NONE || !is_in_irreducible(symbolic, to)))
			return false;
	}
	return true;
}

/* Ways that no jump shows lead into the loop: from handlers of exceptions, and from where jumps
 * lead that are not understood. In the whole function nothing is known where they come to. */
static bool follow_unknown_ways(struct symbolic *symbolic)
{
	const struct flow *flow = symbolic->flow;

	for (size_t i = flow->num_reachable; i < flow->num_blocks; i++) {
		uint32_t block = flow->order[i];
		size_t num;
		const uint32_t *successors = graph_successors(flow->graph, block, &num);

		for (size_t j = 0; j < num; j++) {
			struct code_value **state = &symbolic->states[successors[j]];

			if (!in_loop(symbolic, successors[j]) ||
			    !flow_is_reachable(flow, successors[j]))
				continue;
			if (symbolic->loop != LOOP_NONE)
				return false;
			free(*state);
			*state = xcalloc(symbolic->num_places, sizeof(**state));
		}
	}
	return true;
}

static enum symbolic_result follow_block(struct symbolic *symbolic, uint32_t block)
{
	const struct flow *flow = symbolic->flow;
	const struct loop_nest *nest = flow->nest;
	uint32_t inner = nest->loop_of[block];
	struct code_value *state = symbolic->states[block];
	bool is_proper;

	if (flow_is_unknown_jump(flow, block))
		return SYMBOLIC_UNKNOWN_JUMP;
	if (is_in_irreducible(symbolic, block)) {
		if (symbolic->loop != LOOP_NONE)
			return SYMBOLIC_IRREDUCIBLE;
		memset(state, 0, symbolic->num_places * sizeof(*state));
	}
	if (inner != symbolic->loop && nest->loops[inner].header == block) {
		symbolic->entries[block] = copy_state(symbolic, state);
		forget_written(symbolic, state, inner);
	}
	state = copy_state(symbolic, state);
	apply_until(symbolic, state, block, flow->blocks[block].first + flow->blocks[block].num);
	is_proper = spread(symbolic, block, state);
	free(state);
	return is_proper ? SYMBOLIC_DONE : SYMBOLIC_IRREDUCIBLE;
}

static enum symbolic_result follow(struct symbolic *symbolic)
{
	const struct flow *flow = symbolic->flow;
	uint32_t header = header_of(symbolic);
	enum symbolic_result result = SYMBOLIC_DONE;

	symbolic->states[header] = xcalloc(symbolic->num_places, sizeof(struct code_value));
	for (uint32_t i = 0; i < symbolic->num_places; i++)
		symbolic->states[header][i] = identity(symbolic, i);
	if (!follow_unknown_ways(symbolic))
		return SYMBOLIC_UNKNOWN_JUMP;
	for (size_t i = flow->position[header]; i < flow->num_reachable && !result; i++) {
		uint32_t block = flow->order[i];

		if (!symbolic->states[block])
			continue;
		result = follow_block(symbolic, block);
		/* Nobody asks for places in the whole function. */
		if (symbolic->loop == LOOP_NONE) {
			free(symbolic->states[block]);
			symbolic->states[block] = NULL;
		}
	}
	return result;
}

struct symbolic *symbolic_create(const struct flow *flow, const struct code_variables *variables,
				 uint32_t loop, enum symbolic_result *result_ret)
{
	struct symbolic *symbolic = xcalloc(1, sizeof(*symbolic));

	symbolic->flow = flow;
	symbolic->loop = loop;
	symbolic->states = xcalloc(flow->num_blocks, sizeof(*symbolic->states));
	symbolic->entries = xcalloc(flow->num_blocks, sizeof(*symbolic->entries));
	find_slots(symbolic, variables);
	*result_ret = follow(symbolic);
	if (*result_ret == SYMBOLIC_DONE)
		return symbolic;
	symbolic_destroy(symbolic);
	return NULL;
}

void symbolic_destroy(struct symbolic *symbolic)
{
	if (!symbolic)
		return;
	for (size_t i = 0; i < symbolic->flow->num_blocks; i++) {
		free(symbolic->states[i]);
		free(symbolic->entries[i]);
	}
	free(symbolic->entries);
	free(symbolic->states);
	free(symbolic->end);
	free(symbolic->slots);
	free(symbolic);
}

struct code_value symbolic_at(const struct symbolic *symbolic, uint32_t insn,
			      const struct code_value *value)
{
	uint32_t block = symbolic->flow->block_of[insn];
	struct code_value *state, result;

	if (!symbolic->states[block])
		return unknown;
	state = copy_state(symbolic, symbolic->states[block]);
	apply_until(symbolic, state, block, insn);
	result = evaluate(symbolic, state, value);
	free(state);
	return result;
}

struct code_value symbolic_entry(const struct symbolic *symbolic, uint32_t inner,
				 const struct code_value *value)
{
	const struct code_value *state =
		symbolic->entries[symbolic->flow->nest->loops[inner].header];

	return state ? evaluate(symbolic, state, value) : unknown;
}

struct code_value symbolic_next(const struct symbolic *symbolic, struct code_place place)
{
	uint32_t index = index_of(symbolic, &place);

	return index == NO_INDEX || !symbolic->end ? unknown : symbolic->end[index];
}
