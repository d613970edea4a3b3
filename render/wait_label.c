/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/progress/eqgroup.h"
#include "analysis/waits/waitfor.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "render/comm_label.h"
#include "render/view.h"
#include "render/wait_label.h"

enum { WHO_WIDTH = 30 };

char *wait_label_who(const struct view *view, uint32_t lane)
{
	const struct job_lane *of = &view->job->model->lanes[lane];

	if (of->model->num_lanes > 1 && of->data->is_main)
		return xasprintf("rank %d, main thread", of->rank);
	if (of->model->num_lanes > 1)
		return xasprintf("rank %d, thread %d", of->rank, of->lane);
	return xasprintf("rank %d", of->rank);
}

char *wait_label_where(const struct view *view, uint32_t lane)
{
	const struct eqgroup *group = &view->groups->groups[view->groups->group_of[lane]];

	return label_where(view->job, group, LABEL_FULL);
}

/* "MPI_COMM_WORLD" has a name that says it; so it goes without saying where messages are meant. */
static bool is_world(const struct view *view, uint32_t comm)
{
	const struct job_comm *of = &view->comms->comms[comm];

	return of->parent == SEG_NO_COMM && of->name && !strcmp(of->name, "MPI_COMM_WORLD");
}

char *wait_label_on(const struct view *view, uint32_t comm)
{
	char *label, *on;

	if (comm == SEG_NO_COMM || is_world(view, comm))
		return xstrdup("");
	label = comm_label(view, comm, LABEL_SHORT);
	on = xasprintf(" on %s", label);
	free(label);
	return on;
}

/* "tag 7", "any tag" */
static char *tag_text(int32_t tag)
{
	return tag == SEG_TAG_ANY ? xstrdup("any tag") : xasprintf("tag %" PRId32, tag);
}

/* " (MPI_Irecv, halo() solver.c:128)": the call that began it; "" for the call itself. */
static char *begun_text(const struct view *view, const struct waitfor_need *need)
{
	const struct job_site *site = &view->job->model->sites[need->site];
	char *place, *text;

	if (need->request == WAITFOR_NONE)
		return xstrdup("");
	place = label_user_place(view->job, site->path, LABEL_SHORT);
	text = xasprintf(" (%s, %s)", site->name, place);
	free(place);
	return text;
}

/* ---- One need ---- */

static bool is_counted(const struct waitfor_need *need)
{
	return need->number != WAITFOR_NOT_KNOWN && need->given != WAITFOR_NOT_KNOWN &&
	       need->number > 0;
}

/* "message 413" or "a message" */
static char *message_name(const struct waitfor_need *need)
{
	return is_counted(need) ? xasprintf("message %" PRIu64, need->number)
				: xstrdup("a message");
}

/* ", which has sent 412", as far as that tells something. */
static char *given_text(const struct waitfor_need *need, const char *did)
{
	if (!need->is_certain || !is_counted(need))
		return xstrdup("");
	if (need->given == 0)
		return xasprintf("%s none", did);
	return xasprintf("%s %" PRIu64, did, need->given);
}

static char *message_text(const struct waitfor_need *need, const char *on, const char *begun)
{
	char *name = message_name(need), *given = given_text(need, ", which has sent");
	char *tag = tag_text(need->tag), *text;

	if (need->peer < 0)
		text = xasprintf("a message with %s%s from any rank (MPI_ANY_SOURCE)%s", tag, on,
				 begun);
	else
		text = xasprintf("%s with %s%s from rank %" PRId32 "%s%s", name, tag, on,
				 need->peer, begun, given);
	free(name);
	free(given);
	free(tag);
	return text;
}

static char *receive_text(const struct waitfor_need *need, const char *on, const char *begun)
{
	char *name = message_name(need), *tag = tag_text(need->tag);
	char *given = given_text(need, "; it has posted receives for");
	char *text = xasprintf("rank %" PRId32 " to receive %s with %s%s%s%s", need->peer, name,
			       tag, on, begun, given);

	free(name);
	free(tag);
	free(given);
	return text;
}

static char *members_text(const struct view *view, const struct waitfor_need *need)
{
	const struct waitfor *waitfor = view->waitfor;
	uint32_t c = waitfor_collective_of(waitfor, need->node);
	const struct waitfor_collective *of = &waitfor->collectives[c];
	struct rankset *missing = rankset_create();
	char *comm = comm_label(view, of->comm, LABEL_SHORT), *who, *text;

	waitfor_add_missing(waitfor, c, missing);
	who = label_who(missing, WHO_WIDTH);
	if (rankset_is_empty(missing))
		text = xasprintf("%s, number %" PRIu64 " on %s, in which all are", of->function,
				 of->number, comm);
	else
		text = xasprintf("%s to call %s, number %" PRIu64 " on %s", who, of->function,
				 of->number, comm);
	rankset_destroy(missing);
	free(comm);
	free(who);
	return text;
}

static char *lock_text(const struct view *view, uint32_t n, const char *on)
{
	const struct waitfor_need *need = &view->waitfor->needs[n];
	struct rankset *holders = rankset_create();
	char *of = need->number == WAITFOR_NOT_KNOWN ? xstrdup("a window")
						     : xasprintf("rank %" PRIu64, need->number);
	char *who, *text;

	waitfor_add_peers(view->waitfor, n, holders);
	who = label_who(holders, WHO_WIDTH);
	text = xasprintf("the %slock of %s%s, which %s hold%s", need->tag == 1 ? "exclusive " : "",
			 of, on, rankset_is_empty(holders) ? "others" : who,
			 rankset_count(holders) == 1 ? "s" : "");

	rankset_destroy(holders);
	free(who);
	free(of);
	return text;
}

/* The call by which the other rank tells. */
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

static char *token_text(const struct waitfor_need *need, const char *on)
{
	return xasprintf("rank %" PRId32 " to call %s%s", need->peer, token_function(need->tag),
			 on);
}

static bool is_token(const struct waitfor_need *need)
{
	return need->tag <= SEG_TAG_POST;
}

/* Of windows no messages are sent: it is a lock that somebody waits for. */
static bool is_lock(const struct view *view, const struct waitfor_need *need)
{
	return view->comms->comms[need->comm].kind == SEG_COMM_WINDOW && !is_token(need);
}

/* Of a message, token or lock, or of a collective that all members have begun. */
static char *transfer_text(const struct view *view, const struct waitfor_need *need, const char *on)
{
	uint32_t c = waitfor_collective_of(view->waitfor, need->node);
	char *tag, *text;

	if (c != WAITFOR_NONE) {
		const struct waitfor_collective *of = &view->waitfor->collectives[c];
		char *comm = comm_label(view, of->comm, LABEL_SHORT);

		text = xasprintf("the end of %s, number %" PRIu64 " on %s, %s", of->function,
				 of->number, comm,
				 of->mismatch != WAITFOR_NONE ? "where not all call the same"
				 : of->num_unknown > 0 ? "which all of whom it is known have begun"
						       : "which all members have begun");
		free(comm);
		return text;
	}
	if (is_token(need))
		return xasprintf("the end of %s of rank %" PRId32 "%s, which it has called",
				 token_function(need->tag), need->peer, on);
	if (is_lock(view, need))
		return xasprintf("the lock of rank %" PRId32
				 "%s, which nobody is known to hold: rank %" PRId32
				 " may have to call MPI to give it",
				 need->peer, on, need->peer);
	tag = tag_text(need->tag);
	if (need->peer < 0)
		text = xasprintf("the transfer of a message with %s%s from any rank "
				 "(MPI_ANY_SOURCE), which has been sent",
				 tag, on);
	else
		text = xasprintf("the transfer of a message with %s to or from rank %" PRId32
				 "%s, which both ends have begun",
				 tag, need->peer, on);
	free(tag);
	return text;
}

char *wait_label_need(const struct view *view, uint32_t n)
{
	const struct waitfor_need *need = &view->waitfor->needs[n];
	char *on = wait_label_on(view, need->comm), *begun = begun_text(view, need);
	char *what = NULL, *text;
	bool has_begun;

	switch ((enum waitfor_kind)need->kind) {
	case WAITFOR_MESSAGE:
		what = message_text(need, on, begun);
		break;
	case WAITFOR_RECEIVE:
		what = receive_text(need, on, begun);
		break;
	case WAITFOR_MEMBERS:
		what = members_text(view, need);
		break;
	case WAITFOR_LOCK:
		what = lock_text(view, n, on);
		break;
	case WAITFOR_TOKEN:
		what = token_text(need, on);
		break;
	case WAITFOR_TRANSFER:
		what = transfer_text(view, need, on);
		break;
	}
	has_begun = need->kind == WAITFOR_MESSAGE || need->kind == WAITFOR_RECEIVE;
	text = xasprintf("%s%s", what, has_begun ? "" : begun);
	free(what);
	free(on);
	free(begun);
	return text;
}

/* ---- Many needs ---- */

char *wait_label_needs(const struct view *view, uint32_t n, const struct rankset *peers, int width)
{
	const struct waitfor_need *need = &view->waitfor->needs[n];
	char *on = wait_label_on(view, need->comm), *tag = tag_text(need->tag);
	char *who = label_who(peers, width), *text = NULL;
	uint32_t c;

	switch ((enum waitfor_kind)need->kind) {
	case WAITFOR_MESSAGE:
		if (need->peer < 0)
			text = xasprintf("any rank: message, %s%s", tag, on);
		else
			text = xasprintf("%s: message, %s%s", who, tag, on);
		break;
	case WAITFOR_RECEIVE:
		text = xasprintf("%s: receive, %s%s", who, tag, on);
		break;
	case WAITFOR_MEMBERS:
		c = waitfor_collective_of(view->waitfor, need->node);
		text = xasprintf("%s: %s %" PRIu64 "%s", who,
				 view->waitfor->collectives[c].function,
				 view->waitfor->collectives[c].number, on);
		break;
	case WAITFOR_LOCK:
		text = xasprintf("%s: lock%s", who, on);
		break;
	case WAITFOR_TOKEN:
		text = xasprintf("%s: %s%s", who, token_function(need->tag), on);
		break;
	case WAITFOR_TRANSFER:
		c = waitfor_collective_of(view->waitfor, need->node);
		if (c != WAITFOR_NONE)
			text = xasprintf("the end of %s %" PRIu64 "%s",
					 view->waitfor->collectives[c].function,
					 view->waitfor->collectives[c].number, on);
		else if (is_token(need))
			text = xasprintf("%s: %s%s, called", who, token_function(need->tag), on);
		else if (is_lock(view, need))
			text = xasprintf("%s: lock%s", who, on);
		else
			text = xasprintf("%s: transfer, %s%s", need->peer < 0 ? "any rank" : who,
					 tag, on);
		break;
	}
	free(on);
	free(tag);
	free(who);
	return text;
}

/* ---- What is not known ---- */

const char *wait_label_gap(const struct view *view, uint32_t lane)
{
	static const char *const gaps[] = {
		[WAITFOR_COMPLETE] = NULL,
		[WAITFOR_NOT_COVERED] = "it is not recorded what this call needs",
		[WAITFOR_NO_COMM] = "the communicator is not known",
		[WAITFOR_OVERFLOW] = "the recorder had no room for all messages or requests",
		[WAITFOR_UNSETTLED] = "the counts do not tell whose message it is",
		[WAITFOR_NO_MODEL] = "the other rank has no recorder",
		[WAITFOR_UNREADABLE] = "it went on while it was read",
	};

	return gaps[view->waitfor->lanes[lane].gap];
}
