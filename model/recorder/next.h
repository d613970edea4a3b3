/* SPDX-License-Identifier: BSD-3-Clause
 * Where a call of an exported function goes. In a process of the recorder's own MPI to the wrapper,
 * and from it to the next library's function of the same name, so that another tool behind us still
 * sees the call, or with PDB_CHAIN=pmpi to MPI's own PMPI function. In a process of another MPI,
 * which may be loaded late, to that next function straight away, and so for good: whose MPI it is
 * is found out at the first call, from what is loaded, before MPI itself is asked anything. */
#ifndef PDB_RECORDER_NEXT_H
#define PDB_RECORDER_NEXT_H

#include "model/recorder/jump.h"
#include "model/recorder/recorder.h"

/* An MPI, by what its library exports, by itself or by libraries that it needs. */
struct next_mpi {
	const char *marks[3]; /* all of these; NULL: no more */
	int no_function;      /* the error of a call whose function no library has */
};

/* Where to for this call, and from then on for all if that is known for all: where several MPIs
 * are loaded, each caller gets its own. NULL: no library has the function, the frame has the
 * error. For wrap_resolve(), see jump.h. */
void *next_resolve(struct recorder_function *function, const struct jump_info *info,
		   struct jump_frame *frame, void *arguments, uintptr_t caller,
		   const struct next_mpi *own);

/* A function of the recorder's own MPI, for wrappers; NULL: it has none of that name. */
void *next_symbol(const char *name);

/* A variable of it. The program may hold the one that all use (a copy relocation), so the search
 * begins at the front. */
void *next_variable(const char *name);

#endif
