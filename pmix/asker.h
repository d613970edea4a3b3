/* SPDX-License-Identifier: BSD-3-Clause
 * The separate process that speaks PMIx, and what protects a launcher from it. See asker.c. */
#pragma once

#include "model/base.h"

struct rendezvous;

/* As the user whose launcher it is: connect, ask, put a reply; or -1 and an error, the reply
 * then. */
typedef int (*asker_work)(const struct rendezvous *server, const void *argument,
			  struct buffer *reply, struct pdb_error *err);

/* Have an asker ask launcher `pid`, and wait for its reply, an empty one if it ends without a word.
 * It stays connected until the caller closes *leash_ret. -1: the errors of rendezvous_find() and of
 * tool.h, ERROR_FORMAT. */
int asker_ask(pid_t pid, asker_work work, const void *argument, int timeout_ms,
	      struct buffer *reply, int *leash_ret, struct pdb_error *err);
