/* SPDX-License-Identifier: BSD-3-Clause
 * The chain from one rank to the cause. It follows the waits; where these end without a cause, it
 * goes down the progress graph to the least progressed, one step at a time. */
#include "analysis/progress/eqgroup.h"
#include "analysis/progress/loop_nest.h"
#include "analysis/progress/progress.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waits/waitfor.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/lp/lp.h"
#include "render/text/json.h"
#include "render/words/parts.h"
#include "render/words/role.h"

enum { STEP = 2, MAX_STEPS = 6 };

/* ---- Along the waits: one step ---- */

static uint64_t stay_of(const struct actor *actor)
{
	return actor->lane ? actor->lane->stay_ns : actor->stay_ns;
}

static const char *find_blocked(const struct view *view, const struct actor *actor)
{
	const struct sample *sample = samples_find(view->job->samples, actor->rank, 0);

	if (sample && actor->activity == ACTIVITY_COMPUTING)
		return label_thread_wait(view, sample, true);
	return sample ? label_blocked(view, sample) : NULL;
}

static void print_waiting(const struct view *view, const struct waitfor_step *step, int indent)
{
	const struct actor *actor;
	const struct eqgroup *group;
	const char *iteration = "", *blocked, *limit;
	bool is_moving;

	if (step->actor == WAITFOR_NONE) {
		const struct job_end *end = job_find_end(view->job, step->rank);
		const char *why = job_find_hole(view->job, step->rank);

		if (end)
			why = text_of(view, "process %s", label_end(view->arena, end));
		text_wrap(view, indent, "rank %d: %s", step->rank, why ? why : "no recorder");
		return;
	}
	actor = &view->waitfor->evidence->actors[step->actor];
	if (actor->lane) {
		group = &view->groups->groups[view->groups->group_of[step->actor]];
		if (group->place->num_iterations)
			iteration = label_iteration(view->arena, &group->place->iterations[0]);
	}
	is_moving = actor->lane ? actor->lane->has_moved : actor->activity == ACTIVITY_MOVES;
	text_wrap(view, indent, "%s: %s%s%s%s%s", label_wait_who(view, step->actor),
		  label_wait_where(view, step->actor, LABEL_FULL),
		  is_moving ? ", moving" : ", for ",
		  is_moving ? "" : label_time(stay_of(actor)).text,
		  *iteration ? ", iteration " : "", iteration);
	if (rankset_contains(view->verdict->culprits, step->rank))
		text_wrap(view, indent + STEP, "%s", role_of(view)->mark);
	/* Of others it is in the line above. */
	blocked = actor->lane && actor->is_main ? find_blocked(view, actor) : NULL;
	if (blocked)
		text_wrap(view, indent + STEP, "%s", blocked);
	limit = samples_limit(view->job->samples, step->rank);
	if (limit)
		text_wrap(view, indent + STEP, "%s", limit);
	if (job_find_end(view->job, step->rank))
		text_wrap(view, indent + STEP, "%s", label_process(view, step->rank));
}

/* What the step waits for, and how much else. */
static void print_need(const struct view *view, const struct waitfor_step *step, int indent)
{
	const struct waitfor_actor *lane = &view->waitfor->actors[step->actor];
	const struct waitfor_need *need = NULL;
	size_t more = 0;

	while ((need = waitfor_next_need(view->waitfor, step->actor, need)))
		more += need != step->need && !need->is_weak;
	text_wrap(view, indent, "waits for %s", label_wait_need(view, step->need));
	cause_print_unstarted(view, step->need, indent + STEP);
	if (more && step->need->kind == WAITFOR_PART)
		text_wrap(view, indent, "or for the part of any of %zu more", more);
	else if (more && lane->is_or)
		text_wrap(view, indent, "or for any of %zu more: \"requests %d\"", more,
			  step->rank);
	else if (more)
		text_wrap(view, indent, "and for %zu more: \"requests %d\"", more, step->rank);
}

/* ---- The end ---- */

static const struct waitfor_mismatch *find_mismatch(const struct waitfor *waitfor,
						    const struct waitfor_step *step)
{
	uint32_t c;

	if (!step->need) {
		c = step->actor == WAITFOR_NONE ? WAITFOR_NONE
						: waitfor_mismatch_of(waitfor, step->actor);
		return c == WAITFOR_NONE ? NULL : &waitfor->mismatches[c];
	}
	c = waitfor_collective_of(waitfor, step->need->node);
	if (c == WAITFOR_NONE || waitfor->collectives[c].mismatch == WAITFOR_NONE)
		return NULL;
	return &waitfor->mismatches[waitfor->collectives[c].mismatch];
}

/* The ranks of the deadlock at the end of the chain, if its circle is one step; NULL: it is
 * longer. */
static const struct rankset *find_all_alike(const struct view *view,
					    const struct waitfor_chain *chain)
{
	const struct waitfor *waitfor = view->waitfor;

	if (chain->num_steps - chain->cycle_from > 1)
		return NULL;
	for (size_t d = 0; d < waitfor->num_deadlocks; d++)
		if (waitfor->deadlocks[d].num_cycle == 1 &&
		    waitfor->deadlocks[d].cycle[0].actor == chain->steps[chain->cycle_from].actor)
			return waitfor->deadlocks[d].ranks;
	return NULL;
}

static void print_again(const struct view *view, const struct waitfor_chain *chain, int indent)
{
	const struct rankset *alike = find_all_alike(view, chain);
	const char *who = alike ? parts_who(view, alike)
				: label_wait_who(view, chain->steps[chain->cycle_from].actor);

	if (!alike)
		text_wrap(view, indent, "%s is the one above: these wait for each other", who);
	else if (rankset_count(alike) == 1)
		text_wrap(view, indent, "%s waits for itself", who);
	else
		text_wrap(view, indent, "%s all wait in this way, for each other", who);
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
		text_wrap(view, indent, "it is making progress: nothing is wrong there");
		break;
	case WAITFOR_END_LEFT:
		text_wrap(view, indent, "no message comes from it any more");
		break;
	case WAITFOR_END_LIBRARY:
		text_wrap(
			view, indent,
			"nothing that it needs is missing, but the library does not end the call");
		break;
	case WAITFOR_END_UNKNOWN:
		gap = last->actor == WAITFOR_NONE ? NULL : label_wait_gap(view, last->actor);
		if (gap)
			text_wrap(view, indent, "what it waits for is not known: %s", gap);
		else
			text_wrap(view, indent,
				  "others wait for it in turn: as far as is known, they wait for "
				  "each other");
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

/* "in the end it waits for 3 ranks: ..." if there are other chains than the one shown. */
static void print_ends(const struct view *view, const struct waitfor_chain *chain)
{
	static const char *const words[WAITFOR_NUM_ENDS] = {
		[WAITFOR_END_CYCLE] = "that wait for each other",
		[WAITFOR_END_OUTSIDE] = "outside MPI",
		[WAITFOR_END_MOVES] = "making progress",
		[WAITFOR_END_LEFT] = "that left MPI",
		[WAITFOR_END_LIBRARY] = "inside MPI with nothing missing",
		[WAITFOR_END_UNKNOWN] = "whose waits are not known",
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
		text_wrap(view, 0, "All its waits lead to %s.", list.text);
}

/* ---- All steps ---- */

/* NULL: waits are not known */
static const struct waitfor_chain *make_chain(const struct view *view, int rank)
{
	return view->waitfor ? waitfor_find_chain(view->waitfor, rank, view->arena) : NULL;
}

/* Is the end of the chain in the progress order? */
static bool is_recorded(const struct view *view, const struct waitfor_chain *chain)
{
	uint32_t end = chain->steps[chain->num_steps - 1].actor;

	return end != WAITFOR_NONE && view->waitfor->evidence->actors[end].lane;
}

/* Print the chain of waits. False: the progress order may show more, from *group_ret on
 * (UINT32_MAX: it cannot). *indent_ret: the indent for that, 0: nothing is printed. */
static bool print_chain(const struct view *view, int rank, uint32_t *group_ret, int *indent_ret)
{
	const struct waitfor_chain *chain = make_chain(view, rank);
	/* Does the chain show more than the rank's place? */
	bool is_all =
		chain && (chain->num_steps > 1 || chain->steps[0].need ||
			  chain->end == WAITFOR_END_LIBRARY || chain->end == WAITFOR_END_MISMATCH);
	int indent = 0;

	*group_ret = UINT32_MAX;
	*indent_ret = 0;
	if (!is_all)
		return false;
	for (size_t i = 0; i < chain->num_steps; i++) {
		const struct waitfor_step *step = &chain->steps[i];

		/* A long way, as in a pipeline: its beginning and its end. */
		if (chain->num_steps > MAX_STEPS && i == MAX_STEPS / 2) {
			text_wrap(view, indent, "... %zu more steps like these ...",
				  chain->num_steps - MAX_STEPS);
			i = chain->num_steps - MAX_STEPS / 2 - 1;
			continue;
		}
		print_waiting(view, step, indent);
		indent += STEP;
		if (!step->need)
			continue;
		print_need(view, step, indent);
		indent += STEP;
	}
	print_end(view, chain, indent);
	if (chain->end == WAITFOR_END_UNKNOWN && is_recorded(view, chain)) {
		is_all = false;
		*indent_ret = indent;
		*group_ret = view->groups->group_of[chain->steps[chain->num_steps - 1].actor];
	} else {
		print_ends(view, chain);
	}
	return is_all;
}

/* ---- Along the order of progress ---- */

static int compare_from(const void *key, const void *element)
{
	uint32_t from = *(const uint32_t *)key;
	const struct progress_edge *edge = element;

	return (from > edge->from) - (from < edge->from);
}

/* The shortest path from `start` to a culprit, else to a group that none is behind. Returns numbers
 * of edges, the first step first. */
static size_t *find_way(const struct view *view, uint32_t start, size_t *num_ret)
{
	const struct progress_graph *graph = view->graph;
	size_t num_groups = view->groups->num_groups, head = 0, tail = 0, length = 0;
	uint32_t *queue = arena_array(view->arena, num_groups, sizeof(*queue)), goal = UINT32_MAX;
	size_t *by_edge = arena_array(view->arena, num_groups, sizeof(*by_edge)), *way;
	bool *is_seen = arena_array(view->arena, num_groups, sizeof(*is_seen)), is_culprit = false;

	queue[tail++] = start;
	is_seen[start] = true;
	while (head < tail && !is_culprit) {
		uint32_t from = queue[head++];

		is_culprit = from != start && parts_is_culprit(view, from);
		if (is_culprit || (goal == UINT32_MAX && graph->is_least[from]))
			goal = from;
		/* Edges are sorted. */
		for (size_t e = sorted_first(&from, graph->edges, graph->num_edges,
					     sizeof(*graph->edges), compare_from);
		     !is_culprit && e < graph->num_edges && graph->edges[e].from == from; e++) {
			uint32_t to = graph->edges[e].to;

			if (is_seen[to])
				continue;
			is_seen[to] = true;
			by_edge[to] = e;
			queue[tail++] = to;
		}
	}
	for (uint32_t g = goal; g != UINT32_MAX && g != start; g = graph->edges[by_edge[g]].from)
		length++;
	way = arena_array(view->arena, length, sizeof(*way));
	*num_ret = length;
	for (uint32_t g = goal; length > 0; g = graph->edges[by_edge[g]].from)
		way[--length] = by_edge[g];
	return way;
}

static const struct iteration *find_iteration(const struct place *place, uint32_t loop)
{
	for (size_t i = 0; i < place->num_iterations; i++)
		if (place->iterations[i].loop == loop)
			return &place->iterations[i];
	for (size_t i = 0; i < place->num_frontier; i++)
		if (place->frontier[i].loop == loop)
			return &place->frontier[i];
	return NULL;
}

/* A group's place, stay and iterations. */
static void print_place(const struct view *view, uint32_t g, const char *who, int indent)
{
	const struct eqgroup *group = &view->groups->groups[g];
	const char *mark = parts_mark(view, g, group->ranks);
	const struct place *place = group->place;
	bool is_frontier = place->num_iterations == 0;
	size_t number = is_frontier ? place->num_frontier : parts_num_iterations(view, group);

	text_wrap(view, indent, "%s: %s, %s", who, label_where(view, group, LABEL_FULL),
		  parts_stay(view, group));
	for (size_t i = 0; i < number; i++) {
		const struct iteration *iteration =
			is_frontier ? &place->frontier[i] : &place->iterations[i];

		text_wrap(view, indent + STEP, "%s: %siteration %s",
			  label_loop(view, iteration->loop, LABEL_SHORT),
			  is_frontier ? "last seen in " : "",
			  label_iteration(view->arena, iteration));
	}
	if (mark)
		text_wrap(view, indent + STEP, "%s", mark);
}

/* Do they share a loop, and are they in the same iteration of all shared ones? */
static bool is_same_iteration(const struct place *a, const struct place *b)
{
	size_t i;

	for (i = 0; i < a->num_iterations && i < b->num_iterations; i++) {
		if (a->iterations[i].loop != b->iterations[i].loop)
			break;
		if (a->iterations[i].count != b->iterations[i].count)
			return false;
	}
	return i > 0;
}

/* Why the target of the edge is less progressed than its source. */
static void print_reason(const struct view *view, const struct progress_edge *edge, int indent)
{
	const struct place *from = view->groups->groups[edge->from].place;
	const struct place *to = view->groups->groups[edge->to].place;
	const struct iteration *ahead, *behind;
	const char *loop;

	if (edge->loop == LOOP_NONE) {
		text_wrap(view, indent, "less progressed, at an earlier place of the %s:",
			  is_same_iteration(from, to) ? "same iteration" : "program");
		return;
	}
	loop = label_loop(view, edge->loop, LABEL_SHORT);
	ahead = find_iteration(from, edge->loop);
	behind = find_iteration(to, edge->loop);
	if (ahead && behind && ahead->count != behind->count) {
		text_wrap(view, indent, "less progressed, in iteration %s, not %s, of %s:",
			  label_iteration(view->arena, behind), label_iteration(view->arena, ahead),
			  loop);
	} else {
		text_wrap(view, indent, "less progressed in %s:", loop);
	}
}

static const char *with_others(const struct view *view, const struct eqgroup *group, int rank)
{
	int others = rankset_count(group->ranks) - 1;

	if (others == 0)
		return text_of(view, "rank %d", rank);
	return text_of(view, "rank %d and %d other%s", rank, others, others == 1 ? "" : "s");
}

/* The chain has ended at a group that the verdict does not name. */
static void print_no_way(const struct view *view, int indent)
{
	const struct verdict *verdict = view->verdict;
	const char *who;

	text_wrap(view, indent, "no rank is known to be further behind");
	if (rankset_is_empty(verdict->culprits))
		return;
	who = parts_who(view, verdict->culprits);
	if (verdict->kind == VERDICT_LEAST || verdict->kind == VERDICT_UNDECIDED)
		text_wrap(view, indent, "least progressed elsewhere: %s, see \"lp\"", who);
	else
		text_wrap(view, indent,
			  "%s hold%s up the others, though no order shows it: see \"lp\"", who,
			  parts_plural(verdict->culprits, "s", ""));
}

/* Go on from group `start`, whose place is already printed, along the progress graph. */
static void print_way(const struct view *view, uint32_t start, int indent)
{
	size_t number, *way = find_way(view, start, &number);

	for (size_t i = 0; i < number; i++) {
		const struct progress_edge *edge = &view->graph->edges[way[i]];

		/* A long way, as in a pipeline: its beginning and its end. */
		if (number > MAX_STEPS && i == MAX_STEPS / 2) {
			text_wrap(view, indent + STEP, "... %zu more steps like these ...",
				  number - MAX_STEPS);
			i = number - MAX_STEPS / 2 - 1;
			continue;
		}
		indent += STEP;
		print_reason(view, edge, indent);
		indent += STEP;
		print_place(view, edge->to, parts_who(view, view->groups->groups[edge->to].ranks),
			    indent);
		start = edge->to;
	}
	if (!parts_is_culprit(view, start))
		print_no_way(view, indent + STEP);
}

/* By the progress order alone. */
static void print_order(const struct view *view, int rank, uint32_t start)
{
	print_place(view, start, with_others(view, &view->groups->groups[start], rank), 0);
	if (parts_is_culprit(view, start))
		text_wrap(view, STEP, "\"lp\" shows the evidence");
	else
		print_way(view, start, 0);
}

/* The place of a rank about which nothing else is known. */
static void print_alone(const struct view *view, int rank)
{
	const struct waitfor_chain *chain = make_chain(view, rank);

	if (!chain || chain->steps[0].actor == WAITFOR_NONE) {
		parts_no_model(view, rank);
		return;
	}
	print_waiting(view, &chain->steps[0], 0);
	print_end(view, chain, STEP);
}

static void print_why(const struct view *view)
{
	int rank = view->answer->rank, indent;
	uint32_t start = parts_group_of(view, rank), from;

	if (print_chain(view, rank, &from, &indent))
		return;
	if (indent == 0 && start == UINT32_MAX)
		print_alone(view, rank);
	else if (indent == 0)
		print_order(view, rank, start);
	else if (!parts_is_culprit(view, from))
		print_way(view, from, indent - STEP);
}

void view_why(const struct view *view)
{
	print_why(view);
	view_cause_glance(view, 0);
}

/* ---- JSON ---- */

static void write_step(struct json *json, const struct view *view, const struct waitfor_step *step)
{
	json_int(json, "rank", step->rank);
	if (step->actor != WAITFOR_NONE) {
		const struct actor *actor = &view->waitfor->evidence->actors[step->actor];

		json_text(json, "where", label_wait_where(view, step->actor, LABEL_FULL));
		json_seconds(json, "stay_s", stay_of(actor));
		json_bool(json, "moving",
			  actor->lane ? actor->lane->has_moved : actor->activity == ACTIVITY_MOVES);
	}
	json_text(json, "waits_for", step->need ? label_wait_need(view, step->need) : NULL);
	json_bool(json, "least_progressed", rankset_contains(view->verdict->culprits, step->rank));
}

static void write_chain(struct json *json, const struct view *view, int rank)
{
	static const char *const ends[WAITFOR_NUM_ENDS] = {
		[WAITFOR_END_CYCLE] = "cycle",           [WAITFOR_END_OUTSIDE] = "outside MPI",
		[WAITFOR_END_MOVES] = "making progress", [WAITFOR_END_LEFT] = "left MPI",
		[WAITFOR_END_LIBRARY] = "library",       [WAITFOR_END_UNKNOWN] = "unknown",
		[WAITFOR_END_MISMATCH] = "mismatch",
	};
	const struct waitfor_chain *chain = make_chain(view, rank);

	JSON_OBJECTS(json, "steps", i, chain ? chain->num_steps : 0)
		write_step(json, view, &chain->steps[i]);
	json_text(json, "end", chain ? ends[chain->end] : NULL);
	if (chain && chain->end == WAITFOR_END_CYCLE)
		json_count(json, "cycle_from", chain->cycle_from + 1);
}

void view_why_json(const struct view *view)
{
	struct json *json = view->json;

	json_int(json, "rank", view->answer->rank);
	write_chain(json, view, view->answer->rank);
	view_cause_glance_json(view);
	json_lines(json, "text", view, view_why);
}
