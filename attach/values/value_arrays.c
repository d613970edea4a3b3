/* SPDX-License-Identifier: BSD-3-Clause
 * Bounds of arrays: constants, or what tells them when the program runs. Fortran's descriptors say
 * where an array is (data location), whether it is there, its bounds and strides. */
#include <dwarf.h>

#include "attach/values/values_private.h"

bool values_shape_of(const struct values_search *search, const struct values_type *type,
		     struct values_shape *ret)
{
	Dwarf_Die die = type->die, child;
	struct values_type element;
	Dwarf_Word size;

	*ret = (struct values_shape){.num = 0};
	if (dwarf_tag(&die) != DW_TAG_array_type || !values_type_of(&die, &element) ||
	    dwarf_child(&die, &child))
		return false;
	ret->element = element.die;
	if (!dwarf_aggregate_size(&element.die, &size))
		ret->element_size = size;
	do {
		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		if (ret->num == CODE_MAX_DIMENSIONS || !debug_file_look(search->file))
			return false;
		ret->ranges[ret->num++] = child;
	} while (debug_file_next(&child, &child));
	return ret->num > type->first_dimension;
}

static const char *push_condition(struct values_search *search, Dwarf_Die *die, unsigned int name,
				  enum code_status status, struct values_ops *ops)
{
	Dwarf_Attribute property;
	const char *trouble;

	if (!dwarf_attr(die, name, &property))
		return NULL;
	trouble = values_compute_property(search, &property, ops);
	values_add_op(search, ops, CODE_OP_REQUIRE, status);
	return trouble;
}

const char *values_begin_array(struct values_search *search, const struct values_type *type,
			       struct values_ops *ops)
{
	Dwarf_Die die = type->die;
	Dwarf_Attribute property;
	const char *trouble;

	values_add_op(search, ops, CODE_OP_OBJECT, 0);
	trouble = push_condition(search, &die, DW_AT_allocated, CODE_NOT_ALLOCATED, ops);
	if (!trouble)
		trouble = push_condition(search, &die, DW_AT_associated, CODE_NOT_ASSOCIATED, ops);
	if (trouble || !dwarf_attr(&die, DW_AT_data_location, &property))
		return trouble;
	values_add_op(search, ops, CODE_OP_DROP, 0);
	return values_compute_property(search, &property, ops);
}

/* Lower and upper bound. */
static const char *push_bounds(struct values_search *search, Dwarf_Die *range,
			       struct values_ops *ops, bool *is_open_ret)
{
	Dwarf_Attribute property;
	const char *trouble = NULL;
	size_t before = ops->num;

	*is_open_ret = false;
	if (dwarf_attr(range, DW_AT_lower_bound, &property))
		trouble = values_compute_property(search, &property, ops);
	else
		values_add_op(search, ops, CODE_OP_CONSTANT, search->is_fortran);
	if (trouble)
		return trouble;
	if (dwarf_attr(range, DW_AT_upper_bound, &property))
		return values_compute_property(search, &property, ops);
	if (dwarf_attr(range, DW_AT_count, &property)) {
		trouble = values_compute_property(search, &property, ops);
		if (ops->num == before + 2 && ops->list[before].kind == CODE_OP_CONSTANT &&
		    ops->list[before + 1].kind == CODE_OP_CONSTANT) {
			ops->list[before + 1].operand =
				(int64_t)((uint64_t)ops->list[before + 1].operand +
					  (uint64_t)ops->list[before].operand - 1);
			return trouble;
		}
		/* The lower bound is below it. */
		values_add_op(search, ops, CODE_OP_PICK, 1);
		values_add_op(search, ops, CODE_OP_ADD, 0);
		values_add_op(search, ops, CODE_OP_ADD_CONSTANT, -1);
		return trouble;
	}
	*is_open_ret = true;
	values_add_op(search, ops, CODE_OP_CONSTANT, INT64_MAX);
	return NULL;
}

/* The stride of a dimension is the size of an element times the counts of those inside. */
static const char *push_size(struct values_search *search, const struct values_shape *shape,
			     size_t number, struct values_ops *ops)
{
	size_t first = search->is_fortran ? 0 : number + 1;
	size_t end = search->is_fortran ? number : shape->num;
	const char *trouble = NULL;
	bool is_open;

	if (!shape->element_size)
		return "the size of its elements is known only when it runs";
	values_add_op(search, ops, CODE_OP_CONSTANT, (int64_t)shape->element_size);
	for (size_t i = first; i < end && !trouble; i++) {
		Dwarf_Die range = shape->ranges[i];
		size_t before = ops->num;
		struct code_op *added;

		trouble = push_bounds(search, &range, ops, &is_open);
		if (is_open)
			return "nothing says how large it is";
		added = &ops->list[before];
		if (ops->num == before + 2 && before > 0 && added[-1].kind == CODE_OP_CONSTANT &&
		    added[0].kind == CODE_OP_CONSTANT && added[1].kind == CODE_OP_CONSTANT) {
			int64_t count;

			if (__builtin_sub_overflow(added[1].operand, added[0].operand, &count) ||
			    __builtin_add_overflow(count, 1, &count) ||
			    __builtin_mul_overflow(added[-1].operand, count, &added[-1].operand))
				return "no memory has room for it";
			ops->num = before;
			continue;
		}
		values_add_op(search, ops, CODE_OP_SWAP, 0);
		values_add_op(search, ops, CODE_OP_SUBTRACT, 0);
		values_add_op(search, ops, CODE_OP_ADD_CONSTANT, 1);
		values_add_op(search, ops, CODE_OP_MULTIPLY, 0);
	}
	return trouble;
}

const char *values_push_dimension(struct values_search *search, const struct values_shape *shape,
				  size_t number, struct values_ops *ops, bool *is_open_ret)
{
	Dwarf_Die range = shape->ranges[number];
	const char *trouble = push_bounds(search, &range, ops, is_open_ret);
	Dwarf_Attribute property;

	if (trouble)
		return trouble;
	if (dwarf_attr(&range, DW_AT_byte_stride, &property))
		return values_compute_property(search, &property, ops);
	return push_size(search, shape, number, ops);
}

bool values_pop_constants(struct values_ops *ops, int64_t ret[3])
{
	if (ops->num < 3)
		return false;
	for (size_t i = 0; i < 3; i++) {
		const struct code_op *op = &ops->list[ops->num - 3 + i];

		if (op->kind != CODE_OP_CONSTANT)
			return false;
		ret[i] = op->operand;
	}
	ops->num -= 3;
	return true;
}
