/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/thresholds.h"
#include "analysis/verdict/departure.h"

#include <stdlib.h>

#include "model/xalloc.h"

/* A call of a lane, and the moment before it. What the lane did from then on is not before. */
struct step {
	uint32_t moment, call;
	uint32_t first, end; /* moments of the lane */
};

static struct step step_at(const struct call_contexts *c, size_t lane, size_t at)
{
	return (struct step){(uint32_t)at - 1, c->calls[at], c->first[lane],
			     c->first[lane + 1] - 1};
}

static bool is_before(const struct step *step, uint32_t moment)
{
	return moment < step->moment || moment >= step->end;
}

static bool is_within(const struct call_range *range, size_t place)
{
	return place >= range->first && place < range->end;
}

/* The most calls back to which the step was made before, or 0; who did so is beside it in order. */
static size_t find_longest(const struct call_contexts *c, const struct step *step)
{
	size_t first = c->kind_first[step->call], end = c->kind_first[step->call + 1], longest = 0;
	size_t here = call_contexts_find_followed(c, step->call, c->place[step->moment]);

	for (size_t i = here; i-- > first;)
		if (is_before(step, c->order[c->followed[i]])) {
			longest =
				call_contexts_count_same(c, c->order[c->followed[i]], step->moment);
			break;
		}
	for (size_t i = here; i < end; i++)
		if (is_before(step, c->order[c->followed[i]])) {
			size_t same =
				call_contexts_count_same(c, c->order[c->followed[i]], step->moment);

			return same > longest ? same : longest;
		}
	return longest;
}

/* How many moments of the range count as before; of them, the lane's own. */
static size_t count_before(const struct call_contexts *c, const struct step *step,
			   const struct call_range *range, size_t *num_own_ret)
{
	size_t num = range->end - range->first;

	*num_own_ret = 0;
	for (uint32_t at = step->first; at < step->moment; at++)
		*num_own_ret += is_within(range, c->place[at]);
	for (uint32_t at = step->moment; at < step->end; at++)
		num -= is_within(range, c->place[at]);
	return num;
}

/* How often the step was made from moments of the range, before. */
static size_t count_made(const struct call_contexts *c, const struct step *step,
			 const struct call_range *range)
{
	size_t num = call_contexts_find_followed(c, step->call, range->end) -
		     call_contexts_find_followed(c, step->call, range->first);

	for (uint32_t at = step->moment; at < step->end; at++)
		num -= c->calls[at + 1] == step->call && is_within(range, c->place[at]);
	return num;
}

/* How often it would have been made in `num_times`, were it as common as with this memory. */
static double expected_times(const struct call_contexts *c, const struct step *step, size_t memory,
			     size_t num_times)
{
	struct call_range range = call_contexts_find_alike(c, step->moment, memory);
	size_t num_own, num = count_before(c, step, &range, &num_own);

	return (double)num_times * (double)count_made(c, step, &range) / (double)num;
}

/* What followed the moments of the range, mostly; how many kinds of calls did so seldom. */
static void find_usual(const struct call_contexts *c, const struct step *step,
		       const struct call_range *range, struct departure *ret,
		       size_t *num_seldom_ret)
{
	size_t *counts = xcalloc(c->num_kinds, sizeof(*counts));

	for (size_t i = range->first; i < range->end; i++)
		if (is_before(step, c->order[i]))
			counts[c->calls[c->order[i] + 1]]++;
	*num_seldom_ret = 0;
	for (size_t k = 0; k < c->num_kinds; k++) {
		if (counts[k] > ret->num_usual) {
			ret->num_usual = counts[k];
			ret->usual = c->kinds[k];
		}
		*num_seldom_ret += counts[k] > 0 && counts[k] < thresholds.course_seldom;
	}
	free(counts);
}

/* With the least memory after which the call was never made: did the lane come by often, and is it
 * no chance? *is_odd: it would be a departure, but that several calls came there seldom. */
static bool is_departure(const struct call_contexts *c, const struct step *step, double expected,
			 struct departure *ret, bool *is_odd)
{
	size_t memory = find_longest(c, step) + 1, num_others, num_seldom;
	struct call_range range;

	*is_odd = false;
	if (memory > CALL_CONTEXT_MEMORY)
		return false;
	range = call_contexts_find_alike(c, step->moment, memory);
	if (range.end - range.first <= thresholds.course_often)
		return false;
	*ret = (struct departure){.since = step->end - 1 - step->moment,
				  .last = c->kinds[c->calls[step->moment]],
				  .call = c->kinds[step->call],
				  .num_memory = memory};
	ret->num_times = count_before(c, step, &range, &ret->num_own);
	num_others = c->num_lanes > 1 ? ret->num_times - ret->num_own : ret->num_times;
	if (num_others < thresholds.course_often || ret->num_own < thresholds.course_own ||
	    (memory > 1 && expected_times(c, step, memory - 1, ret->num_times) < expected))
		return false;
	find_usual(c, step, &range, ret, &num_seldom);
	*is_odd = memory == 1 && num_seldom > 0;
	return !*is_odd;
}

enum course departure_find(const struct call_contexts *c, size_t lane,
			   const struct departure_limits *limits, struct departure *ret)
{
	uint32_t first = c->first[lane], end = c->first[lane + 1];
	size_t looked = 2 * limits->window + thresholds.course_kept, num = end - first, kept = 0;
	size_t num_departures = 0, num_late = 0, num_odd = 0;

	if (num < thresholds.course_calls)
		return COURSE_UNKNOWN;
	/* The first of all has no call before it. */
	if (looked > num - 1)
		looked = num - 1;
	for (size_t at = end - looked; at < end; at++, kept++) {
		struct step step = step_at(c, lane, at);
		struct departure departure;
		bool is_odd;

		if (!is_departure(c, &step, limits->expected, &departure, &is_odd)) {
			num_odd += is_odd;
			if (num_odd > thresholds.course_odd)
				return COURSE_UNKNOWN;
			continue;
		}
		if (departure.since < limits->window &&
		    kept >= departure.since + 1 + thresholds.course_kept &&
		    (!limits->is_only || num_departures == 0)) {
			*ret = departure;
			return COURSE_LEFT;
		}
		num_departures++;
		num_late += departure.since < limits->window + thresholds.course_kept;
		kept = 0;
	}
	return num_late > 0 || (limits->is_only && num_departures > 0) ? COURSE_UNKNOWN
								       : COURSE_KEPT;
}

bool departure_is_known(const struct call_contexts *c, size_t lane,
			const struct departure *departure)
{
	struct step step = step_at(c, lane, c->first[lane + 1] - 1 - departure->since);

	return find_longest(c, &step) >= departure->num_memory;
}
