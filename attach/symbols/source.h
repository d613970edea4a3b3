/* SPDX-License-Identifier: BSD-3-Clause
 * Source files: where they are, their lines, and where functions begin in them. */
#pragma once

#include "model/base.h"

struct debug_modules;

struct source {
	const char *path;         /* by which it was found, as the user sees it */
	const char *const *lines; /* as they are in the file: print them cleaned */
	size_t num;
	int64_t written_s; /* when it was last written to, seconds since 1970 */
};

/* Read a file that debug information names. Looked for by its own path, in the root of the process
 * `pid` (0: none) and here, then in each of the directories in `dirs` (separated by colons): by all
 * of the path, then without its first components one after the other. The arena owns the result.
 * NULL: *err says where it is not, or why it is not read. */
const struct source *source_open(struct arena *arena, const char *file, pid_t pid, const char *dirs,
				 struct pdb_error *err);

/* Is `file` the one that `tail` names: equal, or with more directories in front? */
bool source_is_called(const char *file, const char *tail);

/* Where a function is declared, by its name, with or without its scopes ("solver::step"), in the
 * debug information of a module. The file is the arena's. False: not there. */
bool source_find_function(struct debug_modules *modules, struct arena *arena, uint32_t module,
			  const char *name, const char **file_ret, int *line_ret);

/* A source file of the module that source_is_called() `tail`; the arena's. NULL: there is none. */
const char *source_find_file(struct debug_modules *modules, struct arena *arena, uint32_t module,
			     const char *tail);
