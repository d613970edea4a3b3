/* SPDX-License-Identifier: BSD-3-Clause
 * Ctrl-C interrupts the command in progress, never the job and never pdb. Hang-up and termination
 * end pdb as `quit` does, between commands. */
#ifndef PDB_SHELL_INTERRUPT_H
#define PDB_SHELL_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/interrupt.h" /* interrupt_pending(): any of the three since interrupt_clear() */

/* Handle SIGINT, SIGHUP, SIGTERM; and do nothing at SIGPIPE and SIGXFSZ, which are errors of
 * writes then. Unlike "ignore", handlers are not inherited by programs that pdb starts. */
void interrupt_init(void);

void interrupt_clear(void);     /* Ctrl-C; what ends pdb stays */
bool interrupt_wants_end(void); /* SIGHUP or SIGTERM came */
/* Was it SIGTERM? Then it is forgotten: somebody else is to be told. */
bool interrupt_take_termination(void);

/* Pass SIGUSR1 and SIGUSR2 on to the process of this pidfd from now on; -1: ignore them. */
void interrupt_pass_on(int pidfd);

/* Readable when any of the signals came; read by interrupt_drain(). For poll(). */
int interrupt_fd(void);
void interrupt_drain(void);

/* Sleep until `until_ns` of monotonic_ns(); false if a signal cut it short. */
bool interrupt_sleep_until(uint64_t until_ns);

#endif
