/* SPDX-License-Identifier: BSD-3-Clause
 * Where a call of an exported function goes. In a process of the recorder's own MPI it goes to the
 * wrapper, and from there to the next library's function of that name, so that another tool still
 * sees the call; with PDB_CHAIN=pmpi it goes to MPI's own. In a process of another MPI it goes
 * straight to that next function. Which MPI it is is decided at the first call, by what is loaded,
 * before MPI is asked. */
#pragma once

#include "model/recorder/jump.h"
#include "model/recorder/recorder.h"

/* An MPI, by what its library exports, by itself or by libraries that it needs. */
struct next_mpi {
	const char *marks[3];  /* all of these; NULL: no more */
	const char *others[3]; /* and none of these, the same */
	int no_function;       /* the error of a call whose function no library has */
};

/* For wrap_resolve() (jump.h): where to for this call, and for all from then on unless several MPIs
 * are loaded, of which each caller gets its own. NULL: no library has it, the frame has the
 * error. */
void *next_resolve(struct recorder_function *function, const struct jump_info *info,
		   struct jump_frame *frame, void *arguments, uintptr_t caller,
		   const struct next_mpi *own);

/* A function of the recorder's own MPI, or a variable, of which the program may hold the copy that
 * all use (a copy relocation). NULL: it has none of that name. */
void *next_symbol(const char *name);
void *next_variable(const char *name);
