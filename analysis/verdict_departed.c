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

/* As many lanes are compared at most, and so many calls of all of them; in a job of more lanes,
 * where others are taken besides each time, so often. */
enum { MAX_LANES = 256, MAX_CALLS = 1 << 18, MAX_TIMES = 4 };
/* Lanes that are asked by their own calls alone. */
enum { MAX_ALONE = 256 };

/* By its own calls a lane must have left its course just now; by all others', where it may do what
 * is new to itself, it may have gone on for as long as its messages let it. */
static const struct departure_limits by_own = {64, 7}, strong_by_all = {512, 7},
				     weak_by_all = {512, 3};

/* So much earlier one must have left its course than another: clocks differ, of two hosts by more.
 */
#define SLACK_NS UINT64_C(10000)
#define SLACK_HOSTS_NS UINT64_C(10000000)

/* When a lane left its course, on the clock that hosts have in common. */
struct leaving {
	uint32_t actor;
	uint64_t when_ns;
	struct departure departure;
};

/* What lanes of the job called, and when. */
struct verdict_courses {
	struct courses *courses;
	uint32_t *index; /* [lanes of the job] in courses; UINT32_MAX: not there */
	size_t num_times;
	struct course_alone *alone; /* [lanes of the job] */
	size_t num_alone;
};

/* What a lane's own calls tell. */
struct course_alone {
	bool is_known;
	enum course course;
	struct departure departure;
};

/* ---- The calls of lanes -----------------------------------------------------------------------
 */

static size_t list_calls(const struct job_lane *lane, uint32_t *ret)
{
	size_t num = 0;

	for (size_t i = 0; i < lane->data->num_ring; i++)
		if (!SEG_STATE_IS_EXIT(lane->data->ring[i].state))
			ret[num++] = job_lane_state(lane, lane->data->ring[i].state);
	return num;
}

/* When the call was made after which `since` others were, on the clock that hosts have in common.
 */
static uint64_t find_when(const struct job_lane *lane, size_t since)
{
	size_t i = lane->data->num_ring;

	while (i > 0 && (SEG_STATE_IS_EXIT(lane->data->ring[i - 1].state) || since-- > 0))
		i--;
	return lane->model->now_real_ns - lane->model->now_ns + lane->data->ring[i - 1].ns;
}

/* Lanes[num], and as many others as there is room for, from all over the job; their number. */
static size_t choose_lanes(const struct judge *j, const uint32_t *lanes, size_t num,
			   uint32_t *index)
{
	size_t all = j->jm->num_lanes, chosen = 0, step = (all + MAX_LANES - 1) / MAX_LANES;

	for (size_t l = 0; l < all; l++)
		index[l] = UINT32_MAX;
	for (size_t i = 0; i < num; i++)
		if (index[lanes[i]] == UINT32_MAX)
			index[lanes[i]] = (uint32_t)chosen++;
	for (size_t l = 0; l < all && chosen < MAX_LANES; l += step)
		if (index[l] == UINT32_MAX)
			index[l] = (uint32_t)chosen++;
	return chosen;
}

static bool are_compared(const struct verdict_courses *courses, const uint32_t *lanes, size_t num)
{
	for (size_t i = 0; i < num; i++)
		if (courses->index[lanes[i]] == UINT32_MAX)
			return false;
	return courses->courses != NULL;
}

/* Compare lanes[num] with others, if that was not done; false: they are too many. */
static bool compare(struct judge *j, const uint32_t *lanes, size_t num)
{
	struct verdict_courses *courses = j->courses;
	struct course_calls *calls;
	uint32_t **lists;
	size_t chosen, most;

	if (!courses) {
		j->courses = courses = xcalloc(1, sizeof(*courses));
		courses->index = xcalloc(j->jm->num_lanes + 1, sizeof(*courses->index));
		courses->alone = xcalloc(j->jm->num_lanes + 1, sizeof(*courses->alone));
	}
	if (are_compared(courses, lanes, num))
		return true;
	if (num > MAX_LANES || courses->num_times++ >= MAX_TIMES)
		return false;
	courses_destroy(courses->courses);
	chosen = choose_lanes(j, lanes, num, courses->index);
	calls = xcalloc(chosen + 1, sizeof(*calls));
	lists = xcalloc(chosen + 1, sizeof(*lists));
	for (size_t l = 0; l < j->jm->num_lanes; l++) {
		const struct job_lane *lane = &j->jm->lanes[l];
		uint32_t *list;

		if (courses->index[l] == UINT32_MAX)
			continue;
		lists[courses->index[l]] = list = xcalloc(lane->data->num_ring + 1, sizeof(*list));
		calls[courses->index[l]] = (struct course_calls){list, list_calls(lane, list)};
	}
	most = MAX_CALLS / chosen;
	courses->courses = courses_create(calls, chosen,
					  most < DEPARTURE_MAX_CALLS ? most : DEPARTURE_MAX_CALLS);
	for (size_t i = 0; i < chosen; i++)
		free(lists[i]);
	free(lists);
	free(calls);
	return true;
}

void verdict_forget_courses(struct judge *j)
{
	if (!j->courses)
		return;
	courses_destroy(j->courses->courses);
	free(j->courses->index);
	free(j->courses->alone);
	free(j->courses);
}

static const struct course_alone *ask_alone(struct judge *j, uint32_t l)
{
	const struct job_lane *lane = &j->jm->lanes[l];
	struct course_alone *alone = &j->courses->alone[l];
	struct course_calls calls;
	struct courses *courses;
	uint32_t *list;

	if (alone->is_known)
		return alone;
	*alone = (struct course_alone){true, COURSE_UNKNOWN, {0}};
	if (j->courses->num_alone++ >= MAX_ALONE)
		return alone;
	list = xcalloc(lane->data->num_ring + 1, sizeof(*list));
	calls = (struct course_calls){list, list_calls(lane, list)};
	courses = courses_create(&calls, 1, DEPARTURE_MAX_CALLS);
	alone->course = courses_find(courses, 0, &by_own, &alone->departure);
	courses_destroy(courses);
	free(list);
	return alone;
}

static enum course ask(struct judge *j, uint32_t l, enum departed_evidence evidence,
		       struct departure *ret)
{
	enum course by_all =
		courses_find(j->courses->courses, j->courses->index[l],
			     evidence == DEPARTED_WEAK ? &weak_by_all : &strong_by_all, ret);
	const struct course_alone *alone;

	if (by_all == COURSE_LEFT)
		return COURSE_LEFT;
	alone = ask_alone(j, l);
	*ret = alone->departure;
	return alone->course == COURSE_UNKNOWN ? by_all : alone->course;
}

/* ---- The first of them ------------------------------------------------------------------------
 */

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
			       enum departed_evidence evidence, struct departure *ret,
			       size_t *num_later_ret)
{
	struct leaving first = {.actor = WAITFOR_NONE};
	bool is_first = false;

	*num_later_ret = 0;
	if (!compare(j, lanes, num))
		return WAITFOR_NONE;
	for (size_t i = 0; i < num; i++) {
		struct leaving leaving = {.actor = lanes[i]};
		enum course course = ask(j, lanes[i], evidence, &leaving.departure);

		if (course == COURSE_UNKNOWN)
			return WAITFOR_NONE;
		if (course == COURSE_KEPT ||
		    is_seldom(j->jm, j->jm->lanes[lanes[i]].rank, &leaving.departure))
			continue;
		leaving.when_ns = find_when(&j->jm->lanes[lanes[i]], leaving.departure.since);
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

/* When a lane took the step that it took only once; 0: that is not known any more. */
static uint64_t find_step(const struct job_lane *lane, const struct job_transition *transition)
{
	const struct model_lane *data = lane->data;

	for (size_t i = data->num_ring; i > 1; i--)
		if (job_lane_state(lane, data->ring[i - 2].state) == transition->from &&
		    job_lane_state(lane, data->ring[i - 1].state) == transition->to)
			return lane->model->now_real_ns - lane->model->now_ns +
			       data->ring[i - 1].ns;
	return 0;
}

bool verdict_is_after_departure(struct judge *j, const uint32_t *lanes, size_t num, uint32_t actor,
				uint32_t transition)
{
	struct leaving first, novel = {.actor = actor};
	size_t num_later;

	novel.when_ns = find_step(&j->jm->lanes[actor], &j->jm->transitions[transition]);
	first.actor =
		verdict_find_departed(j, lanes, num, DEPARTED_STRONG, &first.departure, &num_later);
	if (first.actor == WAITFOR_NONE || first.actor == actor)
		return false;
	first.when_ns = find_when(&j->jm->lanes[first.actor], first.departure.since);
	return is_earlier(j, &first, &novel);
}

void verdict_set_departed(struct judge *j, uint32_t actor, const struct departure *departure,
			  size_t num_later)
{
	j->verdict->departure = *departure;
	j->verdict->departed_rank = j->jm->lanes[actor].rank;
	j->verdict->num_departed_later = num_later;
	j->verdict->is_likely = true;
}
