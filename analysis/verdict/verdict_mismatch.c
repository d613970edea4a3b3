/* SPDX-License-Identifier: BSD-3-Clause
 * Members of a communicator that call different things as one collective of it: who of them has
 * gone wrong. */
#include <stdlib.h>

#include "analysis/verdict/verdict_private.h"
#include "model/job/job_comms.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"

/* The shortest stay of all who take part. */
static uint64_t parties_stay(const struct judge *j, const struct waitfor_mismatch *mismatch)
{
	uint64_t stay_ns = UINT64_MAX;
	uint32_t first;

	for (size_t i = 0; i < mismatch->num_parties; i++) {
		const struct rankset *ranks = mismatch->parties[i].ranks;

		for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r)) {
			size_t num = waitfor_lanes_of(j->waitfor, r, &first);

			for (uint32_t l = first; l < first + num; l++)
				if (j->lanes[l].is_waiting)
					verdict_shorten(j, l, &stay_ns);
		}
	}
	return stay_ns == UINT64_MAX ? 0 : stay_ns;
}

/* The lanes of all who take part that wait; [jm->num_lanes], the caller frees. */
static uint32_t *gather_parties(const struct judge *j, const struct waitfor_mismatch *mismatch,
				size_t *num_ret)
{
	uint32_t *lanes = xcalloc(j->jm->num_lanes + 1, sizeof(*lanes));

	*num_ret = 0;
	for (uint32_t l = 0; l < j->jm->num_lanes; l++)
		for (size_t i = 0; i < mismatch->num_parties; i++)
			if (j->lanes[l].is_waiting &&
			    rankset_contains(mismatch->parties[i].ranks, j->jm->lanes[l].rank)) {
				lanes[(*num_ret)++] = l;
				break;
			}
	return lanes;
}

/* Of those who differ one may have left its course earlier than all others, so that what these
 * call may come of that: it is the one, and not `ranks`. Alone it may have done so for another
 * reason. NULL: no; else the caller frees. */
static struct rankset *find_departed_party(struct judge *j, const struct waitfor_mismatch *mismatch,
					   const struct rankset *ranks)
{
	struct departure departure;
	struct rankset *departed;
	size_t num, num_later;
	uint32_t *lanes = gather_parties(j, mismatch, &num);
	uint32_t actor =
		verdict_find_departed(j, lanes, num, DEPARTED_STRONG, &departure, &num_later);
	bool is_among = actor != WAITFOR_NONE && rankset_contains(ranks, j->jm->lanes[actor].rank);

	free(lanes);
	if (actor == WAITFOR_NONE || departure.since >= DEPARTED_JUST_NOW ||
	    (is_among && rankset_count(ranks) == 1) || (!is_among && num_later == 0))
		return NULL;
	departed = rankset_create();
	rankset_add(departed, j->jm->lanes[actor].rank);
	verdict_set_departed(j, actor, &departure, num_later);
	return departed;
}

/* The smallest party is the one that went wrong; all of them if several are as small. They come
 * by size. */
static void accuse_party(struct judge *j, uint32_t m, uint64_t stay_ns)
{
	const struct waitfor_mismatch *mismatch = &j->waitfor->mismatches[m];
	struct rankset *ranks = rankset_copy(mismatch->parties[0].ranks), *departed;
	int smallest = rankset_count(ranks);

	for (size_t i = 1; i < mismatch->num_parties; i++)
		if (rankset_count(mismatch->parties[i].ranks) == smallest)
			rankset_add_set(ranks, mismatch->parties[i].ranks);
	departed = find_departed_party(j, mismatch, ranks);
	verdict_accuse(j, departed ? departed : ranks, VERDICT_MISMATCH, stay_ns);
	j->verdict->which = m;
	rankset_destroy(departed);
	rankset_destroy(ranks);
}

bool verdict_find_mismatch(struct judge *j)
{
	for (uint32_t m = 0; j->waitfor && m < j->waitfor->num_mismatches; m++) {
		const struct waitfor_mismatch *mismatch = &j->waitfor->mismatches[m];
		uint64_t stay_ns = parties_stay(j, mismatch);

		if (stay_ns < VERDICT_ACCUSE_NS)
			continue;
		/* Most sizes that differ do no harm; what holds them up may be who has not come. */
		if (mismatch->what == WAITFOR_OTHER_BYTES && !mismatch->has_all)
			continue;
		accuse_party(j, m, stay_ns);
		return true;
	}
	return false;
}

/* Is that the communicator of a collective that a candidate has not ended? */
static bool is_held_up(const struct judge *j, uint32_t comm)
{
	const struct waitfor *w = j->waitfor;

	for (uint32_t l = 0; l < w->num_lanes; l++) {
		const struct job_lane *lane = &j->jm->lanes[l];
		const struct model_operation *operation = &lane->data->operation;

		if (j->is_candidate[l] && operation->kind == SEG_OPERATION_COLLECTIVE &&
		    job_comms_find(w->comms, lane->model, operation->transfers[0].comm) == comm)
			return true;
	}
	return false;
}

bool verdict_find_shifted(struct judge *j)
{
	for (uint32_t m = 0; m < j->waitfor->num_mismatches; m++) {
		const struct waitfor_mismatch *mismatch = &j->waitfor->mismatches[m];
		uint64_t stay_ns = parties_stay(j, mismatch);

		if (mismatch->what != WAITFOR_OTHER_BYTES || stay_ns < VERDICT_ACCUSE_NS ||
		    !is_held_up(j, mismatch->comm))
			continue;
		accuse_party(j, m, stay_ns);
		j->verdict->is_likely = true;
		j->verdict->is_stuck = false;
		return true;
	}
	return false;
}
