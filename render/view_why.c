/* SPDX-License-Identifier: BSD-3-Clause
 * From one rank down the progress graph to the least progressed, a step at a time. */
#include <string.h>

#include "analysis/progress/eqgroup.h"
#include "analysis/progress/loop_nest.h"
#include "analysis/progress/progress.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waits/queue_waits.h"
#include "model/arena.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "model/sorted.h"
#include "render/json.h"
#include "render/label.h"
#include "render/parts.h"
#include "render/text.h"
#include "render/wait_chain.h"

enum { STEP = 2, MAX_STEPS = 6 };

static int compare_from(const void *key, const void *element)
{
	uint32_t from = *(const uint32_t *)key;
	const struct progress_edge *edge = element;

	return (from > edge->from) - (from < edge->from);
}

/* The first edge that leaves a group: edges are sorted. */
static size_t first_edge(const struct progress_graph *graph, uint32_t from)
{
	return sorted_first(&from, graph->edges, graph->num_edges, sizeof(*graph->edges),
			    compare_from);
}

/* The way from `start` to the nearest culprit, else to the nearest group that nothing is behind:
 * breadth first, so the shortest. Returns edges by number, the first step first. The caller
 * frees. */
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
		for (size_t e = first_edge(graph, from);
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
	for (size_t i = 0; i < place->num_iterations; i++) {
		if (place->iterations[i].loop == loop)
			return &place->iterations[i];
	}
	for (size_t i = 0; i < place->num_frontier; i++) {
		if (place->frontier[i].loop == loop)
			return &place->frontier[i];
	}
	return NULL;
}

/* Where a group is, since when, in which iterations. */
static void print_place(const struct view *view, uint32_t g, const char *who, int indent)
{
	const struct eqgroup *group = &view->groups->groups[g];
	const char *since = parts_since(view, group);
	const char *mark = parts_mark(view, g, group->ranks);
	const struct place *place = group->place;
	bool is_frontier = place->num_iterations == 0;
	size_t number = is_frontier ? place->num_frontier : parts_num_iterations(view, group);

	text_wrap(view, indent, "%s: %s%s%s", who, label_where(view, group, LABEL_FULL),
		  strstr(since, "moving") ? ", " : ", for ", since);
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

/* Do they share a loop, and are they in the same iteration of all that they share? */
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

/* What makes the target of the edge less progressed than its source. */
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

/* The way has ended at a group that the verdict does not name. */
static void print_no_way(const struct view *view, int indent)
{
	const struct verdict *verdict = view->verdict;
	const char *who;

	text_wrap(view, indent, "no rank is known to be further behind than this");
	if (rankset_is_empty(verdict->culprits))
		return;
	who = parts_who(view, verdict->culprits);
	if (verdict->kind == VERDICT_LEAST || verdict->kind == VERDICT_UNDECIDED)
		text_wrap(view, indent, "least progressed elsewhere: %s, see \"lp\"", who);
	else
		text_wrap(view, indent,
			  "%s hold%s the others up, though no order shows it: see \"lp\"", who,
			  rankset_count(verdict->culprits) == 1 ? "s" : "");
}

/* From group `start`, whose place is told, along the progress graph. */
static void print_way(const struct view *view, uint32_t start, int indent)
{
	const struct eqgroups *groups = view->groups;
	size_t number, *way = find_way(view, start, &number);

	for (size_t i = 0; i < number; i++) {
		const struct progress_edge *edge = &view->graph->edges[way[i]];

		/* A long way, as in a pipeline: its beginning and its end. */
		if (number > MAX_STEPS && i == MAX_STEPS / 2) {
			text_wrap(view, indent + STEP, "... %zu more steps of this kind ...",
				  number - MAX_STEPS);
			i = number - MAX_STEPS / 2 - 1;
			continue;
		}
		indent += STEP;
		print_reason(view, edge, indent);
		indent += STEP;
		print_place(view, edge->to, parts_who(view, groups->groups[edge->to].ranks),
			    indent);
		start = edge->to;
	}
	if (!parts_is_culprit(view, start))
		print_no_way(view, indent + STEP);
}

/* By the order of progress alone. */
static void print_order(const struct view *view, int rank, uint32_t start)
{
	print_place(view, start, with_others(view, &view->groups->groups[start], rank), 0);
	if (parts_is_culprit(view, start))
		text_wrap(view, STEP, "\"lp\" says what speaks for it");
	else
		print_way(view, start, 0);
}

void view_why(const struct view *view)
{
	int rank = view->answer->rank, indent;
	uint32_t start, from;

	if (!view->job->model && queue_waits_are_known(view->job)) {
		view_queue_why(view);
		return;
	}
	if (!parts_have_models(view))
		return;
	start = parts_group_of(view, rank);
	if (start == UINT32_MAX) {
		parts_no_model(view, rank);
		return;
	}
	if (wait_chain_print(view, rank, &from, &indent))
		return;
	if (indent == 0)
		print_order(view, rank, start);
	else if (!parts_is_culprit(view, from))
		print_way(view, from, indent - STEP);
}

/* ---- JSON ---- */

void view_why_json(const struct view *view)
{
	struct json json = {.out = view->out};

	json_object(&json, NULL);
	json_int(&json, "rank", view->answer->rank);
	wait_chain_json(&json, view, view->answer->rank);
	json_lines(&json, "text", view, view_why);
	json_end_object(&json);
}
