/* SPDX-License-Identifier: BSD-3-Clause
 * Persistent requests that somebody has made, and that would give what others wait for. */
#include "analysis/waits/waitfor_private.h"

/* Would this request of `rank`, once started, be the other end of what the need is about? */
static bool fits(const struct waitfor *w, const struct waitfor_need *need, int waiting,
		 const struct model *model, const struct model_request *request)
{
	bool is_send = need->kind == WAITFOR_MESSAGE;
	enum seg_request_kind kind = is_send ? SEG_REQUEST_SEND : SEG_REQUEST_RECV;
	uint32_t made = SEG_REQUEST_PERSISTENT;

	if (request->kind != kind ||
	    (request->flags & (made | SEG_REQUEST_ACTIVE | SEG_REQUEST_CANCELLED)) != made ||
	    request->comm == SEG_NO_COMM ||
	    job_comms_find(w->comms, model, request->comm) != need->comm)
		return false;
	/* A wildcard is on the side of whoever receives. */
	if (request->tag != need->tag &&
	    (is_send ? need->tag != SEG_TAG_ANY : request->tag != SEG_TAG_ANY))
		return false;
	return (request->peer == SEG_PEER_ANY && !is_send) ||
	       job_comms_peer(w->comms, model, request->comm, request->peer) == waiting;
}

/* Has another one gone through a round that this one was left out of? */
static bool is_left_out(const struct model *model, const struct model_request *request)
{
	for (size_t i = 0; request->ordinal > 0 && i < model->num_requests; i++) {
		const struct model_request *other = &model->requests[i];

		if ((other->kind == SEG_REQUEST_SEND || other->kind == SEG_REQUEST_RECV) &&
		    (other->flags & (SEG_REQUEST_PERSISTENT | SEG_REQUEST_ACTIVE)) ==
			    SEG_REQUEST_PERSISTENT &&
		    other->ordinal == request->ordinal + 1)
			return true;
	}
	return false;
}

static bool find_of(const struct waitfor *w, const struct waitfor_need *need, int waiting, int rank,
		    struct waitfor_unstarted *ret)
{
	const struct waitfor_private *p = w->private;
	const struct job_lane *lane;

	if (rank < 0 || (size_t)rank >= p->num_ranks || !p->is_static[rank] ||
	    p->ranks[rank].num == 0)
		return false;
	lane = &p->jm->lanes[p->ranks[rank].first];
	for (size_t i = 0; i < lane->model->num_requests; i++) {
		const struct model_request *request = &lane->model->requests[i];

		if (!fits(w, need, waiting, lane->model, request))
			continue;
		*ret = (struct waitfor_unstarted){
			.rank = rank,
			.site = lane->site_map[request->site],
			.was_started = request->ordinal > 0,
			.is_left_out = is_left_out(lane->model, request),
		};
		return true;
	}
	return false;
}

bool waitfor_find_unstarted(const struct waitfor *w, const struct waitfor_need *need,
			    struct waitfor_unstarted *ret)
{
	int waiting = w->evidence->actors[need->actor].rank;
	bool is_short = need->number != WAITFOR_NOT_KNOWN && need->given < need->number;

	if ((need->kind != WAITFOR_MESSAGE && need->kind != WAITFOR_RECEIVE) ||
	    (!need->is_certain && !is_short))
		return false;
	if (need->peer >= 0)
		return find_of(w, need, waiting, need->peer, ret);
	for (size_t rank = 0; rank < w->private->num_ranks; rank++)
		if ((int)rank != waiting && find_of(w, need, waiting, (int)rank, ret))
			return true;
	return false;
}
