/* SPDX-License-Identifier: BSD-3-Clause
 * Communicators and lists of ranks, which all ranks share that have the same. */

#include "model/job/model.h"
#include "model/job/model_pool.h"
#include "model/wire/share_read.h"

/* ---- Lists ---- */

/* A list of ranks, in the pool. */
static const struct share_list *find_list(struct share_reader *r, uint32_t item)
{
	struct share_list *list = &r->lists[item];
	struct decoder *in = &r->in;

	if (list->is_read)
		return list;
	share_reader_begin_item(r, SHARE_LISTS, item);
	list->is_read = true;
	list->num = (uint32_t)decoder_take_count(in, SEG_MAX_MEMBERS, 1);
	if (!decoder_charge(in, list->num, 2 * sizeof(int32_t)) ||
	    r->pool->num_members > MODEL_OWN_MEMBER - SEG_MAX_MEMBERS) {
		in->is_bad = true;
		return list;
	}
	list->first = (uint32_t)r->pool->num_members;
	share_item_members(&r->own, model_pool_add_members(r->pool, list->num), list->num);
	share_reader_end(r);
	return list;
}

/* ---- Communicators ---- */

static void use_site(struct share_comm *from, uint32_t site)
{
	if (site >= from->num_sites)
		from->num_sites = site + 1;
}

/* The list that a communicator names by `id`; num: of its members. */
static uint32_t place_list(struct share_reader *r, struct share_comm *from, int which, uint32_t id,
			   int rank, uint32_t num)
{
	from->places[which] = from->lists[which] = UINT32_MAX;
	if (id < SHARE_FIRST_LIST || r->in.is_bad)
		return id == SHARE_ALL_MEMBERS  ? SEG_ALL_MEMBERS
		       : id == SHARE_OWN_MEMBER ? MODEL_OWN_MEMBER
						: SEG_NO_MEMBERS;
	from->places[which] = id - SHARE_FIRST_LIST;
	from->lists[which] = share_reader_item(r, SHARE_LISTS, rank, from->places[which]);
	if (r->in.is_bad)
		return 0;
	const struct share_list *list = find_list(r, from->lists[which]);
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
	uint32_t ids[SHARE_COMM_LISTS] = {0}, number;

	share_reader_begin_item(r, SHARE_COMMS, item);
	share_item_comm(&r->own, model, &comm, ids);
	share_reader_end(r);
	from.strings = comm.name ? model->strings : NULL;
	share_reader_begin_item(r, SHARE_COLLECTIVES, collectives);
	share_item_collectives(&r->own, &comm);
	share_reader_end(r);
	comm.members = place_list(r, &from, 0, ids[0], rank, comm.size);
	comm.remote_members = place_list(r, &from, 1, ids[1], rank, comm.remote_size);
	comm.sources = place_list(r, &from, 2, ids[2], rank, comm.num_sources);
	comm.destinations = place_list(r, &from, 3, ids[3], rank, comm.num_destinations);
	use_site(&from, comm.site);
	for (size_t i = 0; i < SEG_RECENT; i++)
		use_site(&from, comm.recent[i].site);
	if (!decoder_charge(&r->in, 2, sizeof(comm) + sizeof(from)) ||
	    !model_has_valid_comm(model, &comm)) {
		r->in.is_bad = true;
		return PAIR_NONE;
	}
	number = model_pool_add_comm(r->pool, &comm);
	r->comms = arena_grow(r->arena, r->comms, number, &r->comms_capacity, sizeof(*r->comms));
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
	for (int which = 0; which < SHARE_COMM_LISTS; which++)
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
		int32_t *ranks;

		loan->num = num;
		loan->table = ranks = codec_allocate(&r->pooled, &loan->num, sizeof(*ranks));
		share_reader_begin_item(r, SHARE_COMM_RANKS, item);
		for (size_t i = 0; i < loan->num; i++)
			share_item_comm_rank(&r->own, &ranks[i]);
		share_reader_end(r);
	}
	if (loan->num != num)
		r->in.is_bad = true;
	return loan->table;
}

void share_read_comms(struct share_reader *r, struct model *model, int rank)
{
	struct rank_comms of = {0};
	size_t num_collectives, num_kept;
	uint32_t *numbers, *kept;

	of.items = share_reader_row(r, SHARE_COMMS, rank, &of.num);
	of.collectives = share_reader_row(r, SHARE_COLLECTIVES, rank, &num_collectives);
	of.lists = share_reader_row(r, SHARE_LISTS, rank, &of.num_lists);
	if (of.num > SEG_MAX_COMMS || num_collectives != of.num)
		r->in.is_bad = true;
	if (of.num == 0 || r->in.is_bad)
		return;
	if (!r->numbers)
		r->numbers = arena_array(r->arena, r->share->columns[SHARE_COMMS].num_places,
					 sizeof(*r->numbers));
	numbers = r->numbers;
	for (size_t i = 0; i < of.num && !r->in.is_bad; i++)
		numbers[i] = find_comm(r, model, &of, i, rank);
	if (of.num != r->num_last_comms ||
	    memcmp(numbers, r->last_comms, of.num * sizeof(*numbers)) != 0) {
		num_kept = of.num;
		kept = codec_allocate(&r->pooled, &num_kept, sizeof(*kept));
		memcpy(kept, numbers, num_kept * sizeof(*numbers));
		r->last_comms = kept;
		r->num_last_comms = num_kept;
	}
	if (!r->in.is_bad)
		model->pool_ranks =
			find_ranks(r, share_reader_item(r, SHARE_COMM_RANKS, rank, 0), of.num);
	if (r->in.is_bad)
		return;
	model->pool_comms = r->last_comms;
	model->num_comms = of.num;
}
