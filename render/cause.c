/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/verdict/verdict.h"
#include "analysis/waits/waitfor.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "model/job/job_model.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "render/cause.h"
#include "render/comm_label.h"
#include "render/parts.h"
#include "render/queue_cause.h"
#include "render/text.h"
#include "render/view.h"
#include "render/wait_label.h"

enum { MAX_STEPS = 6, MAX_PARTIES = 6, MAX_WAITS = 4, MAX_ROUNDS = 64 };

static const char *plural(const struct rankset *ranks, const char *one, const char *many)
{
	return rankset_count(ranks) == 1 ? one : many;
}

/* ---- Waits in groups ---- */

/* Waits that read the same but for who waits. */
struct waits {
	char *text;
	struct rankset *ranks;
	uint32_t lane, need; /* the first of them */
};

struct waits_list {
	struct waits *waits;
	size_t num_waits, capacity;
};

/* Takes over text. */
static void add_wait(struct waits_list *list, const struct view *view, char *text, uint32_t lane,
		     uint32_t need)
{
	size_t i = 0;

	while (i < list->num_waits && strcmp(list->waits[i].text, text) != 0)
		i++;
	if (i == list->num_waits) {
		list->waits =
			xgrow(list->waits, list->num_waits, &list->capacity, sizeof(*list->waits));
		list->waits[list->num_waits++] = (struct waits){text, rankset_create(), lane, need};
	} else {
		free(text);
	}
	rankset_add(list->waits[i].ranks, view->job->model->lanes[lane].rank);
}

/* What a need reads like; collectives that several wait in by calls of their own are told once. */
static void add_need(struct waits_list *list, const struct view *view, uint32_t lane, uint32_t need)
{
	const struct waitfor_need *needs = view->waitfor->needs;

	for (size_t i = 0; i < list->num_waits && needs[need].kind == WAITFOR_MEMBERS; i++) {
		const struct waitfor_need *known = &needs[list->waits[i].need];

		if (known->node != needs[need].node || known->request != WAITFOR_NONE ||
		    needs[need].request != WAITFOR_NONE)
			continue;
		rankset_add(list->waits[i].ranks, view->job->model->lanes[lane].rank);
		return;
	}
	add_wait(list, view, wait_label_need(view, need), lane, need);
}

static void free_waits(struct waits_list *list)
{
	for (size_t i = 0; i < list->num_waits; i++) {
		free(list->waits[i].text);
		rankset_destroy(list->waits[i].ranks);
	}
	free(list->waits);
}

/* ---- Deadlocks ---- */

/* "in MPI_Recv, exchange() at pair.c:31, waits for ...": all but who. The caller frees. */
static char *step_text(const struct view *view, uint32_t lane, uint32_t need, bool is_one)
{
	char *where = wait_label_where(view, lane), *what = wait_label_need(view, need);
	char *text = xasprintf("%s, wait%s for %s", where, is_one ? "s" : "", what);

	free(where);
	free(what);
	return text;
}

/* The need to tell of a lane: that of the circle, else the first that is not weak. */
static uint32_t find_need(const struct waitfor *waitfor, const struct waitfor_deadlock *deadlock,
			  uint32_t l)
{
	const struct waitfor_lane *lane = &waitfor->lanes[l];

	for (size_t i = 0; i < deadlock->num_cycle; i++)
		if (deadlock->cycle[i].lane == l)
			return deadlock->cycle[i].need;
	for (uint32_t n = lane->first_need; n < lane->first_need + lane->num_needs; n++)
		if (!waitfor->needs[n].is_weak)
			return n;
	return WAITFOR_NONE;
}

/* All of the deadlock, those who wait alike together. False, and nothing printed, if that is too
 * much. */
static bool print_all(const struct view *view, const struct waitfor_deadlock *deadlock)
{
	struct waits_list list = {0};
	bool is_fit = true;

	for (size_t i = 0; i < deadlock->num_lanes && is_fit; i++) {
		uint32_t l = deadlock->lanes[i], need = find_need(view->waitfor, deadlock, l);

		if (need != WAITFOR_NONE)
			add_wait(&list, view, step_text(view, l, need, false), l, need);
		is_fit = list.num_waits <= MAX_STEPS;
	}
	for (size_t i = 0; i < list.num_waits && is_fit; i++) {
		const struct waits *waits = &list.waits[i];
		bool is_one = rankset_count(waits->ranks) == 1;
		char *who = is_one ? wait_label_who(view, waits->lane) : parts_who(waits->ranks);
		char *text = step_text(view, waits->lane, waits->need, is_one);

		text_wrap(view, 4, "%s, %s", who, text);
		free(who);
		free(text);
	}
	free_waits(&list);
	return is_fit;
}

static void print_circle(const struct view *view, const struct waitfor_deadlock *deadlock)
{
	size_t number = deadlock->num_cycle;

	for (size_t i = 0; i < number; i++) {
		const struct waitfor_step *step = &deadlock->cycle[i];
		char *who, *text;

		if (number > MAX_STEPS && i == MAX_STEPS / 2) {
			text_wrap(view, 4, "... %zu more like these ...", number - MAX_STEPS);
			i = number - MAX_STEPS / 2 - 1;
			continue;
		}
		who = wait_label_who(view, step->lane);
		text = step_text(view, step->lane, step->need, true);
		text_wrap(view, 4, "%s, %s", who, text);
		free(who);
		free(text);
	}
}

/* "MPI_Recv, main() ring.c:25" */
static char *site_text(const struct view *view, uint32_t state)
{
	const struct job_site *site = &view->job->model->sites[SEG_STATE_SITE(state)];
	char *place, *text;

	if (SEG_STATE_SITE(state) == 0)
		return xstrdup("the start");
	place = label_user_place(view->job, site->path, LABEL_SHORT);
	text = xasprintf("%s, %s", site->name, place);
	free(place);
	return text;
}

/* A rank took a step as no other: between its ends lies what was skipped, or done too much. */
static void print_novel(const struct view *view)
{
	const struct verdict *verdict = view->verdict;
	const struct job_transition *novel;
	char *from, *to;

	if (verdict->novel == UINT32_MAX)
		return;
	novel = &view->job->model->transitions[verdict->novel];
	from = site_text(view, novel->from);
	to = site_text(view, novel->to);
	if (SEG_STATE_SITE(novel->from) == SEG_STATE_SITE(novel->to))
		text_wrap(view, 4,
			  "rank %d alone, and only once, went round to %s without what all others "
			  "call in between: look there",
			  verdict->novel_rank, to);
	else
		text_wrap(
			view, 4,
			"rank %d alone, and only once, came from %s, straight to %s: look between "
			"these",
			verdict->novel_rank, from, to);
	free(from);
	free(to);
}

/* A rank went on otherwise than it did before: what it used to call there may be what it has
 * left out. */
static void print_departure(const struct view *view)
{
	const struct departure *departure = &view->verdict->departure;
	char *last, *call, *usual, *often, *memory;

	if (departure->num_times == 0)
		return;
	last = site_text(view, departure->last);
	call = site_text(view, departure->call);
	usual = site_text(view, departure->usual);
	often = departure->num_usual < departure->num_times
			? xasprintf("%zu of %zu times", departure->num_usual, departure->num_times)
			: xasprintf("%zu times", departure->num_times);
	memory = departure->num_memory > 1
			 ? xasprintf(", after the same %zu calls", departure->num_memory)
			 : xstrdup("");
	text_wrap(
		view, 4,
		"rank %d, %s, went on otherwise than before: from %s, to %s; %s had gone on to %s "
		"%s%s",
		view->verdict->departed_rank,
		view->verdict->num_departed_later ? "before others of these"
						  : "and no other of these",
		last, call, departure->num_own < departure->num_times ? "it and others" : "it",
		usual, often, memory);
	free(last);
	free(call);
	free(usual);
	free(often);
	free(memory);
}

/* Who is not where the others are has gone past it. */
static void print_skipped(const struct view *view)
{
	const struct verdict *verdict = view->verdict;
	const struct waitfor_collective *collective;
	char *who, *comm;

	if (verdict->skipped == WAITFOR_NONE)
		return;
	collective = &view->waitfor->collectives[verdict->skipped];
	who = parts_who(verdict->culprits);
	comm = comm_label(view, collective->comm, LABEL_FULL);
	text_wrap(view, 4,
		  "%s %s further than %s, number %" PRIu64
		  " on %s: left out, if it is to be called "
		  "before",
		  who, plural(verdict->culprits, "is", "are"), collective->function,
		  collective->number, comm);
	free(who);
	free(comm);
}

static void print_deadlock(const struct view *view)
{
	const struct waitfor_deadlock *deadlock = &view->waitfor->deadlocks[view->verdict->which];
	char *who = parts_who(deadlock->ranks), *behind = parts_who(deadlock->behind);

	if (rankset_count(deadlock->ranks) == 1)
		text_wrap(view, 2, "deadlock: %s waits for itself", who);
	else
		text_wrap(view, 2, "deadlock: %s wait for each other", who);
	if (!print_all(view, deadlock))
		print_circle(view, deadlock);
	print_novel(view);
	print_departure(view);
	print_skipped(view);
	if (!rankset_is_empty(deadlock->behind))
		text_wrap(view, 4, "%s wait%s for these", behind,
			  plural(deadlock->behind, "s", ""));
	free(who);
	free(behind);
}

/* ---- Mismatches ---- */

/* The job's rank of a root. */
static char *root_text(const struct view *view, uint32_t comm, int32_t root)
{
	const struct job_comm *of = &view->comms->comms[comm];

	if (root >= 0 && (size_t)root < of->sizes[0] && of->groups[0][root] >= 0 &&
	    of->groups[0][root] != root)
		return xasprintf("root %" PRId32 " (rank %d)", root, of->groups[0][root]);
	if (root >= 0)
		return xasprintf("root %" PRId32, root);
	return xstrdup("no root");
}

static void print_party(const struct view *view, const struct waitfor_mismatch *mismatch,
			const struct waitfor_party *party, int indent)
{
	char *who = parts_who(party->ranks), *more = xstrdup("");
	char *place =
		label_user_place(view->job, view->job->model->sites[party->site].path, LABEL_FULL);

	if (mismatch->what == WAITFOR_OTHER_ROOT) {
		char *root = root_text(view, mismatch->comm, party->root);

		free(more);
		more = xasprintf(" with %s", root);
		free(root);
	} else if (mismatch->what == WAITFOR_OTHER_BYTES) {
		free(more);
		more = xasprintf(" of %" PRIu64 " bytes", party->bytes);
	}
	text_wrap(view, indent, "%s: %s%s, %s%s", who, party->function, more, place,
		  party->is_waiting ? "" : ", and is done with it");
	free(who);
	free(more);
	free(place);
}

void cause_print_mismatch(const struct view *view, const struct waitfor_mismatch *mismatch,
			  int indent)
{
	char *comm = comm_label(view, mismatch->comm, LABEL_FULL);
	const char *function = mismatch->parties[0].function;

	if (mismatch->what == WAITFOR_OTHER_FUNCTION)
		text_wrap(view, indent,
			  "mismatch: different functions as collective number %" PRIu64 " on %s",
			  mismatch->number, comm);
	else
		text_wrap(view, indent,
			  "mismatch: different %s in %s, collective number %" PRIu64 " on %s",
			  mismatch->what == WAITFOR_OTHER_ROOT ? "roots" : "sizes", function,
			  mismatch->number, comm);
	for (size_t i = 0; i < mismatch->num_parties && i < MAX_PARTIES; i++)
		print_party(view, mismatch, &mismatch->parties[i], indent + 2);
	if (mismatch->num_parties > MAX_PARTIES)
		text_wrap(view, indent + 2, "and %zu more kinds",
			  mismatch->num_parties - MAX_PARTIES);
	free(comm);
}

/* ---- Lost messages ---- */

/* What somebody has sent in its place. */
static void print_slip(const struct view *view, const struct waitfor_lost *lost)
{
	const struct waitfor_unreceived *message = &view->waitfor->unreceived[lost->message];
	static const char *const slips[] = {
		[WAITFOR_OTHER_TAG] = "the tags differ",
		[WAITFOR_OTHER_COMM] = "the communicators differ",
		[WAITFOR_OTHER_DESTINATION] = "sent to another rank",
		[WAITFOR_OTHER_SOURCE] = "sent by another rank",
	};
	uint64_t extra = message->sent - message->received;
	char *comm = comm_label(view, message->comm, LABEL_SHORT);
	char *many = extra == 1 ? xstrdup("a message") : xasprintf("%" PRIu64 " messages", extra);

	text_wrap(view, 4,
		  "rank %d has sent to rank %d %s with tag %" PRId32
		  " on %s that no receive takes: meant for this one? (%s)",
		  message->source, message->destination, many, message->tag, comm,
		  slips[lost->slip]);
	free(comm);
	free(many);
}

static void print_lost(const struct view *view)
{
	const struct verdict *verdict = view->verdict;
	char *who = wait_label_who(view, verdict->lane);
	char *where = wait_label_where(view, verdict->lane);
	char *need = wait_label_need(view, verdict->need);

	text_wrap(view, 2, "lost message: %s waits for %s", who, need);
	text_wrap(view, 4, "%s: %s", who, where);
	if (verdict->which != WAITFOR_NONE)
		print_slip(view, &view->waitfor->losts[verdict->which]);
	print_novel(view);
	print_departure(view);
	free(who);
	free(where);
	free(need);
}

/* ---- All kinds ---- */

static void print_library(const struct view *view)
{
	char *who = parts_who(view->verdict->culprits);

	text_wrap(view, 2,
		  "stuck inside MPI: nothing that %s need%s is missing, and yet the transfers do "
		  "not end",
		  who, plural(view->verdict->culprits, "s", ""));
	free(who);
}

void cause_print(const struct view *view)
{
	if (view->verdict->queue_cause)
		queue_cause_print(view);
	if (view->verdict->queue_cause || !view->waitfor)
		return;
	switch (view->verdict->kind) {
	case VERDICT_DEADLOCK:
		print_deadlock(view);
		break;
	case VERDICT_MISMATCH:
		cause_print_mismatch(view, &view->waitfor->mismatches[view->verdict->which], 2);
		print_departure(view);
		break;
	case VERDICT_LOST:
		print_lost(view);
		break;
	case VERDICT_LIBRARY:
		print_library(view);
		break;
	case VERDICT_LEAST:
		print_novel(view);
		break;
	default:
		break;
	}
}

bool cause_has_places(const struct view *view)
{
	return view->waitfor && !view->verdict->queue_cause &&
	       (view->verdict->kind == VERDICT_DEADLOCK || view->verdict->kind == VERDICT_MISMATCH);
}

/* ---- Who waits for the culprits ---- */

/* Which of some ranks are waited for, by collective and by communicator that is received from with
 * a wildcard: those who wait for the same wait for the same ranks, as far as they are none of them.
 */
struct peers {
	const struct rankset *ranks;
	struct rankset **of_collective, **of_comm; /* NULL: not asked yet */
	struct rankset *other;                     /* of the last need of another kind */
};

static const struct rankset *find_peers(struct peers *peers, const struct waitfor *waitfor,
					uint32_t n)
{
	const struct waitfor_need *need = &waitfor->needs[n];
	uint32_t collective = waitfor_collective_of(waitfor, need->node);
	struct rankset **kept = &peers->other;

	if (collective != WAITFOR_NONE)
		kept = &peers->of_collective[collective];
	else if (need->kind == WAITFOR_MESSAGE && need->peer < 0)
		kept = &peers->of_comm[need->comm];
	if (kept == &peers->other) {
		rankset_destroy(*kept);
		*kept = NULL;
	}
	if (!*kept) {
		*kept = rankset_create();
		waitfor_add_peers(waitfor, n, *kept);
		rankset_keep_set(*kept, peers->ranks);
	}
	return *kept;
}

static void free_peers(struct peers *peers, const struct waitfor *waitfor)
{
	for (size_t c = 0; c < waitfor->num_collectives; c++)
		rankset_destroy(peers->of_collective[c]);
	for (size_t c = 0; c < waitfor->comms->num_comms; c++)
		rankset_destroy(peers->of_comm[c]);
	rankset_destroy(peers->other);
	free(peers->of_collective);
	free(peers->of_comm);
}

/* Ranks whose needs lead to one of `ranks` at once, `ranks` themselves apart. list (or NULL): they
 * by what they wait for; awaited (or NULL): those of `ranks` that they wait for. Weak needs are
 * passed over. */
static struct rankset *find_waiting(const struct view *view, const struct rankset *ranks,
				    struct waits_list *list, struct rankset *awaited)
{
	const struct waitfor *waitfor = view->waitfor;
	struct rankset *waiting = rankset_create();
	struct peers peers = {.ranks = ranks};

	peers.of_collective = xcalloc(waitfor->num_collectives, sizeof(*peers.of_collective));
	peers.of_comm = xcalloc(waitfor->comms->num_comms, sizeof(*peers.of_comm));
	for (uint32_t l = 0; l < waitfor->num_lanes; l++) {
		const struct waitfor_lane *lane = &waitfor->lanes[l];
		int rank = view->job->model->lanes[l].rank;

		for (uint32_t n = lane->first_need; n < lane->first_need + lane->num_needs; n++) {
			const struct waitfor_need *need = &waitfor->needs[n];
			const struct rankset *met;

			if (need->is_weak || rankset_contains(ranks, rank) ||
			    (need->peer >= 0 && !rankset_contains(ranks, need->peer)))
				continue;
			met = find_peers(&peers, waitfor, n);
			if (rankset_is_empty(met))
				continue;
			rankset_add(waiting, rank);
			if (list)
				add_need(list, view, l, n);
			if (awaited)
				rankset_add_set(awaited, met);
		}
	}
	free_peers(&peers, waitfor);
	return waiting;
}

static int compare_waits(const void *a, const void *b)
{
	const struct waits *one = a, *two = b;
	int order = rankset_count(two->ranks) - rankset_count(one->ranks);

	return order ? order : rankset_first(one->ranks) - rankset_first(two->ranks);
}

/* How many of `rest` wait for `direct`, be it by way of others of them. */
static int count_behind(const struct view *view, const struct rankset *direct,
			const struct rankset *rest)
{
	struct rankset *reached = rankset_copy(direct);
	int before, after = rankset_count(reached);

	for (int round = 0; round < MAX_ROUNDS; round++) {
		struct rankset *near = find_waiting(view, reached, NULL, NULL);

		before = after;
		rankset_keep_set(near, rest);
		rankset_add_set(reached, near);
		rankset_destroy(near);
		after = rankset_count(reached);
		if (after == before)
			break;
	}
	rankset_destroy(reached);
	return after - rankset_count(direct);
}

/* "all others wait for ranks 99,101" where that is all there is to say of them. */
static void print_behind(const struct view *view, const struct rankset *direct, int indent)
{
	struct rankset *rest = rankset_copy(view->verdict->waiting), *near;
	struct rankset *awaited = rankset_create();
	int number, behind;
	char *who;

	rankset_remove_set(rest, direct);
	rankset_remove_set(rest, view->verdict->culprits);
	number = rankset_count(rest);
	near = find_waiting(view, direct, NULL, awaited);
	rankset_keep_set(near, rest);
	behind = count_behind(view, direct, rest);
	who = parts_who(awaited);
	if (number == 1 && behind == 1)
		text_wrap(view, indent, "rank %d waits for %s", rankset_first(rest), who);
	else if (number > 0 && rankset_count(near) == number)
		text_wrap(view, indent, "all others wait for %s", who);
	else if (number > 0 && behind == number)
		text_wrap(view, indent, "all others wait for these in turn");
	else if (behind > 0)
		text_wrap(view, indent, "%d of the %d others wait%s for these in turn", behind,
			  number, behind == 1 ? "s" : "");
	rankset_destroy(rest);
	rankset_destroy(near);
	rankset_destroy(awaited);
	free(who);
}

void cause_print_waits(const struct view *view, int indent)
{
	struct waits_list list = {0};
	struct rankset *direct;
	/* Who waits for a lost message is told already. */
	size_t max = view->verdict->kind == VERDICT_LOST ? 0 : MAX_WAITS;

	if (!view->waitfor || rankset_is_empty(view->verdict->culprits))
		return;
	direct = find_waiting(view, view->verdict->culprits, &list, NULL);
	if (list.num_waits)
		qsort(list.waits, list.num_waits, sizeof(*list.waits), compare_waits);
	for (size_t i = 0; i < list.num_waits && i < max; i++) {
		char *who = parts_who(list.waits[i].ranks);

		text_wrap(view, indent, "%s wait%s for %s", who,
			  plural(list.waits[i].ranks, "s", ""), list.waits[i].text);
		free(who);
	}
	if (max && list.num_waits > max)
		text_wrap(view, indent, "and %zu more waits of this kind, see \"waits\"",
			  list.num_waits - max);
	if (list.num_waits)
		print_behind(view, direct, indent);
	free_waits(&list);
	rankset_destroy(direct);
}

/* ---- What next ---- */

char *cause_next(const struct view *view)
{
	const struct verdict *verdict = view->verdict;

	if (verdict->queue_cause)
		return xstrdup("\"waits\", ");
	switch (verdict->kind) {
	case VERDICT_DEADLOCK:
		return xstrdup("\"waits\", ");
	case VERDICT_MISMATCH:
		return xasprintf("\"collectives %" PRIu32 "\", ",
				 view->waitfor->mismatches[verdict->which].comm + 1);
	case VERDICT_LOST:
		return xasprintf("\"messages %d\", ", view->job->model->lanes[verdict->lane].rank);
	default:
		return xstrdup("");
	}
}
