/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "analysis/loop_nest.h"
#include "analysis/loop_variables.h"
#include "analysis/symbolic.h"
#include "model/xalloc.h"

#define MAX_TRIES 64

/* A variable at one place: how it is read there, and what that is in terms of the header. */
struct reading {
	bool is_counting; /* it tells iterations */
	bool is_readable; /* and can be read in a frame that is there */
	struct code_value value, sum;
	enum loop_variable_kind kind;
	bool is_down;
};

struct search {
	const struct flow *flow;
	const struct symbolic *symbolic;
	uint32_t loop;
	const struct flow_place *places;
	size_t num_places;
};

static bool same_place(const struct code_place *a, const struct code_place *b)
{
	return a->kind == b->kind && a->reg == b->reg && a->displacement == b->displacement;
}

/* ---- Does a value tell iterations? --------------------------------------------------------- */

/* By how much a term grows in one iteration. False: it is changed in another way. */
static bool get_step(const struct search *search, const struct code_place *place, int64_t *ret)
{
	struct code_value next = symbolic_next(search->symbolic, *place);

	if (!next.is_known || next.num_terms != 1 || next.terms[0].factor != 1 || next.shift ||
	    !same_place(&next.terms[0].place, place))
		return false;
	*ret = next.constant;
	return true;
}

static bool is_additive(const struct search *search, struct reading *reading)
{
	int64_t total = 0, step;

	for (unsigned int i = 0; i < reading->sum.num_terms; i++) {
		if (!get_step(search, &reading->sum.terms[i].place, &step))
			return false;
		total += reading->sum.terms[i].factor * step;
	}
	/* Less than one for each iteration does not tell them all. */
	if (llabs(total) < INT64_C(1) << reading->sum.shift)
		return false;
	reading->kind = LOOP_VARIABLE_ADDS;
	reading->is_down = total < 0;
	return true;
}

static bool is_multiplied(const struct search *search, struct reading *reading)
{
	const struct code_place *place = &reading->sum.terms[0].place;
	struct code_value next;

	if (reading->sum.num_terms != 1 || reading->sum.shift || reading->sum.terms[0].factor < 1)
		return false;
	next = symbolic_next(search->symbolic, *place);
	if (!next.is_known || next.num_terms != 1 || !same_place(&next.terms[0].place, place))
		return false;
	if (next.shift && next.terms[0].factor == 1 && !next.constant &&
	    reading->sum.terms[0].factor == 1 && !reading->sum.constant) {
		reading->kind = LOOP_VARIABLE_SHRINKS;
		return true;
	}
	reading->kind = LOOP_VARIABLE_GROWS;
	return !next.shift && next.terms[0].factor > 1 && next.constant >= 0;
}

/* A slot that the function has made a pointer to is changed by others, too. */
static bool is_private(const struct search *search, const struct code_variable *variable,
		       const struct code_value *sum)
{
	for (unsigned int i = 0; i < sum->num_terms && !variable->is_protected; i++)
		if (sum->terms[i].place.kind == CODE_MEMORY &&
		    flow_has_address_taken(search->flow, sum->terms[i].place.displacement))
			return false;
	return true;
}

/* ---- Readings ------------------------------------------------------------------------------ */

static const struct code_value *find_location(const struct code_variable *variable,
					      uint64_t address)
{
	for (size_t i = 0; i < variable->num_locations; i++) {
		const struct code_range *range = &variable->locations[i].range;

		if (address >= range->begin && address < range->end)
			return &variable->locations[i].value;
	}
	return NULL;
}

/* In a frame that has called another function only what that preserves can be read. */
static bool is_readable(const struct flow *flow, const struct code_value *value, bool is_inside)
{
	for (unsigned int i = 0; i < value->num_terms && is_inside; i++)
		if (!(flow->code->preserved >> value->terms[i].place.reg & 1) ||
		    value->terms[i].place.reg == flow->code->stack_pointer)
			return false;
	return true;
}

static struct reading read_at(const struct search *search, const struct code_variable *variable,
			      struct flow_place place)
{
	const struct flow *flow = search->flow;
	const struct code_insn *insn = &flow->code->insns[place.insn];
	/* Debuggers look up the last byte of a call, where its arguments are still there. */
	uint64_t address = insn->address + (place.is_inside ? insn->length - 1 : 0);
	const struct code_value *location = find_location(variable, address);
	struct reading reading = {.is_counting = false};
	struct flow_frame frame;

	if (!location)
		return reading;
	frame = flow_frame_at(flow, place.insn);
	reading.value = *location;
	for (unsigned int i = 0; i < reading.value.num_terms; i++)
		reading.value.terms[i].place = flow_resolve(&frame, reading.value.terms[i].place);
	reading.sum = symbolic_at(search->symbolic, place.insn, &reading.value);
	if (!reading.sum.is_known || !reading.sum.num_terms)
		return reading;
	reading.is_counting = (is_additive(search, &reading) || is_multiplied(search, &reading)) &&
			      is_private(search, variable, &reading.sum);
	reading.is_readable =
		reading.is_counting && is_readable(flow, &reading.value, place.is_inside);
	return reading;
}

/* Can values of the two be compared? */
static bool is_same_form(const struct reading *a, const struct reading *b)
{
	if (a->kind != b->kind || a->is_down != b->is_down || a->sum.shift != b->sum.shift ||
	    a->sum.num_terms != b->sum.num_terms)
		return false;
	for (unsigned int i = 0; i < a->sum.num_terms; i++)
		if (!same_place(&a->sum.terms[i].place, &b->sum.terms[i].place) ||
		    (a->sum.terms[i].factor != b->sum.terms[i].factor &&
		     a->kind != LOOP_VARIABLE_GROWS))
			return false;
	return (a->sum.constant - b->sum.constant) % (INT64_C(1) << a->sum.shift) == 0;
}

static struct loop_variable_site make_site(const struct reading *reading,
					   const struct reading *first)
{
	struct loop_variable_site site = {
		.is_readable = true, .value = reading->value, .divide = 1};

	if (reading->kind == LOOP_VARIABLE_GROWS) {
		site.subtract = reading->sum.constant;
		site.divide = reading->sum.terms[0].factor;
	} else {
		site.subtract = (reading->sum.constant - first->sum.constant) >> reading->sum.shift;
	}
	return site;
}

/* ---- Choosing ------------------------------------------------------------------------------ */

struct candidate {
	struct loop_variable variable;
	size_t num_readable;
	unsigned int num_terms;
};

/* The readings at all places, compared with the first of the form that most of them have. */
static void try_variable(const struct search *search, const struct code_variable *variable,
			 struct candidate *ret)
{
	struct reading *readings = xcalloc(search->num_places, sizeof(*readings));
	size_t best = 0, best_num = 0;

	for (size_t i = 0; i < search->num_places; i++)
		readings[i] = read_at(search, variable, search->places[i]);
	for (size_t i = 0; i < search->num_places; i++) {
		size_t num = 0;

		for (size_t j = i; j < search->num_places && readings[i].is_readable; j++)
			num += readings[j].is_readable && is_same_form(&readings[i], &readings[j]);
		if (num > best_num) {
			best_num = num;
			best = i;
		}
	}
	*ret = (struct candidate){.num_readable = best_num};
	if (best_num) {
		ret->variable = (struct loop_variable){
			.variable = variable,
			.kind = readings[best].kind,
			.is_down = readings[best].is_down,
			.sites = xcalloc(search->num_places, sizeof(*ret->variable.sites)),
		};
		ret->num_terms = readings[best].sum.num_terms;
	}
	for (size_t i = 0; i < search->num_places && best_num; i++)
		if (readings[i].is_readable && is_same_form(&readings[i], &readings[best]))
			ret->variable.sites[i] = make_site(&readings[i], &readings[best]);
	free(readings);
}

static bool is_better(const struct candidate *new, const struct candidate *old)
{
	if (new->num_readable != old->num_readable)
		return new->num_readable > old->num_readable;
	if (new->num_readable == 0)
		return false;
	if (new->num_terms != old->num_terms)
		return new->num_terms < old->num_terms;
	return new->variable.kind < old->variable.kind;
}

/* Does the variable tell iterations anywhere in the loop, as far as a few blocks show? */
static bool counts_somewhere(const struct search *search, const struct code_variable *variable)
{
	const struct flow *flow = search->flow;

	for (uint32_t i = 0, tries = 0; i < flow->num_blocks && tries < MAX_TRIES; i++) {
		struct flow_place place = {flow->blocks[i].first, false};

		if (!loop_nest_contains(flow->nest, search->loop, i) ||
		    !find_location(variable, flow->code->insns[place.insn].address))
			continue;
		tries++;
		if (read_at(search, variable, place).is_counting)
			return true;
	}
	return false;
}

static void explain(const struct search *search, const struct code_variables *variables,
		    struct loop_variable *ret)
{
	ret->result = variables->has_debug_info ? LOOP_VARIABLE_NONE : LOOP_VARIABLE_NO_DEBUG_INFO;
	for (size_t i = 0; i < variables->num_variables; i++) {
		if (!counts_somewhere(search, &variables->variables[i]))
			continue;
		ret->result = LOOP_VARIABLE_UNREADABLE;
		ret->variable = &variables->variables[i];
		return;
	}
}

void loop_variables_choose(const struct flow *flow, const struct code_variables *variables,
			   uint32_t loop, const struct flow_place *places, size_t num_places,
			   struct loop_variable *ret)
{
	struct search search = {
		.flow = flow, .loop = loop, .places = places, .num_places = num_places};
	struct candidate best = {.num_readable = 0}, next;
	enum symbolic_result result;
	struct symbolic *symbolic = symbolic_create(flow, variables, loop, &result);

	memset(ret, 0, sizeof(*ret));
	search.symbolic = symbolic;
	for (size_t i = 0; symbolic && i < variables->num_variables; i++) {
		try_variable(&search, &variables->variables[i], &next);
		if (is_better(&next, &best)) {
			free(best.variable.sites);
			best = next;
		} else {
			free(next.variable.sites);
		}
	}
	*ret = best.variable;
	ret->result = LOOP_VARIABLE_FOUND;
	if (!symbolic)
		ret->result = result == SYMBOLIC_IRREDUCIBLE ? LOOP_VARIABLE_IRREDUCIBLE
							     : LOOP_VARIABLE_UNKNOWN_JUMP;
	else if (!best.num_readable)
		explain(&search, variables, ret);
	if (!ret->sites)
		ret->sites = xcalloc(num_places, sizeof(*ret->sites));
	symbolic_destroy(symbolic);
}

/* ---- Comparing ----------------------------------------------------------------------------- */

int loop_variable_compare(const struct loop_variable *variable, size_t site_a, int64_t value_a,
			  size_t site_b, int64_t value_b)
{
	const struct loop_variable_site *a = &variable->sites[site_a],
					*b = &variable->sites[site_b];
	int64_t x = (value_a - a->subtract) / a->divide, y = (value_b - b->subtract) / b->divide;
	int order;

	/* What is multiplied or divided moves away from 0 or towards it, whatever its sign. */
	if (variable->kind != LOOP_VARIABLE_ADDS) {
		x = llabs(x);
		y = llabs(y);
	}
	order = (x > y) - (x < y);
	return variable->is_down || variable->kind == LOOP_VARIABLE_SHRINKS ? -order : order;
}
