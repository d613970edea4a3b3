/* SPDX-License-Identifier: BSD-3-Clause
 * The files that hold a module's symbols and debug information. */
#ifndef PDB_ATTACH_DEBUG_FILE_H
#define PDB_ATTACH_DEBUG_FILE_H

#include <elfutils/libdw.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

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

/* Open the module itself: as the process that has it mapped sees it, by its path here, or that
 * process' executable if the path is another file's by now; only with the module's build-id, if it
 * has one. -1 if there is no such file any more. */
int debug_file_open(const struct module *module, struct debug_file *ret);

/* Open the separate debug file of a module: by build-id or by the name in .gnu_debuglink, in the
 * process' file system and in ours. -1 if none is installed. Never asks a debuginfod server. */
int debug_file_open_separate(const struct module *module, const struct debug_file *main,
			     struct debug_file *ret);

/* The compilation unit that holds the address. False if there is none. */
bool debug_file_find_unit(struct debug_file *file, Dwarf_Addr address, Dwarf_Die *ret);

/* Take one of the file's looks. False: there is none left. Looking follows the file's size, however
 * often it is asked: a small file can have thousands of entries that share a long list of ranges.
 */
bool debug_file_look(struct debug_file *file);

/* Does an entry hold the address? Takes a look for each of its ranges; without one left it does
 * not. */
bool debug_file_holds(struct debug_file *file, Dwarf_Die *entry, Dwarf_Addr address);

/* The file's debug information, NULL where it has none. Borrowed. The first call of a file takes
 * some milliseconds for a compressed one, which is read as a whole. */
Dwarf *debug_file_dwarf(struct debug_file *file);

/* False if the file has been written to since it was opened: then what was read may be of either.
 */
bool debug_file_is_same(const struct debug_file *file);

void debug_file_close(struct debug_file *file);

#endif
