/* SPDX-License-Identifier: BSD-3-Clause
 * DWARF's location expressions as operations of a read (model/job/code.h). The few that are left
 * out (branches, floating point arithmetic) are refused: no wrong value comes of them. */
#include <dwarf.h>

#include "attach/code/variables.h"
#include "attach/values/values_private.h"

enum { MAX_STACK = 32 };

const char values_not_understood[] = "pdb does not understand where it is";
const char values_changed[] = "in a register that the call may have changed";

/* Of numbers on the stack: so many bytes; 0: DWARF's own type, of addresses. */
struct number {
	uint8_t size;
	bool is_signed, is_float;
};

struct compiler {
	struct values_search *search;
	const struct values_level *level;
	Dwarf_Attribute *location;
	struct values_ops *ops;
	struct number stack[MAX_STACK];
	size_t num;
};

static void add(struct compiler *compiler, enum code_op_kind kind, int64_t operand)
{
	values_add_op(compiler->search, compiler->ops, kind, operand);
}

static const char *push(struct compiler *compiler, enum code_op_kind kind, int64_t operand)
{
	if (compiler->num == MAX_STACK)
		return values_not_understood;
	compiler->stack[compiler->num++] = (struct number){.size = 0};
	add(compiler, kind, operand);
	return NULL;
}

const char *values_check_register(const struct values_level *level, uint64_t reg)
{
	if (!level->function)
		return values_not_understood;
	if (!variables_is_integer_register(reg))
		return values_not_understood;
	return level->is_return && !variables_is_kept(reg) ? values_changed : NULL;
}

static const char *push_register(struct compiler *compiler, uint64_t reg, int64_t constant)
{
	const char *trouble = values_check_register(compiler->level, reg);

	if (trouble)
		return trouble;
	trouble = push(compiler, CODE_OP_REGISTER, (int64_t)reg);
	if (constant)
		add(compiler, CODE_OP_ADD_CONSTANT, constant);
	return trouble;
}

static const char *push_frame_base(struct compiler *compiler, int64_t constant)
{
	Dwarf_Attribute attribute;
	const char *trouble;
	Dwarf_Op *ops;
	uint64_t reg;
	size_t num;

	if (!compiler->level->function || compiler->search->is_in_base ||
	    !dwarf_attr_integrate(compiler->level->function, DW_AT_frame_base, &attribute) ||
	    dwarf_getlocation_addr(&attribute, compiler->level->address, &ops, &num, 1) != 1 ||
	    !num)
		return values_not_understood;
	if (num == 1 && values_is_register(&ops[0], &reg))
		return push_register(compiler, reg, constant);
	if (compiler->num == MAX_STACK)
		return values_not_understood;
	compiler->search->is_in_base = true;
	trouble = values_compute(compiler->search, compiler->level, &attribute, ops, num,
				 compiler->ops);
	compiler->search->is_in_base = false;
	compiler->stack[compiler->num++] = (struct number){.size = 0};
	add(compiler, CODE_OP_ADD_CONSTANT, constant);
	return trouble;
}

/* Of the address that the operation names; DWARF 5 has some in a table. */
static const char *push_address(struct compiler *compiler, const Dwarf_Op *op)
{
	Dwarf_Addr address = op->number;
	Dwarf_Attribute attribute;
	const char *trouble;

	if (op->atom != DW_OP_addr && (dwarf_getlocation_attr(compiler->location, op, &attribute) ||
				       dwarf_formaddr(&attribute, &address)))
		return values_not_understood;
	/* A read has one module. */
	if (compiler->level->file != compiler->search->level.file)
		return values_not_understood;
	trouble = push(compiler, CODE_OP_BIAS, 0);
	add(compiler, CODE_OP_ADD_CONSTANT, (int64_t)address);
	return trouble;
}

/* ---- Types ---- */

/* number: of the operand that names it. */
static bool take_type(struct compiler *compiler, const Dwarf_Op *op, bool is_generic,
		      struct number *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding;
	Dwarf_Die type;
	int size;

	*ret = (struct number){.size = 0};
	if (is_generic)
		return true;
	if (dwarf_getlocation_die(compiler->location, op, &type) ||
	    !dwarf_attr(&type, DW_AT_encoding, &attribute) ||
	    dwarf_formudata(&attribute, &encoding))
		return false;
	size = dwarf_bytesize(&type);
	ret->size = (uint8_t)size;
	ret->is_float = encoding == DW_ATE_float;
	ret->is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
	return size > 0 && size <= 8 &&
	       (ret->is_float || ret->is_signed || encoding == DW_ATE_unsigned ||
		encoding == DW_ATE_unsigned_char || encoding == DW_ATE_boolean);
}

/* Typed numbers are kept as 64 bits that have their value. */
static void normalize(struct compiler *compiler)
{
	const struct number *top = &compiler->stack[compiler->num - 1];

	if (top->size && top->size < 8 && !top->is_float)
		add(compiler, top->is_signed ? CODE_OP_SIGNED : CODE_OP_UNSIGNED, top->size);
}

static const char *convert(struct compiler *compiler, const Dwarf_Op *op, bool is_same_bits)
{
	struct number to, *top;

	if (!compiler->num || !take_type(compiler, op, !op->number, &to))
		return values_not_understood;
	top = &compiler->stack[compiler->num - 1];
	if ((top->is_float || to.is_float) &&
	    !(is_same_bits || (top->is_float && to.is_float && top->size == to.size)))
		return values_not_understood;
	*top = to;
	normalize(compiler);
	return NULL;
}

static const char *load(struct compiler *compiler, uint64_t size)
{
	if (!compiler->num || !size || size > 8)
		return values_not_understood;
	compiler->stack[compiler->num - 1] = (struct number){.size = 0};
	add(compiler, CODE_OP_LOAD, (int64_t)size);
	return NULL;
}

static const char *load_typed(struct compiler *compiler, const Dwarf_Op *op)
{
	const char *trouble = load(compiler, op->number);
	struct number type;

	if (trouble || !take_type(compiler, op, false, &type))
		return values_not_understood;
	compiler->stack[compiler->num - 1] = type;
	normalize(compiler);
	return NULL;
}

static const char *push_typed_register(struct compiler *compiler, const Dwarf_Op *op)
{
	const char *trouble = push_register(compiler, op->number, 0);
	struct number type;

	if (trouble)
		return trouble;
	if (!take_type(compiler, op, false, &type) || type.is_float)
		return values_not_understood;
	compiler->stack[compiler->num - 1] = type;
	normalize(compiler);
	return NULL;
}

static const char *push_typed_constant(struct compiler *compiler, const Dwarf_Op *op)
{
	struct number type;
	Dwarf_Block block;
	int64_t value = 0;
	Dwarf_Attribute attribute;
	const char *trouble;

	if (!take_type(compiler, op, false, &type) ||
	    dwarf_getlocation_attr(compiler->location, op, &attribute) ||
	    dwarf_formblock(&attribute, &block) || block.length > sizeof(value))
		return values_not_understood;
	memcpy(&value, block.data, block.length);
	trouble = push(compiler, CODE_OP_CONSTANT, value);
	if (trouble)
		return trouble;
	compiler->stack[compiler->num - 1] = type;
	normalize(compiler);
	return NULL;
}

/* ---- Operations ---- */

static const struct {
	uint8_t atom, kind;
} calculations[] = {
	{DW_OP_plus, CODE_OP_ADD},
	{DW_OP_minus, CODE_OP_SUBTRACT},
	{DW_OP_mul, CODE_OP_MULTIPLY},
	{DW_OP_div, CODE_OP_DIVIDE},
	{DW_OP_mod, CODE_OP_MODULO},
	{DW_OP_and, CODE_OP_AND},
	{DW_OP_or, CODE_OP_OR},
	{DW_OP_xor, CODE_OP_XOR},
	{DW_OP_shl, CODE_OP_SHIFT_LEFT},
	{DW_OP_shr, CODE_OP_SHIFT_RIGHT},
	{DW_OP_shra, CODE_OP_SHIFT_RIGHT_SIGNED},
	{DW_OP_eq, CODE_OP_EQUAL},
	{DW_OP_ne, CODE_OP_NOT_EQUAL},
	{DW_OP_lt, CODE_OP_LESS},
	{DW_OP_le, CODE_OP_LESS_EQUAL},
	{DW_OP_gt, CODE_OP_GREATER},
	{DW_OP_ge, CODE_OP_GREATER_EQUAL},
};

static bool find_calculation(uint8_t atom, enum code_op_kind *ret)
{
	for (size_t i = 0; i < sizeof(calculations) / sizeof(calculations[0]); i++)
		if (calculations[i].atom == atom) {
			*ret = (enum code_op_kind)calculations[i].kind;
			return true;
		}
	return false;
}

static const char *calculate(struct compiler *compiler, enum code_op_kind kind)
{
	struct number *left, *right;
	bool has_sign = kind == CODE_OP_DIVIDE || kind == CODE_OP_MODULO ||
			kind == CODE_OP_SHIFT_RIGHT || kind == CODE_OP_SHIFT_RIGHT_SIGNED ||
			kind >= CODE_OP_EQUAL;
	bool is_shift = kind == CODE_OP_SHIFT_LEFT || kind == CODE_OP_SHIFT_RIGHT ||
			kind == CODE_OP_SHIFT_RIGHT_SIGNED;

	if (compiler->num < 2)
		return values_not_understood;
	right = &compiler->stack[--compiler->num];
	left = right - 1;
	if (left->is_float || right->is_float ||
	    (!is_shift && (left->size != right->size || left->is_signed != right->is_signed)) ||
	    /* Here numbers of 64 bits are signed. Shifts to the right need all bits. */
	    (has_sign && left->size == 8 && !left->is_signed) ||
	    (left->size && (kind == CODE_OP_SHIFT_RIGHT || kind == CODE_OP_MODULO)))
		return values_not_understood;
	add(compiler, kind, 0);
	normalize(compiler);
	if (kind >= CODE_OP_EQUAL)
		*left = (struct number){.size = 0};
	return NULL;
}

static const char *with_constant(struct compiler *compiler, enum code_op_kind kind,
				 int64_t constant)
{
	if (!compiler->num || compiler->stack[compiler->num - 1].is_float)
		return values_not_understood;
	add(compiler, CODE_OP_CONSTANT, constant);
	if (kind == CODE_OP_SUBTRACT)
		add(compiler, CODE_OP_SWAP, 0);
	add(compiler, kind, 0);
	normalize(compiler);
	return NULL;
}

static const char *rearrange(struct compiler *compiler, const Dwarf_Op *op)
{
	struct number *end = compiler->stack + compiler->num, number;
	size_t depth = op->atom == DW_OP_dup ? 0 : op->atom == DW_OP_over ? 1 : (size_t)op->number;

	switch (op->atom) {
	case DW_OP_dup:
	case DW_OP_over:
	case DW_OP_pick:
		if (depth >= compiler->num)
			return values_not_understood;
		number = end[-1 - (ptrdiff_t)depth];
		if (push(compiler, CODE_OP_PICK, (int64_t)depth))
			return values_not_understood;
		*end = number;
		return NULL;
	case DW_OP_drop:
		if (!compiler->num)
			return values_not_understood;
		compiler->num--;
		add(compiler, CODE_OP_DROP, 0);
		return NULL;
	case DW_OP_swap:
		if (compiler->num < 2)
			return values_not_understood;
		number = end[-1];
		end[-1] = end[-2];
		end[-2] = number;
		add(compiler, CODE_OP_SWAP, 0);
		return NULL;
	default: /* rot */
		if (compiler->num < 3)
			return values_not_understood;
		number = end[-1];
		end[-1] = end[-2];
		end[-2] = end[-3];
		end[-3] = number;
		add(compiler, CODE_OP_ROTATE, 0);
		return NULL;
	}
}

/* What was in the register as the function was called. Where it was in the caller's memory, that
 * may have changed since. */
static const char *push_passed(struct compiler *compiler, uint64_t reg)
{
	static const char unknown[] = "optimized away: its caller does not tell what it was";
	struct values_level above;
	Dwarf_Attribute value;
	const char *trouble;
	Dwarf_Die function;
	size_t num, before;
	Dwarf_Op *ops;

	if (!values_find_passed(compiler->search, compiler->level, reg, &above, &function,
				&value) ||
	    dwarf_getlocation_addr(&value, above.address, &ops, &num, 1) != 1)
		return unknown;
	add(compiler, CODE_OP_FRAME, (int64_t)above.up);
	before = compiler->ops->num;
	trouble = values_compute(compiler->search, &above, &value, ops, num, compiler->ops);
	for (size_t i = before; i < compiler->ops->num && !trouble; i++)
		if (compiler->ops->list[i].kind == CODE_OP_LOAD)
			trouble = unknown;
	add(compiler, CODE_OP_FRAME, (int64_t)compiler->level->up);
	return trouble;
}

static const char *push_entry(struct compiler *compiler, const Dwarf_Op *op)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	uint64_t reg;
	size_t num;

	if (dwarf_getlocation_attr(compiler->location, op, &attribute) ||
	    dwarf_getlocation(&attribute, &ops, &num) || num != 1 ||
	    !values_is_register(&ops[0], &reg) || compiler->num == MAX_STACK)
		return values_not_understood;
	compiler->stack[compiler->num++] = (struct number){.size = 0};
	return push_passed(compiler, reg);
}

static const char *push_thread(struct compiler *compiler)
{
	if (!compiler->num || compiler->level->file != compiler->search->level.file)
		return values_not_understood;
	add(compiler, CODE_OP_THREAD, 0);
	return NULL;
}

static const char *apply(struct compiler *compiler, const Dwarf_Op *op)
{
	enum code_op_kind kind;

	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push(compiler, CODE_OP_CONSTANT, op->atom - DW_OP_lit0);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return push_register(compiler, op->atom - DW_OP_breg0, (int64_t)op->number);
	/* Constants of all sizes. */
	if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
		return push(compiler, CODE_OP_CONSTANT, (int64_t)op->number);
	if (find_calculation(op->atom, &kind))
		return calculate(compiler, kind);
	switch (op->atom) {
	case DW_OP_addr:
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		return push_address(compiler, op);
	case DW_OP_bregx:
		return push_register(compiler, op->number, (int64_t)op->number2);
	case DW_OP_fbreg:
		return push_frame_base(compiler, (int64_t)op->number);
	case DW_OP_call_frame_cfa:
		if (!compiler->level->function)
			return values_not_understood;
		return push(compiler, CODE_OP_REGISTER, CODE_CFA);
	case DW_OP_push_object_address:
		return push(compiler, CODE_OP_PUSH_OBJECT, 0);
	case DW_OP_plus_uconst:
		return with_constant(compiler, CODE_OP_ADD, (int64_t)op->number);
	case DW_OP_neg:
		return with_constant(compiler, CODE_OP_SUBTRACT, 0);
	case DW_OP_not:
		return with_constant(compiler, CODE_OP_XOR, -1);
	case DW_OP_dup:
	case DW_OP_over:
	case DW_OP_pick:
	case DW_OP_drop:
	case DW_OP_swap:
	case DW_OP_rot:
		return rearrange(compiler, op);
	case DW_OP_deref:
		return load(compiler, 8);
	case DW_OP_deref_size:
		return load(compiler, op->number);
	case DW_OP_deref_type:
	case DW_OP_GNU_deref_type:
		return load_typed(compiler, op);
	case DW_OP_regval_type:
	case DW_OP_GNU_regval_type:
		return push_typed_register(compiler, op);
	case DW_OP_const_type:
	case DW_OP_GNU_const_type:
		return push_typed_constant(compiler, op);
	case DW_OP_convert:
	case DW_OP_GNU_convert:
	case DW_OP_reinterpret:
	case DW_OP_GNU_reinterpret:
		return convert(compiler, op,
			       op->atom == DW_OP_reinterpret || op->atom == DW_OP_GNU_reinterpret);
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return push_entry(compiler, op);
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address:
		return push_thread(compiler);
	case DW_OP_nop:
		return NULL;
	default:
		return values_not_understood;
	}
}

const char *values_compute(struct values_search *search, const struct values_level *level,
			   Dwarf_Attribute *location, const Dwarf_Op *ops, size_t num,
			   struct values_ops *ret)
{
	struct compiler compiler = {
		.search = search, .level = level, .location = location, .ops = ret};
	const char *trouble = NULL;

	for (size_t i = 0; i < num && !trouble; i++) {
		if (ret->num >= CODE_MAX_OPS)
			return "the debug information has too long a description of it";
		trouble = apply(&compiler, &ops[i]);
	}
	return trouble ? trouble : compiler.num ? NULL : values_not_understood;
}
