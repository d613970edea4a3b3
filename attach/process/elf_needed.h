/* SPDX-License-Identifier: BSD-3-Clause
 * Which libraries a program loads when it starts, told from the files alone: nothing of them is
 * run.
 *
 * Libraries are looked for as the loader of glibc does: DT_RPATH of whoever needs them and of
 * those that needed these, LD_LIBRARY_PATH of this process, DT_RUNPATH, /etc/ld.so.cache, and
 * the folders of the system. Files are untrusted: what is not ELF has no libraries. */
#ifndef PDB_ATTACH_ELF_NEEDED_H
#define PDB_ATTACH_ELF_NEEDED_H

#include <stdbool.h>

/* Called for the name of each library ("libmpi.so.40"), once, nearest to the program first, also of
 * those that cannot be found: their path is NULL. Returns whether it has seen enough. */
typedef bool (*elf_needed_fn)(const char *name, const char *path, void *context);

/* Go through the libraries of the program or library `path`. Returns whether the function has seen
 * enough. */
bool elf_needed_walk(const char *path, elf_needed_fn visit, void *context);

/* Does the library export a symbol of that name itself? */
bool elf_needed_exports(const char *path, const char *symbol);

#endif
