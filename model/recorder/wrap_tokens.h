/* SPDX-License-Identifier: BSD-3-Clause
 * The hooks of one-sided calls, and of calls that make communicators of groups and between groups:
 * ranks tell each other something that is no message. */
#pragma once

#include "model/recorder/tokens.h"
#include "model/recorder/wrap_made.h"

/* ---- Post, start, complete, wait ---- */

void wrap_group_freed_after(struct wrap_call *w);
void wrap_post_before(struct wrap_call *w, MPI_Group group, uint32_t window);
void wrap_post_after(struct wrap_call *w, int ret);
void wrap_start_epoch_before(struct wrap_call *w, MPI_Group group, uint32_t window);
void wrap_start_epoch_after(struct wrap_call *w, int ret);
/* The call, or poll, needs the tokens of all in the epoch. */
void wrap_epoch_wait_before(struct wrap_call *w, uint32_t window, enum comms_epoch which,
			    int32_t tag, enum operation_of of);
void wrap_complete_after(struct wrap_call *w);
void wrap_win_wait_after(struct wrap_call *w);

/* ---- Communicators of groups, and between groups ---- */

void wrap_make_group_before(struct wrap_call *w, uint32_t parent, MPI_Group group, int tag);
void wrap_make_group_after(struct wrap_call *w, int ret, const void *comm);
void wrap_make_inter_before(struct wrap_call *w, uint32_t local, int local_leader,
			    uint32_t peer_comm, int remote_leader, int tag);
void wrap_make_inter_after(struct wrap_call *w, int ret, const void *comm);

/* ---- Locks ---- */

static ALWAYS_INLINE void wrap_lock_before(struct wrap_call *w, int type, int rank, uint32_t window)
{
	w->comm = window;
	w->peer = rank;
	w->kind = type == MPI_LOCK_EXCLUSIVE;
	comms_leave_pending(&comms_here, window, COMMS_ALL);
	tokens_lock_operation(w->lane, window, rank, w->kind);
}

#define wrap_lock_after(w_) tokens_locked((w_)->lane, (w_)->comm, (w_)->peer, (w_)->kind)

static inline void wrap_unlock_before(struct wrap_call *w, int rank, uint32_t window)
{
	w->comm = window;
	w->peer = rank;
	tokens_lock_operation(w->lane, window, rank, TOKENS_LOCK_HELD);
}

#define wrap_unlock_after(w_) tokens_unlocked((w_)->lane, (w_)->comm, (w_)->peer)

static inline void wrap_unlock_all_before(struct wrap_call *w, uint32_t window)
{
	comms_flush(&comms_here, window, COMMS_ALL);
	wrap_unlock_before(w, SEG_PEER_ANY, window);
}

/* Has the flush nothing to do? Some programs flush all their windows each time, though few have
 * been used. A lock is a use: libraries get it when there is something to do under it. */
#define wrap_flush_is_idle(window_, pending_)                                                      \
	(!comms_has_pending(&comms_here) || !(comms_pending_of(&comms_here, window_) & (pending_)))
#define wrap_flush_all_is_idle wrap_flush_is_idle

/* What is pending for other targets still is, afterwards. */
static inline void wrap_flush_before(struct wrap_call *w, int rank, uint32_t window,
				     uint32_t pending)
{
	(void)pending; /* a constant of the function, for is_idle() */
	tokens_lock_operation(w->lane, window, rank, TOKENS_LOCK_HELD);
}

static inline void wrap_flush_all_before(struct wrap_call *w, uint32_t window, uint32_t pending)
{
	comms_flush(&comms_here, window, pending);
	tokens_lock_operation(w->lane, window, SEG_PEER_ANY, TOKENS_LOCK_HELD);
}

/* ---- One-sided transfers ---- */

static ALWAYS_INLINE void wrap_one_sided_before(struct wrap_call *w, uint32_t window,
						uint32_t pending)
{
	comms_leave_pending(&comms_here, window, pending);
	operation_local(w->lane);
}

static inline void wrap_one_sided_request_before(struct wrap_call *w, uint32_t window,
						 uint32_t pending)
{
	comms_leave_pending(&comms_here, window, pending);
	wrap_irequest_before(w);
}
