/* SPDX-License-Identifier: BSD-3-Clause
 * What a receive, a probe or a send waits for, by the counts of both ends.
 *
 * Messages of one source, destination, communicator and tag are received in the order sent. Let the
 * source have started S of them, the destination have posted P receives with this source and tag,
 * completed D of these, and got W more by wildcards or matched probes. Then
 *	receive number k has its message	if S >= k + W
 *	a probe finds one			if S > P + W
 *	send number k has its receive		if P + W >= k
 * Where a count is not known exactly, the bound is taken by which less is claimed: cancelled
 * requests may count or not, tags without a row of their own may be any tag, and when several
 * threads share a row, a thread's own number is the least that it can be. In all cases nothing is
 * on its way to the destination if S <= D + W. */
#include "analysis/waits/waitfor_private.h"

/* Both ends of a call's messages. */
struct ends {
	uint32_t comm;                  /* in job_comms */
	int here, there;                /* the job's ranks */
	uint32_t comm_here, comm_there; /* in their own comms */
	int32_t rank_here;              /* in the communicator, as the other end calls it */
};

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Fills in what is known of the need without counts; `there` is -1 with a wildcard for the peer.
 * False: *gap says what is not known of the ends. */
static bool find_ends(struct waitfor *w, uint32_t l, const struct model_transfer *transfer,
		      enum waitfor_kind kind, struct ends *ends, struct waitfor_need *need,
		      enum waitfor_gap *gap)
{
	const struct waitfor_private *p = w->private;
	const struct job_lane *lane = &p->jm->lanes[l];
	bool is_any = transfer->peer == SEG_PEER_ANY;
	struct job_comm_view view = {0};

	*ends = (struct ends){
		.comm = job_comms_find(w->comms, lane->model, transfer->comm),
		.here = lane->rank,
		.there = is_any ? -1
				: job_comms_peer(w->comms, lane->model, transfer->comm,
						 transfer->peer),
		.comm_here = transfer->comm,
		.rank_here = -1,
	};
	if (ends->comm != SEG_NO_COMM)
		ends->rank_here = model_comm_rank(lane->model, transfer->comm);
	*need = (struct waitfor_need){
		.kind = transfer->tag <= SEG_TAG_POST ? WAITFOR_TOKEN : kind,
		.peer = ends->there,
		.tag = transfer->tag,
		.comm = ends->comm,
		.node = is_any ? p->first_any + ends->comm : p->first_rank + (uint32_t)ends->there,
		.site = need->site,
		.request = need->request,
		.bytes = transfer->bytes,
		.number = WAITFOR_NOT_KNOWN,
		.given = WAITFOR_NOT_KNOWN,
	};
	if (ends->rank_here < 0 ||
	    (!is_any && (ends->there < 0 || (size_t)ends->there >= p->num_ranks))) {
		*gap = WAITFOR_NO_COMM;
		return false;
	}
	if (!is_any)
		view = job_comm_view_of(&w->comms->comms[ends->comm], ends->there);
	ends->comm_there = view.model ? view.local : SEG_NO_COMM;
	return true;
}

/* Are all counts of the other end known? One that never heard of the communicator has none. */
static bool has_counts(const struct waitfor *w, const struct ends *ends, enum waitfor_gap *gap)
{
	const struct waitfor_private *p = w->private;
	const struct rank_actors *lanes = &p->ranks[ends->there];

	if (lanes->num == 0)
		*gap = WAITFOR_NO_MODEL;
	else if (ledgers_has_dropped(p->ledgers, ends->there) ||
		 (ends->comm_there == SEG_NO_COMM &&
		  p->jm->lanes[lanes->first].model->program->dropped_comms))
		*gap = WAITFOR_OVERFLOW;
	else
		return true;
	return false;
}

static struct ledger_row find_there(const struct waitfor *w, const struct ends *ends, int32_t peer,
				    int32_t tag)
{
	if (ends->comm_there == SEG_NO_COMM)
		return (struct ledger_row){0};
	return ledgers_find(w->private->ledgers, ends->there, ends->comm_there, peer, tag);
}

static bool is_still(const struct waitfor *w, const struct ends *ends)
{
	return w->private->is_static[ends->here] && w->private->is_static[ends->there];
}

/* Matched. false: the other end has completed it, too, so what is left is the own library's. */
static bool waits_for_transfer(struct waitfor_need *need, uint64_t number, uint64_t done)
{
	if (done >= number)
		return false;
	need->kind = WAITFOR_TRANSFER;
	need->is_weak = true;
	need->number = need->given = number;
	return true;
}

/* What a receive or probe is to get, as both ends have counted it. */
struct arrivals {
	struct ends ends;
	struct ledger_row sent, got;
	uint64_t sent_most;
};

/* false: counts cannot be compared; it is waited for if *is_needed, or *gap says why not. */
static bool find_arrivals(struct waitfor *w, uint32_t l, const struct model_transfer *transfer,
			  struct waitfor_need *need, enum waitfor_gap *gap, struct arrivals *a,
			  bool *is_needed)
{
	*is_needed = false;
	if (transfer->peer == SEG_PEER_NULL ||
	    !find_ends(w, l, transfer, WAITFOR_MESSAGE, &a->ends, need, gap))
		return false;
	*is_needed = true;
	/* A message with a wildcard: settled later. */
	if (a->ends.there < 0)
		w->private->is_any_used[a->ends.comm] = true;
	if (a->ends.there < 0 || transfer->tag == SEG_TAG_ANY) {
		need->number = need->given = 0;
		return false;
	}
	if (!has_counts(w, &a->ends, gap))
		return false;
	a->sent = find_there(w, &a->ends, a->ends.rank_here, transfer->tag);
	a->got = ledgers_find(w->private->ledgers, a->ends.here, a->ends.comm_here, transfer->peer,
			      transfer->tag);
	a->sent_most =
		a->sent.sends + find_there(w, &a->ends, a->ends.rank_here, SEG_TAG_MANY).sends;
	return true;
}

/* It is number `number` that was not sent. */
static bool waits_for_message(const struct waitfor *w, const struct arrivals *a, uint64_t number,
			      struct waitfor_need *need)
{
	need->is_certain = is_still(w, &a->ends);
	need->given = a->sent_most;
	need->number = number;
	return true;
}

/* Receives in other communicators that may be like this one, as far as none is known to have
 * ended. */
static uint64_t count_like(const struct waitfor *w, const struct job_lane *lane,
			   const struct model_transfer *transfer, int peer)
{
	uint64_t num = 0;

	for (size_t i = 0; i < lane->data->num_ledger; i++) {
		const struct model_ledger *row = &lane->data->ledger[i];

		if ((row->tag == transfer->tag || row->tag == SEG_TAG_MANY) &&
		    row->comm != transfer->comm &&
		    job_comms_peer(w->comms, lane->model, row->comm,
				   model_ledger_peer(lane->model, row)) == peer)
			num += minus(row->receives, row->receives_done);
	}
	return num;
}

/* Has the message not come to the receive that is posted for it? Messages meet receives in their
 * order. So of those of one peer and tag as many are without one as there are more of them than
 * messages; if the MPI library holds more, a message that was sent is not there. Whatever may have
 * got it instead, or is not counted, tells against it. */
static bool has_not_come(const struct waitfor *w, uint32_t l, const struct model_transfer *transfer,
			 const struct arrivals *a)
{
	const struct waitfor_private *p = w->private;
	const struct ends *ends = &a->ends;
	size_t num = waitfor_count_unmet(w, l, ends->there, transfer->tag);
	uint64_t without;

	if (num == 0 || !is_still(w, ends) || p->ranks[ends->here].num != 1 || a->got.cancelled ||
	    ledgers_has_dropped(p->ledgers, ends->here) ||
	    ledgers_count_open(p->ledgers, ends->here, ends->comm_here, transfer->peer,
			       transfer->tag) ||
	    ledgers_find(p->ledgers, ends->here, ends->comm_here, transfer->peer, SEG_TAG_MANY)
		    .receives)
		return false;
	without = minus(a->got.receives + a->got.taken, minus(a->sent.sends, a->sent.cancelled));
	return num > without + count_like(w, &p->jm->lanes[l], transfer, ends->there);
}

bool waitfor_need_receive(struct waitfor *w, uint32_t l, const struct model_transfer *transfer,
			  struct waitfor_need *need, enum waitfor_gap *gap)
{
	uint64_t ordinal = transfer->ordinal, received, place;
	struct arrivals a;
	bool is_needed;

	if (!find_arrivals(w, l, transfer, need, gap, &a, &is_needed))
		return is_needed;
	received = minus(a.got.receives_done, a.got.cancelled) + a.got.taken;
	place = ordinal ? minus(ordinal, a.got.cancelled) + a.got.taken : 0;
	if (a.sent_most < place || a.sent_most <= received)
		return waits_for_message(w, &a, a.sent_most < place ? place : a.sent_most + 1,
					 need);
	if (place && minus(a.sent.sends, a.sent.cancelled) >= place) {
		/* Its send may have ended long ago, though the message has not come. */
		if (has_not_come(w, l, transfer, &a)) {
			need->is_sent = true;
			return waits_for_transfer(need, place, 0);
		}
		return waits_for_transfer(need, place, a.sent.sends_done);
	}
	*gap = WAITFOR_UNSETTLED;
	return false;
}

bool waitfor_need_probe(struct waitfor *w, uint32_t l, const struct model_transfer *transfer,
			struct waitfor_need *need, enum waitfor_gap *gap)
{
	struct arrivals a;
	uint64_t claimed;
	bool is_needed;

	if (!find_arrivals(w, l, transfer, need, gap, &a, &is_needed))
		return is_needed;
	/* Other threads may post receives after this probe. */
	claimed = w->private->ranks[a.ends.here].num > 1 ? a.got.receives_done : a.got.receives;
	if (a.sent_most <= minus(claimed, a.got.cancelled) + a.got.taken)
		return waits_for_message(w, &a, a.sent_most + 1, need);
	*gap = WAITFOR_UNSETTLED;
	return false;
}

/* Receives there that may get this tag: its own, open wildcards, and those counted without tags. */
static uint64_t count_receives(const struct waitfor *w, const struct ends *ends, int32_t tag,
			       uint64_t *sure_ret)
{
	const struct ledger_row exact = find_there(w, ends, ends->rank_here, tag);
	const struct ledger_row many = find_there(w, ends, ends->rank_here, SEG_TAG_MANY);
	uint64_t num = exact.receives + exact.taken + many.receives + many.taken;

	if (ends->comm_there != SEG_NO_COMM)
		num += ledgers_count_open(w->private->ledgers, ends->there, ends->comm_there,
					  ends->rank_here, tag);
	*sure_ret = minus(exact.receives, exact.cancelled) + exact.taken;
	return num;
}

bool waitfor_need_send(struct waitfor *w, uint32_t l, const struct model_transfer *transfer,
		       struct waitfor_need *need, enum waitfor_gap *gap)
{
	struct ledger_row own, exact;
	uint64_t place, most, sure;
	struct ends ends;

	/* A token is given without anybody's help. */
	if (transfer->peer == SEG_PEER_NULL || transfer->tag <= SEG_TAG_POST ||
	    !find_ends(w, l, transfer, WAITFOR_RECEIVE, &ends, need, gap))
		return false;
	if (ends.there < 0) {
		*gap = WAITFOR_UNSETTLED;
		return false;
	}
	if (!has_counts(w, &ends, gap))
		return true;
	if (transfer->ordinal == 0) {
		*gap = WAITFOR_OVERFLOW;
		return true;
	}
	own = ledgers_find(w->private->ledgers, ends.here, ends.comm_here, transfer->peer,
			   transfer->tag);
	place = minus(transfer->ordinal, own.cancelled);
	most = count_receives(w, &ends, transfer->tag, &sure);
	if (most < place) {
		need->is_certain = is_still(w, &ends);
		need->given = sure;
		need->number = place;
		return true;
	}
	if (sure >= transfer->ordinal) {
		exact = find_there(w, &ends, ends.rank_here, transfer->tag);
		return waits_for_transfer(need, transfer->ordinal,
					  exact.receives_done + exact.taken);
	}
	*gap = WAITFOR_UNSETTLED;
	return false;
}
