/* SPDX-License-Identifier: BSD-3-Clause
 * From a variable's place along the steps of an expression, or to why that leads nowhere. */
#include <dwarf.h>

#include "attach/values/expression.h"
#include "attach/values/values_private.h"

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

int values_give_up(struct values_search *search, const char *why)
{
	search->ret->trouble = why;
	return 1;
}

int values_leave_to_gdb(struct values_search *search, const char *why)
{
	/* Of such a register gdb says what is in it now, as if that was the variable. */
	search->ret->is_for_gdb = why != values_changed;
	return values_give_up(search, why);
}

static int check(struct values_search *search, const char *trouble)
{
	return trouble ? values_leave_to_gdb(search, trouble) : 0;
}

/* ---- Steps: 0: go on, 1: there is no value, -1: *err ---- */

bool values_move(struct values_search *search, struct values_place *place, int64_t num,
		 uint64_t size)
{
	struct code_op *last = place->ops.num ? &place->ops.list[place->ops.num - 1] : NULL;
	int64_t by;

	if (__builtin_mul_overflow(num, size, &by))
		return false;
	if (place->is_value) {
		place->offset += (uint64_t)by;
		return by >= 0;
	}
	if (last && last->kind == CODE_OP_ADD_CONSTANT)
		return !__builtin_add_overflow(last->operand, by, &last->operand);
	if (by)
		values_add_op(search, &place->ops, CODE_OP_ADD_CONSTANT, by);
	return true;
}

int values_take_address(struct values_search *search, struct values_place *place)
{
	const struct values_piece *piece = &place->location.pieces[0];

	if (place->offset || place->location.num != 1 || piece->kind == VALUES_VECTOR)
		return values_leave_to_gdb(search, "the compiler keeps it in registers, in pieces");
	if (piece->kind == VALUES_LOST)
		return values_leave_to_gdb(search, "optimized away here");
	place->ops = piece->ops;
	if (piece->kind == VALUES_MEMORY)
		values_add_op(search, &place->ops, CODE_OP_LOAD, 8);
	place->is_value = false;
	return 0;
}

/* To what the pointer that is there leads to. */
static int follow(struct values_search *search, struct values_place *place)
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
	place->type = to;
	place->has_begun = false;
	if (place->is_value)
		return values_take_address(search, place);
	values_add_op(search, &place->ops, CODE_OP_LOAD, 8);
	return 0;
}

static int follow_references(struct values_search *search, struct values_place *place)
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

static bool is_pointer(const struct values_place *place)
{
	Dwarf_Die die = place->type.die;

	return !place->type.is_void && dwarf_tag(&die) == DW_TAG_pointer_type;
}

static int take_member(struct values_search *search, struct values_place *place, const char *name)
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
	if (!values_move(search, place, 1, offset))
		return values_give_up(search, "beyond all addresses");
	place->type = member;
	place->has_begun = false;
	return 0;
}

static int add_range(struct values_search *search, struct values_place *place, int64_t from,
		     int64_t to)
{
	if (place->num_dimensions++ == CODE_MAX_DIMENSIONS)
		return values_leave_to_gdb(search, "it has too many dimensions");
	values_add_op(search, &place->ops, CODE_OP_CONSTANT, from);
	values_add_op(search, &place->ops, CODE_OP_CONSTANT, to);
	values_add_op(search, &place->ops, CODE_OP_RANGE, 0);
	return 0;
}

static int take_pointed(struct values_search *search, struct values_place *place,
			const struct expression_step *step)
{
	int result = follow(search, place);
	Dwarf_Word size;

	if (result)
		return result;
	if (step->is_all)
		return error_set(search->err, ERROR_USAGE,
				 "%s: a pointer does not say how many elements there are",
				 search->name);
	if (dwarf_aggregate_size(&place->type.die, &size) || !size)
		return error_set(search->err, ERROR_USAGE, "%s: its elements have no size",
				 search->name);
	if (!values_move(search, place, step->first, size))
		return error_set(search->err, ERROR_USAGE, "%s: no such element", search->name);
	if (step->kind != EXPRESSION_SLICE)
		return 0;
	values_add_op(search, &place->ops, CODE_OP_CONSTANT, 0);
	values_add_op(search, &place->ops, CODE_OP_CONSTANT, INT64_MAX);
	values_add_op(search, &place->ops, CODE_OP_CONSTANT, (int64_t)size);
	return add_range(search, place, 0,
			 (int64_t)((uint64_t)step->last - 1 - (uint64_t)step->first));
}

int values_begin(struct values_search *search, struct values_place *place)
{
	if (place->has_begun || place->is_value)
		return 0;
	place->has_begun = true;
	return check(search, values_begin_array(search, &place->type, &place->ops));
}

static int refuse_index(struct values_search *search, int64_t lower, int64_t upper)
{
	return error_set(search->err, ERROR_USAGE, "%s: its indexes are %lld to %lld", search->name,
			 (long long)lower, (long long)upper);
}

/* One dimension, to an index or a range of it. */
static int take_dimension(struct values_search *search, struct values_place *place,
			  const struct values_shape *shape, size_t number,
			  const struct expression_step *step)
{
	int64_t last = step->kind == EXPRESSION_SLICE ? step->last - 1 : step->first, known[3];
	bool is_open;
	int result =
		check(search, values_push_dimension(search, shape, number, &place->ops, &is_open));

	if (result)
		return result;
	if (is_open && step->is_all)
		return values_give_up(
			search,
			arena_printf(search->arena,
				     "nothing says where it ends; print reads parts: %s%s",
				     search->name, search->is_fortran ? "(1:10)" : "[0:10]"));
	if (step->is_all) {
		place->num_dimensions++;
		values_add_op(search, &place->ops, CODE_OP_RANGE, 1);
		return 0;
	}
	if (values_pop_constants(&place->ops, known)) {
		/* A last member of one element or none may have more behind it. */
		bool is_flexible = !search->is_fortran && known[1] < known[0];

		if (step->first < known[0] || (last > known[1] && !is_flexible))
			return refuse_index(search, known[0], known[1]);
		if (step->kind == EXPRESSION_ELEMENT)
			return values_move(search, place, step->first - known[0],
					   (uint64_t)known[2])
				       ? 0
				       : error_set(search->err, ERROR_USAGE, "%s: no such element",
						   search->name);
		for (size_t i = 0; i < 3; i++)
			values_add_op(search, &place->ops, CODE_OP_CONSTANT,
				      i == 1 && is_flexible ? INT64_MAX : known[i]);
	}
	if (place->is_value)
		return values_leave_to_gdb(search, "the compiler keeps it in registers");
	if (step->kind == EXPRESSION_SLICE)
		return add_range(search, place, step->first, last);
	values_add_op(search, &place->ops, CODE_OP_INDEX, step->first);
	return 0;
}

int values_take_rest(struct values_search *search, struct values_place *place,
		     const struct values_shape *shape, size_t first)
{
	const struct expression_step all = {.kind = EXPRESSION_SLICE, .is_all = true};
	int result = 0;

	for (size_t i = shape->num; i-- > first && !result;)
		result = take_dimension(search, place, shape,
					search->is_fortran ? shape->num - 1 - i : i, &all);
	return result;
}

static int take_elements(struct values_search *search, struct values_place *place,
			 const struct expression_step *steps, size_t num, size_t *taken_ret)
{
	size_t first = place->type.first_dimension, wanted;
	struct values_shape shape;
	struct values_type inside;
	uint64_t offset;
	int result;

	*taken_ret = 1;
	if (!place->is_value && values_unwrap(search, &place->type, false, &offset, &inside) &&
	    values_move(search, place, 1, offset))
		place->type = inside;
	if (is_pointer(place))
		return take_pointed(search, place, &steps[0]);
	if (place->type.is_void || !values_shape_of(search, &place->type, &shape))
		return refuse(search, "no array, but", &place->type);
	wanted = search->is_fortran ? shape.num : 1;
	for (size_t i = 0; i < wanted; i++)
		if (i >= num ||
		    (steps[i].kind != EXPRESSION_ELEMENT && steps[i].kind != EXPRESSION_SLICE))
			return error_set(search->err, ERROR_USAGE, "%s: it has %zu indexes",
					 search->name, shape.num);
	result = values_begin(search, place);
	/* A slice of C is of whole arrays. */
	if (!result && !search->is_fortran && steps[0].kind == EXPRESSION_SLICE)
		result = values_take_rest(search, place, &shape, first + 1);
	for (size_t i = 0; i < wanted && !result; i++)
		result = take_dimension(search, place, &shape, first + i, &steps[i]);
	*taken_ret = wanted;
	if (!search->is_fortran && !place->num_dimensions && first + 1 < shape.num) {
		place->type.first_dimension++;
		return result;
	}
	place->type = (struct values_type){.die = shape.element};
	place->has_begun = false;
	/* The element's own typedefs. */
	return result ? result : dwarf_peel_type(&place->type.die, &place->type.die) ? -1 : 0;
}

int values_take_steps(struct values_search *search, struct values_place *place,
		      const struct expression *expression)
{
	int result = follow_references(search, place);
	size_t taken;

	for (size_t i = 0; !result && i < expression->num_steps; i += taken) {
		const struct expression_step *step = &expression->steps[i];

		taken = 1;
		if (place->num_dimensions)
			return error_set(search->err, ERROR_USAGE, "%s: nothing can follow a slice",
					 search->name);
		if (step->kind == EXPRESSION_FOLLOW)
			result = follow(search, place);
		else if (step->kind == EXPRESSION_MEMBER)
			result = take_member(search, place, step->name);
		else
			result = take_elements(search, place, step, expression->num_steps - i,
					       &taken);
		result = result ?: follow_references(search, place);
	}
	return result;
}
