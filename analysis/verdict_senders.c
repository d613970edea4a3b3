/* SPDX-License-Identifier: BSD-3-Clause
 * Who has not sent a message that a rank of a deadlock waits for: one that could be meant to send it, and is
 * already further than who waits. */
#include <stdlib.h>

#include "analysis/progress.h"
#include "analysis/verdict_private.h"
#include "model/job_model.h"
#include "model/rankset.h"

/* More senders than this that the order would name: it has not picked anybody. */
enum { MAX_SENDERS = 3 };

static int compare_lanes(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

bool verdict_has_lane(const struct waitfor_deadlock *deadlock, uint32_t lane)
{
	return bsearch(&lane, deadlock->lanes, deadlock->num_lanes, sizeof(lane), compare_lanes) !=
	       NULL;
}

bool verdict_is_further(const struct judge *j, const struct waitfor_deadlock *deadlock, int rank,
			uint32_t lane)
{
	uint32_t first;
	size_t num = waitfor_lanes_of(j->waitfor, rank, &first);

	for (uint32_t l = first; l < first + num; l++)
		if (verdict_has_lane(deadlock, l) &&
		    progress_compare(j->groups->progress, l, lane) == PROGRESS_MORE)
			return true;
	return false;
}

static bool is_asked(const struct waitfor_need *need, enum verdict_senders which)
{
	return need->is_certain &&
	       (need->kind == WAITFOR_MESSAGE ||
		(need->kind == WAITFOR_TOKEN && which == VERDICT_SENDERS_ALL)) &&
	       (need->peer < 0 || which == VERDICT_SENDERS_ALL);
}

/* Those who could be meant to send what lane `l` needs, and are past that. */
static struct rankset *find_past(const struct judge *j, const struct waitfor_deadlock *deadlock,
				 enum verdict_senders which, uint32_t l, uint32_t n)
{
	const struct waitfor_need *need = &j->waitfor->needs[n];
	struct rankset *past = rankset_create(), *givers;
	int own = j->jm->lanes[l].rank;
	bool are_past;

	if (!is_asked(need, which))
		return past;
	givers = waitfor_find_givers(j->waitfor, n, &are_past);
	for (int rank = rankset_first(givers); rank >= 0; rank = rankset_next(givers, rank)) {
		if (!rankset_contains(deadlock->ranks, rank) ||
		    (which == VERDICT_SENDERS_BY_MESSAGES && !are_past))
			continue;
		if (are_past ||
		    (verdict_is_further(j, deadlock, rank, l) &&
		     !verdict_is_before_exchange(j->waitfor, own, rank, need->comm)))
			rankset_add(past, rank);
	}
	rankset_destroy(givers);
	return past;
}

/* Of the senders keep those who do not wait themselves for what one of the others has not sent: they may be
 * where they are because of that. */
static void drop_waiting(struct rankset *senders, const struct rankset *waiting)
{
	struct rankset *rest = rankset_copy(senders);

	rankset_remove_set(rest, waiting);
	if (!rankset_is_empty(rest))
		rankset_keep_set(senders, rest);
	rankset_destroy(rest);
}

struct rankset *verdict_find_senders(const struct judge *j,
				     const struct waitfor_deadlock *deadlock,
				     enum verdict_senders which, uint32_t *lane_ret,
				     uint32_t *need_ret)
{
	const struct waitfor *w = j->waitfor;
	struct rankset *senders = rankset_create(), *waiting = rankset_create();

	for (size_t i = 0; j->groups->progress && i < deadlock->num_lanes; i++) {
		uint32_t l = deadlock->lanes[i];
		const struct waitfor_lane *lane = &w->lanes[l];

		for (uint32_t n = lane->first_need; n < lane->first_need + lane->num_needs; n++) {
			struct rankset *past = find_past(j, deadlock, which, l, n);

			if (rankset_is_empty(senders) && !rankset_is_empty(past)) {
				*lane_ret = l;
				*need_ret = n;
			}
			if (!rankset_is_empty(past))
				rankset_add(waiting, j->jm->lanes[l].rank);
			rankset_add_set(senders, past);
			rankset_destroy(past);
		}
	}
	drop_waiting(senders, waiting);
	rankset_destroy(waiting);
	if (!rankset_is_empty(senders) && rankset_count(senders) <= MAX_SENDERS)
		return senders;
	rankset_destroy(senders);
	return NULL;
}
