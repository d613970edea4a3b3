/* SPDX-License-Identifier: BSD-3-Clause
 * Who has left its course: the first of those who wait for each other, or who do not agree. */
#include <stdlib.h>
#include <string.h>

#include "analysis/departure.h"
#include "analysis/verdict_private.h"
#include "model/job_model.h"
#include "model/model.h"
#include "model/rankset.h"
#include "model/xalloc.h"

/* As many lanes are asked, of one job: in a large one each costs time. */
enum { MAX_COURSES = 256 };
/* So much earlier one must have left its course than another: clocks differ, of two hosts by more. */
#define SLACK_NS UINT64_C(10000)
#define SLACK_HOSTS_NS UINT64_C(10000000)

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
