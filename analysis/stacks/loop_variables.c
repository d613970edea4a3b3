/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/progress/loop_nest.h"
#include "analysis/stacks/loop_variables.h"
#include "analysis/stacks/symbolic.h"
#include "model/sorted.h"
#include "model/xalloc.h"

#define MAX_TRIES 64

/* A variable at one place: how it is read there, and what that is in terms of the header. */
struct reading {
	bool is_counting; /* it tells iterations */
	bool is_alike;    /* and begins with the same value in all ranks */
	bool is_readable; /* and can be read in a frame that is there */
	struct code_value value, sum;
	enum loop_variable_kind kind;
	bool is_down;
	bool has_start;
	int64_t start; /* the value in the first iteration, where it is a constant */
};

/* A loop around the one of the variable, or the function. */
struct around {
	bool is_followed;
	struct symbolic *symbolic; /* NULL: it cannot be */
};

struct search {
	const struct flow *flow;
	const struct code_variables *variables;
	const struct symbolic *symbolic;
	struct around *around; /* by depth: 0 is the function */
	uint32_t loop;
	const struct flow_place *places;
	size_t num_places, num_more;
};

static bool same_place(const struct code_place *a, const struct code_place *b)
{
	return a->kind == b->kind && a->reg == b->reg && a->displacement == b->displacement;
}

/* By how much a place grows in one iteration. False: it is changed in another way. */
static bool get_step(const struct symbolic *symbolic, const struct code_place *place, int64_t *ret)
{
	struct code_value next = symbolic_next(symbolic, *place);

	*ret = next.constant;
	return next.is_known && next.num_terms == 1 && next.terms[0].factor == 1 && !next.shift &&
	       same_place(&next.terms[0].place, place);
}

static bool is_additive(const struct search *search, struct reading *reading)
{
	int64_t total = 0, step;

	for (unsigned int i = 0; i < reading->sum.num_terms; i++)
		if (!get_step(search->symbolic, &reading->sum.terms[i].place, &step) ||
		    __builtin_mul_overflow(step, reading->sum.terms[i].factor, &step) ||
		    __builtin_add_overflow(total, step, &total))
			return false;
	/* Less than one for each iteration does not tell them all. */
	if (total == INT64_MIN || reading->sum.shift > 32 ||
	    llabs(total) < INT64_C(1) << reading->sum.shift)
		return false;
	reading->kind = LOOP_VARIABLE_ADDS;
	reading->is_down = total < 0;
	return true;
}

/* Only doubling and halving, again and again, end at 0 instead of beginning anew. */
static bool is_power_of_two(int64_t number)
{
	return number > 0 && !(number & (number - 1));
}

static bool is_multiplied(const struct search *search, struct reading *reading)
{
	const struct code_place *place = &reading->sum.terms[0].place;
	struct code_value next;

	if (reading->sum.num_terms != 1 || reading->sum.shift || reading->sum.constant ||
	    !is_power_of_two(reading->sum.terms[0].factor))
		return false;
	next = symbolic_next(search->symbolic, *place);
	if (!next.is_known || next.num_terms != 1 || next.constant ||
	    !same_place(&next.terms[0].place, place))
		return false;
	if (next.shift && next.terms[0].factor == 1 && reading->sum.terms[0].factor == 1) {
		reading->kind = LOOP_VARIABLE_SHRINKS;
		return true;
	}
	reading->kind = LOOP_VARIABLE_GROWS;
	return !next.shift && next.terms[0].factor > 1 && is_power_of_two(next.terms[0].factor);
}

/* The loop around that loop, followed. NULL: it cannot be. */
static const struct symbolic *follow_around(const struct search *search, uint32_t loop)
{
	const struct loop *of = &search->flow->nest->loops[loop];
	struct around *around = &search->around[of->depth];
	enum symbolic_result result;

	if (!around->is_followed)
		around->symbolic =
			symbolic_create(search->flow, search->variables, of->parent, &result);
	around->is_followed = true;
	return around->symbolic;
}

/* Is the value, in terms of that loop's header, the same in all ranks when the loop is entered? It
 * is when it is a constant; or a sum of what is so in the loop around and is changed by constants
 * there, since ranks are compared in the same iteration of that. */
static bool begins_alike(const struct search *search, uint32_t loop, const struct code_value *value,
			 struct reading *start_ret)
{
	const struct symbolic *around = follow_around(search, loop);
	uint32_t parent = search->flow->nest->loops[loop].parent;
	struct code_value entry;

	if (!around)
		return false;
	entry = symbolic_entry(around, loop, value);
	if (!entry.is_known || (entry.num_terms && parent == LOOP_NONE))
		return false;
	for (unsigned int i = 0; i < entry.num_terms; i++) {
		const struct code_place *place = &entry.terms[i].place;
		struct code_value same = {
			.is_known = true, .num_terms = 1, .terms[0] = {*place, 1}};
		int64_t step;

		if (!get_step(around, place, &step) || !begins_alike(search, parent, &same, NULL))
			return false;
	}
	if (start_ret && !entry.num_terms) {
		start_ret->has_start = true;
		start_ret->start = code_evaluate(&entry, (int64_t[CODE_MAX_TERMS]){0});
	}
	return true;
}

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
	reading.is_counting = is_additive(search, &reading) || is_multiplied(search, &reading);
	reading.is_alike =
		reading.is_counting && begins_alike(search, search->loop, &reading.sum, &reading);
	reading.is_readable =
		reading.is_alike && is_readable(flow, &reading.value, place.is_inside);
	return reading;
}

/* Can values of the two be compared? */
static bool is_same_form(const struct reading *a, const struct reading *b)
{
	if (a->kind != b->kind || a->is_down != b->is_down || a->has_start != b->has_start ||
	    a->sum.shift != b->sum.shift || a->sum.num_terms != b->sum.num_terms)
		return false;
	for (unsigned int i = 0; i < a->sum.num_terms; i++)
		if (!same_place(&a->sum.terms[i].place, &b->sum.terms[i].place) ||
		    (a->sum.terms[i].factor != b->sum.terms[i].factor &&
		     a->kind != LOOP_VARIABLE_GROWS))
			return false;
	return a->has_start ||
	       (a->sum.constant - b->sum.constant) % (INT64_C(1) << a->sum.shift) == 0;
}

static struct loop_variable_site make_site(const struct reading *reading,
					   const struct reading *first)
{
	struct loop_variable_site site = {
		.is_readable = true, .value = reading->value, .divide = 1};

	if (reading->kind == LOOP_VARIABLE_GROWS)
		site.divide = reading->sum.terms[0].factor;
	else if (reading->kind == LOOP_VARIABLE_ADDS && reading->has_start)
		site.subtract = reading->start;
	else
		site.subtract = (reading->sum.constant - first->sum.constant) >> reading->sum.shift;
	return site;
}

struct candidate {
	struct loop_variable variable;
	size_t num_readable;
	struct reading first; /* of the form that is compared */
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
			.is_from_start = readings[best].has_start,
			.sites = xcalloc(search->num_places + search->num_more,
					 sizeof(*ret->variable.sites)),
		};
		ret->first = readings[best];
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
	if (new->first.sum.num_terms != old->first.sum.num_terms)
		return new->first.sum.num_terms < old->first.sum.num_terms;
	return new->variable.kind < old->variable.kind;
}

static void read_more(const struct search *search, struct candidate *best)
{
	for (size_t i = search->num_places; i < search->num_places + search->num_more; i++) {
		struct reading reading =
			read_at(search, best->variable.variable, search->places[i]);

		if (reading.is_readable && is_same_form(&reading, &best->first))
			best->variable.sites[i] = make_site(&reading, &best->first);
	}
}

/* What the variable is anywhere in the loop, as far as a few blocks show. */
static struct reading read_somewhere(const struct search *search,
				     const struct code_variable *variable)
{
	struct reading reading = {.is_counting = false};
	const struct flow *flow = search->flow;

	for (uint32_t i = 0, tries = 0; i < flow->num_blocks && tries < MAX_TRIES; i++) {
		struct flow_place place = {flow->blocks[i].first, false};

		if (!loop_nest_contains(flow->nest, search->loop, i) ||
		    !find_location(variable, flow->code->insns[place.insn].address))
			continue;
		tries++;
		reading = read_at(search, variable, place);
		if (reading.is_counting)
			break;
	}
	return reading;
}

static void explain(const struct search *search, const struct code_variables *variables,
		    struct loop_variable *ret)
{
	ret->result = variables->has_debug_info ? LOOP_VARIABLE_NONE : LOOP_VARIABLE_NO_DEBUG_INFO;
	for (size_t i = 0; i < variables->num_variables; i++) {
		struct reading reading = read_somewhere(search, &variables->variables[i]);

		if (!reading.is_counting || ret->result == LOOP_VARIABLE_UNREADABLE)
			continue;
		ret->result = reading.is_alike ? LOOP_VARIABLE_UNREADABLE : LOOP_VARIABLE_NO_START;
		ret->variable = &variables->variables[i];
	}
}

void loop_variables_choose(const struct flow *flow, const struct code_variables *variables,
			   uint32_t loop, const struct flow_place *places, size_t num_places,
			   size_t num_more, struct loop_variable *ret)
{
	size_t num_around = flow->nest->loops[loop].depth + 1;
	struct search search = {
		.flow = flow,
		.variables = variables,
		.around = xcalloc(num_around, sizeof(*search.around)),
		.loop = loop,
		.places = places,
		.num_places = num_places,
		.num_more = num_more,
	};
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
	if (best.num_readable)
		read_more(&search, &best);
	*ret = best.variable;
	ret->result = LOOP_VARIABLE_FOUND;
	if (!symbolic)
		ret->result = result == SYMBOLIC_IRREDUCIBLE ? LOOP_VARIABLE_IRREDUCIBLE
							     : LOOP_VARIABLE_UNKNOWN_JUMP;
	else if (!best.num_readable)
		explain(&search, variables, ret);
	if (!ret->sites)
		ret->sites = xcalloc(num_places + num_more, sizeof(*ret->sites));
	for (size_t i = 0; i < num_around; i++)
		symbolic_destroy(search.around[i].symbolic);
	free(search.around);
	symbolic_destroy(symbolic);
}

/* In how many steps a value is from the first one, which goes beyond the end of numbers, too. */
static uint64_t distance(const struct loop_variable *variable, int64_t value, int64_t start)
{
	uint64_t difference = variable->is_down ? (uint64_t)start - (uint64_t)value
						: (uint64_t)value - (uint64_t)start;

	return (uint64_t)code_extend((int64_t)difference, variable->variable->size, false);
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

/* What is halved comes to 0, or stays at -1; what is doubled has a 0 more at its end. */
static bool compare_shifted(const struct loop_variable *variable, int64_t x, int64_t y,
			    int *order_ret)
{
	int a, b;

	if (variable->kind == LOOP_VARIABLE_SHRINKS) {
		uint64_t u = magnitude(x), v = magnitude(y);

		*order_ret = SORTED_ORDER(v, u);
		return u != v || (x != 0 && x != -1);
	}
	if (!x || !y)
		return false;
	a = __builtin_ctzll((uint64_t)x);
	b = __builtin_ctzll((uint64_t)y);
	*order_ret = SORTED_ORDER(a, b);
	return true;
}

bool loop_variable_compare(const struct loop_variable *variable, size_t site_a, int64_t value_a,
			   size_t site_b, int64_t value_b, int *order_ret)
{
	const struct loop_variable_site *a = &variable->sites[site_a],
					*b = &variable->sites[site_b];
	int64_t x, y;

	if (variable->kind != LOOP_VARIABLE_ADDS)
		return compare_shifted(variable, value_a / a->divide, value_b / b->divide,
				       order_ret);
	if (variable->is_from_start) {
		uint64_t u = distance(variable, value_a, a->subtract);
		uint64_t v = distance(variable, value_b, b->subtract);

		*order_ret = SORTED_ORDER(u, v);
		return true;
	}
	x = (int64_t)((uint64_t)value_a - (uint64_t)a->subtract);
	y = (int64_t)((uint64_t)value_b - (uint64_t)b->subtract);
	*order_ret = variable->is_down ? SORTED_ORDER(y, x) : SORTED_ORDER(x, y);
	return true;
}
