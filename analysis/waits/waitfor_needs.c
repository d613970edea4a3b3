/* SPDX-License-Identifier: BSD-3-Clause
 * The needs of lanes inside MPI or polling: of the operation in progress, or of its requests; and
 * of those outside that wait for another thread of their process. */
#include "analysis/evidence/thread_wait.h"
#include "analysis/waits/waitfor_private.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/sample.h"

struct lane_needs {
	struct waitfor *w;
	uint32_t l;
	const struct job_lane *lane;
	struct waitfor_actor *result;
};

static void add_need(struct lane_needs *n, const struct waitfor_need *need)
{
	struct waitfor *w = n->w;
	struct waitfor_private *p = w->private;

	*ARENA_PUSH(p->arena, w->needs, w->num_needs, p->needs_capacity) = *need;
	w->needs[w->num_needs - 1].actor = n->l;
	n->result->num_needs++;
}

/* The first gap is told; whatever is complete does not hide one. */
static void note_gap(struct lane_needs *n, enum waitfor_gap gap)
{
	if (n->result->gap == WAITFOR_COMPLETE)
		n->result->gap = gap;
}

typedef bool (*find_need_fn)(struct waitfor *w, uint32_t l, const struct model_transfer *transfer,
			     struct waitfor_need *need, enum waitfor_gap *gap);

static struct waitfor_need *find_message(struct lane_needs *n, find_need_fn find,
					 const struct model_transfer *transfer, uint32_t site,
					 uint32_t request)
{
	struct waitfor_need need = {
		.peer = -1,
		.site = n->lane->site_map[site],
		.request = request,
	};
	enum waitfor_gap gap = WAITFOR_COMPLETE;
	bool is_needed = find(n->w, n->l, transfer, &need, &gap);

	note_gap(n, gap);
	if (!is_needed)
		return NULL;
	add_need(n, &need);
	return &n->w->needs[n->w->num_needs - 1];
}

static void add_collective(struct lane_needs *n, uint32_t local, uint64_t number, bool has_owner,
			   uint32_t site, uint32_t request, uint64_t bytes)
{
	struct waitfor *w = n->w;
	uint32_t comm = job_comms_find(w->comms, n->lane->model, local);
	uint32_t index =
		comm == SEG_NO_COMM
			? WAITFOR_NONE
			: waitfor_find_collective(w, comm, number, has_owner ? n->lane->rank : -1);
	struct waitfor_need need = {
		.kind = WAITFOR_MEMBERS,
		.peer = -1,
		.comm = comm,
		.site = n->lane->site_map[site],
		.request = request,
		.number = number,
		.bytes = bytes,
	};

	if (index == WAITFOR_NONE) {
		note_gap(n, WAITFOR_NO_COMM);
		return;
	}
	need.node = w->private->first_collective + index;
	need.given = w->collectives[index].num_missing;
	if (need.given == 0) {
		if (w->collectives[index].num_unknown > 0)
			note_gap(n, WAITFOR_NO_MODEL);
		else if (w->private->collectives[index].may_go_on)
			note_gap(n, WAITFOR_UNSETTLED);
		need.kind = WAITFOR_TRANSFER;
		need.is_weak = true;
	} else {
		/* A request may be complete though the collective is not. */
		need.is_certain = w->collectives[index].needs_all || request == WAITFOR_NONE ||
				  n->result->is_or;
	}
	add_need(n, &need);
}

/* What one request still lacks. */
static void add_request(struct lane_needs *n, uint32_t index)
{
	const struct model_request *request = &n->lane->model->requests[index];
	const struct model_transfer transfer = {
		.comm = request->comm,
		.peer = request->peer,
		.tag = request->tag,
		.ordinal = request->ordinal,
		.bytes = request->bytes,
	};
	struct waitfor_need *need;

	if (request->flags & SEG_REQUEST_CANCELLED)
		return;
	switch (request->kind) {
	case SEG_REQUEST_RECV:
		find_message(n, waitfor_need_receive, &transfer, request->site, index);
		break;
	case SEG_REQUEST_SEND:
		need = find_message(n, waitfor_need_send, &transfer, request->site, index);
		/* Unless it is synchronous, the library may have kept the message. */
		if (need && !n->result->is_or && !(request->flags & SEG_REQUEST_SYNCHRONOUS))
			need->is_certain = false;
		break;
	case SEG_REQUEST_COLLECTIVE:
		add_collective(n, request->comm, request->ordinal,
			       request->flags & SEG_REQUEST_NEIGHBOURS, request->site, index,
			       request->bytes);
		break;
	case SEG_REQUEST_FREE:
		note_gap(n, WAITFOR_UNREADABLE);
		break;
	case SEG_REQUEST_MATCHED:
	case SEG_REQUEST_LOCK:
	case SEG_REQUEST_OTHER:
		break;
	}
}

static void add_requests(struct lane_needs *n, const struct model_operation *op)
{
	n->result->is_or = op->kind == SEG_OPERATION_WAIT_ANY;
	if (op->flags & SEG_OPERATION_INCOMPLETE)
		note_gap(n, WAITFOR_OVERFLOW);
	for (size_t i = 0; i < op->num_waited; i++)
		add_request(n, op->waited[i]);
}

/* It polls a window: whoever can get at it may change what is there. */
static void add_look(struct lane_needs *n, const struct model_transfer *t, uint32_t site)
{
	struct waitfor *w = n->w;
	uint32_t comm = job_comms_find(w->comms, n->lane->model, t->comm);

	if (comm == SEG_NO_COMM) {
		note_gap(n, WAITFOR_NO_COMM);
		return;
	}
	w->private->is_any_used[comm] = true;
	add_need(n, &(struct waitfor_need){
			    .kind = WAITFOR_LOOK,
			    .peer = t->peer >= 0 ? job_comms_peer(w->comms, n->lane->model, t->comm,
								  t->peer)
						 : -1,
			    .tag = SEG_TAG_ANY,
			    .comm = comm,
			    .node = w->private->first_any + comm,
			    .site = n->lane->site_map[site],
			    .request = WAITFOR_NONE,
			    .number = n->lane->data->polls,
		    });
}

static void find_needs(struct lane_needs *n)
{
	static const find_need_fn of_kind[] = {
		[SEG_OPERATION_SEND] = waitfor_need_send,
		[SEG_OPERATION_RECV] = waitfor_need_receive,
		[SEG_OPERATION_PROBE] = waitfor_need_probe,
		[SEG_OPERATION_LOCK] = waitfor_need_lock,
	};
	const struct model_lane *data = n->lane->data;
	const struct model_operation *op = &data->operation;
	uint32_t site =
		SEG_STATE_IS_EXIT(data->state) ? data->poll_site : SEG_STATE_SITE(data->state);
	bool is_polling = n->w->evidence->actors[n->l].activity == ACTIVITY_POLLING;
	struct waitfor_need *need;

	if (is_polling && op->kind == SEG_OPERATION_LOCK) {
		add_look(n, &op->transfers[0], site);
		return;
	}
	switch (op->kind) {
	case SEG_OPERATION_OTHER:
		note_gap(n, WAITFOR_NOT_COVERED);
		break;
	case SEG_OPERATION_SEND:
	case SEG_OPERATION_RECV:
	case SEG_OPERATION_PROBE:
	case SEG_OPERATION_LOCK:
		if (op->kind != SEG_OPERATION_SEND || !(op->flags & SEG_OPERATION_BUFFERED))
			find_message(n, of_kind[op->kind], &op->transfers[0], site, WAITFOR_NONE);
		break;
	case SEG_OPERATION_SENDRECV:
		need = find_message(n, waitfor_need_send, &op->transfers[0], site, WAITFOR_NONE);
		/* It may have sent, and only receive. */
		if (need)
			need->is_certain = false;
		find_message(n, waitfor_need_receive, &op->transfers[1], site, WAITFOR_NONE);
		break;
	case SEG_OPERATION_WAIT_ALL:
	case SEG_OPERATION_WAIT_ANY:
		add_requests(n, op);
		break;
	case SEG_OPERATION_COLLECTIVE:
		add_collective(n, op->transfers[0].comm, op->number,
			       op->flags & SEG_OPERATION_NEIGHBOURS, site, WAITFOR_NONE,
			       op->transfers[0].bytes);
		break;
	case SEG_OPERATION_LOOK:
		if (is_polling)
			add_look(n, &op->transfers[0], site);
		break;
	case SEG_OPERATION_LOCAL:
		break;
	}
}

/* Does the MPI library have this thread for itself? */
static bool is_of_library(const struct job *job, const struct sample *sample)
{
	enum module_kind outermost = MODULE_PROGRAM;

	for (uint32_t at = sample->path; at != CALLPATH_NONE;
	     at = callpaths_get(job->callpaths, at)->parent) {
		uint32_t module = callpaths_get(job->callpaths, at)->module;
		enum module_kind kind = module == MODULE_NONE
						? MODULE_PROGRAM
						: modules_get(job->modules, module)->kind;

		if (kind != MODULE_SYSTEM)
			outermost = kind;
	}
	return outermost == MODULE_MPI;
}

/* A condition, or a lock of which it is not said who holds it, is for another thread of the process
 * to end. If there is just one, and that has been inside MPI all the time, it is that one. Of more,
 * others may have ended it since they were looked at. */
static uint32_t find_only_other(const struct lane_needs *n, const struct sample *sample)
{
	const struct waitfor *w = n->w;
	const struct samples *samples = w->job->samples;
	const struct rank_actors *actors = &w->evidence->ranks[sample->rank];
	bool has_been_seen = false;
	uint32_t other = UINT32_MAX;

	for (uint32_t l = actors->first; l < actors->first + actors->num; l++) {
		const struct actor *actor = &w->evidence->actors[l];

		if (l == n->l || actor->activity == ACTIVITY_ENDED)
			continue;
		if (other != UINT32_MAX || actor->activity != ACTIVITY_IN_MPI || actor->is_torn)
			return UINT32_MAX;
		other = l;
	}
	for (size_t i = sorted_first_rank(sample->rank, samples->samples, samples->num_samples,
					  sizeof(*samples->samples));
	     other != UINT32_MAX && i < samples->num_samples &&
	     samples->samples[i].rank == sample->rank;
	     i++) {
		const struct sample *at = &samples->samples[i];

		if (at->tid == sample->tid)
			continue;
		if (at->tid == w->evidence->actors[other].lane->data->tid)
			has_been_seen = true;
		else if (at->path == CALLPATH_NONE || !is_of_library(w->job, at))
			return UINT32_MAX;
	}
	/* If it was, all threads were looked at. */
	return has_been_seen ? other : UINT32_MAX;
}

/* Read between the two looks, in which neither of the two threads has moved: what the other one had
 * then, it has still. */
static void find_thread(struct lane_needs *n)
{
	const struct job *job = n->w->job;
	const struct sample *sample = NULL, *likely = NULL;
	struct thread_wait wait;
	uint32_t other;

	if (job->samples)
		sample = samples_find(job->samples, n->lane->rank,
				      n->lane->data->is_main ? 0 : n->lane->data->tid);
	wait = thread_wait_of(job, sample);
	if (wait.kind == THREAD_WAIT_NONE || wait.kind == THREAD_WAIT_FUTEX || wait.is_timed)
		return;
	other = wait.tid ? thread_wait_lane(job, sample, &wait) : find_only_other(n, sample);
	if (other == UINT32_MAX && (likely = thread_wait_likely(job, sample, &wait)))
		other = thread_wait_lane_of(job, sample, likely->tid);
	if (other == UINT32_MAX || other == n->l)
		return;
	add_need(n, &(struct waitfor_need){
			    .kind = WAITFOR_THREAD,
			    .is_certain = !likely,
			    .is_weak = likely,
			    .peer = n->lane->rank,
			    .tag = likely     ? 3
				   : wait.tid ? wait.kind == THREAD_WAIT_LOCK
					      : 2,
			    .comm = SEG_NO_COMM,
			    .node = other,
			    .site = SEG_STATE_SITE(n->lane->state),
			    .request = WAITFOR_NONE,
			    .number = WAITFOR_NOT_KNOWN,
			    .given = WAITFOR_NOT_KNOWN,
		    });
}

void waitfor_find_needs(struct waitfor *w)
{
	for (uint32_t l = 0; l < w->num_actors; l++) {
		const struct actor *actor = &w->evidence->actors[l];
		struct lane_needs n = {
			.w = w,
			.l = l,
			.lane = actor->lane,
			.result = &w->actors[l],
		};

		n.result->first_need = (uint32_t)w->num_needs;
		if (n.lane && actor->activity == ACTIVITY_COMPUTING && !actor->is_torn)
			find_thread(&n);
		if (!actor_is_waiting(actor))
			continue;
		if (n.lane && (actor->is_torn || !n.lane->data->is_consistent))
			note_gap(&n, WAITFOR_UNREADABLE);
		else if (n.lane)
			find_needs(&n);
		waitfor_read_needs(w, l);
	}
}
