/* SPDX-License-Identifier: BSD-3-Clause
 * The hooks of calls in which ranks tell each other something that is no message: one-sided
 * synchronisation, and communicators of groups and between groups. Included by wrap.h. */
#ifndef PDB_RECORDER_WRAP_TOKENS_H
#define PDB_RECORDER_WRAP_TOKENS_H

#include "model/recorder/tokens.h"
#include "model/recorder/wrap_made.h"

/* Ranks in `base` of the members of `group`, at most `max`; their number, or -1. */
static int wrap_ranks_in(MPI_Group group, MPI_Group base, int32_t *to, uint32_t max)
{
	__typeof__(&MPI_Group_size) get_size = WRAP_PMPI(MPI_Group_size);
	MPI_Group null = WRAP_CONSTANT(MPI_GROUP_NULL, "ompi_mpi_group_null");
	int size;

	/* MPI would call an error handler, that of another communicator perhaps. */
	if (WRAP_WORD(group) == 0 || group == null)
		return -1;
	if (!get_size || get_size(group, &size) != MPI_SUCCESS || (uint32_t)size > max ||
	    !wrap_translate(group, base, 0, size, to))
		return -1;
	return size;
}

/* ---- Post, start, complete, wait ---- */

static uint64_t wrap_groups_freed;

static inline void wrap_group_freed_after(struct wrap_call *w, int ret)
{
	(void)w;
	(void)ret;
	__atomic_fetch_add(&wrap_groups_freed, 1, __ATOMIC_RELAXED);
}

/* Ranks in the window of the members of `group`. */
static NOINLINE bool wrap_ask_epoch(struct comms_epochs *epochs, uint32_t window,
				    enum comms_epoch which, MPI_Group group)
{
	__typeof__(&MPI_Win_get_group) get_group = WRAP_PMPI(MPI_Win_get_group);
	__typeof__(&MPI_Group_free) group_free = WRAP_PMPI(MPI_Group_free);
	MPI_Group base;

	epochs->known[which].group = 0;
	if (!get_group || !group_free ||
	    get_group(WRAP_HANDLE(MPI_Win, comms_handle(&comms_here, window)), &base) !=
		    MPI_SUCCESS)
		return false;
	int num = wrap_ranks_in(group, base, epochs->peers[which],
				comms_num_peers(&comms_here, window));
	group_free(&base);
	if (num < 0)
		return false;
	epochs->known[which].group = WRAP_WORD(group);
	epochs->known[which].freed = __atomic_load_n(&wrap_groups_freed, __ATOMIC_RELAXED);
	epochs->known[which].num = num;
	return true;
}

/* Whom the new epoch is with; NULL: cannot be known, so nothing is counted on this window. Most
 * programs take the same group each time. Not believed where another thread may free it and make
 * a new one meanwhile. */
static struct comms_epochs *wrap_epoch_begin(struct wrap_call *w, uint32_t window,
					     enum comms_epoch which, MPI_Group group)
{
	struct comms_epochs *epochs = comms_get_epochs(&comms_here, window);
	uint64_t freed = __atomic_load_n(&wrap_groups_freed, __ATOMIC_RELAXED);

	if (!epochs)
		return NULL;
	epochs->num[which] = 0;
	if ((w->lane->requests->is_shared || epochs->known[which].group != WRAP_WORD(group) ||
	     epochs->known[which].freed != freed) &&
	    !wrap_ask_epoch(epochs, window, which, group))
		return NULL;
	epochs->num[which] = epochs->known[which].num;
	return epochs;
}

/* The call, or poll, needs the tokens of all in the epoch. */
static void wrap_epoch_wait_before(struct wrap_call *w, uint32_t window, enum comms_epoch which,
				   int32_t tag, enum operation_of of)
{
	const struct comms_epochs *epochs = comms_get_epochs(&comms_here, window);

	struct p2p_list list = p2p_list_begin(w->lane);

	w->comm = window;
	for (uint32_t i = 0; epochs && i < epochs->num[which]; i++)
		tokens_list(w->lane, &list, window, epochs->peers[which][i], tag);
	p2p_list_end(w->lane, &list);
	if (epochs)
		p2p_wait(w->lane, SEG_OPERATION_WAIT_ALL, of);
	else
		operation_plain(w->lane, SEG_OPERATION_OTHER, of);
}

static void wrap_post_before(struct wrap_call *w, MPI_Group group, uint32_t window)
{
	const struct comms_epochs *epochs = wrap_epoch_begin(w, window, COMMS_EXPOSURE, group);

	w->comm = window;
	operation_local(w->lane);
	for (uint32_t i = 0; epochs && i < epochs->num[COMMS_EXPOSURE]; i++) {
		tokens_send(w->lane, window, epochs->peers[COMMS_EXPOSURE][i], SEG_TAG_POST);
		tokens_expect(w->lane, window, epochs->peers[COMMS_EXPOSURE][i], SEG_TAG_COMPLETE);
	}
}

static void wrap_post_after(struct wrap_call *w, int ret)
{
	struct comms_epochs *epochs = comms_get_epochs(&comms_here, w->comm);

	if (ret == MPI_SUCCESS || !epochs)
		return;
	for (uint32_t i = 0; i < epochs->num[COMMS_EXPOSURE]; i++) {
		int32_t origin = epochs->peers[COMMS_EXPOSURE][i];
		tokens_take_back_send(w->lane, w->comm, origin, SEG_TAG_POST);
		tokens_take_back_expect(w->lane, w->comm, origin, SEG_TAG_COMPLETE);
	}
	epochs->num[COMMS_EXPOSURE] = 0;
}

/* Some libraries wait here for the posts, others in MPI_Win_complete. */
static void wrap_start_epoch_before(struct wrap_call *w, MPI_Group group, uint32_t window)
{
	const struct comms_epochs *epochs = wrap_epoch_begin(w, window, COMMS_ACCESS, group);

	for (uint32_t i = 0; epochs && i < epochs->num[COMMS_ACCESS]; i++)
		tokens_expect(w->lane, window, epochs->peers[COMMS_ACCESS][i], SEG_TAG_POST);
	wrap_epoch_wait_before(w, window, COMMS_ACCESS, SEG_TAG_POST, OPERATION_CALL);
}

static void wrap_start_epoch_after(struct wrap_call *w, int ret)
{
	struct comms_epochs *epochs = comms_get_epochs(&comms_here, w->comm);

	if (ret == MPI_SUCCESS || !epochs)
		return;
	for (uint32_t i = 0; i < epochs->num[COMMS_ACCESS]; i++)
		tokens_take_back_expect(w->lane, w->comm, epochs->peers[COMMS_ACCESS][i],
					SEG_TAG_POST);
	epochs->num[COMMS_ACCESS] = 0;
}

/* A target is told only when this call gets so far: it may wait for the post of another one. */
static void wrap_complete_after(struct wrap_call *w, int ret)
{
	struct comms_epochs *epochs = comms_get_epochs(&comms_here, w->comm);

	if (ret != MPI_SUCCESS || !epochs)
		return;
	tokens_have_come(w->lane);
	for (uint32_t i = 0; i < epochs->num[COMMS_ACCESS]; i++)
		tokens_send(w->lane, w->comm, epochs->peers[COMMS_ACCESS][i], SEG_TAG_COMPLETE);
	epochs->num[COMMS_ACCESS] = 0;
}

static void wrap_win_wait_after(struct wrap_call *w, int ret)
{
	struct comms_epochs *epochs = comms_get_epochs(&comms_here, w->comm);

	if (ret != MPI_SUCCESS || !epochs)
		return;
	tokens_have_come(w->lane);
	epochs->num[COMMS_EXPOSURE] = 0;
}

static void wrap_win_test_after(struct wrap_call *w, int ret, const int *flag)
{
	if (ret == MPI_SUCCESS && *flag)
		wrap_win_wait_after(w, ret);
}

/* ---- Locks ---- */

static inline void wrap_lock_before(struct wrap_call *w, int type, int rank, uint32_t window)
{
	w->comm = window;
	w->peer = rank;
	w->kind = type == MPI_LOCK_EXCLUSIVE;
	comms_leave_pending(&comms_here, window, COMMS_ALL);
	tokens_lock_operation(w->lane, window, rank, w->kind);
}

static inline void wrap_lock_after(struct wrap_call *w, int ret)
{
	if (ret == MPI_SUCCESS)
		tokens_locked(w->lane, w->comm, w->peer, w->kind);
}

static inline void wrap_unlock_before(struct wrap_call *w, int rank, uint32_t window)
{
	w->comm = window;
	w->peer = rank;
	tokens_lock_operation(w->lane, window, rank, TOKENS_LOCK_HELD);
}

static inline void wrap_unlock_after(struct wrap_call *w, int ret)
{
	if (ret == MPI_SUCCESS)
		tokens_unlocked(w->lane, w->comm, w->peer);
}

static inline void wrap_unlock_all_before(struct wrap_call *w, uint32_t window)
{
	comms_flush(&comms_here, window, COMMS_ALL);
	wrap_unlock_before(w, SEG_PEER_ANY, window);
}

/* Has the flush nothing to do? Some programs flush all windows that they have each time, though
 * most have not been used since. A lock counts as a use: libraries get it when there is
 * something to do under it. Which window it is need not be looked up where nothing is pending of
 * any. */
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

static inline void wrap_one_sided_before(struct wrap_call *w, uint32_t window, uint32_t pending)
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

/* ---- Communicators of groups ---- */

/* Collective over the new one alone, so nothing is counted on the parent, but each of the group
 * tells each other. */
static void wrap_make_group_before(struct wrap_call *w, uint32_t parent, MPI_Group group, int tag)
{
	__typeof__(&MPI_Comm_group) get_group = WRAP_PMPI(MPI_Comm_group);
	__typeof__(&MPI_Group_free) group_free = WRAP_PMPI(MPI_Group_free);
	MPI_Group base;

	w->comm = parent;
	w->key = (uint64_t)(int64_t)tag;
	w->num_peers = -1;
	w->peers_size = comms_num_peers(&comms_here, parent) * sizeof(int32_t);
	w->peers = pages_map(w->peers_size);
	if (w->peers && get_group && group_free && w->peers_size &&
	    get_group(WRAP_HANDLE(MPI_Comm, comms_handle(&comms_here, parent)), &base) ==
		    MPI_SUCCESS) {
		w->num_peers =
			wrap_ranks_in(group, base, w->peers, comms_num_peers(&comms_here, parent));
		group_free(&base);
	}
	if (w->num_peers < 0) {
		operation_plain(w->lane, SEG_OPERATION_OTHER, OPERATION_CALL);
		return;
	}
	struct p2p_list list = p2p_list_begin(w->lane);
	for (int i = 0; i < w->num_peers; i++) {
		if (w->peers[i] == comms_rank(&comms_here, parent))
			continue;
		tokens_send(w->lane, parent, w->peers[i], SEG_TAG_GROUP);
		tokens_expect(w->lane, parent, w->peers[i], SEG_TAG_GROUP);
		tokens_list(w->lane, &list, parent, w->peers[i], SEG_TAG_GROUP);
	}
	p2p_list_end(w->lane, &list);
	p2p_wait(w->lane, SEG_OPERATION_WAIT_ALL, OPERATION_CALL);
}

static void wrap_make_group_after(struct wrap_call *w, int ret, const void *comm)
{
	struct comms_new n = {.origin = COMMID_GROUP, .parent = w->comm, .extra = w->key};

	if (ret == MPI_SUCCESS) {
		if (w->num_peers >= 0)
			tokens_have_come(w->lane);
		wrap_made(w, &n, comm, NULL);
	}
	for (int i = 0; ret != MPI_SUCCESS && i < w->num_peers; i++) {
		if (w->peers[i] == comms_rank(&comms_here, w->comm))
			continue;
		tokens_take_back_send(w->lane, w->comm, w->peers[i], SEG_TAG_GROUP);
		tokens_take_back_expect(w->lane, w->comm, w->peers[i], SEG_TAG_GROUP);
	}
	pages_unmap(w->peers, w->peers_size);
}

/* ---- Communicators between groups ---- */

/* Two collectives of the local group with the leaders' exchange between them: only when the leader
 * has it all, the others get it. So the leader counts the second one when it returns. */
static void wrap_make_inter_before(struct wrap_call *w, uint32_t local, int local_leader,
				   uint32_t peer_comm, int remote_leader, int tag)
{
	struct wrap_given given = wrap_rooted_given(local_leader);

	w->key = (uint64_t)(int64_t)tag;
	w->is_leader = comms_rank(&comms_here, local) == local_leader;
	wrap_collective(w, local, given, 0);
	if (!w->is_leader) {
		wrap_collective(w, local, given, 0);
		return;
	}
	w->peer = remote_leader;
	w->peer_comm = peer_comm;
	struct p2p_list list = p2p_list_begin(w->lane);
	tokens_list_collective(w->lane, &list, local, local_leader, comms_last(&comms_here, local));
	tokens_send(w->lane, peer_comm, remote_leader, SEG_TAG_LEADER);
	tokens_expect(w->lane, peer_comm, remote_leader, SEG_TAG_LEADER);
	tokens_list(w->lane, &list, peer_comm, remote_leader, SEG_TAG_LEADER);
	p2p_list_end(w->lane, &list);
	p2p_wait(w->lane, SEG_OPERATION_WAIT_ALL, OPERATION_CALL);
}

static void wrap_make_inter_after(struct wrap_call *w, int ret, const void *comm)
{
	struct comms_new n = {.origin = COMMID_LEADERS, .parent = w->comm, .extra = w->key};

	if (w->is_leader) {
		comms_start(&comms_here, w->comm, w->lane->site, comms_rank(&comms_here, w->comm),
			    SEG_NO_BYTES);
		tokens_have_come(w->lane);
	}
	if (ret == MPI_SUCCESS)
		wrap_made(w, &n, comm, NULL);
}

#endif
