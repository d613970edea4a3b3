/* SPDX-License-Identifier: BSD-3-Clause
 * Who waits for whom without a recorder: by the stacks, and by what the MPI libraries hold of
 * messages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/verdict/verdict.h"
#include "analysis/waits/queue_waits.h"
#include "analysis/waits/stack_facts.h"
#include "model/job/job.h"
#include "model/job/message_queues.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/xalloc.h"
#include "render/dot.h"
#include "render/json.h"
#include "render/label.h"
#include "render/parts.h"
#include "render/queue_cause.h"
#include "render/stack_places.h"
#include "render/text.h"
#include "render/view.h"

enum { WHO_WIDTH = 40, MAX_STEPS = 40, MAX_GROUPS = 24, MAX_GROUPS_DATA = 300 };

/* What all of it is made of. */
struct waits_now {
	struct stack_facts *facts;
	struct queue_waits *waits;
	struct queue_groups *groups;
};

static struct waits_now make_waits(const struct view *view, const struct rankset *ranks,
				   size_t max_groups)
{
	struct waits_now now = {.facts = stack_facts_create(view->job, view->arena)};

	now.waits = queue_waits_create(view->job, now.facts, view->arena);
	now.groups = queue_groups_create(now.waits, now.facts, ranks, view->verdict->culprits,
					 max_groups, view->arena);
	return now;
}

/* "a message with tag 7 from rank 3", of all of the group; NULL: not known. The caller frees. */
static char *needs_text(const struct view *view, const struct queue_group *group)
{
	char *who, *peers, *label, *text;

	if (rankset_is_empty(group->peers))
		return NULL;
	who = label_who(group->alike, WHO_WIDTH);
	peers = xasprintf("%s%s", group->is_mixed ? "some of " : "", who);
	label = queue_wait_label_of(view, &group->example, peers,
				    rankset_count(group->ranks) == 1 ? "its" : "their");
	text = xasprintf("%s%s", label, rankset_is_empty(group->others) ? "" : ", among others");
	free(who);
	free(peers);
	free(label);
	return text;
}

static char *place_text(const struct view *view, int rank)
{
	char *place = stack_place(view->job, rank);

	return place ? place : xstrdup("MPI");
}

/* ---- waits ---- */

static void print_group(const struct view *view, const struct queue_group *group)
{
	bool is_one = rankset_count(group->ranks) == 1;
	char *who = parts_who(group->ranks), *place = place_text(view, rankset_first(group->ranks));
	char *needs = needs_text(view, group);
	bool is_culprit = rankset_contains(view->verdict->culprits, rankset_first(group->ranks));

	text_wrap(view, 0, "%s, in %s%s", who, place, is_culprit ? "  <- least progressed" : "");
	if (needs)
		text_wrap(view, 4, "wait%s for %s", is_one ? "s" : "", needs);
	else
		text_wrap(view, 4, "not known what for");
	free(who);
	free(place);
	free(needs);
}

void view_queue_waits(const struct view *view)
{
	struct waits_now now = make_waits(view, view->answer->ranks, MAX_GROUPS);

	for (size_t g = 0; g < now.groups->num_groups; g++)
		print_group(view, &now.groups->groups[g]);
	if (!now.groups->num_groups)
		text_wrap(view, 0, "No rank waits inside MPI.");
	else
		text_wrap(view, 0,
			  "By stacks, and by the messages that the MPI library holds: there is no "
			  "recorder in "
			  "this job.");
}

static bool leads_to(const struct queue_group *from, const struct queue_group *to)
{
	for (int r = rankset_first(from->peers); r >= 0; r = rankset_next(from->peers, r))
		if (rankset_contains(to->ranks, r))
			return true;
	return false;
}

void view_queue_waits_dot(const struct view *view)
{
	struct waits_now now = make_waits(view, view->answer->ranks, MAX_GROUPS_DATA);
	const struct queue_groups *groups = now.groups;
	struct dot *dot = dot_create("an arrow leads to those who are waited for", "groups");

	for (size_t g = 0; g < groups->num_groups; g++) {
		const struct queue_group *group = &groups->groups[g];
		bool is_strong =
			rankset_contains(view->verdict->culprits, rankset_first(group->ranks));
		char *who = label_who(group->ranks, WHO_WIDTH), *needs = needs_text(view, group);
		char *place = place_text(view, rankset_first(group->ranks));
		char *label = xasprintf("%s\nin %s\n%s%s", who, place, needs ? "waits for " : "",
					needs ? needs : "");

		dot_node(dot, label, (uint64_t)rankset_count(group->ranks),
			 is_strong ? DOT_STRONG : DOT_PLAIN);
		free(who);
		free(needs);
		free(place);
		free(label);
	}
	for (size_t g = 0; g < groups->num_groups; g++)
		for (size_t h = 0; h < groups->num_groups; h++)
			if (leads_to(&groups->groups[g], &groups->groups[h]))
				dot_edge(dot, (uint32_t)g, (uint32_t)h, NULL);
	dot_write(dot, view->out);
	dot_destroy(dot);
}

static void write_group(struct json *json, const struct view *view, const struct queue_group *group)
{
	json_object(json, NULL);
	json_int(json, "count", rankset_count(group->ranks));
	json_ranks(json, "ranks", group->ranks);
	json_text(json, "state", "in MPI");
	json_label(json, "where", place_text(view, rankset_first(group->ranks)));
	json_label(json, "waits_for", needs_text(view, group));
	json_count(json, "needs", (uint64_t)rankset_count(group->peers));
	json_ranks(json, "peers", group->peers);
	json_text(json, "unknown",
		  rankset_is_empty(group->peers) ? "the MPI library does not tell" : NULL);
	json_bool(json, "deadlocked", false);
	json_bool(json, "likely", true);
	json_bool(json, "least_progressed",
		  rankset_contains(view->verdict->culprits, rankset_first(group->ranks)));
	json_end_object(json);
}

void view_queue_waits_json(const struct view *view)
{
	struct waits_now now = make_waits(view, view->answer->ranks, MAX_GROUPS_DATA);
	const struct queue_groups *groups = now.groups;
	struct json json = {.out = view->out};

	json_object(&json, NULL);
	json_array(&json, "groups");
	for (size_t g = 0; g < groups->num_groups; g++)
		write_group(&json, view, &groups->groups[g]);
	json_end_array(&json);
	json_array(&json, "edges");
	for (size_t g = 0; g < groups->num_groups; g++)
		for (size_t h = 0; h < groups->num_groups; h++) {
			if (!leads_to(&groups->groups[g], &groups->groups[h]))
				continue;
			json_object(&json, NULL);
			json_count(&json, "from", g + 1);
			json_count(&json, "to", h + 1);
			json_end_object(&json);
		}
	json_end_array(&json);
	json_end_object(&json);
}

/* ---- why ---- */

/* The last wait of the shortest way to each rank that this one waits for, NULL for all others;
 * *end_ret: where to go along them, a culprit, or else a rank that waits for nobody, or the
 * farthest. The caller frees. */
static const struct queue_wait **find_ways(const struct view *view, const struct queue_waits *waits,
					   int rank, int *end_ret)
{
	const struct queue_wait **before = xcalloc(waits->num_ranks, sizeof(*before));
	int *queue = xcalloc(waits->num_ranks, sizeof(*queue)), culprit = -1, idle = -1;
	size_t head = 0, tail = 0;

	queue[tail++] = rank;
	while (head < tail) {
		int at = queue[head++];
		const struct queue_wait *wait = NULL;

		if (culprit < 0 && rankset_contains(view->verdict->culprits, at))
			culprit = at;
		if (idle < 0 && !queue_waits_next(waits, at, NULL))
			idle = at;
		while ((wait = queue_waits_next(waits, at, wait))) {
			if (wait->peer == rank || before[wait->peer])
				continue;
			before[wait->peer] = wait;
			queue[tail++] = wait->peer;
		}
	}
	*end_ret = culprit >= 0 ? culprit : idle >= 0 ? idle : queue[tail - 1];
	free(queue);
	return before;
}

/* "rank 3, in MPI_Recv, exchange() at halo.c:12, waits for ..." */
static void print_step(const struct view *view, const struct queue_wait *wait, int indent)
{
	char *place = place_text(view, wait->rank), *label = queue_wait_label(view, wait);

	text_wrap(view, indent, "rank %d, in %s, waits for %s", wait->rank, place, label);
	free(place);
	free(label);
}

/* Where the way has come to: it waits for others in turn, or that is not known. */
static void print_end(const struct view *view, const struct waits_now *now, int rank, int indent)
{
	const struct stack_fact *fact = stack_facts_get(now->facts, rank);
	bool is_culprit = rankset_contains(view->verdict->culprits, rank);
	char *place = place_text(view, rank);
	const struct queue_wait *wait = queue_waits_next(now->waits, rank, NULL);

	if (wait)
		print_step(view, wait, indent);
	else if (fact->num_samples && fact->num_outside == fact->num_samples)
		text_wrap(view, indent, "rank %d, in %s, outside MPI", rank, place);
	else
		text_wrap(view, indent, "rank %d, in %s: not known what it waits for", rank, place);
	if (is_culprit)
		text_wrap(view, indent + 2,
			  "rank %d is the least progressed: \"lp\" says what speaks for it", rank);
	free(place);
}

static void print_way(const struct view *view, const struct waits_now *now, int rank)
{
	const struct queue_wait **before, *way[MAX_STEPS];
	size_t num = 0;
	int end;

	before = find_ways(view, now->waits, rank, &end);
	for (int at = end; at != rank && num < MAX_STEPS; at = before[at]->rank)
		way[num++] = before[at];
	for (size_t i = 0; i < num; i++)
		print_step(view, way[num - 1 - i], 2 * (int)i);
	print_end(view, now, end, 2 * (int)num);
	free(before);
}

void view_queue_why(const struct view *view)
{
	int rank = view->answer->rank;
	struct rankset *all = rankset_create();
	struct waits_now now = make_waits(view, all, MAX_GROUPS);
	const struct stack_fact *fact = stack_facts_get(now.facts, rank);

	if (!fact->num_samples)
		text_wrap(view, 0, "There is no stack of rank %d.", rank);
	else if (fact->num_outside == fact->num_samples)
		text_wrap(view, 0, "rank %d is outside MPI: it waits for nobody", rank);
	else
		print_way(view, &now, rank);
	rankset_destroy(all);
}
