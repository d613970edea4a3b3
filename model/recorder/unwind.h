/* SPDX-License-Identifier: BSD-3-Clause
 * The full unwind of the calling thread: the slow way to a call path. Its libraries are loaded when
 * recording starts, with their symbols private. If they were linked in, their backtrace() and
 * _Unwind_* would replace the program's own and break C++ exceptions and thread exit there. */
#pragma once

#include "model/recorder/pathcache.h"

/* The next frame outwards; `at`: the slot that `ip` was read from (NULL: not known). False:
 * enough. */
typedef bool unwinder_take(void *arg, uintptr_t ip, uintptr_t sp, const uintptr_t *at);

struct unwinder {
	const char *library;
	/* Where addresses of its functions go, and their names. */
	const struct unwinder_symbol {
		void *to;
		const char *name;
	} * symbols;
	unsigned num_symbols;
	/* Forget what is known of code that has been unloaded; may be NULL. */
	void (*flush)(void);
	/* Give take() the thread's frames, first some of our own. `at` is in [low, high). */
	void (*walk)(uintptr_t low, uintptr_t high, unwinder_take *take, void *arg);
};

/* GCC's own, which throws exceptions. It makes no system calls and remembers nothing. Only on
 * x86_64: it does not tell where a return address was read from, which there is always just
 * below the stack pointer of the caller. */
extern const struct unwinder unwinder_gcc;
/* libunwind, which makes two system calls for each frame. */
extern const struct unwinder unwinder_libunwind;

/* `at` if it is a slot in [low, high) that holds `ip`, else NULL. */
static inline const uintptr_t *unwinder_check(uintptr_t at, uintptr_t ip, uintptr_t low,
					      uintptr_t high)
{
	if (at < low || at + sizeof(ip) > high || at % sizeof(ip) || *(const uintptr_t *)at != ip)
		return NULL;
	return (const uintptr_t *)at;
}

/* NULL, or why no library can be loaded. */
const char *unwind_init(void);
bool unwind_load(const struct unwinder *u); /* that one */

/* Forget what the library has learnt of code that has been unloaded. */
void unwind_flush(void);

/* The frames from the one that returns to `ra` with stack pointer `cfa` outwards. Slots must lie in
 * [low, high) to be cacheable. `known`: a path that was found on this stack since code was last
 * unloaded, or NULL: the walk ends at a frame of it from which on all slots still hold. */
void unwind_call_path(uintptr_t ra, uintptr_t cfa, uintptr_t low, uintptr_t high,
		      const struct call_path *known, struct call_path *ret);
