/* SPDX-License-Identifier: BSD-3-Clause
 * Locks of windows: who waits for one and who is in the way.
 *
 * MPI_Win_lock may return before the lock is had, so any of several who seem to hold it may do so:
 * the lock may be had once one goes on. Who is inside a call about the lock is not in the way. */
#include "analysis/waits/waitfor_private.h"

enum { ALL_TARGETS = -1 };

struct lock_holder {
	uint32_t comm;
	int target; /* the job's rank; -1: all */
	bool is_exclusive;
	int rank;
};

struct lock_holders {
	struct lock_holder *holders;
	size_t num, capacity;
};

static int target_of(const struct waitfor *w, const struct model *model, uint32_t local,
		     int32_t peer)
{
	return peer == SEG_PEER_ANY ? ALL_TARGETS : job_comms_peer(w->comms, model, local, peer);
}

static bool is_lock_call(const struct waitfor *w, uint32_t l)
{
	return w->evidence->actors[l].activity == ACTIVITY_IN_MPI &&
	       w->private->jm->lanes[l].data->operation.kind == SEG_OPERATION_LOCK;
}

/* Is any thread of the rank in a call about just this lock? */
static bool is_busy_with(const struct waitfor *w, const struct rank_actors *lanes,
			 const struct model_request *held)
{
	for (uint32_t l = lanes->first; l < lanes->first + lanes->num; l++) {
		const struct model_transfer *t =
			&w->private->jm->lanes[l].data->operation.transfers[0];

		if (is_lock_call(w, l) && t->comm == held->comm && t->peer == held->peer)
			return true;
	}
	return false;
}

static void find_holders(const struct waitfor *w, struct lock_holders *found, struct arena *arena)
{
	const struct waitfor_private *p = w->private;

	for (size_t r = 0; r < p->num_ranks; r++) {
		const struct rank_actors *lanes = &p->ranks[r];
		const struct model *model = lanes->num ? p->jm->lanes[lanes->first].model : NULL;

		for (size_t i = 0; model && i < model->num_requests; i++) {
			const struct model_request *held = &model->requests[i];
			uint32_t comm;

			if (held->kind != SEG_REQUEST_LOCK || is_busy_with(w, lanes, held))
				continue;
			comm = job_comms_find(w->comms, model, held->comm);
			if (comm == SEG_NO_COMM)
				continue;
			*ARENA_PUSH(arena, found->holders, found->num, found->capacity) =
				(struct lock_holder){
					.comm = comm,
					.target = target_of(w, model, held->comm, held->peer),
					.is_exclusive = held->tag == 1,
					.rank = (int)r,
				};
		}
	}
}

SORTED_BY(compare_holders, struct lock_holder, comm, target, rank)

SORTED_BY(compare_locks, struct lock_node, comm, is_exclusive, target)

static void add_lock(struct waitfor_private *p, uint32_t comm, int target, bool is_exclusive)
{
	*ARENA_PUSH(p->arena, p->locks, p->num_locks, p->locks_capacity) =
		(struct lock_node){.comm = comm, .target = target, .is_exclusive = is_exclusive};
}

static void find_wanted(struct waitfor *w)
{
	struct waitfor_private *p = w->private;

	for (uint32_t l = 0; l < p->num_lanes; l++) {
		const struct job_lane *lane = &p->jm->lanes[l];
		const struct model_transfer *t = &lane->data->operation.transfers[0];
		uint32_t comm;

		if (!is_lock_call(w, l))
			continue;
		comm = job_comms_find(w->comms, lane->model, t->comm);
		if (comm == SEG_NO_COMM)
			continue;
		add_lock(p, comm, target_of(w, lane->model, t->comm, t->peer), t->tag == 1);
		add_lock(p, comm, ALL_TARGETS, t->tag == 1);
	}
	p->num_locks = sorted_make_unique(p->locks, p->num_locks, sizeof(*p->locks), compare_locks);
}

static uint32_t find_lock(const struct waitfor_private *p, uint32_t comm, int target,
			  bool is_exclusive)
{
	const struct lock_node key = {.comm = comm, .target = target, .is_exclusive = is_exclusive};
	const struct lock_node *found =
		p->num_locks ? bsearch(&key, p->locks, p->num_locks, sizeof(key), compare_locks)
			     : NULL;

	return found ? (uint32_t)(found - p->locks) : WAITFOR_NONE;
}

/* Does the target's rank make progress for others, inside MPI and not about to go on? */
static bool is_inside(const struct waitfor *w, int rank)
{
	const struct rank_actors *lanes = &w->private->ranks[rank];

	for (uint32_t l = lanes->first; l < lanes->first + lanes->num; l++)
		if (w->evidence->actors[l].activity == ACTIVITY_MOVES ||
		    w->evidence->actors[l].activity == ACTIVITY_COMPUTING)
			return false;
	return lanes->num > 0;
}

static void fill_locks(struct waitfor *w, const struct lock_holders *found)
{
	struct waitfor_private *p = w->private;
	/* Each holder is listed for a shared and for an exclusive wish at most. */
	int *ranks = arena_array(p->arena, 2 * found->num, sizeof(*ranks));

	for (uint32_t i = 0; i < p->num_locks; i++) {
		struct lock_node *lock = &p->locks[i];
		struct group_node *group = &lock->group;
		const struct job_comm *comm = &w->comms->comms[lock->comm];
		const struct lock_holder key = {
			.comm = lock->comm, .target = lock->target, .rank = -1};
		const struct lock_holder *holder =
			found->holders + sorted_first(&key, found->holders, found->num,
						      sizeof(*holder), compare_holders);

		group->ranks = ranks;
		for (; holder < found->holders + found->num && holder->comm == lock->comm &&
		       holder->target == lock->target;
		     holder++)
			if (lock->is_exclusive || holder->is_exclusive)
				ranks[group->num_ranks++] = holder->rank;
		ranks += group->num_ranks;
		group->num_all = group->num_ranks;
		if (lock->target != ALL_TARGETS) {
			/* Which comes before it, and is filled. */
			group->back = i - find_lock(p, lock->comm, ALL_TARGETS, lock->is_exclusive);
			group->num_all += p->locks[i - group->back].group.num_all;
		}
		/* Who is known to hold it is in the way, whoever else does, too. */
		group->may_go_on = (group->num_all == 0 && comm->num_views < comm->sizes[0]) ||
				   (lock->target >= 0 && !is_inside(w, lock->target));
	}
}

void waitfor_find_locks(struct waitfor *w)
{
	struct arena *scratch = arena_create();
	struct lock_holders found = {0};

	find_wanted(w);
	if (w->private->num_locks > 0) {
		find_holders(w, &found, scratch);
		sorted_make(found.holders, found.num, sizeof(*found.holders), compare_holders);
		fill_locks(w, &found);
	}
	arena_destroy(scratch);
}

bool waitfor_need_lock(struct waitfor *w, uint32_t l, const struct model_transfer *t,
		       struct waitfor_need *need, enum waitfor_gap *gap)
{
	const struct waitfor_private *p = w->private;
	const struct job_lane *lane = &p->jm->lanes[l];
	uint32_t comm = job_comms_find(w->comms, lane->model, t->comm), index;
	int target = comm == SEG_NO_COMM ? -1 : target_of(w, lane->model, t->comm, t->peer);
	const struct group_node *lock;

	index = find_lock(p, comm, target, t->tag == 1);
	if (comm == SEG_NO_COMM || index == WAITFOR_NONE) {
		*gap = WAITFOR_NO_COMM;
		return false;
	}
	lock = &p->locks[index].group;
	need->comm = comm;
	need->tag = t->tag;
	need->number = target < 0 ? WAITFOR_NOT_KNOWN : (uint64_t)target;
	need->given = lock->num_all;
	if (lock->num_all > 0) {
		need->kind = WAITFOR_LOCK;
		need->is_certain = !lock->may_go_on;
		need->node = p->first_lock + index;
		if (lock->num_all > 1)
			return true;
		need->peer = lock->num_ranks ? lock->ranks[0]
					     : p->locks[index - lock->back].group.ranks[0];
		return true;
	}
	if (target < 0 || is_inside(w, target))
		return false;
	need->kind = WAITFOR_TRANSFER;
	need->is_weak = true;
	need->peer = target;
	need->node = p->first_rank + (uint32_t)target;
	return true;
}
