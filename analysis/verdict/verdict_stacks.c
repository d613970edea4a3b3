/* SPDX-License-Identifier: BSD-3-Clause
 * The verdict by stacks alone, and by the signals that ended ranks. */
#include <signal.h>

#include "analysis/verdict/verdict_private.h"
#include "model/xalloc.h"

bool verdict_add_apart(const struct stack_facts *facts, const struct rankset *ranks,
		       struct rankset *apart)
{
	size_t num = (size_t)rankset_count(ranks), at = 0;
	uint32_t *calls = xcalloc(num, sizeof(*calls)), common;

	for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r))
		calls[at++] = stack_facts_get(facts, r)->call;
	qsort(calls, num, sizeof(*calls), sorted_compare_u32);
	/* If there is such a call, the middle one of all is it. */
	common = calls[num / 2];
	free(calls);
	for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r))
		if (stack_facts_get(facts, r)->call != common)
			rankset_add(apart, r);
	if (2 * (size_t)rankset_count(apart) < num)
		return true;
	rankset_remove_set(apart, ranks);
	return false;
}

void verdict_accuse_by_stacks(struct verdict *verdict, const struct stack_facts *facts,
			      const struct rankset *ranks, enum verdict_kind kind)
{
	verdict->kind = kind;
	verdict->culprits = rankset_in(verdict->arena, rankset_copy(ranks));
	rankset_remove_set(verdict->waiting, ranks);
	verdict->stay_ns = UINT64_MAX;
	for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r))
		if (stack_facts_get(facts, r)->span_ns < verdict->stay_ns)
			verdict->stay_ns = stack_facts_get(facts, r)->span_ns;
	verdict->is_hang = verdict->stay_ns >= VERDICT_HANG_NEW_NS;
}

/* Ranks start and end one after the other, which is no hang. */
static bool is_edge(const struct judge *j)
{
	const struct rankset *ranks = j->verdict->waiting;
	int num = rankset_count(ranks), num_starting = 0, num_ending = 0;

	for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r)) {
		num_starting += stack_facts_get(j->stacks, r)->is_initializing;
		num_ending += stack_facts_get(j->stacks, r)->is_finalizing;
	}
	return num > 0 && (num_starting == num || num_ending == num);
}

void verdict_judge_by_stacks(struct judge *j)
{
	struct verdict *verdict = j->verdict;
	struct rankset *stopped = rankset_in(verdict->arena, rankset_create());
	size_t num = 0, num_outside = 0, num_counted = 0;
	uint64_t shortest_ns = UINT64_MAX;
	bool is_quiet, is_traced = false;

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
		verdict->culprits = stopped;
		verdict->kind = VERDICT_STOPPED;
		return;
	}
	is_quiet = rankset_is_empty(verdict->moving);
	if (is_quiet && shortest_ns < stay_limits.edge_ns && is_edge(j)) {
		rankset_remove_set(verdict->culprits, verdict->culprits);
		verdict->kind = VERDICT_NONE;
		verdict->is_edge = true;
		return;
	}
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
	rankset_remove_set(verdict->culprits, verdict->culprits);
	if (verdict->kind != VERDICT_UNKNOWN || rankset_is_empty(verdict->waiting))
		return;
	verdict_add_ended(j);
	if (rankset_is_empty(verdict->culprits)) {
		verdict_add_apart(j->stacks, verdict->waiting, verdict->apart);
		return;
	}
	verdict->kind = VERDICT_LEFT;
	verdict->is_final = !is_edge(j);
	rankset_remove_set(verdict->candidates, verdict->candidates);
}

bool verdict_find_crashed(struct judge *j)
{
	struct rankset *aborts = rankset_in(j->arena, rankset_create());
	struct verdict *verdict = j->verdict;

	for (size_t i = 0; i < j->job->num_crashes; i++) {
		const struct job_crash *crash = &j->job->crashes[i];

		if (crash->is_fault)
			rankset_add(verdict->culprits, crash->rank);
		else if (crash->signal == SIGABRT && !crash->is_sent)
			rankset_add(aborts, crash->rank);
	}
	if (rankset_is_empty(verdict->culprits))
		rankset_add_set(verdict->culprits, aborts);
	if (rankset_is_empty(verdict->culprits))
		return false;
	verdict->kind = VERDICT_CRASHED;
	verdict->basis = VERDICT_BY_STACKS;
	verdict->is_hang = true;
	return true;
}
