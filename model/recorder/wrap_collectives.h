/* SPDX-License-Identifier: BSD-3-Clause
 * The hooks of collective calls: a number, the root, and the bytes that this rank gives if all must
 * give as many. Arguments that are not significant in this rank may be garbage and are not read. */
#pragma once

#include "model/recorder/wrap_p2p.h"

/* What a call says that all members must say alike. */
struct wrap_given {
	int32_t root;
	uint64_t bytes;
};

/* Ranks may give different amounts. */
static const struct wrap_given wrap_uneven = {SEG_PEER_NONE, SEG_NO_BYTES};

static inline struct wrap_given wrap_rooted_given(int root)
{
	return (struct wrap_given){wrap_peer(root), SEG_NO_BYTES};
}

/* The call is over when the others have done their part of that collective. */
static inline void wrap_in_collective(struct wrap_call *w, uint32_t comm, uint64_t number,
				      struct wrap_given given, uint32_t flags)
{
	enum seg_operation_kind kind = number ? SEG_OPERATION_COLLECTIVE : SEG_OPERATION_OTHER;
	struct operation op = operation_begin(w->lane, kind, flags, OPERATION_CALL);

	operation_number(&op, number);
	operation_transfer(&op, 0, comm, given.root, 0, number, given.bytes);
	operation_end(&op);
}

/* One starts on `comm`, and the call is over when it is; flags: enum seg_operation_flags */
static inline void wrap_collective(struct wrap_call *w, uint32_t comm, struct wrap_given given,
				   uint32_t flags)
{
	uint64_t number = comms_start(&comms_here, comm, w->lane->site, given.root, given.bytes);

	wrap_in_collective(w, comm, number, given, flags);
	w->comm = comm;
}

/* One starts, and the call returns with a request. Making a persistent one is a collective, too.
 * Flags: enum seg_request_flags */
static inline void wrap_start(struct wrap_call *w, uint32_t comm, struct wrap_given given,
			      uint32_t flags)
{
	uint64_t number = comms_start(&comms_here, comm, w->lane->site, given.root, given.bytes);
	struct request request = {
		.kind = number ? SEG_REQUEST_COLLECTIVE : SEG_REQUEST_OTHER,
		.flags = flags,
		.comm = comm,
		.peer = given.root,
		.ordinal = number,
		.bytes = given.bytes,
		.row = LEDGER_NO_ROW,
	};

	p2p_will_make(w->lane, &request);
	w->comm = comm;
}

/* ---- What they give ---- */

static inline bool wrap_is_inter(uint32_t comm)
{
	return comms_kind(&comms_here, comm) == SEG_COMM_INTER;
}

/* What a rank with this root gives. */
static ALWAYS_INLINE struct wrap_given wrap_root_gives(int root, MPI_Count count, MPI_Datatype type)
{
	return (struct wrap_given){wrap_peer(root),
				   root == MPI_PROC_NULL ? SEG_NO_BYTES : wrap_bytes(count, type)};
}

/* MPI_Gather, MPI_Scatter: what the root says of each rank, or a rank of itself. */
static inline struct wrap_given wrap_gather_given(MPI_Count count, MPI_Datatype type,
						  MPI_Count root_count, MPI_Datatype root_type,
						  int root, uint32_t comm)
{
	int own = comms_rank(&comms_here, comm);
	bool is_root = wrap_is_inter(comm) ? root == MPI_ROOT : root == own;

	if (own < 0)
		return wrap_rooted_given(root);
	return is_root ? wrap_root_gives(root, root_count, root_type)
		       : wrap_root_gives(root, count, type);
}

/* ---- Hooks ---- */

/* The hooks of a shape, and of the one that makes a request, which has an i before its name. */
#define WRAP_COLLECTIVE(shape_, given_, ...)                                                       \
	static ALWAYS_INLINE void wrap_##shape_##_before(struct wrap_call *w, ##__VA_ARGS__,       \
							 uint32_t comm)                            \
	{                                                                                          \
		wrap_collective(w, comm, given_, 0);                                               \
	}                                                                                          \
	static ALWAYS_INLINE void wrap_i##shape_##_before(struct wrap_call *w, ##__VA_ARGS__,      \
							  uint32_t comm, uint32_t flags)           \
	{                                                                                          \
		wrap_start(w, comm, given_, flags);                                                \
	}
#define WRAP_GIVEN(root_, bytes_) ((struct wrap_given){root_, bytes_})

WRAP_COLLECTIVE(barrier, WRAP_GIVEN(SEG_PEER_NONE, 0))
WRAP_COLLECTIVE(uneven, wrap_uneven)
WRAP_COLLECTIVE(bcast, wrap_root_gives(root, count, type), MPI_Count count, MPI_Datatype type,
		int root)
WRAP_COLLECTIVE(allreduce, WRAP_GIVEN(SEG_PEER_NONE, wrap_bytes(count, type)), MPI_Count count,
		MPI_Datatype type)
/* What each gives is what it gets from each; but two groups may give each other different
 * amounts. */
WRAP_COLLECTIVE(alltoall,
		WRAP_GIVEN(SEG_PEER_NONE,
			   wrap_is_inter(comm) ? SEG_NO_BYTES : wrap_bytes(count, type)),
		MPI_Count count, MPI_Datatype type)
WRAP_COLLECTIVE(gather, wrap_gather_given(send_count, send_type, count, type, root, comm),
		MPI_Count send_count, MPI_Datatype send_type, MPI_Count count, MPI_Datatype type,
		int root)
WRAP_COLLECTIVE(scatter, wrap_gather_given(count, type, send_count, send_type, root, comm),
		MPI_Count send_count, MPI_Datatype send_type, MPI_Count count, MPI_Datatype type,
		int root)

/* The end of a split collective needs no more than that the others have begun it. */
static inline void wrap_split_end_before(struct wrap_call *w, uint32_t file)
{
	wrap_in_collective(w, file, comms_last(&comms_here, file), wrap_uneven, 0);
}

static inline void wrap_finalize_before(struct wrap_call *w)
{
	wrap_collective(w, 0, wrap_uneven, 0);
}
