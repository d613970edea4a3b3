/* SPDX-License-Identifier: BSD-3-Clause */
#include <dwarf.h>
#include <fcntl.h>
#include <strings.h>
#include <unistd.h>

#include "attach/symbols/cut_guard.h"
#include "attach/symbols/debug_file.h"
#include "attach/symbols/source.h"
#include "model/regular_file.h"

enum { MAX_SIZE = 16 << 20, MAX_DEPTH = 64 };

/* ---- Files ---- */

static char *read_all(struct arena *arena, int fd, size_t size)
{
	char *text = arena_alloc(arena, size + 1);
	size_t num = 0;
	ssize_t more;

	while (num < size && (more = read(fd, text + num, size - num)) > 0)
		num += (size_t)more;
	for (size_t i = 0; i < num; i++)
		text[i] = text[i] ? text[i] : ' ';
	text[num] = 0;
	return text;
}

static void split(struct arena *arena, char *text, struct source *ret)
{
	const char **lines = NULL;
	size_t capacity = 0;

	while (*text) {
		size_t length = strcspn(text, "\n");
		bool is_last = !text[length];

		text[length] = 0;
		if (length && text[length - 1] == '\r')
			text[length - 1] = 0;
		*ARENA_PUSH(arena, lines, ret->num, capacity) = text;
		text += length + !is_last;
	}
	ret->lines = lines;
}

/* 1: read, 0: there is no such file. -1: *err. */
static int try_path(struct arena *arena, const char *path, const char *shown, struct source *ret,
		    struct pdb_error *err)
{
	struct stat status;
	int fd = regular_file_open(AT_FDCWD, path, 0, &status);

	if (fd < 0)
		return 0;
	if (status.st_size > MAX_SIZE) {
		close(fd);
		return error_set(err, ERROR_UNSUPPORTED, "%s is too large to be a source", shown);
	}
	*ret = (struct source){.path = arena_strdup(arena, shown),
			       .written_s = status.st_mtim.tv_sec};
	split(arena, read_all(arena, fd, (size_t)status.st_size), ret);
	close(fd);
	return 1;
}

/* In one directory: the whole path below it, then ever less of it. */
static int try_below(struct arena *arena, const char *dir, const char *file, struct source *ret,
		     struct pdb_error *err)
{
	for (const char *tail = file; tail; tail = strchr(tail, '/')) {
		const char *path;
		int result;

		tail += strspn(tail, "/");
		path = arena_printf(arena, "%s/%s", dir, tail);
		result = try_path(arena, path, path, ret, err);
		if (result)
			return result;
	}
	return 0;
}

static int try_dirs(struct arena *arena, const char *dirs, const char *file, struct source *ret,
		    struct pdb_error *err)
{
	int result = 0;

	while (*dirs && !result) {
		size_t length = strcspn(dirs, ":");

		if (length)
			result = try_below(arena, arena_strndup(arena, dirs, length), file, ret,
					   err);
		dirs += length + (dirs[length] == ':');
	}
	return result;
}

const struct source *source_open(struct arena *arena, const char *file, pid_t pid, const char *dirs,
				 struct pdb_error *err)
{
	struct source *source = arena_alloc(arena, sizeof(*source));
	int result = 0;

	if (*file == '/' && pid > 0)
		result = try_path(arena, arena_printf(arena, "/proc/%d/root%s", (int)pid, file),
				  file, source, err);
	if (!result && *file == '/')
		result = try_path(arena, file, file, source, err);
	if (!result)
		result = try_dirs(arena, dirs, file, source, err);
	if (!result)
		error_set(err, ERROR_NOT_FOUND, "%s is not on this host, nor below %s", file,
			  *dirs ? dirs : "any directory");
	return result > 0 ? source : NULL;
}

bool source_is_called(const char *file, const char *tail)
{
	size_t length = strlen(file), wanted = strlen(tail);

	return wanted && length >= wanted && !strcmp(file + length - wanted, tail) &&
	       (length == wanted || file[length - wanted - 1] == '/');
}

/* ---- Debug information ---- */

struct find {
	struct debug_file *file;
	const char *name; /* the last component */
	Dwarf_Die found;
};

static bool find_below(struct find *find, Dwarf_Die *scope, unsigned int depth)
{
	Dwarf_Die child;

	if (depth == MAX_DEPTH || dwarf_child(scope, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);
		const char *name = tag == DW_TAG_subprogram ? dwarf_diename(&child) : NULL;
		/* Fortran programs have functions within others. */
		bool is_scope = tag == DW_TAG_namespace || tag == DW_TAG_module ||
				tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
				(tag == DW_TAG_subprogram && dwarf_hasattr(&child, DW_AT_low_pc));

		if (!debug_file_look(find->file))
			return false;
		if (name && !strcmp(name, find->name) &&
		    !dwarf_hasattr(&child, DW_AT_declaration)) {
			find->found = child;
			return true;
		}
		if (is_scope && find_below(find, &child, depth + 1))
			return true;
	} while (debug_file_next(&child, &child));
	return false;
}

/* Is it in the scope before the last component of the name? */
static bool is_within(Dwarf_Die *function, const char *name)
{
	const char *last = strrchr(name, ':'), *begin;
	Dwarf_Die declared = *function, *scopes;
	Dwarf_Attribute attribute;
	bool is_in = false;
	int num;

	if (!last || last == name || last[-1] != ':')
		return true;
	for (begin = --last; begin > name && begin[-1] != ':';)
		begin--;
	dwarf_formref_die(dwarf_attr(function, DW_AT_specification, &attribute), &declared);
	num = dwarf_getscopes_die(&declared, &scopes);
	for (int i = 1; i < num && !is_in; i++) {
		const char *scope = dwarf_diename(&scopes[i]);

		is_in = scope && strlen(scope) == (size_t)(last - begin) &&
			!strncasecmp(scope, begin, (size_t)(last - begin));
	}
	if (num > 0)
		free(scopes);
	return is_in;
}

static struct debug_file *with_units(struct debug_modules *modules, uint32_t module)
{
	struct debug_files *files = debug_modules_get(modules, module);

	if (!files)
		return NULL;
	return debug_file_dwarf(&files->main)       ? &files->main
	       : debug_file_dwarf(&files->separate) ? &files->separate
						    : NULL;
}

/* Go through the units of compilation until one has it. */
static bool each_unit(struct debug_modules *modules, uint32_t module,
		      bool (*look)(void *context, struct debug_file *file, Dwarf_Die *unit),
		      void *context)
{
	struct cut_guard guard;
	struct debug_file *file;
	Dwarf_CU *unit = NULL;
	bool is_found = false;
	Dwarf_Die die;
	uint8_t type;

	cut_guard_enter(&guard);
	file = with_units(modules, module);
	while (file && !is_found &&
	       !dwarf_get_units(file->dwarf, unit, &unit, NULL, &type, &die, NULL))
		is_found = type == DW_UT_compile && look(context, file, &die);
	return !cut_guard_leave(&guard) && is_found;
}

struct wanted {
	struct arena *arena;
	const char *name;
	const char *file;
	int line;
};

static bool look_for_function(void *context, struct debug_file *file, Dwarf_Die *unit)
{
	struct wanted *wanted = context;
	const char *last = strrchr(wanted->name, ':'), *declared;
	struct find find = {.file = file, .name = last ? last + 1 : wanted->name};

	if (!find_below(&find, unit, 0) || !is_within(&find.found, wanted->name) ||
	    !(declared = dwarf_decl_file(&find.found)) ||
	    dwarf_decl_line(&find.found, &wanted->line))
		return false;
	wanted->file = debug_file_path(wanted->arena, debug_file_directory(unit), declared);
	return true;
}

bool source_find_function(struct debug_modules *modules, struct arena *arena, uint32_t module,
			  const char *name, const char **file_ret, int *line_ret)
{
	struct wanted wanted = {.arena = arena, .name = name};
	bool is_found = each_unit(modules, module, look_for_function, &wanted);

	*file_ret = wanted.file;
	*line_ret = wanted.line;
	return is_found;
}

static bool look_for_file(void *context, struct debug_file *file, Dwarf_Die *unit)
{
	struct wanted *wanted = context;
	Dwarf_Files *files;
	size_t num;

	(void)file;
	if (dwarf_getsrcfiles(unit, &files, &num))
		return false;
	for (size_t i = 0; i < num && !wanted->file; i++) {
		const char *name = dwarf_filesrc(files, i, NULL, NULL);

		if (name && source_is_called(name, wanted->name))
			wanted->file =
				debug_file_path(wanted->arena, debug_file_directory(unit), name);
	}
	return wanted->file != NULL;
}

const char *source_find_file(struct debug_modules *modules, struct arena *arena, uint32_t module,
			     const char *tail)
{
	struct wanted wanted = {.arena = arena, .name = tail};

	return each_unit(modules, module, look_for_file, &wanted) ? wanted.file : NULL;
}
