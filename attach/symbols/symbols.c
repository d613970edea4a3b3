/* SPDX-License-Identifier: BSD-3-Clause */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "attach/process/maps.h"
#include "attach/symbols/cut_guard.h"
#include "attach/symbols/debug_file.h"
#include "attach/symbols/demangle.h"
#include "attach/symbols/symbol_table.h"
#include "attach/symbols/symbols.h"
#include "model/modules.h"
#include "model/xalloc.h"

/* What was opened for one module; all empty where nothing could be. */
struct module_symbols {
	bool is_open;
	struct debug_file main, separate;
	struct symbol_table *table;
};

struct symbols {
	const struct modules *modules;
	struct module_symbols *by_module;
	size_t num_modules;
	/* What the last answer points to. */
	char *function, *file;
};

/* Where an address is, as debug information says it. */
struct place {
	const char *symbol; /* linker symbol or name; NULL: not known */
	bool is_inlined;
	bool is_cxx;
	const char *file;
	int line;
};

struct symbols *symbols_create(const struct modules *modules)
{
	struct symbols *symbols = xcalloc(1, sizeof(*symbols));

	symbols->modules = modules;
	return symbols;
}

static void close_module(struct module_symbols *entry)
{
	symbol_table_destroy(entry->table);
	entry->table = NULL;
	debug_file_close(&entry->separate);
	debug_file_close(&entry->main);
}

static void open_module(const struct module *module, struct module_symbols *entry)
{
	struct symbol_table *table;

	entry->is_open = true;
	entry->main.fd = entry->separate.fd = -1;
	if (debug_file_open(module, &entry->main))
		return;
	entry->table = symbol_table_create(entry->main.elf);
	if (entry->main.has_debug_information ||
	    debug_file_open_separate(module, &entry->main, &entry->separate))
		return;
	table = symbol_table_create(entry->separate.elf);
	if (!table || (entry->table && symbol_table_is_full(entry->table))) {
		symbol_table_destroy(table);
	} else {
		symbol_table_destroy(entry->table);
		entry->table = table;
	}
}

static struct module_symbols *get_module(struct symbols *symbols, uint32_t id)
{
	size_t num = modules_count(symbols->modules);

	if (id >= num)
		return NULL;
	if (symbols->num_modules < num) {
		symbols->by_module =
			xreallocarray(symbols->by_module, num, sizeof(*symbols->by_module));
		memset(symbols->by_module + symbols->num_modules, 0,
		       (num - symbols->num_modules) * sizeof(*symbols->by_module));
		symbols->num_modules = num;
	}
	if (!symbols->by_module[id].is_open)
		open_module(modules_get(symbols->modules, id), &symbols->by_module[id]);
	return &symbols->by_module[id];
}

void symbols_destroy(struct symbols *symbols)
{
	size_t i;

	if (!symbols)
		return;
	for (i = 0; i < symbols->num_modules; i++)
		if (symbols->by_module[i].is_open)
			close_module(&symbols->by_module[i]);
	free(symbols->by_module);
	free(symbols->function);
	free(symbols->file);
	free(symbols);
}

/* What the linker calls the function, where that says more than its name: C++ scopes, Fortran
 * modules. */
static const char *name_of_function(Dwarf_Die *die)
{
	static const unsigned int linkage[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name};
	Dwarf_Attribute attribute;
	const char *name;
	size_t i;

	for (i = 0; i < sizeof(linkage) / sizeof(linkage[0]); i++) {
		if (dwarf_attr_integrate(die, linkage[i], &attribute)) {
			name = dwarf_formstring(&attribute);
			if (name)
				return name;
		}
	}
	return dwarf_diename(die);
}

static bool is_cxx(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
		return true;
	default:
		return false;
	}
}

/* The innermost function, an inlined one included, and its line. */
static bool find_in_dwarf(Dwarf *dwarf, Dwarf_Addr address, struct place *ret)
{
	Dwarf_Die unit, *scopes = NULL;
	Dwarf_Line *line;
	int num, i;

	if (!dwarf || !debug_file_find_unit(dwarf, address, &unit))
		return false;
	num = dwarf_getscopes(&unit, address, &scopes);
	for (i = 0; i < num && !ret->symbol; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
		    tag == DW_TAG_entry_point)
			ret->symbol = name_of_function(&scopes[i]);
		ret->is_inlined = tag == DW_TAG_inlined_subroutine;
	}
	free(scopes);
	ret->is_cxx = is_cxx(&unit);
	line = dwarf_getsrc_die(&unit, address);
	if (line && !dwarf_lineno(line, &ret->line) && ret->line > 0)
		ret->file = dwarf_linesrc(line, NULL, NULL);
	if (!ret->file)
		ret->line = 0;
	return ret->symbol || ret->file;
}

/* Does the symbol table know a better name? MPI defines a function by one name and makes the one
 * that people call an alias: PMPI_Send and MPI_Send. And of a C++ function that only its own file
 * knows, debug information has the bare name. */
static bool table_knows_better(const struct place *place)
{
	if (place->is_inlined)
		return false;
	if (place->is_cxx)
		return strncmp(place->symbol, "_Z", 2) != 0;
	return !strncmp(place->symbol, "PMPI_", 5);
}

static void find_place(struct module_symbols *entry, enum module_kind kind, uint64_t address,
		       struct place *ret)
{
	const char *symbol = entry->table ? symbol_table_find(entry->table, address) : NULL;

	if (symbol && (kind == MODULE_SYSTEM || kind == MODULE_RECORDER)) {
		ret->symbol = symbol; /* nobody asks for lines there, which take long to read */
		return;
	}
	if (!find_in_dwarf(debug_file_dwarf(&entry->main), address, ret))
		find_in_dwarf(debug_file_dwarf(&entry->separate), address, ret);
	if (symbol && (!ret->symbol || table_knows_better(ret)))
		ret->symbol = symbol;
}

/* The answer, in copies. */
static int resolve(struct symbols *symbols, struct module_symbols *entry, enum module_kind kind,
		   uint64_t address, struct name *ret)
{
	struct place place = {0};

	find_place(entry, kind, address, &place);
	if (!place.symbol)
		return -1;
	free(symbols->function);
	free(symbols->file);
	symbols->function = demangle(place.symbol);
	symbols->file = place.file ? xstrdup(place.file) : NULL;
	*ret = (struct name){
		.function = symbols->function,
		.file = symbols->file ? maps_base(symbols->file) : NULL,
		.full_file = symbols->file,
		.line = place.line,
		.is_symbol = true,
	};
	return 0;
}

int symbols_resolve(void *argument, uint32_t module, uint64_t address, struct name *ret)
{
	struct symbols *symbols = argument;
	struct module_symbols *entry;
	struct cut_guard guard;
	struct name name;
	int result = -1;
	bool is_whole;

	cut_guard_enter(&guard);
	entry = get_module(symbols, module);
	if (entry)
		result = resolve(symbols, entry, modules_get(symbols->modules, module)->kind,
				 address, &name);
	is_whole = !cut_guard_leave(&guard);
	if (!entry)
		return -1;
	if (!is_whole || !debug_file_is_same(&entry->main) ||
	    !debug_file_is_same(&entry->separate)) {
		/* Somebody writes to it: it is another file's names now, or half of one's. */
		close_module(entry);
		return -1;
	}
	if (!result)
		*ret = name;
	return result;
}
