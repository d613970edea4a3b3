/* SPDX-License-Identifier: BSD-3-Clause
 * Libraries that unwind stacks. They are loaded at the start of recording with their symbols
 * kept to ourselves: linked in, their backtrace() and _Unwind_* would come before the program's
 * own and break C++ exceptions and thread exit there. */
#ifndef PDB_RECORDER_UNWINDER_H
#define PDB_RECORDER_UNWINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The next frame outwards: its instruction pointer, its stack pointer, and the slot that `ip`
 * was read from as a return address (NULL: not known). False: that is enough. */
typedef bool unwinder_take(void *arg, uintptr_t ip, uintptr_t sp, const uintptr_t *at);

struct unwinder {
	const char *library;
	/* Functions of it: where their addresses go, and their names. */
	const struct unwinder_symbol {
		void *to;
		const char *name;
	} * symbols;
	unsigned num_symbols;
	/* Forget what is known of code that has been unloaded; may be NULL. */
	void (*flush)(void);
	/* Give take() the frames of the calling thread, first some of our own. `at` is in [low,
	 * high). */
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

#endif
