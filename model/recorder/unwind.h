/* SPDX-License-Identifier: BSD-3-Clause
 * The full unwind of the calling thread: the slow way to a call path, by whichever of unwinder.h
 * can be loaded. */
#ifndef PDB_RECORDER_UNWIND_H
#define PDB_RECORDER_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "model/recorder/pathcache.h"

struct unwinder;

/* Load a library for it. NULL, or why that is not possible. */
const char *unwind_init(void);
bool unwind_load(const struct unwinder *u); /* that one */

/* Forget what the library has learnt of code that has been unloaded. */
void unwind_flush(void);

/* The frames from the one that returns to `ra` with stack pointer `cfa` outwards; those below it
 * are the recorder's own. Slots must lie in [low, high) to be cacheable. `known`: a path that
 * was found on this stack since code was last unloaded, or NULL. Where the walk comes to one of
 * its frames, and all farther out still hold, as a hit of the cache (pathcache.h) has it, it
 * need not go on. */
void unwind_call_path(uintptr_t ra, uintptr_t cfa, uintptr_t low, uintptr_t high,
		      const struct call_path *known, struct call_path *ret);

#endif
