/* SPDX-License-Identifier: BSD-3-Clause
 * Safe reading of mapped files that may get shorter meanwhile, such as a program that is copied
 * over while its core is read. Touching a page that is gone raises SIGBUS. Files are mapped all the
 * same: debug information may be many times larger than what is needed of it, and libdw reads whole
 * sections of files that are not mapped. */
#pragma once

#include <signal.h>

#include "model/base.h"

struct cut_guard {
	sigset_t mask; /* the thread's before */
	volatile bool is_cut;
};

/* From now on this thread reads zeros where a file has ended in the meantime. pdb is a library in
 * other programs, too: its handler of SIGBUS is there no longer than needed, and the program's own
 * is given all that is not about that. Guards do not nest. */
void cut_guard_enter(struct cut_guard *guard);

/* End it. True if something was missing: then believe nothing that was read. */
bool cut_guard_leave(struct cut_guard *guard);
