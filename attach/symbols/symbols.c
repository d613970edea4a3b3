/* SPDX-License-Identifier: BSD-3-Clause */
#include <dwarf.h>
#include <elfutils/libdw.h>

#include "attach/process/maps.h"
#include "attach/symbols/cut_guard.h"
#include "attach/symbols/debug_file.h"
#include "attach/symbols/demangle.h"
#include "attach/symbols/symbol_table.h"
#include "attach/symbols/symbols.h"
#include "model/job/modules.h"

struct symbols {
	struct debug_modules files;
	struct arena *answer; /* the last one */
};

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
	struct place list[DEBUG_MAX_DEPTH];
	size_t num;
	bool is_cxx;
	const char *dir; /* in which it was compiled; NULL: not known */
};

struct symbols *symbols_create(const struct modules *modules)
{
	struct symbols *symbols = xcalloc(1, sizeof(*symbols));

	symbols->files.modules = modules;
	return symbols;
}

void symbols_destroy(struct symbols *symbols)
{
	if (!symbols)
		return;
	debug_modules_close(&symbols->files);
	arena_destroy(symbols->answer);
	free(symbols);
}

/* What the linker calls it, if that says more than its name: C++ scopes, Fortran modules. */
static const char *name_of_function(Dwarf_Die *die)
{
	static const unsigned int linkage[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name};
	Dwarf_Attribute attribute;
	const char *name;

	for (size_t i = 0; i < sizeof(linkage) / sizeof(linkage[0]); i++) {
		name = dwarf_formstring(dwarf_attr_integrate(die, linkage[i], &attribute));
		if (name)
			return name;
	}
	return dwarf_diename(die);
}

static bool is_cxx(Dwarf_Die *unit)
{
	int language = dwarf_srclang(unit);

	return language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 ||
	       language == DW_LANG_C_plus_plus_11 || language == DW_LANG_C_plus_plus_14;
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
	Dwarf_Die found = *die, next;
	Dwarf_Attribute attribute;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (dwarf_formref_die(dwarf_attr(&found, ways[i], &attribute), &next))
			found = next;
	return found;
}

/* The child of a scope that holds or is what is at an offset: they stand in that order. */
static bool find_child(struct debug_file *file, Dwarf_Die *scope, Dwarf_Off offset, Dwarf_Die *ret)
{
	Dwarf_Die next;

	if (dwarf_child(scope, &next))
		return false;
	do
		*ret = next;
	while (debug_file_look(file) && debug_file_next(ret, &next) &&
	       dwarf_dieoffset(&next) <= offset);
	return dwarf_dieoffset(ret) <= offset;
}

/* "tables::": the scopes of a C++ function without a linker symbol; none of what a function has. */
static char *scopes_of(struct arena *arena, struct debug_file *file, Dwarf_Die *function)
{
	Dwarf_Die die = find_declaration(function), scope, next;
	Dwarf_Off offset = dwarf_dieoffset(&die);
	char *text = arena_strdup(arena, "");

	if (!dwarf_diecu(&die, &scope, NULL, NULL))
		return text;
	for (int depth = 0; depth < DEBUG_MAX_DEPTH && find_child(file, &scope, offset, &next) &&
			    dwarf_dieoffset(&next) != offset;
	     depth++, scope = next) {
		const char *name = dwarf_diename(&next);

		if (dwarf_tag(&next) == DW_TAG_subprogram)
			return arena_strdup(arena, "");
		text = arena_printf(arena, "%s%s::", text, name ? name : "(anonymous namespace)");
	}
	return text;
}

/* A function is inlined at a line of the last one. */
static void add_place(struct places *places, struct debug_file *file, Dwarf_Die *unit,
		      Dwarf_Die *die)
{
	struct place *place = &places->list[places->num++];

	if (places->num > 1) {
		struct place *last = place - 1;
		Dwarf_Attribute line;
		Dwarf_Word number;

		last->file = name_of_file(unit, DW_AT_call_file, die);
		if (last->file &&
		    !dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &line), &number))
			last->line = (int)number;
	}
	*place = (struct place){.die = *die, .in = file, .declared = dwarf_decl_file(die)};
	place->symbol = name_of_function(die);
	place->is_bare = place->symbol && strncmp(place->symbol, "_Z", 2) != 0 && is_cxx(unit);
}

static void find_in_dwarf(struct debug_file *file, Dwarf_Addr address, struct places *ret)
{
	struct debug_functions functions;

	if (ret->num || !debug_file_functions(file, address, &functions))
		return;
	for (size_t i = 0; i < functions.num; i++)
		add_place(ret, file, &functions.unit, &functions.list[i]);
	/* Assembler has lines without functions. */
	if (!ret->num)
		ret->list[ret->num++] = (struct place){0};
	ret->is_cxx = is_cxx(&functions.unit);
	ret->dir = debug_file_directory(&functions.unit);
	struct place *innermost = &ret->list[ret->num - 1];
	Dwarf_Line *line = dwarf_getsrc_die(&functions.unit, address);
	if (line && !dwarf_lineno(line, &innermost->line) && innermost->line > 0)
		innermost->file = dwarf_linesrc(line, NULL, NULL);
	if (!innermost->file)
		innermost->line = 0;
}

/* Does the symbol table know a better name than debug information? MPI makes the name that people
 * call an alias of the function's own: MPI_Send and PMPI_Send. Of a C++ function that only its own
 * file knows, debug information has the bare name. */
static bool table_knows_better(const struct places *places)
{
	const char *symbol = places->list[0].symbol;

	if (!symbol)
		return true;
	if (places->is_cxx)
		return strncmp(symbol, "_Z", 2) != 0;
	return !strncmp(symbol, "PMPI_", 5);
}

static char *function_of(struct arena *arena, struct place *place)
{
	char *function = arena_keep(arena, demangle(place->symbol), free);

	return place->is_bare ? arena_printf(arena, "%s%s",
					     scopes_of(arena, place->in, &place->die), function)
			      : function;
}

static struct name *make_name(struct arena *arena, struct place *place, const char *dir,
			      enum module_kind kind, const struct name *caller)
{
	const char *file = place->declared ? place->declared : place->file;
	struct name *name = arena_alloc(arena, sizeof(*name));

	*name = (struct name){
		.function = function_of(arena, place),
		.full_file = debug_file_path(arena, dir, place->file),
		.line = place->line,
		.is_symbol = true,
		.is_library = kind != MODULE_PROGRAM || (file && names_is_library_file(file)),
		.caller = caller,
	};
	name->file = name->full_file ? maps_base(name->full_file) : NULL;
	return name;
}

/* The recorder's wrappers (WRAP_BODY() of its wrap.h) are told as what they stand for. */
static const char *wrapped_by(const char *symbol)
{
	static const char prefix[] = "recorded_";

	return strncmp(symbol, prefix, strlen(prefix)) == 0 ? symbol + strlen(prefix) : symbol;
}

/* The functions at an address, outermost first, which has the symbol's name if that says more. */
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
		ret->list[ret->num++] = (struct place){0};
	if (symbol && table_knows_better(ret)) {
		ret->list[0].symbol = symbol;
		ret->list[0].is_bare = false;
	}
}

/* The answer, in copies; NULL: there is none. */
static const struct name *resolve(struct symbols *symbols, struct debug_files *entry,
				  enum module_kind kind, uint64_t address)
{
	const struct name *name = NULL;
	struct places places;

	places.num = 0; /* the list is large: it is not zeroed */
	places.is_cxx = false;
	places.dir = NULL;
	find_chain(entry, kind, address, &places);
	arena_destroy(symbols->answer);
	symbols->answer = arena_create();
	for (size_t i = 0; i < places.num; i++)
		if (places.list[i].symbol)
			name = make_name(symbols->answer, &places.list[i], places.dir, kind, name);
	return name;
}

int symbols_resolve(void *argument, uint32_t module, uint64_t address, struct name *ret)
{
	struct symbols *symbols = argument;
	const struct name *name = NULL;
	struct cut_guard guard;

	cut_guard_enter(&guard);
	struct debug_files *entry = debug_modules_get(&symbols->files, module);
	if (entry)
		name = resolve(symbols, entry, modules_get(symbols->files.modules, module)->kind,
			       address);
	bool is_whole = !cut_guard_leave(&guard);
	if (entry && (!is_whole || !debug_files_are_same(entry))) {
		/* Somebody writes to it: it is another file's names now, or half of one's. */
		debug_files_close(entry);
		name = NULL;
	}
	if (!name)
		return -1;
	*ret = *name;
	return 0;
}
