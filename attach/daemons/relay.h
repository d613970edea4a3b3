/* SPDX-License-Identifier: BSD-3-Clause
 * Relays between a terminal or pipes and the sockets of channels (link.h): input goes to a program
 * on another node, its output comes back. */
#pragma once

#include "model/base.h"

#define RELAY_INTERRUPT 3 /* the byte that Ctrl-C is */
#define RELAY_PATIENCE 3  /* so many of them without an answer: give up */

struct relay {
	int in;           /* what is typed; -1: nothing is */
	int socket;       /* where it goes, and what comes from where */
	int out;          /* to be put here; */
	int error_socket; /* and from here; -1: there is none */
	int error_out;    /* to be put here */
	int interrupt;    /* a signalfd: each signal is passed on as a RELAY_INTERRUPT; -1 */
};

/* Copy until the sockets end; pass on an end of `in`. Closes nothing. The process has to ignore
 * SIGPIPE. -1: ERROR_SYSTEM; ERROR_GONE: an output or the socket takes no more; ERROR_TIMEOUT:
 * nothing followed RELAY_PATIENCE interrupts in a row, more than a second from first to last. */
int relay_run(const struct relay *relay, struct pdb_error *err);
