/* SPDX-License-Identifier: BSD-3-Clause
 * Where a command's output goes: terminal or pager, `| command`, `> file`, `>> file`, and pictures
 * by the file's ending. */
#ifndef PDB_SHELL_OUTPUT_H
#define PDB_SHELL_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "render/view.h"

struct command;
struct pdb_error;

enum output_kind {
	OUTPUT_PLAIN,
	OUTPUT_PIPE,
	OUTPUT_FILE,
	OUTPUT_APPEND,
	OUTPUT_COLLECTED, /* a file of another format than text, which is written whole or not */
};

struct output {
	enum output_kind kind;
	char *target; /* shell command or file name; NULL for OUTPUT_PLAIN */
	enum format format;
	const char *picture; /* what Graphviz makes of it: "svg", "png", "pdf"; NULL: nothing */

	FILE *stream; /* while open: a gate, or memory */
	FILE *pipe;   /* OUTPUT_PIPE: below the gate */
	FILE *outer;  /* session->out before: lines of a user-defined command write to its output */
	int outer_fd; /* and session->out_fd */
	char *memory; /* what was collected */
	size_t memory_size;
};

/* Part `line` at the first unquoted `|` or `>` into the command (*text_ret, the caller frees) and
 * where its output goes; `command` (NULL: none) has the formats. -1: nothing to free. */
int output_split(const char *line, const struct command *command, char **text_ret,
		 struct output *output, struct pdb_error *err);

/* Open it: session->out is set until output_close(). */
int output_open(struct output *output, struct session *session, bool is_collected,
		struct pdb_error *err);

/* Write what was collected, if `keep` (the command succeeded) or to the terminal, stop the spinner
 * before, wait for the pipe, free. -1 and *err: writing failed. */
int output_close(struct output *output, struct session *session, bool keep, struct pdb_error *err);

#endif
