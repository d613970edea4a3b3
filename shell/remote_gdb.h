/* SPDX-License-Identifier: BSD-3-Clause
 * gdb on a rank of another node, at this terminal: a daemon runs it (attach/daemons/pdbd_gdb.h). */
#ifndef PDB_SHELL_REMOTE_GDB_H
#define PDB_SHELL_REMOTE_GDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct daemons;
struct pdb_error;

struct remote_gdb {
	int rank;
	const char *host;         /* where it is */
	const char *const *words; /* for gdb: "-ex COMMAND" and so on; none: somebody types */
	size_t num_words;
	int output_fd; /* for what gdb prints */
};

struct remote_gdb_end {
	int status;   /* gdb's: its exit status, or 128 + signal */
	char before;  /* the rank's state before, as in /proc/PID/stat... */
	char after;   /* ...and afterwards; 'X': it has ended */
	bool is_lost; /* the daemons are of no more use */
};

/* Returns when gdb has ended and the rank goes on. On failure *ret tells whether the daemons are
 * lost; gdb ends then in any case. ERROR_NOT_FOUND: there is no gdb; ERROR_GONE, ERROR_PERMISSION:
 * the rank's; ERROR_TIMEOUT: the host does not answer; ERROR_INTERRUPTED. */
int remote_gdb_run(struct daemons *daemons, const struct remote_gdb *gdb,
		   struct remote_gdb_end *ret, struct pdb_error *err);

#endif
