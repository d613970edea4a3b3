/* SPDX-License-Identifier: BSD-3-Clause
 * The hooks of point-to-point calls and of requests; mpi_calls.def says when the wrappers call
 * them. Pointers may be NULL before MPI has accepted them, or if it has refused. */
#pragma once

#include "model/recorder/p2p.h"
#include "model/recorder/wrap_args.h"

/* Its needs are not known. */
static inline void wrap_unknown(struct wrap_call *w, enum operation_of of)
{
	operation_plain(w->lane, SEG_OPERATION_OTHER, of);
}

/* Returns without anybody's help. */
static inline void wrap_local_before(struct wrap_call *w)
{
	operation_local(w->lane);
}

static ALWAYS_INLINE struct p2p_message wrap_envelope(int rank, int tag, uint32_t comm)
{
	struct p2p_message m = {.comm = comm, .peer = wrap_peer(rank), .tag = wrap_tag(tag)};
	uint32_t num_peers = comms_num_peers(&comms_here, comm);

	if (unlikely(m.peer >= 0 && (uint32_t)m.peer >= num_peers)) {
		/* Nothing is known of its communicator, or MPI is going to refuse the rank. */
		m.comm = num_peers ? comm : SEG_NO_COMM;
		m.peer = num_peers ? SEG_PEER_NULL : m.peer;
	}
	return m;
}

static ALWAYS_INLINE struct p2p_message wrap_message(MPI_Count count, MPI_Datatype type, int rank,
						     int tag, uint32_t comm)
{
	struct p2p_message m = wrap_envelope(rank, tag, comm);

	/* Without a partner the other arguments may be anything. */
	m.bytes = m.peer == SEG_PEER_NULL ? 0 : wrap_bytes(count, type);
	return m;
}

/* ---- Handles of requests and messages ---- */

#ifdef WRAP_HAS_ADDRESSES
/* The key of a request made in Fortran is its integer: asking MPI for the C handle takes longer
 * than all the rest. It is odd, handles of C are even, or made so. */
#ifdef PDB_MPI_ABI
#define WRAP_REQUEST_WORD(request_) (WRAP_WORD(request_) << 1)
#else
#define WRAP_REQUEST_WORD(request_) WRAP_WORD(request_)
#endif

extern struct wrap_requests {
	const void *null, *empty; /* sends that are complete at once are all `empty` */
	MPI_Fint fortran_null, fortran_empty;
	bool is_known;
	bool has_fortran; /* a request was made in Fortran */
} wrap_requests __attribute__((visibility("hidden")));

COLD void wrap_find_requests(void);

static ALWAYS_INLINE uint64_t wrap_c_key(MPI_Request request)
{
	if ((const void *)request == wrap_requests.null)
		return REQUESTS_KEY_NULL;
	if ((const void *)request == wrap_requests.empty)
		return REQUESTS_KEY_COMPLETE;
	return requests_key(REQUESTS_REQUEST, WRAP_REQUEST_WORD(request));
}

static ALWAYS_INLINE uint64_t wrap_fortran_key(MPI_Fint request)
{
	if (request == wrap_requests.fortran_null)
		return REQUESTS_KEY_NULL;
	if (request == wrap_requests.fortran_empty)
		return REQUESTS_KEY_COMPLETE;
	return requests_key(REQUESTS_REQUEST, (uint64_t)(uint32_t)request << 1 | 1);
}

static ALWAYS_INLINE void wrap_know_requests(void)
{
	if (unlikely(!__atomic_load_n(&wrap_requests.is_known, __ATOMIC_ACQUIRE)))
		wrap_find_requests();
}

static ALWAYS_INLINE uint64_t wrap_known_key(const void *requests, int i, bool is_fortran)
{
	return is_fortran ? wrap_fortran_key(((const MPI_Fint *)requests)[i])
			  : wrap_c_key(((const MPI_Request *)requests)[i]);
}

/* Some of them were not known. Does it help to ask for them by their keys in the other language? */
COLD bool wrap_rename(struct wrap_call *w, int count, const void *requests);
#else
/* Handles are the same in both languages. In their bits, those of kind 1, object 0xb are predefined
 * requests, one of each sort, that stand for all that are complete at once. */
static ALWAYS_INLINE uint64_t wrap_known_key(const void *requests, int i, bool is_fortran)
{
	MPI_Request request = ((const MPI_Request *)requests)[i];

	(void)is_fortran;
	if (request == MPI_REQUEST_NULL)
		return REQUESTS_KEY_NULL;
	if (((unsigned)request & 0xfc000000u) == 0x6c000000u)
		return REQUESTS_KEY_COMPLETE;
	return requests_key(REQUESTS_REQUEST, WRAP_WORD(request));
}

#define wrap_know_requests() (void)0
#define wrap_rename(w_, count_, requests_) false
#endif

static inline uint64_t wrap_message_key(const void *message, bool is_fortran)
{
	return message ? requests_key(REQUESTS_MESSAGE,
				      WRAP_WORD(wrap_message_at(message, is_fortran)))
		       : REQUESTS_KEY_NULL;
}

static ALWAYS_INLINE uint64_t wrap_request_key(const void *requests, int i, bool is_fortran)
{
	wrap_know_requests();
	return wrap_known_key(requests, i, is_fortran);
}

/* ---- Statuses ---- */

/* The evidence needs `num` statuses that the program ignores: MPI gets ours. */
static ALWAYS_INLINE void wrap_ask_status(struct wrap_call *w, int num)
{
	static_assert(sizeof(MPI_Status) <= P2P_STATUS_BYTES, "P2P_STATUS_BYTES is too small");
	if (wrap_ignores_status(w->status, w->is_fortran) && num <= P2P_MAX_STATUSES)
		w->status = w->lane->p2p.statuses;
}

/* Number i of the statuses that MPI got. Fortran's have the layout of C's in both libraries. */
static ALWAYS_INLINE struct p2p_status wrap_status(const struct wrap_call *w, int i)
{
	int is_cancelled = 0;

	if (!w->status || wrap_ignores_status(w->status, w->is_fortran))
		return p2p_unknown;
	const MPI_Status *s = (const MPI_Status *)w->status + i;
	(void)WRAP_ASK(MPI_Test_cancelled, s, &is_cancelled);
	return (struct p2p_status){
		.is_known = true,
		.is_cancelled = is_cancelled,
		.source = wrap_peer(s->MPI_SOURCE),
		.tag = s->MPI_TAG,
	};
}

int wrap_error_class(int ret);

static inline enum p2p_end wrap_end(int ret)
{
	if (likely(ret == MPI_SUCCESS))
		return P2P_DONE;
	return wrap_error_class(ret) == MPI_ERR_TRUNCATE ? P2P_TRUNCATED : P2P_REFUSED;
}

/* ---- Blocking ---- */

static inline void wrap_send_before(struct wrap_call *w, MPI_Count count, MPI_Datatype type,
				    int dest, int tag, uint32_t comm, uint32_t flags)
{
	struct p2p_message m = wrap_message(count, type, dest, tag, comm);

	p2p_send(w->lane, &m, flags);
}

static ALWAYS_INLINE void wrap_send_after(struct wrap_call *w, int ret)
{
	p2p_end(w->lane, wrap_end(ret), NULL);
}

static inline void wrap_recv_before(struct wrap_call *w, MPI_Count count, MPI_Datatype type,
				    int source, int tag, uint32_t comm)
{
	struct p2p_message m = wrap_message(count, type, source, tag, comm);

	p2p_receive(w->lane, &m);
	if (p2p_wants_status(w->lane))
		wrap_ask_status(w, 1);
}

static inline void wrap_recv_after(struct wrap_call *w, int ret)
{
	struct p2p_status status = p2p_unknown;
	enum p2p_end end = wrap_end(ret);

	if (end != P2P_REFUSED && p2p_wants_status(w->lane))
		status = wrap_status(w, 0);
	p2p_end(w->lane, end, &status);
}

static ALWAYS_INLINE void wrap_sendrecv_before(struct wrap_call *w, MPI_Count sendcount,
					       MPI_Datatype sendtype, int dest, int sendtag,
					       MPI_Count recvcount, MPI_Datatype recvtype,
					       int source, int recvtag, uint32_t comm)
{
	struct p2p_message send = wrap_message(sendcount, sendtype, dest, sendtag, comm);
	struct p2p_message receive = wrap_message(recvcount, recvtype, source, recvtag, comm);

	p2p_sendreceive(w->lane, &send, &receive);
	if (p2p_wants_status(w->lane))
		wrap_ask_status(w, 1);
}

/* ---- Probes, matched messages ---- */

static ALWAYS_INLINE void wrap_probe_before(struct wrap_call *w, int source, int tag, uint32_t comm,
					    enum operation_of of)
{
	struct p2p_message m = wrap_envelope(source, tag, comm);

	p2p_probe(w->lane, &m, of);
}

static ALWAYS_INLINE void wrap_mprobe_before(struct wrap_call *w, int source, int tag,
					     uint32_t comm, enum operation_of of)
{
	wrap_probe_before(w, source, tag, comm, of);
	wrap_ask_status(w, 1);
}

static ALWAYS_INLINE void wrap_mprobe_after(struct wrap_call *w, int source, uint32_t comm,
					    const void *message)
{
	if (source == MPI_PROC_NULL)
		return;
	struct p2p_status status = wrap_status(w, 0);
	p2p_matched(w->lane, wrap_message_key(message, w->is_fortran), comm, &status);
}

/* Its message is there: what is missing is the rest of its transfer. */
static inline void wrap_mrecv_before(struct wrap_call *w, const void *message)
{
	struct p2p_list list = p2p_list_begin(w->lane);

	p2p_list(&list, wrap_message_key(message, w->is_fortran));
	p2p_list_end(w->lane, &list);
	p2p_wait(w->lane, SEG_OPERATION_WAIT_ALL, OPERATION_CALL);
}

static inline void wrap_mrecv_after(struct wrap_call *w, int ret)
{
	if (wrap_end(ret) != P2P_REFUSED)
		p2p_complete(w->lane, 0, &p2p_unknown);
}

/* ---- Making requests ---- */

static ALWAYS_INLINE void wrap_request_made_after(struct wrap_call *w, int ret, const void *request)
{
	bool ok = ret == MPI_SUCCESS;

#ifdef WRAP_HAS_ADDRESSES
	if (w->is_fortran && !__atomic_load_n(&wrap_requests.has_fortran, __ATOMIC_RELAXED))
		__atomic_store_n(&wrap_requests.has_fortran, true, __ATOMIC_RELAXED);
#endif
	p2p_made(w->lane, ok, ok ? wrap_request_key(request, 0, w->is_fortran) : 0);
}

static ALWAYS_INLINE void wrap_isend_before(struct wrap_call *w, MPI_Count partitions,
					    MPI_Count count, MPI_Datatype type, int dest, int tag,
					    uint32_t comm, uint32_t flags)
{
	struct p2p_message m = wrap_message(partitions * count, type, dest, tag, comm);

	p2p_will_send(w->lane, &m, flags);
}

static ALWAYS_INLINE void wrap_irecv_before(struct wrap_call *w, MPI_Count partitions,
					    MPI_Count count, MPI_Datatype type, int source, int tag,
					    uint32_t comm, uint32_t flags)
{
	struct p2p_message m = wrap_message(partitions * count, type, source, tag, comm);

	p2p_will_receive(w->lane, &m, flags);
}

static inline void wrap_imrecv_before(struct wrap_call *w, const void *message)
{
	p2p_will_receive_matched(w->lane, wrap_message_key(message, w->is_fortran));
}

static inline void wrap_isendrecv_before(struct wrap_call *w, MPI_Count sendcount,
					 MPI_Datatype sendtype, int dest, int sendtag,
					 MPI_Count recvcount, MPI_Datatype recvtype, int source,
					 int recvtag, uint32_t comm)
{
	struct p2p_message send = wrap_message(sendcount, sendtype, dest, sendtag, comm);
	struct p2p_message receive = wrap_message(recvcount, recvtype, source, recvtag, comm);

	p2p_will_send(w->lane, &send, 0);
	p2p_will_receive(w->lane, &receive, 0);
}

/* File access, one-sided transfers, generalized requests: they complete without others. */
static inline void wrap_irequest_before(struct wrap_call *w)
{
	static const struct request other = {
		.kind = SEG_REQUEST_OTHER,
		.comm = SEG_NO_COMM,
		.peer = SEG_PEER_NONE,
		.tag = SEG_TAG_ANY,
		.row = LEDGER_NO_ROW,
	};

	p2p_will_make(w->lane, &other);
}

/* ---- Starting, cancelling, freeing ---- */

static ALWAYS_INLINE void wrap_list(struct wrap_call *w, int count, const void *requests)
{
	struct p2p_list list = p2p_list_begin(w->lane);

	wrap_know_requests();
	for (int i = 0; requests && i < count; i++)
		p2p_list(&list, wrap_known_key(requests, i, w->is_fortran));
	p2p_list_end(w->lane, &list);
}

static inline void wrap_look_up(struct wrap_call *w, int count, const void *requests)
{
	wrap_list(w, count, requests);
	if (!p2p_look_up(w->lane) && wrap_rename(w, count, requests))
		p2p_look_up(w->lane);
}

static inline void wrap_startall_before(struct wrap_call *w, int count, const void *requests)
{
	wrap_look_up(w, count, requests);
	p2p_start(w->lane);
}

static inline void wrap_startall_after(struct wrap_call *w, int ret)
{
	p2p_started(w->lane, ret == MPI_SUCCESS);
}

static inline void wrap_listed_before(struct wrap_call *w, const void *request)
{
	wrap_look_up(w, 1, request);
	wrap_local_before(w);
}

#define wrap_cancel_after(w_) p2p_cancelled((w_)->lane)
#define wrap_request_free_after(w_) p2p_freed((w_)->lane)

/* ---- Waiting and testing ---- */

static ALWAYS_INLINE void wrap_any_wait(struct wrap_call *w, int count, const void *requests,
					enum seg_operation_kind kind, enum operation_of of,
					int statuses)
{
	wrap_list(w, count, requests);
	if (!p2p_wait(w->lane, kind, of) && wrap_rename(w, count, requests))
		p2p_wait(w->lane, kind, of);
	if (w->lane->p2p.wants_status)
		wrap_ask_status(w, statuses);
}

/* The request at this position has completed; its status, which is needed, is number i. */
void wrap_completed_with_status(struct wrap_call *w, int position, int i);

static inline void wrap_completed(struct wrap_call *w, int position, int i)
{
	if (unlikely(p2p_any_wants_status(w->lane)) && p2p_position_wants_status(w->lane, position))
		wrap_completed_with_status(w, position, i);
	else
		p2p_complete(w->lane, position, &p2p_unknown);
}

/* Did MPI, when it returned this error, complete the request at that position? */
COLD bool wrap_completed_with_error(struct wrap_call *w, int ret, int i, int count,
				    const void *requests);

/* All of them have, or with an error some. */
static inline void wrap_all_completed_after(struct wrap_call *w, int ret, int count,
					    const void *requests)
{
	if (likely(ret == MPI_SUCCESS) && p2p_complete_all(w->lane))
		return;
	for (int i = 0; requests && i < count; i++)
		if (ret == MPI_SUCCESS || wrap_completed_with_error(w, ret, i, count, requests))
			wrap_completed(w, i, i);
}

/* `*outcount` of them, some perhaps with an error; or MPI_UNDEFINED: none was active. */
static inline void wrap_some_completed_after(struct wrap_call *w, int ret, const int *outcount,
					     const int *indices)
{
	if (ret != MPI_SUCCESS && wrap_error_class(ret) != MPI_ERR_IN_STATUS)
		return;
	for (int i = 0; i < *outcount; i++)
		wrap_completed(w, indices[i] - w->is_fortran, i);
}

/* Can the request at that position be the one that has completed? */
static inline bool wrap_may_be_completed(struct wrap_call *w, const void *requests, int position)
{
	uint32_t flags = p2p_position_flags(w->lane, position);

	return flags & SEG_REQUEST_ACTIVE &&
	       (flags & SEG_REQUEST_PERSISTENT ||
		wrap_request_key(requests, position, w->is_fortran) == REQUESTS_KEY_NULL);
}

static inline void wrap_waitany_after(struct wrap_call *w, const void *requests, const int *index)
{
	if (*index == MPI_UNDEFINED)
		return;
	int position = *index - w->is_fortran;
	/* Up to MPICH 4.0 mpi_f08 counts from 0. */
	if (w->is_fortran && !wrap_may_be_completed(w, requests, position) &&
	    wrap_may_be_completed(w, requests, *index))
		position = *index;
	wrap_completed(w, position, 0);
}

/* Of a shape: the number of requests, what is waited for, the statuses that may be asked for. */
#define WRAP_WAIT(shape_, count_, kind_, of_, statuses_, ...)                                      \
	static inline void wrap_##shape_##_before(struct wrap_call *w, ##__VA_ARGS__,              \
						  const void *requests)                            \
	{                                                                                          \
		wrap_any_wait(w, count_, requests, SEG_OPERATION_##kind_, of_, statuses_);         \
	}

WRAP_WAIT(wait, 1, WAIT_ALL, OPERATION_CALL, 1)
WRAP_WAIT(waitall, count, WAIT_ALL, OPERATION_CALL, count, int count)
WRAP_WAIT(waitany, count, WAIT_ANY, OPERATION_CALL, 1, int count)
WRAP_WAIT(waitsome, count, WAIT_ANY, OPERATION_CALL, count, int count)
WRAP_WAIT(test, 1, WAIT_ALL, OPERATION_POLL, 1)
WRAP_WAIT(testall, count, WAIT_ALL, OPERATION_POLL, count, int count)
WRAP_WAIT(testany, count, WAIT_ANY, OPERATION_POLL, 1, int count)
WRAP_WAIT(testsome, count, WAIT_ANY, OPERATION_POLL, count, int count)
/* These ask and complete nothing. */
WRAP_WAIT(get_status, 1, WAIT_ALL, OPERATION_POLL, 0)
WRAP_WAIT(get_status_all, count, WAIT_ALL, OPERATION_POLL, 0, int count)
WRAP_WAIT(get_status_any, count, WAIT_ANY, OPERATION_POLL, 0, int count)
