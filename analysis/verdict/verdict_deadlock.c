/* SPDX-License-Identifier: BSD-3-Clause
 * Ranks that wait for each other: who has gone wrong. That they are stuck is certain; they are
 * still named only after a while, lest a fault of what is recorded accuses a job that is well. */
#include "analysis/verdict/verdict_private.h"

/* What MPI_Init_thread provides at most, in all MPI libraries. */
enum { THREAD_MULTIPLE = 3 };

/* ---- A message that was not sent ---- */

/* How many messages and tokens of the rank others of the deadlock wait for, and the first. */
static size_t find_owed(const struct judge *j, const struct waitfor_deadlock *deadlock, int rank,
			const struct waitfor_need **ret)
{
	const struct waitfor_need *need = NULL;
	size_t num = 0;

	while ((need = waitfor_next_need_of(j->waitfor, deadlock, need)))
		if ((need->kind == WAITFOR_MESSAGE || need->kind == WAITFOR_TOKEN) &&
		    need->is_certain && need->peer == rank && num++ == 0)
			*ret = need;
	return num;
}

/* Ranks have not sent what others of the deadlock wait for. */
static bool find_senders(struct judge *j, const struct stuck *stuck, int which)
{
	const struct waitfor_need *need;
	const struct rankset *ranks =
		verdict_find_senders(j, stuck->deadlock, (enum verdict_senders)which, &need);

	if (!ranks)
		return false;
	verdict_lose(j, stuck->stay_ns, ranks, need, WITNESS_LOST);
	verdict_doubt(j, DOUBT_ORDER);
	return true;
}

/* Do others owe what is waited for? Who went on after a new step may have had its own reason. */
static bool are_others_to_blame(const struct judge *j, const struct waitfor_deadlock *deadlock,
				enum verdict_senders which, uint32_t actor)
{
	const struct waitfor_need *need;
	const struct rankset *senders = verdict_find_senders(j, deadlock, which, &need);

	return senders && !rankset_contains(senders, j->actors[actor].rank);
}

/* ---- One that did what is new to it, or to all ---- */

static bool is_send(const struct judge *j, uint32_t state)
{
	enum seg_class class = j->jm->sites[SEG_STATE_SITE(state)].class_id;

	return class == SEG_CLASS_SEND || class == SEG_CLASS_SENDRECV || class == SEG_CLASS_START;
}

/* One of the deadlock, and perhaps what it owes to others. */
struct suspect {
	uint32_t actor; /* WAITFOR_NONE: there is none */
	bool is_owed;
	const struct waitfor_need *need; /* for that */
};

/* Those whose main thread, or another, waits outside MPI for a thread of its process: where it has
 * gone is no state, so a step that is new there is not seen. */
static bool add_waits_for_threads(const struct judge *j, const struct waitfor_deadlock *deadlock,
				  struct rankset *ranks)
{
	bool has_some = false;

	for (size_t i = 0; i < deadlock->num_actors; i++) {
		const struct actor *actor = &j->actors[deadlock->actors[i]];

		const struct waitfor_need *need =
			waitfor_next_need(j->waitfor, deadlock->actors[i], NULL);
		/* Without a recorder the rank is where the awaited thread is. */
		bool is_outside = actor->lane ? actor->activity == ACTIVITY_COMPUTING
					      : actor->stack->awaited != NULL;

		/* Workers that have nothing to do are no exception. */
		if (!is_outside || (!actor->is_main && need && need->tag == 2))
			continue;
		rankset_add(ranks, actor->rank);
		has_some = true;
	}
	return has_some;
}

static void accuse_suspect(struct judge *j, const struct stuck *stuck,
			   const struct suspect *suspect)
{
	struct rankset *ranks = rankset_in(j->arena, rankset_create());

	rankset_add(ranks, j->actors[suspect->actor].rank);
	if (!add_waits_for_threads(j, stuck->deadlock, ranks) && suspect->is_owed)
		verdict_lose(j, stuck->stay_ns, ranks, suspect->need, WITNESS_LOST);
	else
		verdict_accuse_stuck(j, stuck, ranks);
}

/* The first of the deadlock that has left its course; owed is a message that it left out, if just
 * one of its messages is waited for. False: none, or it is hardly why the others wait. */
static bool find_first_departed(struct judge *j, const struct waitfor_deadlock *deadlock,
				enum departed_evidence evidence, struct suspect *ret,
				struct departure *departure, size_t *num_later_ret)
{
	ret->actor = verdict_find_departed(j, deadlock->actors, deadlock->num_actors, evidence,
					   departure, num_later_ret);
	if (ret->actor == WAITFOR_NONE)
		return false;
	/* It waits since then; if others came to wait by as new a step, they have a part in it. */
	if (departure->since > 0 ? are_others_to_blame(j, deadlock, VERDICT_SENDERS_ANY, ret->actor)
				 : *num_later_ret > 0)
		return false;
	ret->is_owed = is_send(j, departure->usual) &&
		       find_owed(j, deadlock, j->actors[ret->actor].rank, &ret->need) == 1;
	return ret->is_owed ||
	       (evidence == DEPARTED_STRONG && departure->since < thresholds.course_just_now);
}

/* One of them has left its course, before any other: that is where it went wrong. */
static bool find_departed(struct judge *j, const struct stuck *stuck, int evidence)
{
	struct suspect suspect;
	struct departure departure;
	size_t num_later;

	if (!find_first_departed(j, stuck->deadlock, (enum departed_evidence)evidence, &suspect,
				 &departure, &num_later))
		return false;
	accuse_suspect(j, stuck, &suspect);
	verdict_set_departed(j, suspect.actor, &departure, num_later);
	return true;
}

/* Had another one left its course, and so left out a message, before the actor took the step? */
static bool is_after_departure(struct judge *j, const struct waitfor_deadlock *deadlock,
			       uint32_t actor, uint32_t transition)
{
	struct suspect departed;
	struct departure departure;
	size_t num_later;

	return find_first_departed(j, deadlock, DEPARTED_STRONG, &departed, &departure,
				   &num_later) &&
	       departed.actor != actor && departed.is_owed &&
	       verdict_is_departure_before(j, departed.actor, &departure, actor, transition);
}

static bool stands_after(const struct judge *j, uint32_t actor, uint32_t transition)
{
	return j->jm->transitions[transition].to == j->actors[actor].lane->state;
}

/* Somebody took a step that is new to the job: that is where it went wrong. */
static bool find_novel(struct judge *j, const struct stuck *stuck, int how)
{
	const struct waitfor_deadlock *deadlock = stuck->deadlock;
	uint32_t transition;
	struct suspect suspect = {.actor = verdict_find_novel(j, deadlock->actors,
							      deadlock->num_actors, &transition)};

	(void)how;
	if (suspect.actor == WAITFOR_NONE ||
	    is_after_departure(j, deadlock, suspect.actor, transition) ||
	    (!stands_after(j, suspect.actor, transition) &&
	     are_others_to_blame(j, deadlock, VERDICT_SENDERS_ANY, suspect.actor)))
		return false;
	/* If it waits for a message itself, what it owes may be to come after that. */
	suspect.is_owed = !(waitfor_kinds_of(j->waitfor, suspect.actor) & 1U << WAITFOR_MESSAGE) &&
			  find_owed(j, deadlock, j->actors[suspect.actor].rank, &suspect.need) > 0;
	accuse_suspect(j, stuck, &suspect);
	verdict_set_novel(j, suspect.actor, transition);
	return true;
}

/* ---- Deadlocks ---- */

/* What is tried, in this order. */
static const struct rule {
	deadlock_rule *find;
	int how;
	bool is_for_polling; /* tells also of ranks that poll for each other */
} rules[] = {
	{verdict_find_not_arrived_of, 0, false},
	{verdict_find_slip, true, false},
	{find_senders, VERDICT_SENDERS_BY_MESSAGES, false},
	{verdict_find_slip, false, false},
	{verdict_find_skipped, true, false},
	{find_novel, 0, false},
	{find_departed, DEPARTED_STRONG, true},
	{find_departed, DEPARTED_WEAK, true},
	{verdict_find_unstarted, 0, true},
	{verdict_find_skipped, false, true},
	{verdict_find_receiver, 0, true},
	{verdict_find_wrong_group, 0, true},
	{find_senders, VERDICT_SENDERS_ALL, true},
	{verdict_find_read, 0, false},
};

static bool try_rules(struct judge *j, const struct stuck *stuck, bool are_polling)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if ((rules[i].is_for_polling || !are_polling) &&
		    rules[i].find(j, stuck, rules[i].how))
			return true;
	return false;
}

/* A thread that has not called MPI so far, or a message that was not counted, may end it. */
static void hope_for_helpers(struct judge *j)
{
	verdict_doubt(j, j->verdict->is_read ? DOUBT_UNCOUNTED : DOUBT_THREAD);
	j->verdict->is_final = false;
}

/* Where any thread may call MPI, one that never did may come to help. */
static bool may_have_helpers(const struct judge *j, const struct waitfor_deadlock *deadlock)
{
	for (size_t i = 0; i < deadlock->num_actors; i++) {
		const struct job_lane *lane = j->actors[deadlock->actors[i]].lane;

		if (lane && lane->model->thread_level >= THREAD_MULTIPLE &&
		    waitfor_num_actors(j->waitfor, lane->rank) == 1)
			return true;
	}
	return false;
}

/* A send may be buffered, and in some collectives a rank need not wait for all that have not come:
 * only a long stay tells that it does wait. */
static bool may_still_end(const struct judge *j, uint32_t l)
{
	const struct waitfor *w = j->waitfor;

	if (j->facts[l].usual.is_new || j->actors[l].lane->stay_ns > j->facts[l].usual.longest_ns)
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

	for (size_t i = 0; i < deadlock->num_actors; i++) {
		if (may_still_end(j, deadlock->actors[i]))
			return 0;
		verdict_shorten(j, deadlock->actors[i], &stay_ns);
	}
	return stay_ns;
}

static bool is_recorded(const struct judge *j, const struct waitfor_deadlock *deadlock)
{
	for (size_t i = 0; i < deadlock->num_actors; i++)
		if (!j->actors[deadlock->actors[i]].lane)
			return false;
	return true;
}

static bool has_read(const struct judge *j, const struct waitfor_deadlock *deadlock)
{
	const struct waitfor_need *need = NULL;

	while ((need = waitfor_next_need_of(j->waitfor, deadlock, need)))
		if (need->is_read)
			return true;
	return false;
}

/* In two ranks, or a quarter of all, a pause of a moment is not likely. */
static bool is_small(const struct judge *j, const struct waitfor_deadlock *deadlock)
{
	size_t num = (size_t)rankset_count(deadlock->ranks);

	return num <= 2 || 4 * num <= j->evidence->num_ranks;
}

static bool judge_deadlock(struct judge *j, const struct waitfor_deadlock *deadlock)
{
	const struct stuck stuck = {deadlock, deadlock_stay(j, deadlock)};
	bool has_helpers = may_have_helpers(j, deadlock);

	if (is_recorded(j, deadlock) &&
	    stuck.stay_ns < (has_helpers ? thresholds.new_ns : thresholds.accuse_ns))
		return false;
	j->verdict->is_read = has_read(j, deadlock);
	if (!try_rules(j, &stuck, false)) {
		/* So many may wait for each other for a moment: if somebody computes or moves, that
		 * tells more. */
		if (!deadlock->is_sure && !is_small(j, deadlock)) {
			j->verdict->deadlock = deadlock;
			return false;
		}
		verdict_accuse_stuck(j, &stuck, deadlock->ranks);
	}
	/* It says itself how sure it is, and nobody else could send it. */
	if (j->verdict->witness.kind == WITNESS_NOT_ARRIVED)
		return true;
	if (!deadlock->is_sure) {
		verdict_doubt(j, DOUBT_UNCOUNTED);
		j->verdict->is_final = false;
		j->verdict->is_hang =
			stuck.stay_ns >= thresholds.new_ns && !j->verdict->is_uncounted;
	}
	if (has_helpers)
		hope_for_helpers(j);
	return true;
}

/* Stuck ranks wait for some that no message comes from any more. */
static bool find_gone(struct judge *j)
{
	const struct rankset *gone = waitfor_find_gone(j->waitfor, j->arena);
	uint64_t stay_ns = UINT64_MAX;

	for (uint32_t l = 0; l < j->waitfor->num_actors; l++)
		if (j->waitfor->actors[l].is_stuck)
			verdict_shorten(j, l, &stay_ns);
	if (rankset_is_empty(gone) || stay_ns < thresholds.accuse_ns)
		return false;
	if (verdict_find_not_arrived(j))
		return true;
	verdict_accuse(j, gone, VERDICT_LEFT, stay_ns);
	j->verdict->is_final = false;
	/* One that is gone altogether has no place. */
	rankset_add_set(j->verdict->culprits, gone);
	return true;
}

bool verdict_find_deadlock(struct judge *j)
{
	if (!j->waitfor)
		return false;
	for (uint32_t d = 0; d < j->waitfor->num_deadlocks; d++)
		if (!j->waitfor->deadlocks[d].is_likely &&
		    judge_deadlock(j, &j->waitfor->deadlocks[d]))
			return true;
	return find_gone(j);
}

/* ---- Where it is not certain ---- */

static bool are_unusual(const struct judge *j, const struct waitfor_deadlock *deadlock)
{
	for (size_t i = 0; i < deadlock->num_actors; i++)
		if (!verdict_is_unusual(j, deadlock->actors[i]))
			return false;
	return true;
}

bool verdict_find_helpless(struct judge *j)
{
	const struct waitfor *w = j->waitfor;
	struct stuck stuck = {.deadlock = w ? w->deadlocks : NULL};

	if (!w || w->num_deadlocks == 0 || stuck.deadlock->is_likely ||
	    deadlock_stay(j, stuck.deadlock) < thresholds.accuse_ns ||
	    !are_unusual(j, stuck.deadlock))
		return false;
	if (!try_rules(j, &stuck, false))
		verdict_accuse_stuck(j, &stuck, stuck.deadlock->ranks);
	verdict_weigh(j);
	hope_for_helpers(j);
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
		const struct stuck stuck = {.deadlock = deadlock};

		if (!deadlock->is_likely || !are_unusual(j, deadlock))
			continue;
		actor = verdict_find_novel(j, deadlock->actors, deadlock->num_actors, &novel);
		if ((actor != WAITFOR_NONE && !is_after_departure(j, deadlock, actor, novel)) ||
		    !try_rules(j, &stuck, true))
			continue;
		verdict_weigh(j);
		verdict_doubt(j, DOUBT_POLLING);
		j->verdict->is_final = false;
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
	return has_any && w->evidence->actors[l].activity == ACTIVITY_IN_MPI &&
	       w->actors[l].gap == WAITFOR_UNSETTLED;
}

/* Nobody moves: as if all who wait were in a deadlock. Where messages do not tell who has not
 * sent, a step that is new tells more than the order. */
bool verdict_find_unsettled(struct judge *j)
{
	const struct waitfor *w = j->waitfor;
	struct waitfor_deadlock all = {.ranks = rankset_in(j->arena, rankset_create())};
	const struct stuck stuck = {.deadlock = &all};
	uint32_t transition, actor;
	bool has_some = false;

	all.actors = arena_array(j->arena, j->num_actors, sizeof(*all.actors));
	for (uint32_t l = 0; w && l < w->num_actors; l++) {
		if (!j->facts[l].is_waiting)
			continue;
		has_some |= is_unsettled(w, l);
		all.actors[all.num_actors++] = l;
		rankset_add(all.ranks, j->actors[l].rank);
	}
	if (!has_some || !are_unusual(j, &all))
		return false;
	actor = verdict_find_novel(j, all.actors, all.num_actors, &transition);
	if (!find_senders(j, &stuck, VERDICT_SENDERS_BY_MESSAGES) &&
	    ((actor != WAITFOR_NONE &&
	      (stands_after(j, actor, transition) ||
	       !are_others_to_blame(j, &all, VERDICT_SENDERS_UNSETTLED, actor))) ||
	     !find_senders(j, &stuck, VERDICT_SENDERS_UNSETTLED)))
		return false;
	verdict_weigh(j);
	j->verdict->is_final = false;
	return true;
}
