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
#include "model/job/modules.h"
#include "model/xalloc.h"

struct symbols {
	const struct modules *modules;
	struct debug_files *by_module;
	size_t num_modules;
	/* The last answer, innermost first. */
	struct name *chain;
	size_t num_chain, capacity;
};

enum { MAX_DEPTH = 256 }; /* of scopes, each in the one before: more is nobody's program */

/* A function that an address is in, as debug information says it. */
struct place {
	const char *symbol; /* linker symbol or name; NULL: not known */
	Dwarf_Die die;      /* what it is the name of, if is_bare: without its scopes */
	bool is_bare;
	struct debug_file *in; /* that has the entry */
	const char *declared;  /* in which file; NULL: not known */
	/* Where in it: the address, or the call of the function that is inlined into it. */
	const char *file;
	int line;
};

/* The functions that an address is in, outermost first. */
struct places {
	struct place *places;
	size_t num, capacity;
	bool is_cxx;
	struct debug_file *in; /* whose looks they take */
	Dwarf_Off seen;        /* all entries up to there */
};

struct symbols *symbols_create(const struct modules *modules)
{
	struct symbols *symbols = xcalloc(1, sizeof(*symbols));

	symbols->modules = modules;
	return symbols;
}

static void forget_chain(struct symbols *symbols)
{
	for (size_t i = 0; i < symbols->num_chain; i++) {
		free((char *)symbols->chain[i].function);
		free((char *)symbols->chain[i].full_file);
	}
	symbols->num_chain = 0;
}

static struct debug_files *get_module(struct symbols *symbols, uint32_t id)
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
		debug_files_open(modules_get(symbols->modules, id), &symbols->by_module[id]);
	return &symbols->by_module[id];
}

void symbols_destroy(struct symbols *symbols)
{
	size_t i;

	if (!symbols)
		return;
	for (i = 0; i < symbols->num_modules; i++)
		debug_files_close(&symbols->by_module[i]);
	free(symbols->by_module);
	forget_chain(symbols);
	free(symbols->chain);
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

static const char *name_of_file(Dwarf_Die *unit, unsigned int attribute, Dwarf_Die *die)
{
	Dwarf_Attribute found;
	Dwarf_Files *files;
	Dwarf_Word number;
	size_t num;

	if (dwarf_formudata(dwarf_attr(die, attribute, &found), &number) ||
	    dwarf_getsrcfiles(unit, &files, &num) || number >= num)
		return NULL;
	return dwarf_filesrc(files, number, NULL, NULL);
}

/* Where the function is declared: at home in its scopes. */
static Dwarf_Die find_declaration(Dwarf_Die *die)
{
	static const unsigned int ways[] = {DW_AT_abstract_origin, DW_AT_specification};
	Dwarf_Die found = *die;
	Dwarf_Attribute attribute;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		Dwarf_Die next;

		if (dwarf_attr(&found, ways[i], &attribute) && dwarf_formref_die(&attribute, &next))
			found = next;
	}
	return found;
}

/* The next one. A damaged file may name one before it, which would go on for ever. */
static bool next_sibling(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Off offset = dwarf_dieoffset(die);

	return !dwarf_siblingof(die, ret) && dwarf_dieoffset(ret) > offset;
}

/* The child of a scope that holds what is at an offset, or is it: they stand in the order of
 * offsets. */
static bool find_child(struct debug_file *file, Dwarf_Die *scope, Dwarf_Off offset, Dwarf_Die *ret)
{
	Dwarf_Die next;

	if (dwarf_child(scope, &next))
		return false;
	do
		*ret = next;
	while (debug_file_look(file) && next_sibling(ret, &next) &&
	       dwarf_dieoffset(&next) <= offset);
	return dwarf_dieoffset(ret) <= offset;
}

/* "tables::": the scopes of a C++ function that has no linker symbol since only its file knows it.
 * None of what is local to a function. The caller frees. */
static char *scopes_of(struct debug_file *file, Dwarf_Die *function)
{
	Dwarf_Die die = find_declaration(function), scope, next;
	Dwarf_Off offset = dwarf_dieoffset(&die);
	char *text = xstrdup(""), *longer;

	if (!dwarf_diecu(&die, &scope, NULL, NULL))
		return text;
	for (int depth = 0; depth < MAX_DEPTH && find_child(file, &scope, offset, &next) &&
			    dwarf_dieoffset(&next) != offset;
	     depth++, scope = next) {
		const char *name = dwarf_diename(&next);

		if (dwarf_tag(&next) == DW_TAG_subprogram) {
			text[0] = '\0';
			break;
		}
		longer = xasprintf("%s%s::", text, name ? name : "(anonymous namespace)");
		free(text);
		text = longer;
	}
	return text;
}

/* A function is inlined at a line of the last one. */
static void add_place(struct places *places, Dwarf_Die *unit, Dwarf_Die *die)
{
	struct place *place;

	if (places->num) {
		Dwarf_Attribute line;
		Dwarf_Word number;

		place = &places->places[places->num - 1];
		place->file = name_of_file(unit, DW_AT_call_file, die);
		if (place->file &&
		    !dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &line), &number))
			place->line = (int)number;
	}
	places->places =
		xgrow(places->places, places->num, &places->capacity, sizeof(*places->places));
	place = &places->places[places->num++];
	*place = (struct place){.die = *die, .in = places->in, .declared = dwarf_decl_file(die)};
	place->symbol = name_of_function(die);
	place->is_bare = place->symbol && strncmp(place->symbol, "_Z", 2) != 0 && is_cxx(unit);
}

/* Scopes that need not have addresses for those in them to have some. */
static bool is_open_scope(int tag, bool is_nested)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return true;
	case DW_TAG_lexical_block:
	case DW_TAG_subprogram:
		return is_nested;
	default:
		return false;
	}
}

/* Go down from a scope to the functions in it that hold the address. is_nested: also to procedures
 * that are contained in others, which have addresses of their own. A damaged file may have an entry
 * in two scopes, and each of these in two: none is looked at twice. */
static bool find_places(struct places *places, Dwarf_Die *unit, Dwarf_Die *scope,
			Dwarf_Addr address, bool is_nested, int depth)
{
	Dwarf_Die child;
	bool is_inside = places->num > 0;

	if (depth == MAX_DEPTH || dwarf_child(scope, &child))
		return is_inside;
	do {
		int tag = dwarf_tag(&child);
		bool is_function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;

		if (!debug_file_look(places->in))
			break;
		if (dwarf_dieoffset(&child) <= places->seen)
			continue;
		places->seen = dwarf_dieoffset(&child);
		if ((is_function || tag == DW_TAG_lexical_block) &&
		    debug_file_holds(places->in, &child, address)) {
			/* A contained procedure is not inlined. */
			if (tag == DW_TAG_subprogram)
				places->num = 0;
			if (is_function)
				add_place(places, unit, &child);
			return find_places(places, unit, &child, address, is_nested, depth + 1);
		}
		if (!is_inside && is_open_scope(tag, is_nested) &&
		    find_places(places, unit, &child, address, is_nested, depth + 1))
			return true;
	} while (next_sibling(&child, &child));
	return is_inside;
}

/* A function without a name. */
static void add_nothing(struct places *places)
{
	places->places =
		xgrow(places->places, places->num, &places->capacity, sizeof(*places->places));
	places->places[places->num++] = (struct place){0};
}

static void find_in_dwarf(struct debug_file *file, Dwarf_Addr address, struct places *ret)
{
	struct place *innermost;
	Dwarf_Die unit;
	Dwarf_Line *line;

	if (ret->num || !debug_file_find_unit(file, address, &unit))
		return;
	ret->in = file;
	for (int is_nested = 0; is_nested <= 1 && !ret->num; is_nested++) {
		ret->seen = 0;
		find_places(ret, &unit, &unit, address, is_nested, 0);
	}
	/* Assembler has lines without functions. */
	if (!ret->num)
		add_nothing(ret);
	ret->is_cxx = is_cxx(&unit);
	innermost = &ret->places[ret->num - 1];
	line = dwarf_getsrc_die(&unit, address);
	if (line && !dwarf_lineno(line, &innermost->line) && innermost->line > 0)
		innermost->file = dwarf_linesrc(line, NULL, NULL);
	if (!innermost->file)
		innermost->line = 0;
}

/* Does the symbol table know a better name than debug information does of the function that the
 * symbol is of? MPI defines a function by one name and makes the one that people call an alias:
 * PMPI_Send and MPI_Send. And of a C++ function that only its own file knows, debug information has
 * the bare name. */
static bool table_knows_better(const struct places *places)
{
	const char *symbol = places->places[0].symbol;

	if (!symbol)
		return true;
	if (places->is_cxx)
		return strncmp(symbol, "_Z", 2) != 0;
	return !strncmp(symbol, "PMPI_", 5);
}

/* The caller frees. */
static char *function_of(struct place *place)
{
	char *function = demangle(place->symbol), *scopes, *text;

	if (!place->is_bare)
		return function;
	scopes = scopes_of(place->in, &place->die);
	text = xasprintf("%s%s", scopes, function);
	free(scopes);
	free(function);
	return text;
}

static void add_name(struct symbols *symbols, struct place *place, enum module_kind kind)
{
	const char *file = place->declared ? place->declared : place->file;
	char *full_file = place->file ? xstrdup(place->file) : NULL;

	symbols->chain = xgrow(symbols->chain, symbols->num_chain, &symbols->capacity,
			       sizeof(*symbols->chain));
	symbols->chain[symbols->num_chain++] = (struct name){
		.function = function_of(place),
		.file = full_file ? maps_base(full_file) : NULL,
		.full_file = full_file,
		.line = place->line,
		.is_symbol = true,
		.is_library = kind != MODULE_PROGRAM || (file && names_is_library_file(file)),
	};
}

/* The recorder's wrappers (WRAP_BODY() of its wrap.h) are told as what they stand for. */
static const char *wrapped_by(const char *symbol)
{
	static const char prefix[] = "recorded_";

	return strncmp(symbol, prefix, strlen(prefix)) == 0 ? symbol + strlen(prefix) : symbol;
}

/* The functions at an address, the outermost first; the first has the symbol's name where that
 * says more. */
static void find_chain(struct debug_files *entry, enum module_kind kind, uint64_t address,
		       struct places *ret)
{
	uint64_t start, size;
	const char *symbol =
		entry->table ? symbol_table_find(entry->table, address, &start, &size) : NULL;

	if (symbol && kind == MODULE_RECORDER)
		symbol = wrapped_by(symbol);
	/* Nobody asks for lines there, which take long to read. */
	if (!symbol || (kind != MODULE_SYSTEM && kind != MODULE_RECORDER)) {
		find_in_dwarf(&entry->main, address, ret);
		find_in_dwarf(&entry->separate, address, ret);
	}
	if (!ret->num)
		add_nothing(ret);
	if (symbol && table_knows_better(ret)) {
		ret->places[0].symbol = symbol;
		ret->places[0].is_bare = false;
	}
}

/* The answer, in copies. */
static int resolve(struct symbols *symbols, struct debug_files *entry, enum module_kind kind,
		   uint64_t address, struct name *ret)
{
	struct places places = {0};

	find_chain(entry, kind, address, &places);
	forget_chain(symbols);
	for (size_t i = places.num; i-- > 0;)
		if (places.places[i].symbol)
			add_name(symbols, &places.places[i], kind);
	free(places.places);
	for (size_t i = 0; i + 1 < symbols->num_chain; i++)
		symbols->chain[i].caller = &symbols->chain[i + 1];
	if (!symbols->num_chain)
		return -1;
	*ret = symbols->chain[0];
	return 0;
}

int symbols_resolve(void *argument, uint32_t module, uint64_t address, struct name *ret)
{
	struct symbols *symbols = argument;
	struct debug_files *entry;
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
	if (!is_whole || !debug_files_are_same(entry)) {
		/* Somebody writes to it: it is another file's names now, or half of one's. */
		debug_files_close(entry);
		return -1;
	}
	if (!result)
		*ret = name;
	return result;
}
