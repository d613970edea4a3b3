/* SPDX-License-Identifier: BSD-3-Clause
 * The full unwind of the calling thread: the slow way to a call path. libunwind is loaded at the
 * start of recording with its symbols kept to ourselves: linked in, its backtrace() and _Unwind_*
 * would come before the program's own and break C++ exceptions and thread exit there. */
#ifndef PDB_RECORDER_UNWIND_H
#define PDB_RECORDER_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "model/recorder/pathcache.h"

/* Of a deeper stack the innermost and the outermost UNWIND_HALF frames are kept, so that deep
 * recursion makes a bounded number of call paths; after UNWIND_MAX_STEPS the search for the
 * outermost ends and only the innermost are kept. */
enum { UNWIND_HALF = 128, UNWIND_MAX_FRAMES = 2 * UNWIND_HALF, UNWIND_MAX_STEPS = 1 << 14 };

struct call_path {
	uint32_t num_frames; /* return addresses in slots[].value, innermost first */
	uint32_t elided_at;  /* frames were left out before this one; 0: nowhere */
	bool cacheable;	     /* every return address is in a slot of this stack */
	struct path_slot slots[UNWIND_MAX_FRAMES];
};

/* Load libunwind. False, with a reason, when that is not possible. */
bool unwind_init(const char **why);

/* Forget what libunwind has learnt of code that has been unloaded. */
void unwind_flush(void);

/* The frames from the one that returns to `ra` with stack pointer `cfa` outwards; those below it
 * are the recorder's own. Slots must lie in [low, high) to be cacheable. */
void unwind_call_path(uintptr_t ra, uintptr_t cfa, uintptr_t low, uintptr_t high,
		      struct call_path *ret);

#endif
