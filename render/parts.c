/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "analysis/progress/eqgroup.h"
#include "analysis/verdict/verdict.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/xalloc.h"
#include "render/json.h"
#include "render/label.h"
#include "render/parts.h"
#include "render/text.h"

/* Of the ranks in a mark. */
enum { MARK_RANKS_WIDTH = 24 };
/* Of the ranks in a sentence. */
enum { WHO_WIDTH = 30 };

int parts_num_ranks(const struct view *view)
{
	const struct job *job = view->job;

	if (job->proctable && job->proctable->size > 0)
		return job->proctable->size;
	return job->model ? rankset_count(job->model->ranks) : 0;
}

struct rankset *parts_in_focus(const struct view *view, const struct rankset *ranks)
{
	struct rankset *set = rankset_copy(ranks);

	if (view->focus)
		rankset_keep_set(set, view->focus);
	return set;
}

/* Is the group one of the first `most` that are accused? */
static bool is_accused(const struct view *view, uint32_t group, size_t most)
{
	const struct verdict *verdict = view->verdict;

	for (size_t i = 0; i < verdict->num_culprit_groups && i < most; i++) {
		if (verdict->culprit_groups[i] == group)
			return true;
	}
	return false;
}

char *parts_who(const struct rankset *ranks)
{
	return label_who(ranks, WHO_WIDTH);
}

bool parts_is_culprit(const struct view *view, uint32_t group)
{
	return is_accused(view, group, SIZE_MAX);
}

bool parts_has_article(const struct view *view, uint32_t group)
{
	return group < PARTS_MAX_ARTICLES || is_accused(view, group, PARTS_MAX_ARTICLES);
}

struct rankset *parts_culprits(const struct view *view, uint32_t group)
{
	struct rankset *culprits;

	if (!parts_is_culprit(view, group))
		return rankset_create();
	culprits = rankset_copy(view->groups->groups[group].ranks);
	rankset_keep_set(culprits, view->verdict->culprits);
	return culprits;
}

char *parts_mark_as(const struct view *view, uint32_t group, const struct rankset *shown,
		    const char *words)
{
	struct rankset *culprits = parts_culprits(view, group);
	char *mark = NULL;

	rankset_keep_set(culprits, shown);
	if (rankset_count(culprits) < rankset_count(shown)) {
		char *list = label_rank_list(culprits, MARK_RANKS_WIDTH);

		mark = rankset_is_empty(culprits) ? NULL : xasprintf("%s: %s", words, list);
		free(list);
	} else {
		mark = xstrdup(words);
	}
	rankset_destroy(culprits);
	return mark;
}

char *parts_mark(const struct view *view, uint32_t group, const struct rankset *shown)
{
	return parts_mark_as(view, group, shown,
			     view->verdict->kind == VERDICT_UNDECIDED ? "<- least progressed?"
								      : "<- least progressed");
}

char *parts_since(const struct view *view, const struct eqgroup *group)
{
	size_t moving = 0;
	char *range, *text;

	for (size_t i = 0; i < group->num_actors; i++)
		moving += view->job->model->lanes[group->actors[i]].has_moved;
	if (moving == group->num_actors && moving > 0)
		return xstrdup("moving");
	range = label_time_range(group->stay_min_ns, group->stay_max_ns);
	if (moving == 0)
		return range;
	text = xasprintf("%s, %zu moving", range, moving);
	free(range);
	return text;
}

/* The stack of a computing group's first thread, if it was seen whole; else CALLPATH_NONE. */
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
	const struct callpaths *paths = view->job->callpaths;
	const struct place *place = group->place;
	const struct job_loop *loops = view->progress->loops;
	uint32_t path = computing_path(view, group);

	/* The outermost loop may go round in the frame that computes, so nothing is said of it; nor
	 * of one whose states share no more frames than those of the loop around it. */
	for (size_t i = 1; path != CALLPATH_NONE && i < place->num_iterations; i++) {
		uint32_t inner = loops[place->iterations[i].loop].path;

		if (inner != loops[place->iterations[i - 1].loop].path &&
		    !callpaths_has_prefix(paths, path, inner))
			return i;
	}
	return place->num_iterations;
}

char *parts_iterations(const struct view *view, const struct eqgroup *group)
{
	const struct place *place = group->place;
	bool is_frontier = place->num_iterations == 0;
	const struct iteration *iterations = is_frontier ? place->frontier : place->iterations;
	size_t number = is_frontier ? place->num_frontier : parts_num_iterations(view, group);
	char *text = xstrdup("");

	for (size_t i = 0; i < number; i++) {
		char *count = label_iteration(&iterations[i]);
		char *longer = xasprintf("%s%s%s", text, i ? ", " : "", count);

		free(text);
		free(count);
		text = longer;
	}
	if (is_frontier && number) {
		char *marked = xasprintf("%s ?", text);

		free(text);
		text = marked;
	}
	return text;
}

size_t parts_lanes(const struct view *view, int rank, size_t *num_ret)
{
	*num_ret = 0;
	return view->job->model ? job_model_lanes(view->job->model, rank, num_ret) : 0;
}

uint32_t parts_group_of(const struct view *view, int rank)
{
	size_t number, first = parts_lanes(view, rank, &number);

	if (!number || !view->groups)
		return UINT32_MAX;
	for (size_t i = first; i < first + number; i++) {
		if (view->job->model->lanes[i].data->is_main)
			return view->groups->group_of[i];
	}
	return view->groups->group_of[first];
}

bool parts_have_models(const struct view *view)
{
	if (view->progress && view->groups && view->graph) {
		if (view->groups->num_groups)
			return true;
		text_wrap(view, 0, "No rank has called MPI yet.");
		return false;
	}
	text_wrap(view, 0,
		  "No rank of this job has a recorder, so nothing is known of its loops and MPI "
		  "calls. \"lp\" and \"bt\" use the stacks.");
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

/* ---- Holes ---- */

/* The ranks with one reason. */
struct reason {
	UT_hash_handle hh;
	const char *why;
	struct rankset *ranks;
};

void view_holes(const struct view *view)
{
	const struct job *job = view->job;
	struct reason *reasons = NULL, *reason, *next;

	for (size_t i = 0; i < job->num_holes; i++) {
		const char *why = job->holes[i].why;

		HASH_FIND_STR(reasons, why, reason);
		if (!reason) {
			reason = xcalloc(1, sizeof(*reason));
			reason->why = why;
			reason->ranks = rankset_create();
			HASH_ADD_KEYPTR(hh, reasons, why, strlen(why), reason);
		}
		rankset_add(reason->ranks, job->holes[i].rank);
	}
	HASH_ITER(hh, reasons, reason, next)
	{
		char *who = label_who(reason->ranks, 40);

		text_wrap(view, 0, "Not known: %s (%d of %d): %s.", who,
			  rankset_count(reason->ranks), parts_num_ranks(view), reason->why);
		free(who);
		HASH_DEL(reasons, reason);
		rankset_destroy(reason->ranks);
		free(reason);
	}
}

/* ---- JSON ---- */

void parts_json_iterations(struct json *json, const char *key, const struct iteration *iterations,
			   size_t num)
{
	json_array(json, key);
	for (size_t i = 0; i < num; i++) {
		json_object(json, NULL);
		json_count(json, "loop", iterations[i].loop + 1);
		json_count(json, "iteration", iterations[i].count);
		json_bool(json, "approximate", iterations[i].is_approximate);
		json_end_object(json);
	}
	json_end_array(json);
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
	struct rankset *culprits = parts_culprits(view, g);

	json_count(json, "group", g + 1);
	json_int(json, "count", rankset_count(ranks));
	json_ranks(json, "ranks", ranks);
	json_int(json, "thread", lane->data->is_main ? 0 : lane->lane);
	json_text(json, "activity", parts_activity(group));
	json_text(json, "function", view->job->model->sites[SEG_STATE_SITE(group->state)].name);
	json_label(json, "where", label_where(view->job, group, LABEL_FULL));
	parts_json_iterations(json, "iterations", group->place->iterations,
			      parts_num_iterations(view, group));
	parts_json_iterations(json, "last_iterations", group->place->frontier,
			      group->place->num_frontier);
	json_bool(json, "moving", group->has_moved);
	json_seconds(json, "shortest_stay_s", group->stay_min_ns);
	json_seconds(json, "longest_stay_s", group->stay_max_ns);
	json_ranks(json, "least_progressed", culprits);
	rankset_destroy(culprits);
}
