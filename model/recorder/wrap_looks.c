/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/wrap_looks.h"

static uint64_t mix(uint64_t hash, uint64_t word)
{
	return ((hash ^ hash >> 31) + word) * 0x9e3779b97f4a7c15u;
}

/* A look-up by name is too slow for each call. */
static MPI_Op no_op(void)
{
	static MPI_Op op;

	if (!op)
		op = WRAP_CONSTANT(MPI_NO_OP, "ompi_mpi_op_no_op");
	return op;
}

static MPI_Op replace_op(void)
{
	static MPI_Op op;

	if (!op)
		op = WRAP_CONSTANT(MPI_REPLACE, "ompi_mpi_op_replace");
	return op;
}

/* The bytes of an answer lie side by side only in predefined types; MPI_BOTTOM has no place. */
static enum look_kind kind_of(enum look_kind kind, const void *answer, MPI_Datatype type)
{
	return answer && wrap_predefined_size(type) >= 0 ? kind : LOOK_STEP;
}

void wrap_look_get(struct wrap_call *w, uint32_t window, int target, MPI_Aint at,
		   const void *answer, MPI_Count count, MPI_Datatype type)
{
	uint64_t bytes = wrap_bytes(count, type);

	looks_begin(w->lane, &(struct look){
				     .kind = kind_of(LOOK_ASKS, answer, type),
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
				     .kind = kind_of(kind, answer, type),
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
				     .kind = kind_of(LOOK_SWAPS, answer, type),
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
