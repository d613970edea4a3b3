/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/wrap_looks.h"

static uint64_t mix(uint64_t hash, uint64_t word)
{
	return ((hash ^ hash >> 31) + word) * 0x9e3779b97f4a7c15u;
}

static MPI_Op no_op(void)
{
	return WRAP_CONSTANT(MPI_NO_OP, "ompi_mpi_op_no_op");
}

static MPI_Op replace_op(void)
{
	return WRAP_CONSTANT(MPI_REPLACE, "ompi_mpi_op_replace");
}

void wrap_look_get(struct wrap_call *w, uint32_t window, int target, MPI_Aint at,
		   const void *answer, MPI_Count count, MPI_Datatype type)
{
	uint64_t bytes = wrap_bytes(count, type);

	looks_begin(w->lane, &(struct look){
				     .kind = LOOK_ASKS,
				     .window = window,
				     .target = target,
				     .what = mix(at, bytes),
				     .answer = answer,
				     .bytes = bytes,
			     });
}

void wrap_look_fetch(struct wrap_call *w, uint32_t window, int target, MPI_Aint at,
		     const void *origin, const void *answer, MPI_Count count, MPI_Datatype type,
		     MPI_Op op)
{
	uint64_t bytes = wrap_bytes(count, type);
	enum look_kind kind = op == no_op()        ? LOOK_ASKS
			      : op == replace_op() ? LOOK_REPLACES
						   : LOOK_STEP;

	looks_begin(w->lane, &(struct look){
				     .kind = kind,
				     .window = window,
				     .target = target,
				     .what = mix(mix(at, bytes), kind),
				     .answer = answer,
				     .other = kind == LOOK_REPLACES ? origin : NULL,
				     .bytes = bytes,
			     });
}

void wrap_look_swap(struct wrap_call *w, uint32_t window, int target, MPI_Aint at,
		    const void *compare, const void *answer, MPI_Datatype type)
{
	uint64_t bytes = wrap_bytes(1, type);

	looks_begin(w->lane, &(struct look){
				     .kind = LOOK_SWAPS,
				     .window = window,
				     .target = target,
				     .what = mix(at, bytes),
				     .answer = answer,
				     .other = compare,
				     .bytes = bytes,
			     });
}

void wrap_look_lock(struct wrap_call *w, int type, int target, uint32_t window)
{
	looks_begin(w->lane, &(struct look){
				     .kind = LOOK_OTHER,
				     .window = window,
				     .target = target,
				     .what = type,
			     });
}

void wrap_look_other(struct wrap_call *w, uint32_t window)
{
	wrap_look_lock(w, 0, SEG_PEER_ANY, window);
}

void wrap_look_sync(struct wrap_call *w, int target, uint32_t window)
{
	looks_begin(w->lane, &(struct look){
				     .kind = LOOK_SYNC,
				     .window = window,
				     .target = target,
			     });
}
