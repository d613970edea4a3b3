/* SPDX-License-Identifier: BSD-3-Clause
 * A step that nobody ever took before: where a rank left out a message, or turned another way. */
#include "analysis/progress/progress.h"
#include "analysis/verdict/verdict_private.h"
#include "model/job/callpath.h"

struct verdict_steps {
	const struct job_model *jm;
	uint64_t *leaves; /* [states] how often any rank went on from it */
	uint64_t *enters; /* [states] and to it */
	int *first_rank;  /* [states] of those that did; -1: nobody */
	bool *is_shared;  /* [states] by several ranks: one can be compared with others */
};

static uint64_t count_steps(const struct job_transition *transition)
{
	uint64_t num = 0;

	for (size_t i = 0; i < transition->num_counts; i++)
		num += transition->counts[i].count *
		       (uint64_t)rankset_count(transition->counts[i].ranks);
	return num;
}

/* is_last: it is where it stands since. */
static bool is_novel(const struct verdict_steps *steps, uint32_t from, uint32_t to, bool is_last,
		     uint32_t *ret)
{
	size_t index = job_model_find_transition(steps->jm, from, to);

	/* From "start" each thread goes on once. Who alone has a part in the program goes ways of
	 * its own; but it may wait at once in what it has long done after something else. */
	if (index == SIZE_MAX || SEG_STATE_SITE(from) == 0 ||
	    (!steps->is_shared[from] &&
	     (!is_last || steps->enters[to] <= thresholds.well_used + 1)) ||
	    count_steps(&steps->jm->transitions[index]) != 1 ||
	    steps->leaves[from] <= thresholds.well_used)
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

enum found { FOUND_NONE, FOUND_EARLIER, FOUND_STANDING }; /* it stands where the step led it */

static enum found search(const struct judge *j, const struct verdict_steps *steps, uint32_t actor,
			 uint32_t *ret)
{
	const struct job_lane *lane = &j->jm->lanes[actor];
	const struct job_loop *loop = find_loop(j, actor);
	int arrivals = 0;

	for (size_t i = lane->data->num_ring; i > 1 && arrivals < thresholds.novel_iterations;
	     i--) {
		uint32_t from = job_lane_state(lane, lane->data->ring[i - 2].state);
		uint32_t to = job_lane_state(lane, lane->data->ring[i - 1].state);
		bool is_last = i == lane->data->num_ring;

		if (is_novel(steps, from, to, is_last, ret))
			return is_last ? FOUND_STANDING : FOUND_EARLIER;
		arrivals += loop && is_arrival(j->jm, loop, from, to);
	}
	return FOUND_NONE;
}

static void add_steps(struct verdict_steps *steps, const struct job_transition *transition)
{
	uint32_t from = transition->from;

	steps->leaves[from] += count_steps(transition);
	steps->enters[transition->to] += count_steps(transition);
	for (size_t i = 0; i < transition->num_counts; i++) {
		const struct rankset *ranks = transition->counts[i].ranks;
		int first = rankset_first(ranks);

		if (steps->first_rank[from] < 0)
			steps->first_rank[from] = first;
		steps->is_shared[from] |=
			rankset_count(ranks) > 1 || first != steps->first_rank[from];
	}
}

/* Of all transitions, once for all who ask. */
static const struct verdict_steps *find_steps(struct judge *j)
{
	size_t num = job_model_num_states(j->jm);
	struct verdict_steps *steps;

	if (j->steps)
		return j->steps;
	j->steps = steps = arena_alloc(j->arena, sizeof(*steps));
	steps->jm = j->jm;
	steps->leaves = arena_array(j->arena, num, sizeof(*steps->leaves));
	steps->enters = arena_array(j->arena, num, sizeof(*steps->enters));
	steps->first_rank = arena_array(j->arena, num, sizeof(*steps->first_rank));
	steps->is_shared = arena_array(j->arena, num, sizeof(*steps->is_shared));
	memset(steps->first_rank, 0xff, num * sizeof(*steps->first_rank));
	for (size_t t = 0; t < j->jm->num_transitions; t++)
		add_steps(steps, &j->jm->transitions[t]);
	return steps;
}

uint32_t verdict_find_novel(struct judge *j, const uint32_t *lanes, size_t num,
			    uint32_t *transition_ret)
{
	const struct verdict_steps *steps;
	enum found best = FOUND_NONE;
	uint32_t actor = WAITFOR_NONE, transition;
	size_t num_best = 0;

	if (!j->groups || !j->groups->progress)
		return WAITFOR_NONE;
	steps = find_steps(j);
	for (size_t i = 0; i < num; i++) {
		enum found found = j->actors[lanes[i]].lane
					   ? search(j, steps, lanes[i], &transition)
					   : FOUND_NONE;

		if (found == FOUND_NONE || found < best)
			continue;
		num_best = found == best ? num_best + 1 : 1;
		best = found;
		actor = lanes[i];
		*transition_ret = transition;
	}
	/* Two such steps of different ranks tell nothing, unless only one has gone on since. */
	return num_best == 1 ? actor : WAITFOR_NONE;
}

void verdict_set_novel(struct judge *j, uint32_t actor, uint32_t transition)
{
	j->verdict->witness = (struct verdict_witness){
		.kind = WITNESS_NOVEL, .rank = j->actors[actor].rank, .transition = transition};
}
