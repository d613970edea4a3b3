/* SPDX-License-Identifier: BSD-3-Clause
 * Completes the last word of a line: commands, options, ranks, hosts, functions, settings and their
 * values. Each offer has a few words that explain it. */
#ifndef PDB_SHELL_COMPLETE_H
#define PDB_SHELL_COMPLETE_H

#include "model/std.h"

struct completion {
	const char *word;
	const char *what; /* "": nothing to say */
};

struct completions {
	struct completion *all;
	size_t num, capacity;
	bool are_files; /* complete file names instead of words */
	struct arena *arena;
	const struct session *session;
	const char *typed; /* the last word, so far; borrowed from the line */
};

/* Complete `line` at its end; `start` is the offset of its last word. The result lives as long as
 * the arena. */
struct completions complete_line(struct arena *arena, const struct session *session,
				 const char *line, size_t start);

#endif
