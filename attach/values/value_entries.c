/* SPDX-License-Identifier: BSD-3-Clause
 * Small readers of debug information's entries, and lists of operations. */
#include <dwarf.h>
#include <strings.h>

#include "attach/values/values_private.h"

struct debug_file *values_file(struct debug_modules *modules, uint32_t module)
{
	struct debug_files *files = debug_modules_get(modules, module);

	if (!files)
		return NULL;
	return debug_file_dwarf(&files->main)       ? &files->main
	       : debug_file_dwarf(&files->separate) ? &files->separate
						    : NULL;
}

bool values_name_is(Dwarf_Die *die, const char *name, bool is_fortran)
{
	const char *own = dwarf_diename(die);

	return own && (is_fortran ? !strcasecmp(own, name) : !strcmp(own, name));
}

bool values_type_of(Dwarf_Die *die, struct values_type *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type;

	*ret = (struct values_type){.is_void = true};
	if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) ||
	    !dwarf_formref_die(&attribute, &type) || dwarf_peel_type(&type, &ret->die))
		return false;
	ret->is_void = false;
	return true;
}

bool values_constant_of(Dwarf_Die *die, unsigned int name, int64_t *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Sword value;

	if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formsdata(&attribute, &value))
		return false;
	*ret = value;
	return true;
}

bool values_is_register(const Dwarf_Op *op, uint64_t *ret)
{
	*ret = op->atom == DW_OP_regx ? op->number : op->atom - (uint64_t)DW_OP_reg0;
	return op->atom == DW_OP_regx || (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31);
}

void values_add_op(struct values_search *search, struct values_ops *ops, enum code_op_kind kind,
		   int64_t operand)
{
	*ARENA_PUSH(search->arena, ops->list, ops->num, ops->capacity) =
		(struct code_op){.kind = (uint8_t)kind, .operand = operand};
	ops->has_registers |= kind == CODE_OP_REGISTER;
}

void values_add_ops(struct values_search *search, struct values_ops *ops,
		    const struct values_ops *more)
{
	for (size_t i = 0; i < more->num; i++)
		values_add_op(search, ops, (enum code_op_kind)more->list[i].kind,
			      more->list[i].operand);
	ops->has_registers |= more->has_registers;
}
