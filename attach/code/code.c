/* SPDX-License-Identifier: BSD-3-Clause */
#include <fnmatch.h>
#include <gelf.h>

#include "attach/code/code.h"
#include "attach/code/code_private.h"
#include "attach/symbols/cut_guard.h"
#include "model/job/code_store.h"
#include "model/job/modules.h"

#define MAX_PARTS 8
#define MAX_LOOK 65536 /* bytes of a called function that are looked at */

/* What reading a function may take beside what follows from its file's size: instructions decoded,
 * its own and those of functions that it calls or jumps to; memory for its own. */
#define LEAST_EFFORT ((uint64_t)1 << 20)
#define LEAST_MEMORY ((uint64_t)24 << 20)
#define SEARCH 16 /* for where a function begins: as long as so many instructions */

struct code_reader {
	const struct modules *modules;
	struct code_store *store;
	struct code_file *files; /* by module */
	size_t num_files;
	struct cut_guard guard; /* while files are read */
	uint64_t effort;
};

struct code_reader *code_reader_create(const struct modules *modules, struct code_store *store)
{
	struct code_reader *reader = xcalloc(1, sizeof(*reader));

	reader->modules = modules;
	reader->store = store;
	return reader;
}

void code_reader_destroy(struct code_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < reader->num_files; i++)
		code_file_close(&reader->files[i]);
	free(reader->files);
	free(reader);
}

/* ---- Files ---- */

static const struct code_machine *find_machine(Elf *elf)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(elf, &header) || header.e_ident[EI_CLASS] != ELFCLASS64)
		return NULL;
	return header.e_machine == EM_X86_64    ? &code_machine_x86
	       : header.e_machine == EM_AARCH64 ? &code_machine_arm64
						: NULL;
}

static void open_file(const struct module *module, struct code_file *file)
{
	code_file_open(module, file);
	file->machine = file->files.main.elf ? find_machine(file->files.main.elf) : NULL;
	if (!file->machine ||
	    cs_open(file->machine->arch, file->machine->mode, &file->handle) != CS_ERR_OK)
		return;
	cs_option(file->handle, CS_OPT_DETAIL, CS_OPT_ON);
	cs_option(file->handle, CS_OPT_SKIPDATA, CS_OPT_OFF);
}

static struct code_file *get_file(struct code_reader *reader, uint32_t id)
{
	size_t num = modules_count(reader->modules);

	if (id >= num)
		return NULL;
	reader->files = xgrow_to(reader->files, &reader->num_files, num, sizeof(*reader->files));
	if (!reader->files[id].files.is_open)
		open_file(modules_get(reader->modules, id), &reader->files[id]);
	reader->effort = LEAST_EFFORT + reader->files[id].stored;
	reader->files[id].effort = &reader->effort;
	return &reader->files[id];
}

const struct code_file *code_reader_file(struct code_reader *reader, uint32_t module)
{
	return get_file(reader, module);
}

static bool is_in_file(const struct code_file *file, const struct code_bounds *bounds)
{
	return code_file_bytes(file, bounds->range.begin, bounds->range.end - bounds->range.begin);
}

/* Has the compiler put `part` of function `name` elsewhere: name.cold, name.cold.3? */
static bool is_part_name(const char *part, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(part, name, length) && !strncmp(part + length, ".cold", 5);
}

/* ---- Functions that do not return ---- */

static bool is_noreturn_name(const char *name)
{
	/* "*": with versions and in many variants. */
	static const char *const names[] = {
		"exit",         "__longjmp_chk",    "_gfortran_stop_*",
		"abort",        "__assert_fail*",   "_gfortran_os_error*",
		"_exit",        "__fortify_fail*",  "_gfortran_error_stop_*",
		"_Exit",        "__cxa_rethrow*",   "_gfortran_runtime_error*",
		"longjmp",      "_Unwind_Resume*",  "__stack_chk_fail*",
		"quick_exit",   "_ZSt9terminatev*", "__libc_start_main",
		"siglongjmp",   "_ZSt17__throw_*",  "__libc_start_main_impl",
		"pthread_exit", "_ZSt20__throw_*",  "__libc_start_call_main",
		"__cxa_throw*", "_ZSt24__throw_*",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!fnmatch(names[i], name, 0))
			return true;
	return false;
}

/* Is there no way out of the function in its code: no return, no jump to another one? */
static bool has_no_way_out(const struct code_file *file, const struct code_range *range)
{
	const uint8_t *bytes = code_file_bytes(file, range->begin, range->end - range->begin);
	size_t left = range->end - range->begin;
	uint64_t address = range->begin;
	bool has = false;

	if (!bytes || left > MAX_LOOK)
		return false;
	cs_insn *decoded = cs_malloc(file->handle);
	while (left && !has && code_file_spend(file, 1) &&
	       cs_disasm_iter(file->handle, &bytes, &left, &address, decoded))
		has = file->machine->may_leave(file->handle, decoded, range);
	cs_free(decoded, 1);
	return !left && !has;
}

/* The pointer that a stub jumps through; 0: it is none. */
static uint64_t stub_pointer(const struct code_file *file, uint64_t address)
{
	const uint8_t *stub = code_file_bytes(file, address, 16);

	return stub ? file->machine->stub_pointer(stub, 16, address) : 0;
}

const char *code_file_name(const struct code_file *file, uint64_t address)
{
	uint64_t pointer = stub_pointer(file, address);
	struct code_bounds bounds;

	if (pointer)
		return code_file_relocated_name(file, pointer);
	return code_file_bounds(file, address, &bounds) ? bounds.name : NULL;
}

static bool is_noreturn(const struct code_file *file, uint64_t target)
{
	struct code_bounds bounds;
	uint64_t pointer = stub_pointer(file, target);
	const char *name = pointer ? code_file_relocated_name(file, pointer) : NULL;

	if (pointer)
		return name && is_noreturn_name(name);
	if (!code_file_spend(file, SEARCH) || !code_file_bounds(file, target, &bounds))
		return false;
	return (bounds.name && is_noreturn_name(bounds.name)) ||
	       (bounds.range.begin == target && has_no_way_out(file, &bounds.range));
}

/* ---- Decoding ---- */

static bool is_too_large(const struct code_builder *builder)
{
	const struct code_function *function = builder->function;

	return function->num_insns * sizeof(*function->insns) +
		       function->num_effects * sizeof(*function->effects) +
		       function->num_targets * sizeof(*function->targets) >
	       LEAST_MEMORY + builder->file->stored;
}

static void decode_range(struct code_builder *builder, const struct code_range *range)
{
	const struct code_file *file = builder->file;
	struct code_function *function = builder->function;
	const uint8_t *bytes = code_file_bytes(file, range->begin, range->end - range->begin);
	size_t left = range->end - range->begin;
	uint64_t address = range->begin;
	cs_insn *decoded = cs_malloc(file->handle);
	size_t step = file->machine->arch == CS_ARCH_X86 ? 1 : 4;

	memset(builder->tables, 0, sizeof(builder->tables));
	builder->has_compared = false;
	builder->bound = builder->bound_at = 0;
	while (bytes && left) {
		struct code_insn insn = {.address = address};

		if (!code_file_spend(file, 1) || is_too_large(builder))
			break;
		if (address == builder->bound_at)
			builder->bound = builder->bound_then;
		if (cs_disasm_iter(file->handle, &bytes, &left, &address, decoded)) {
			insn.length = (uint8_t)decoded->size;
			file->machine->decode(builder, file->handle, decoded, &insn);
		} else {
			/* Not understood: nothing runs on from there. */
			insn.length = (uint8_t)(left < step ? left : step);
			insn.kind = CODE_END;
			bytes += insn.length;
			left -= insn.length;
			address += insn.length;
		}
		if (insn.kind == CODE_CALL && insn.target && is_noreturn(file, insn.target))
			insn.kind = CODE_END;
		*XPUSH(function->insns, function->num_insns, builder->insns_capacity) = insn;
	}
	/* The rest is as if it were not understood. */
	if (left && function->num_insns)
		function->insns[function->num_insns - 1].kind = CODE_END;
	cs_free(decoded, 1);
}

static bool is_in_ranges(const struct code_function *function, uint64_t address)
{
	for (size_t i = 0; i < function->num_ranges; i++)
		if (address >= function->ranges[i].begin && address < function->ranges[i].end)
			return true;
	return false;
}

static void begin(struct code_builder *builder, const struct code_file *file,
		  const struct code_range *range)
{
	struct code_function *function = xcalloc(1, sizeof(*function));

	*builder = (struct code_builder){.function = function, .file = file};
	function->entry = range->begin;
	function->ranges = xcalloc(MAX_PARTS, sizeof(*function->ranges));
	function->ranges[function->num_ranges++] = *range;
	function->preserved = file->machine->preserved;
	function->stack_pointer = file->machine->stack_pointer;
	function->entry_offset = file->machine->entry_offset;
	decode_range(builder, range);
}

static bool is_jump_out(const struct code_function *function, const struct code_insn *insn)
{
	return (insn->kind == CODE_JUMP || insn->kind == CODE_BRANCH) &&
	       !is_in_ranges(function, insn->target);
}

/* Does the code of that range jump back into the middle of the function? Then it is a part of it; a
 * function that is called at the end of another one does not. */
static bool jumps_back(const struct code_file *file, const struct code_range *range,
		       const struct code_function *into)
{
	struct code_builder builder;
	bool does = false;

	begin(&builder, file, range);
	for (size_t i = 0; i < builder.function->num_insns && !does; i++) {
		const struct code_insn *insn = &builder.function->insns[i];

		does = is_jump_out(builder.function, insn) && insn->target != into->entry &&
		       is_in_ranges(into, insn->target);
	}
	code_function_destroy(builder.function);
	return does;
}

static bool is_part(const struct code_file *file, const struct code_function *function,
		    const char *name, uint64_t target, struct code_bounds *ret)
{
	/* All stubs are one range of unwind information. */
	if (!code_file_spend(file, SEARCH) || stub_pointer(file, target) ||
	    !code_file_bounds(file, target, ret))
		return false;
	if (name && ret->name)
		return is_part_name(ret->name, name);
	return ret->range.begin != target || jumps_back(file, &ret->range, function);
}

static void decode_part(struct code_builder *builder, const char *name, uint64_t target)
{
	struct code_function *function = builder->function;
	struct code_bounds bounds;

	if (is_in_ranges(function, target) || function->num_ranges == MAX_PARTS ||
	    !is_part(builder->file, function, name, target, &bounds))
		return;
	function->ranges[function->num_ranges++] = bounds.range;
	decode_range(builder, &bounds.range);
}

/* Decode the parts that the function jumps to. The lists grow meanwhile. */
static void decode_parts(struct code_builder *builder, const char *name)
{
	struct code_function *function = builder->function;

	for (size_t i = 0; i < function->num_insns; i++)
		if (is_jump_out(function, &function->insns[i]))
			decode_part(builder, name, function->insns[i].target);
	for (size_t i = 0; i < function->num_targets; i++)
		decode_part(builder, name, function->targets[i]);
}

SORTED_BY(by_address, struct code_insn, address)

static struct code_function *decode_function(const struct code_file *file,
					     const struct code_bounds *bounds)
{
	struct code_builder builder;
	struct code_function *function;

	begin(&builder, file, &bounds->range);
	decode_parts(&builder, bounds->name);
	function = builder.function;
	sorted_make(function->insns, function->num_insns, sizeof(*function->insns), by_address);
	for (size_t i = 0; i < function->num_insns; i++) {
		struct code_insn *insn = &function->insns[i];

		/* To another function, which returns to this one's caller. */
		if (insn->kind == CODE_JUMP && !is_in_ranges(function, insn->target))
			insn->kind = CODE_END;
		if (insn->kind == CODE_BRANCH && !is_in_ranges(function, insn->target))
			insn->kind = CODE_PLAIN;
	}
	return function;
}

/* The function that a part belongs to: one that it jumps back to and that has it. */
static bool find_whole(const struct code_file *file, const struct code_bounds *part,
		       struct code_bounds *ret)
{
	struct code_builder builder;
	bool is_found = false;

	begin(&builder, file, &part->range);
	for (size_t i = 0; i < builder.function->num_insns && !is_found; i++) {
		const struct code_insn *insn = &builder.function->insns[i];

		if (!is_jump_out(builder.function, insn) || !code_file_spend(file, SEARCH) ||
		    !code_file_bounds(file, insn->target, ret) || ret->range.begin == insn->target)
			continue;
		is_found = !part->name || !ret->name || is_part_name(part->name, ret->name);
	}
	code_function_destroy(builder.function);
	return is_found;
}

/* ---- Look-ups ---- */

/* The C library calls main(), so it is in each stack: its debug information is large, and of no use
 * for the program's loops. */
static struct code_variables *read_variables(const struct code_reader *reader, uint32_t module,
					     struct code_file *file,
					     const struct code_function *function)
{
	if (modules_get(reader->modules, module)->kind == MODULE_SYSTEM)
		return xcalloc(1, sizeof(struct code_variables));
	return variables_read(debug_file_dwarf(&file->files.main) ? &file->files.main
								  : &file->files.separate,
			      function);
}

/* NULL if somebody writes to the file: nothing that was read of it is kept. */
static const struct code_function *add(struct code_reader *reader, uint32_t module,
				       struct code_file *file, const struct code_bounds *bounds)
{
	const struct code_body *known = code_store_find(reader->store, module, bounds->range.begin);
	struct code_variables *variables;
	struct code_function *function;

	if (known && known->function->entry == bounds->range.begin)
		return known->function;
	function = decode_function(file, bounds);
	variables = read_variables(reader, module, file, function);
	if (!reader->guard.is_cut && debug_files_are_same(&file->files))
		return code_store_add(reader->store, module, function, variables)->function;
	code_variables_destroy(variables);
	code_function_destroy(function);
	return NULL;
}

static const struct code_function *read_function(struct code_reader *reader, uint32_t module,
						 uint64_t address, struct pdb_error *err)
{
	struct code_file *file = get_file(reader, module);
	const struct code_function *function;
	struct code_bounds bounds, whole;

	if (!file || !file->files.main.elf) {
		error_set(err, ERROR_NOT_FOUND, "its file is not there");
		return NULL;
	}
	if (!file->handle) {
		error_set(err, ERROR_UNSUPPORTED, "its machine code is not understood");
		return NULL;
	}
	if (!code_file_bounds(file, address, &bounds) || !is_in_file(file, &bounds)) {
		error_set(err, ERROR_NOT_FOUND, "it is not known where the function begins");
		return NULL;
	}
	if ((!bounds.name || strstr(bounds.name, ".cold")) && find_whole(file, &bounds, &whole) &&
	    is_in_file(file, &whole)) {
		function = add(reader, module, file, &whole);
		if (function && is_in_ranges(function, address))
			return function;
	}
	function = add(reader, module, file, &bounds);
	if (!function)
		error_set(err, ERROR_GONE, "its file was written to while it was read");
	return function;
}

const struct code_function *code_reader_get(struct code_reader *reader, uint32_t module,
					    uint64_t address, struct pdb_error *err)
{
	const struct code_body *known = code_store_find(reader->store, module, address);
	const struct code_function *function;

	if (known)
		return known->function;
	cut_guard_enter(&reader->guard);
	function = read_function(reader, module, address, err);
	cut_guard_leave(&reader->guard);
	return function;
}

char *code_reader_name(struct code_reader *reader, uint32_t module, uint64_t address)
{
	const struct code_file *file;
	const char *name = NULL;
	char *copy = NULL;

	cut_guard_enter(&reader->guard);
	file = get_file(reader, module);
	if (file && file->handle)
		name = code_file_name(file, address);
	if (name)
		copy = xstrdup(name);
	if (cut_guard_leave(&reader->guard)) {
		free(copy);
		copy = NULL;
	}
	return copy;
}

size_t code_reader_calls(struct code_reader *reader, uint32_t module, uint64_t target,
			 uint64_t *ret, size_t max)
{
	const struct code_file *file;
	size_t num = SIZE_MAX;

	cut_guard_enter(&reader->guard);
	file = get_file(reader, module);
	if (file && file->machine == &code_machine_x86)
		num = code_file_calls(file, target, ret, max);
	return cut_guard_leave(&reader->guard) ? SIZE_MAX : num;
}

bool code_reader_may_import(struct code_reader *reader, uint32_t module, const char *name)
{
	const struct code_file *file;
	bool may = true;

	cut_guard_enter(&reader->guard);
	file = get_file(reader, module);
	if (file && file->num_segments)
		may = code_file_has_text(file, name);
	return cut_guard_leave(&reader->guard) || may;
}
