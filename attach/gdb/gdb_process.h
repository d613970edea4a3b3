/* SPDX-License-Identifier: BSD-3-Clause
 * gdb on a rank of this node, at a terminal of its own whose other end is here: how a daemon runs
 * gdb for a user at another node.
 *
 * Whatever happens to the daemon, gdb ends and lets the rank go: it loses its terminal, and a
 * signal comes when the daemon has died. A gdb that does not react gets stronger signals.
 *
 * gdb_call.c makes the command line of gdb, gdb_guard.c is a process that keeps the rank as it was,
 * gdb_order.c is what pdb and daemon say to each other. */
#pragma once

#include "model/base.h"

struct gdb_order;

struct gdb_process {
	pid_t pid;  /* of gdb */
	pid_t rank; /* of the rank */
	int status; /* when it has ended: its exit status, or 128 + signal */
	bool has_ended;
	uint64_t interrupted_ns; /* when somebody last typed Ctrl-C for it; 0: nobody has */
	uint64_t ending_ns;      /* since when it is to end; 0: it is not */
	uint64_t told_ns;        /* when it was told so first */
	unsigned num_told;       /* in how many ways */
	uint64_t start_ticks;    /* of the rank */
	bool was_stopped;        /* the rank, by a signal, before gdb */
	pid_t guard;
};

#define GDB_PROCESS_PATIENCE_MS 1500

/* Start it. *terminal_ret: what it writes, and what is typed for it; *errors_ret: its standard
 * error when it is not on the terminal, else -1. Both are the caller's, close-on-exec; closing the
 * terminal tells gdb to end. host: this one's name, for errors: ERROR_NOT_FOUND when there is no
 * gdb here, ERROR_GONE and ERROR_PERMISSION for the rank's sake, ERROR_SYSTEM. */
int gdb_process_start(struct gdb_process *process, pid_t rank, const struct gdb_order *order,
		      const char *host, int *terminal_ret, int *errors_ret, struct pdb_error *err);

/* The size of a terminal that gdb_process_start() has made. */
void gdb_process_resize(int terminal, unsigned rows, unsigned columns);

/* Note whether it has ended. */
void gdb_process_check(struct gdb_process *process);

/* Tell it to end, and again when it was told to and has not: to be called every few milliseconds
 * until it has ended. A gdb whose rank runs hands Ctrl-C on to the rank, and catches it there; one
 * that ended in between would leave the rank with a SIGINT. So after a Ctrl-C it is not told before
 * the rank stands still, or GDB_PROCESS_PATIENCE_MS have passed. It is killed only when the rank
 * stands still under it, since a rank that runs may have its break points in it. */
void gdb_process_end(struct gdb_process *process, uint64_t now_ns);

/* The rank's state, as in /proc/PID/stat; 'X' when it has ended. */
char gdb_process_rank_state(const struct gdb_process *process);
