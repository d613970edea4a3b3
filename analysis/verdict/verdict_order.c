/* SPDX-License-Identifier: BSD-3-Clause
 * The verdict by stacks, where their temporal order tells who moves and who is least progressed. */
#include "analysis/stacks/temporal.h"
#include "analysis/verdict/verdict_private.h"
#include "model/job/callpath.h"
#include "model/job/names.h"
#include "model/job/sample.h"

/* Is it inside a function that asks MPI whether something has come? */
static bool is_polling(const struct job *job, uint32_t path)
{
	for (; path != CALLPATH_NONE; path = callpaths_get(job->callpaths, path)->parent)
		if (names_is_poll(job->names, path))
			return true;
	return false;
}

/* Are others in MPI from within the loop? Then who is in another iteration was there meanwhile. */
static bool is_loop_of_waiting(const struct verdict *verdict, const struct job *job,
			       const struct temporal *temporal, const struct temporal_loop *loop)
{
	for (int rank = rankset_first(verdict->waiting); rank >= 0;
	     rank = rankset_next(verdict->waiting, rank)) {
		const struct sample *sample = samples_find(job->samples, rank, 0);

		if (sample && sample->path != CALLPATH_NONE &&
		    temporal_is_in_loop(temporal, loop, sample->path))
			return true;
	}
	return false;
}

/* Did the rank go on between the samples? Asking again and again, or computing, is no going on. */
static bool has_moved(const struct verdict *verdict, const struct job *job,
		      const struct temporal *temporal, const struct sample *before,
		      const struct sample *after)
{
	struct temporal_reason reason;

	if (!before->num_values || !after->num_values ||
	    !temporal_has_moved(temporal, before, after, &reason))
		return false;
	if (!rankset_contains(verdict->waiting, before->rank))
		return is_loop_of_waiting(verdict, job, temporal, reason.loop);
	return !is_polling(job, after->path) ||
	       !temporal_is_innermost_loop(temporal, reason.loop, after->path);
}

static struct rankset *find_moving(const struct verdict *verdict, const struct job *job,
				   const struct temporal *temporal, struct arena *arena)
{
	const struct samples *samples = job->samples;
	struct rankset *moving = rankset_in(arena, rankset_create());
	const struct sample *before = NULL;

	for (size_t i = 0; i < samples->num_samples; i++) {
		const struct sample *sample = &samples->samples[i];

		if (!sample->is_main)
			continue;
		if (before && before->rank == sample->rank &&
		    has_moved(verdict, job, temporal, before, sample))
			rankset_add(moving, sample->rank);
		before = sample;
	}
	return moving;
}

static void acquit(struct verdict *verdict, const struct rankset *moving)
{
	rankset_add_set(verdict->moving, moving);
	rankset_remove_set(verdict->waiting, moving);
	rankset_remove_set(verdict->culprits, verdict->culprits);
	verdict->kind = VERDICT_NONE;
	verdict->stay_ns = 0;
	verdict->is_hang = false;
}

/* Groups of candidates that no other such group is before. */
struct least {
	struct rankset *ranks;
	size_t num_groups;
	bool is_known; /* all iterations that they are in */
};

static bool is_least(const struct temporal_result *order, const bool *is_candidate, size_t group)
{
	for (size_t i = 0; i < order->num_groups; i++)
		if (is_candidate[i] && temporal_order_of(order, i, group, NULL) == TEMPORAL_BEFORE)
			return false;
	return true;
}

static struct least find_least(const struct verdict *verdict, const struct temporal_result *order,
			       struct arena *arena)
{
	struct least least = {.ranks = rankset_in(arena, rankset_create()), .is_known = true};
	bool *is_candidate = arena_array(arena, order->num_groups, sizeof(*is_candidate));

	for (size_t i = 0; i < order->num_groups; i++)
		is_candidate[i] = rankset_contains(verdict->candidates,
						   rankset_first(order->groups[i].ranks));
	for (size_t i = 0; i < order->num_groups; i++) {
		if (!is_candidate[i] || !is_least(order, is_candidate, i))
			continue;
		rankset_add_set(least.ranks, order->groups[i].ranks);
		least.num_groups++;
		least.is_known &= temporal_is_known(order, i);
	}
	return least;
}

/* May the least be told from the other candidates, and as what? VERDICT_UNKNOWN: no. */
static enum verdict_kind kind_of(const struct verdict *verdict, const struct least *least)
{
	bool are_inside = rankset_contains(verdict->waiting, rankset_first(verdict->candidates));
	int num = rankset_count(least->ranks), num_candidates = rankset_count(verdict->candidates);
	int num_known = rankset_count(verdict->waiting) + (are_inside ? 0 : num_candidates);

	if (num == 0 || num == num_candidates)
		return VERDICT_UNKNOWN;
	if (!are_inside)
		return num * 2 < num_known ? VERDICT_COMPUTATION : VERDICT_UNKNOWN;
	if (least->num_groups > VERDICT_MAX_LEAST_GROUPS)
		return VERDICT_UNKNOWN;
	return least->num_groups == 1 ? VERDICT_LEAST : VERDICT_UNDECIDED;
}

void verdict_choose_by_order(struct verdict *verdict, const struct job *job,
			     const struct temporal_result *order)
{
	struct arena *scratch;
	const struct rankset *moving;
	enum verdict_kind kind;
	struct least least;

	if (rankset_is_empty(verdict->candidates))
		return;
	scratch = arena_create();
	moving = find_moving(verdict, job, order->temporal, scratch);
	least = find_least(verdict, order, scratch);
	kind = kind_of(verdict, &least);
	if (!rankset_is_empty(moving)) {
		acquit(verdict, moving);
	} else if (kind != VERDICT_UNKNOWN) {
		verdict_accuse_by_stacks(verdict, stack_facts_create(job, scratch), least.ranks,
					 kind);
		verdict->is_by_order = true;
		verdict->is_hang &= kind == VERDICT_COMPUTATION || least.is_known;
	}
	arena_destroy(scratch);
}
