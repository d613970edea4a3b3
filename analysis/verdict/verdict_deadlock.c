/* SPDX-License-Identifier: BSD-3-Clause
 * Ranks that wait for each other: who has gone wrong. That they are stuck is certain; they are
 * still named only after a while, lest a fault of what is recorded accuses a job that is well. */
#include "analysis/verdict/verdict_private.h"

/* What MPI_Init_thread provides at most, in all MPI libraries. */
enum { THREAD_MULTIPLE = 3 };

/* The ranks that are looked at. */
struct stuck {
	const struct waitfor_deadlock *deadlock;
	uint32_t which; /* in waitfor->deadlocks */
	uint64_t stay_ns;
};

static void accuse(struct judge *j, const struct stuck *stuck, const struct rankset *ranks)
{
	verdict_accuse(j, ranks, VERDICT_DEADLOCK, stuck->stay_ns);
	j->verdict->which = stuck->which;
}

static void lose(struct judge *j, const struct stuck *stuck, const struct rankset *ranks,
		 uint32_t which, uint32_t lane, uint32_t need)
{
	verdict_accuse(j, ranks, VERDICT_LOST, stuck->stay_ns);
	j->verdict->which = which;
	j->verdict->lane = lane;
	j->verdict->need = need;
}

/* ---- A message that may be the one that is waited for ---- */

/* Is the message of an exchange that its destination has not come to yet? Then its source waits
 * there for the destination's message, unless that one is further. */
static bool is_early(const struct judge *j, const struct waitfor_deadlock *deadlock,
		     const struct waitfor_unreceived *message)
{
	const struct waitfor *w = j->waitfor;
	const struct waitfor_need *need = NULL;
	uint32_t l = waitfor_first_lane(w, message->source);

	for (; j->groups->progress && waitfor_is_lane_of(w, l, message->source); l++)
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
	const struct waitfor_need *need = &w->needs[lost->need];

	return !is_between_others(lost) &&
	       (lost->slip == WAITFOR_OTHER_TAG || need->tag == SEG_TAG_ANY ||
		need->tag == w->unreceived[lost->message].tag);
}

/* Has another one than these ranks taken a step that is new to the job? */
static bool has_novel_other(struct judge *j, const struct waitfor_deadlock *deadlock,
			    const struct rankset *ranks)
{
	uint32_t transition;
	uint32_t actor = verdict_find_novel(j, deadlock->lanes, deadlock->num_lanes, &transition);

	return actor != WAITFOR_NONE && !rankset_contains(ranks, j->jm->lanes[actor].rank);
}

/* There are messages, and nobody receives them, that may be those that are waited for. */
static bool find_slip(struct judge *j, const struct stuck *stuck, int is_wanted_close)
{
	const struct waitfor *w = j->waitfor;
	struct rankset *ranks = rankset_in(j->arena, rankset_create());
	uint32_t first = WAITFOR_NONE, need = WAITFOR_NONE;

	for (uint32_t i = 0; i < w->num_losts; i++) {
		const struct waitfor_lost *lost = &w->losts[i];
		const struct waitfor_unreceived *message = &w->unreceived[lost->message];

		/* The likeliest of each need. One of which others were received may be, too. */
		if (!message->is_new || lost->need == need ||
		    is_close(w, lost) != (bool)is_wanted_close ||
		    !verdict_has_lane(stuck->deadlock, lost->lane) ||
		    (is_between_others(lost) && is_early(j, stuck->deadlock, message)))
			continue;
		need = lost->need;
		first = first == WAITFOR_NONE ? i : first;
		rankset_add(ranks, message->source);
		/* The one that sends to this rank, or this one that receives from another. */
		if (lost->slip == WAITFOR_OTHER_SOURCE)
			rankset_add(ranks, message->destination);
	}
	if (first == WAITFOR_NONE ||
	    (!is_wanted_close && has_novel_other(j, stuck->deadlock, ranks)))
		return false;
	lose(j, stuck, ranks, first, w->losts[first].lane, w->losts[first].need);
	return true;
}

/* ---- A message that was not sent ---- */

/* How many messages and tokens of the rank others of the deadlock wait for, and the first. */
static size_t find_owed(const struct judge *j, const struct waitfor_deadlock *deadlock, int rank,
			uint32_t *lane_ret, uint32_t *need_ret)
{
	const struct waitfor *w = j->waitfor;
	const struct waitfor_need *need = NULL;
	size_t num = 0;

	for (size_t i = 0; i < deadlock->num_lanes; i++)
		while ((need = waitfor_next_need(w, deadlock->lanes[i], need))) {
			if ((need->kind != WAITFOR_MESSAGE && need->kind != WAITFOR_TOKEN) ||
			    !need->is_certain || need->peer != rank || num++ > 0)
				continue;
			*lane_ret = deadlock->lanes[i];
			*need_ret = (uint32_t)(need - w->needs);
		}
	return num;
}

/* Does it wait for a message itself? Then what it owes may be to come after that. */
static bool waits_for_message(const struct waitfor *w, uint32_t l)
{
	for (const struct waitfor_need *need = NULL; (need = waitfor_next_need(w, l, need));)
		if (need->kind == WAITFOR_MESSAGE)
			return true;
	return false;
}

/* Ranks have not sent what others of the deadlock wait for. */
static bool find_senders(struct judge *j, const struct stuck *stuck, int which)
{
	uint32_t lane, need;
	const struct rankset *ranks =
		verdict_find_senders(j, stuck->deadlock, (enum verdict_senders)which, &lane, &need);

	if (!ranks)
		return false;
	lose(j, stuck, ranks, WAITFOR_NONE, lane, need);
	j->verdict->is_likely = true;
	return true;
}

/* Do others owe what is waited for? Who went on after a new step may have had its own reason. */
static bool are_others_to_blame(const struct judge *j, const struct waitfor_deadlock *deadlock,
				enum verdict_senders which, uint32_t actor)
{
	uint32_t lane, need;
	const struct rankset *senders = verdict_find_senders(j, deadlock, which, &lane, &need);

	return senders && !rankset_contains(senders, j->jm->lanes[actor].rank);
}

/* ---- One that did what is new to it, or to all ---- */

static bool is_send(const struct judge *j, uint32_t state)
{
	enum seg_class class = j->jm->sites[SEG_STATE_SITE(state)].class_id;

	return class == SEG_CLASS_SEND || class == SEG_CLASS_SENDRECV || class == SEG_CLASS_START;
}

/* One of the deadlock, and perhaps what it owes to others. */
struct actor {
	uint32_t lane; /* WAITFOR_NONE: there is none */
	bool is_owed;
	uint32_t waiting, need; /* lane that waits for it, and for what */
};

static void accuse_actor(struct judge *j, const struct stuck *stuck, const struct actor *actor)
{
	struct rankset *ranks = rankset_in(j->arena, rankset_create());

	rankset_add(ranks, j->jm->lanes[actor->lane].rank);
	if (actor->is_owed)
		lose(j, stuck, ranks, WAITFOR_NONE, actor->waiting, actor->need);
	else
		accuse(j, stuck, ranks);
}

/* The first of the deadlock that has left its course; owed is a message that it left out, if just
 * one of its messages is waited for. False: none, or it is hardly why the others wait. */
static bool find_first_departed(struct judge *j, const struct waitfor_deadlock *deadlock,
				enum departed_evidence evidence, struct actor *ret,
				struct departure *departure, size_t *num_later_ret)
{
	ret->lane = verdict_find_departed(j, deadlock->lanes, deadlock->num_lanes, evidence,
					  departure, num_later_ret);
	if (ret->lane == WAITFOR_NONE)
		return false;
	/* It waits since then; if others came to wait by as new a step, they have a part in it. */
	if (departure->since > 0 ? are_others_to_blame(j, deadlock, VERDICT_SENDERS_ANY, ret->lane)
				 : *num_later_ret > 0)
		return false;
	ret->is_owed =
		is_send(j, departure->usual) && find_owed(j, deadlock, j->jm->lanes[ret->lane].rank,
							  &ret->waiting, &ret->need) == 1;
	return ret->is_owed ||
	       (evidence == DEPARTED_STRONG && departure->since < DEPARTED_JUST_NOW);
}

/* One of them has left its course, before any other: that is where it went wrong. */
static bool find_departed(struct judge *j, const struct stuck *stuck, int evidence)
{
	struct actor actor;
	struct departure departure;
	size_t num_later;

	if (!find_first_departed(j, stuck->deadlock, (enum departed_evidence)evidence, &actor,
				 &departure, &num_later))
		return false;
	accuse_actor(j, stuck, &actor);
	verdict_set_departed(j, actor.lane, &departure, num_later);
	return true;
}

/* Had another one left its course, and so left out a message, before the actor took the step? */
static bool is_after_departure(struct judge *j, const struct waitfor_deadlock *deadlock,
			       uint32_t actor, uint32_t transition)
{
	struct actor departed;
	struct departure departure;
	size_t num_later;

	return find_first_departed(j, deadlock, DEPARTED_STRONG, &departed, &departure,
				   &num_later) &&
	       departed.lane != actor && departed.is_owed &&
	       verdict_is_departure_before(j, departed.lane, &departure, actor, transition);
}

static bool stands_after(const struct judge *j, uint32_t actor, uint32_t transition)
{
	return j->jm->transitions[transition].to == j->jm->lanes[actor].state;
}

/* Somebody took a step that is new to the job: that is where it went wrong. */
static bool find_novel(struct judge *j, const struct stuck *stuck, int how)
{
	const struct waitfor_deadlock *deadlock = stuck->deadlock;
	uint32_t transition;
	struct actor actor = {
		.lane = verdict_find_novel(j, deadlock->lanes, deadlock->num_lanes, &transition)};

	(void)how;
	if (actor.lane == WAITFOR_NONE || is_after_departure(j, deadlock, actor.lane, transition) ||
	    (!stands_after(j, actor.lane, transition) &&
	     are_others_to_blame(j, deadlock, VERDICT_SENDERS_ANY, actor.lane)))
		return false;
	actor.is_owed = !waits_for_message(j->waitfor, actor.lane) &&
			find_owed(j, deadlock, j->jm->lanes[actor.lane].rank, &actor.waiting,
				  &actor.need) > 0;
	accuse_actor(j, stuck, &actor);
	verdict_set_novel(j, actor.lane, transition);
	return true;
}

/* Ranks have left out a collective that others of the deadlock wait in. */
static bool find_skipped(struct judge *j, const struct stuck *stuck, int is_sure_only)
{
	bool is_likely;
	uint32_t collective;
	const struct rankset *ranks =
		verdict_find_skipped(j, stuck->deadlock, is_sure_only, &collective, &is_likely);

	if (!ranks)
		return false;
	accuse(j, stuck, ranks);
	j->verdict->skipped = collective;
	j->verdict->is_likely = is_likely;
	return true;
}

static bool accuse_all(struct judge *j, const struct stuck *stuck, int how)
{
	(void)how;
	accuse(j, stuck, stuck->deadlock->ranks);
	return true;
}

/* ---- Deadlocks ---- */

/* What is tried, in this order. */
static const struct rule {
	bool (*find)(struct judge *j, const struct stuck *stuck, int how);
	int how;
} rules[] = {
	{find_slip, true},
	{find_senders, VERDICT_SENDERS_BY_MESSAGES},
	{find_slip, false},
	{find_skipped, true},
	{find_novel, 0},
	{find_departed, DEPARTED_STRONG},
	{find_departed, DEPARTED_WEAK},
	{find_skipped, false},
	{find_senders, VERDICT_SENDERS_ALL},
	{accuse_all, 0},
};
/* Of those that poll. */
enum { FIRST_OF_POLLING = 5, END_OF_POLLING = 9, NUM_RULES = 10 };

static bool try_rules(struct judge *j, const struct stuck *stuck, int first, int end)
{
	for (int i = first; i < end; i++)
		if (rules[i].find(j, stuck, rules[i].how))
			return true;
	return false;
}

/* Where any thread may call MPI, one that never did may come to help. */
static bool may_have_helpers(const struct judge *j, const struct waitfor_deadlock *deadlock)
{
	for (size_t i = 0; i < deadlock->num_lanes; i++) {
		const struct job_lane *lane = &j->jm->lanes[deadlock->lanes[i]];

		if (lane->model->thread_level >= THREAD_MULTIPLE &&
		    waitfor_num_lanes(j->waitfor, lane->rank) == 1)
			return true;
	}
	return false;
}

/* A send may be buffered, and in some collectives a rank need not wait for all that have not come:
 * only a long stay tells that it does wait. */
static bool may_still_end(const struct judge *j, uint32_t l)
{
	const struct waitfor *w = j->waitfor;

	if (j->lanes[l].usual.is_new || j->jm->lanes[l].stay_ns > j->lanes[l].usual.longest_ns)
		return false;
	for (const struct waitfor_need *need = NULL; (need = waitfor_next_need(w, l, need));) {
		uint32_t collective = waitfor_collective_of(w, need->node);

		if (collective != WAITFOR_NONE
			    ? !w->collectives[collective].needs_all
			    : need->kind == WAITFOR_RECEIVE || need->kind == WAITFOR_LOCK)
			return true;
	}
	return false;
}

/* The shortest stay of those in the deadlock; 0: it may still end by itself. */
static uint64_t deadlock_stay(const struct judge *j, const struct waitfor_deadlock *deadlock)
{
	uint64_t stay_ns = UINT64_MAX;

	for (size_t i = 0; i < deadlock->num_lanes; i++) {
		if (may_still_end(j, deadlock->lanes[i]))
			return 0;
		verdict_shorten(j, deadlock->lanes[i], &stay_ns);
	}
	return stay_ns;
}

static bool judge_deadlock(struct judge *j, uint32_t d)
{
	const struct waitfor_deadlock *deadlock = &j->waitfor->deadlocks[d];
	struct stuck stuck = {deadlock, d, deadlock_stay(j, deadlock)};
	bool has_helpers = may_have_helpers(j, deadlock);

	if (stuck.stay_ns < (has_helpers ? VERDICT_HANG_NEW_NS : VERDICT_ACCUSE_NS))
		return false;
	try_rules(j, &stuck, 0, NUM_RULES);
	if (has_helpers) {
		j->verdict->is_likely = true;
		j->verdict->is_stuck = false;
	}
	return true;
}

/* Stuck ranks wait for some that no message comes from any more. */
static bool find_gone(struct judge *j)
{
	const struct rankset *gone = waitfor_find_gone(j->waitfor, j->arena);
	uint64_t stay_ns = UINT64_MAX;

	for (uint32_t l = 0; l < j->waitfor->num_lanes; l++)
		if (j->waitfor->lanes[l].is_stuck)
			verdict_shorten(j, l, &stay_ns);
	if (rankset_is_empty(gone) || stay_ns < VERDICT_ACCUSE_NS)
		return false;
	verdict_accuse(j, gone, VERDICT_LEFT, stay_ns);
	j->verdict->is_hang = stay_ns >= VERDICT_HANG_NS;
	/* One that is gone altogether has no place. */
	rankset_add_set(j->verdict->culprits, gone);
	return true;
}

bool verdict_find_deadlock(struct judge *j)
{
	if (!j->waitfor)
		return false;
	for (uint32_t d = 0; d < j->waitfor->num_deadlocks; d++)
		if (!j->waitfor->deadlocks[d].is_likely && judge_deadlock(j, d))
			return true;
	return find_gone(j);
}

/* ---- Where it is not certain ---- */

static bool are_unusual(const struct judge *j, const struct waitfor_deadlock *deadlock)
{
	for (size_t i = 0; i < deadlock->num_lanes; i++)
		if (!verdict_is_unusual(j, deadlock->lanes[i]))
			return false;
	return true;
}

bool verdict_find_helpless(struct judge *j)
{
	const struct waitfor *w = j->waitfor;
	struct stuck stuck = {.deadlock = w ? w->deadlocks : NULL};

	if (!w || w->num_deadlocks == 0 || stuck.deadlock->is_likely ||
	    deadlock_stay(j, stuck.deadlock) < VERDICT_ACCUSE_NS || !are_unusual(j, stuck.deadlock))
		return false;
	try_rules(j, &stuck, 0, NUM_RULES);
	verdict_weigh(j);
	j->verdict->is_likely = true;
	j->verdict->is_stuck = false;
	return true;
}

/* Ranks that poll for each other may do something else next; if not, those are wrong that left out
 * what others wait for. Where a step is new to the job, that tells more. */
bool verdict_find_polling(struct judge *j)
{
	const struct waitfor *w = j->waitfor;
	uint32_t novel, actor;

	for (uint32_t d = 0; w && d < w->num_deadlocks; d++) {
		const struct waitfor_deadlock *deadlock = &w->deadlocks[d];
		const struct stuck stuck = {deadlock, d, 0};

		if (!deadlock->is_likely || !are_unusual(j, deadlock))
			continue;
		actor = verdict_find_novel(j, deadlock->lanes, deadlock->num_lanes, &novel);
		if ((actor != WAITFOR_NONE && !is_after_departure(j, deadlock, actor, novel)) ||
		    !try_rules(j, &stuck, FIRST_OF_POLLING, END_OF_POLLING))
			continue;
		verdict_weigh(j);
		j->verdict->is_likely = j->verdict->is_while_polling = true;
		j->verdict->is_stuck = false;
		return true;
	}
	return false;
}

/* It is not known whether a message of anybody is on its way to the lane. */
static bool is_unsettled(const struct waitfor *w, uint32_t l)
{
	bool has_any = false;

	for (const struct waitfor_need *need = NULL; (need = waitfor_next_need(w, l, need));)
		has_any |= need->kind == WAITFOR_MESSAGE && need->peer < 0;
	return has_any && w->lanes[l].state == WAITFOR_BLOCKED &&
	       w->lanes[l].gap == WAITFOR_UNSETTLED;
}

/* Nobody moves: as if all who wait were in a deadlock. Where messages do not tell who has not
 * sent, a step that is new tells more than the order. */
bool verdict_find_unsettled(struct judge *j)
{
	const struct waitfor *w = j->waitfor;
	struct waitfor_deadlock all = {.ranks = rankset_in(j->arena, rankset_create())};
	const struct stuck stuck = {&all, WAITFOR_NONE, 0};
	uint32_t transition, actor;
	bool has_some = false;

	all.lanes = arena_array(j->arena, j->jm->num_lanes, sizeof(*all.lanes));
	for (uint32_t l = 0; w && l < w->num_lanes; l++) {
		if (!j->lanes[l].is_waiting)
			continue;
		has_some |= is_unsettled(w, l);
		all.lanes[all.num_lanes++] = l;
		rankset_add(all.ranks, j->jm->lanes[l].rank);
	}
	if (!has_some || !are_unusual(j, &all))
		return false;
	actor = verdict_find_novel(j, all.lanes, all.num_lanes, &transition);
	if (!find_senders(j, &stuck, VERDICT_SENDERS_BY_MESSAGES) &&
	    ((actor != WAITFOR_NONE &&
	      (stands_after(j, actor, transition) ||
	       !are_others_to_blame(j, &all, VERDICT_SENDERS_UNSETTLED, actor))) ||
	     !find_senders(j, &stuck, VERDICT_SENDERS_UNSETTLED)))
		return false;
	verdict_weigh(j);
	j->verdict->is_stuck = false;
	return true;
}
