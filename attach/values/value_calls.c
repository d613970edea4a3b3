/* SPDX-License-Identifier: BSD-3-Clause
 * What a function was given in a register, from the debug information of the call that it is in.
 * That holds only if the call is of this function itself: one that was jumped to at the end of
 * another has been given something else. */
#include <dwarf.h>

#include "attach/values/values_private.h"

enum { MAX_SCOPES = 64 };

static bool is_call(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_call_site || dwarf_tag(die) == DW_TAG_GNU_call_site;
}

static bool is_tail_call(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_call_tail_call) || dwarf_hasattr(die, DW_AT_GNU_tail_call);
}

/* The calls of a function and of what is inlined there: the one that returns to the address; or, if
 * that is 0, any that is the last thing the function does. */
static bool find_call(struct debug_file *file, Dwarf_Die *scope, Dwarf_Addr address, int depth,
		      Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr returns;
	Dwarf_Die child;

	if (depth == MAX_SCOPES || dwarf_child(scope, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (!debug_file_look(file))
			return false;
		if (is_call(&child)) {
			bool is_it =
				!address ? is_tail_call(&child)
					 : (dwarf_attr(&child, DW_AT_call_return_pc, &attribute) ||
					    dwarf_attr(&child, DW_AT_low_pc, &attribute)) &&
						   !dwarf_formaddr(&attribute, &returns) &&
						   returns == address && !is_tail_call(&child);
			if (is_it) {
				*ret = child;
				return true;
			}
		} else if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
			   find_call(file, &child, address, depth + 1, ret)) {
			return true;
		}
	} while (debug_file_next(&child, &child));
	return false;
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(die);
}

/* Does the call lead to the function? */
static bool is_call_of(Dwarf_Die *call, Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Die callee, origin;
	const char *name, *own;

	if ((!dwarf_attr(call, DW_AT_call_origin, &attribute) &&
	     !dwarf_attr(call, DW_AT_abstract_origin, &attribute)) ||
	    !dwarf_formref_die(&attribute, &callee))
		return false;
	if (callee.addr == function->addr)
		return true;
	if (dwarf_attr(function, DW_AT_abstract_origin, &attribute) &&
	    dwarf_formref_die(&attribute, &origin) && origin.addr == callee.addr)
		return true;
	name = linkage_name(&callee);
	own = linkage_name(function);
	return name && own && !strcmp(name, own) &&
	       dwarf_hasattr_integrate(function, DW_AT_external);
}

static bool find_parameter(Dwarf_Die *call, uint64_t reg, Dwarf_Attribute *value_ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Die child;
	Dwarf_Op *ops;
	size_t num;

	if (dwarf_child(call, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);
		uint64_t own;

		if ((tag != DW_TAG_call_site_parameter && tag != DW_TAG_GNU_call_site_parameter) ||
		    !dwarf_attr(&child, DW_AT_location, &attribute) ||
		    dwarf_getlocation(&attribute, &ops, &num) || num != 1)
			continue;
		if (values_is_register(&ops[0], &own) && own == reg)
			return dwarf_attr(&child, DW_AT_call_value, value_ret) ||
			       dwarf_attr(&child, DW_AT_GNU_call_site_value, value_ret);
	} while (debug_file_next(&child, &child));
	return false;
}

static bool find(struct values_search *search, const struct values_level *level, uint64_t reg,
		 struct debug_functions *functions, struct values_level *above,
		 Dwarf_Attribute *value_ret)
{
	const struct values_frame *caller = &search->callers[level->up];
	Dwarf_Die call;

	*above = (struct values_level){
		.file = values_file(search->files, caller->module),
		.module = caller->module,
		.address = caller->offset - 1,
		.is_return = true,
		.up = level->up + 1,
	};
	return above->file && caller->is_return &&
	       /* It may be there by a jump from itself, by way of others. */
	       !find_call(level->file, level->function, 0, 0, &call) &&
	       debug_file_functions(above->file, above->address, functions) && functions->num &&
	       find_call(above->file, &functions->list[0], caller->offset, 0, &call) &&
	       is_call_of(&call, level->function) && find_parameter(&call, reg, value_ret);
}

bool values_find_passed(struct values_search *search, const struct values_level *level,
			uint64_t reg, struct values_level *above_ret, Dwarf_Die *function_ret,
			Dwarf_Attribute *value_ret)
{
	struct debug_functions *functions;
	bool is_found;

	if (!level->function || level->up >= search->num_callers)
		return false;
	functions = xcalloc(1, sizeof(*functions));
	is_found = find(search, level, reg, functions, above_ret, value_ret);
	*function_ret = functions->list[0];
	above_ret->function = function_ret;
	free(functions);
	return is_found;
}
