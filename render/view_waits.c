/* SPDX-License-Identifier: BSD-3-Clause
 * Who waits for whom. */
#include "analysis/progress/eqgroup.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waits/wait_groups.h"
#include "analysis/waits/waitfor.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/draw/ascii_graph.h"
#include "render/draw/dot.h"
#include "render/draw/table.h"
#include "render/text/json.h"
#include "render/words/parts.h"
#include "render/words/role.h"

enum {
	RANKS_WIDTH = 24, /* columns of the ranks in a label */
	PEERS_WIDTH = 16,
	MAX_DRAWN = 24,
};

/* ---- Words ---- */

/* "MPI_Recv", or its other activity. */
static const char *doing_text(const struct view *view, const struct wait_group *group)
{
	const struct actor *actor = &view->waitfor->evidence->actors[group->actor];
	const char *call;

	if (actor->lane)
		return label_doing(view,
				   &view->groups->groups[view->groups->group_of[group->actor]]);
	call = actor->stack->latest->path == CALLPATH_NONE
		       ? NULL
		       : label_mpi_call(view, stack_fact_place(actor->stack)->path);
	return call ?: "outside MPI";
}

/* "mismatch: MPI_Barrier 26", "rank 3: transfer, tag 7" */
static const char *weak_text(const struct view *view, const struct waitfor_need *need)
{
	const struct waitfor *waitfor = view->waitfor;
	uint32_t c = waitfor_collective_of(waitfor, need->node);
	struct rankset *peers;

	if (c != WAITFOR_NONE && waitfor->collectives[c].mismatch != WAITFOR_NONE)
		return text_of(view, "mismatch in number %" PRIu64 "%s",
			       waitfor->collectives[c].number,
			       label_wait_on(view, waitfor->collectives[c].comm));
	peers = parts_set(view);
	waitfor_add_peers(waitfor, need, peers);
	return label_wait_needs(view, need, peers, PEERS_WIDTH);
}

/* What ranks without a need do. */
static const char *state_text(const struct view *view, const struct wait_group *group)
{
	const char *gap = label_wait_gap(view, group->actor);

	switch (view->waitfor->evidence->actors[group->actor].activity) {
	case ACTIVITY_MOVES:
		return "moving";
	case ACTIVITY_COMPUTING:
		return "nobody: outside MPI";
	case ACTIVITY_ENDED:
		return "nobody: has left MPI";
	case ACTIVITY_IN_MPI:
	case ACTIVITY_POLLING:
		break;
	}
	return gap ? gap : "nothing is missing";
}

/* "rank 3: message, tag 7" */
static const char *needs_text(const struct view *view, const struct wait_group *group)
{
	const struct waitfor_actor *lane = &view->waitfor->actors[group->actor];
	const char *needs;

	/* Nothing that they wait for is missing; a transfer has not ended. */
	if (!group->need && lane->num_needs)
		return weak_text(view, &view->waitfor->needs[lane->first_need]);
	if (!group->need)
		return state_text(view, group);
	needs = label_wait_needs(view, group->need, group->peers, PEERS_WIDTH);
	if (group->num_needs < 2)
		return needs;
	return text_of(view, "%s, and %u more", needs, group->num_needs - 1);
}

static const char *mark_of(const struct view *view, const struct wait_group *group)
{
	const char *mark = role_of(view)->mark;
	bool is_named = group->is_apart && mark;

	if (is_named && (view->verdict->kind == VERDICT_UNDECIDED ||
			 !(group->is_likely || group->is_deadlocked)))
		return mark;
	if (is_named)
		return text_of(view, "<=>%s, wait for each other%s", mark + strlen("<-"),
			       group->is_likely ? " while they poll" : "");
	if (group->is_likely)
		return "<-> wait for each other while they poll";
	return group->is_deadlocked ? "<-> wait for each other" : NULL;
}

/* ---- The table ---- */

static const struct table_column columns[] = {
	{.name = "ranks", .header = "ranks", .flags = TABLE_YIELDS, .min_width = 15},
	{.name = "where",
	 .header = "where",
	 .flags = TABLE_YIELDS | TABLE_CUT_MIDDLE,
	 .min_width = 16},
	/* Last to yield: a number at its end would be lost. */
	{.name = "needs", .header = "waits for", .min_width = 18},
};

static void print_table(const struct view *view, const struct wait_groups *groups)
{
	struct table *table = TABLE_OF(view, columns);
	size_t left = 0;

	for (size_t g = 0; g < groups->num_groups; g++) {
		const struct wait_group *group = &groups->groups[g];
		const char *mark = mark_of(view, group);

		if (table_num_rows(table) >= (mark ? 2 * PARTS_MAX_ROWS : PARTS_MAX_ROWS)) {
			left++;
			continue;
		}
		table_row(table);
		table_ranks(table, group->ranks);
		table_text(table, label_wait_where(view, group->actor, LABEL_SHORT));
		table_text(table, needs_text(view, group));
		table_mark(table, mark);
	}
	table_print(table);
	if (left)
		text_wrap(view, 2, "... and %zu more groups; \"waits RANKS\" lists some ranks",
			  left);
}

/* ---- The drawing ---- */

static const char *box_label(const struct view *view, const struct wait_group *group)
{
	return text_of(view, "%s %s", label_ranks(view->arena, group->ranks, RANKS_WIDTH),
		       doing_text(view, group));
}

/* Groups that wait for each other, directly or not, become one box: its number for each group. */
static uint32_t *find_boxes(const struct view *view, size_t num_groups,
			    const struct ascii_graph_edge *edges, size_t num_edges, size_t *num_ret)
{
	bool *reaches = ascii_graph_reach(view->arena, num_groups, edges, num_edges);
	uint32_t *boxes = arena_array(view->arena, num_groups, sizeof(*boxes));

	*num_ret = 0;
	for (size_t g = 0; g < num_groups; g++) {
		size_t other = 0;

		while (other < g &&
		       !(reaches[g * num_groups + other] && reaches[other * num_groups + g]))
			other++;
		boxes[g] = other < g ? boxes[other] : (uint32_t)(*num_ret)++;
	}
	return boxes;
}

/* A box of several groups: "(in a circle) 4:[0-3]". */
static void label_box(const struct view *view, const struct wait_groups *groups,
		      const uint32_t *boxes, uint32_t box, struct ascii_graph_node *node)
{
	struct rankset *ranks = parts_set(view);
	size_t inside = 0;

	for (size_t g = 0; g < groups->num_groups; g++) {
		const struct wait_group *group = &groups->groups[g];

		if (boxes[g] != box)
			continue;
		inside++;
		rankset_add_set(ranks, group->ranks);
		node->is_marked |= group->is_apart;
		if (inside == 1)
			node->label = box_label(view, group);
	}
	if (inside > 1)
		node->label = text_of(view, "(wait for each other) %s",
				      label_ranks(view->arena, ranks, RANKS_WIDTH));
}

static void print_drawing(const struct view *view, const struct wait_groups *groups)
{
	size_t num_boxes, num_edges = groups->num_edges;
	struct ascii_graph_edge *edges = arena_array(view->arena, num_edges, sizeof(*edges));
	struct ascii_graph_node *nodes;
	bool is_any_marked = false;
	uint32_t *boxes;

	for (size_t e = 0; e < num_edges; e++)
		edges[e] = (struct ascii_graph_edge){groups->edges[e].from, groups->edges[e].to};
	boxes = find_boxes(view, groups->num_groups, edges, num_edges, &num_boxes);
	for (size_t e = 0; e < num_edges; e++)
		edges[e] = (struct ascii_graph_edge){boxes[edges[e].from], boxes[edges[e].to]};
	num_edges = ascii_graph_reduce(view->arena, num_boxes, edges, num_edges);
	nodes = arena_array(view->arena, num_boxes, sizeof(*nodes));
	for (uint32_t b = 0; b < num_boxes; b++) {
		label_box(view, groups, boxes, b, &nodes[b]);
		is_any_marked |= nodes[b].is_marked;
	}
	if (!num_edges)
		return;
	fputc('\n', view->out);
	if (ascii_graph_print(view, nodes, num_boxes, edges, num_edges))
		text_wrap(view, 2, "too wide to draw here: \"waits > FILE.svg\" makes a picture");
	else if (is_any_marked)
		parts_print_star(view);
}

void view_waits(const struct view *view)
{
	const struct wait_groups *groups = view->answer->waits;

	if (groups->num_groups == 0 && !parts_have_models(view))
		return;
	print_table(view, groups);
	if (groups->num_groups <= MAX_DRAWN && !view->is_html)
		print_drawing(view, groups);
}

void view_waits_dot(const struct view *view)
{
	const struct wait_groups *groups = view->answer->waits;
	struct dot *dot;

	dot = dot_create(view->arena, "an arrow leads to those who are waited for", "groups");
	for (size_t g = 0; g < groups->num_groups; g++) {
		const struct wait_group *group = &groups->groups[g];
		bool is_strong = group->is_apart || group->is_deadlocked;
		const char *label =
			text_of(view, "%s\n%s%s", box_label(view, group),
				group->need ? "waits for " : "", needs_text(view, group));

		dot_node(dot, label, is_strong ? UINT64_MAX : (uint64_t)rankset_count(group->ranks),
			 is_strong ? DOT_STRONG : DOT_PLAIN);
	}
	for (size_t e = 0; e < groups->num_edges; e++)
		dot_edge(dot, groups->edges[e].from, groups->edges[e].to, NULL);
	dot_write(dot, view->out);
}

/* ---- JSON ---- */

static void write_group(struct json *json, const struct view *view, const struct wait_group *group)
{
	static const char *const states[] = {
		[ACTIVITY_MOVES] = "moving",   [ACTIVITY_COMPUTING] = "outside MPI",
		[ACTIVITY_IN_MPI] = "in MPI",  [ACTIVITY_POLLING] = "polling",
		[ACTIVITY_ENDED] = "left MPI",
	};

	json_who(json, group->ranks);
	json_text(json, "state", states[view->waitfor->evidence->actors[group->actor].activity]);
	json_text(json, "where", label_wait_where(view, group->actor, LABEL_FULL));
	json_text(json, "waits_for", group->need ? label_wait_need(view, group->need) : NULL);
	json_count(json, "needs", group->num_needs);
	json_ranks(json, "peers", group->peers);
	json_text(json, "unknown", label_wait_gap(view, group->actor));
	json_bool(json, "deadlocked", group->is_deadlocked);
	json_bool(json, "likely", group->is_likely);
	json_bool(json, "least_progressed", group->is_apart);
}

void view_waits_json(const struct view *view)
{
	const struct wait_groups *groups = view->answer->waits;
	struct json *json = view->json;

	JSON_OBJECTS(json, "groups", g, groups->num_groups)
		write_group(json, view, &groups->groups[g]);
	/* By their positions in the list, from 1. */
	json_array(json, "edges");
	for (size_t e = 0; e < groups->num_edges; e++)
		json_edge(json, groups->edges[e].from, groups->edges[e].to);
	json_end_array(json);
}
