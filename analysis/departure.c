/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/departure.h"

#include <stdlib.h>

#include "model/xalloc.h"

#define NONE SIZE_MAX

struct course_of {
	const uint32_t *calls;
	size_t num;
	size_t *former; /* [calls] the last time before that this was called; NONE */
};

static int compare_places(const void *a, const void *b, void *calls_of)
{
	const uint32_t *calls = calls_of;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	if (calls[x] != calls[y])
		return calls[x] < calls[y] ? -1 : 1;
	return (x > y) - (x < y);
}

static void link_calls(struct course_of *course)
{
	size_t *places = xcalloc(course->num, sizeof(*places));

	for (size_t i = 0; i < course->num; i++)
		places[i] = i;
	qsort_r(places, course->num, sizeof(*places), compare_places, (void *)course->calls);
	for (size_t i = 0; i < course->num; i++) {
		bool is_first = i == 0 || course->calls[places[i]] != course->calls[places[i - 1]];
		course->former[places[i]] = is_first ? NONE : places[i - 1];
	}
	free(places);
}

/* How many calls up to a and up to b are the same, DEPARTURE_MEMORY at most; b is the later. */
static size_t count_same(const uint32_t *calls, size_t a, size_t b)
{
	size_t num = 0;

	while (num < DEPARTURE_MEMORY && calls[a - num] == calls[b - num]) {
		num++;
		if (num > a)
			break;
	}
	return num;
}

static int compare_calls(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* What used to follow the `memory` calls before call `at`. False: that varies too much to be surprised. */
static bool find_usual(const struct course_of *course, size_t at, size_t memory, struct departure *ret)
{
	const uint32_t *calls = course->calls;
	uint32_t *followers = xcalloc(at, sizeof(*followers));
	size_t num = 0, num_same = 0;
	bool is_seldom = false;

	for (size_t i = course->former[at - 1]; i != NONE; i = course->former[i])
		if (count_same(calls, i, at - 1) >= memory)
			followers[num++] = calls[i + 1];
	qsort(followers, num, sizeof(*followers), compare_calls);
	*ret = (struct departure){.since = course->num - 1 - at, .last = calls[at - 1],
				  .call = calls[at], .num_times = num, .num_memory = memory};
	for (size_t i = 0; i < num; i++) {
		num_same = i > 0 && followers[i] == followers[i - 1] ? num_same + 1 : 1;
		if (num_same > ret->num_usual) {
			ret->num_usual = num_same;
			ret->usual = followers[i];
		}
		is_seldom |= num_same < DEPARTURE_SELDOM &&
			     (i + 1 == num || followers[i + 1] != followers[i]);
	}
	free(followers);
	return !is_seldom;
}

/* The fewest calls of memory after which this call was never made, of those that are seen often. */
static bool is_departure(const struct course_of *course, size_t at, struct departure *ret)
{
	const uint32_t *calls = course->calls;
	size_t times[DEPARTURE_MEMORY + 1] = {0}, same[DEPARTURE_MEMORY + 1] = {0};

	for (size_t i = course->former[at - 1]; i != NONE; i = course->former[i]) {
		size_t num = count_same(calls, i, at - 1);

		for (size_t m = 1; m <= num; m++) {
			times[m]++;
			same[m] += calls[i + 1] == calls[at];
		}
	}
	for (size_t m = 1; m <= DEPARTURE_MEMORY; m++) {
		if (times[m] < (m == 1 ? DEPARTURE_OFTEN : DEPARTURE_OFTEN_BY_MORE))
			break;
		if (same[m] == 0)
			return find_usual(course, at, m, ret);
	}
	return false;
}

enum course departure_find(const uint32_t *calls, size_t num, struct departure *ret)
{
	size_t first = num > DEPARTURE_MAX_CALLS ? num - DEPARTURE_MAX_CALLS : 0;
	struct course_of course = {calls + first, num - first, NULL};
	size_t at;
	bool is_found = false;

	if (num < DEPARTURE_MIN_CALLS)
		return COURSE_UNKNOWN;
	course.former = xcalloc(course.num, sizeof(*course.former));
	link_calls(&course);
	for (at = course.num - DEPARTURE_WINDOW - DEPARTURE_CLEAN; at < course.num && !is_found; at++)
		is_found = is_departure(&course, at, ret);
	free(course.former);
	if (!is_found)
		return COURSE_KEPT;
	return ret->since < DEPARTURE_WINDOW ? COURSE_LEFT : COURSE_UNKNOWN;
}
