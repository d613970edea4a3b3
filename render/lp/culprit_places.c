/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/progress/eqgroup.h"
#include "analysis/progress/progress.h"
#include "analysis/verdict/verdict.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/lp/lp.h"
#include "render/words/parts.h"

enum { MAX_GROUPS = 4, MAX_PLACES = 4, MAX_COUNTS = 3 };

/* ---- By models ---- */

/* Print what its threads wait for outside MPI: once if that is the same for all. */
static void print_thread_wait(const struct view *view, const struct eqgroup *group)
{
	struct same waits = {.arena = view->arena};
	bool is_one = group->num_actors == 1;
	size_t num = 0, left;

	for (size_t i = 0; i < group->num_actors; i++) {
		const struct job_lane *lane = &view->job->model->lanes[group->actors[i]];
		const struct sample *sample =
			group->activity != ACTIVITY_COMPUTING
				? NULL
				: samples_find(view->job->samples, lane->rank,
					       lane->data->is_main ? 0 : lane->data->tid);
		const char *text = sample ? label_thread_wait(view, sample, is_one) : NULL;

		if (text)
			same_add(&waits, text, lane->rank);
		num += text != NULL;
	}
	if (num == group->num_actors && waits.num == 1) {
		text_wrap(view, 4, "%s", waits.entries[0].text);
		return;
	}
	same_sort(&waits);
	left = same_print(&waits, view, ": ", MAX_PLACES);
	if (left)
		text_wrap(view, 2, "and %zu more such waits", left);
}

/* name_ranks: also name the culprits in it. */
static void print_group(const struct view *view, const struct eqgroup *group, bool name_ranks)
{
	const char *who = parts_who(view, parts_both(view, group->ranks, view->verdict->culprits));

	text_wrap(view, 2, "%s%s%s, %s", name_ranks ? who : "", name_ranks ? ": " : "",
		  label_where(view, group, LABEL_FULL), parts_stay(view, group));
	print_thread_wait(view, group);
}

static const struct iteration *find_iteration(const struct place *place, uint32_t loop)
{
	for (size_t i = 0; i < place->num_iterations; i++)
		if (place->iterations[i].loop == loop)
			return &place->iterations[i];
	return NULL;
}

static const struct rankset *without_culprits(const struct view *view, uint32_t group)
{
	struct rankset *ranks = parts_copy(view, view->groups->groups[group].ranks);

	rankset_remove_set(ranks, parts_culprits(view, group));
	return ranks;
}

/* Ranks that run this loop, without culprits: those in iteration *count, or with count NULL those
 * in no iteration. */
static struct rankset *others_in(const struct view *view, uint32_t loop, uint64_t *count)
{
	struct rankset *ranks = parts_set(view);

	for (uint32_t g = 0; g < view->groups->num_groups; g++) {
		const struct eqgroup *group = &view->groups->groups[g];
		const struct iteration *iteration = find_iteration(group->place, loop);

		if (group->role != view->progress->loops[loop].role)
			continue;
		if (count ? iteration && iteration->count == *count : !iteration)
			rankset_add_set(ranks, without_culprits(view, g));
	}
	return ranks;
}

static int compare_counts(const void *a, const void *b)
{
	uint64_t count_a = *(const uint64_t *)a, count_b = *(const uint64_t *)b;

	return (count_a > count_b) - (count_a < count_b);
}

/* The distinct iterations of the other ranks, ascending. */
static uint64_t *other_counts(const struct view *view, uint32_t loop, size_t *num_ret)
{
	uint64_t *counts = arena_array(view->arena, view->groups->num_groups, sizeof(*counts));
	size_t number = 0, kept = 0;

	for (uint32_t g = 0; g < view->groups->num_groups; g++) {
		const struct eqgroup *group = &view->groups->groups[g];
		const struct iteration *iteration = find_iteration(group->place, loop);

		if (group->role == view->progress->loops[loop].role && iteration &&
		    !rankset_is_empty(without_culprits(view, g)))
			counts[number++] = iteration->count;
	}
	qsort(counts, number, sizeof(*counts), compare_counts);
	for (size_t i = 0; i < number; i++)
		if (!kept || counts[kept - 1] != counts[i])
			counts[kept++] = counts[i];
	*num_ret = kept;
	return counts;
}

/* "; other ranks: 509 in iteration 413, 2 in 412, 3 outside this loop" */
static const char *others_text(const struct view *view, uint32_t loop, uint64_t own)
{
	struct text_list line = {.arena = view->arena};
	int num_outside = rankset_count(others_in(view, loop, NULL));
	size_t number;
	uint64_t *counts = other_counts(view, loop, &number);
	enum verdict_kind kind = view->verdict->kind;
	/* A rank that left something out may be ahead of the ranks that wait for it. */
	bool has_left_out =
		kind == VERDICT_LOST || kind == VERDICT_DEADLOCK || kind == VERDICT_MISMATCH;

	if (number == 1 && num_outside == 0 && counts[0] == own) {
		text_list_add(&line, "", ", as are all others");
	} else if (number == 1 && num_outside == 0) {
		text_list_add(&line, "",
			      text_of(view, "; all others %sin %" PRIu64,
				      has_left_out && own != UINT64_MAX && own > counts[0]
					      ? "still "
					      : "",
				      counts[0]));
	} else if (number > MAX_COUNTS) {
		text_list_add(&line, "",
			      text_of(view, "; other ranks in %" PRIu64 " to %" PRIu64, counts[0],
				      counts[number - 1]));
	} else {
		for (size_t i = 0; i < number; i++)
			text_list_add(&line, ", ",
				      text_of(view,
					      i ? "%d in %" PRIu64
						: "; other ranks: %d in iteration %" PRIu64,
					      rankset_count(others_in(view, loop, &counts[i])),
					      counts[i]));
	}
	if (num_outside && number)
		text_list_add(&line, ", ", text_of(view, "%d outside this loop", num_outside));
	else if (num_outside)
		text_list_add(&line, "",
			      text_of(view, "; %d other %s outside this loop", num_outside,
				      num_outside == 1 ? "rank is" : "ranks are"));
	return line.text ? line.text : "";
}

/* Are both in the same loops and the same iterations? */
static bool is_same_place(const struct place *a, const struct place *b)
{
	if (a->num_iterations != b->num_iterations || a->num_iterations == 0)
		return false;
	for (size_t i = 0; i < a->num_iterations; i++)
		if (a->iterations[i].loop != b->iterations[i].loop ||
		    a->iterations[i].count != b->iterations[i].count)
			return false;
	return true;
}

static void print_loops(const struct view *view, const struct eqgroup *group)
{
	const struct place *place = group->place;
	bool is_frontier = place->num_iterations == 0;
	size_t number = is_frontier ? place->num_frontier : parts_num_iterations(view, group);

	for (size_t i = 0; i < number; i++) {
		const struct iteration *iteration =
			is_frontier ? &place->frontier[i] : &place->iterations[i];

		text_wrap(view, 2,
			  is_frontier ? "%s: iteration %s was the last before this place%s"
				      : "%s: in iteration %s%s",
			  label_loop(view, iteration->loop, LABEL_FULL),
			  label_iteration(view->arena, iteration),
			  others_text(view, iteration->loop,
				      is_frontier ? UINT64_MAX : iteration->count));
	}
}

void culprit_places_print(const struct view *view, bool has_places)
{
	const struct verdict *verdict = view->verdict;
	size_t number = verdict->num_culprit_groups;
	const struct place *told = NULL;
	bool is_lost = verdict->kind == VERDICT_LOST;

	for (size_t i = 0; i < number && i < MAX_GROUPS; i++) {
		const struct eqgroup *group = &view->groups->groups[verdict->culprit_groups[i]];

		if (!has_places)
			print_group(view, group, number > 1 || is_lost);
		if (i > 0 && (number > 2 || is_same_place(told, group->place)))
			continue;
		print_loops(view, group);
		told = group->place;
	}
	if (number > MAX_GROUPS && !has_places)
		text_wrap(view, 2, "and %zu more groups, see \"groups\"", number - MAX_GROUPS);
}

/* ---- By stacks ---- */

static const struct sample *find_sample(const struct job *job, int rank)
{
	const struct sample *sample = samples_find(job->samples, rank, 0);
	bool has_stack = sample && sample->status != SAMPLE_FAILED && sample->path != CALLPATH_NONE;

	return has_stack ? sample : NULL;
}

static const char *place_of(const struct view *view, int rank, bool has_numbers)
{
	const struct sample *sample = find_sample(view->job, rank);
	const char *place = sample ? label_stack(view, sample->path) : NULL;
	const char *wait = NULL;

	if (sample && !label_mpi_call(view, sample->path))
		wait = label_thread_wait(view, sample, has_numbers);
	return wait ? text_of(view, "%s, %s", place, wait) : place;
}

const char *stack_place(const struct view *view, int rank)
{
	return place_of(view, rank, true);
}

const char *stack_call(const struct view *view, int rank)
{
	const struct sample *sample = find_sample(view->job, rank);

	return sample ? label_mpi_call(view, sample->path) : NULL;
}

void stack_places_print(const struct view *view, const struct rankset *ranks)
{
	struct same places = {.arena = view->arena};
	bool is_one = rankset_count(ranks) == 1;
	size_t left;

	for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r)) {
		const char *place = place_of(view, r, is_one);

		if (place)
			same_add(&places, place, r);
	}
	same_sort(&places);
	left = same_print(&places, view, ": in ", MAX_PLACES);
	if (left)
		text_wrap(view, 2, "and in %zu other places", left);
}
