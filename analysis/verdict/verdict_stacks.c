/* SPDX-License-Identifier: BSD-3-Clause
 * The verdict by stacks alone. */
#include <stdlib.h>

#include "analysis/verdict/verdict_private.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"

static int compare_calls(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The middle one of all is of it, if there is one. */
bool verdict_find_common_call(const struct stack_facts *facts, const struct rankset *ranks,
			      uint32_t *call_ret)
{
	size_t num = (size_t)rankset_count(ranks), at = 0, same = 0;
	uint32_t *calls = xcalloc(num, sizeof(*calls));

	for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r))
		calls[at++] = stack_facts_get(facts, r)->call;
	qsort(calls, num, sizeof(*calls), compare_calls);
	*call_ret = calls[num / 2];
	for (size_t i = 0; i < num; i++)
		same += calls[i] == *call_ret;
	free(calls);
	return same * 2 > num;
}

/* Ranks end one after the other, which is no hang. */
static bool is_ending(const struct judge *j)
{
	const struct rankset *ranks = j->verdict->waiting;

	for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r))
		if (!stack_facts_get(j->stacks, r)->is_finalizing)
			return false;
	return true;
}

static void find_apart(struct judge *j)
{
	const struct rankset *ranks = j->verdict->waiting;
	uint32_t common;

	if (!verdict_find_common_call(j->stacks, ranks, &common))
		return;
	for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r))
		if (stack_facts_get(j->stacks, r)->call != common)
			rankset_add(j->verdict->apart, r);
}

void verdict_judge_by_stacks(struct judge *j)
{
	struct verdict *verdict = j->verdict;
	struct rankset *stopped = rankset_create();
	size_t num = 0, num_outside = 0;
	uint64_t shortest_ns = UINT64_MAX;
	bool is_quiet, is_traced = false;
	size_t num_counted = 0;

	verdict->basis = VERDICT_BY_STACKS;
	for (size_t r = 0; r < j->stacks->num_ranks; r++) {
		const struct stack_fact *fact = &j->stacks->ranks[r];

		if (fact->latest && fact->is_stopped)
			rankset_add(stopped, (int)r);
		is_traced |= fact->is_traced;
		if (fact->num_samples == 0)
			continue;
		num++;
		num_counted += fact->queues != NULL;
		if (fact->span_ns < shortest_ns)
			shortest_ns = fact->span_ns;
		if (fact->num_outside == fact->num_samples) {
			num_outside++;
			rankset_add(verdict->culprits, (int)r);
		} else if (fact->is_polling || (fact->num_outside == 0 && !fact->has_moved)) {
			rankset_add(verdict->waiting, (int)r);
		} else {
			rankset_add(verdict->moving, (int)r);
		}
	}
	if (!rankset_is_empty(stopped)) {
		rankset_remove_set(verdict->waiting, stopped);
		rankset_remove_set(verdict->moving, stopped);
		rankset_remove_set(verdict->culprits, stopped);
		/* Nobody else can end it, and there is somebody who waits for that. */
		verdict->is_final = !is_traced && rankset_is_empty(verdict->moving) &&
				    rankset_is_empty(verdict->culprits) &&
				    !rankset_is_empty(verdict->waiting);
		rankset_destroy(verdict->culprits);
		verdict->culprits = stopped;
		verdict->kind = VERDICT_STOPPED;
		return;
	}
	rankset_destroy(stopped);
	is_quiet = rankset_is_empty(verdict->moving);
	if (is_quiet && !rankset_is_empty(verdict->waiting))
		rankset_add_set(verdict->candidates,
				num_outside > 0 ? verdict->culprits : verdict->waiting);
	if (num_outside > 0 && num_outside * 2 < num && is_quiet) {
		verdict->kind = VERDICT_COMPUTATION;
		verdict->stay_ns = shortest_ns;
		/* In the same call again and again a rank may have gone round between. */
		verdict->is_uncounted = num_counted < num;
		verdict->is_hang = shortest_ns >= VERDICT_HANG_NEW_NS && !verdict->is_uncounted;
		return;
	}
	verdict->kind = num_outside > 0 || !is_quiet ? VERDICT_NONE : VERDICT_UNKNOWN;
	rankset_destroy(verdict->culprits);
	verdict->culprits = rankset_create();
	if (verdict->kind != VERDICT_UNKNOWN || rankset_is_empty(verdict->waiting))
		return;
	verdict_add_ended(j);
	if (rankset_is_empty(verdict->culprits)) {
		find_apart(j);
		return;
	}
	verdict->kind = VERDICT_LEFT;
	verdict->is_final = !is_ending(j);
	rankset_destroy(verdict->candidates);
	verdict->candidates = rankset_create();
}
