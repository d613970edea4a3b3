/* SPDX-License-Identifier: BSD-3-Clause
 * A step that nobody ever took before, or not after the same calls: where a rank left out a message, or turned
 * another way. */
#include <stdlib.h>
#include <string.h>

#include "analysis/departure.h"
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
/* As many lanes are asked, of one job: in a large one each costs time. */
enum { MAX_COURSES = 256 };
/* So much earlier one must have left its course than another: clocks differ, of two hosts by more. */
#define SLACK_NS UINT64_C(10000)
#define SLACK_HOSTS_NS UINT64_C(10000000)
/* Outermost iterations that are searched: the present one and the one before, since a rank may go
 * on for a while after a fault. */
enum { MAX_ARRIVALS = 2 };

struct steps {
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
static bool is_novel(const struct steps *steps, uint32_t from, uint32_t to, bool is_last,
		     uint32_t *ret)
{
	size_t index = job_model_find_transition(steps->jm, from, to);

	/* From "start" each thread goes on once. Who alone has a part in the program leaves it by ways
	 * of its own; what can be told of it is that it waits at once in what it has long done after
	 * something else. */
	if (index == SIZE_MAX || SEG_STATE_SITE(from) == 0 ||
	    (!steps->is_shared[from] && (!is_last || steps->enters[to] <= WELL_USED + 1)) ||
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

enum found { FOUND_NONE, FOUND_EARLIER, FOUND_STANDING }; /* it stands where the step led it */

static enum found search(const struct judge *j, const struct steps *steps, uint32_t actor,
			 uint32_t *ret)
{
	const struct job_lane *lane = &j->jm->lanes[actor];
	const struct job_loop *loop = find_loop(j, actor);
	int arrivals = 0;

	for (size_t i = lane->data->num_ring; i > 1 && arrivals < MAX_ARRIVALS; i--) {
		uint32_t from = job_lane_state(lane, lane->data->ring[i - 2].state);
		uint32_t to = job_lane_state(lane, lane->data->ring[i - 1].state);
		bool is_last = i == lane->data->num_ring;

		if (is_novel(steps, from, to, is_last, ret))
			return is_last ? FOUND_STANDING : FOUND_EARLIER;
		arrivals += loop && is_arrival(j->jm, loop, from, to);
	}
	return FOUND_NONE;
}

static void add_steps(struct steps *steps, const struct job_transition *transition)
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

static void steps_init(struct steps *steps, const struct job_model *jm)
{
	size_t num = job_model_num_states(jm);

	steps->jm = jm;
	steps->leaves = xcalloc(num, sizeof(*steps->leaves));
	steps->enters = xcalloc(num, sizeof(*steps->enters));
	steps->first_rank = xcalloc(num, sizeof(*steps->first_rank));
	steps->is_shared = xcalloc(num, sizeof(*steps->is_shared));
	for (size_t s = 0; s < num; s++)
		steps->first_rank[s] = -1;
	for (size_t t = 0; t < jm->num_transitions; t++)
		add_steps(steps, &jm->transitions[t]);
}

static void steps_deinit(struct steps *steps)
{
	free(steps->leaves);
	free(steps->enters);
	free(steps->first_rank);
	free(steps->is_shared);
}

uint32_t verdict_find_novel(const struct judge *j, const uint32_t *lanes, size_t num,
			    uint32_t *transition_ret)
{
	struct steps steps;
	enum found best = FOUND_NONE;
	uint32_t actor = WAITFOR_NONE, transition;
	size_t num_best = 0;

	if (!j->groups->progress)
		return WAITFOR_NONE;
	steps_init(&steps, j->jm);
	for (size_t i = 0; i < num; i++) {
		enum found found = search(j, &steps, lanes[i], &transition);

		if (found == FOUND_NONE || found < best)
			continue;
		num_best = found == best ? num_best + 1 : 1;
		best = found;
		actor = lanes[i];
		*transition_ret = transition;
	}
	steps_deinit(&steps);
	/* Two such steps of different ranks tell nothing, but that one has gone on since then and the other
	 * has not. */
	return num_best == 1 ? actor : WAITFOR_NONE;
}

/* When a lane left its course, on the clock that hosts have in common. */
struct leaving {
	uint32_t actor;
	uint64_t when_ns;
	struct departure departure;
};

static enum course course_of(const struct job_lane *lane, struct leaving *ret)
{
	const struct model_lane *data = lane->data;
	uint32_t *calls = xcalloc(data->num_ring + 1, sizeof(*calls));
	uint64_t *when = xcalloc(data->num_ring + 1, sizeof(*when));
	size_t num = 0;
	enum course course;

	for (size_t i = 0; i < data->num_ring; i++)
		if (!SEG_STATE_IS_EXIT(data->ring[i].state)) {
			when[num] = data->ring[i].ns;
			calls[num++] = job_lane_state(lane, data->ring[i].state);
		}
	course = departure_find(calls, num, &ret->departure);
	if (course == COURSE_LEFT)
		ret->when_ns = lane->model->now_real_ns - lane->model->now_ns +
			       when[num - 1 - ret->departure.since];
	free(when);
	free(calls);
	return course;
}

/* Has the rank done so long ago, or others as seldom? Then it is a step that comes seldom. */
static bool is_seldom(const struct job_model *jm, int rank, const struct departure *departure)
{
	uint32_t from = SEG_STATE_EXIT(SEG_STATE_SITE(departure->last));
	size_t index = job_model_find_transition(jm, from, departure->call);

	if (departure->num_memory > 1 || index == SIZE_MAX)
		return false;
	for (size_t i = 0; i < jm->transitions[index].num_counts; i++) {
		const struct job_count *count = &jm->transitions[index].counts[i];

		if (rankset_contains(count->ranks, rank))
			return count->count > 1 || rankset_count(count->ranks) > 1;
	}
	return false;
}

/* Who left its course later may have done it because of who did so earlier. */
static bool is_earlier(const struct judge *j, const struct leaving *a, const struct leaving *b)
{
	const struct model_program *of_a = j->jm->lanes[a->actor].model->program;
	const struct model_program *of_b = j->jm->lanes[b->actor].model->program;
	uint64_t slack_ns = strcmp(of_a->host, of_b->host) == 0 ? SLACK_NS : SLACK_HOSTS_NS;

	return a->when_ns < b->when_ns && b->when_ns - a->when_ns > slack_ns;
}

uint32_t verdict_find_departed(struct judge *j, const uint32_t *lanes, size_t num,
			       struct departure *ret, size_t *num_later_ret)
{
	struct leaving first = {.actor = WAITFOR_NONE};
	bool is_first = false;

	*num_later_ret = 0;
	j->num_courses += num;
	for (size_t i = 0; j->num_courses <= MAX_COURSES && i < num; i++) {
		struct leaving leaving = {.actor = lanes[i]};
		enum course course = course_of(&j->jm->lanes[lanes[i]], &leaving);

		if (course == COURSE_UNKNOWN)
			return WAITFOR_NONE;
		if (course == COURSE_KEPT ||
		    is_seldom(j->jm, j->jm->lanes[lanes[i]].rank, &leaving.departure))
			continue;
		*num_later_ret += first.actor != WAITFOR_NONE;
		if (first.actor == WAITFOR_NONE || is_earlier(j, &leaving, &first)) {
			is_first = true;
			first = leaving;
		} else if (!is_earlier(j, &first, &leaving)) {
			is_first = false;
		}
	}
	*ret = first.departure;
	return is_first ? first.actor : WAITFOR_NONE;
}

void verdict_set_departed(struct judge *j, uint32_t actor, const struct departure *departure, size_t num_later)
{
	j->verdict->departure = *departure;
	j->verdict->departed_rank = j->jm->lanes[actor].rank;
	j->verdict->num_departed_later = num_later;
	j->verdict->is_likely = true;
}
