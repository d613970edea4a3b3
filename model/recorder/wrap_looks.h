/* SPDX-License-Identifier: BSD-3-Clause
 * One-sided calls that may only look: what each asks for. They run before those of one shape in
 * wrap_tokens.h, once in a while or while they repeat. */
#pragma once

#include "model/recorder/wrap_tokens.h"

void wrap_look_get(struct wrap_call *w, uint32_t window, int target, MPI_Aint at,
		   const void *answer, MPI_Count count, MPI_Datatype type);
/* `origin`: what a replacing one stores. */
void wrap_look_fetch(struct wrap_call *w, uint32_t window, int target, MPI_Aint at,
		     const void *origin, const void *answer, MPI_Count count, MPI_Datatype type,
		     MPI_Op op);
#define wrap_look_fetch_many wrap_look_fetch
void wrap_look_swap(struct wrap_call *w, uint32_t window, int target, MPI_Aint at,
		    const void *compare, const void *answer, MPI_Datatype type);
void wrap_look_lock(struct wrap_call *w, int type, int target, uint32_t window);
void wrap_look_other(struct wrap_call *w, uint32_t window);
/* What completes answers. */
void wrap_look_sync(struct wrap_call *w, int target, uint32_t window);

#define wrap_look_sync_all wrap_look_sync
