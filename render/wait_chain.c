/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "analysis/progress/eqgroup.h"
#include "analysis/progress/progress.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waits/waitfor.h"
#include "model/arena.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/rankset.h"
#include "render/cause.h"
#include "render/json.h"
#include "render/label.h"
#include "render/parts.h"
#include "render/text.h"
#include "render/view.h"
#include "render/wait_chain.h"
#include "render/wait_label.h"

enum { STEP = 2, MAX_STEPS = 6 };

ARENA_DEFINE_IN(waitfor_chain)

/* ---- One step ---- */

/* Of a rank without a model. */
static void print_unseen(const struct view *view, int rank, int indent)
{
	const char *why = job_find_hole(view->job, rank);

	text_wrap(view, indent, "rank %d: %s", rank, why ? why : "no recorder");
}

static void print_place(const struct view *view, const struct waitfor_step *step, int indent)
{
	const struct job_lane *lane;
	const struct eqgroup *group;
	const char *iteration;

	if (step->lane == WAITFOR_NONE) {
		print_unseen(view, step->rank, indent);
		return;
	}
	lane = &view->job->model->lanes[step->lane];
	group = &view->groups->groups[view->groups->group_of[step->lane]];
	iteration = group->place->num_iterations
			    ? label_iteration(view->arena, &group->place->iterations[0])
			    : "";
	text_wrap(view, indent, "%s: %s%s%s%s%s", wait_label_who(view, step->lane),
		  wait_label_where(view, step->lane), lane->has_moved ? ", moving" : ", for ",
		  lane->has_moved ? "" : label_time(lane->stay_ns).text,
		  *iteration ? ", iteration " : "", iteration);
	if (rankset_contains(view->verdict->culprits, step->rank))
		text_wrap(view, indent + STEP, "%s",
			  view->verdict->kind == VERDICT_UNDECIDED ? "<- least progressed?"
								   : "<- least progressed");
}

/* What the step waits for, and how much more there is. */
static void print_need(const struct view *view, const struct waitfor_step *step, int indent)
{
	const struct waitfor_lane *lane = &view->waitfor->lanes[step->lane];
	size_t more = 0;

	for (uint32_t n = lane->first_need; n < lane->first_need + lane->num_needs; n++)
		more += n != step->need && !view->waitfor->needs[n].is_weak;
	text_wrap(view, indent, "waits for %s", wait_label_need(view, step->need));
	if (more && lane->is_or)
		text_wrap(view, indent, "or for any of %zu others: \"requests %d\"", more,
			  step->rank);
	else if (more)
		text_wrap(view, indent, "and for %zu more: \"requests %d\"", more, step->rank);
}

/* ---- The end ---- */

static const struct waitfor_mismatch *find_mismatch(const struct waitfor *waitfor,
						    const struct waitfor_step *step)
{
	uint32_t c;

	if (step->need == WAITFOR_NONE)
		return NULL;
	c = waitfor_collective_of(waitfor, waitfor->needs[step->need].node);
	if (c == WAITFOR_NONE || waitfor->collectives[c].mismatch == WAITFOR_NONE)
		return NULL;
	return &waitfor->mismatches[waitfor->collectives[c].mismatch];
}

/* Those with whom it is in a deadlock, itself among them, where the way is no longer than that;
 * NULL: it is. */
static const struct rankset *find_all_alike(const struct view *view,
					    const struct waitfor_chain *chain)
{
	const struct waitfor *waitfor = view->waitfor;

	if (chain->num_steps - chain->cycle_from > 1)
		return NULL;
	for (size_t d = 0; d < waitfor->num_deadlocks; d++)
		if (waitfor->deadlocks[d].num_cycle == 1 &&
		    waitfor->deadlocks[d].cycle[0].lane == chain->steps[chain->cycle_from].lane)
			return waitfor->deadlocks[d].ranks;
	return NULL;
}

static void print_again(const struct view *view, const struct waitfor_chain *chain, int indent)
{
	const struct rankset *alike = find_all_alike(view, chain);
	const char *who = alike ? parts_who(view, alike)
				: wait_label_who(view, chain->steps[chain->cycle_from].lane);

	if (!alike)
		text_wrap(view, indent, "%s is the one above: they wait for each other", who);
	else if (rankset_count(alike) == 1)
		text_wrap(view, indent, "%s waits for itself", who);
	else
		text_wrap(view, indent, "%s all wait so, for each other", who);
}

static void print_end(const struct view *view, const struct waitfor_chain *chain, int indent)
{
	const struct waitfor_step *last = &chain->steps[chain->num_steps - 1];
	const struct waitfor_mismatch *mismatch;
	const char *gap;

	switch (chain->end) {
	case WAITFOR_END_CYCLE:
		print_again(view, chain, indent);
		break;
	case WAITFOR_END_MOVES:
		text_wrap(view, indent, "it is moving: nothing wrong is seen there");
		break;
	case WAITFOR_END_LEFT:
		text_wrap(view, indent, "no message comes from it any more");
		break;
	case WAITFOR_END_LIBRARY:
		text_wrap(view, indent,
			  "nothing that it needs is missing: the library has not ended the call");
		break;
	case WAITFOR_END_UNKNOWN:
		gap = last->lane == WAITFOR_NONE ? NULL : wait_label_gap(view, last->lane);
		if (gap)
			text_wrap(view, indent, "what it waits for is not known: %s", gap);
		else
			text_wrap(
				view, indent,
				"it is waited for in turn: they wait for each other, as far as is "
				"known");
		break;
	case WAITFOR_END_MISMATCH:
		mismatch = find_mismatch(view->waitfor, last);
		if (mismatch)
			cause_print_mismatch(view, mismatch, indent);
		break;
	case WAITFOR_END_OUTSIDE:
	case WAITFOR_NUM_ENDS:
		break;
	}
}

/* "in the end it waits for 3 ranks: ..." where the way that is shown is not the only one. */
static void print_ends(const struct view *view, const struct waitfor_chain *chain)
{
	static const char *const words[WAITFOR_NUM_ENDS] = {
		[WAITFOR_END_CYCLE] = "that wait for each other",
		[WAITFOR_END_OUTSIDE] = "outside MPI",
		[WAITFOR_END_MOVES] = "moving",
		[WAITFOR_END_LEFT] = "that left MPI",
		[WAITFOR_END_LIBRARY] = "inside MPI with nothing missing",
		[WAITFOR_END_UNKNOWN] = "of which it is not known",
		[WAITFOR_END_MISMATCH] = "that call something else",
	};
	size_t number = 0;
	struct text_list list = {view->arena, NULL};

	for (int e = 0; e < WAITFOR_NUM_ENDS; e++) {
		const struct rankset *ranks = chain->ends[e];

		if (rankset_is_empty(ranks))
			continue;
		text_list_add(&list, ", ",
			      text_of(view, "%s %s", parts_who(view, ranks), words[e]));
		number += (size_t)rankset_count(ranks);
	}
	if (number > 1 && chain->end != WAITFOR_END_CYCLE && chain->end != WAITFOR_END_MISMATCH)
		text_wrap(view, 0, "In all, what it waits for ends at %s.", list.text);
}

/* ---- The way ---- */

/* NULL: nothing is known of waits. */
static const struct waitfor_chain *make_chain(const struct view *view, int rank)
{
	return view->waitfor
		       ? waitfor_chain_in(view->arena, waitfor_chain_create(view->waitfor, rank))
		       : NULL;
}

/* Does the way tell more than where the rank is? */
static bool tells(const struct waitfor_chain *chain)
{
	return chain->num_steps > 1 || chain->steps[0].need != WAITFOR_NONE ||
	       chain->end == WAITFOR_END_LIBRARY;
}

bool wait_chain_print(const struct view *view, int rank, uint32_t *group_ret, int *indent_ret)
{
	const struct waitfor_chain *chain = make_chain(view, rank);
	bool is_all = chain && tells(chain);
	int indent = 0;

	*group_ret = UINT32_MAX;
	*indent_ret = 0;
	if (!is_all)
		return false;
	for (size_t i = 0; i < chain->num_steps; i++) {
		const struct waitfor_step *step = &chain->steps[i];

		/* A long way, as in a pipeline: its beginning and its end. */
		if (chain->num_steps > MAX_STEPS && i == MAX_STEPS / 2) {
			text_wrap(view, indent, "... %zu more steps of this kind ...",
				  chain->num_steps - MAX_STEPS);
			i = chain->num_steps - MAX_STEPS / 2 - 1;
			continue;
		}
		print_place(view, step, indent);
		indent += STEP;
		if (step->need == WAITFOR_NONE)
			continue;
		print_need(view, step, indent);
		indent += STEP;
	}
	print_end(view, chain, indent);
	if (chain->end == WAITFOR_END_UNKNOWN &&
	    chain->steps[chain->num_steps - 1].lane != WAITFOR_NONE) {
		is_all = false;
		*indent_ret = indent;
		*group_ret = view->groups->group_of[chain->steps[chain->num_steps - 1].lane];
	} else {
		print_ends(view, chain);
	}
	return is_all;
}

/* ---- JSON ---- */

static void write_step(struct json *json, const struct view *view, const struct waitfor_step *step)
{
	json_object(json, NULL);
	json_int(json, "rank", step->rank);
	if (step->lane != WAITFOR_NONE) {
		const struct job_lane *lane = &view->job->model->lanes[step->lane];

		json_text(json, "where", wait_label_where(view, step->lane));
		json_seconds(json, "stay_s", lane->stay_ns);
		json_bool(json, "moving", lane->has_moved);
	}
	json_text(json, "waits_for",
		  step->need == WAITFOR_NONE ? NULL : wait_label_need(view, step->need));
	json_bool(json, "least_progressed", rankset_contains(view->verdict->culprits, step->rank));
	json_end_object(json);
}

void wait_chain_json(struct json *json, const struct view *view, int rank)
{
	static const char *const ends[WAITFOR_NUM_ENDS] = {
		[WAITFOR_END_CYCLE] = "cycle",       [WAITFOR_END_OUTSIDE] = "outside MPI",
		[WAITFOR_END_MOVES] = "moving",      [WAITFOR_END_LEFT] = "left MPI",
		[WAITFOR_END_LIBRARY] = "library",   [WAITFOR_END_UNKNOWN] = "unknown",
		[WAITFOR_END_MISMATCH] = "mismatch",
	};
	const struct waitfor_chain *chain = make_chain(view, rank);

	json_array(json, "steps");
	for (size_t i = 0; chain && i < chain->num_steps; i++)
		write_step(json, view, &chain->steps[i]);
	json_end_array(json);
	json_text(json, "end", chain ? ends[chain->end] : NULL);
	if (chain && chain->end == WAITFOR_END_CYCLE)
		json_count(json, "cycle_from", chain->cycle_from + 1);
}
