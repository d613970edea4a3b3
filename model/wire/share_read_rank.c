/* SPDX-License-Identifier: BSD-3-Clause
 * A rank's model: its own words, and what it has in common with others, made once. */

#include "model/job/model.h"
#include "model/job/model_pool.h"
#include "model/wire/share_read.h"

/* What commands need beside what is built: a rank with its places in what is computed of it, whose
 * tables grow more slowly than the number of ranks. */
enum { MANY_MODELS = 8192, MODEL_COST = 3072, MODEL_COST_OF_MANY = 512 };

/* ---- What ranks share ---- */

/* The tables are the same for all ranks of a shape. */
static void borrow_shape(struct share_reader *r, struct model *model, int rank)
{
	uint32_t item = share_reader_item(r, SHARE_SHAPE, rank, 0);
	struct model **shape = &r->shapes[item];

	if (share_reader_count(r, SHARE_SHAPE, rank, 1) != 1 || r->in.is_bad)
		return;
	if (!*shape) {
		share_reader_begin_item(r, SHARE_SHAPE, item);
		*shape = model_create();
		share_item_shape(&r->own, *shape);
		share_reader_end(r);
		if (!r->in.is_bad && model_validate(*shape, NULL) < 0)
			r->in.is_bad = true;
	}
	if (!r->in.is_bad)
		model_borrow_tables(model, *shape);
}

static void borrow_program(struct share_reader *r, struct model *model, int rank)
{
	uint32_t item = share_reader_item(r, SHARE_PROGRAM, rank, 0);
	struct share_program *of = &r->programs[item];

	if (r->in.is_bad || (!of->program && !decoder_charge(&r->in, 1, sizeof(*of->program))))
		return;
	if (!of->program) {
		of->program = arena_alloc(r->pool->arena, sizeof(*of->program));
		share_reader_begin_item(r, SHARE_PROGRAM, item);
		share_item_program(&r->own, of);
		share_reader_end(r);
	}
	model->program = of->program;
	model->size = of->size;
	model->uid = of->uid;
	model->life = of->life;
	model->thread_level = of->thread_level;
}

/* Read an item of a column into a lane, with tables of the pool or the lane's own. */
static void read_item(struct share_reader *r, const struct model *model, struct model_lane *lane,
		      enum share_column_id id, uint32_t item, struct codec *c)
{
	share_reader_begin_item(r, id, item);
	share_lane_item_of(id)(c, model, lane);
	share_reader_end(r);
}

static void need(struct share_loan *loan, uint32_t index)
{
	if (index >= loan->num_needed)
		loan->num_needed = index + 1;
}

static void make_transitions(struct share_reader *r, const struct model *model,
			     struct share_loan *loan, uint32_t item, uint32_t counts)
{
	struct model_lane lane = {0};

	read_item(r, model, &lane, SHARE_TRANSITIONS, item, &r->pooled);
	read_item(r, model, &lane, SHARE_COUNTS, counts, &r->pooled);
	*loan = (struct share_loan){.table = lane.transitions, .num = lane.num_transitions};
	for (size_t i = 0; i < loan->num; i++) {
		need(loan, lane.transitions[i].from);
		need(loan, lane.transitions[i].to);
	}
}

static void borrow_transitions(struct share_reader *r, const struct model *model,
			       struct model_lane *lane, size_t number, int rank)
{
	uint32_t item = share_reader_item(r, SHARE_TRANSITIONS, rank, number);
	uint32_t counts = share_reader_item(r, SHARE_COUNTS, rank, number);
	uint32_t found = pair_map_get(&r->transition_of, pair_key(item, counts));

	if (r->in.is_bad)
		return;
	if (found == PAIR_NONE) {
		found = (uint32_t)r->num_transitions++;
		r->transitions = arena_grow(r->arena, r->transitions, found,
					    &r->transitions_capacity, sizeof(*r->transitions));
		make_transitions(r, model, &r->transitions[found], item, counts);
		pair_map_add(&r->transition_of, pair_key(item, counts), found);
	}
	struct share_loan *loan = &r->transitions[found];
	if (loan->num_needed > 2 * model->num_sites)
		r->in.is_bad = true;
	lane->transitions = loan->table;
	lane->num_transitions = r->in.is_bad ? 0 : loan->num;
}

static void borrow_ring(struct share_reader *r, const struct model *model, struct model_lane *lane,
			uint32_t item)
{
	struct share_loan *loan = &r->rings[item];

	if (!loan->table) {
		read_item(r, model, lane, SHARE_RING_STATES, item, &r->pooled);
		loan->table = lane->ring;
		loan->num = lane->num_ring;
		for (size_t i = 0; i < loan->num; i++)
			need(loan, lane->ring[i].state);
	}
	if (loan->num_needed > 2 * model->num_sites)
		r->in.is_bad = true;
	lane->ring = loan->table;
	lane->num_ring = loan->num;
}

/* Without details there are no polls by state: none. */
static void borrow_polls(struct share_reader *r, const struct model *model, struct model_lane *lane,
			 int rank)
{
	struct share_loan *loan = &r->polls[share_reader_item(r, SHARE_SHAPE, rank, 0)];
	size_t num_states = 2 * model->num_sites;

	if (!loan->table)
		loan->table = codec_allocate(&r->pooled, &num_states, sizeof(*lane->state_polls));
	lane->state_polls = loan->table;
}

static void borrow_ledger(struct share_reader *r, const struct model *model,
			  struct model_lane *lane, uint32_t item)
{
	struct share_loan *loan = &r->ledgers[item];

	if (!loan->table) {
		read_item(r, model, lane, SHARE_LEDGERS, item, &r->pooled);
		loan->table = lane->ledger;
		loan->num = lane->num_ledger;
		loan->dropped = lane->dropped_ledger;
		for (size_t i = 0; i < loan->num; i++)
			if (lane->ledger[i].comm != SEG_NO_COMM)
				need(loan, lane->ledger[i].comm);
	}
	if (loan->num_needed > model->num_comms)
		r->in.is_bad = true;
	lane->ledger = loan->table;
	lane->num_ledger = loan->num;
	lane->dropped_ledger = loan->dropped;
}

/* ---- Lanes ---- */

static void read_own(struct share_reader *r, const struct model *model, struct model_lane *lane,
		     enum share_column_id id, size_t number, int rank)
{
	uint32_t item = share_reader_item(r, id, rank, number);

	if (!r->in.is_bad)
		read_item(r, model, lane, id, item, &r->own);
}

bool share_has_details(struct share_reader *r, size_t number, int rank)
{
	return share_reader_count(r, SHARE_RING_TIMES, rank, SEG_MAX_LANES) > number;
}

void share_read_details(struct share_reader *r, const struct model *model, struct model_lane *lane,
			size_t number, int rank)
{
	size_t num_states = 2 * model->num_sites;

	lane->is_borrowing = false;
	lane->state_polls = codec_allocate(&r->own, &num_states, sizeof(*lane->state_polls));
	read_own(r, model, lane, SHARE_RING_STATES, number, rank);
	for (enum share_column_id id = SHARE_RING_TIMES; id <= SHARE_POLLS; id++)
		read_own(r, model, lane, id, number, rank);
}

static void read_lane(struct share_reader *r, struct model *model, size_t number, int rank)
{
	static const enum share_column_id own[] = {SHARE_LANES, SHARE_TIMES, SHARE_STAYS,
						   SHARE_OPERATIONS};
	struct model_lane *lane = &model->lanes[number];

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		read_own(r, model, lane, own[i], number, rank);
	borrow_transitions(r, model, lane, number, rank);
	uint32_t item = share_reader_item(r, SHARE_LEDGERS, rank, number);
	if (!r->in.is_bad)
		borrow_ledger(r, model, lane, item);
	if (share_has_details(r, number, rank)) {
		share_read_details(r, model, lane, number, rank);
		return;
	}
	lane->is_borrowing = true;
	item = share_reader_item(r, SHARE_RING_STATES, rank, number);
	if (!r->in.is_bad)
		borrow_ring(r, model, lane, item);
	if (!r->in.is_bad)
		borrow_polls(r, model, lane, rank);
}

struct model *share_read_model(struct share_reader *r, int rank)
{
	struct decoder *in = &r->in;
	struct model *model = model_create_in(r->pool);

	decoder_charge(in, 1, sizeof(*model));
	decoder_charge(in, 1, ++r->num_models <= MANY_MODELS ? MODEL_COST : MODEL_COST_OF_MANY);
	share_reader_begin(r, SHARE_PROCESS, rank, 0);
	share_item_process(&r->own, model, rank);
	share_reader_end(r);
	borrow_shape(r, model, rank);
	borrow_program(r, model, rank);
	if (!in->is_bad)
		share_read_comms(r, model, rank);
	if (!in->is_bad && share_reader_count(r, SHARE_REQUESTS, rank, 1) > 0) {
		share_reader_begin(r, SHARE_REQUESTS, rank, 0);
		share_item_requests(&r->own, model);
		share_reader_end(r);
	}
	model->num_lanes = share_reader_count(r, SHARE_LANES, rank, SEG_MAX_LANES);
	model->lanes = codec_allocate(&r->pooled, &model->num_lanes, sizeof(*model->lanes));
	for (size_t l = 0; l < model->num_lanes && !in->is_bad; l++)
		read_lane(r, model, l, rank);
	return model;
}
