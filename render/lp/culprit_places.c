/* SPDX-License-Identifier: BSD-3-Clause */

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

/* Ranks in one iteration of a loop, without culprits. */
struct others {
	uint64_t count;
	struct rankset *ranks;
};

SORTED_BY(compare_others, struct others, count)

/* The iterations that others who run the loop are in, ascending; *num_outside_ret are in none. */
static struct others *find_others(const struct view *view, uint32_t loop, size_t *num_ret,
				  int *num_outside_ret)
{
	struct others *others = arena_array(view->arena, view->groups->num_groups, sizeof(*others));
	struct rankset *outside = parts_set(view);
	size_t number = 0, kept = 0;

	for (uint32_t g = 0; g < view->groups->num_groups; g++) {
		const struct eqgroup *group = &view->groups->groups[g];
		const struct iteration *iteration = find_iteration(group->place, loop);
		struct rankset *ranks = parts_copy(view, group->ranks);

		rankset_remove_set(ranks, parts_culprits(view, g));
		if (group->role != view->progress->loops[loop].role || rankset_is_empty(ranks))
			continue;
		if (iteration)
			others[number++] = (struct others){iteration->count, ranks};
		else
			rankset_add_set(outside, ranks);
	}
	qsort(others, number, sizeof(*others), compare_others);
	for (size_t i = 0; i < number; i++)
		if (kept && others[kept - 1].count == others[i].count)
			rankset_add_set(others[kept - 1].ranks, others[i].ranks);
		else
			others[kept++] = others[i];
	*num_ret = kept;
	*num_outside_ret = rankset_count(outside);
	return others;
}

/* "; other ranks: 509 in iteration 413, 2 in 412, 3 outside this loop" */
static const char *others_text(const struct view *view, uint32_t loop, uint64_t own)
{
	struct text_list line = {.arena = view->arena};
	int num_outside;
	size_t number;
	const struct others *others = find_others(view, loop, &number, &num_outside);
	enum verdict_kind kind = view->verdict->kind;
	/* A rank that left something out may be ahead of the ranks that wait for it. */
	bool has_left_out =
		kind == VERDICT_LOST || kind == VERDICT_DEADLOCK || kind == VERDICT_MISMATCH;

	if (number == 1 && num_outside == 0 && others[0].count == own) {
		text_list_add(&line, "", ", as are all others");
	} else if (number == 1 && num_outside == 0) {
		text_list_add(&line, "",
			      text_of(view, "; all others %sin %" PRIu64,
				      has_left_out && own != UINT64_MAX && own > others[0].count
					      ? "still "
					      : "",
				      others[0].count));
	} else if (number > MAX_COUNTS) {
		text_list_add(&line, "",
			      text_of(view, "; other ranks in %" PRIu64 " to %" PRIu64,
				      others[0].count, others[number - 1].count));
	} else {
		for (size_t i = 0; i < number; i++)
			text_list_add(&line, ", ",
				      text_of(view,
					      i ? "%d in %" PRIu64
						: "; other ranks: %d in iteration %" PRIu64,
					      rankset_count(others[i].ranks), others[i].count));
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

/* NULL: there is no stack. */
static const char *place_of(const struct view *view, int rank, bool has_numbers)
{
	const struct sample *sample = samples_find(view->job->samples, rank, 0);
	const char *place, *wait = NULL;

	if (!sample || sample->status == SAMPLE_FAILED || sample->path == CALLPATH_NONE)
		return NULL;
	place = label_stack(view, sample->path);
	if (!label_mpi_call(view, sample->path))
		wait = label_thread_wait(view, sample, has_numbers);
	return wait ? text_of(view, "%s, %s", place, wait) : place;
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
