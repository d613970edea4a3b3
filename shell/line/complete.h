/* SPDX-License-Identifier: BSD-3-Clause
 * What the last word of a line may become: commands, options, ranks, hosts, functions, settings and
 * their values, each with a few words on what it is. */
#ifndef PDB_SHELL_COMPLETE_H
#define PDB_SHELL_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>

struct completion {
	const char *word;
	const char *what; /* "": nothing to say */
};

struct completions {
	struct completion *all;
	size_t num, capacity;
	bool are_files; /* complete names of files in place of words */
	struct arena *arena;
	const struct session *session;
	const char *typed; /* the last word, so far; borrowed from the line */
};

/* Complete `line` at its end; `start` is where its last word begins. All is the arena's. */
struct completions complete_line(struct arena *arena, const struct session *session,
				 const char *line, size_t start);

#endif
