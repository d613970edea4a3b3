/* SPDX-License-Identifier: BSD-3-Clause
 * Of ranks that wait for each other: messages that lie there and may be those that are waited for,
 * and requests that were made for what is waited for and not started; groups of one-sided epochs
 * that do not fit. */
#include "analysis/verdict/verdict_private.h"

/* ---- A message that may be the one that is waited for ---- */

/* Is the message of an exchange that its destination has not come to yet? Then its source waits
 * there for the destination's message, unless that one is further. */
static bool is_early(const struct judge *j, const struct waitfor_deadlock *deadlock,
		     const struct waitfor_unreceived *message)
{
	const struct waitfor *w = j->waitfor;
	const struct waitfor_need *need = NULL;
	uint32_t l = waitfor_first_actor(w, message->source);

	for (; waitfor_is_actor_of(w, l, message->source); l++)
		while ((need = waitfor_next_need(w, l, need)))
			if (need->kind == WAITFOR_MESSAGE && need->is_certain &&
			    need->peer == message->destination &&
			    !verdict_is_further(j, deadlock, message->destination, l))
				return true;
	return false;
}

/* A message of other ranks than those of the need. */
static bool is_between_others(const struct waitfor_lost *lost)
{
	return lost->slip == WAITFOR_OTHER_DESTINATION || lost->slip == WAITFOR_OTHER_SOURCE;
}

/* Is it of the need's ranks and wrong in one thing alone? Others may be for a later receive. */
static bool is_close(const struct waitfor *w, const struct waitfor_lost *lost)
{
	const struct waitfor_need *need = lost->need;

	return !is_between_others(lost) &&
	       (lost->slip == WAITFOR_OTHER_TAG || need->tag == SEG_TAG_ANY ||
		need->tag == w->unreceived[lost->message].tag);
}

/* Was one like it received of this peer before, or from anybody? If not, it may be the receive that
 * is wrong, and not the message. */
static bool is_known_kind(const struct waitfor_need *need)
{
	return need->peer < 0 || need->tag < 0 || need->number != 1 || need->given > 0;
}

/* Has another one than these ranks taken a step that is new to the job? */
static bool has_novel_other(struct judge *j, const struct waitfor_deadlock *deadlock,
			    const struct rankset *ranks)
{
	uint32_t transition;
	uint32_t actor = verdict_find_novel(j, deadlock->actors, deadlock->num_actors, &transition);

	return actor != WAITFOR_NONE && !rankset_contains(ranks, j->actors[actor].rank);
}

bool verdict_find_slip(struct judge *j, const struct stuck *stuck, int is_wanted_close)
{
	const struct waitfor_deadlock *deadlock = stuck->deadlock;
	const struct waitfor *w = j->waitfor;
	struct rankset *ranks = rankset_in(j->arena, rankset_create());
	const struct waitfor_need *need = NULL;
	const struct waitfor_lost *first = NULL;
	bool are_both = false;

	for (uint32_t i = 0; i < w->num_losts; i++) {
		const struct waitfor_lost *lost = &w->losts[i];
		const struct waitfor_unreceived *message = &w->unreceived[lost->message];

		/* The likeliest of each need. One of which others were received may be, too. */
		if (!message->is_new || lost->need == need ||
		    is_close(w, lost) != (bool)is_wanted_close ||
		    !verdict_has_lane(deadlock, lost->need->actor) ||
		    (is_between_others(lost) && is_early(j, deadlock, message)))
			continue;
		need = lost->need;
		first = first ?: lost;
		rankset_add(ranks, message->source);
		if (lost->slip == WAITFOR_OTHER_TAG && !is_known_kind(need) &&
		    !waitfor_was_received(w, need->comm, need->tag)) {
			rankset_add(ranks, message->destination);
			are_both = true;
		}
		/* The one that sends to this rank, or this one that receives from another. */
		if (lost->slip == WAITFOR_OTHER_SOURCE)
			rankset_add(ranks, message->destination);
	}
	if (!first || (!is_wanted_close && has_novel_other(j, deadlock, ranks)))
		return false;
	verdict_lose(j, stuck->stay_ns, ranks, first->need,
		     are_both ? WITNESS_RECEIVER : WITNESS_SLIP);
	j->verdict->witness.lost = first;
	if (are_both)
		verdict_doubt(j, DOUBT_LATER_RECEIVE);
	return true;
}

/* Was such a message received before, and none like the one that is waited for, of the same sender?
 * Then the receive may be what is wrong. */
static bool is_of_receiver(const struct waitfor *w, const struct waitfor_lost *lost)
{
	const struct waitfor_need *need = lost->need;
	const struct waitfor_unreceived *message = &w->unreceived[lost->message];

	return (lost->slip == WAITFOR_OTHER_TAG ||
		(lost->slip == WAITFOR_OTHER_COMM && need->tag == message->tag)) &&
	       !is_known_kind(need) && message->received > 0;
}

bool verdict_find_receiver(struct judge *j, const struct stuck *stuck, int how)
{
	const struct waitfor *w = j->waitfor;

	(void)how;
	for (uint32_t i = 0; i < w->num_losts; i++) {
		const struct waitfor_lost *lost = &w->losts[i];
		struct rankset *ranks;

		if (!is_of_receiver(w, lost) ||
		    !verdict_has_lane(stuck->deadlock, lost->need->actor))
			continue;
		ranks = rankset_in(j->arena, rankset_create());
		rankset_add(ranks, w->unreceived[lost->message].source);
		rankset_add(ranks, w->unreceived[lost->message].destination);
		verdict_lose(j, stuck->stay_ns, ranks, lost->need, WITNESS_RECEIVER);
		j->verdict->witness.lost = lost;
		verdict_doubt(j, DOUBT_LATER_RECEIVE);
		return true;
	}
	return false;
}

/* ---- A request that was not started ---- */

bool verdict_find_unstarted(struct judge *j, const struct stuck *stuck, int how)
{
	const struct waitfor_deadlock *deadlock = stuck->deadlock;
	const struct waitfor_need *need = NULL, *first = NULL;
	struct rankset *ranks = rankset_in(j->arena, rankset_create());
	struct waitfor_unstarted unstarted;

	(void)how;
	while ((need = waitfor_next_need_of(j->waitfor, deadlock, need))) {
		if (need->peer < 0 || !waitfor_find_unstarted(j->waitfor, need, &unstarted) ||
		    !unstarted.is_left_out || !rankset_contains(deadlock->ranks, unstarted.rank))
			continue;
		rankset_add(ranks, unstarted.rank);
		first = first ?: need;
	}
	if (!first)
		return false;
	verdict_lose(j, stuck->stay_ns, ranks, first, WITNESS_UNSTARTED);
	verdict_doubt(j, DOUBT_LATER_START);
	return true;
}

/* ---- Groups of MPI_Win_post and MPI_Win_start ---- */

/* Does another one than whom it starts with wait for the rank to complete its access, as it has
 * done before? */
static bool is_awaited_by_other(const struct waitfor *w, const struct waitfor_deadlock *deadlock,
				int rank, const struct waitfor_need *start)
{
	const struct waitfor_need *need = NULL;

	while ((need = waitfor_next_need_of(w, deadlock, need)))
		if (need->kind == WAITFOR_TOKEN && need->tag == SEG_TAG_COMPLETE &&
		    need->is_certain && need->peer == rank && need->comm == start->comm &&
		    need->number > 1 && w->evidence->actors[need->actor].rank != start->peer)
			return true;
	return false;
}

bool verdict_find_wrong_group(struct judge *j, const struct stuck *stuck, int how)
{
	const struct waitfor_deadlock *deadlock = stuck->deadlock;
	const struct waitfor_need *need = NULL;

	(void)how;
	while ((need = waitfor_next_need_of(j->waitfor, deadlock, need))) {
		int rank = j->actors[need->actor].rank;
		struct rankset *ranks;

		if (need->kind != WAITFOR_TOKEN || need->tag != SEG_TAG_POST || !need->is_certain ||
		    need->number != 1 || need->given != 0 ||
		    !is_awaited_by_other(j->waitfor, deadlock, rank, need))
			continue;
		ranks = rankset_in(j->arena, rankset_create());
		rankset_add(ranks, rank);
		verdict_lose(j, stuck->stay_ns, ranks, need, WITNESS_GROUP);
		verdict_doubt(j, DOUBT_FIRST_POST);
		return true;
	}
	return false;
}
