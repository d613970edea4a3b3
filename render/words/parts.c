/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/progress/eqgroup.h"
#include "analysis/verdict/verdict.h"
#include "model/blobs.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/text/json.h"
#include "render/words/parts.h"
#include "render/words/role.h"

enum {
	MARK_RANKS_WIDTH = 24, /* columns of the ranks in a mark */
	WHO_WIDTH = 30,        /* columns of the ranks in a sentence */
	MAX_ARTICLES = 120,    /* there may be a group for each rank */
};

int parts_num_ranks(const struct view *view)
{
	const struct job *job = view->job;

	if (job->proctable && job->proctable->size > 0)
		return job->proctable->size;
	return job->model ? rankset_count(job->model->ranks) : 0;
}

struct rankset *parts_set(const struct view *view)
{
	return rankset_in(view->arena, rankset_create());
}

struct rankset *parts_copy(const struct view *view, const struct rankset *ranks)
{
	return rankset_in(view->arena, rankset_copy(ranks));
}

struct rankset *parts_both(const struct view *view, const struct rankset *a,
			   const struct rankset *b)
{
	struct rankset *both = parts_copy(view, a);

	rankset_keep_set(both, b);
	return both;
}

struct rankset *parts_in_focus(const struct view *view, const struct rankset *ranks)
{
	return parts_both(view, ranks, view->focus ? view->focus : ranks);
}

/* Is the group one of the verdict's first `most` groups? */
static bool is_accused(const struct view *view, uint32_t group, size_t most)
{
	const struct verdict *verdict = view->verdict;

	for (size_t i = 0; i < verdict->num_culprit_groups && i < most; i++)
		if (verdict->culprit_groups[i] == group)
			return true;
	return false;
}

const char *parts_who(const struct view *view, const struct rankset *ranks)
{
	return label_who(view->arena, ranks, WHO_WIDTH);
}

const char *parts_plural(const struct rankset *ranks, const char *one, const char *many)
{
	return rankset_count(ranks) == 1 ? one : many;
}

bool parts_is_culprit(const struct view *view, uint32_t group)
{
	return is_accused(view, group, SIZE_MAX);
}

bool parts_has_article(const struct view *view, uint32_t group)
{
	return group < MAX_ARTICLES || is_accused(view, group, MAX_ARTICLES);
}

struct rankset *parts_culprits(const struct view *view, uint32_t group)
{
	return parts_is_culprit(view, group) ? parts_both(view, view->groups->groups[group].ranks,
							  view->verdict->culprits)
					     : parts_set(view);
}

const char *parts_mark(const struct view *view, uint32_t group, const struct rankset *shown)
{
	struct rankset *culprits = parts_both(view, parts_culprits(view, group), shown);
	const char *words = role_of(view)->mark;

	if (rankset_count(culprits) == rankset_count(shown))
		return words;
	if (rankset_is_empty(culprits))
		return NULL;
	return text_of(view, "%s: %s", words,
		       label_rank_list(view->arena, culprits, MARK_RANKS_WIDTH));
}

void parts_print_star(const struct view *view)
{
	const char *mark = role_of(view)->mark;

	if (mark)
		text_wrap(view, 2, "* %s", mark + strlen("<- "));
}

const char *parts_since(const struct view *view, const struct eqgroup *group)
{
	size_t moving = 0;
	const char *range;

	for (size_t i = 0; i < group->num_actors; i++)
		moving += view->job->model->lanes[group->actors[i]].has_moved;
	if (moving == group->num_actors && moving > 0)
		return "moving";
	range = label_time_range(view->arena, group->stay_min_ns, group->stay_max_ns);
	return moving == 0 ? range : text_of(view, "%s, %zu moving", range, moving);
}

const char *parts_stay(const struct view *view, const struct eqgroup *group)
{
	const char *since = parts_since(view, group);

	return strstr(since, "moving") ? since : text_of(view, "for %s", since);
}

/* The stack of a computing group's first thread, if it is complete; else CALLPATH_NONE. */
static uint32_t computing_path(const struct view *view, const struct eqgroup *group)
{
	const struct job_lane *lane = &view->job->model->lanes[group->actors[0]];
	const struct sample *sample;

	if (group->activity != ACTIVITY_COMPUTING || !view->job->samples)
		return CALLPATH_NONE;
	sample = samples_find(view->job->samples, lane->rank,
			      lane->data->is_main ? 0 : lane->data->tid);
	return sample && sample->status == SAMPLE_COMPLETE ? sample->path : CALLPATH_NONE;
}

size_t parts_num_iterations(const struct view *view, const struct eqgroup *group)
{
	const struct place *place = group->place;
	const struct job_loop *loops = view->progress->loops;
	uint32_t path = computing_path(view, group);

	/* Only an inner loop can be found to be over, and only if its states share more frames than
	 * those of the loop around it. The outermost loop may run in the computing frame itself. */
	for (size_t i = 1; path != CALLPATH_NONE && i < place->num_iterations; i++) {
		uint32_t inner = loops[place->iterations[i].loop].path;

		if (inner != loops[place->iterations[i - 1].loop].path &&
		    !callpaths_has_prefix(view->job->callpaths, path, inner))
			return i;
	}
	return place->num_iterations;
}

const char *parts_iterations(const struct view *view, const struct eqgroup *group)
{
	const struct place *place = group->place;
	bool is_frontier = place->num_iterations == 0;
	const struct iteration *iterations = is_frontier ? place->frontier : place->iterations;
	size_t number = is_frontier ? place->num_frontier : parts_num_iterations(view, group);
	struct text_list list = {view->arena, NULL};

	for (size_t i = 0; i < number; i++)
		text_list_add(&list, ", ", label_iteration(view->arena, &iterations[i]));
	if (is_frontier && number)
		text_list_add(&list, " ", "?");
	return list.text ? list.text : "";
}

const struct iteration *parts_outermost(const struct place *place)
{
	if (place->num_iterations)
		return &place->iterations[0];
	return place->num_frontier ? &place->frontier[0] : NULL;
}

size_t parts_lanes(const struct view *view, int rank, size_t *num_ret)
{
	*num_ret = 0;
	return view->job->model ? job_model_lanes(view->job->model, rank, num_ret) : 0;
}

void parts_print_lanes(const struct view *view,
		       void (*print)(const struct view *view, const struct job_lane *lane))
{
	size_t number, first;

	if (!parts_have_models(view))
		return;
	first = parts_lanes(view, view->answer->rank, &number);
	if (!number)
		parts_no_model(view, view->answer->rank);
	for (size_t i = first; i < first + number; i++)
		print(view, &view->job->model->lanes[i]);
}

uint32_t parts_group_of(const struct view *view, int rank)
{
	size_t number, first = parts_lanes(view, rank, &number);

	if (!number || !view->groups)
		return UINT32_MAX;
	for (size_t i = first; i < first + number; i++)
		if (view->job->model->lanes[i].data->is_main)
			return view->groups->group_of[i];
	return view->groups->group_of[first];
}

bool parts_have_models(const struct view *view)
{
	if (view->progress && view->groups && view->graph) {
		if (!view->groups->num_groups)
			text_wrap(view, 0, "No rank has called MPI yet.");
		return view->groups->num_groups;
	}
	text_wrap(view, 0,
		  "No rank of this job has a recorder: its loops and MPI calls are not known. "
		  "\"lp\" and \"bt\" use the stacks.");
	text_wrap(view, 0, "Start the job with \"pdb run -- mpirun ...\" next time.");
	return false;
}

void parts_no_model(const struct view *view, int rank)
{
	const char *why = job_find_hole(view->job, rank);

	if (why)
		text_wrap(view, 0, "Nothing is known of the MPI calls of rank %d: %s.", rank, why);
	else if (rank < 0 || rank >= parts_num_ranks(view))
		text_wrap(view, 0, "There is no rank %d in this job of %d ranks.", rank,
			  parts_num_ranks(view));
	else
		text_wrap(view, 0, "Nothing is known of the MPI calls of rank %d.", rank);
}

/* ---- The same of several ranks ---- */

static struct same_entry *entry_of(struct same *same, const char *text)
{
	uint32_t number;

	if (!same->texts)
		same->texts = blobs_in(same->arena);
	number = blobs_intern(same->texts, text, strlen(text));
	if (number < same->num)
		return &same->entries[number];
	*ARENA_PUSH(same->arena, same->entries, same->num, same->capacity) = (struct same_entry){
		.text = text, .ranks = rankset_in(same->arena, rankset_create())};
	return &same->entries[number];
}

struct same_entry *same_add(struct same *same, const char *text, int rank)
{
	struct same_entry *entry = entry_of(same, text);

	rankset_add(entry->ranks, rank);
	return entry;
}

void same_add_set(struct same *same, const char *text, const struct rankset *ranks)
{
	rankset_add_set(entry_of(same, text)->ranks, ranks);
}

static int compare_entries(const void *a, const void *b)
{
	const struct same_entry *one = a, *two = b;
	int ranks_one = rankset_count(one->ranks), ranks_two = rankset_count(two->ranks);

	if (ranks_one != ranks_two)
		return ranks_one > ranks_two ? -1 : 1;
	return rankset_first(one->ranks) < rankset_first(two->ranks) ? -1 : 1;
}

void same_sort(struct same *same)
{
	if (same->num)
		qsort(same->entries, same->num, sizeof(*same->entries), compare_entries);
}

size_t same_print(const struct same *same, const struct view *view, const char *link, size_t max)
{
	for (size_t i = 0; i < same->num && i < max; i++)
		text_wrap(view, 2, "%s%s%s", parts_who(view, same->entries[i].ranks), link,
			  same->entries[i].text);
	return same->num > max ? same->num - max : 0;
}

size_t same_count_from(const struct same *same, size_t first)
{
	size_t number = 0;

	for (size_t i = first; i < same->num; i++)
		number += (size_t)rankset_count(same->entries[i].ranks);
	return number;
}

void parts_json_iterations(struct json *json, const char *key, const struct iteration *iterations,
			   size_t num)
{
	JSON_OBJECTS(json, key, i, num) {
		json_count(json, "loop", iterations[i].loop + 1);
		json_count(json, "iteration", iterations[i].count);
		json_bool(json, "approximate", iterations[i].is_approximate);
	}
}

const char *parts_activity(const struct eqgroup *group)
{
	static const char *const activities[] = {
		[ACTIVITY_IN_MPI] = "in MPI",
		[ACTIVITY_POLLING] = "polling",
		[ACTIVITY_COMPUTING] = "computing",
		[ACTIVITY_ENDED] = "ended",
	};

	return activities[group->activity];
}

void parts_json_group(struct json *json, const struct view *view, uint32_t g,
		      const struct rankset *ranks)
{
	const struct eqgroup *group = &view->groups->groups[g];
	const struct job_lane *lane = &view->job->model->lanes[group->actors[0]];

	json_count(json, "group", g + 1);
	json_who(json, ranks);
	json_int(json, "thread", lane->data->is_main ? 0 : lane->lane);
	json_text(json, "activity", parts_activity(group));
	json_text(json, "function", view->job->model->sites[SEG_STATE_SITE(group->state)].name);
	json_text(json, "where", label_where(view, group, LABEL_FULL));
	parts_json_iterations(json, "iterations", group->place->iterations,
			      parts_num_iterations(view, group));
	parts_json_iterations(json, "last_iterations", group->place->frontier,
			      group->place->num_frontier);
	json_bool(json, "moving", group->has_moved);
	json_seconds(json, "shortest_stay_s", group->stay_min_ns);
	json_seconds(json, "longest_stay_s", group->stay_max_ns);
	json_ranks(json, "least_progressed", parts_culprits(view, g));
}
