/* SPDX-License-Identifier: BSD-3-Clause
 * Who waits for whom without a recorder: by the stacks, and by what the MPI libraries hold of
 * messages. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/verdict/verdict.h"
#include "analysis/waits/queue_waits.h"
#include "analysis/waits/stack_facts.h"
#include "model/job/message_queues.h"
#include "model/job/rankset.h"
#include "render/draw/dot.h"
#include "render/lp/lp.h"
#include "render/text/json.h"
#include "render/words/parts.h"

enum { WHO_WIDTH = 40, MAX_STEPS = 40, MAX_CAUSES = 6, MAX_GROUPS = 24, MAX_GROUPS_DATA = 300 };

/* ---- lp ---- */

/* " with tag 7", or nothing where any will do or it is not known. */
static const char *tag_text(const struct view *view, int32_t tag)
{
	if (tag == MESSAGE_ANY_TAG || tag == MESSAGE_TAG_NOT_KNOWN)
		return "";
	return text_of(view, " with tag %" PRId32, tag);
}

/* " on halo"; "" for MPI_COMM_WORLD. Open MPI names the others "MPI COMMUNICATOR 3 DUP FROM 0". */
static const char *on_text(const struct view *view, const char *comm)
{
	bool is_plain = !*comm || strcmp(comm, "MPI_COMM_WORLD") == 0;
	int number;

	if (sscanf(comm, "MPI COMMUNICATOR %d ", &number) == 1)
		return text_of(view, " on communicator %d", number);
	return is_plain ? "" : text_of(view, " on %s", comm);
}

/* What it is for, after "waits for": "a message with tag 7 from rank 3 on halo", "rank 3 to receive
 * its message with tag 7", "the part of rank 3 in MPI_Allreduce". peer: "ranks 3,5"; whose: who has
 * sent the message, "their". */
static const char *needs_of(const struct view *view, const struct queue_wait *wait,
			    const char *peer, const char *whose)
{
	const char *call = stack_call(view, wait->rank);
	const char *tag = tag_text(view, wait->tag), *on = on_text(view, wait->comm);

	if (wait->kind == QUEUE_WAIT_COLLECTIVE)
		return text_of(view, "the part of %s in %s%s", peer, call ? call : "the collective",
			       on);
	if (wait->kind == QUEUE_WAIT_RECEIVE)
		return text_of(view, "%s to receive %s message%s%s", peer, whose, tag, on);
	return text_of(view, "a message%s from %s%s", tag, wait->is_any ? "any rank" : peer, on);
}

static const char *need_text(const struct view *view, const struct queue_wait *wait)
{
	return needs_of(view, wait, text_of(view, "rank %d", wait->peer), "its");
}

static const char *place_text(const struct view *view, int rank)
{
	const char *place = stack_place(view, rank);

	return place ? place : "MPI";
}

/* "rank 3, in MPI_Recv, exchange() at halo.c:12, waits for ..." */
static void print_step(const struct view *view, const struct queue_wait *wait, int indent)
{
	text_wrap(view, indent, "rank %d, in %s, waits for %s", wait->rank,
		  place_text(view, wait->rank), need_text(view, wait));
}

static void print_lost(const struct view *view, const struct queue_wait *wait)
{
	text_wrap(view, 2, "lost message: rank %d waits for %s, which has not sent it", wait->rank,
		  need_text(view, wait));
	text_wrap(view, 4, "rank %d: in %s", wait->rank, place_text(view, wait->rank));
	text_wrap(view, 4,
		  "rank %d waits elsewhere, in the end for rank %d: it went on without sending "
		  "that, or rank %d should not wait for it",
		  wait->peer, wait->rank, wait->rank);
}

/* One went past what the other waits for, or is in another call. */
static void print_left_out(const struct view *view, const struct queue_wait *wait, bool is_skipped)
{
	const char *call = stack_call(view, wait->peer);

	print_step(view, wait, 4);
	if (is_skipped)
		text_wrap(view, 4,
			  "rank %d waits in %s and has not come that far: rank %d seems to have "
			  "left out what others wait for",
			  wait->peer, call ? call : "MPI", wait->rank);
	else
		text_wrap(view, 4,
			  "rank %d is in another call, %s: it seems to have left that out, or not "
			  "to have come to it",
			  wait->peer, call ? call : "of MPI");
}

static void print_cycle(const struct view *view, const struct queue_cause *cause)
{
	for (size_t i = 0; i < cause->num_waits && i < MAX_CAUSES; i++)
		print_step(view, &cause->waits[i], 4);
	if (cause->num_waits > MAX_CAUSES)
		text_wrap(view, 4, "... %zu more like these ...", cause->num_waits - MAX_CAUSES);
}

void cause_print_queues(const struct view *view)
{
	const struct queue_cause *cause = view->verdict->queue_cause;
	const char *who = parts_who(view, cause->kind == QUEUE_CAUSE_CYCLE ? view->verdict->culprits
									   : cause->ranks);

	if (cause->kind == QUEUE_CAUSE_OPEN)
		text_wrap(view, 2,
			  "a deadlock, likely: %s wait for each other, by the messages that the "
			  "MPI library holds; who of them went wrong these do not tell",
			  who);
	else if (cause->kind != QUEUE_CAUSE_LOST)
		text_wrap(view, 2, "deadlock: %s wait for each other", who);
	switch (cause->kind) {
	case QUEUE_CAUSE_LOST:
		print_lost(view, &cause->waits[0]);
		break;
	case QUEUE_CAUSE_SKIPPED:
	case QUEUE_CAUSE_APART:
		print_left_out(view, &cause->waits[0], cause->kind == QUEUE_CAUSE_SKIPPED);
		break;
	case QUEUE_CAUSE_CYCLE:
	case QUEUE_CAUSE_OPEN:
		print_cycle(view, cause);
		break;
	}
}

/* ---- Groups ---- */

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

/* "a message with tag 7 from rank 3", of all of the group; NULL: not known. */
static const char *needs_text(const struct view *view, const struct queue_group *group)
{
	const char *peers;

	if (rankset_is_empty(group->peers))
		return NULL;
	peers = text_of(view, "%s%s", group->is_mixed ? "some of " : "",
			label_who(view->arena, group->alike, WHO_WIDTH));
	return text_of(
		view, "%s%s",
		needs_of(view, &group->example, peers, parts_plural(group->ranks, "its", "their")),
		rankset_is_empty(group->others) ? "" : ", among others");
}

/* ---- waits ---- */

static void print_group(const struct view *view, const struct queue_group *group)
{
	bool is_one = rankset_count(group->ranks) == 1;
	const char *needs = needs_text(view, group);
	bool is_culprit = rankset_contains(view->verdict->culprits, rankset_first(group->ranks));

	text_wrap(view, 0, "%s, in %s%s", parts_who(view, group->ranks),
		  place_text(view, rankset_first(group->ranks)),
		  is_culprit ? "  <- least progressed" : "");
	if (needs)
		text_wrap(view, 4, "wait%s for %s", is_one ? "s" : "", needs);
	else
		text_wrap(view, 4, "not known what for");
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
			  "recorder in this job.");
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
	struct dot *dot =
		dot_create(view->arena, "an arrow leads to those who are waited for", "groups");

	for (size_t g = 0; g < groups->num_groups; g++) {
		const struct queue_group *group = &groups->groups[g];
		bool is_strong =
			rankset_contains(view->verdict->culprits, rankset_first(group->ranks));
		const char *needs = needs_text(view, group);
		const char *label = text_of(view, "%s\nin %s\n%s%s",
					    label_who(view->arena, group->ranks, WHO_WIDTH),
					    place_text(view, rankset_first(group->ranks)),
					    needs ? "waits for " : "", needs ? needs : "");

		dot_node(dot, label, (uint64_t)rankset_count(group->ranks),
			 is_strong ? DOT_STRONG : DOT_PLAIN);
	}
	for (size_t g = 0; g < groups->num_groups; g++)
		for (size_t h = 0; h < groups->num_groups; h++)
			if (leads_to(&groups->groups[g], &groups->groups[h]))
				dot_edge(dot, (uint32_t)g, (uint32_t)h, NULL);
	dot_write(dot, view->out);
}

static void write_group(struct json *json, const struct view *view, const struct queue_group *group)
{
	json_object(json, NULL);
	json_who(json, group->ranks);
	json_text(json, "state", "in MPI");
	json_text(json, "where", place_text(view, rankset_first(group->ranks)));
	json_text(json, "waits_for", needs_text(view, group));
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
	struct json *json = view->json;

	json_array(json, "groups");
	for (size_t g = 0; g < groups->num_groups; g++)
		write_group(json, view, &groups->groups[g]);
	json_end_array(json);
	json_array(json, "edges");
	for (size_t g = 0; g < groups->num_groups; g++)
		for (size_t h = 0; h < groups->num_groups; h++)
			if (leads_to(&groups->groups[g], &groups->groups[h]))
				json_edge(json, g, h);
	json_end_array(json);
}

/* ---- why ---- */

/* The last wait of the shortest way to each rank that this one waits for; NULL: it does not.
 * *end_ret: where to go: a culprit, else a rank that waits for nobody, else the farthest. */
static const struct queue_wait **find_ways(const struct view *view, const struct queue_waits *waits,
					   int rank, int *end_ret)
{
	const struct queue_wait **before =
		arena_array(view->arena, waits->num_ranks, sizeof(*before));
	int *queue = arena_array(view->arena, waits->num_ranks, sizeof(*queue)), culprit = -1,
	    idle = -1;
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
	return before;
}

/* Where the way has come to: it waits for others in turn, or that is not known. */
static void print_end(const struct view *view, const struct waits_now *now, int rank, int indent)
{
	const struct stack_fact *fact = stack_facts_get(now->facts, rank);
	bool is_culprit = rankset_contains(view->verdict->culprits, rank);
	const char *place = place_text(view, rank);
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
}

void view_queue_why(const struct view *view)
{
	int rank = view->answer->rank;
	struct waits_now now = make_waits(view, parts_set(view), MAX_GROUPS);
	const struct stack_fact *fact = stack_facts_get(now.facts, rank);

	if (!fact->num_samples)
		text_wrap(view, 0, "There is no stack of rank %d.", rank);
	else if (fact->num_outside == fact->num_samples &&
		 label_thread_wait(view, fact->latest, true))
		text_wrap(view, 0, "rank %d is outside MPI, in %s", rank, place_text(view, rank));
	else if (fact->num_outside == fact->num_samples)
		text_wrap(view, 0, "rank %d is outside MPI: it waits for nobody", rank);
	else
		print_way(view, &now, rank);
}
