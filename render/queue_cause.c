/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/verdict/verdict.h"
#include "analysis/waits/queue_waits.h"
#include "model/job/message_queues.h"
#include "render/parts.h"
#include "render/queue_cause.h"
#include "render/stack_places.h"
#include "render/text.h"
#include "render/view.h"

enum { MAX_STEPS = 6 };

/* " with tag 7", or nothing where any will do or it is not known. */
static const char *tag_text(const struct view *view, int32_t tag)
{
	if (tag == MESSAGE_ANY_TAG || tag == MESSAGE_TAG_NOT_KNOWN)
		return "";
	return text_of(view, " with tag %" PRId32, tag);
}

/* " on halo"; nothing for MPI_COMM_WORLD. Open MPI calls those without a name "MPI COMMUNICATOR
 * 3 DUP FROM 0". */
static const char *on_text(const struct view *view, const char *comm)
{
	bool is_plain = !*comm || strcmp(comm, "MPI_COMM_WORLD") == 0;
	int number;

	if (sscanf(comm, "MPI COMMUNICATOR %d ", &number) == 1)
		return text_of(view, " on communicator %d", number);
	return is_plain ? "" : text_of(view, " on %s", comm);
}

const char *queue_wait_label_of(const struct view *view, const struct queue_wait *wait,
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

const char *queue_wait_label(const struct view *view, const struct queue_wait *wait)
{
	return queue_wait_label_of(view, wait, text_of(view, "rank %d", wait->peer), "its");
}

/* "rank 3: in MPI_Recv, exchange() at halo.c:12, waits for ..." */
static void print_step(const struct view *view, const struct queue_wait *wait)
{
	const char *place = stack_place(view, wait->rank);

	text_wrap(view, 4, "rank %d, in %s, waits for %s", wait->rank, place ? place : "MPI",
		  queue_wait_label(view, wait));
}

static void print_lost(const struct view *view, const struct queue_wait *wait)
{
	const char *place = stack_place(view, wait->rank);

	text_wrap(view, 2, "lost message: rank %d waits for %s, which has not sent it", wait->rank,
		  queue_wait_label(view, wait));
	text_wrap(view, 4, "rank %d: in %s", wait->rank, place ? place : "MPI");
	text_wrap(view, 4,
		  "rank %d waits elsewhere, in the end for rank %d: it went on without sending "
		  "that, or rank "
		  "%d should not wait for it",
		  wait->peer, wait->rank, wait->rank);
}

static void print_skipped(const struct view *view, const struct queue_wait *wait)
{
	const char *call = stack_call(view, wait->peer);

	print_step(view, wait);
	text_wrap(view, 4,
		  "rank %d waits in %s and has not come that far: rank %d seems to have left out "
		  "what others "
		  "wait for",
		  wait->peer, call ? call : "MPI", wait->rank);
}

static void print_apart(const struct view *view, const struct queue_wait *wait)
{
	const char *call = stack_call(view, wait->peer);

	print_step(view, wait);
	text_wrap(view, 4,
		  "rank %d is in another call, %s: it seems to have left that out, or not to have "
		  "come to it",
		  wait->peer, call ? call : "of MPI");
}

static void print_cycle(const struct view *view, const struct queue_cause *cause)
{
	for (size_t i = 0; i < cause->num_waits && i < MAX_STEPS; i++)
		print_step(view, &cause->waits[i]);
	if (cause->num_waits > MAX_STEPS)
		text_wrap(view, 4, "... %zu more like these ...", cause->num_waits - MAX_STEPS);
}

void queue_cause_print(const struct view *view)
{
	const struct queue_cause *cause = view->verdict->queue_cause;
	const char *who = parts_who(view, cause->kind == QUEUE_CAUSE_CYCLE ? view->verdict->culprits
									   : cause->ranks);

	if (cause->kind == QUEUE_CAUSE_OPEN)
		text_wrap(view, 2,
			  "a deadlock, likely: %s wait for each other, by the messages that the "
			  "MPI library "
			  "holds; who of them went wrong these do not tell",
			  who);
	else if (cause->kind != QUEUE_CAUSE_LOST)
		text_wrap(view, 2, "deadlock: %s wait for each other", who);
	switch (cause->kind) {
	case QUEUE_CAUSE_LOST:
		print_lost(view, &cause->waits[0]);
		break;
	case QUEUE_CAUSE_SKIPPED:
		print_skipped(view, &cause->waits[0]);
		break;
	case QUEUE_CAUSE_APART:
		print_apart(view, &cause->waits[0]);
		break;
	case QUEUE_CAUSE_CYCLE:
	case QUEUE_CAUSE_OPEN:
		print_cycle(view, cause);
		break;
	}
}
