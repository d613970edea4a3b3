/* SPDX-License-Identifier: BSD-3-Clause
 * Where variables are, in one piece or in several, and what the properties of types are. */
#include <dwarf.h>

#include "attach/values/values_private.h"

enum { MAX_PIECES = 64 };

/* "xmm0" is the first on x86-64, "v0" on AArch64. */
static bool is_vector(uint64_t reg, unsigned int *ret)
{
#if defined(__x86_64__)
	*ret = (unsigned int)(reg - 17);
	return reg >= 17 && reg < 33;
#else
	*ret = (unsigned int)(reg - 64);
	return reg >= 64 && reg < 96;
#endif
}

static const char *locate_register(struct values_search *search, const struct values_level *level,
				   uint64_t reg, struct values_piece *piece)
{
	const char *trouble;

	piece->kind = VALUES_VALUE;
	if (is_vector(reg, &piece->vector)) {
		piece->kind = VALUES_VECTOR;
		piece->ops.has_registers = true;
		return !level->function                    ? values_not_understood
		       : level->is_return || level->up > 0 ? values_changed
							   : NULL;
	}
	trouble = values_check_register(level, reg);
	values_add_op(search, &piece->ops, CODE_OP_REGISTER, (int64_t)reg);
	return trouble;
}

static const char *locate_piece(struct values_search *search, const struct values_level *level,
				Dwarf_Attribute *location, const Dwarf_Op *ops, size_t num,
				struct values_piece *piece)
{
	bool is_value = num && ops[num - 1].atom == DW_OP_stack_value;
	unsigned int vector;
	uint64_t reg;

	piece->kind = VALUES_LOST;
	if (!num)
		return NULL;
	if (ops[0].atom == DW_OP_implicit_pointer || ops[0].atom == DW_OP_GNU_implicit_pointer)
		return NULL;
	if (num == 1 && values_is_register(&ops[0], &reg))
		return locate_register(search, level, reg, piece);
	if (is_value && num == 2 &&
	    (ops[0].atom == DW_OP_regval_type || ops[0].atom == DW_OP_GNU_regval_type) &&
	    is_vector(ops[0].number, &vector))
		return locate_register(search, level, ops[0].number, piece);
	piece->kind = is_value ? VALUES_VALUE : VALUES_MEMORY;
	return values_compute(search, level, location, ops, num - is_value, &piece->ops);
}

/* Bytes that the debug information itself has. */
static const char *locate_implicit(struct values_search *search, Dwarf_Attribute *location,
				   const Dwarf_Op *op, struct values_location *ret)
{
	Dwarf_Block block;

	if (dwarf_getlocation_implicit_value(location, op, &block) ||
	    block.length > 8 * (size_t)MAX_PIECES)
		return values_not_understood;
	for (size_t at = 0; at < block.length; at += 8) {
		struct values_piece piece = {.kind = VALUES_VALUE,
					     .size = block.length - at < 8 ? block.length - at : 8};
		int64_t word = 0;

		memcpy(&word, block.data + at, piece.size);
		values_add_op(search, &piece.ops, CODE_OP_CONSTANT, word);
		*ARENA_PUSH(search->arena, ret->pieces, ret->num, ret->capacity) = piece;
	}
	return NULL;
}

const char *values_locate(struct values_search *search, const struct values_level *level,
			  Dwarf_Attribute *location, const Dwarf_Op *ops, size_t num,
			  struct values_location *ret)
{
	size_t first = 0;

	*ret = (struct values_location){.num = 0};
	if (num == 1 && ops[0].atom == DW_OP_implicit_value)
		return locate_implicit(search, location, &ops[0], ret);
	for (size_t i = 0; i <= num; i++) {
		struct values_piece piece = {.size = UINT64_MAX};
		const char *trouble;

		if (i < num && ops[i].atom == DW_OP_bit_piece)
			return values_not_understood;
		if (i < num && ops[i].atom != DW_OP_piece)
			continue;
		if (i == num && first == num && ret->num)
			break;
		if (ret->num == MAX_PIECES)
			return values_not_understood;
		trouble = locate_piece(search, level, location, ops + first, i - first, &piece);
		if (trouble)
			return trouble;
		if (i < num)
			piece.size = ops[i].number;
		*ARENA_PUSH(search->arena, ret->pieces, ret->num, ret->capacity) = piece;
		first = i + 1;
		if (i < num && first == num)
			break;
	}
	return NULL;
}

/* ---- Properties of types ---- */

/* Of a variable, most often one that the compiler has made up. */
static const char *compute_variable(struct values_search *search, Dwarf_Die *variable,
				    struct values_ops *ret)
{
	struct values_location location;
	Dwarf_Attribute attribute;
	struct values_type type;
	const char *trouble;
	int64_t encoding = 0;
	Dwarf_Word size;
	Dwarf_Op *ops;
	size_t num;

	if (dwarf_attr_integrate(variable, DW_AT_const_value, &attribute)) {
		Dwarf_Sword value;

		if (dwarf_formsdata(&attribute, &value))
			return values_not_understood;
		values_add_op(search, ret, CODE_OP_CONSTANT, value);
		return NULL;
	}
	if (!values_type_of(variable, &type) || dwarf_aggregate_size(&type.die, &size) || !size ||
	    size > 8)
		return values_not_understood;
	values_constant_of(&type.die, DW_AT_encoding, &encoding);
	if (!dwarf_attr_integrate(variable, DW_AT_location, &attribute) ||
	    dwarf_getlocation_addr(&attribute, search->level.address, &ops, &num, 1) != 1)
		return "its bounds are optimized away here";
	trouble = values_locate(search, &search->level, &attribute, ops, num, &location);
	if (trouble)
		return trouble;
	if (location.num != 1 || location.pieces[0].kind == VALUES_VECTOR)
		return values_not_understood;
	if (location.pieces[0].kind == VALUES_LOST)
		return "its bounds are optimized away here";
	values_add_ops(search, ret, &location.pieces[0].ops);
	if (location.pieces[0].kind == VALUES_MEMORY)
		values_add_op(search, ret, CODE_OP_LOAD, (int64_t)size);
	values_add_op(search, ret, encoding == DW_ATE_signed ? CODE_OP_SIGNED : CODE_OP_UNSIGNED,
		      (int64_t)size);
	return NULL;
}

const char *values_compute_property(struct values_search *search, Dwarf_Attribute *property,
				    struct values_ops *ret)
{
	Dwarf_Sword constant;
	Dwarf_Die variable;
	Dwarf_Op *ops;
	size_t num;

	if (!dwarf_formsdata(property, &constant)) {
		values_add_op(search, ret, CODE_OP_CONSTANT, constant);
		return NULL;
	}
	if (dwarf_formref_die(property, &variable))
		return compute_variable(search, &variable, ret);
	if (dwarf_getlocation_addr(property, search->level.address, &ops, &num, 1) == 1)
		return values_compute(search, &search->level, property, ops, num, ret);
	return "its bounds are optimized away here";
}

/* The property is a variable, or an expression that says where the number is. */
const char *values_compute_length(struct values_search *search, Dwarf_Die *type,
				  Dwarf_Attribute *property, struct values_ops *ret)
{
	Dwarf_Die variable;
	const char *trouble;
	int64_t size = 8;

	if (dwarf_formref_die(property, &variable))
		return compute_variable(search, &variable, ret);
	if (!values_constant_of(type, DW_AT_string_length_byte_size, &size))
		values_constant_of(type, DW_AT_byte_size, &size);
	trouble = values_compute_property(search, property, ret);
	values_add_op(search, ret, CODE_OP_LOAD, size);
	return trouble;
}
