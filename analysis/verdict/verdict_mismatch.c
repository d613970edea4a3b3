/* SPDX-License-Identifier: BSD-3-Clause
 * Members of a communicator that call different things as one collective: who has gone wrong. */
#include "analysis/verdict/verdict_private.h"
#include "model/job/job_comms.h"

/* All who take part and wait: how many lanes; which, unless lanes is NULL; their shortest stay. */
static size_t gather_parties(const struct judge *j, const struct waitfor_mismatch *mismatch,
			     uint32_t *lanes, uint64_t *stay_ns_ret)
{
	struct rankset *ranks = rankset_in(j->arena, rankset_create());
	size_t num = 0;

	*stay_ns_ret = UINT64_MAX;
	for (size_t i = 0; i < mismatch->num_parties; i++)
		rankset_add_set(ranks, mismatch->parties[i].ranks);
	for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r)) {
		uint32_t l = waitfor_first_actor(j->waitfor, r);

		for (; waitfor_is_actor_of(j->waitfor, l, r); l++) {
			if (!j->facts[l].is_waiting)
				continue;
			verdict_shorten(j, l, stay_ns_ret);
			if (lanes)
				lanes[num] = l;
			num++;
		}
	}
	return num;
}

/* Of those who differ one may have left its course earlier than all others: it is the one, and not
 * `ranks`. Alone it may have done so for another reason. */
static void find_departed_party(struct judge *j, const struct waitfor_mismatch *mismatch,
				struct rankset *ranks)
{
	uint32_t *lanes = arena_array(j->arena, j->num_actors, sizeof(*lanes)), actor;
	struct departure departure;
	uint64_t stay_ns;
	size_t num = gather_parties(j, mismatch, lanes, &stay_ns), num_later;
	bool is_among;

	actor = verdict_find_departed(j, lanes, num, DEPARTED_STRONG, &departure, &num_later);
	if (actor == WAITFOR_NONE || departure.since >= thresholds.course_just_now)
		return;
	is_among = rankset_contains(ranks, j->actors[actor].rank);
	if (is_among ? rankset_count(ranks) == 1 : num_later == 0)
		return;
	rankset_remove_set(ranks, ranks);
	rankset_add(ranks, j->actors[actor].rank);
	verdict_set_departed(j, actor, &departure, num_later);
}

static bool is_finalizing(const struct waitfor_party *party)
{
	return strcmp(party->function, "MPI_Finalize") == 0;
}

/* The smallest party went wrong; all of them if several are as small, but for those that wait for
 * one that has come to MPI_Finalize. They come by size. */
static struct rankset *find_smallest(const struct judge *j, const struct waitfor_mismatch *mismatch)
{
	const struct waitfor_party *parties = mismatch->parties;
	int smallest = rankset_count(parties[0].ranks);
	struct rankset *ranks = rankset_in(j->arena, rankset_create());
	bool has_left = false;

	for (size_t i = 0; i < mismatch->num_parties; i++)
		has_left |=
			rankset_count(parties[i].ranks) == smallest && is_finalizing(&parties[i]);
	for (size_t i = 0; i < mismatch->num_parties; i++)
		if (rankset_count(parties[i].ranks) == smallest &&
		    (!has_left || is_finalizing(&parties[i])))
			rankset_add_set(ranks, parties[i].ranks);
	return ranks;
}

static void accuse_party(struct judge *j, const struct waitfor_mismatch *mismatch, uint64_t stay_ns)
{
	struct rankset *ranks = find_smallest(j, mismatch);

	find_departed_party(j, mismatch, ranks);
	verdict_accuse(j, ranks, VERDICT_MISMATCH, stay_ns);
	j->verdict->mismatch = mismatch;
}

/* The first that is told, and all who take part in it have stayed for a while. */
static bool find_told(struct judge *j, bool (*is_told)(const struct judge *j,
						       const struct waitfor_mismatch *mismatch))
{
	for (uint32_t m = 0; j->waitfor && m < j->waitfor->num_mismatches; m++) {
		const struct waitfor_mismatch *mismatch = &j->waitfor->mismatches[m];
		uint64_t stay_ns;

		if (!is_told(j, mismatch) || gather_parties(j, mismatch, NULL, &stay_ns) == 0 ||
		    stay_ns < thresholds.accuse_ns)
			continue;
		accuse_party(j, mismatch, stay_ns);
		return true;
	}
	return false;
}

/* Most sizes that differ do no harm; what holds them up may be who has not come. */
static bool may_harm(const struct judge *j, const struct waitfor_mismatch *mismatch)
{
	(void)j;
	return (mismatch->what != WAITFOR_OTHER_BYTES && mismatch->what != WAITFOR_OTHER_COUNTS) ||
	       mismatch->has_all;
}

bool verdict_find_mismatch(struct judge *j)
{
	return find_told(j, may_harm);
}

/* Is it in a communicator of whose collectives a candidate has not ended one? */
static bool holds_up(const struct judge *j, const struct waitfor_mismatch *mismatch)
{
	const struct waitfor *w = j->waitfor;

	for (uint32_t l = 0; mismatch->what == WAITFOR_OTHER_BYTES && l < j->evidence->num_lanes;
	     l++) {
		const struct job_lane *lane = j->actors[l].lane;
		const struct model_operation *operation = &lane->data->operation;

		if (j->is_candidate[l] && operation->kind == SEG_OPERATION_COLLECTIVE &&
		    job_comms_find(w->comms, lane->model, operation->transfers[0].comm) ==
			    mismatch->comm)
			return true;
	}
	return false;
}

bool verdict_find_shifted(struct judge *j)
{
	if (!find_told(j, holds_up))
		return false;
	verdict_doubt(j, DOUBT_SHIFTED);
	j->verdict->is_final = false;
	return true;
}
