/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/verdict/verdict.h"
#include "analysis/waits/waitfor.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "model/job/job_model.h"
#include "model/job/rankset.h"
#include "render/lp/lp.h"
#include "render/words/parts.h"

enum { MAX_STEPS = 6, MAX_WAITS = 4, MAX_ROUNDS = 64 };

/* ---- Waits in groups ---- */

/* Waits whose texts are the same, whoever waits. */
static void add_wait(struct same *waits, const struct view *view, const char *text,
		     const struct waitfor_need *need)
{
	size_t before = waits->num;
	struct same_entry *entry =
		same_add(waits, text, view->waitfor->evidence->actors[need->actor].rank);

	if (waits->num > before)
		entry->need = need;
}

/* Add a need by its text. Ranks that wait in one collective by calls of their own share an
 * entry. */
static void add_need(struct same *waits, const struct view *view, const struct waitfor_need *need)
{
	for (size_t i = 0; i < waits->num && need->kind == WAITFOR_MEMBERS; i++) {
		const struct waitfor_need *known = waits->entries[i].need;

		if (known->node != need->node || known->request != WAITFOR_NONE ||
		    need->request != WAITFOR_NONE)
			continue;
		rankset_add(waits->entries[i].ranks,
			    view->waitfor->evidence->actors[need->actor].rank);
		return;
	}
	add_wait(waits, view, label_wait_need(view, need), need);
}

/* ---- Deadlocks ---- */

/* "in MPI_Recv, exchange() at pair.c:31, waits for ...": the text without the rank. */
static const char *step_text(const struct view *view, const struct waitfor_need *need, bool is_one)
{
	return text_of(view, "%s, wait%s for %s", label_wait_where(view, need->actor, LABEL_FULL),
		       is_one ? "s" : "", label_wait_need(view, need));
}

/* The need to show for an actor: the one on the circle, else the first that is not weak. */
static const struct waitfor_need *find_need(const struct waitfor *waitfor,
					    const struct waitfor_deadlock *deadlock, uint32_t l)
{
	const struct waitfor_need *need = NULL;

	for (size_t i = 0; i < deadlock->num_cycle; i++)
		if (deadlock->cycle[i].actor == l)
			return deadlock->cycle[i].need;
	while ((need = waitfor_next_need(waitfor, l, need)) && need->is_weak)
		;
	return need;
}

/* Print the whole deadlock, actors with equal waits together. False: too much, nothing is
 * printed. */
static bool print_all(const struct view *view, const struct waitfor_deadlock *deadlock)
{
	struct same waits = {.arena = view->arena};
	bool is_fit = true;

	for (size_t i = 0; i < deadlock->num_actors && is_fit; i++) {
		const struct waitfor_need *need =
			find_need(view->waitfor, deadlock, deadlock->actors[i]);

		if (need)
			add_wait(&waits, view, step_text(view, need, false), need);
		is_fit = waits.num <= MAX_STEPS;
	}
	for (size_t i = 0; i < waits.num && is_fit; i++) {
		const struct same_entry *wait = &waits.entries[i];
		bool is_one = rankset_count(wait->ranks) == 1;
		const char *who = is_one ? label_wait_who(view, wait->need->actor)
					 : parts_who(view, wait->ranks);

		text_wrap(view, 4, "%s, %s", who, step_text(view, wait->need, is_one));
	}
	return is_fit;
}

static void print_circle(const struct view *view, const struct waitfor_deadlock *deadlock)
{
	size_t number = deadlock->num_cycle;

	for (size_t i = 0; i < number; i++) {
		const struct waitfor_step *step = &deadlock->cycle[i];

		if (number > MAX_STEPS && i == MAX_STEPS / 2) {
			text_wrap(view, 4, "... %zu more like these ...", number - MAX_STEPS);
			i = number - MAX_STEPS / 2 - 1;
			continue;
		}
		text_wrap(view, 4, "%s, %s", label_wait_who(view, step->actor),
			  step_text(view, step->need, true));
	}
}

/* "MPI_Recv, main() ring.c:25" */
static const char *site_text(const struct view *view, uint32_t state)
{
	const struct job_site *site = &view->job->model->sites[SEG_STATE_SITE(state)];

	if (SEG_STATE_SITE(state) == 0)
		return "the start";
	return text_of(view, "%s, %s", site->name, label_user_place(view, site->path, LABEL_SHORT));
}

/* A rank took a step that no other took: calls between its ends were left out or done too often. */
static void print_novel(const struct view *view)
{
	const struct verdict_witness *witness = &view->verdict->witness;
	const struct job_transition *novel = &view->job->model->transitions[witness->transition];
	const char *to = site_text(view, novel->to);

	if (SEG_STATE_SITE(novel->from) == SEG_STATE_SITE(novel->to))
		text_wrap(view, 4,
			  "rank %d, and no other, once called %s twice in a row: all others make "
			  "other calls in between, look there",
			  witness->rank, to);
	else
		text_wrap(view, 4,
			  "rank %d, and no other, once went straight from %s, to %s: look between "
			  "these",
			  witness->rank, site_text(view, novel->from), to);
}

/* A rank continued differently than before: it may have left out the call that used to follow. */
static void print_departure(const struct view *view)
{
	const struct verdict_witness *witness = &view->verdict->witness;
	const struct departure *departure = &witness->departure;
	const char *often, *memory;

	often = departure->num_usual < departure->num_times
			? text_of(view, "%zu of %zu times", departure->num_usual,
				  departure->num_times)
			: text_of(view, "%zu times", departure->num_times);
	memory = departure->num_memory > 1
			 ? text_of(view, ", after the same %zu calls", departure->num_memory)
			 : "";
	text_wrap(view, 4,
		  "rank %d, %s, left its usual course: from %s, it went to %s. Before, %s had "
		  "gone to %s %s%s",
		  witness->rank,
		  witness->num_later ? "as the first of these" : "as the only one of these",
		  site_text(view, departure->last), site_text(view, departure->call),
		  departure->num_own < departure->num_times ? "it and other ranks" : "it",
		  site_text(view, departure->usual), often, memory);
}

/* Ranks that are not in the others' collective have gone past it. */
static void print_skipped(const struct view *view)
{
	const struct verdict *verdict = view->verdict;
	const struct waitfor_collective *collective =
		&view->waitfor->collectives[verdict->witness.collective];

	text_wrap(view, 4,
		  "%s %s further than %s, number %" PRIu64 " on %s, and may have left it out",
		  parts_who(view, verdict->culprits), parts_plural(verdict->culprits, "is", "are"),
		  collective->function, collective->number,
		  label_comm(view, collective->comm, LABEL_FULL));
}

/* What the need of one rank shows about another rank in another call. */
static void print_other(const struct view *view)
{
	const struct waitfor *waitfor = view->waitfor;
	const struct waitfor_need *need = view->verdict->need;
	const char *who = label_wait_who(view, need->actor), *where;
	int peer = waitfor_peer(waitfor, need);
	uint32_t other = waitfor_first_actor(waitfor, peer);

	where = other == WAITFOR_NONE ? "not known where"
				      : label_wait_where(view, other, LABEL_FULL);
	if (view->verdict->witness.kind == WITNESS_AHEAD)
		text_wrap(view, 4,
			  "rank %d, %s, has not come that far: %s seems to have left out what "
			  "others wait for",
			  peer, where, who);
	else
		text_wrap(view, 4,
			  "%s waits for %s, and %s is in another call, %s. It left that call out, "
			  "made it with other arguments, or has not come to it",
			  who, label_wait_need(view, need),
			  need->peer < 0 ? text_of(view, "rank %d", peer) : "that one", where);
}

static void print_waits(const struct view *view, const struct waitfor_deadlock *deadlock)
{
	if (!print_all(view, deadlock))
		print_circle(view, deadlock);
}

void cause_print_open(const struct view *view)
{
	const struct waitfor_deadlock *deadlock = view->verdict->deadlock;

	if (!deadlock)
		return;
	text_wrap(view, 2,
		  "likely a deadlock: %s wait for each other, as the messages in the MPI library "
		  "show. They do not show which of these ranks is wrong",
		  parts_who(view, deadlock->ranks));
	print_waits(view, deadlock);
}

/* ---- Lost messages ---- */

/* The message that was sent instead. */
static void print_slip(const struct view *view)
{
	const struct waitfor_lost *lost = view->verdict->witness.lost;
	const struct waitfor_unreceived *message = &view->waitfor->unreceived[lost->message];
	static const char *const slips[] = {
		[WAITFOR_OTHER_TAG] = "the tags differ",
		[WAITFOR_OTHER_COMM] = "the communicators differ",
		[WAITFOR_OTHER_DESTINATION] = "sent to another rank",
		[WAITFOR_OTHER_SOURCE] = "sent by another rank",
	};
	uint64_t extra = message->sent - message->received;
	const char *many = extra == 1 ? "a message" : text_of(view, "%" PRIu64 " messages", extra);

	text_wrap(view, 4,
		  "rank %d has sent to rank %d %s with tag %" PRId32
		  " on %s that no receive takes: meant for this one? (%s)",
		  message->source, message->destination, many, message->tag,
		  label_comm(view, message->comm, LABEL_SHORT), slips[lost->slip]);
}

/* What the receiver has received so far: shows whether the sender or the receiver is more likely
 * wrong. */
static void print_received(const struct view *view)
{
	const struct waitfor_lost *lost = view->verdict->witness.lost;
	const struct waitfor_unreceived *message = &view->waitfor->unreceived[lost->message];
	const char *what = lost->slip == WAITFOR_OTHER_COMM ? "communicator" : "tag";
	const char *before = message->received == 1
				     ? "one like that"
				     : text_of(view, "%" PRIu64 " like that", message->received);

	if (message->received == 0) {
		text_wrap(
			view, 4,
			"rank %d has received no message like either of these from rank %d before: "
			"the send or the receive may have the wrong %s",
			message->destination, message->source, what);
		return;
	}
	text_wrap(view, 4,
		  "rank %d has received %s from rank %d before, and none like this one: its "
		  "receive may have the wrong %s, or rank %d has left out a message",
		  message->destination, before, message->source, what, message->source);
}

void cause_print_unstarted(const struct view *view, const struct waitfor_need *need, int indent)
{
	struct waitfor_unstarted unstarted;
	const struct job_site *site;

	if (!waitfor_find_unstarted(view->waitfor, need, &unstarted))
		return;
	site = &view->job->model->sites[unstarted.site];
	text_wrap(view, indent,
		  "rank %d made the request for it by %s, %s, and has not started it%s",
		  unstarted.rank, site->name, label_user_place(view, site->path, LABEL_FULL),
		  unstarted.was_started ? " again" : "");
}

/* How long ago the message was sent, at least: before its sender came to its present place. */
static const char *ago_text(const struct view *view, int sender)
{
	const struct waitfor *waitfor = view->waitfor;
	uint32_t l = waitfor_first_actor(waitfor, sender);
	uint64_t stay_ns = UINT64_MAX;

	for (; waitfor_is_actor_of(waitfor, l, sender); l++)
		if (waitfor->evidence->actors[l].stay_ns < stay_ns)
			stay_ns = waitfor->evidence->actors[l].stay_ns;
	return stay_ns == UINT64_MAX || stay_ns == 0
		       ? ""
		       : text_of(view, " at least %s ago", label_time(stay_ns).text);
}

static void print_not_arrived(const struct view *view, const char *who)
{
	const struct waitfor_need *need = view->verdict->need;
	int receiver = view->waitfor->evidence->actors[need->actor].rank;

	text_wrap(view, 4,
		  "rank %" PRId32
		  " sent it%s, and it has not arrived: in the MPI library no message has met the "
		  "receive of %s",
		  need->peer, ago_text(view, need->peer), who);
	switch (waitfor_way_between(view->waitfor, need->peer, receiver)) {
	case WAITFOR_ON_ITS_WAY:
		text_wrap(view, 4,
			  "the network or the network layer of the MPI library has it: the library "
			  "of rank %" PRId32 " has sent more messages to rank %d than the library "
			  "of rank %d has received",
			  need->peer, receiver, receiver);
		break;
	case WAITFOR_WAY_EMPTY:
		text_wrap(view, 4,
			  "the MPI library of rank %" PRId32
			  ", or a layer between it and the program, has it: the library does not "
			  "count it as in the network",
			  need->peer);
		break;
	case WAITFOR_WAY_NOT_KNOWN:
		text_wrap(view, 4, "the MPI library or the network has it");
		break;
	}
	text_wrap(view, 4, "neither of the two ranks is to blame");
}

/* ---- All that a verdict goes by ---- */

static void print_witness(const struct view *view)
{
	const struct waitfor_need *need = view->verdict->need;

	switch (view->verdict->witness.kind) {
	case WITNESS_RECEIVER:
		print_slip(view);
		print_received(view);
		break;
	case WITNESS_SLIP:
		print_slip(view);
		break;
	case WITNESS_GROUP:
		text_wrap(view, 4,
			  "rank %" PRId32
			  " never posted to it before, and another rank that did post waits for it "
			  "to complete an access: its group seems to be wrong",
			  need->peer);
		break;
	case WITNESS_NOT_ARRIVED:
		print_not_arrived(view, label_wait_who(view, need->actor));
		break;
	case WITNESS_AHEAD:
	case WITNESS_APART:
		print_other(view);
		break;
	case WITNESS_NOVEL:
		print_novel(view);
		break;
	case WITNESS_DEPARTED:
		print_departure(view);
		break;
	case WITNESS_SKIPPED:
		print_skipped(view);
		break;
	case WITNESS_NONE:
	case WITNESS_LOST:
	case WITNESS_UNSTARTED:
		break;
	}
}

static void print_deadlock(const struct view *view)
{
	const struct waitfor_deadlock *deadlock = view->verdict->deadlock;
	const char *who = parts_who(view, deadlock->ranks);

	if (rankset_count(deadlock->ranks) == 1)
		text_wrap(view, 2, "deadlock: %s waits for itself", who);
	else
		text_wrap(view, 2, "deadlock: %s wait for each other", who);
	print_waits(view, deadlock);
	print_witness(view);
	if (!rankset_is_empty(deadlock->behind))
		text_wrap(view, 4, "%s wait%s for these", parts_who(view, deadlock->behind),
			  parts_plural(deadlock->behind, "s", ""));
}

static void print_lost(const struct view *view)
{
	enum verdict_witness_kind witness = view->verdict->witness.kind;
	const struct waitfor_need *need = view->verdict->need;
	const char *who = label_wait_who(view, need->actor);
	/* A request that was not started tells more. */
	bool is_step = witness == WITNESS_NOVEL || witness == WITNESS_DEPARTED;

	text_wrap(view, 2, "lost message: %s waits for %s", who, label_wait_need(view, need));
	if (witness != WITNESS_NOT_ARRIVED)
		text_wrap(view, 4, "%s: %s", who, label_wait_where(view, need->actor, LABEL_FULL));
	if (!is_step)
		print_witness(view);
	if (witness != WITNESS_NOT_ARRIVED)
		cause_print_unstarted(view, need, 4);
	if (is_step)
		print_witness(view);
}

/* ---- In the library ---- */

/* Print what the first culprit waits for although the counts of calls show that it was done. */
static void print_library(const struct view *view)
{
	const struct waitfor *waitfor = view->waitfor;
	const struct rankset *culprits = view->verdict->culprits;
	const struct waitfor_need *need = NULL;
	uint32_t l = waitfor_first_actor(waitfor, rankset_first(culprits));

	for (; waitfor_is_actor_of(waitfor, l, rankset_first(culprits)) && !need; l++)
		need = waitfor_next_need(waitfor, l, NULL);
	if (!need) {
		text_wrap(view, 2,
			  "stuck inside MPI: nothing that %s need%s is missing, but the transfers "
			  "do not end",
			  parts_who(view, culprits), parts_plural(culprits, "s", ""));
		return;
	}
	text_wrap(view, 2, "stuck inside MPI: %s waits for %s", label_wait_who(view, l - 1),
		  label_wait_need(view, need));
	text_wrap(
		view, 4,
		"the counts of calls say that it is there, but it does not arrive: the MPI library "
		"or the network still has it, or another call has taken it");
}

/* ---- All kinds ---- */

void cause_print(const struct view *view)
{
	switch (view->verdict->kind) {
	case VERDICT_DEADLOCK:
		print_deadlock(view);
		break;
	case VERDICT_MISMATCH:
		cause_print_mismatch(view, view->verdict->mismatch, 2);
		print_witness(view);
		break;
	case VERDICT_LOST:
		print_lost(view);
		break;
	case VERDICT_LIBRARY:
		print_library(view);
		break;
	case VERDICT_LEAST:
		print_witness(view);
		break;
	default:
		break;
	}
}

bool cause_has_places(const struct view *view)
{
	return (view->verdict->kind == VERDICT_DEADLOCK || view->verdict->kind == VERDICT_MISMATCH);
}

/* ---- Who waits for the culprits ---- */

/* Other ranks with a need, not a weak one, that leads directly to one of `ranks`. waits (or NULL)
 * gets them by what they wait for; awaited (or NULL) gets the ranks of `ranks` that they wait
 * for. */
static struct rankset *find_waiting(const struct view *view, const struct rankset *ranks,
				    struct same *waits, struct rankset *awaited)
{
	const struct waitfor *waitfor = view->waitfor;
	struct rankset *waiting = parts_set(view);
	bool *is_met = waitfor_find_met(waitfor, ranks, view->arena);
	uint32_t last = WAITFOR_NONE;

	for (size_t n = 0; n < waitfor->num_needs; n++) {
		const struct waitfor_need *need = &waitfor->needs[n];
		int rank = waitfor->evidence->actors[need->actor].rank;

		if (need->is_weak || rankset_contains(ranks, rank) || !is_met[need->node] ||
		    (need->peer >= 0 && !rankset_contains(ranks, need->peer)))
			continue;
		/* Many wait in one collective, for the same ranks. */
		if (awaited && need->node != last)
			waitfor_add_peers(waitfor, need, awaited);
		last = need->node;
		rankset_add(waiting, rank);
		if (waits)
			add_need(waits, view, need);
	}
	if (awaited)
		rankset_keep_set(awaited, ranks);
	return waiting;
}

/* As same_sort(), but entries that compare equal are left in their order. */
static int compare_waits(const void *a, const void *b)
{
	const struct same_entry *one = a, *two = b;
	int order = rankset_count(two->ranks) - rankset_count(one->ranks);

	return order ? order : rankset_first(one->ranks) - rankset_first(two->ranks);
}

/* How many of `rest` wait for `direct`, directly or through others of `rest`. */
static int count_behind(const struct view *view, const struct rankset *direct,
			const struct rankset *rest)
{
	struct rankset *reached = parts_copy(view, direct);
	int before, after = rankset_count(reached);

	for (int round = 0; round < MAX_ROUNDS; round++) {
		struct rankset *near = find_waiting(view, reached, NULL, NULL);

		before = after;
		rankset_keep_set(near, rest);
		rankset_add_set(reached, near);
		after = rankset_count(reached);
		if (after == before)
			break;
	}
	return after - rankset_count(direct);
}

/* "all others wait for ranks 99,101", if this says everything. */
static void print_behind(const struct view *view, const struct rankset *direct, int indent)
{
	struct rankset *rest = parts_copy(view, view->verdict->waiting), *near;
	struct rankset *awaited = parts_set(view);
	int number, behind;
	const char *who;

	rankset_remove_set(rest, direct);
	rankset_remove_set(rest, view->verdict->culprits);
	number = rankset_count(rest);
	near = find_waiting(view, direct, NULL, awaited);
	rankset_keep_set(near, rest);
	behind = count_behind(view, direct, rest);
	who = parts_who(view, awaited);
	if (number == 1 && behind == 1)
		text_wrap(view, indent, "rank %d waits for %s", rankset_first(rest), who);
	else if (number > 0 && rankset_count(near) == number)
		text_wrap(view, indent, "all others wait for %s", who);
	else if (number > 0 && behind == number)
		text_wrap(view, indent, "all others wait for these in turn");
	else if (behind > 0)
		text_wrap(view, indent, "%d of the %d others wait%s for these in turn", behind,
			  number, behind == 1 ? "s" : "");
}

void cause_print_waits(const struct view *view, int indent)
{
	struct same waits = {.arena = view->arena};
	struct rankset *direct;
	/* Waits for a lost message are already shown. */
	size_t max = view->verdict->kind == VERDICT_LOST ? 0 : MAX_WAITS;

	if (rankset_is_empty(view->verdict->culprits))
		return;
	direct = find_waiting(view, view->verdict->culprits, &waits, NULL);
	if (waits.num)
		qsort(waits.entries, waits.num, sizeof(*waits.entries), compare_waits);
	for (size_t i = 0; i < waits.num && i < max; i++)
		text_wrap(view, indent, "%s wait%s for %s", parts_who(view, waits.entries[i].ranks),
			  parts_plural(waits.entries[i].ranks, "s", ""), waits.entries[i].text);
	if (max && waits.num > max)
		text_wrap(view, indent, "and %zu more waits of this kind, see \"waits\"",
			  waits.num - max);
	if (waits.num)
		print_behind(view, direct, indent);
}

/* ---- What next ---- */

const char *cause_next(const struct view *view)
{
	const struct verdict *verdict = view->verdict;

	if (verdict->kind == VERDICT_DEADLOCK)
		return "\"waits\", ";
	if (verdict->kind == VERDICT_MISMATCH)
		return text_of(view, "\"collectives %" PRIu32 "\", ", verdict->mismatch->comm + 1);
	if (verdict->kind == VERDICT_LOST)
		return text_of(view, "\"messages %d\", ",
			       view->waitfor->evidence->actors[verdict->need->actor].rank);
	return "";
}
