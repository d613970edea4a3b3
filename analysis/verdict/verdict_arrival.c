/* SPDX-License-Identifier: BSD-3-Clause
 * Messages that were sent and have not arrived. Whoever waits for one is a victim, and its sender
 * has done its part: the MPI library or the network has the message. Ranks that wait for each other
 * because of it are the consequence, so this comes before all that accuses one of them. */
#include "analysis/verdict/verdict_private.h"

/* The shortest stay of a rank whose library sends all that it can, since it is inside MPI or has
 * left it, in good order: UINT64_MAX then. 0: it may have kept the message so far, or moves. */
static uint64_t sender_stay(const struct judge *j, int rank)
{
	const struct waitfor *w = j->waitfor;
	uint64_t stay_ns = UINT64_MAX;
	bool is_inside = false;
	uint32_t l = waitfor_first_actor(w, rank);

	for (; waitfor_is_actor_of(w, l, rank); l++) {
		if (j->actors[l].activity == ACTIVITY_ENDED)
			continue;
		if (!j->facts[l].is_static)
			return 0;
		is_inside |= j->facts[l].is_waiting;
		verdict_shorten(j, l, &stay_ns);
	}
	return is_inside || stay_ns == UINT64_MAX ? stay_ns : 0;
}

/* How long both ends have stood still; 0: it may be on its way. */
static uint64_t overdue_ns(const struct judge *j, const struct waitfor_need *need)
{
	uint64_t stay_ns;

	if (!need->is_sent || need->peer < 0 || !j->facts[need->actor].is_waiting)
		return 0;
	stay_ns = sender_stay(j, need->peer);
	verdict_shorten(j, need->actor, &stay_ns);
	return stay_ns >= thresholds.accuse_ns ? stay_ns : 0;
}

/* Other ranks' messages may be lost as well: all ends are named, and one message is told. */
struct overdue {
	struct rankset *ends;
	const struct waitfor_need *need; /* the one that is overdue for longest */
	uint64_t stay_ns;
};

static void add_overdue(const struct judge *j, const struct waitfor_need *need,
			struct overdue *found)
{
	uint64_t stay_ns = overdue_ns(j, need);

	if (stay_ns == 0)
		return;
	rankset_add(found->ends, j->actors[need->actor].rank);
	rankset_add(found->ends, need->peer);
	if (found->need && stay_ns <= found->stay_ns)
		return;
	found->need = need;
	found->stay_ns = stay_ns;
}

static bool tell(struct judge *j, const struct overdue *found)
{
	struct verdict *verdict = j->verdict;
	bool is_long = found->stay_ns >= thresholds.new_ns;

	if (!found->need || !verdict_is_unusual(j, found->need->actor))
		return false;
	verdict_lose(j, found->stay_ns, found->ends, found->need, WITNESS_NOT_ARRIVED);
	verdict->is_hang = is_long;
	/* Only where the libraries at both ends count it is it known that one has sent it. */
	verdict->is_final = is_long && waitfor_way_between(j->waitfor, found->need->peer,
							   j->actors[found->need->actor].rank) ==
					       WAITFOR_ON_ITS_WAY;
	if (!verdict->is_final)
		verdict_doubt(j, is_long ? DOUBT_NOT_SHOWN : DOUBT_ON_ITS_WAY);
	return true;
}

bool verdict_find_not_arrived_of(struct judge *j, const struct stuck *stuck, int how)
{
	struct overdue found = {.ends = rankset_in(j->arena, rankset_create())};
	const struct waitfor_need *need = NULL;

	(void)how;
	while ((need = waitfor_next_need_of(j->waitfor, stuck->deadlock, need)))
		add_overdue(j, need, &found);
	return tell(j, &found);
}

bool verdict_find_not_arrived(struct judge *j)
{
	struct overdue found = {.ends = rankset_in(j->arena, rankset_create())};

	for (size_t n = 0; j->waitfor && n < j->waitfor->num_needs; n++)
		add_overdue(j, &j->waitfor->needs[n], &found);
	return tell(j, &found);
}
