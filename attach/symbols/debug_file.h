/* SPDX-License-Identifier: BSD-3-Clause
 * The files that hold a module's symbols and debug information. */
#pragma once

#include <elfutils/libdw.h>
#include <sys/stat.h>

#include "model/base.h"

struct module;

/* Mapped: reading one, from its opening on, is for within a struct cut_guard. */
struct debug_file {
	int fd;             /* -1: closed, or the kernel's vdso, which is no file */
	struct stat status; /* when it was opened */
	Elf *elf;
	bool has_debug_information;
	Dwarf *dwarf;              /* NULL before debug_file_dwarf() */
	char *path;                /* it was opened by this */
	pid_t pid;                 /* in whose root others are looked for, too; 0: nobody's */
	struct debug_file *shared; /* with what dwz has found in several files; NULL: none */
	uint64_t looks; /* that are left at entries of debug information and their ranges */
};

/* What there is of a module: its own file, the separate one with its debug information, if it has
 * none itself, and the functions, by the better of their symbol tables. */
struct debug_files {
	bool is_open; /* debug_files_open() has been called */
	struct debug_file main, separate;
	struct symbol_table *table; /* NULL: none */
};

/* Zeroed before. The module's file is opened as the process that has it mapped sees it, by its path
 * here, or as that process' executable if the path is another file's by now; only with the module's
 * build-id, if it has one. The separate one by build-id or .gnu_debuglink, in the process' file
 * system and in ours. Never asks a debuginfod server. -1: no such file any more. */
int debug_files_open(const struct module *module, struct debug_files *ret);
/* What was opened is not there any more; it counts as open all the same. */
void debug_files_close(struct debug_files *files);
/* False if one has been written to since it was opened: then what was read may be of either. */
bool debug_files_are_same(const struct debug_files *files);

/* The files of all modules, opened when asked for. `modules` is borrowed, the rest zeroed. */
struct debug_modules {
	const struct modules *modules;
	struct debug_files *files; /* by module */
	size_t num;
};

/* NULL: there is no such module. Valid until the next call. */
struct debug_files *debug_modules_get(struct debug_modules *of, uint32_t module);
void debug_modules_close(struct debug_modules *of);

/* The section of that name with content; NULL: there is none. */
Elf_Scn *debug_file_section(Elf *elf, const char *name);

/* Take one of the file's looks, which follow its size: a small file can have thousands of entries
 * that share a long list of ranges. False: none is left. */
bool debug_file_look(struct debug_file *file);

/* Is the unit's language a version of Fortran? */
bool debug_file_is_fortran(Dwarf_Die *unit);

/* The directory that a unit was compiled in; NULL: it does not say. */
const char *debug_file_directory(Dwarf_Die *unit);
/* The path of a source file, which may be relative to that directory. The arena owns it; NULL for
 * NULL. */
char *debug_file_path(struct arena *arena, const char *directory, const char *file);

/* The next entry of a scope. A damaged file may name one before it, which would go on for ever. */
bool debug_file_next(Dwarf_Die *die, Dwarf_Die *ret);

enum { DEBUG_MAX_DEPTH = 256 }; /* of scopes, each in the one before: more is nobody's program */

/* The functions that an address is in, the outermost first, each inlined into the one before. */
struct debug_functions {
	Dwarf_Die unit;
	Dwarf_Die list[DEBUG_MAX_DEPTH];
	size_t num;
};

/* False if no unit has the address. Takes looks: without one left none is found. */
bool debug_file_functions(struct debug_file *file, Dwarf_Addr address, struct debug_functions *ret);

/* The file's debug information, NULL where it has none. Borrowed. The first call of a file takes
 * some milliseconds for a compressed one, which is read as a whole. */
Dwarf *debug_file_dwarf(struct debug_file *file);
