/* SPDX-License-Identifier: BSD-3-Clause
 * The directories whose command files may be carried out ("safe-path"). */
#ifndef PDB_SHELL_SAFE_PATHS_H
#define PDB_SHELL_SAFE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

struct pdb_error;

/* The directories whose projects are allowed, with all that are below them. */
struct safe_paths {
	char **paths; /* absolute, without symbolic links */
	size_t num, capacity;
};

/* Allow a directory. -1: there is none of this name. */
int safe_paths_add(struct safe_paths *safe, const char *directory, struct pdb_error *err);
/* Is the directory, absolute and without symbolic links, one of them or below one? */
bool safe_paths_contain(const struct safe_paths *safe, const char *directory);
void safe_paths_clear(struct safe_paths *safe);

#endif
