/* SPDX-License-Identifier: BSD-3-Clause
 * What a wrapper calls: the next library's function of the same name, so that another tool behind
 * us still sees the call, or with PDB_CHAIN=pmpi MPI's own PMPI function. */
#ifndef PDB_RECORDER_NEXT_H
#define PDB_RECORDER_NEXT_H

#include "model/recorder/recorder.h"

/* Look up and remember; NULL when no loaded library has it. */
void *next_resolve(struct recorder_function *function);

static inline void *next_function(struct recorder_function *function)
{
	void *next = __atomic_load_n(&function->next, __ATOMIC_RELAXED);
	return __builtin_expect(next != NULL, 1) ? next : next_resolve(function);
}

/* A symbol behind this library in the search order or, when MPI came by dlopen() and is in no
 * global scope, in a loaded library whose file name begins with libmpi. */
void *next_symbol(const char *name);

/* A variable of MPI. The program may hold the one that all use (a copy relocation), so the search
 * begins at the front. */
void *next_variable(const char *name);

#endif
