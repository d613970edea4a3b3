/* SPDX-License-Identifier: BSD-3-Clause */
#include <dwarf.h>

#include "attach/code/code_private.h"
#include "attach/code/variables.h"
#include "attach/process/maps.h"

#define MAX_DEPTH 64         /* of nested scopes */
#define STACK_SIZE 8         /* of location expressions */
#define MAX_LOCATIONS 100000 /* of all variables of a function */

struct reading {
	struct code_variables *variables;
	size_t capacity;
	size_t num_looks; /* at locations */
	Dwarf_Off seen;   /* entries up to there */
	bool is_fortran;
	bool has_frame_base;
	struct code_value frame_base;
};

/* ---- Location expressions ---- */

/* What the expression has on its stack: sums, as everything that is understood. */
struct stack {
	struct code_value values[STACK_SIZE];
	size_t num;
	unsigned int valid; /* so many low bytes of them are right: they should have been cut */
};

static bool is_size(int size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static bool push(struct stack *stack, struct code_value value)
{
	if (stack->num == STACK_SIZE || !value.is_known)
		return false;
	stack->values[stack->num++] = value;
	return true;
}

static bool push_register(struct stack *stack, uint64_t reg, int64_t constant)
{
	if (reg >= CODE_CFA)
		return false;
	struct code_value value = code_copy(code_register((unsigned int)reg, 8));
	value.constant = constant;
	return push(stack, value);
}

/* The value in memory at the address that is on top. */
static bool load(struct stack *stack, unsigned int size)
{
	if (!stack->num || stack->valid < 8 || !is_size((int)size))
		return false;
	struct code_value *top = &stack->values[stack->num - 1];
	if (top->num_terms != 1 || top->terms[0].factor != 1 || top->shift ||
	    top->terms[0].place.kind != CODE_REGISTER)
		return false;
	*top = code_copy(code_memory(top->terms[0].place.reg, top->constant, size));
	return true;
}

static bool add(struct stack *stack, int64_t factor)
{
	if (stack->num < 2)
		return false;
	struct code_value *left = &stack->values[--stack->num - 1];
	code_add(left, left + 1, factor);
	return left->is_known;
}

static bool multiply(struct code_value *value, int64_t by)
{
	if (value->shift)
		return false;
	for (unsigned int i = 0; i < value->num_terms; i++)
		if (__builtin_mul_overflow(value->terms[i].factor, by, &value->terms[i].factor))
			return false;
	return !__builtin_mul_overflow(value->constant, by, &value->constant);
}

/* Cut to low bytes: what is in one place is. Else what follows must not depend on the others. */
static void cut(struct stack *stack, unsigned int size, bool is_signed)
{
	struct code_value *value = &stack->values[stack->num - 1];
	struct code_place *place = &value->terms[0].place;

	if (value->num_terms != 1 || value->terms[0].factor != 1 || value->constant ||
	    value->shift) {
		if (size < stack->valid)
			stack->valid = size;
	} else if (size < place->size) {
		place->size = (uint8_t)size;
		place->is_signed = is_signed;
	}
}

/* An operation with a constant on top of the stack. */
static bool apply_constant(struct stack *stack, uint8_t operation)
{
	if (stack->num < 2 || stack->values[stack->num - 1].num_terms)
		return false;
	int64_t by = stack->values[--stack->num].constant;
	struct code_value *value = &stack->values[stack->num - 1];
	switch (operation) {
	case DW_OP_mul:
		return multiply(value, by);
	case DW_OP_shl:
		return by >= 0 && by < 63 && multiply(value, INT64_C(1) << by);
	case DW_OP_and:
		if (by != UINT32_MAX && by != UINT16_MAX && by != UINT8_MAX)
			return false;
		cut(stack, by == UINT32_MAX ? 4 : by == UINT16_MAX ? 2 : 1, false);
		return true;
	case DW_OP_div: {
		int shift = __builtin_ctzll((uint64_t)(by ? by : 1));

		if (stack->valid < 8 || by < 1 || by != INT64_C(1) << shift || value->shift)
			return false;
		value->shift = (uint8_t)shift;
		return true;
	}
	default: /* shr, shra */
		if (stack->valid < 8 || by < 0 || by > 63 || value->shift)
			return false;
		value->shift = (uint8_t)by;
		value->is_unsigned = operation == DW_OP_shr;
		return true;
	}
}

/* To another type, by its entry; 0 is the one of addresses. */
static bool convert(struct stack *stack, Dwarf_Attribute *location, const Dwarf_Op *op)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding;
	Dwarf_Die type;

	if (!stack->num)
		return false;
	if (!op->number)
		return true;
	if (dwarf_getlocation_die(location, op, &type) ||
	    !dwarf_attr(&type, DW_AT_encoding, &attribute) ||
	    dwarf_formudata(&attribute, &encoding) ||
	    (encoding != DW_ATE_signed && encoding != DW_ATE_unsigned))
		return false;
	int size = dwarf_bytesize(&type);
	if (!is_size(size))
		return false;
	cut(stack, (unsigned int)size, encoding == DW_ATE_signed);
	return true;
}

static bool apply(const struct reading *reading, struct stack *stack, Dwarf_Attribute *location,
		  const Dwarf_Op *op)
{
	struct code_value base;

	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push(stack, code_constant(op->atom - DW_OP_lit0));
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return push_register(stack, op->atom - DW_OP_breg0, (int64_t)op->number);
	/* Constants of all sizes. */
	if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
		return push(stack, code_constant((int64_t)op->number));
	switch (op->atom) {
	case DW_OP_bregx:
		return push_register(stack, op->number, (int64_t)op->number2);
	case DW_OP_fbreg:
		base = reading->frame_base;
		return reading->has_frame_base &&
		       !__builtin_add_overflow(base.constant, (int64_t)op->number,
					       &base.constant) &&
		       push(stack, base);
	case DW_OP_call_frame_cfa:
		return push(stack, code_copy(code_register(CODE_CFA, 8)));
	case DW_OP_plus_uconst:
		if (!stack->num || stack->values[stack->num - 1].shift)
			return false;
		return !__builtin_add_overflow(stack->values[stack->num - 1].constant,
					       (int64_t)op->number,
					       &stack->values[stack->num - 1].constant);
	case DW_OP_plus:
		return add(stack, 1);
	case DW_OP_minus:
		return add(stack, -1);
	case DW_OP_neg:
		return stack->num && multiply(&stack->values[stack->num - 1], -1);
	case DW_OP_mul:
	case DW_OP_shl:
	case DW_OP_and:
	case DW_OP_div:
	case DW_OP_shr:
	case DW_OP_shra:
		return apply_constant(stack, op->atom);
	case DW_OP_deref:
		return load(stack, 8);
	case DW_OP_deref_size:
		return load(stack, (unsigned int)op->number);
	case DW_OP_convert:
	case DW_OP_GNU_convert:
		return convert(stack, location, op);
	case DW_OP_nop:
		return true;
	default:
		return false;
	}
}

/* Leaves on the stack the value, or else its address. False: of another form. */
static bool evaluate(const struct reading *reading, Dwarf_Attribute *location, const Dwarf_Op *ops,
		     size_t num, struct stack *stack, bool *is_value_ret)
{
	*is_value_ret = false;
	for (size_t i = 0; i < num; i++) {
		if (*is_value_ret)
			return false;
		if (ops[i].atom == DW_OP_stack_value)
			*is_value_ret = true;
		else if (!apply(reading, stack, location, &ops[i]))
			return false;
	}
	return stack->num > 0;
}

static bool is_register(const Dwarf_Op *ops, size_t num)
{
	return num == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31;
}

static bool read_expression(const struct reading *reading, Dwarf_Attribute *location,
			    const Dwarf_Op *ops, size_t num, unsigned int size,
			    struct code_value *ret)
{
	struct stack stack = {.num = 0, .valid = 8};
	bool is_value;

	if (is_register(ops, num)) {
		*ret = code_copy(code_register(ops[0].atom - DW_OP_reg0, size));
		return true;
	}
	if (!evaluate(reading, location, ops, num, &stack, &is_value) ||
	    (is_value ? stack.valid < size : !load(&stack, size)))
		return false;
	*ret = stack.values[stack.num - 1];
	return ret->is_known && ret->num_terms > 0;
}

/* ---- Variables ---- */

static bool is_integer(Dwarf_Die *die, unsigned int *size_ret, bool *is_signed_ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type;
	Dwarf_Word encoding;

	if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) ||
	    !dwarf_formref_die(&attribute, &type) || dwarf_peel_type(&type, &type) ||
	    dwarf_tag(&type) != DW_TAG_base_type ||
	    !dwarf_attr_integrate(&type, DW_AT_encoding, &attribute) ||
	    dwarf_formudata(&attribute, &encoding))
		return false;
	int size = dwarf_bytesize(&type);
	if (!is_size(size))
		return false;
	*size_ret = (unsigned int)size;
	*is_signed_ret = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
	return *is_signed_ret || encoding == DW_ATE_unsigned || encoding == DW_ATE_unsigned_char;
}

static void add_location(struct code_variable *variable, size_t *capacity, uint64_t begin,
			 uint64_t end, const struct code_value *value)
{
	*XPUSH(variable->locations, variable->num_locations, *capacity) =
		(struct code_location){{begin, end}, *value};
}

/* One location for all addresses of the scope. */
static void add_for_scope(struct reading *reading, struct code_variable *variable, size_t *capacity,
			  Dwarf_Die *scope, const struct code_value *value)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t offset = 0;

	while (reading->num_looks++ < MAX_LOCATIONS &&
	       (offset = dwarf_ranges(scope, offset, &base, &begin, &end)) > 0)
		add_location(variable, capacity, begin, end, value);
}

static void read_variable(struct reading *reading, Dwarf_Die *die, Dwarf_Die *scope)
{
	struct code_variables *variables = reading->variables;
	struct code_variable variable = {.is_protected = reading->is_fortran};
	const char *name = dwarf_diename(die), *file;
	Dwarf_Addr base, begin, end;
	Dwarf_Attribute attribute;
	struct code_value value;
	unsigned int bytes;
	ptrdiff_t offset = 0;
	size_t capacity = 0, num;
	Dwarf_Op *ops;

	if (!name || dwarf_hasattr(die, DW_AT_artificial) ||
	    !is_integer(die, &bytes, &variable.is_signed) ||
	    !dwarf_attr_integrate(die, DW_AT_location, &attribute))
		return;
	variable.size = (uint8_t)bytes;
	while (reading->num_looks++ < MAX_LOCATIONS &&
	       (offset = dwarf_getlocations(&attribute, offset, &base, &begin, &end, &ops, &num)) >
		       0) {
		if (!read_expression(reading, &attribute, ops, num, bytes, &value))
			continue;
		if (begin == 0 && end == (Dwarf_Addr)-1)
			add_for_scope(reading, &variable, &capacity, scope, &value);
		else
			add_location(&variable, &capacity, begin, end, &value);
	}
	if (!variable.num_locations)
		return;
	variable.name = xstrdup(name);
	file = dwarf_decl_file(die);
	variable.file = file ? xstrdup(maps_base(file)) : NULL;
	dwarf_decl_line(die, &variable.line);
	*XPUSH(variables->variables, variables->num_variables, reading->capacity) = variable;
}

/* A damaged file may have an entry in two scopes, and each of these in two: none is read twice. */
static void read_scope(struct reading *reading, Dwarf_Die *scope, Dwarf_Die *with_ranges,
		       unsigned int depth)
{
	Dwarf_Die child;

	if (depth == MAX_DEPTH || dwarf_child(scope, &child))
		return;
	do {
		if (dwarf_dieoffset(&child) <= reading->seen)
			return;
		reading->seen = dwarf_dieoffset(&child);
		switch (dwarf_tag(&child)) {
		case DW_TAG_variable:
		case DW_TAG_formal_parameter:
			read_variable(reading, &child, with_ranges);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
			read_scope(reading, &child,
				   dwarf_hasattr(&child, DW_AT_ranges) ||
						   dwarf_hasattr(&child, DW_AT_low_pc)
					   ? &child
					   : with_ranges,
				   depth + 1);
			break;
		default:
			break;
		}
	} while (debug_file_next(&child, &child));
}

static void read_frame_base(struct reading *reading, Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t num;

	if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) ||
	    dwarf_getlocation(&attribute, &ops, &num) || num != 1)
		return;
	reading->has_frame_base = ops[0].atom == DW_OP_call_frame_cfa ||
				  (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31);
	reading->frame_base = code_copy(code_register(
		ops[0].atom == DW_OP_call_frame_cfa ? CODE_CFA : ops[0].atom - DW_OP_reg0, 8));
}

struct code_variables *variables_read(struct debug_file *file, const struct code_function *function)
{
	struct reading reading = {.variables = xcalloc(1, sizeof(*reading.variables))};
	struct debug_functions functions;

	if (!debug_file_functions(file, function->entry, &functions) || !functions.num)
		return reading.variables;
	reading.is_fortran = debug_file_is_fortran(&functions.unit);
	reading.variables->has_debug_info = true;
	read_frame_base(&reading, &functions.list[0]);
	read_scope(&reading, &functions.list[0], &functions.list[0], 0);
	return reading.variables;
}

#if defined(__x86_64__)
static const struct code_machine *const machine = &code_machine_x86;
#define NUM_REGISTERS 16 /* that are integers, by DWARF's numbers; vector registers follow */
#else
static const struct code_machine *const machine = &code_machine_arm64;
#define NUM_REGISTERS 32
#endif

bool variables_is_integer_register(uint64_t reg)
{
	return reg < NUM_REGISTERS;
}

bool variables_is_kept(uint64_t reg)
{
	return reg < NUM_REGISTERS && machine->preserved >> reg & 1;
}

/* Of the address that the first operation names; DWARF 5 has some in a table. */
static bool is_address(Dwarf_Attribute *location, const Dwarf_Op *op, Dwarf_Addr *ret)
{
	Dwarf_Attribute address;

	*ret = op->number;
	if (op->atom == DW_OP_addr)
		return true;
	return (op->atom == DW_OP_addrx || op->atom == DW_OP_GNU_addr_index) &&
	       !dwarf_getlocation_attr(location, op, &address) && !dwarf_formaddr(&address, ret);
}

bool variables_locate(Dwarf_Die *function, Dwarf_Attribute *location, const Dwarf_Op *ops,
		      size_t num, struct variables_location *ret)
{
	struct stack stack = {.num = 0, .valid = 8};
	struct reading reading = {.variables = NULL};
	Dwarf_Addr address;

	*ret = (struct variables_location){.is_value = true};
	if (is_register(ops, num)) {
		ret->value = code_copy(code_register(ops[0].atom - DW_OP_reg0, 8));
		return true;
	}
	ret->is_global = num > 0 && is_address(location, &ops[0], &address);
	if (ret->is_global) {
		push(&stack, code_constant((int64_t)address));
		ops++;
		num--;
	}
	if (function)
		read_frame_base(&reading, function);
	if (!evaluate(&reading, location, ops, num, &stack, &ret->is_value) || stack.valid < 8)
		return false;
	ret->value = stack.values[stack.num - 1];
	/* A constant is a value, and a global address has no registers. */
	return ret->value.is_known &&
	       (ret->value.num_terms ? !ret->is_global : ret->is_global || ret->is_value);
}
