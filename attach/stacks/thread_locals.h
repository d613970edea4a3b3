/* SPDX-License-Identifier: BSD-3-Clause
 * Where a thread has its copies of a module's thread-local variables, by the tables of the C
 * library (glibc), whose layout the library itself tells to debuggers. */
#pragma once

#include "model/job/code.h"

struct tracee;
struct unwind_space;

/* The variable at `offset` among the module's thread-locals. CODE_READ: *ret is its address.
 * CODE_NO_THREAD: another C library, a core, or no such module. CODE_NO_THREAD_YET: the thread
 * has made no copies yet. */
enum code_status thread_locals_find(struct unwind_space *space, const struct tracee *tracee,
				    uint32_t module, uint64_t offset, uint64_t *ret);
