/* SPDX-License-Identifier: BSD-3-Clause
 * What the last word of a line may become: commands, ranks, hosts, settings and their values. */
#ifndef PDB_SHELL_COMPLETE_H
#define PDB_SHELL_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>

struct session;

struct completions {
	char **words;
	size_t num_words, capacity;
	bool are_files; /* complete names of files in place of words */
};

/* Complete `line` at its end; `start` is where its last word begins. */
void complete_line(const struct session *session, const char *line, size_t start,
		   struct completions *ret);
void completions_free(struct completions *completions);

#endif
