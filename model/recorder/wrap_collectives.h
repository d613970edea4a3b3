/* SPDX-License-Identifier: BSD-3-Clause
 * The hooks of collective calls: a number, the root, and the bytes that this rank gives if these
 * must be equal in all members. Only arguments that are significant in this rank are looked at:
 * with MPI_IN_PLACE, and away from the root, others may be garbage. Included by wrap.h. */
#ifndef PDB_RECORDER_WRAP_COLLECTIVES_H
#define PDB_RECORDER_WRAP_COLLECTIVES_H

#include "model/recorder/operation.h"
#include "model/recorder/wrap_args.h"

/* The call is over when the others have done their part of that collective. */
static inline void wrap_in_collective(struct wrap_call *w, uint32_t comm, uint64_t number,
				      int32_t root, uint64_t bytes, uint32_t flags)
{
	enum seg_operation_kind kind = number ? SEG_OPERATION_COLLECTIVE : SEG_OPERATION_OTHER;
	struct operation op = operation_begin(w->lane, kind, flags, OPERATION_CALL);

	operation_number(&op, number);
	operation_transfer(&op, 0, comm, root, 0, number, bytes);
	operation_end(&op);
}

/* A collective starts on `comm`, and the call is over when it is. */
static inline void wrap_collective(struct wrap_call *w, uint32_t comm, int32_t root, uint64_t bytes,
				   uint32_t flags)
{
	uint64_t number = comms_start(&recorder_comms, comm, w->lane->site, root, bytes);

	wrap_in_collective(w, comm, number, root, bytes, flags);
	w->comm = comm;
}

/* A collective starts, and the call returns at once. */
static inline void wrap_start(struct wrap_call *w, uint32_t comm, int32_t root, uint64_t bytes,
			      uint32_t flags)
{
	comms_start(&recorder_comms, comm, w->lane->site, root, bytes);
	operation_plain(w->lane, SEG_OPERATION_LOCAL, OPERATION_CALL);
	w->comm = comm;
	(void)flags;
}
static inline void wrap_started(struct wrap_call *w, int ret, const void *request)
{
	(void)w;
	(void)ret;
	(void)request;
}

/* ---- Bytes -------------------------------------------------------------------------------------
 */

/* Between two groups, each may give another amount. */
static inline bool wrap_is_inter(uint32_t comm)
{
	return comms_kind(&recorder_comms, comm) == SEG_COMM_INTER;
}

/* Of MPI_Gather and MPI_Scatter: what the root says of each rank, or a rank of itself. */
static inline uint64_t wrap_rooted_bytes(uint32_t comm, int root, MPI_Count root_count,
					 MPI_Datatype root_type, MPI_Count count, MPI_Datatype type)
{
	int own = comms_rank(&recorder_comms, comm);

	if (root == MPI_PROC_NULL || own < 0)
		return SEG_NO_BYTES;
	bool is_root = wrap_is_inter(comm) ? root == MPI_ROOT : root == own;
	return is_root ? wrap_bytes(root_count, root_type) : wrap_bytes(count, type);
}

/* ---- Blocking ----------------------------------------------------------------------------------
 */

static inline void wrap_barrier_before(struct wrap_call *w, uint32_t comm)
{
	wrap_collective(w, comm, SEG_PEER_NONE, 0, 0);
}

/* MPI_Bcast, MPI_Reduce */
static inline void wrap_bcast_before(struct wrap_call *w, MPI_Count count, MPI_Datatype type,
				     int root, uint32_t comm)
{
	uint64_t bytes = root == MPI_PROC_NULL ? SEG_NO_BYTES : wrap_bytes(count, type);

	wrap_collective(w, comm, wrap_peer(root), bytes, 0);
}

static inline void wrap_gather_before(struct wrap_call *w, MPI_Count send_count,
				      MPI_Datatype send_type, MPI_Count count, MPI_Datatype type,
				      int root, uint32_t comm)
{
	uint64_t bytes = wrap_rooted_bytes(comm, root, count, type, send_count, send_type);

	wrap_collective(w, comm, wrap_peer(root), bytes, 0);
}

static inline void wrap_scatter_before(struct wrap_call *w, MPI_Count send_count,
				       MPI_Datatype send_type, MPI_Count count, MPI_Datatype type,
				       int root, uint32_t comm)
{
	uint64_t bytes = wrap_rooted_bytes(comm, root, send_count, send_type, count, type);

	wrap_collective(w, comm, wrap_peer(root), bytes, 0);
}

/* MPI_Gatherv, MPI_Scatterv */
static inline void wrap_rooted_before(struct wrap_call *w, int root, uint32_t comm)
{
	wrap_collective(w, comm, wrap_peer(root), SEG_NO_BYTES, 0);
}

/* MPI_Allreduce, MPI_Scan and the like */
static inline void wrap_allreduce_before(struct wrap_call *w, MPI_Count count, MPI_Datatype type,
					 uint32_t comm)
{
	wrap_collective(w, comm, SEG_PEER_NONE, wrap_bytes(count, type), 0);
}

/* MPI_Allgather, MPI_Alltoall: what each gives is what each gets from each. */
static inline void wrap_alltoall_before(struct wrap_call *w, MPI_Count count, MPI_Datatype type,
					uint32_t comm)
{
	uint64_t bytes = wrap_is_inter(comm) ? SEG_NO_BYTES : wrap_bytes(count, type);

	wrap_collective(w, comm, SEG_PEER_NONE, bytes, 0);
}

/* Ranks may give different amounts; on windows and files, too. Flags: enum seg_operation_flags */
static inline void wrap_uneven_before(struct wrap_call *w, uint32_t comm, uint32_t flags)
{
	wrap_collective(w, comm, SEG_PEER_NONE, SEG_NO_BYTES, flags);
}

/* The end of a split collective needs no more than that the others have begun it. */
static inline void wrap_split_end_before(struct wrap_call *w, uint32_t file)
{
	uint64_t number = comms_last(&recorder_comms, file);

	wrap_in_collective(w, file, number, SEG_PEER_NONE, SEG_NO_BYTES, 0);
}

static inline void wrap_finalize_before(struct wrap_call *w)
{
	wrap_collective(w, 0, SEG_PEER_NONE, SEG_NO_BYTES, 0);
}

#endif
