/* SPDX-License-Identifier: BSD-3-Clause
 * Two members of a collective that do not fit together: one does not give the other what that takes
 * from it, is not the neighbour that the other takes it for, or has another tag. */
#include "analysis/waits/waitfor_private.h"

/* ---- Notes ---- */

static bool is_giving(enum seg_note_kind kind)
{
	return kind == SEG_NOTE_GIVES || kind == SEG_NOTE_GIVES_ROOT ||
	       kind == SEG_NOTE_GIVES_EACH || kind == SEG_NOTE_GIVES_NEIGHBOURS;
}

static void read_note(struct claim *claim, const struct model_lane *lane,
		      const struct model_note *note)
{
	struct claim_side side = {note, lane->note_entries + note->first};

	if (note->kind == SEG_NOTE_ERROR)
		claim->error = side.entries[0] < SEG_NUM_ERRORS ? side.entries[0] : SEG_ERROR_OTHER;
	else if (note->kind == SEG_NOTE_LEADER)
		;
	else if (is_giving(note->kind))
		claim->gives = side;
	else
		claim->takes = side;
}

void waitfor_read_notes(const struct waitfor *w, struct claim *claim)
{
	const struct rank_actors *lanes = &w->private->ranks[claim->rank];

	for (uint32_t l = lanes->first; l < lanes->first + lanes->num; l++) {
		const struct model_lane *lane = w->private->jm->lanes[l].data;

		for (size_t i = 0; i < lane->num_notes; i++) {
			const struct model_note *note = &lane->notes[i];

			if (note->comm == claim->view.local && note->number == claim->number)
				read_note(claim, lane, note);
		}
	}
}

/* ---- Neighbours ---- */

static bool has_neighbours(const struct claim *claim)
{
	return strstr(claim->function, "eighbor") != NULL;
}

/* A list of ranks in the communicator, of one member. */
struct list {
	const int32_t *ranks;
	uint32_t num;
};

static struct list list_of(const struct claim *claim, uint32_t first, uint32_t num)
{
	if (first == SEG_NO_MEMBERS || first == SEG_ALL_MEMBERS || num == 0)
		return (struct list){0};
	return (struct list){model_members(claim->view.model, first), num};
}

static struct list sources_of(const struct claim *claim)
{
	const struct model_comm *comm = job_comm_seen(&claim->view);

	return list_of(claim, comm->sources, comm->num_sources);
}

static struct list destinations_of(const struct claim *claim)
{
	const struct model_comm *comm = job_comm_seen(&claim->view);

	return list_of(claim, comm->destinations, comm->num_destinations);
}

static int32_t rank_there(const struct claim *claim)
{
	return model_comm_rank(claim->view.model, claim->view.local);
}

/* How often a rank is in the list, and where last. */
static uint64_t count_in(const struct list *list, int32_t rank, uint32_t *at_ret)
{
	uint64_t num = 0;

	for (uint32_t i = 0; i < list->num; i++)
		if (list->ranks[i] == rank) {
			num++;
			*at_ret = i;
		}
	return num;
}

/* ---- Amounts ---- */

static uint64_t entry_of(const struct claim_side *side, uint32_t i)
{
	if (i >= side->note->num || side->entries[i] == UINT32_MAX)
		return WAITFOR_NOT_KNOWN;
	return (uint64_t)side->entries[i] * side->note->unit;
}

/* Of the one neighbour, if it is there once: then there is no doubt which entry it is. */
static uint64_t entry_of_neighbour(const struct claim_side *side, const struct list *list,
				   int32_t rank)
{
	bool is_each =
		side->note->kind == SEG_NOTE_GIVES_EACH || side->note->kind == SEG_NOTE_TAKES_EACH;
	uint32_t at = 0;

	if (count_in(list, rank, &at) != 1)
		return WAITFOR_NOT_KNOWN;
	return entry_of(side, is_each ? 0 : at);
}

/* Bytes that `of` gives to, or takes from, the other one; WAITFOR_NOT_KNOWN. */
static uint64_t amount(const struct claim *of, const struct claim_side *side,
		       const struct claim *other, bool is_inter)
{
	int32_t rank = rank_there(other);
	struct list neighbours;

	if (!side->note || rank < 0 || (is_inter && of->view.side == other->view.side))
		return WAITFOR_NOT_KNOWN;
	if (has_neighbours(of)) {
		neighbours = side == &of->gives ? destinations_of(of) : sources_of(of);
		return entry_of_neighbour(side, &neighbours, rank);
	}
	switch (side->note->kind) {
	case SEG_NOTE_GIVES:
	case SEG_NOTE_TAKES:
		return entry_of(side, (uint32_t)rank);
	case SEG_NOTE_GIVES_ROOT:
	case SEG_NOTE_TAKES_ROOT:
		return of->root == rank ? entry_of(side, 0) : WAITFOR_NOT_KNOWN;
	case SEG_NOTE_GIVES_EACH:
	case SEG_NOTE_TAKES_EACH:
		return entry_of(side, 0);
	default:
		return WAITFOR_NOT_KNOWN;
	}
}

/* ---- Pairs ---- */

struct pairs {
	const struct waitfor *w;
	const struct claim *claims; /* by rank */
	size_t num_claims;
	struct waitfor_pair *pairs;
	size_t num;
};

/* Does the taker wait for what it is not given? */
static bool is_in_vain(const struct waitfor_pair *pair)
{
	return pair->given == 0;
}

static void add_pair(struct pairs *p, const struct waitfor_pair *pair)
{
	for (size_t i = 0; i < p->num; i++)
		if (p->pairs[i].giver == pair->giver && p->pairs[i].taker == pair->taker)
			return;
	if (p->num < WAITFOR_MAX_PAIRS)
		p->pairs[p->num++] = *pair;
}

static int compare_claim(const void *key, const void *element)
{
	const struct claim *claim = element;

	return SORTED_ORDER(*(const int *)key, claim->rank);
}

/* What the member does that is rank `peer` for another one; NULL: it is not known. */
static const struct claim *find_peer(const struct pairs *p, const struct claim *of, int32_t peer)
{
	int rank = job_comms_peer(p->w->comms, of->view.model, of->view.local, peer);

	if (rank < 0)
		return NULL;
	return bsearch(&rank, p->claims, p->num_claims, sizeof(*p->claims), compare_claim);
}

/* Neighbours of the member, as whose other list it should be. */
static void look_at_list(struct pairs *p, const struct claim *own, bool is_taker)
{
	struct list list = is_taker ? sources_of(own) : destinations_of(own);
	uint32_t at;

	for (uint32_t i = 0; i < list.num; i++) {
		const struct claim *other = find_peer(p, own, list.ranks[i]);
		struct waitfor_pair pair;
		struct list back;
		uint64_t here, there;

		if (!other || !has_neighbours(other))
			continue;
		back = is_taker ? destinations_of(other) : sources_of(other);
		here = count_in(&list, list.ranks[i], &at);
		there = count_in(&back, rank_there(own), &at);
		if (here == there)
			continue;
		pair = is_taker ? (struct waitfor_pair){other->rank, own->rank, there, here}
				: (struct waitfor_pair){own->rank, other->rank, here, there};
		add_pair(p, &pair);
	}
}

/* Is the graph known of all: is somebody a destination? */
static bool knows_graph(const struct pairs *p)
{
	for (size_t i = 0; i < p->num_claims; i++)
		if (destinations_of(&p->claims[i]).num > 0)
			return true;
	return false;
}

static void look_at_two(struct pairs *p, const struct claim *giver, const struct claim *taker,
			bool is_inter)
{
	struct waitfor_pair pair = {
		.giver = giver->rank,
		.taker = taker->rank,
		.given = amount(giver, &giver->gives, taker, is_inter),
		.taken = amount(taker, &taker->takes, giver, is_inter),
	};

	if (giver != taker && pair.given != WAITFOR_NOT_KNOWN && pair.taken != WAITFOR_NOT_KNOWN &&
	    pair.given != pair.taken)
		add_pair(p, &pair);
}

/* With neighbours, the root, or all. */
static void look_at_others(struct pairs *p, const struct claim *own, bool is_inter)
{
	bool is_of_root = (own->gives.note && own->gives.note->kind == SEG_NOTE_GIVES_ROOT) ||
			  (own->takes.note && own->takes.note->kind == SEG_NOTE_TAKES_ROOT);
	struct list lists[2] = {sources_of(own), destinations_of(own)};
	const struct claim *other;

	if (!own->gives.note && !own->takes.note)
		return;
	if (is_of_root) {
		other = own->root >= 0 ? find_peer(p, own, own->root) : NULL;
		if (other) {
			look_at_two(p, other, own, is_inter);
			look_at_two(p, own, other, is_inter);
		}
		return;
	}
	if (has_neighbours(own)) {
		for (int k = 0; k < 2; k++)
			for (uint32_t i = 0; i < lists[k].num; i++)
				if ((other = find_peer(p, own, lists[k].ranks[i])) && k == 0)
					look_at_two(p, other, own, is_inter);
				else if (other)
					look_at_two(p, own, other, is_inter);
		return;
	}
	for (size_t i = 0; i < p->num_claims && p->num < WAITFOR_MAX_PAIRS; i++) {
		look_at_two(p, &p->claims[i], own, is_inter);
		look_at_two(p, own, &p->claims[i], is_inter);
	}
}

static int compare_pairs(const void *a, const void *b)
{
	const struct waitfor_pair *x = a, *y = b;

	return SORTED_ORDER(is_in_vain(y), is_in_vain(x)) ?: SORTED_ORDER(x->giver, y->giver)
	       ?: SORTED_ORDER(x->taker, y->taker);
}

/* Where somebody waits in vain, the others have not to do with it. */
static size_t keep_worst(struct waitfor_pair *pairs, size_t num)
{
	size_t num_kept = 0;

	if (num > 1)
		qsort(pairs, num, sizeof(*pairs), compare_pairs);
	while (num_kept < num && is_in_vain(&pairs[num_kept]))
		num_kept++;
	return num_kept ? num_kept : num;
}

size_t waitfor_find_pairs(const struct waitfor *w, const struct claim *claims, size_t num,
			  struct waitfor_pair *pairs, enum waitfor_difference *what_ret)
{
	struct pairs p = {.w = w, .claims = claims, .num_claims = num, .pairs = pairs};
	bool is_inter = num > 0 && job_comm_seen(&claims[0].view)->kind == SEG_COMM_INTER;
	bool has_graph = num > 0 && has_neighbours(&claims[0]) && knows_graph(&p);

	*what_ret = WAITFOR_OTHER_GRAPH;
	for (size_t i = 0; i < num && has_graph; i++)
		if (claims[i].is_in) {
			look_at_list(&p, &claims[i], true);
			look_at_list(&p, &claims[i], false);
		}
	if (p.num == 0)
		*what_ret = WAITFOR_OTHER_COUNTS;
	for (size_t i = 0; i < num && *what_ret == WAITFOR_OTHER_COUNTS; i++)
		if (claims[i].is_in)
			look_at_others(&p, &claims[i], is_inter);
	return keep_worst(pairs, p.num);
}

/* ---- Leaders ---- */

/* A leader that is in the call, and the other one; NULL: it is none. */
static const struct model_note *leader_note(const struct waitfor *w, uint32_t l, int *other_ret)
{
	const struct job_lane *lane = &w->private->jm->lanes[l];
	const struct model_operation *op = &lane->data->operation;
	const struct model_note *note = NULL;

	if (w->evidence->actors[l].activity != ACTIVITY_IN_MPI ||
	    op->kind != SEG_OPERATION_WAIT_ALL)
		return NULL;
	/* The latest first. */
	for (size_t i = 0; i < lane->data->num_notes && !note; i++)
		if (lane->data->notes[i].kind == SEG_NOTE_LEADER)
			note = &lane->data->notes[i];
	for (size_t i = 0; note && i < op->num_waited; i++) {
		const struct model_request *request = &lane->model->requests[op->waited[i]];

		if (request->kind != SEG_REQUEST_RECV || request->tag != SEG_TAG_LEADER ||
		    request->comm != note->comm || request->ordinal != note->number)
			continue;
		*other_ret = job_comms_peer(w->comms, lane->model, request->comm, request->peer);
		return *other_ret >= 0 ? note : NULL;
	}
	return NULL;
}

static bool find_other_leader(const struct waitfor *w, uint32_t l, const struct model_note *note,
			      int other, struct leaders *ret)
{
	const struct job_model *jm = w->private->jm;
	uint32_t comm = job_comms_find(w->comms, jm->lanes[l].model, note->comm);
	const struct model_note *theirs;
	const struct rank_actors *lanes;
	int back;

	if ((size_t)other >= w->private->num_ranks)
		return false;
	lanes = &w->private->ranks[other];
	for (uint32_t o = lanes->first; o < lanes->first + lanes->num; o++) {
		theirs = leader_note(w, o, &back);
		if (!theirs || back != jm->lanes[l].rank || theirs->number != note->number ||
		    comm == SEG_NO_COMM ||
		    job_comms_find(w->comms, jm->lanes[o].model, theirs->comm) != comm)
			continue;
		*ret = (struct leaders){
			.pair = {jm->lanes[l].rank, other,
				 jm->lanes[l].data->note_entries[note->first],
				 jm->lanes[o].data->note_entries[theirs->first]},
			.comm = comm,
			.sites = {jm->lanes[l].site_map[SEG_STATE_SITE(jm->lanes[l].data->state)],
				  jm->lanes[o].site_map[SEG_STATE_SITE(jm->lanes[o].data->state)]},
			.number = note->number,
		};
		return ret->pair.given != ret->pair.taken;
	}
	return false;
}

size_t waitfor_find_leaders(const struct waitfor *w, struct leaders *found, size_t most)
{
	size_t num = 0;
	int other;

	for (uint32_t l = 0; l < w->private->num_lanes && num < most; l++) {
		const struct model_note *note = leader_note(w, l, &other);

		if (note && w->private->jm->lanes[l].rank < other &&
		    find_other_leader(w, l, note, other, &found[num]))
			num++;
	}
	return num;
}
