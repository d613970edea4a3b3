/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/progress/eqgroup.h"
#include "analysis/waits/waitfor.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/words/parts.h"

/* "main thread", "thread 1" */
static const char *thread_name(const struct view *view, const struct job_lane *of)
{
	return of->data->is_main ? "main thread" : text_of(view, "thread %d", of->lane);
}

const char *label_wait_who(const struct view *view, uint32_t a)
{
	const struct actor *actor = &view->waitfor->evidence->actors[a];
	const struct job_lane *of = actor->lane;

	if (!of)
		return text_of(view, "rank %d", actor->rank);
	if (of->model->num_lanes > 1)
		return text_of(view, "rank %d, %s", of->rank, thread_name(view, of));
	return text_of(view, "rank %d", of->rank);
}

const char *label_wait_where(const struct view *view, uint32_t a, enum label_detail detail)
{
	const struct actor *actor = &view->waitfor->evidence->actors[a];
	const char *place, *wait;

	if (actor->lane)
		return label_where(view, &view->groups->groups[view->groups->group_of[a]], detail);
	if (actor->stack->latest->path == CALLPATH_NONE)
		return "at a place that is not known";
	place = label_stack(view, actor->stack->latest->path);
	wait = actor->activity == ACTIVITY_COMPUTING || actor->stack->awaited
		       ? label_thread_wait(view, actor->stack->latest, true)
		       : NULL;
	if (wait)
		place = text_of(view, "%s, %s", place, wait);
	if (actor->activity == ACTIVITY_COMPUTING)
		return text_of(view, "outside MPI, %s", place);
	return text_of(view, "in %s", place);
}

const char *label_wait_on(const struct view *view, uint32_t comm)
{
	const struct job_comm *of = comm == SEG_NO_COMM ? NULL : &view->comms->comms[comm];

	/* For messages, MPI_COMM_WORLD is not mentioned. */
	if (!of || (of->parent == SEG_NO_COMM && of->name && !strcmp(of->name, "MPI_COMM_WORLD")))
		return "";
	return text_of(view, " on %s", label_comm(view, comm, LABEL_SHORT));
}

/* The same for a communicator whose name alone was read. Open MPI calls most of them "MPI
 * COMMUNICATOR 3 DUP FROM 0". */
static const char *on_name(const struct view *view, const char *name)
{
	int number;

	if (sscanf(name, "MPI COMMUNICATOR %d ", &number) == 1)
		return text_of(view, " on communicator %d", number);
	return !*name || strcmp(name, "MPI_COMM_WORLD") == 0 ? "" : text_of(view, " on %s", name);
}

static const char *on_text(const struct view *view, const struct waitfor_need *need)
{
	return need->comm_name ? on_name(view, need->comm_name) : label_wait_on(view, need->comm);
}

/* "tag 7", "any tag" */
static const char *tag_text(const struct view *view, int32_t tag)
{
	return tag == SEG_TAG_ANY ? "any tag" : text_of(view, "tag %" PRId32, tag);
}

/* " with tag 7"; "" where it is not known. */
static const char *with_tag(const struct view *view, int32_t tag)
{
	return tag == WAITFOR_NO_TAG ? "" : text_of(view, " with %s", tag_text(view, tag));
}

/* " (MPI_Irecv, halo() solver.c:128)": the call that began it; "" for the call itself. */
static const char *begun_text(const struct view *view, const struct waitfor_need *need)
{
	const struct job_site *site;

	if (need->request == WAITFOR_NONE)
		return "";
	site = &view->job->model->sites[need->site];
	return text_of(view, " (%s, %s)", site->name,
		       label_user_place(view, site->path, LABEL_SHORT));
}

/* ---- One need ---- */

static bool is_counted(const struct waitfor_need *need)
{
	return need->number != WAITFOR_NOT_KNOWN && need->given != WAITFOR_NOT_KNOWN &&
	       need->number > 0;
}

/* "message 413" or "a message" */
static const char *message_name(const struct view *view, const struct waitfor_need *need)
{
	return is_counted(need) ? text_of(view, "message %" PRIu64, need->number) : "a message";
}

/* ", which has sent 412" if the count is certain, else "". */
static const char *given_text(const struct view *view, const struct waitfor_need *need,
			      const char *did)
{
	if (!need->is_certain || !is_counted(need))
		return "";
	if (need->given == 0)
		return text_of(view, "%s none", did);
	return text_of(view, "%s %" PRIu64, did, need->given);
}

static const char *message_text(const struct view *view, const struct waitfor_need *need,
				const char *on, const char *begun)
{
	const char *tag = with_tag(view, need->tag);

	if (need->peer < 0)
		return text_of(view, "a message%s%s from any rank (MPI_ANY_SOURCE)%s", tag, on,
			       begun);
	if (need->is_sent)
		return text_of(view, "%s%s%s from rank %" PRId32 "%s, which has sent it",
			       message_name(view, need), tag, on, need->peer, begun);
	return text_of(view, "%s%s%s from rank %" PRId32 "%s%s", message_name(view, need), tag, on,
		       need->peer, begun, given_text(view, need, ", which has sent"));
}

static const char *receive_text(const struct view *view, const struct waitfor_need *need,
				const char *on, const char *begun)
{
	return text_of(view, "rank %" PRId32 " to receive %s%s%s%s%s", need->peer,
		       need->is_read ? "its message" : message_name(view, need),
		       with_tag(view, need->tag), on, begun,
		       given_text(view, need, "; it has posted receives for"));
}

static const char *members_text(const struct view *view, const struct waitfor_need *need)
{
	const struct waitfor *waitfor = view->waitfor;
	uint32_t c = waitfor_collective_of(waitfor, need->node);
	const struct waitfor_collective *of = &waitfor->collectives[c];
	struct rankset *missing = parts_set(view);
	const char *comm = label_comm(view, of->comm, LABEL_SHORT);

	waitfor_add_missing(waitfor, c, missing);
	if (rankset_is_empty(missing))
		return text_of(view, "%s, number %" PRIu64 " on %s, which all have called",
			       of->function, of->number, comm);
	return text_of(view, "%s to call %s, number %" PRIu64 " on %s", parts_who(view, missing),
		       of->function, of->number, comm);
}

/* "MPI_Scatterv, number 25": the collective that the need's actor is in. In tables, where lines
 * are cut, the link is a blank. */
static const char *collective_name(const struct view *view, const struct waitfor_need *need,
				   const char *link)
{
	const struct actor *actor = &view->waitfor->evidence->actors[need->actor];
	const char *call = actor->lane ? view->job->model->sites[need->site].name
				       : label_mpi_call(view, stack_fact_place(actor->stack)->path);

	if (!call)
		call = "the collective";
	return need->number == WAITFOR_NOT_KNOWN
		       ? call
		       : text_of(view, "%s%s%" PRIu64, call, link, need->number);
}

static const char *part_text(const struct view *view, const struct waitfor_need *need,
			     const char *on)
{
	const struct waitfor *waitfor = view->waitfor;
	const struct waitfor_need *other = NULL;
	struct rankset *peers = parts_set(view);

	/* If the library accepts any of several parts, there is a need for each. */
	while ((other = waitfor_next_need(waitfor, need->actor, other)))
		if (other == need ||
		    (need->peer < 0 && other->kind == WAITFOR_PART && other->peer < 0))
			waitfor_add_peers(waitfor, other, peers);
	return text_of(view, "the part of %s%s in %s%s", rankset_count(peers) > 1 ? "one of " : "",
		       parts_who(view, peers), collective_name(view, need, ", number "), on);
}

static const char *lock_text(const struct view *view, const struct waitfor_need *need,
			     const char *on)
{
	struct rankset *holders = parts_set(view);
	const char *of = need->number == WAITFOR_NOT_KNOWN
				 ? "a window"
				 : text_of(view, "rank %" PRIu64, need->number);

	const char *what =
		text_of(view, "the %slock of %s%s", need->tag == 1 ? "exclusive " : "", of, on);

	waitfor_add_peers(view->waitfor, need, holders);
	if (rankset_is_empty(holders))
		return text_of(view, "%s; its holder is not known", what);
	return text_of(view, "%s, which %s hold%s", what, parts_who(view, holders),
		       parts_plural(holders, "s", ""));
}

/* "1.2 million" */
static const char *times_text(const struct view *view, uint64_t number)
{
	if (number >= 1000000)
		return text_of(view, "%.1f million", (double)number / 1e6);
	return text_of(view, "%" PRIu64, number);
}

/* "window 2 of rank 0" */
static const char *looked_at_text(const struct view *view, const struct waitfor_need *need)
{
	const char *window = label_comm(view, need->comm, LABEL_SHORT);

	if (need->peer < 0)
		return window;
	return text_of(view, "%s of rank %" PRId32, window, need->peer);
}

/* The call with which the other rank gives the signal. */
static const char *token_function(int32_t tag)
{
	switch (tag) {
	case SEG_TAG_POST:
		return "MPI_Win_post";
	case SEG_TAG_COMPLETE:
		return "MPI_Win_complete";
	case SEG_TAG_LEADER:
		return "MPI_Intercomm_create";
	case SEG_TAG_GROUP:
		return "MPI_Comm_create_group";
	}
	return "its part";
}

static bool is_token(const struct waitfor_need *need)
{
	return need->tag <= SEG_TAG_POST;
}

/* Windows have no messages: it is a lock that is waited for. */
static bool is_lock(const struct view *view, const struct waitfor_need *need)
{
	return need->comm != SEG_NO_COMM &&
	       view->comms->comms[need->comm].kind == SEG_COMM_WINDOW && !is_token(need);
}

/* The text for the transfer of a message, token or lock, or of a collective that all members have
 * begun. */
static const char *transfer_text(const struct view *view, const struct waitfor_need *need,
				 const char *on)
{
	uint32_t c = waitfor_collective_of(view->waitfor, need->node);
	const char *tag;

	if (c != WAITFOR_NONE) {
		const struct waitfor_collective *of = &view->waitfor->collectives[c];

		return text_of(view, "the end of %s, number %" PRIu64 " on %s, %s", of->function,
			       of->number, label_comm(view, of->comm, LABEL_SHORT),
			       of->mismatch != WAITFOR_NONE ? "where members call different things"
			       : of->num_unknown > 0
				       ? "which all members have begun, as far as known"
				       : "which all members have begun");
	}
	if (is_token(need))
		return text_of(view, "the end of %s of rank %" PRId32 "%s, which it has called",
			       token_function(need->tag), need->peer, on);
	if (is_lock(view, need))
		return text_of(view,
			       "the lock of rank %" PRId32
			       "%s, which no rank is known to hold: rank %" PRId32
			       " may have to call MPI to give it",
			       need->peer, on, need->peer);
	tag = tag_text(view, need->tag);
	if (need->peer < 0)
		return text_of(view,
			       "the transfer of a message with %s%s from any rank "
			       "(MPI_ANY_SOURCE), which has been sent",
			       tag, on);
	return text_of(view,
		       "the transfer of a message with %s to or from rank %" PRId32
		       "%s, which both ends have begun",
		       tag, need->peer, on);
}

static const char *thread_text(const struct view *view, const struct waitfor_need *need)
{
	const struct job_lane *lanes = view->job->model->lanes;
	const struct job_lane *lane = &lanes[need->actor];
	const char *who = thread_name(view, &lanes[need->node]);
	const struct sample *sample = NULL;

	if (need->tag == 0)
		return text_of(view, "its %s to end", who);
	if (need->tag == 2)
		return text_of(view, "its %s, the only other one", who);
	if (view->job->samples)
		sample = samples_find(view->job->samples, lane->rank,
				      lane->data->is_main ? 0 : lane->data->tid);
	return text_of(view, "%s that its %s %sholds", label_lock(view, sample), who,
		       need->tag == 3 ? "likely " : "");
}

const char *label_wait_need(const struct view *view, const struct waitfor_need *need)
{
	const char *on = on_text(view, need), *begun = begun_text(view, need);
	const char *what = NULL;

	switch ((enum waitfor_kind)need->kind) {
	case WAITFOR_MESSAGE:
		return message_text(view, need, on, begun);
	case WAITFOR_RECEIVE:
		return receive_text(view, need, on, begun);
	case WAITFOR_MEMBERS:
		what = members_text(view, need);
		break;
	case WAITFOR_LOCK:
		what = lock_text(view, need, on);
		break;
	case WAITFOR_TOKEN:
		what = text_of(view, "rank %" PRId32 " to call %s%s", need->peer,
			       token_function(need->tag), on);
		break;
	case WAITFOR_TRANSFER:
		if (need->is_sent)
			return message_text(view, need, on, begun);
		what = transfer_text(view, need, on);
		break;
	case WAITFOR_LOOK:
		what = text_of(view,
			       "other ranks to change %s, which it polls (%s times since its last "
			       "other call)",
			       looked_at_text(view, need), times_text(view, need->number));
		break;
	case WAITFOR_PART:
		what = part_text(view, need, on);
		break;
	case WAITFOR_THREAD:
		return thread_text(view, need);
	}
	return text_of(view, "%s%s", what, begun);
}

/* ---- Many needs ---- */

const char *label_wait_needs(const struct view *view, const struct waitfor_need *need,
			     const struct rankset *peers, int width)
{
	const char *on = on_text(view, need);
	const char *tag =
		need->tag == WAITFOR_NO_TAG ? "" : text_of(view, ", %s", tag_text(view, need->tag));
	const char *who = label_who(view->arena, peers, width);
	const char *sender = need->peer < 0 ? "any rank" : who;
	uint32_t c = waitfor_collective_of(view->waitfor, need->node);
	const struct waitfor_collective *of =
		c == WAITFOR_NONE ? NULL : &view->waitfor->collectives[c];

	switch ((enum waitfor_kind)need->kind) {
	case WAITFOR_MESSAGE:
		return text_of(view, "%s: message%s%s", sender, tag, on);
	case WAITFOR_RECEIVE:
		return text_of(view, "%s: receive%s%s", who, tag, on);
	case WAITFOR_MEMBERS:
		return text_of(view, "%s: %s %" PRIu64 "%s", who, of->function, of->number, on);
	case WAITFOR_LOCK:
		return text_of(view, "%s: lock%s", who, on);
	case WAITFOR_TOKEN:
		return text_of(view, "%s: %s%s", who, token_function(need->tag), on);
	case WAITFOR_LOOK:
		return text_of(view, "others: change of %s", looked_at_text(view, need));
	case WAITFOR_PART:
		return text_of(view, "%s: part in %s%s", who, collective_name(view, need, " "), on);
	case WAITFOR_TRANSFER:
		break;
	case WAITFOR_THREAD:
		return need->tag == 1 || need->tag == 3 ? "lock of its own thread"
		       : need->tag                      ? "its own thread"
							: "end of its own thread";
	}
	if (of)
		return text_of(view, "the end of %s %" PRIu64 "%s", of->function, of->number, on);
	if (is_token(need))
		return text_of(view, "%s: %s%s, called", who, token_function(need->tag), on);
	if (is_lock(view, need))
		return text_of(view, "%s: lock%s", who, on);
	return text_of(view, "%s: transfer%s%s", sender, tag, on);
}

/* ---- What is not known ---- */

const char *label_wait_gap(const struct view *view, uint32_t lane)
{
	static const char *const gaps[] = {
		[WAITFOR_COMPLETE] = NULL,
		[WAITFOR_NOT_COVERED] = "the recorder does not know what this call needs",
		[WAITFOR_NO_COMM] = "the communicator is not known",
		[WAITFOR_OVERFLOW] = "the recorder had no room for all messages or requests",
		[WAITFOR_UNSETTLED] = "the counts do not show whose message it is",
		[WAITFOR_NO_MODEL] = "the other rank has no recorder",
		[WAITFOR_UNREADABLE] = "it moved while it was read",
		[WAITFOR_NOT_TOLD] = "no recorder, and the MPI library does not show it",
	};

	return gaps[view->waitfor->actors[lane].gap];
}
