/* SPDX-License-Identifier: BSD-3-Clause
 * The directories whose command files pdb may run ("safe-path"). */
#ifndef PDB_SHELL_SAFE_PATHS_H
#define PDB_SHELL_SAFE_PATHS_H

#include "model/std.h"

struct pdb_error;

/* The allowed directories; all directories below them are allowed, too. */
struct safe_paths {
	char **paths; /* absolute, without symbolic links */
	size_t num, capacity;
};

/* Allow a directory. -1 and *err: there is no directory of this name. */
int safe_paths_add(struct safe_paths *safe, const char *directory, struct pdb_error *err);
/* Is the directory one of them or below one? It is absolute and without symbolic links. */
bool safe_paths_contain(const struct safe_paths *safe, const char *directory);
void safe_paths_clear(struct safe_paths *safe);

#endif
