/* SPDX-License-Identifier: BSD-3-Clause
 * Receives and probes with a wildcard for the source, the tag or both. All rows of all ranks are
 * gone through once, and each that sends to a rank with such a need is compared with what it
 * got. */
#include "analysis/waits/waitfor_private.h"

/* Needs of one rank that the same messages meet. */
struct wildcard {
	uint32_t comm;
	int peer; /* the job's rank; -1: any */
	int32_t tag;
	bool is_last_posted; /* all other receives of the rank were posted before these */
	bool is_met;         /* there is a message that no other receive gets for certain */
	bool is_settled;     /* the counts tell */
};

struct settler {
	struct arena *scratch;
	struct waitfor *w;
	const struct waitfor_private *p;
	struct wildcard *wildcards; /* by rank */
	size_t num_wildcards, capacity;
	uint32_t *first;   /* [num_ranks + 1] in wildcards */
	bool *can_count;   /* [num_comms] all members can be counted, so none else can have sent */
	uint32_t *of_need; /* [num_needs] in wildcards, or WAITFOR_NONE */
};

static bool is_wildcard(const struct waitfor_need *need)
{
	return need->kind == WAITFOR_MESSAGE && (need->peer < 0 || need->tag == SEG_TAG_ANY);
}

static bool can_count_rank(const struct settler *s, int rank)
{
	return s->p->ranks[rank].num > 0 && !ledgers_has_dropped(s->p->ledgers, rank);
}

static bool can_count_all(const struct settler *s, const struct job_comm *comm)
{
	if (comm->num_views < comm->sizes[0] + comm->sizes[1])
		return false;
	for (size_t i = 0; i < comm->num_views; i++)
		if (!can_count_rank(s, job_comm_view(comm, i).rank))
			return false;
	return true;
}

static uint32_t add_wildcard(struct settler *s, size_t first, const struct waitfor_need *need,
			     bool is_last)
{
	for (size_t i = first; i < s->num_wildcards; i++) {
		const struct wildcard *known = &s->wildcards[i];

		if (known->comm == need->comm && known->peer == need->peer &&
		    known->tag == need->tag && known->is_last_posted == is_last)
			return (uint32_t)i;
	}
	*ARENA_PUSH(s->scratch, s->wildcards, s->num_wildcards, s->capacity) = (struct wildcard){
		.comm = need->comm,
		.peer = need->peer,
		.tag = need->tag,
		.is_last_posted = is_last,
		.is_settled =
			need->peer < 0 ? s->can_count[need->comm] : can_count_rank(s, need->peer),
	};
	return (uint32_t)s->num_wildcards - 1;
}

static void collect(struct settler *s)
{
	for (size_t r = 0; r < s->p->num_ranks; r++) {
		const struct rank_actors *lanes = &s->p->ranks[r];
		const struct waitfor_need *need = NULL;

		s->first[r] = (uint32_t)s->num_wildcards;
		for (uint32_t l = lanes->first; l < lanes->first + lanes->num; l++)
			while ((need = waitfor_next_need(s->w, l, need)))
				if (is_wildcard(need))
					s->of_need[need - s->w->needs] = add_wildcard(
						s, s->first[r], need,
						need->request == WAITFOR_NONE && lanes->num == 1);
	}
	s->first[s->p->num_ranks] = (uint32_t)s->num_wildcards;
}

/* Has the destination got all of the row's rank there? Tells even without rows for all tags. */
static bool has_got_all(const struct settler *s, int source, int destination, uint32_t local,
			const struct model_ledger *row, int32_t rank_in_comm)
{
	const struct model *model = s->p->jm->lanes[s->p->ranks[source].first].model;
	uint64_t sent =
		ledgers_find_total(s->p->ledgers, source, row->comm, model_ledger_peer(model, row))
			.sends;

	return sent <= ledgers_find_total(s->p->ledgers, destination, local, rank_in_comm).got;
}

/* Messages of the row that the wildcard may get. */
static void compare(struct settler *s, struct wildcard *wildcard, int source, int destination,
		    const struct model_ledger *row, int32_t rank_in_comm)
{
	struct job_comm_view view =
		job_comm_view_of(&s->w->comms->comms[wildcard->comm], destination);
	struct ledger_row got;
	uint64_t sent = row->sends, gone;

	if (view.model && has_got_all(s, source, destination, view.local, row, rank_in_comm))
		return;
	if (row->tag == SEG_TAG_MANY) {
		wildcard->is_settled = false;
		return;
	}
	if (!view.model)
		return;
	got = ledgers_find(s->p->ledgers, destination, view.local, rank_in_comm, row->tag);
	gone = wildcard->is_last_posted ? got.receives : got.receives_done;
	gone = (gone > got.cancelled ? gone - got.cancelled : 0) + got.taken;
	if (s->p->ranks[source].num > 1)
		sent = ledgers_find_like(s->p->ledgers, source, row).sends;
	wildcard->is_met |= sent > gone;
}

static void go_through_lane(struct settler *s, const struct job_lane *lane)
{
	uint32_t local = SEG_NO_COMM, comm = SEG_NO_COMM;

	for (size_t i = 0; i < lane->data->num_ledger; i++) {
		const struct model_ledger *row = &lane->data->ledger[i];
		int destination;

		if (row->sends == 0 || row->tag <= SEG_TAG_POST)
			continue;
		if (row->comm != local) {
			local = row->comm;
			comm = job_comms_find(s->w->comms, lane->model, local);
		}
		if (comm == SEG_NO_COMM)
			continue;
		destination = job_comms_peer(s->w->comms, lane->model, local,
					     model_ledger_peer(lane->model, row));
		if (destination < 0 || (size_t)destination >= s->p->num_ranks)
			continue;
		for (uint32_t k = s->first[destination]; k < s->first[destination + 1]; k++) {
			struct wildcard *wildcard = &s->wildcards[k];

			if (wildcard->comm == comm && !wildcard->is_met &&
			    (wildcard->peer < 0 || wildcard->peer == lane->rank) &&
			    (wildcard->tag == SEG_TAG_ANY || wildcard->tag == row->tag ||
			     row->tag == SEG_TAG_MANY))
				compare(s, wildcard, lane->rank, destination, row,
					model_comm_rank(lane->model, local));
		}
	}
}

static void settle(struct settler *s, uint32_t l)
{
	struct waitfor_actor *lane = &s->w->actors[l];

	for (uint32_t n = lane->first_need; n < lane->first_need + lane->num_needs; n++) {
		struct waitfor_need *need = &s->w->needs[n];
		const struct wildcard *wildcard;

		if (s->of_need[n] == WAITFOR_NONE)
			continue;
		wildcard = &s->wildcards[s->of_need[n]];
		if (wildcard->is_met) {
			need->kind = WAITFOR_TRANSFER;
			need->is_weak = true;
		} else if (wildcard->is_settled) {
			need->is_certain = s->p->is_static[s->w->evidence->actors[l].rank];
		} else {
			lane->gap = WAITFOR_UNSETTLED;
		}
	}
}

void waitfor_settle_wildcards(struct waitfor *w)
{
	struct settler s = {.w = w, .p = w->private};
	bool has_some = false;

	for (size_t n = 0; n < w->num_needs; n++)
		has_some |= is_wildcard(&w->needs[n]);
	if (!has_some)
		return;
	s.scratch = arena_create();
	s.first = arena_array(s.scratch, s.p->num_ranks + 1, sizeof(*s.first));
	s.of_need = arena_array(s.scratch, w->num_needs, sizeof(*s.of_need));
	memset(s.of_need, 0xff, w->num_needs * sizeof(*s.of_need));
	s.can_count = arena_array(s.scratch, w->comms->num_comms, sizeof(*s.can_count));
	for (size_t c = 0; c < w->comms->num_comms; c++)
		s.can_count[c] = s.p->is_any_used[c] && can_count_all(&s, &w->comms->comms[c]);
	collect(&s);
	for (size_t l = 0; l < s.p->num_lanes; l++)
		go_through_lane(&s, &s.p->jm->lanes[l]);
	for (uint32_t l = 0; l < w->num_actors; l++)
		settle(&s, l);
	arena_destroy(s.scratch);
}
