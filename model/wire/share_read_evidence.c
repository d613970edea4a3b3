/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "model/job/model.h"
#include "model/job/model_pool.h"
#include "model/wire/share_read.h"
#include "model/xalloc.h"

/* ---- Lists ---- */

/* A list of ranks, in the pool. */
static const struct share_list *find_list(struct share_reader *r, uint32_t item)
{
	struct share_list *list = &r->lists[item];
	struct decoder *in = &r->in;
	int64_t expected = 0;
	int32_t *members;

	if (list->is_read)
		return list;
	share_reader_begin_item(r, SHARE_LISTS, item);
	list->is_read = true;
	list->num = (uint32_t)decoder_take_count(in, SEG_MAX_MEMBERS, 1);
	if (!decoder_charge(in, list->num, 2 * sizeof(*members)) || in->is_bad ||
	    r->pool->num_members > MODEL_OWN_MEMBER - SEG_MAX_MEMBERS) {
		in->is_bad = true;
		return list;
	}
	list->first = (uint32_t)r->pool->num_members;
	members = model_pool_add_members(r->pool, list->num);
	for (size_t k = 0; k < list->num; k++) {
		int64_t member =
			expected + decoder_take_signed(in, -(int64_t)INT32_MAX - 1, INT32_MAX);

		if (member < -1 || member > INT32_MAX)
			in->is_bad = true;
		members[k] = (int32_t)member;
		expected = member + 1;
	}
	share_reader_end(r);
	return list;
}

/* ---- Communicators ---- */

/* A list that the communicator at hand names: where the rank's row has it. */
static uint32_t take_list(struct decoder *in, struct share_comm *from, int which)
{
	uint64_t id = decoder_take_below(in, UINT32_MAX);

	from->places[which] = from->lists[which] = UINT32_MAX;
	if (id >= SHARE_FIRST_LIST)
		from->places[which] = (uint32_t)id - SHARE_FIRST_LIST;
	return id == SHARE_ALL_MEMBERS  ? SEG_ALL_MEMBERS
	       : id == SHARE_OWN_MEMBER ? MODEL_OWN_MEMBER
					: SEG_NO_MEMBERS;
}

static uint64_t take_id(struct decoder *in, bool is_self)
{
	return is_self ? SHARE_SELF_ID : decoder_take(in);
}

static void read_comm(struct share_reader *r, const struct model *model, struct model_comm *comm,
		      struct share_comm *from)
{
	struct decoder *in = &r->in;
	uint64_t word = decoder_take_below(in, SEG_COMM_FILE << 2 | 3), name;

	comm->kind = (enum seg_comm_kind)(word >> 2);
	comm->id = take_id(in, word & SHARE_ID_IS_SELF);
	comm->parent_id = take_id(in, word & SHARE_PARENT_IS_SELF);
	comm->site = (uint32_t)decoder_take_below(in, UINT32_MAX);
	comm->ordinal = (uint32_t)decoder_take_below(in, UINT32_MAX);
	comm->size = (uint32_t)decoder_take_below(in, UINT32_MAX);
	comm->members = take_list(in, from, 0);
	comm->remote_size = (uint32_t)decoder_take_below(in, UINT32_MAX);
	comm->remote_members = take_list(in, from, 1);
	comm->num_sources = (uint32_t)decoder_take_below(in, UINT32_MAX);
	comm->sources = take_list(in, from, 2);
	name = decoder_take_below(in, model->num_strings);
	comm->name = name ? model->strings + (name - 1) : NULL;
	comm->is_freed = decoder_take_below(in, 1);
	share_reader_end(r);
	from->strings = name ? model->strings : NULL;
}

static void read_collectives(struct share_reader *r, struct model_comm *comm)
{
	struct decoder *in = &r->in;
	size_t num;

	comm->collectives = decoder_take(in);
	num = decoder_take_count(in, SEG_RECENT, 4);
	for (size_t i = 0; i < num; i++) {
		struct model_collective *started = &comm->recent[i];

		started->number = comm->collectives - decoder_take_below(in, comm->collectives);
		started->bytes = decoder_take(in);
		started->site = (uint32_t)decoder_take_below(in, UINT32_MAX);
		started->root = decoder_take_int(in);
	}
	share_reader_end(r);
}

static void use_site(struct share_comm *from, uint32_t site)
{
	if (site >= from->num_sites)
		from->num_sites = site + 1;
}

/* The list number `which` is that of the rank's row. */
static uint32_t place_list(struct share_reader *r, struct share_comm *from, int which, int rank,
			   uint32_t num)
{
	const struct share_list *list;

	from->lists[which] = share_reader_item(r, SHARE_LISTS, rank, from->places[which]);
	if (r->in.is_bad)
		return 0;
	list = find_list(r, from->lists[which]);
	if (list->num != num)
		r->in.is_bad = true;
	return list->first;
}

/* A new one of the pool; PAIR_NONE: bad. */
static uint32_t make_comm(struct share_reader *r, const struct model *model, uint32_t item,
			  uint32_t collectives, int rank)
{
	struct share_comm from = {item, collectives, .next = PAIR_NONE};
	struct model_comm comm = {0};
	uint32_t *lists[] = {&comm.members, &comm.remote_members, &comm.sources};
	uint32_t number;

	share_reader_begin_item(r, SHARE_COMMS, item);
	read_comm(r, model, &comm, &from);
	share_reader_begin_item(r, SHARE_COLLECTIVES, collectives);
	read_collectives(r, &comm);
	for (int which = 0; which < 3 && !r->in.is_bad; which++)
		if (from.places[which] != UINT32_MAX)
			*lists[which] = place_list(r, &from, which, rank,
						   which == 0   ? comm.size
						   : which == 1 ? comm.remote_size
								: comm.num_sources);
	use_site(&from, comm.site);
	for (size_t i = 0; i < SEG_RECENT; i++)
		use_site(&from, comm.recent[i].site);
	if (!decoder_charge(&r->in, 2, sizeof(comm) + sizeof(from)) ||
	    !model_has_valid_comm(model, &comm))
		r->in.is_bad = true;
	if (r->in.is_bad)
		return PAIR_NONE;
	number = model_pool_add_comm(r->pool, &comm);
	r->comms = xgrow(r->comms, number, &r->comms_capacity, sizeof(*r->comms));
	r->comms[number] = from;
	return number;
}

/* May the rank use a communicator of the pool? */
static bool is_usable(const struct share_comm *from, const struct model *model,
		      const uint32_t *lists, size_t num_lists)
{
	if (from->num_sites > model->num_sites ||
	    (from->strings && from->strings != model->strings))
		return false;
	for (int which = 0; which < 3; which++)
		if (from->lists[which] != UINT32_MAX &&
		    (from->places[which] >= num_lists ||
		     lists[from->places[which]] != from->lists[which]))
			return false;
	return true;
}

struct rank_comms {
	const uint32_t *items, *collectives, *lists;
	size_t num, num_lists;
};

static uint32_t find_comm(struct share_reader *r, const struct model *model,
			  const struct rank_comms *of, size_t i, int rank)
{
	uint32_t item = of->items[i], collectives = of->collectives[i], first, found;

	if (i < r->num_last_comms) {
		const struct share_comm *last = &r->comms[r->last_comms[i]];

		if (last->item == item && last->collectives == collectives &&
		    is_usable(last, model, of->lists, of->num_lists))
			return r->last_comms[i];
	}
	first = pair_map_get(&r->comm_of, pair_key(item, collectives));
	for (found = first; found != PAIR_NONE; found = r->comms[found].next)
		if (is_usable(&r->comms[found], model, of->lists, of->num_lists))
			return found;
	found = make_comm(r, model, item, collectives, rank);
	if (found == PAIR_NONE)
		return 0;
	if (first == PAIR_NONE) {
		pair_map_add(&r->comm_of, pair_key(item, collectives), found);
	} else {
		r->comms[found].next = r->comms[first].next;
		r->comms[first].next = found;
	}
	return found;
}

static const int32_t *find_ranks(struct share_reader *r, uint32_t item, size_t num)
{
	struct share_loan *loan = &r->comm_ranks[item];

	if (!loan->table) {
		int32_t *ranks = loan->table = share_reader_take(r, num, sizeof(*ranks));

		loan->num = r->in.is_bad ? 0 : num;
		share_reader_begin_item(r, SHARE_COMM_RANKS, item);
		/* So that no sum of it and a rank is too large for an int. */
		for (size_t i = 0; i < loan->num; i++)
			ranks[i] = (int32_t)decoder_take_signed(&r->in, -2 * SHARE_MAX_RANKS,
								2 * SHARE_MAX_RANKS);
		share_reader_end(r);
	}
	if (loan->num != num)
		r->in.is_bad = true;
	return loan->table;
}

static void read_comms(struct share_reader *r, struct model *model, int rank)
{
	struct rank_comms of = {0};
	uint32_t *numbers = r->numbers;
	size_t num_collectives;
	bool is_same;

	of.items = share_reader_row(r, SHARE_COMMS, rank, &of.num);
	of.collectives = share_reader_row(r, SHARE_COLLECTIVES, rank, &num_collectives);
	of.lists = share_reader_row(r, SHARE_LISTS, rank, &of.num_lists);
	if (of.num > SEG_MAX_COMMS || num_collectives != of.num)
		r->in.is_bad = true;
	if (of.num == 0 || r->in.is_bad)
		return;
	for (size_t i = 0; i < of.num && !r->in.is_bad; i++)
		numbers[i] = find_comm(r, model, &of, i, rank);
	is_same = of.num == r->num_last_comms &&
		  memcmp(numbers, r->last_comms, of.num * sizeof(*numbers)) == 0;
	if (!is_same) {
		uint32_t *kept = share_reader_take(r, of.num, sizeof(*numbers));

		if (!r->in.is_bad)
			memcpy(kept, numbers, of.num * sizeof(*numbers));
		r->last_comms = kept;
		r->num_last_comms = r->in.is_bad ? 0 : of.num;
	}
	if (!r->in.is_bad)
		model->pool_ranks =
			find_ranks(r, share_reader_item(r, SHARE_COMM_RANKS, rank, 0), of.num);
	if (r->in.is_bad)
		return;
	model->pool_comms = r->last_comms;
	model->num_comms = of.num;
}

/* ---- Requests ---- */

static void read_request(struct share_reader *r, const struct model *model,
			 struct model_request *request)
{
	struct decoder *in = &r->in;

	request->kind = (enum seg_request_kind)decoder_take_below(in, SEG_REQUEST_OTHER);
	request->flags = (uint32_t)decoder_take_below(in, UINT32_MAX);
	request->comm = decoder_take_index(in, UINT32_MAX);
	request->peer = share_reader_peer(r, model, request->comm);
	request->tag = decoder_take_int(in);
	request->ordinal = decoder_take(in);
	request->bytes = decoder_take(in);
	request->site = (uint32_t)decoder_take_below(in, UINT32_MAX);
	request->lane = decoder_take_index(in, UINT32_MAX);
	request->since_ns = model->now_ns - decoder_take_below(in, model->now_ns);
}

static void read_requests(struct share_reader *r, struct model *model, int rank)
{
	struct decoder *in = &r->in;
	size_t num, slot = 0;

	if (in->is_bad || share_reader_count(r, SHARE_REQUESTS, rank, 1) == 0)
		return;
	share_reader_begin(r, SHARE_REQUESTS, rank, 0);
	/* Free slots take no room. */
	num = decoder_take_below(in, SEG_MAX_REQUESTS);
	model->requests = decoder_allocate(in, num, sizeof(*model->requests));
	if (in->is_bad)
		return;
	model->num_requests = num;
	for (size_t i = 0; i < num; i++)
		model->requests[i].comm = SEG_NO_COMM;
	num = decoder_take_count(in, num, 11);
	for (size_t i = 0; i < num && !in->is_bad; i++) {
		slot += decoder_take_below(in, SEG_MAX_REQUESTS);
		if (slot >= model->num_requests)
			in->is_bad = true;
		else
			read_request(r, model, &model->requests[slot++]);
	}
	share_reader_end(r);
}

void share_read_evidence(struct share_reader *r, struct model *model, int rank)
{
	read_comms(r, model, rank);
	read_requests(r, model, rank);
}
