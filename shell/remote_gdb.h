/* SPDX-License-Identifier: BSD-3-Clause
 * Runs gdb on a rank of another node, at this terminal. A daemon starts gdb there
 * (attach/daemons/pdbd_gdb.h). */
#pragma once

#include "model/base.h"

struct daemons;
struct proc;

struct remote_gdb {
	int rank;
	const char *host;         /* the rank's host */
	const char *const *words; /* gdb's arguments, "-ex COMMAND" and so on; none: a user types */
	size_t num_words;
	int output_fd;       /* for what gdb prints */
	int error_fd;        /* for what it says of errors, unless a user types */
	uint64_t patience_s; /* then gdb is ended; 0: it may take as long as it needs */
};

struct remote_gdb_end {
	int status;   /* gdb's: its exit status, or 128 + signal */
	char before;  /* the rank's state before, as in /proc/PID/stat */
	char after;   /* the same afterwards; 'X': it has ended */
	bool is_lost; /* the daemons can no longer be used */
};

/* Run gdb until it has ended and the rank continues. On failure gdb ends in any case; *ret then
 * says whether the daemons are lost. -1: ERROR_NOT_FOUND: there is no gdb; ERROR_GONE,
 * ERROR_PERMISSION: about the rank; ERROR_TIMEOUT: the host does not answer, or gdb took too long;
 * ERROR_INTERRUPTED. */
int remote_gdb_run(struct daemons *daemons, const struct remote_gdb *gdb,
		   struct remote_gdb_end *ret, struct pdb_error *err);

/* Say on standard error if the rank has ended, or is stopped and was not before, and how to let it
 * go on. Of a gdb here, too. False: neither. */
bool remote_gdb_tell_end(const struct proc *proc, const struct remote_gdb_end *end);
