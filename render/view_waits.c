/* SPDX-License-Identifier: BSD-3-Clause
 * Who waits for whom. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/progress/eqgroup.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waits/queue_waits.h"
#include "analysis/waits/wait_groups.h"
#include "analysis/waits/waitfor.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "render/ascii_graph.h"
#include "render/dot.h"
#include "render/json.h"
#include "render/label.h"
#include "render/parts.h"
#include "render/table.h"
#include "render/text.h"
#include "render/wait_label.h"

enum {
	RANKS_WIDTH = 24, /* of the set of ranks in a label */
	PEERS_WIDTH = 16,
	MAX_DRAWN = 24,
};

/* ---- Words ---- */

static const struct eqgroup *eqgroup_of(const struct view *view, const struct wait_group *group)
{
	return &view->groups->groups[view->groups->group_of[group->lane]];
}

/* A need of ranks that wait for nothing that is missing: the end of a transfer. */
static uint32_t weak_need(const struct view *view, const struct wait_group *group)
{
	const struct waitfor_lane *lane = &view->waitfor->lanes[group->lane];

	return lane->num_needs ? lane->first_need : WAITFOR_NONE;
}

/* "mismatch: MPI_Barrier 26", "rank 3: transfer, tag 7" */
static char *weak_text(const struct view *view, uint32_t need)
{
	const struct waitfor *waitfor = view->waitfor;
	uint32_t c = waitfor_collective_of(waitfor, waitfor->needs[need].node);
	struct rankset *peers;
	char *text, *on;

	if (c != WAITFOR_NONE && waitfor->collectives[c].mismatch != WAITFOR_NONE) {
		on = wait_label_on(view, waitfor->collectives[c].comm);
		text = xasprintf("mismatch in number %" PRIu64 "%s", waitfor->collectives[c].number,
				 on);
		free(on);
		return text;
	}
	peers = rankset_create();
	waitfor_add_peers(waitfor, need, peers);
	text = wait_label_needs(view, need, peers, PEERS_WIDTH);
	rankset_destroy(peers);
	return text;
}

/* What it is that ranks without a need do. */
static const char *state_text(const struct view *view, const struct wait_group *group)
{
	const char *gap = wait_label_gap(view, group->lane);

	switch ((enum waitfor_state)view->waitfor->lanes[group->lane].state) {
	case WAITFOR_MOVES:
		return "moving";
	case WAITFOR_OUTSIDE:
		return "nobody: outside MPI";
	case WAITFOR_LEFT:
		return "nobody: has left MPI";
	case WAITFOR_BLOCKED:
	case WAITFOR_POLLS:
		break;
	}
	return gap ? gap : "nothing is missing";
}

/* "rank 3: message, tag 7" */
static char *needs_text(const struct view *view, const struct wait_group *group)
{
	uint32_t weak = weak_need(view, group);
	char *needs, *text;

	if (group->need == WAITFOR_NONE && weak != WAITFOR_NONE)
		return weak_text(view, weak);
	if (group->need == WAITFOR_NONE)
		return xstrdup(state_text(view, group));
	needs = wait_label_needs(view, group->need, group->peers, PEERS_WIDTH);
	if (group->num_needs < 2)
		return needs;
	text = xasprintf("%s, and %u more", needs, group->num_needs - 1);
	free(needs);
	return text;
}

static const char *mark_of(const struct view *view, const struct wait_group *group)
{
	if (group->is_apart && view->verdict->kind == VERDICT_UNDECIDED)
		return "<- least progressed?";
	if (group->is_apart && group->is_likely)
		return "<=> least progressed, wait for each other while they poll";
	if (group->is_apart)
		return group->is_deadlocked ? "<=> least progressed, wait for each other"
					    : "<- least progressed";
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
	{.name = "needs", .header = "waits for", .flags = TABLE_YIELDS, .min_width = 18},
};

static void print_table(const struct view *view, const struct wait_groups *groups)
{
	struct table *table = table_create(columns, sizeof(columns) / sizeof(columns[0]));
	size_t left = 0;

	for (size_t g = 0; g < groups->num_groups; g++) {
		const struct wait_group *group = &groups->groups[g];
		const char *mark = mark_of(view, group);
		char *where, *needs;

		if (table_num_rows(table) >= (mark ? 2 * PARTS_MAX_ROWS : PARTS_MAX_ROWS)) {
			left++;
			continue;
		}
		where = label_where(view->job, eqgroup_of(view, group), LABEL_SHORT);
		needs = needs_text(view, group);
		table_row(table);
		table_ranks(table, group->ranks);
		table_cell(table, "%s", where);
		table_cell(table, "%s", needs);
		if (mark)
			table_mark(table, mark);
		free(where);
		free(needs);
	}
	table_print(table, view);
	if (left)
		text_wrap(view, 2, "... and %zu more groups; \"waits RANKS\" lists some ranks",
			  left);
	table_destroy(table);
}

/* ---- The drawing ---- */

static char *box_label(const struct view *view, const struct wait_group *group)
{
	char *ranks = label_ranks(group->ranks, RANKS_WIDTH);
	char *doing = label_doing(view->job, eqgroup_of(view, group));
	char *label = xasprintf("%s %s", ranks, doing);

	free(ranks);
	free(doing);
	return label;
}

/* Groups that wait for each other, directly or not, become one box: its number for each group. */
static uint32_t *find_boxes(const struct wait_groups *groups, size_t *num_ret)
{
	size_t n = groups->num_groups, number = 0;
	bool *reaches = xcalloc(n * n, sizeof(*reaches));
	uint32_t *boxes = xcalloc(n, sizeof(*boxes));

	for (size_t e = 0; e < groups->num_edges; e++)
		reaches[groups->edges[e].from * n + groups->edges[e].to] = true;
	for (size_t by = 0; by < n; by++)
		for (size_t from = 0; from < n; from++)
			for (size_t to = 0; reaches[from * n + by] && to < n; to++)
				reaches[from * n + to] |= reaches[by * n + to];
	for (size_t g = 0; g < n; g++) {
		size_t other = 0;

		while (other < g && !(reaches[g * n + other] && reaches[other * n + g]))
			other++;
		boxes[g] = other < g ? boxes[other] : (uint32_t)number++;
	}
	free(reaches);
	*num_ret = number;
	return boxes;
}

/* A box of several groups: "(in a circle) 4:[0-3]". */
static void label_box(const struct view *view, const struct wait_groups *groups,
		      const uint32_t *boxes, uint32_t box, struct ascii_graph_node *node)
{
	struct rankset *ranks = rankset_create();
	size_t inside = 0;
	char *who;

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
	if (inside > 1) {
		free((char *)node->label);
		who = label_ranks(ranks, RANKS_WIDTH);
		node->label = xasprintf("(wait for each other) %s", who);
		free(who);
	}
	rankset_destroy(ranks);
}

static void print_drawing(const struct view *view, const struct wait_groups *groups)
{
	struct ascii_graph_edge *edges = xcalloc(groups->num_edges, sizeof(*edges));
	struct ascii_graph_node *nodes;
	size_t num_boxes, num_edges;
	uint32_t *boxes = find_boxes(groups, &num_boxes);

	for (size_t e = 0; e < groups->num_edges; e++)
		edges[e] = (struct ascii_graph_edge){boxes[groups->edges[e].from],
						     boxes[groups->edges[e].to]};
	num_edges = ascii_graph_reduce(num_boxes, edges, groups->num_edges);
	nodes = xcalloc(num_boxes, sizeof(*nodes));
	for (uint32_t b = 0; b < num_boxes; b++)
		label_box(view, groups, boxes, b, &nodes[b]);
	if (num_edges) {
		fputc('\n', view->out);
		if (ascii_graph_print(view, nodes, num_boxes, edges, num_edges))
			text_wrap(view, 2,
				  "too wide to draw here: \"waits > FILE.svg\" makes a "
				  "picture");
	}
	for (size_t b = 0; b < num_boxes; b++)
		free((char *)nodes[b].label);
	free(nodes);
	free(boxes);
	free(edges);
}

void view_waits(const struct view *view)
{
	const struct wait_groups *groups = view->answer->waits;

	if (!view->job->model && queue_waits_are_known(view->job)) {
		view_queue_waits(view);
		return;
	}
	if (!parts_have_models(view))
		return;
	print_table(view, groups);
	if (groups->num_groups <= MAX_DRAWN && !view->is_html)
		print_drawing(view, groups);
}

void view_waits_dot(const struct view *view)
{
	const struct wait_groups *groups = view->answer->waits;
	struct dot *dot;

	if (!view->job->model) {
		view_queue_waits_dot(view);
		return;
	}
	dot = dot_create("an arrow leads to those who are waited for", "groups");
	for (size_t g = 0; g < groups->num_groups; g++) {
		const struct wait_group *group = &groups->groups[g];
		bool is_strong = group->is_apart || group->is_deadlocked;
		char *box = box_label(view, group), *needs = needs_text(view, group);
		char *label = xasprintf("%s\n%s%s", box,
					group->need == WAITFOR_NONE ? "" : "waits for ", needs);

		dot_node(dot, label, is_strong ? UINT64_MAX : (uint64_t)rankset_count(group->ranks),
			 is_strong ? DOT_STRONG : DOT_PLAIN);
		free(box);
		free(needs);
		free(label);
	}
	for (size_t e = 0; e < groups->num_edges; e++)
		dot_edge(dot, groups->edges[e].from, groups->edges[e].to, NULL);
	dot_write(dot, view->out);
	dot_destroy(dot);
}

/* ---- JSON ---- */

static void write_group(struct json *json, const struct view *view, const struct wait_group *group)
{
	static const char *const states[] = {
		[WAITFOR_MOVES] = "moving",   [WAITFOR_OUTSIDE] = "outside MPI",
		[WAITFOR_BLOCKED] = "in MPI", [WAITFOR_POLLS] = "polling",
		[WAITFOR_LEFT] = "left MPI",
	};
	const struct waitfor_lane *lane = &view->waitfor->lanes[group->lane];

	json_object(json, NULL);
	json_int(json, "count", rankset_count(group->ranks));
	json_ranks(json, "ranks", group->ranks);
	json_text(json, "state", states[lane->state]);
	json_label(json, "where", label_where(view->job, eqgroup_of(view, group), LABEL_FULL));
	json_label(json, "waits_for",
		   group->need == WAITFOR_NONE ? NULL : wait_label_need(view, group->need));
	json_count(json, "needs", group->num_needs);
	json_ranks(json, "peers", group->peers);
	json_text(json, "unknown", wait_label_gap(view, group->lane));
	json_bool(json, "deadlocked", group->is_deadlocked);
	json_bool(json, "likely", group->is_likely);
	json_bool(json, "least_progressed", group->is_apart);
	json_end_object(json);
}

void view_waits_json(const struct view *view)
{
	const struct wait_groups *groups = view->answer->waits;
	struct json json = {.out = view->out};

	if (!view->job->model) {
		view_queue_waits_json(view);
		return;
	}
	json_object(&json, NULL);
	json_array(&json, "groups");
	for (size_t g = 0; g < groups->num_groups; g++)
		write_group(&json, view, &groups->groups[g]);
	json_end_array(&json);
	/* By their places in the list, from 1 on. */
	json_array(&json, "edges");
	for (size_t e = 0; e < groups->num_edges; e++) {
		json_object(&json, NULL);
		json_count(&json, "from", groups->edges[e].from + 1);
		json_count(&json, "to", groups->edges[e].to + 1);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
}
