/* SPDX-License-Identifier: BSD-3-Clause
 * A command's output: terminal or pager, `| command`, `> file`, `>> file`. The file's ending
 * chooses the format, pictures included. */
#ifndef PDB_SHELL_OUTPUT_H
#define PDB_SHELL_OUTPUT_H

#include "render/view.h"

struct command;
struct pdb_error;

enum output_kind {
	OUTPUT_PLAIN,
	OUTPUT_PIPE,
	OUTPUT_FILE,
	OUTPUT_APPEND,
	OUTPUT_COLLECTED, /* a file in another format than text, written completely or not at all */
};

struct output {
	enum output_kind kind;
	char *target; /* shell command or file name; NULL for OUTPUT_PLAIN */
	enum format format;
	const char *picture; /* Graphviz's format: "svg", "png", "pdf"; NULL: no picture */

	FILE *stream; /* while open: a gate, or memory */
	FILE *pipe;   /* OUTPUT_PIPE: below the gate */
	FILE *outer;  /* previous session->out, to which lines of a user-defined command write */
	int outer_fd; /* previous session->out_fd */
	char *memory; /* the collected output */
	size_t memory_size;
};

/* Split `line` at the first unquoted `|` or `>` into the command (*text_ret, the caller frees) and
 * its output. `command` (NULL: none) has the formats. -1 and *err: bad redirection, nothing to
 * free. */
int output_split(const char *line, const struct command *command, char **text_ret,
		 struct output *output, struct pdb_error *err);

/* Open the output. session->out is set until output_close(). -1 and *err. */
int output_open(struct output *output, struct session *session, bool is_collected,
		struct pdb_error *err);

/* Close the output: stop the spinner, write the collected output, wait for the pipe, free. Output
 * collected for a file is written only if `keep` (the command succeeded). -1 and *err: writing
 * failed. */
int output_close(struct output *output, struct session *session, bool keep, struct pdb_error *err);

#endif
