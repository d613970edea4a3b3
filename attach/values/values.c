/* SPDX-License-Identifier: BSD-3-Clause */
#include <dwarf.h>
#include <strings.h>

#include "attach/symbols/cut_guard.h"
#include "attach/values/expression.h"
#include "attach/values/values_private.h"
#include "model/job/modules.h"

enum { MAX_DEPTH = 64, MAX_NAMES = 256 };

struct values {
	struct debug_modules files;
	uint32_t max_bytes;
};

struct values *values_create(const struct modules *modules, uint32_t max_bytes)
{
	struct values *values = xcalloc(1, sizeof(*values));

	values->files.modules = modules;
	values->max_bytes = max_bytes < CODE_MAX_BYTES ? max_bytes : CODE_MAX_BYTES;
	return values;
}

void values_destroy(struct values *values)
{
	if (!values)
		return;
	debug_modules_close(&values->files);
	free(values);
}

struct debug_modules *values_modules(struct values *values)
{
	return &values->files;
}

/* ---- Scopes ---- */

static bool is_variable(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter;
}

/* In the innermost block of a function that holds the address and has the name. */
static bool find_in_block(struct values_search *search, Dwarf_Die *scope, const char *name,
			  unsigned int depth, Dwarf_Die *ret)
{
	bool is_found = false;
	Dwarf_Die child;

	if (depth == MAX_DEPTH || dwarf_child(scope, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (!debug_file_look(search->file))
			break;
		if ((tag == DW_TAG_lexical_block &&
		     dwarf_haspc(&child, search->level.address) > 0 &&
		     find_in_block(search, &child, name, depth + 1, ret)) ||
		    (tag == DW_TAG_common_block &&
		     find_in_block(search, &child, name, depth + 1, ret)))
			return true;
		/* Of two with one name the later one hides the other. */
		if (is_variable(&child) && values_name_is(&child, name, search->is_fortran)) {
			*ret = child;
			is_found = true;
		}
	} while (debug_file_next(&child, &child));
	return is_found;
}

/* Is it declared in a namespace, module or class of that name? */
static bool is_declared_in(struct values_search *search, Dwarf_Die *die, const char *scope,
			   size_t length)
{
	Dwarf_Die declared = *die, *scopes;
	Dwarf_Attribute attribute;
	bool is_in = false;
	int num;

	dwarf_formref_die(dwarf_attr(die, DW_AT_specification, &attribute), &declared);
	num = dwarf_getscopes_die(&declared, &scopes);
	for (int i = 1; i < num && !is_in; i++) {
		const char *name = dwarf_diename(&scopes[i]);

		is_in = name && strlen(name) == length &&
			(search->is_fortran ? !strncasecmp(name, scope, length)
					    : !strncmp(name, scope, length));
	}
	if (num > 0)
		free(scopes);
	return is_in;
}

/* Among a unit's variables and those in its namespaces and modules. name: "b", or "a::b", of which
 * the last scope counts. */
static bool find_in_scope(struct values_search *search, Dwarf_Die *scope, const char *name,
			  unsigned int depth, Dwarf_Die *ret)
{
	const char *last = strrchr(name, ':'), *before = last;
	size_t length = 0;
	Dwarf_Die child;

	last = last ? last + 1 : name;
	for (before = before ? before - 1 : name; before > name && before[-1] != ':'; before--)
		length++;
	if (depth == MAX_DEPTH || dwarf_child(scope, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (!debug_file_look(search->file))
			return false;
		if (tag == DW_TAG_variable &&
		    (dwarf_hasattr_integrate(&child, DW_AT_location) ||
		     dwarf_hasattr_integrate(&child, DW_AT_const_value)) &&
		    values_name_is(&child, last, search->is_fortran) &&
		    (last == name || is_declared_in(search, &child, before, length))) {
			*ret = child;
			return true;
		}
		if ((tag == DW_TAG_namespace || tag == DW_TAG_module) &&
		    find_in_scope(search, &child, name, depth + 1, ret))
			return true;
	} while (debug_file_next(&child, &child));
	return false;
}

/* A member of the object whose function this is. */
static int find_in_object(struct values_search *search, Dwarf_Die *function,
			  const struct expression *expression)
{
	struct expression in_object = {.name = "this", .num_steps = 1};
	struct values_type type, object;
	uint64_t offset;
	Dwarf_Die this;

	if (expression->num_steps == EXPRESSION_MAX_STEPS ||
	    !find_in_block(search, function, "this", 0, &this) || !values_type_of(&this, &type) ||
	    dwarf_tag(&type.die) != DW_TAG_pointer_type || !values_type_of(&type.die, &object) ||
	    !values_member(search, &object.die, expression->name, &offset, &object))
		return 0;
	in_object.steps[0] =
		(struct expression_step){.kind = EXPRESSION_MEMBER, .name = expression->name};
	for (size_t i = 0; i < expression->num_steps; i++)
		in_object.steps[in_object.num_steps++] = expression->steps[i];
	return values_follow(search, &this, &in_object);
}

static int find_in_function(struct values_search *search, Dwarf_Die *scope,
			    const struct expression *expression)
{
	Dwarf_Die die;

	return find_in_block(search, scope, expression->name, 0, &die)
		       ? values_follow(search, &die, expression)
		       : find_in_object(search, scope, expression);
}

/* In the function of that name, then in those that are inlined into it; NULL: from the innermost
 * on. */
static int find_in_functions(struct values_search *search, struct debug_functions *functions,
			     const char *function, const struct expression *expression)
{
	size_t i = functions->num;
	int result = 0;

	if (!function) {
		while (i-- > 0 && !result)
			result = find_in_function(search, &functions->list[i], expression);
		return result;
	}
	while (i > 0 && !values_name_is(&functions->list[i - 1], function, search->is_fortran))
		i--;
	for (; i > 0 && i <= functions->num && !result; i++)
		result = find_in_function(search, &functions->list[i - 1], expression);
	return result;
}

/* ---- Public ---- */

static bool begin(struct values_search *search, struct values *values, struct arena *arena,
		  uint32_t module, const struct expression *expression, struct values_found *ret,
		  struct pdb_error *err)
{
	*ret = (struct values_found){.probe.module = module};
	*search = (struct values_search){.files = &values->files,
					 .arena = arena,
					 .name = expression->name,
					 .max_bytes = values->max_bytes,
					 .ret = ret,
					 .err = err};
	search->file = values_file(&values->files, module);
	search->level.file = search->file;
	search->level.module = module;
	return search->file != NULL;
}

int values_find(struct values *values, struct arena *arena, const struct values_frame *frames,
		size_t num_frames, const char *function, const struct expression *expression,
		struct values_found *ret, struct pdb_error *err)
{
	struct debug_functions *functions = xcalloc(1, sizeof(*functions));
	const struct values_frame *frame = &frames[0];
	struct cut_guard guard;
	struct values_search search;
	int result = 0;

	cut_guard_enter(&guard);
	if (begin(&search, values, arena, frame->module, expression, ret, err)) {
		ret->probe.offset = frame->offset;
		ret->probe.is_return = frame->is_return;
		search.level.address = frame->offset - frame->is_return;
		search.level.is_return = frame->is_return;
		search.callers = frames + 1;
		search.num_callers = num_frames - 1;
		if (debug_file_functions(search.file, search.level.address, functions) &&
		    functions->num) {
			search.unit = functions->unit;
			search.is_fortran = debug_file_is_fortran(&functions->unit);
			search.level.function = &functions->list[0];
			result = find_in_functions(&search, functions, function, expression);
		}
	}
	if (cut_guard_leave(&guard))
		result = error_set(err, ERROR_GONE, "the program's file has changed");
	free(functions);
	return result;
}

int values_find_global(struct values *values, struct arena *arena, uint32_t module,
		       const struct expression *expression, struct values_found *ret,
		       struct pdb_error *err)
{
	struct cut_guard guard;
	struct values_search search;
	Dwarf_CU *unit = NULL;
	Dwarf_Die variable;
	uint8_t type;
	int result = 0;

	cut_guard_enter(&guard);
	if (begin(&search, values, arena, module, expression, ret, err))
		while (!result && !dwarf_get_units(search.file->dwarf, unit, &unit, NULL, &type,
						   &search.unit, NULL)) {
			search.is_fortran = debug_file_is_fortran(&search.unit);
			if (type == DW_UT_compile &&
			    find_in_scope(&search, &search.unit, expression->name, 0, &variable))
				result = values_follow(&search, &variable, expression);
		}
	if (cut_guard_leave(&guard))
		result = error_set(err, ERROR_GONE, "the program's file has changed");
	return result;
}

struct names {
	const char **list;
	size_t num, capacity;
};

static void add_name(struct values_search *search, struct names *names, const char *name)
{
	for (size_t i = 0; i < names->num; i++)
		if (!strcmp(names->list[i], name))
			return;
	*ARENA_PUSH(search->arena, names->list, names->num, names->capacity) =
		arena_strdup(search->arena, name);
}

/* gfortran calls arguments artificial that have a descriptor. */
static bool is_described(Dwarf_Die *die)
{
	struct values_type type;

	return values_type_of(die, &type) && dwarf_hasattr(&type.die, DW_AT_data_location);
}

static void add_names(struct values_search *search, Dwarf_Die *scope, unsigned int depth,
		      int wanted, struct names *names)
{
	Dwarf_Die child;

	if (depth == MAX_DEPTH || dwarf_child(scope, &child))
		return;
	do {
		const char *name = dwarf_diename(&child);
		int tag = dwarf_tag(&child);

		if (!debug_file_look(search->file))
			return;
		if (tag == DW_TAG_common_block ||
		    (tag == DW_TAG_lexical_block && dwarf_haspc(&child, search->level.address) > 0))
			add_names(search, &child, depth + 1, wanted, names);
		else if (tag == wanted && name &&
			 (!dwarf_hasattr_integrate(&child, DW_AT_artificial) ||
			  is_described(&child)))
			add_name(search, names, name);
	} while (names->num < MAX_NAMES && debug_file_next(&child, &child));
}

size_t values_names(struct values *values, struct arena *arena, const struct values_frame *frame,
		    const char *function, enum values_kind kind, const char ***names_ret,
		    const char **function_ret)
{
	struct debug_functions *functions = xcalloc(1, sizeof(*functions));
	int wanted = kind == VALUES_ARGUMENTS ? DW_TAG_formal_parameter : DW_TAG_variable;
	struct names names = {.num = 0};
	struct cut_guard guard;
	struct values_search search = {.arena = arena};

	*function_ret = NULL;
	search.level.address = frame->offset - frame->is_return;
	cut_guard_enter(&guard);
	search.file = values_file(&values->files, frame->module);
	if (search.file && debug_file_functions(search.file, search.level.address, functions) &&
	    functions->num) {
		bool is_fortran = debug_file_is_fortran(&functions->unit);

		for (size_t i = functions->num; i-- > 0;) {
			const char *name = dwarf_diename(&functions->list[i]);

			if (function && !values_name_is(&functions->list[i], function, is_fortran))
				continue;
			add_names(&search, &functions->list[i], 0, wanted, &names);
			*function_ret = name ? arena_strdup(arena, name) : NULL;
		}
	}
	if (cut_guard_leave(&guard))
		names.num = 0;
	free(functions);
	*names_ret = names.list;
	return names.num;
}

bool values_has_information(struct values *values, uint32_t module)
{
	struct cut_guard guard;
	bool has;

	cut_guard_enter(&guard);
	has = values_file(&values->files, module) != NULL;
	cut_guard_leave(&guard);
	return has;
}
