/* SPDX-License-Identifier: BSD-3-Clause
 * A step that nobody ever took before: where a rank left out a message, or turned another way. */
#include <stdlib.h>

#include "analysis/loop_nest.h"
#include "analysis/progress.h"
#include "analysis/verdict_private.h"
#include "model/callpath.h"
#include "model/job_model.h"
#include "model/model.h"
#include "model/rankset.h"
#include "model/xalloc.h"

/* Another way out of the state is well used from so many steps on, in the whole job. */
enum { WELL_USED = 10 };
/* Outermost iterations that are searched: the present one and the one before, since a rank may go
 * on for a while after a fault. */
enum { MAX_ARRIVALS = 2 };

struct steps {
	const struct job_model *jm;
	uint64_t *leaves; /* [states] how often any rank went on from it */
};

static uint64_t count_steps(const struct job_transition *transition)
{
	uint64_t num = 0;

	for (size_t i = 0; i < transition->num_counts; i++)
		num += transition->counts[i].count *
		       (uint64_t)rankset_count(transition->counts[i].ranks);
	return num;
}

static bool is_novel(const struct steps *steps, uint32_t from, uint32_t to, uint32_t *ret)
{
	size_t index = job_model_find_transition(steps->jm, from, to);

	/* From "start" each thread goes on once. */
	if (index == SIZE_MAX || SEG_STATE_SITE(from) == 0 ||
	    count_steps(&steps->jm->transitions[index]) != 1 || steps->leaves[from] <= WELL_USED)
		return false;
	*ret = (uint32_t)index;
	return true;
}

/* Does a new iteration of the loop begin when a rank comes from one state to the other? */
static bool is_arrival(const struct job_model *jm, const struct job_loop *loop, uint32_t from,
		       uint32_t to)
{
	if (loop->region == CALLPATH_NONE)
		return to == loop->header;
	return callpaths_has_prefix(jm->callpaths, jm->sites[SEG_STATE_SITE(to)].path,
				    loop->region) &&
	       !callpaths_has_prefix(jm->callpaths, jm->sites[SEG_STATE_SITE(from)].path,
				     loop->region);
}

/* The outermost loop that the actor is in, or was in last. */
static const struct job_loop *find_loop(const struct judge *j, uint32_t actor)
{
	const struct progress *progress = j->groups->progress;
	const struct place *place = &progress->places[actor];

	if (place->num_iterations > 0)
		return &progress->loops[place->iterations[0].loop];
	return place->num_frontier > 0 ? &progress->loops[place->frontier[0].loop] : NULL;
}

static bool search(const struct judge *j, const struct steps *steps, uint32_t actor, uint32_t *ret)
{
	const struct job_lane *lane = &j->jm->lanes[actor];
	const struct job_loop *loop = find_loop(j, actor);
	int arrivals = 0;

	for (size_t i = lane->data->num_ring; i > 1 && arrivals < MAX_ARRIVALS; i--) {
		uint32_t from = job_lane_state(lane, lane->data->ring[i - 2].state);
		uint32_t to = job_lane_state(lane, lane->data->ring[i - 1].state);

		if (is_novel(steps, from, to, ret))
			return true;
		arrivals += loop && is_arrival(j->jm, loop, from, to);
	}
	return false;
}

uint32_t verdict_find_novel(const struct judge *j, const uint32_t *lanes, size_t num,
			    uint32_t *transition_ret)
{
	struct steps steps = {.jm = j->jm};
	uint32_t found = WAITFOR_NONE, transition;
	size_t num_found = 0;

	if (!j->groups->progress)
		return WAITFOR_NONE;
	steps.leaves = xcalloc(job_model_num_states(j->jm), sizeof(*steps.leaves));
	for (size_t t = 0; t < j->jm->num_transitions; t++)
		steps.leaves[j->jm->transitions[t].from] += count_steps(&j->jm->transitions[t]);
	for (size_t i = 0; i < num && num_found < 2; i++) {
		if (!search(j, &steps, lanes[i], &transition))
			continue;
		found = lanes[i];
		*transition_ret = transition;
		num_found++;
	}
	free(steps.leaves);
	/* Two such steps of different ranks tell nothing. */
	return num_found == 1 ? found : WAITFOR_NONE;
}
