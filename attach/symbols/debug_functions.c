/* SPDX-License-Identifier: BSD-3-Clause */
#include <dwarf.h>

#include "attach/symbols/debug_file.h"

/* Does an entry hold the address? Takes a look for each of its ranges. */
static bool holds(struct debug_file *file, Dwarf_Die *entry, Dwarf_Addr address)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	while (debug_file_look(file) && (at = dwarf_ranges(entry, at, &base, &begin, &end)) > 0)
		if (address >= begin && address < end)
			return true;
	return false;
}

/* GCC lists the addresses in .debug_aranges; others do not, and then the units are asked one by
 * one, which reads only the head of each. */
static bool find_unit(struct debug_file *file, Dwarf_Addr address, Dwarf_Die *ret)
{
	Dwarf *dwarf = debug_file_dwarf(file);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;

	if (!dwarf || dwarf_addrdie(dwarf, address, ret))
		return dwarf != NULL;
	while (!dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL)) {
		if (type == DW_UT_compile && holds(file, &die, address)) {
			*ret = die;
			return true;
		}
	}
	return false;
}

const char *debug_file_directory(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
}

char *debug_file_path(struct arena *arena, const char *directory, const char *file)
{
	if (!file)
		return NULL;
	if (*file == '/' || !directory || !*directory)
		return arena_strdup(arena, file);
	return arena_printf(arena, "%s/%s", directory, file + (strncmp(file, "./", 2) ? 0 : 2));
}

bool debug_file_is_fortran(Dwarf_Die *unit)
{
	int language = dwarf_srclang(unit);

	return language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 ||
	       language == DW_LANG_Fortran95 || language == DW_LANG_Fortran03 ||
	       language == DW_LANG_Fortran08;
}

bool debug_file_next(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Off offset = dwarf_dieoffset(die);

	return !dwarf_siblingof(die, ret) && dwarf_dieoffset(ret) > offset;
}

/* Scopes that need not have addresses for those in them to have some. */
static bool is_open_scope(int tag, bool is_nested)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
	       (is_nested && (tag == DW_TAG_lexical_block || tag == DW_TAG_subprogram));
}

struct search {
	struct debug_file *file;
	Dwarf_Addr address;
	bool is_nested; /* also procedures that others contain, which have addresses of their own */
	Dwarf_Off seen; /* all entries up to there */
	struct debug_functions *ret;
};

/* Go down from a scope to the functions in it that hold the address. A damaged file may have an
 * entry in two scopes, and each of these in two: none is looked at twice. */
static bool find_functions(struct search *search, Dwarf_Die *scope, int depth)
{
	struct debug_functions *ret = search->ret;
	bool is_inside = ret->num > 0;
	Dwarf_Die child;

	if (depth == DEBUG_MAX_DEPTH || dwarf_child(scope, &child))
		return is_inside;
	do {
		int tag = dwarf_tag(&child);
		bool is_function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;

		if (!debug_file_look(search->file))
			break;
		if (dwarf_dieoffset(&child) <= search->seen)
			continue;
		search->seen = dwarf_dieoffset(&child);
		if ((is_function || tag == DW_TAG_lexical_block) &&
		    holds(search->file, &child, search->address)) {
			/* A contained procedure is not inlined. */
			if (tag == DW_TAG_subprogram)
				ret->num = 0;
			if (is_function)
				ret->list[ret->num++] = child;
			return find_functions(search, &child, depth + 1);
		}
		if (!is_inside && is_open_scope(tag, search->is_nested) &&
		    find_functions(search, &child, depth + 1))
			return true;
	} while (debug_file_next(&child, &child));
	return is_inside;
}

bool debug_file_functions(struct debug_file *file, Dwarf_Addr address, struct debug_functions *ret)
{
	struct search search = {.file = file, .address = address, .ret = ret};

	ret->num = 0;
	if (!find_unit(file, address, &ret->unit))
		return false;
	find_functions(&search, &ret->unit, 0);
	if (ret->num)
		return true;
	search.is_nested = true;
	search.seen = 0;
	find_functions(&search, &ret->unit, 0);
	return true;
}
