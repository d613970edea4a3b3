/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/departure.h"

#include <stdlib.h>

#include "model/xalloc.h"

struct history {
	const uint32_t *calls;
	size_t num;
	/* [num] by lag: how many calls, up to the one before `at`, are those that were made so much earlier */
	uint16_t *same;
};

/* Count call `at`. */
static void go_on(struct history *h, size_t at)
{
	for (size_t lag = 1; lag <= at; lag++) {
		if (h->calls[at] != h->calls[at - lag])
			h->same[lag] = 0;
		else if (h->same[lag] < DEPARTURE_MEMORY)
			h->same[lag]++;
	}
}

static int compare_calls(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* What followed the `memory` calls before call `at` at other times; how many kinds of calls did so seldom. */
static void find_usual(const struct history *h, size_t at, size_t memory, struct departure *ret,
		       size_t *num_seldom_ret)
{
	const uint32_t *calls = h->calls;
	uint32_t *followers = xcalloc(at + 1, sizeof(*followers));
	size_t num = 0, num_same = 0;

	for (size_t lag = 1; lag < at; lag++)
		if (h->same[lag] >= memory)
			followers[num++] = calls[at - lag];
	qsort(followers, num, sizeof(*followers), compare_calls);
	*ret = (struct departure){.since = h->num - 1 - at, .last = calls[at - 1],
				  .call = calls[at], .num_times = num, .num_memory = memory};
	*num_seldom_ret = 0;
	for (size_t i = 0; i < num; i++) {
		num_same = i > 0 && followers[i] == followers[i - 1] ? num_same + 1 : 1;
		if (num_same > ret->num_usual) {
			ret->num_usual = num_same;
			ret->usual = followers[i];
		}
		*num_seldom_ret += num_same < DEPARTURE_SELDOM &&
				   (i + 1 == num || followers[i + 1] != followers[i]);
	}
	free(followers);
}

/* How often it would have been made in `num_times`, were it as common then as after one call of memory less. */
static double expected_times(const struct history *h, size_t at, size_t memory, size_t num_times)
{
	size_t num = 0, num_made = 0;

	for (size_t lag = 1; lag < at; lag++)
		if (h->same[lag] >= memory) {
			num++;
			num_made += h->calls[at - lag] == h->calls[at];
		}
	return (double)num_times * (double)num_made / (double)num;
}

/* The least memory after which the call was never made: has the rank come by that often, and is it no chance? */
static bool is_departure(const struct history *h, size_t at, struct departure *ret)
{
	size_t memory = 1, num_seldom;

	for (size_t lag = 1; lag < at; lag++)
		if (h->calls[at - lag] == h->calls[at] && h->same[lag] >= memory)
			memory = h->same[lag] + 1u;
	if (memory > DEPARTURE_MEMORY)
		return false;
	find_usual(h, at, memory, ret, &num_seldom);
	if (ret->num_times < DEPARTURE_OFTEN)
		return false;
	return memory == 1 ? num_seldom == 0
			   : expected_times(h, at, memory - 1, ret->num_times) >= DEPARTURE_EXPECTED;
}

enum course departure_find(const uint32_t *calls, size_t num, struct departure *ret)
{
	size_t skipped = num > DEPARTURE_MAX_CALLS ? num - DEPARTURE_MAX_CALLS : 0;
	struct history h = {calls + skipped, num - skipped, NULL};
	size_t first = h.num - DEPARTURE_WINDOW - DEPARTURE_CLEAN;
	bool is_found = false;

	if (num < DEPARTURE_MIN_CALLS)
		return COURSE_UNKNOWN;
	h.same = xcalloc(h.num, sizeof(*h.same));
	/* What is the same for longer than the memory need not be known. */
	for (size_t at = first - DEPARTURE_MEMORY; at < h.num && !is_found; at++) {
		is_found = at >= first && is_departure(&h, at, ret);
		go_on(&h, at);
	}
	free(h.same);
	if (!is_found)
		return COURSE_KEPT;
	return ret->since < DEPARTURE_WINDOW ? COURSE_LEFT : COURSE_UNKNOWN;
}
