/* SPDX-License-Identifier: BSD-3-Clause
 * The command line of gdb on a rank of this node. gdb starts in the first frame of the program's
 * own code; if there is none, as in Python, in the one that called MPI, or the innermost.
 *
 * gdb finds that frame itself, with a short script that goes up until the program counter is in a
 * module of the program. pdb cannot give its number: gdb counts one more frame for each inlined
 * function. The script is an anonymous file that gdb inherits. */
#pragma once

#include "model/base.h"

struct gdb_call {
	const char **argv; /* "gdb" first, NULL last */
	int script;        /* not close-on-exec; -1: none */
	char script_path[32], pid_text[16];
};

/* gdb on process `pid`. words: "-ex COMMAND" and so on, borrowed; none: somebody is going to type.
 * With them gdb ends after the last. */
void gdb_call_init(struct gdb_call *call, pid_t pid, const char *const words[], size_t num_words);
void gdb_call_deinit(struct gdb_call *call);
