/* SPDX-License-Identifier: BSD-3-Clause
 * Ctrl-C interrupts the command in progress, never the job and never pdb. Hang-up and termination
 * end pdb as `quit` does, between commands. */
#ifndef PDB_SHELL_INTERRUPT_H
#define PDB_SHELL_INTERRUPT_H

#include "model/interrupt.h" /* interrupt_pending(): any of the three since interrupt_clear() */
#include "model/std.h"

/* Handle SIGINT, SIGHUP and SIGTERM. Handlers for SIGPIPE and SIGXFSZ do nothing, so that writes
 * fail with an error. Unlike "ignore", handlers are not inherited by programs that pdb starts. */
void interrupt_init(void);

void interrupt_clear(void);     /* forget Ctrl-C; SIGHUP and SIGTERM stay */
bool interrupt_wants_end(void); /* SIGHUP or SIGTERM came */
/* Did SIGTERM come? If so, forget it: the caller passes it on to another process. */
bool interrupt_take_termination(void);

/* Pass SIGUSR1 and SIGUSR2 on to the process of this pidfd from now on; -1: ignore them. */
void interrupt_pass_on(int pidfd);

/* A descriptor for poll(): readable when any of these signals came, until interrupt_drain(). */
int interrupt_fd(void);
void interrupt_drain(void);

/* Sleep until `until_ns` of monotonic_ns(); false if a signal cut it short. */
bool interrupt_sleep_until(uint64_t until_ns);

#endif
