/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/wrap_tokens.h"

#include "model/recorder/notes.h"

/* Ranks in `base` of the members of `group`, at most `max`; their number, or -1. */
static int ranks_in(MPI_Group group, MPI_Group base, int32_t *to, uint32_t max)
{
	MPI_Group null = WRAP_CONSTANT(MPI_GROUP_NULL, "ompi_mpi_group_null");
	int size;

	/* MPI would call an error handler, that of another communicator perhaps. */
	if (WRAP_WORD(group) == 0 || group == null)
		return -1;
	if (!WRAP_ASK(MPI_Group_size, group, &size) || (uint32_t)size > max ||
	    !wrap_translate(group, base, 0, size, to))
		return -1;
	return size;
}

/* ---- Ranks of w->comm, but for `own` ---- */

typedef void each_fn(struct lane *l, uint32_t comm, int32_t peer, int32_t tag);

static ALWAYS_INLINE void each(struct wrap_call *w, const int32_t *peers, int num, int32_t own,
			       each_fn *fn, int32_t tag)
{
	for (int i = 0; i < num; i++)
		if (peers[i] != own)
			fn(w->lane, w->comm, peers[i], tag);
}

static ALWAYS_INLINE void wait_for(struct wrap_call *w, const int32_t *peers, int num, int32_t own,
				   int32_t tag, enum operation_of of)
{
	struct p2p_list list = p2p_list_begin(w->lane);

	for (int i = 0; i < num; i++)
		if (peers[i] != own)
			tokens_list(w->lane, &list, w->comm, peers[i], tag);
	p2p_list_end(w->lane, &list);
	p2p_wait(w->lane, SEG_OPERATION_WAIT_ALL, of);
}

/* ---- Post, start, complete, wait ---- */

static uint64_t groups_freed;

void wrap_group_freed_after(struct wrap_call *w)
{
	(void)w;
	__atomic_fetch_add(&groups_freed, 1, __ATOMIC_RELAXED);
}

/* Ranks in the window of the members of `group`. */
static NOINLINE bool ask_epoch(struct comms_epochs *epochs, uint32_t window, enum comms_epoch which,
			       MPI_Group group)
{
	MPI_Group base;

	epochs->known[which].group = 0;
	if (!WRAP_ASK(MPI_Win_get_group, WRAP_HANDLE(MPI_Win, comms_handle(&comms_here, window)),
		      &base))
		return false;
	int num = ranks_in(group, base, epochs->peers[which], comms_num_peers(&comms_here, window));
	(void)WRAP_ASK(MPI_Group_free, &base);
	if (num < 0)
		return false;
	epochs->known[which].group = WRAP_WORD(group);
	epochs->known[which].freed = __atomic_load_n(&groups_freed, __ATOMIC_RELAXED);
	epochs->known[which].num = num;
	return true;
}

/* Whom the new epoch is with; NULL: cannot be known. Most programs take the same group each time,
 * which is not believed where another thread may free it and make a new one. */
static ALWAYS_INLINE struct comms_epochs *epoch_begin(struct wrap_call *w, uint32_t window,
						      enum comms_epoch which, MPI_Group group)
{
	struct comms_epochs *epochs = comms_get_epochs(&comms_here, window);
	uint64_t freed = __atomic_load_n(&groups_freed, __ATOMIC_RELAXED);

	w->comm = window;
	if (!epochs)
		return NULL;
	epochs->num[which] = 0;
	if ((w->lane->requests->is_shared || epochs->known[which].group != WRAP_WORD(group) ||
	     epochs->known[which].freed != freed) &&
	    !ask_epoch(epochs, window, which, group))
		return NULL;
	epochs->num[which] = epochs->known[which].num;
	return epochs;
}

static ALWAYS_INLINE void each_in(struct wrap_call *w, const struct comms_epochs *epochs,
				  enum comms_epoch which, each_fn *fn, int32_t tag)
{
	if (epochs)
		each(w, epochs->peers[which], epochs->num[which], SEG_PEER_NONE, fn, tag);
}

void wrap_epoch_wait_before(struct wrap_call *w, uint32_t window, enum comms_epoch which,
			    int32_t tag, enum operation_of of)
{
	const struct comms_epochs *epochs = comms_get_epochs(&comms_here, window);

	w->comm = window;
	if (epochs) {
		wait_for(w, epochs->peers[which], epochs->num[which], SEG_PEER_NONE, tag, of);
		return;
	}
	struct p2p_list none = p2p_list_begin(w->lane);
	p2p_list_end(w->lane, &none);
	operation_plain(w->lane, SEG_OPERATION_OTHER, of);
}

void wrap_post_before(struct wrap_call *w, MPI_Group group, uint32_t window)
{
	const struct comms_epochs *epochs = epoch_begin(w, window, COMMS_EXPOSURE, group);

	operation_local(w->lane);
	each_in(w, epochs, COMMS_EXPOSURE, tokens_send, SEG_TAG_POST);
	each_in(w, epochs, COMMS_EXPOSURE, tokens_expect, SEG_TAG_COMPLETE);
}

void wrap_post_after(struct wrap_call *w, int ret)
{
	struct comms_epochs *epochs = comms_get_epochs(&comms_here, w->comm);

	if (ret == MPI_SUCCESS || !epochs)
		return;
	each_in(w, epochs, COMMS_EXPOSURE, tokens_take_back_send, SEG_TAG_POST);
	each_in(w, epochs, COMMS_EXPOSURE, tokens_take_back_expect, SEG_TAG_COMPLETE);
	epochs->num[COMMS_EXPOSURE] = 0;
}

/* Some libraries wait here for the posts, others in MPI_Win_complete. */
void wrap_start_epoch_before(struct wrap_call *w, MPI_Group group, uint32_t window)
{
	const struct comms_epochs *epochs = epoch_begin(w, window, COMMS_ACCESS, group);

	each_in(w, epochs, COMMS_ACCESS, tokens_expect, SEG_TAG_POST);
	wrap_epoch_wait_before(w, window, COMMS_ACCESS, SEG_TAG_POST, OPERATION_CALL);
}

void wrap_start_epoch_after(struct wrap_call *w, int ret)
{
	struct comms_epochs *epochs = comms_get_epochs(&comms_here, w->comm);

	if (ret == MPI_SUCCESS || !epochs)
		return;
	each_in(w, epochs, COMMS_ACCESS, tokens_take_back_expect, SEG_TAG_POST);
	epochs->num[COMMS_ACCESS] = 0;
}

/* A target is told only when this call gets so far: it may wait for the post of another one. */
void wrap_complete_after(struct wrap_call *w)
{
	struct comms_epochs *epochs = comms_get_epochs(&comms_here, w->comm);

	if (!epochs)
		return;
	p2p_complete_all(w->lane);
	each_in(w, epochs, COMMS_ACCESS, tokens_send, SEG_TAG_COMPLETE);
	epochs->num[COMMS_ACCESS] = 0;
}

void wrap_win_wait_after(struct wrap_call *w)
{
	struct comms_epochs *epochs = comms_get_epochs(&comms_here, w->comm);

	if (!epochs)
		return;
	p2p_complete_all(w->lane);
	epochs->num[COMMS_EXPOSURE] = 0;
}

/* ---- Communicators of groups ---- */

/* Collective over the new one alone: nothing is counted on the parent, but all tell each other. */
void wrap_make_group_before(struct wrap_call *w, uint32_t parent, MPI_Group group, int tag)
{
	int32_t own = comms_rank(&comms_here, parent);
	uint32_t most = comms_num_peers(&comms_here, parent);
	MPI_Group base;

	w->comm = parent;
	w->key = (uint64_t)(int64_t)tag;
	w->num_peers = -1;
	w->peers_size = most * sizeof(int32_t);
	w->peers = pages_map(w->peers_size);
	if (w->peers && most &&
	    WRAP_ASK(MPI_Comm_group, WRAP_HANDLE(MPI_Comm, comms_handle(&comms_here, parent)),
		     &base)) {
		w->num_peers = ranks_in(group, base, w->peers, most);
		(void)WRAP_ASK(MPI_Group_free, &base);
	}
	if (w->num_peers < 0) {
		operation_plain(w->lane, SEG_OPERATION_OTHER, OPERATION_CALL);
		return;
	}
	each(w, w->peers, w->num_peers, own, tokens_send, SEG_TAG_GROUP);
	each(w, w->peers, w->num_peers, own, tokens_expect, SEG_TAG_GROUP);
	wait_for(w, w->peers, w->num_peers, own, SEG_TAG_GROUP, OPERATION_CALL);
}

void wrap_make_group_after(struct wrap_call *w, int ret, const void *comm)
{
	int32_t own = comms_rank(&comms_here, w->comm);

	if (ret == MPI_SUCCESS) {
		if (w->num_peers >= 0)
			p2p_complete_all(w->lane);
		wrap_made(w, comm, WRAP_NO_TOPOLOGY,
			  (struct comms_new){
				  .origin = COMMID_GROUP, .parent = w->comm, .extra = w->key});
	} else {
		each(w, w->peers, w->num_peers, own, tokens_take_back_send, SEG_TAG_GROUP);
		each(w, w->peers, w->num_peers, own, tokens_take_back_expect, SEG_TAG_GROUP);
	}
	pages_unmap(w->peers, w->peers_size);
}

/* ---- Communicators between groups ---- */

/* What the other leader has to say alike. */
static void note_leader(struct wrap_call *w, uint32_t peer_comm, int remote_leader, int tag)
{
	uint32_t row = ledger_row(w->lane, peer_comm, remote_leader, SEG_TAG_LEADER), *entries;

	if (row == LEDGER_NO_ROW)
		return;
	entries = notes_begin(w->lane, SEG_NOTE_LEADER, peer_comm,
			      relaxed_get(&w->lane->ledger[row].sends), 1, 2);
	if (!entries)
		return;
	entries[0] = notes_entry(tag);
	entries[1] = notes_entry(remote_leader);
	notes_end(w->lane);
}

/* Two collectives of the local group; between them the leaders' exchange, so that the leader counts
 * the second one when it returns. */
void wrap_make_inter_before(struct wrap_call *w, uint32_t local, int local_leader,
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
	struct p2p_list list = p2p_list_begin(w->lane);
	tokens_list_collective(w->lane, &list, local, local_leader, comms_last(&comms_here, local));
	tokens_send(w->lane, peer_comm, remote_leader, SEG_TAG_LEADER);
	tokens_expect(w->lane, peer_comm, remote_leader, SEG_TAG_LEADER);
	note_leader(w, peer_comm, remote_leader, tag);
	tokens_list(w->lane, &list, peer_comm, remote_leader, SEG_TAG_LEADER);
	p2p_list_end(w->lane, &list);
	p2p_wait(w->lane, SEG_OPERATION_WAIT_ALL, OPERATION_CALL);
}

void wrap_make_inter_after(struct wrap_call *w, int ret, const void *comm)
{
	if (w->is_leader) {
		comms_start(&comms_here, w->comm, w->lane->site, comms_rank(&comms_here, w->comm),
			    SEG_NO_BYTES);
		p2p_complete_all(w->lane);
	}
	if (ret == MPI_SUCCESS)
		wrap_made(w, comm, WRAP_NO_TOPOLOGY,
			  (struct comms_new){
				  .origin = COMMID_LEADERS, .parent = w->comm, .extra = w->key});
}
