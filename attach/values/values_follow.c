/* SPDX-License-Identifier: BSD-3-Clause
 * From a variable's entry along the steps of an expression to a probe, or to why there is none. */
#include <dwarf.h>

#include "attach/code/variables.h"
#include "attach/process/maps.h"
#include "attach/values/expression.h"
#include "attach/values/values_private.h"

enum { TEXT_BYTES = 64 };

/* Where the value is that the steps so far lead to. */
struct place {
	struct values_type type;
	struct variables_location location;
	struct code_read read;
};

static const char *type_name(const struct values_type *type)
{
	Dwarf_Die die = type->die;
	const char *name = type->is_void ? "void" : dwarf_diename(&die);

	return name ? name : dwarf_tag(&die) == DW_TAG_array_type ? "an array" : "of that type";
}

static int refuse(struct values_search *search, const char *what, const struct values_type *type)
{
	return error_set(search->err, ERROR_USAGE, "%s: %s %s", search->name, what,
			 type_name(type));
}

/* There is the name, and no value. */
static int give_up(struct values_search *search, const char *why)
{
	search->ret->trouble = why;
	return 1;
}

/* ---- Steps: 0: go on, 1: there is no value, -1: *err ---- */

/* By `num` times `size` bytes. False: beyond all addresses. */
static bool move(struct place *place, int64_t num, uint64_t size)
{
	int64_t *last = place->read.num_steps ? &place->read.steps[place->read.num_steps - 1]
					      : &place->location.value.constant;
	int64_t by;

	return !__builtin_mul_overflow(num, size, &by) && !__builtin_add_overflow(*last, by, last);
}

/* To what the pointer that is there leads to. */
static int follow(struct values_search *search, struct place *place)
{
	struct values_type to;
	Dwarf_Die die = place->type.die;
	int tag = dwarf_tag(&die);

	if (tag != DW_TAG_pointer_type && tag != DW_TAG_reference_type &&
	    tag != DW_TAG_rvalue_reference_type)
		return refuse(search, "no pointer, but", &place->type);
	if (!values_type_of(&die, &to))
		return error_set(search->err, ERROR_USAGE,
				 "%s: what a void pointer leads to has no type", search->name);
	if (place->location.is_value) {
		place->location.is_value = false;
	} else if (place->read.num_steps == CODE_MAX_STEPS) {
		return give_up(search, "print follows at most 8 pointers");
	} else {
		place->read.steps[place->read.num_steps++] = 0;
	}
	place->type = to;
	search->ret->is_pointed = true;
	return 0;
}

static int follow_references(struct values_search *search, struct place *place)
{
	int result = 0;

	while (!result && !place->type.is_void) {
		int tag = dwarf_tag(&place->type.die);

		if (tag != DW_TAG_reference_type && tag != DW_TAG_rvalue_reference_type)
			break;
		result = follow(search, place);
	}
	return result;
}

static bool is_pointer(const struct place *place)
{
	Dwarf_Die die = place->type.die;

	return !place->type.is_void && dwarf_tag(&die) == DW_TAG_pointer_type;
}

static int take_member(struct values_search *search, struct place *place, const char *name)
{
	int result = is_pointer(place) ? follow(search, place) : 0;
	struct values_type member;
	uint64_t offset;

	if (result)
		return result;
	if (place->type.is_void || !values_member(search, &place->type.die, name, &offset, &member))
		return error_set(search->err, ERROR_USAGE,
				 "%s: %s has no member \"%s\" (or it is a bit field: print the "
				 "whole struct)",
				 search->name, type_name(&place->type), name);
	if (place->location.is_value || !move(place, 1, offset))
		return give_up(search, "the compiler keeps it in registers, in pieces");
	place->type = member;
	return 0;
}

/* `slice_ret`: the elements of a slice; 0: one element. */
static int take_pointed(struct values_search *search, struct place *place,
			const struct expression_step *step, uint64_t *slice_ret)
{
	int result = follow(search, place);
	Dwarf_Word size;

	if (result)
		return result;
	if (dwarf_aggregate_size(&place->type.die, &size) || !size)
		return error_set(search->err, ERROR_USAGE, "%s: its elements have no size",
				 search->name);
	if (!move(place, step->first, size))
		return error_set(search->err, ERROR_USAGE, "%s: no such element", search->name);
	*slice_ret =
		step->kind == EXPRESSION_SLICE ? (uint64_t)step->last - (uint64_t)step->first : 0;
	return 0;
}

/* Fortran's indexes come with the shortest stride first, and all of them. */
static size_t dimension_of(const struct values_search *search, const struct values_shape *shape,
			   size_t first, size_t taken)
{
	return search->is_fortran ? shape->num - 1 - taken : first;
}

static int take_elements(struct values_search *search, struct place *place,
			 const struct expression_step *steps, size_t num, size_t *taken_ret,
			 uint64_t *slice_ret)
{
	struct values_shape shape;
	struct values_type inside;
	uint64_t offset;
	size_t wanted;

	*taken_ret = 1;
	*slice_ret = 0;
	if (!place->location.is_value &&
	    values_unwrap(search, &place->type, false, &offset, &inside) && move(place, 1, offset))
		place->type = inside;
	if (is_pointer(place))
		return take_pointed(search, place, &steps[0], slice_ret);
	if (place->type.is_void || !values_shape_of(search, &place->type, &shape))
		return refuse(search, "no array, but", &place->type);
	if (shape.is_described)
		return give_up(search, "its bounds are known only when it runs; gdb reads it");
	wanted = search->is_fortran ? shape.num : 1;
	if (num < wanted)
		return error_set(search->err, ERROR_USAGE, "%s: it has %zu indexes", search->name,
				 shape.num);
	for (size_t i = 0; i < wanted; i++) {
		size_t at = dimension_of(search, &shape, place->type.first_dimension, i);
		uint64_t stride = shape.element_size, count = shape.counts[at];
		int64_t last =
			steps[i].kind == EXPRESSION_SLICE ? steps[i].last - 1 : steps[i].first;
		int64_t from = 0, to = 0;
		bool is_far = __builtin_sub_overflow(steps[i].first, shape.lower[at], &from) ||
			      __builtin_sub_overflow(last, shape.lower[at], &to);

		for (size_t k = at + 1; k < shape.num; k++)
			stride *= shape.counts[k];
		if (is_far || (count && (from < 0 || (uint64_t)to >= count)))
			return error_set(search->err, ERROR_USAGE,
					 "%s: its indexes are %lld to %lld", search->name,
					 (long long)shape.lower[at],
					 (long long)((uint64_t)shape.lower[at] + count - 1));
		if (!stride || (steps[i].kind == EXPRESSION_SLICE && wanted > 1))
			return give_up(search, "print does not read this part of it");
		if (place->location.is_value || !move(place, from, stride))
			return give_up(search, "the compiler keeps it in registers");
		if (steps[i].kind == EXPRESSION_SLICE)
			*slice_ret = (uint64_t)to - (uint64_t)from + 1;
	}
	*taken_ret = wanted;
	if (search->is_fortran || place->type.first_dimension + 1 == shape.num)
		place->type = (struct values_type){.die = shape.element};
	else
		place->type.first_dimension++;
	/* The element's own typedefs. */
	return dwarf_peel_type(&place->type.die, &place->type.die) ? -1 : 0;
}

static int take_steps(struct values_search *search, struct place *place,
		      const struct expression *expression, uint64_t *slice_ret)
{
	int result = follow_references(search, place);
	size_t taken;

	*slice_ret = 0;
	for (size_t i = 0; !result && i < expression->num_steps; i += taken) {
		const struct expression_step *step = &expression->steps[i];

		taken = 1;
		if (*slice_ret)
			return error_set(search->err, ERROR_USAGE, "%s: nothing can follow a slice",
					 search->name);
		if (step->kind == EXPRESSION_FOLLOW)
			result = follow(search, place);
		else if (step->kind == EXPRESSION_MEMBER)
			result = take_member(search, place, step->name);
		else
			result = take_elements(search, place, step, expression->num_steps - i,
					       &taken, slice_ret);
		result = result ?: follow_references(search, place);
	}
	return result;
}

/* ---- The result ---- */

static void set_probe(const struct place *place, const struct value_type *type,
		      struct code_probe *probe)
{
	probe->value = place->location.value;
	probe->read = place->read;
	probe->read.is_global = place->location.is_global;
	probe->size = 8;
	if (!place->location.is_value) {
		probe->read.num_bytes = type->size;
		return;
	}
	probe->size = (uint8_t)type->size;
	probe->is_signed = type->kind == VALUE_SIGNED;
}

static bool is_scalar_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static int finish(struct values_search *search, struct place *place, uint64_t slice)
{
	struct values_found *ret = search->ret;
	const struct value_type *type;
	struct values_type inside;
	uint64_t offset;
	Dwarf_Word size;

	if (!place->location.is_value &&
	    values_unwrap(search, &place->type, true, &offset, &inside) && move(place, 1, offset))
		place->type = inside;
	type = values_build(search, &place->type);
	if (type && slice)
		type = values_array(search, type, slice);
	if (!type && !dwarf_aggregate_size(&place->type.die, &size) && size > search->max_bytes)
		return give_up(search, "larger than print reads; print its members");
	if (!type)
		return give_up(search,
			       arena_printf(search->arena,
					    "its size is known only when it runs; print reads "
					    "parts: %s%s",
					    search->name,
					    search->is_fortran ? "(1:10)" : "[0:10]"));
	ret->type = type;
	if (place->location.is_value && !is_scalar_size(type->size))
		return give_up(search, "the compiler keeps it in registers, in pieces");
	set_probe(place, type, &ret->probe);
	if (type->kind == VALUE_POINTER && type->element) {
		struct place text = *place;

		ret->text = ret->probe;
		if (text.location.is_value)
			text.location.is_value = false;
		else if (text.read.num_steps < CODE_MAX_STEPS)
			text.read.steps[text.read.num_steps++] = 0;
		else
			return 1;
		set_probe(&text, &(struct value_type){.size = TEXT_BYTES}, &ret->text);
	}
	return 1;
}

/* Of a value that is in the debug information itself. */
static int take_constant(struct values_search *search, const struct values_type *type,
			 const void *bytes, size_t size)
{
	struct values_found *ret = search->ret;
	uint8_t *copy;

	ret->type = values_build(search, type);
	if (!ret->type || size < ret->type->size)
		return 0;
	copy = arena_alloc(search->arena, size);
	memcpy(copy, bytes, size);
	ret->constant = copy;
	return 1;
}

static int find_constant(struct values_search *search, Dwarf_Die *die,
			 const struct values_type *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Block block;
	Dwarf_Sword value;

	if (!dwarf_attr_integrate(die, DW_AT_const_value, &attribute))
		return 0;
	if (!dwarf_formblock(&attribute, &block))
		return take_constant(search, type, block.data, block.length);
	return dwarf_formsdata(&attribute, &value)
		       ? 0
		       : take_constant(search, type, &value, sizeof(value));
}

/* "optimized away here; known until solve.c:120" */
static const char *explain_absence(struct values_search *search, Dwarf_Attribute *location)
{
	Dwarf_Addr base, begin, end, last = 0;
	ptrdiff_t offset = 0;
	Dwarf_Line *line;
	Dwarf_Op *ops;
	size_t num;
	int number = 0;
	const char *file;

	while (debug_file_look(search->file) &&
	       (offset = dwarf_getlocations(location, offset, &base, &begin, &end, &ops, &num)) > 0)
		if (end <= search->address && end > last)
			last = end;
	line = last ? dwarf_getsrc_die(&search->unit, last - 1) : NULL;
	file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	if (!file || dwarf_lineno(line, &number) || !number)
		return "optimized away here";
	return arena_printf(search->arena, "optimized away here; known until %s:%d",
			    maps_base(file), number);
}

/* What it was in the caller, or what a pointer would lead to: it is nowhere itself. */
static bool is_former(const Dwarf_Op *op)
{
	return op->atom == DW_OP_entry_value || op->atom == DW_OP_GNU_entry_value ||
	       op->atom == DW_OP_implicit_pointer || op->atom == DW_OP_GNU_implicit_pointer;
}

int values_follow(struct values_search *search, Dwarf_Die *die, const struct expression *expression)
{
	struct place place = {.read.num_bytes = 0};
	Dwarf_Attribute attribute;
	Dwarf_Block block;
	uint64_t slice;
	Dwarf_Op *ops;
	size_t num;

	if (!values_type_of(die, &place.type))
		return 0;
	if (!dwarf_attr_integrate(die, DW_AT_location, &attribute)) {
		if (!expression->num_steps && find_constant(search, die, &place.type))
			return 1;
		/* The definition is elsewhere. */
		if (dwarf_hasattr_integrate(die, DW_AT_declaration))
			return 0;
		return give_up(search, "optimized away");
	}
	if (dwarf_getlocation_addr(&attribute, search->address, &ops, &num, 1) != 1)
		return give_up(search, explain_absence(search, &attribute));
	if (num == 1 && ops[0].atom == DW_OP_implicit_value && !expression->num_steps &&
	    !dwarf_getlocation_implicit_value(&attribute, ops, &block) &&
	    take_constant(search, &place.type, block.data, block.length))
		return 1;
	if (!variables_locate(search->function, &attribute, ops, num, search->is_return,
			      &place.location))
		return give_up(search, num && is_former(&ops[0])
					       ? explain_absence(search, &attribute)
					       : "pdb does not understand where it is; gdb may");
	if (place.location.doubt == VARIABLES_VECTOR)
		return give_up(search, "in a vector register; gdb reads it");
	if (place.location.doubt == VARIABLES_CHANGED)
		return give_up(search, "in a register that the call may have changed");
	return take_steps(search, &place, expression, &slice) ?: finish(search, &place, slice);
}
