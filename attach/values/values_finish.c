/* SPDX-License-Identifier: BSD-3-Clause
 * From a variable's entry to the probe that reads what an expression makes of it. */
#include <dwarf.h>

#include "attach/process/maps.h"
#include "attach/values/expression.h"
#include "attach/values/values_private.h"

enum { TEXT_BYTES = 64 };

static void set_probe(struct values_search *search, struct values_ops *ops, uint32_t num_bytes,
		      struct code_probe *probe)
{
	probe->value = (struct code_value){.is_known = true};
	probe->size = 8;
	probe->read = (struct code_read){
		.num_bytes = num_bytes,
		.is_global = !search->level.function || !ops->has_registers,
		.ops = ops->list,
		.num_ops = ops->num,
	};
}

/* Of the pieces, the `size` bytes from `offset` on. */
static int gather(struct values_search *search, const struct values_place *place, uint64_t size,
		  struct values_ops *ops)
{
	uint64_t at = 0, end = place->offset + size;

	for (size_t i = 0; i < place->location.num && at < end; i++) {
		const struct values_piece *piece = &place->location.pieces[i];
		uint64_t piece_end = piece->size > UINT64_MAX - at ? UINT64_MAX : at + piece->size;
		uint64_t from = at > place->offset ? at : place->offset;
		uint64_t num = (piece_end < end ? piece_end : end) - from, skip = from - at;

		at = piece_end;
		if (piece_end <= place->offset)
			continue;
		values_add_ops(search, ops, &piece->ops);
		if (piece->kind == VALUES_LOST)
			return values_leave_to_gdb(search,
						   place->location.num > 1
							   ? "a part of it is optimized away here"
							   : "optimized away here");
		if (piece->kind == VALUES_MEMORY) {
			values_add_op(search, ops, CODE_OP_ADD_CONSTANT, (int64_t)skip);
			values_add_op(search, ops, CODE_OP_BYTES, (int64_t)num);
		} else if (piece->kind == VALUES_VECTOR && !skip && num <= 16) {
			values_add_op(search, ops, CODE_OP_VECTOR,
				      (int64_t)piece->vector * 256 + (int64_t)num);
		} else if (piece->kind == VALUES_VALUE && skip + num <= 8) {
			values_add_op(search, ops, CODE_OP_CONSTANT, (int64_t)(8 * skip));
			values_add_op(search, ops, CODE_OP_SHIFT_RIGHT, 0);
			values_add_op(search, ops, CODE_OP_WORD, (int64_t)num);
		} else {
			return values_leave_to_gdb(search,
						   "the compiler keeps it in registers, in pieces");
		}
	}
	return at < end ? values_leave_to_gdb(search, "the compiler keeps only a part of it") : 0;
}

/* An array whose counts come with its values. `type` is of an element. */
static int finish_array(struct values_search *search, struct values_place *place)
{
	struct values_found *ret = search->ret;

	ret->type = values_build(search, &place->type);
	if (!ret->type)
		return values_leave_to_gdb(search, "print does not read such elements");
	ret->num_dimensions = place->num_dimensions;
	values_add_op(search, &place->ops, CODE_OP_ELEMENTS, ret->type->size);
	set_probe(search, &place->ops, search->max_bytes, &ret->probe);
	return 1;
}

/* character(len=n), where n is known only when it runs. 0: it is none. */
static int finish_string(struct values_search *search, struct values_place *place)
{
	static const struct value_type character = {
		.kind = VALUE_CHARACTER, .size = 1, .name = "character"};
	Dwarf_Die die = place->type.die;
	Dwarf_Attribute property;
	const char *trouble;

	if (place->is_value || dwarf_tag(&die) != DW_TAG_string_type ||
	    !dwarf_attr(&die, DW_AT_string_length, &property))
		return 0;
	values_add_op(search, &place->ops, CODE_OP_CONSTANT, 1);
	trouble = values_compute_length(search, &die, &property, &place->ops);
	if (trouble)
		return values_leave_to_gdb(search, trouble);
	values_add_op(search, &place->ops, CODE_OP_CONSTANT, 1);
	values_add_op(search, &place->ops, CODE_OP_RANGE, 1);
	values_add_op(search, &place->ops, CODE_OP_ELEMENTS, 1);
	search->ret->type = &character;
	search->ret->num_dimensions = 1;
	set_probe(search, &place->ops, search->max_bytes, &search->ret->probe);
	return 1;
}

static void add_text(struct values_search *search, struct values_place *place)
{
	struct values_found *ret = search->ret;
	struct values_place text = *place;

	if (text.is_value && values_take_address(search, &text))
		return;
	if (!place->is_value)
		values_add_op(search, &text.ops, CODE_OP_LOAD, 8);
	values_add_op(search, &text.ops, CODE_OP_TEXT, TEXT_BYTES);
	ret->text = ret->probe;
	set_probe(search, &text.ops, TEXT_BYTES, &ret->text);
}

/* The list is the other's, too. */
static struct values_ops copy_ops(struct values_search *search, const struct values_ops *ops)
{
	struct values_ops copy = {.num = 0};

	values_add_ops(search, &copy, ops);
	return copy;
}

/* Its bounds or its size are known only when it runs. 0: they are not. */
static int finish_shape(struct values_search *search, struct values_place *place)
{
	struct values_shape shape;
	int result;

	if (place->type.is_void || !values_shape_of(search, &place->type, &shape))
		return 0;
	if (place->is_value)
		return values_leave_to_gdb(search, "the compiler keeps its bounds in pieces");
	result = values_begin(search, place);
	if (!result)
		result = values_take_rest(search, place, &shape, place->type.first_dimension);
	if (result)
		return result;
	place->type = (struct values_type){.die = shape.element};
	if (dwarf_peel_type(&place->type.die, &place->type.die))
		return values_leave_to_gdb(search, "print does not read such elements");
	return finish_array(search, place);
}

static int finish(struct values_search *search, struct values_place *place)
{
	struct values_found *ret = search->ret;
	struct values_ops ops;
	struct values_type inside;
	uint64_t offset;
	Dwarf_Word size;
	int result;

	if (place->num_dimensions)
		return finish_array(search, place);
	if (!place->is_value && values_unwrap(search, &place->type, true, &offset, &inside) &&
	    values_move(search, place, 1, offset))
		place->type = inside;
	result = place->type.is_void ? 0 : finish_string(search, place);
	if (result)
		return result;
	ret->type = values_build(search, &place->type);
	if (!ret->type && !dwarf_aggregate_size(&place->type.die, &size) &&
	    size > search->max_bytes)
		return values_give_up(search, "larger than print reads; print its members");
	if (!ret->type)
		return finish_shape(search, place)
			       ?: values_leave_to_gdb(search, "print does not read such a type");
	ops = copy_ops(search, &place->ops);
	if (place->is_value)
		result = gather(search, place, ret->type->size, &ops);
	else
		values_add_op(search, &ops, CODE_OP_BYTES, ret->type->size);
	if (result)
		return result;
	set_probe(search, &ops, ret->type->size, &ret->probe);
	if (ret->type->kind == VALUE_POINTER && ret->type->element)
		add_text(search, place);
	return 1;
}

/* ---- Variables ---- */

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

/* What it was in the caller, or what a pointer would lead to: it is nowhere itself. */
static bool is_former(const Dwarf_Op *ops, size_t num)
{
	return !num || ops[0].atom == DW_OP_entry_value || ops[0].atom == DW_OP_GNU_entry_value ||
	       ops[0].atom == DW_OP_implicit_pointer || ops[0].atom == DW_OP_GNU_implicit_pointer;
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
		if (end <= search->level.address && end > last && !is_former(ops, num))
			last = end;
	line = last ? dwarf_getsrc_die(&search->unit, last - 1) : NULL;
	file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	if (!file || dwarf_lineno(line, &number) || !number)
		return "optimized away here";
	return arena_printf(search->arena, "optimized away here; known until %s:%d",
			    maps_base(file), number);
}

/* In memory, or in pieces. */
static void set_place(struct values_place *place, const struct values_location *location)
{
	const struct values_piece *piece = &location->pieces[0];

	place->location = *location;
	place->is_value =
		location->num != 1 || piece->kind != VALUES_MEMORY || piece->size != UINT64_MAX;
	if (!place->is_value)
		place->ops = piece->ops;
}

int values_follow(struct values_search *search, Dwarf_Die *die, const struct expression *expression)
{
	struct values_place place = {.offset = 0};
	struct values_location location;
	Dwarf_Attribute attribute;
	const char *trouble;
	Dwarf_Op *ops;
	size_t num;
	int result;

	search->ret->variable = dwarf_dieoffset(die);
	if (!values_type_of(die, &place.type))
		return 0;
	if (!dwarf_attr_integrate(die, DW_AT_location, &attribute)) {
		if (!expression->num_steps && find_constant(search, die, &place.type))
			return 1;
		/* The definition is elsewhere. */
		if (dwarf_hasattr_integrate(die, DW_AT_declaration))
			return 0;
		return values_give_up(search, "optimized away");
	}
	if (dwarf_getlocation_addr(&attribute, search->level.address, &ops, &num, 1) != 1)
		return values_give_up(search, explain_absence(search, &attribute));
	trouble = values_locate(search, &search->level, &attribute, ops, num, &location);
	if (trouble && strncmp(trouble, "optimized away", 14) != 0)
		return values_leave_to_gdb(search, trouble);
	if (trouble || !location.num ||
	    (location.num == 1 && location.pieces[0].kind == VALUES_LOST))
		return values_give_up(search, explain_absence(search, &attribute));
	set_place(&place, &location);
	result = values_take_steps(search, &place, expression) ?: finish(search, &place);
	if (result == 1 && !search->ret->trouble && search->ret->probe.read.num_ops > CODE_MAX_OPS)
		return values_leave_to_gdb(search, "it takes too many operations");
	return result;
}
