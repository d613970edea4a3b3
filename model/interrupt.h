/* SPDX-License-Identifier: BSD-3-Clause
 * Has the user asked to end the present work? Loops over input check this. Signal handlers set it
 * (shell/interrupt.h); a process without such is never interrupted. */
#pragma once

#include <signal.h>

#include "model/base.h"

/* Signals have no context to be given, so these belong to the process. */
extern volatile sig_atomic_t interrupt_wanted; /* Ctrl-C */
extern volatile sig_atomic_t interrupt_end;    /* the signal that is to end the process; else 0 */

static inline bool interrupt_pending(void)
{
	return interrupt_wanted || interrupt_end;
}

/* -1 and ERROR_INTERRUPTED if so, else 0. A few instructions: it may stand in any loop. */
static inline int interrupt_check(struct pdb_error *err)
{
	return interrupt_pending() ? error_set(err, ERROR_INTERRUPTED, "interrupted") : 0;
}
