/* SPDX-License-Identifier: BSD-3-Clause
 * Messages that nobody receives, and receives for which one of them may be meant. */
#include "analysis/waits/waitfor_private.h"
#include "model/xalloc.h"

enum {
	MAX_UNRECEIVED = 4096,
	MAX_LOSTS_PER_NEED = 4,
	MAX_TRIED_PER_NEED = 256,
};

struct searcher {
	const struct waitfor *w;
	const struct waitfor_private *p;
	const bool *is_wanted; /* [num_ranks] messages from and to these; NULL: all */
	bool takes_posted;     /* also messages that a receive posted so far may get */
	uint32_t comm;         /* only of this one, with this tag; SEG_NO_COMM: all */
	int32_t tag;
	struct waitfor_unreceived *found;
	size_t num_found, capacity;
};

/* A row of `source`; adds it if more was sent than the destination has receives for. */
static void look_at_row(struct searcher *s, int source, int destination, uint32_t comm,
			const struct model_ledger *row, int32_t rank_in_comm)
{
	struct job_comm_view view = job_comm_view_of(&s->w->comms->comms[comm], destination);
	uint64_t sent = row->sends, most = 0;
	struct ledger_row got = {0}, many = {0};
	bool are_numbers = false;

	if (s->p->ranks[destination].num == 0 || ledgers_has_dropped(s->p->ledgers, destination))
		return;
	if (s->p->ranks[source].num > 1)
		sent = ledgers_find_like(s->p->ledgers, source, row).sends;
	if (sent <= row->cancelled)
		return;
	sent -= row->cancelled;
	if (view.model) {
		got = ledgers_find(s->p->ledgers, destination, view.local, rank_in_comm, row->tag);
		many = ledgers_find(s->p->ledgers, destination, view.local, rank_in_comm,
				    SEG_TAG_MANY);
		are_numbers = ledgers_are_tags_numbers(s->p->ledgers, destination, view.local,
						       rank_in_comm);
		most = got.taken + many.taken +
		       (s->takes_posted ? got.receives_done + many.receives_done
					: got.receives + many.receives);
		if (sent > most && !s->takes_posted)
			most += ledgers_count_open(s->p->ledgers, destination, view.local,
						   rank_in_comm, row->tag);
	}
	if (sent <= most)
		return;
	s->found = xgrow(s->found, s->num_found, &s->capacity, sizeof(*s->found));
	s->found[s->num_found++] = (struct waitfor_unreceived){
		.source = source,
		.destination = destination,
		.comm = comm,
		.tag = row->tag,
		.sent = sent,
		.received = (s->takes_posted ? got.receives_done : got.receives) + got.taken,
		.is_new = got.receives + got.taken == 0 && !are_numbers,
	};
}

static bool is_taken(const struct searcher *s, int source, int destination)
{
	return s->p->is_static[source] && s->p->is_static[destination] &&
	       (!s->is_wanted || s->is_wanted[source] || s->is_wanted[destination]);
}

static void look_at_lane(struct searcher *s, uint32_t l)
{
	const struct job_lane *lane = &s->p->jm->lanes[l];
	uint32_t local = SEG_NO_COMM, comm = SEG_NO_COMM;

	for (size_t i = 0; i < lane->data->num_ledger && s->num_found < MAX_UNRECEIVED; i++) {
		const struct model_ledger *row = &lane->data->ledger[i];
		int destination;

		if (row->sends == 0 || row->tag < 0 ||
		    (s->comm != SEG_NO_COMM && row->tag != s->tag))
			continue;
		if (row->comm != local) {
			local = row->comm;
			comm = job_comms_find(s->w->comms, lane->model, local);
		}
		if (comm == SEG_NO_COMM || (s->comm != SEG_NO_COMM && comm != s->comm))
			continue;
		destination = job_comms_peer(s->w->comms, lane->model, local,
					     model_ledger_peer(lane->model, row));
		if (destination >= 0 && (size_t)destination < s->p->num_ranks &&
		    is_taken(s, lane->rank, destination))
			look_at_row(s, lane->rank, destination, comm, row,
				    model_comm_rank(lane->model, local));
	}
}

SORTED_BY(compare_unreceived, struct waitfor_unreceived, destination, source, comm, tag)

static void search(struct searcher *s)
{
	for (uint32_t l = 0; l < s->p->num_lanes && s->num_found < MAX_UNRECEIVED; l++)
		look_at_lane(s, l);
	/* Threads that share a row have all found the sum. */
	s->num_found =
		sorted_make_unique(s->found, s->num_found, sizeof(*s->found), compare_unreceived);
}

struct waitfor_unreceived *waitfor_find_pending(const struct waitfor *w, uint32_t comm, int32_t tag,
						size_t *num_ret)
{
	struct searcher s = {
		.w = w, .p = w->private, .takes_posted = true, .comm = comm, .tag = tag};

	search(&s);
	*num_ret = s.num_found;
	return s.found;
}

static bool has_received(const struct waitfor *w, const struct job_lane *lane, uint32_t comm,
			 int32_t tag)
{
	for (size_t i = 0; i < lane->data->num_ledger; i++) {
		const struct model_ledger *row = &lane->data->ledger[i];

		if (row->tag == tag && row->receives_done + row->taken > 0 &&
		    job_comms_find(w->comms, lane->model, row->comm) == comm)
			return true;
	}
	return false;
}

bool waitfor_was_received(const struct waitfor *w, uint32_t comm, int32_t tag)
{
	for (uint32_t l = 0; l < w->private->num_lanes; l++)
		if (has_received(w, &w->private->jm->lanes[l], comm, tag))
			return true;
	return false;
}

/* A receive or probe that keeps a stuck lane, or one that polls. */
static bool is_in_vain(const struct waitfor *w, const struct waitfor_need *need)
{
	const struct waitfor_actor *lane = &w->actors[need->actor];

	return need->kind == WAITFOR_MESSAGE && need->is_certain &&
	       (lane->is_stuck || lane->is_likely_stuck);
}

/* Ranks at both ends of such receives; false: there are none. */
static bool find_wanted(const struct waitfor *w, bool *is_wanted)
{
	bool has_some = false;

	for (size_t n = 0; n < w->num_needs; n++) {
		const struct waitfor_need *need = &w->needs[n];

		if (!is_in_vain(w, need))
			continue;
		has_some = is_wanted[w->evidence->actors[need->actor].rank] = true;
		if (need->peer >= 0)
			is_wanted[need->peer] = true;
	}
	return has_some;
}

static bool is_tag(const struct waitfor_need *need, int32_t tag)
{
	return need->tag == SEG_TAG_ANY || need->tag == tag;
}

/* What went wrong if this message is the one that was meant; false: it cannot be. If its kind was
 * received before, another receive may well get it later. */
static bool find_slip(const struct waitfor_need *need, int rank,
		      const struct waitfor_unreceived *message, enum waitfor_slip *slip_ret)
{
	bool is_from = need->peer < 0 || need->peer == message->source;

	if (message->destination == rank && is_from && need->comm == message->comm) {
		*slip_ret = WAITFOR_OTHER_TAG;
		return !is_tag(need, message->tag);
	}
	if (message->destination == rank && is_from) {
		*slip_ret = WAITFOR_OTHER_COMM;
		return is_tag(need, message->tag) || message->is_new;
	}
	if (need->comm != message->comm || !is_tag(need, message->tag) || !message->is_new)
		return false;
	*slip_ret = message->destination == rank ? WAITFOR_OTHER_SOURCE : WAITFOR_OTHER_DESTINATION;
	return message->destination == rank || (need->peer >= 0 && is_from);
}

static int compare_losts(const struct waitfor *w, const struct waitfor_lost *a,
			 const struct waitfor_lost *b)
{
	return SORTED_ORDER(w->unreceived[b->message].is_new, w->unreceived[a->message].is_new)
		       ?: SORTED_ORDER(a->slip, b->slip);
}

/* Put into the few best of one need, which begin at `first`. */
static void add_lost(struct waitfor *w, size_t first, const struct waitfor_lost *lost)
{
	size_t at = w->num_losts;

	while (at > first && compare_losts(w, lost, &w->losts[at - 1]) < 0)
		at--;
	if (at == first + MAX_LOSTS_PER_NEED)
		return;
	if (w->num_losts == first + MAX_LOSTS_PER_NEED)
		w->num_losts--;
	w->losts = arena_grow(w->private->arena, w->losts, w->num_losts,
			      &w->private->losts_capacity, sizeof(*w->losts));
	memmove(&w->losts[at + 1], &w->losts[at], (w->num_losts - at) * sizeof(*w->losts));
	w->losts[at] = *lost;
	w->num_losts++;
}

static int compare_destination(const void *key, const void *element)
{
	const struct waitfor_unreceived *message = element;

	return SORTED_ORDER(*(const int *)key, message->destination);
}

static void try_message(struct waitfor *w, const struct waitfor_need *need, uint32_t message,
			size_t first)
{
	struct waitfor_lost lost = {.need = need, .message = message};

	if (find_slip(need, w->evidence->actors[need->actor].rank, &w->unreceived[message],
		      &lost.slip))
		add_lost(w, first, &lost);
}

/* Messages to who waits, and others of whom it waits for. */
static void find_for_need(struct waitfor *w, const struct waitfor_need *need)
{
	int rank = w->evidence->actors[need->actor].rank, peer = need->peer, num_tried = 0;
	size_t first = w->num_losts, end;
	size_t at = sorted_first(&rank, w->unreceived, w->num_unreceived, sizeof(*w->unreceived),
				 compare_destination);

	end = at + MAX_TRIED_PER_NEED;
	for (; at < end && at < w->num_unreceived && w->unreceived[at].destination == rank; at++)
		try_message(w, need, (uint32_t)at, first);
	for (at = 0; peer >= 0 && at < w->num_unreceived && num_tried < MAX_TRIED_PER_NEED; at++) {
		if (w->unreceived[at].source != peer)
			continue;
		num_tried++;
		if (w->unreceived[at].destination != rank)
			try_message(w, need, (uint32_t)at, first);
	}
}

void waitfor_find_losts(struct waitfor *w)
{
	bool *is_wanted = xcalloc(w->private->num_ranks, sizeof(*is_wanted));
	struct searcher s = {.w = w, .p = w->private, .is_wanted = is_wanted, .comm = SEG_NO_COMM};

	if (find_wanted(w, is_wanted))
		search(&s);
	free(is_wanted);
	w->unreceived = arena_keep(w->private->arena, s.found, free);
	w->num_unreceived = s.num_found;
	for (size_t n = 0; s.num_found > 0 && n < w->num_needs; n++)
		if (is_in_vain(w, &w->needs[n]))
			find_for_need(w, &w->needs[n]);
}
