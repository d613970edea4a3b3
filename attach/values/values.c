/* SPDX-License-Identifier: BSD-3-Clause */
#include <dwarf.h>
#include <strings.h>

#include "attach/code/variables.h"
#include "attach/process/maps.h"
#include "attach/symbols/cut_guard.h"
#include "attach/values/expression.h"
#include "attach/values/values_private.h"
#include "model/job/modules.h"

enum { MAX_DEPTH = 64, MAX_NAMES = 256, TEXT_BYTES = 64 };

/* x86-64 numbers vector registers from here in DWARF, AArch64 from 64: what the kernel's integer
 * registers do not hold. KEPT_REGISTERS: those that a function leaves as they were to who called
 * it. */
#if defined(__x86_64__)
#define NUM_REGISTERS 16
#define KEPT_REGISTERS (1U << 3 | 1U << 6 | 1U << 7 | 0xfU << 12)
#else
#define NUM_REGISTERS 32
#define KEPT_REGISTERS (0x7ffU << 19 | 1U << 31)
#endif

struct values {
	const struct modules *modules;
	struct debug_files *by_module;
	size_t num_modules;
};

struct values *values_create(const struct modules *modules)
{
	struct values *values = xcalloc(1, sizeof(*values));

	values->modules = modules;
	return values;
}

void values_destroy(struct values *values)
{
	if (!values)
		return;
	for (size_t i = 0; i < values->num_modules; i++)
		debug_files_close(&values->by_module[i]);
	free(values->by_module);
	free(values);
}

/* The file with the module's debug information; NULL: there is none. */
static struct debug_file *get_file(struct values *values, uint32_t module)
{
	size_t num = modules_count(values->modules);
	struct debug_files *files;

	if (module >= num)
		return NULL;
	if (num > values->num_modules) {
		values->by_module = xreallocarray(values->by_module, num, sizeof(*files));
		memset(values->by_module + values->num_modules, 0,
		       (num - values->num_modules) * sizeof(*files));
		values->num_modules = num;
	}
	files = &values->by_module[module];
	if (!files->is_open)
		debug_files_open(modules_get(values->modules, module), files);
	return debug_file_dwarf(&files->main)       ? &files->main
	       : debug_file_dwarf(&files->separate) ? &files->separate
						    : NULL;
}

/* ---- What is at hand while an expression is followed ---- */

struct search {
	struct debug_file *file;
	struct arena *arena;
	Dwarf_Die unit;
	bool is_fortran;
	Dwarf_Die *function; /* the frame's; NULL: of globals */
	Dwarf_Addr address;
	bool is_return;
	const char *name;
	struct values_found *ret;
	struct pdb_error *err;
};

struct place {
	struct values_type type;
	struct variables_location location;
	struct code_read read; /* steps so far */
};

static bool is_fortran(Dwarf_Die *unit)
{
	int language = dwarf_srclang(unit);

	return language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 ||
	       language == DW_LANG_Fortran95 || language == DW_LANG_Fortran03 ||
	       language == DW_LANG_Fortran08;
}

static const char *type_name(const struct values_type *type)
{
	Dwarf_Die die = type->die;
	const char *name = type->is_void ? "void" : dwarf_diename(&die);

	return name ? name : dwarf_tag(&die) == DW_TAG_array_type ? "an array" : "of that type";
}

static int refuse(struct search *search, const char *what, const struct values_type *type)
{
	return error_set(search->err, ERROR_USAGE, "%s: %s %s", search->name, what,
			 type_name(type));
}

/* ---- Steps ---- */

/* By `num` times `size` bytes. False: beyond all addresses. */
static bool move(struct place *place, int64_t num, uint64_t size)
{
	int64_t *last = place->read.num_steps ? &place->read.steps[place->read.num_steps - 1]
					      : &place->location.value.constant;
	int64_t by;

	return !__builtin_mul_overflow(num, size, &by) && !__builtin_add_overflow(*last, by, last);
}

/* To what the pointer that is there leads to. */
static int follow(struct search *search, struct place *place)
{
	struct values_type to;
	Dwarf_Die die = place->type.die;
	int tag = dwarf_tag(&die);

	if (tag != DW_TAG_pointer_type && tag != DW_TAG_reference_type &&
	    tag != DW_TAG_rvalue_reference_type)
		return refuse(search, "no pointer, but", &place->type);
	if (!values_type_of(&die, &to))
		return error_set(search->err, ERROR_USAGE,
				 "%s: what a void pointer leads to has no type", search->name);
	if (place->location.is_value) {
		place->location.is_value = false;
	} else if (place->read.num_steps == CODE_MAX_STEPS) {
		return error_set(search->err, ERROR_UNSUPPORTED,
				 "%s: print follows at most %d pointers", search->name,
				 CODE_MAX_STEPS);
	} else {
		place->read.steps[place->read.num_steps++] = 0;
	}
	place->type = to;
	return 0;
}

static int follow_references(struct search *search, struct place *place)
{
	while (!place->type.is_void) {
		int tag = dwarf_tag(&place->type.die);

		if (tag != DW_TAG_reference_type && tag != DW_TAG_rvalue_reference_type)
			break;
		if (follow(search, place) < 0)
			return -1;
	}
	return 0;
}

static bool is_pointer(const struct place *place)
{
	Dwarf_Die die = place->type.die;

	return !place->type.is_void && dwarf_tag(&die) == DW_TAG_pointer_type;
}

static int take_member(struct search *search, struct place *place, const char *name)
{
	struct values_type member;
	uint64_t offset;

	if (is_pointer(place) && follow(search, place) < 0)
		return -1;
	if (place->type.is_void || !values_member(search->file, &place->type.die, name,
						  search->is_fortran, &offset, &member))
		return error_set(search->err, ERROR_USAGE,
				 "%s: %s has no member \"%s\" (or it is a bit field: print the "
				 "whole struct)",
				 search->name, type_name(&place->type), name);
	if (place->location.is_value || !move(place, 1, offset))
		return error_set(search->err, ERROR_UNSUPPORTED,
				 "%s: the compiler keeps it in registers, in pieces", search->name);
	place->type = member;
	return 0;
}

/* `slice_ret`: the elements of a slice; 0: one element. */
static int take_pointed(struct search *search, struct place *place,
			const struct expression_step *step, uint64_t *slice_ret)
{
	Dwarf_Word size;

	if (follow(search, place) < 0)
		return -1;
	if (dwarf_aggregate_size(&place->type.die, &size) || !size)
		return error_set(search->err, ERROR_USAGE, "%s: its elements have no size",
				 search->name);
	if (!move(place, step->first, size))
		return error_set(search->err, ERROR_USAGE, "%s: no such element", search->name);
	*slice_ret =
		step->kind == EXPRESSION_SLICE ? (uint64_t)step->last - (uint64_t)step->first : 0;
	return 0;
}

/* Fortran's indexes come with the shortest stride first, and all of them. */
static size_t dimension_of(const struct search *search, const struct values_shape *shape,
			   size_t first, size_t taken)
{
	return search->is_fortran ? shape->num - 1 - taken : first;
}

static int take_elements(struct search *search, struct place *place,
			 const struct expression_step *steps, size_t num, size_t *taken_ret,
			 uint64_t *slice_ret)
{
	struct values_shape shape;
	struct values_type inside;
	uint64_t offset;
	size_t wanted;

	*taken_ret = 1;
	*slice_ret = 0;
	if (!place->location.is_value &&
	    values_unwrap(search->file, &place->type, false, &offset, &inside) &&
	    move(place, 1, offset))
		place->type = inside;
	if (is_pointer(place))
		return take_pointed(search, place, &steps[0], slice_ret);
	if (place->type.is_void ||
	    !values_shape_of(search->file, search->is_fortran, &place->type, &shape))
		return refuse(search, "no array, but", &place->type);
	if (shape.is_described)
		return error_set(search->err, ERROR_UNSUPPORTED,
				 "%s: its bounds are known only when it runs; gdb reads it",
				 search->name);
	wanted = search->is_fortran ? shape.num : 1;
	if (num < wanted)
		return error_set(search->err, ERROR_USAGE, "%s: it has %zu indexes", search->name,
				 shape.num);
	for (size_t i = 0; i < wanted; i++) {
		size_t at = dimension_of(search, &shape, place->type.first_dimension, i);
		uint64_t stride = shape.element_size, count = shape.counts[at];
		int64_t last =
			steps[i].kind == EXPRESSION_SLICE ? steps[i].last - 1 : steps[i].first;
		int64_t from = 0, to = 0;
		bool is_far = __builtin_sub_overflow(steps[i].first, shape.lower[at], &from) ||
			      __builtin_sub_overflow(last, shape.lower[at], &to);

		for (size_t k = at + 1; k < shape.num; k++)
			stride *= shape.counts[k];
		if (is_far || (count && (from < 0 || (uint64_t)to >= count)))
			return error_set(search->err, ERROR_USAGE,
					 "%s: its indexes are %lld to %lld", search->name,
					 (long long)shape.lower[at],
					 (long long)((uint64_t)shape.lower[at] + count - 1));
		if (!stride || (steps[i].kind == EXPRESSION_SLICE && wanted > 1))
			return error_set(search->err, ERROR_UNSUPPORTED,
					 "%s: print does not read this part of it", search->name);
		if (place->location.is_value || !move(place, from, stride))
			return error_set(search->err, ERROR_UNSUPPORTED,
					 "%s: the compiler keeps it in registers", search->name);
		if (steps[i].kind == EXPRESSION_SLICE)
			*slice_ret = (uint64_t)to - (uint64_t)from + 1;
	}
	*taken_ret = wanted;
	if (search->is_fortran || place->type.first_dimension + 1 == shape.num)
		place->type = (struct values_type){.die = shape.element};
	else
		place->type.first_dimension++;
	/* The element's own typedefs. */
	return dwarf_peel_type(&place->type.die, &place->type.die) ? -1 : 0;
}

static int take_steps(struct search *search, struct place *place,
		      const struct expression *expression, uint64_t *slice_ret)
{
	size_t taken;

	*slice_ret = 0;
	if (follow_references(search, place) < 0)
		return -1;
	for (size_t i = 0; i < expression->num_steps; i += taken) {
		const struct expression_step *step = &expression->steps[i];
		int result;

		taken = 1;
		if (*slice_ret)
			return error_set(search->err, ERROR_USAGE, "%s: nothing can follow a slice",
					 search->name);
		switch (step->kind) {
		case EXPRESSION_FOLLOW:
			result = follow(search, place);
			break;
		case EXPRESSION_MEMBER:
			result = take_member(search, place, step->name);
			break;
		default:
			result = take_elements(search, place, step, expression->num_steps - i,
					       &taken, slice_ret);
			break;
		}
		if (result < 0 || follow_references(search, place) < 0)
			return -1;
	}
	return 0;
}

/* ---- The result ---- */

static void set_probe(const struct place *place, const struct value_type *type,
		      struct code_probe *probe)
{
	probe->value = place->location.value;
	probe->read = place->read;
	probe->read.is_global = place->location.is_global;
	probe->size = 8;
	if (!place->location.is_value) {
		probe->read.num_bytes = type->size;
		return;
	}
	probe->size = (uint8_t)type->size;
	probe->is_signed = type->kind == VALUE_SIGNED;
}

static bool is_scalar_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static int finish(struct search *search, struct place *place, uint64_t slice)
{
	struct values_found *ret = search->ret;
	const struct value_type *type;
	struct values_type inside;
	uint64_t offset;

	if (!place->location.is_value &&
	    values_unwrap(search->file, &place->type, true, &offset, &inside) &&
	    move(place, 1, offset))
		place->type = inside;
	type = values_build(search->file, search->arena, search->is_fortran, &place->type);
	if (type && slice)
		type = values_array(search->arena, type, slice);
	if (!type)
		return error_set(search->err, ERROR_UNSUPPORTED,
				 "%s: its size is known only when it runs; print reads parts: "
				 "%s%s",
				 search->name, search->name,
				 search->is_fortran ? "(1:10)" : "[0:10]");
	ret->type = type;
	if (place->location.is_value && !is_scalar_size(type->size)) {
		ret->trouble = "the compiler keeps it in registers, in pieces";
		return 1;
	}
	set_probe(place, type, &ret->probe);
	if (type->kind == VALUE_POINTER && type->element) {
		struct place text = *place;

		ret->text = ret->probe;
		if (text.location.is_value)
			text.location.is_value = false;
		else if (text.read.num_steps < CODE_MAX_STEPS)
			text.read.steps[text.read.num_steps++] = 0;
		else
			return 1;
		set_probe(&text, &(struct value_type){.size = TEXT_BYTES}, &ret->text);
	}
	return 1;
}

static int find_constant(struct search *search, Dwarf_Die *die, const struct values_type *type)
{
	struct values_found *ret = search->ret;
	Dwarf_Attribute attribute;
	Dwarf_Block block;
	Dwarf_Sword value;
	uint8_t *bytes;

	ret->type = values_build(search->file, search->arena, search->is_fortran, type);
	if (!ret->type || !dwarf_attr_integrate(die, DW_AT_const_value, &attribute))
		return 0;
	bytes = arena_alloc(search->arena, ret->type->size < 8 ? 8 : ret->type->size);
	if (!dwarf_formblock(&attribute, &block) && block.length == ret->type->size)
		memcpy(bytes, block.data, block.length);
	else if (!dwarf_formsdata(&attribute, &value) && ret->type->size <= 8)
		memcpy(bytes, &value, sizeof(value));
	else
		return 0;
	ret->constant = bytes;
	return 1;
}

/* "optimized away here; known until solve.c:120" */
static const char *explain_absence(struct search *search, Dwarf_Attribute *location)
{
	Dwarf_Addr base, begin, end, last = 0;
	ptrdiff_t offset = 0;
	Dwarf_Line *line;
	Dwarf_Op *ops;
	size_t num;
	int number = 0;
	const char *file;

	while (debug_file_look(search->file) &&
	       (offset = dwarf_getlocations(location, offset, &base, &begin, &end, &ops, &num)) > 0)
		if (end <= search->address && end > last)
			last = end;
	line = last ? dwarf_getsrc_die(&search->unit, last - 1) : NULL;
	file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	if (!file || dwarf_lineno(line, &number) || !number)
		return "optimized away here";
	return arena_printf(search->arena, "optimized away here; known until %s:%d",
			    maps_base(file), number);
}

/* NULL: all are there. Compilers differ in whether a variable counts as being in a register up to
 * the end of a call that changes it. */
static const char *explain_registers(const struct search *search, const struct code_value *value)
{
	for (unsigned int i = 0; i < value->num_terms; i++) {
		unsigned int reg = value->terms[i].place.reg;

		if (reg == CODE_CFA)
			continue;
		if (reg >= NUM_REGISTERS)
			return "in a vector register; gdb reads it";
		if (search->is_return && !(KEPT_REGISTERS >> reg & 1))
			return "in a register that the call may have changed";
	}
	return NULL;
}

static int find_value(struct search *search, Dwarf_Die *die, const struct expression *expression)
{
	struct values_found *ret = search->ret;
	struct place place = {.read.num_bytes = 0};
	Dwarf_Attribute attribute;
	uint64_t slice;
	Dwarf_Op *ops;
	size_t num;

	if (!values_type_of(die, &place.type))
		return 0;
	if (!dwarf_attr_integrate(die, DW_AT_location, &attribute)) {
		if (!expression->num_steps && find_constant(search, die, &place.type))
			return 1;
		/* The definition is elsewhere. */
		if (dwarf_hasattr_integrate(die, DW_AT_declaration))
			return 0;
		ret->trouble = "optimized away";
		return 1;
	}
	if (dwarf_getlocation_addr(&attribute, search->address, &ops, &num, 1) != 1) {
		ret->trouble = explain_absence(search, &attribute);
		return 1;
	}
	if (!variables_locate(search->function, &attribute, ops, num, &place.location)) {
		ret->trouble = num && (ops[0].atom == DW_OP_entry_value ||
				       ops[0].atom == DW_OP_GNU_entry_value ||
				       ops[0].atom == DW_OP_implicit_pointer ||
				       ops[0].atom == DW_OP_GNU_implicit_pointer)
				       ? explain_absence(search, &attribute)
				       : "pdb does not understand where it is; gdb may";
		return 1;
	}
	ret->trouble = explain_registers(search, &place.location.value);
	if (ret->trouble)
		return 1;
	if (take_steps(search, &place, expression, &slice) < 0)
		return -1;
	return finish(search, &place, slice);
}

/* ---- Scopes ---- */

static bool is_variable(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter;
}

/* In the innermost block of a function that holds the address and has the name. */
static bool find_in_block(struct search *search, Dwarf_Die *scope, const char *name,
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
		if ((tag == DW_TAG_lexical_block && dwarf_haspc(&child, search->address) > 0 &&
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
static bool is_declared_in(struct search *search, Dwarf_Die *die, const char *scope, size_t length)
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
static bool find_in_scope(struct search *search, Dwarf_Die *scope, const char *name,
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

static void name_function(struct search *search, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	search->ret->function = name ? arena_strdup(search->arena, name) : NULL;
}

/* A member of the object whose function this is. */
static int find_in_object(struct search *search, Dwarf_Die *function,
			  const struct expression *expression)
{
	struct expression in_object = {.name = "this", .num_steps = 1};
	struct values_type type, object;
	uint64_t offset;
	Dwarf_Die this;

	if (expression->num_steps == EXPRESSION_MAX_STEPS ||
	    !find_in_block(search, function, "this", 0, &this) || !values_type_of(&this, &type) ||
	    dwarf_tag(&type.die) != DW_TAG_pointer_type || !values_type_of(&type.die, &object) ||
	    !values_member(search->file, &object.die, expression->name, false, &offset, &object))
		return 0;
	in_object.steps[0] =
		(struct expression_step){.kind = EXPRESSION_MEMBER, .name = expression->name};
	for (size_t i = 0; i < expression->num_steps; i++)
		in_object.steps[in_object.num_steps++] = expression->steps[i];
	return find_value(search, &this, &in_object);
}

static int find_in_functions(struct search *search, struct debug_functions *functions,
			     const char *function, const struct expression *expression)
{
	for (size_t i = functions->num; i-- > 0;) {
		Dwarf_Die *scope = &functions->list[i], die;
		int result = 0;

		if (function && !values_name_is(scope, function, search->is_fortran))
			continue;
		name_function(search, scope);
		if (find_in_block(search, scope, expression->name, 0, &die))
			result = find_value(search, &die, expression);
		else
			result = find_in_object(search, scope, expression);
		if (result)
			return result;
	}
	return 0;
}

/* ---- Public ---- */

static bool begin(struct search *search, struct values *values, struct arena *arena,
		  uint32_t module, const struct expression *expression, struct values_found *ret,
		  struct pdb_error *err)
{
	*ret = (struct values_found){.probe.module = module};
	*search = (struct search){.arena = arena, .name = expression->name, .ret = ret, .err = err};
	search->file = get_file(values, module);
	return search->file != NULL;
}

int values_find(struct values *values, struct arena *arena, const struct values_frame *frame,
		const char *function, const struct expression *expression, struct values_found *ret,
		struct pdb_error *err)
{
	struct debug_functions *functions = xcalloc(1, sizeof(*functions));
	struct cut_guard guard;
	struct search search;
	int result = 0;

	cut_guard_enter(&guard);
	if (begin(&search, values, arena, frame->module, expression, ret, err)) {
		ret->probe.offset = frame->offset;
		ret->probe.is_return = frame->is_return;
		search.address = frame->offset - frame->is_return;
		search.is_return = frame->is_return;
		if (debug_file_functions(search.file, search.address, functions) &&
		    functions->num) {
			search.unit = functions->unit;
			search.is_fortran = is_fortran(&functions->unit);
			search.function = &functions->list[0];
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
	struct search search;
	Dwarf_CU *unit = NULL;
	Dwarf_Die variable;
	uint8_t type;
	int result = 0;

	cut_guard_enter(&guard);
	if (begin(&search, values, arena, module, expression, ret, err))
		while (!result && !dwarf_get_units(search.file->dwarf, unit, &unit, NULL, &type,
						   &search.unit, NULL)) {
			search.is_fortran = is_fortran(&search.unit);
			if (type == DW_UT_compile &&
			    find_in_scope(&search, &search.unit, expression->name, 0, &variable))
				result = find_value(&search, &variable, expression);
		}
	if (cut_guard_leave(&guard))
		result = error_set(err, ERROR_GONE, "the program's file has changed");
	return result;
}

struct names {
	const char **list;
	size_t num, capacity;
};

static void add_name(struct search *search, struct names *names, const char *name)
{
	for (size_t i = 0; i < names->num; i++)
		if (!strcmp(names->list[i], name))
			return;
	*ARENA_PUSH(search->arena, names->list, names->num, names->capacity) =
		arena_strdup(search->arena, name);
}

static void add_names(struct search *search, Dwarf_Die *scope, unsigned int depth,
		      struct names *names)
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
		    (tag == DW_TAG_lexical_block && dwarf_haspc(&child, search->address) > 0))
			add_names(search, &child, depth + 1, names);
		else if (is_variable(&child) && name &&
			 !dwarf_hasattr_integrate(&child, DW_AT_artificial))
			add_name(search, names, name);
	} while (names->num < MAX_NAMES && debug_file_next(&child, &child));
}

size_t values_names(struct values *values, struct arena *arena, const struct values_frame *frame,
		    const char ***names_ret, const char **function_ret)
{
	struct debug_functions *functions = xcalloc(1, sizeof(*functions));
	struct names names = {.num = 0};
	struct cut_guard guard;
	struct search search = {.arena = arena, .address = frame->offset - frame->is_return};

	*function_ret = NULL;
	cut_guard_enter(&guard);
	search.file = get_file(values, frame->module);
	if (search.file && debug_file_functions(search.file, search.address, functions) &&
	    functions->num) {
		const char *name = dwarf_diename(&functions->list[0]);

		*function_ret = name ? arena_strdup(arena, name) : NULL;
		for (size_t i = functions->num; i-- > 0;)
			add_names(&search, &functions->list[i], 0, &names);
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
	has = get_file(values, module) != NULL;
	cut_guard_leave(&guard);
	return has;
}
