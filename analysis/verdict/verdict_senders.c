/* SPDX-License-Identifier: BSD-3-Clause
 * Who has not sent what a rank of a deadlock waits for: who may be meant to, and is further. */
#include "analysis/progress/loop_nest.h"
#include "analysis/progress/progress.h"
#include "analysis/verdict/verdict_private.h"

bool verdict_has_lane(const struct waitfor_deadlock *deadlock, uint32_t lane)
{
	return bsearch(&lane, deadlock->actors, deadlock->num_actors, sizeof(lane),
		       sorted_compare_u32) != NULL;
}

bool verdict_is_further(const struct judge *j, const struct waitfor_deadlock *deadlock, int rank,
			uint32_t lane)
{
	const struct waitfor *w = j->waitfor;

	for (uint32_t l = waitfor_first_actor(w, rank); waitfor_is_actor_of(w, l, rank); l++)
		if (verdict_has_lane(deadlock, l) && verdict_ahead(j, l, lane) != AHEAD_NOT)
			return true;
	return false;
}

/* By how many receives it has posted: one less than a multiple of the collectives that it has come
 * to, and no multiple of those before. */
static bool misses_one(const struct judge *j, const struct waitfor_need *need, uint32_t peer)
{
	const struct waitfor_need *own = waitfor_next_need(j->waitfor, peer, NULL);
	uint64_t given = need->given;

	return own && own->kind == WAITFOR_MEMBERS && own->number != WAITFOR_NOT_KNOWN &&
	       own->number > 2 && given != WAITFOR_NOT_KNOWN && (given + 1) % own->number == 0 &&
	       given % (own->number - 1) != 0;
}

bool verdict_has_left_out_receive(const struct judge *j, const struct waitfor_deadlock *deadlock,
				  const struct waitfor_need *need)
{
	const struct waitfor *w = j->waitfor;
	uint32_t l = need->actor, peer = waitfor_first_actor(w, need->peer), loop;

	for (; waitfor_is_actor_of(w, peer, need->peer); peer++) {
		if (!verdict_has_lane(deadlock, peer))
			continue;
		if (!j->actors[l].lane || !j->actors[peer].lane || !j->groups->progress)
			return verdict_ahead(j, peer, l) != AHEAD_NOT;
		if (progress_explain(j->groups->progress, peer, l, &loop) == PROGRESS_MORE &&
		    (loop == LOOP_NONE || misses_one(j, need, peer)))
			return true;
	}
	return false;
}

static bool is_asked(const struct waitfor_need *need, enum verdict_senders which)
{
	if (need->kind != WAITFOR_MESSAGE &&
	    !((need->kind == WAITFOR_TOKEN || need->kind == WAITFOR_RECEIVE) &&
	      which == VERDICT_SENDERS_ALL))
		return false;
	return (need->is_certain || need->kind == WAITFOR_RECEIVE ||
		which == VERDICT_SENDERS_UNSETTLED || which == VERDICT_SENDERS_BY_MESSAGES) &&
	       (need->peer < 0 || which == VERDICT_SENDERS_ALL);
}

struct senders {
	struct rankset *ranks;
	struct rankset *sure;            /* of these, by messages */
	struct rankset *waiting;         /* who wait for them */
	const struct waitfor_need *need; /* for the first of them, by messages if there are such */
};

static void add_sender(struct senders *s, int rank, bool is_sure, const struct waitfor_need *need)
{
	if (rankset_is_empty(s->ranks) || (is_sure && rankset_is_empty(s->sure)))
		s->need = need;
	rankset_add(s->ranks, rank);
	if (is_sure)
		rankset_add(s->sure, rank);
}

/* Add those who could be meant to send what is needed, and are past that. */
static void add_past(const struct judge *j, const struct waitfor_deadlock *deadlock,
		     const struct waitfor_need *need, struct senders *s, struct arena *scratch)
{
	bool are_past, is_past;
	struct rankset *givers = waitfor_find_givers(j->waitfor, need, &are_past, scratch);

	for (int rank = rankset_first(givers); rank >= 0; rank = rankset_next(givers, rank)) {
		/* What is to be received has been sent. */
		is_past = need->kind == WAITFOR_RECEIVE
				  ? verdict_has_left_out_receive(j, deadlock, need)
				  : verdict_is_further(j, deadlock, rank, need->actor) &&
					    !verdict_is_before_exchange(j, need->actor, rank,
									need->comm);
		if (!rankset_contains(deadlock->ranks, rank) || !(are_past || is_past))
			continue;
		add_sender(s, rank, are_past, need);
		rankset_add(s->waiting, j->actors[need->actor].rank);
	}
	arena_clear(scratch);
}

/* Messages tell more than the order, of whose choice those go who wait for another of them. */
static void choose(struct senders *s, enum verdict_senders which)
{
	if (!rankset_is_empty(s->sure) || which == VERDICT_SENDERS_BY_MESSAGES) {
		rankset_keep_set(s->ranks, s->sure);
		return;
	}
	rankset_keep_set(s->waiting, s->ranks);
	if (!rankset_equal(s->waiting, s->ranks))
		rankset_remove_set(s->ranks, s->waiting);
}

struct rankset *verdict_find_senders(const struct judge *j, const struct waitfor_deadlock *deadlock,
				     enum verdict_senders which,
				     const struct waitfor_need **need_ret)
{
	const struct waitfor_need *need = NULL;
	struct arena *scratch = arena_create();
	struct senders s = {
		.ranks = rankset_in(j->arena, rankset_create()),
		.sure = rankset_in(j->arena, rankset_create()),
		.waiting = rankset_in(j->arena, rankset_create()),
	};

	while ((need = waitfor_next_need_of(j->waitfor, deadlock, need)))
		if (is_asked(need, which))
			add_past(j, deadlock, need, &s, scratch);
	arena_destroy(scratch);
	choose(&s, which);
	*need_ret = s.need;
	return !rankset_is_empty(s.ranks) && rankset_count(s.ranks) <= thresholds.senders ? s.ranks
											  : NULL;
}
