/* SPDX-License-Identifier: BSD-3-Clause
 * Columns, and their union. */

#include "model/budget.h"
#include "model/job/model.h"
#include "model/wire/share_private.h"

struct share *share_create(void)
{
	struct share *share = xcalloc(1, sizeof(*share));

	share->memory = BUDGET_LEAST;
	return share;
}

void share_destroy(struct share *share)
{
	if (!share)
		return;
	for (size_t c = 0; c < SHARE_NUM_COLUMNS; c++) {
		struct share_column *column = &share->columns[c];

		blobs_deinit(&column->items);
		for (size_t n = 0; n < column->num_places; n++)
			free(column->places[n].runs);
		free(column->places);
	}
	free(share);
}

int32_t share_peer_base(const struct model *model, uint32_t comm)
{
	int32_t own = comm < model->num_comms ? model_comm_rank(model, comm) : 0;

	return own > 0 ? own : 0;
}

uint64_t share_budget(uint64_t bytes, int num_ranks)
{
	enum { RANK_COST = 4096 };

	return budget_compressed(bytes) + (uint64_t)(num_ranks > 0 ? num_ranks : 0) * RANK_COST;
}

size_t share_num_ranks(const struct share *share)
{
	return share_column_num_ranks(&share->columns[SHARE_PROCESS]);
}

/* ---- Rows ---- */

size_t share_column_num_ranks(const struct share_column *column)
{
	const struct share_place *place = column->places;
	size_t num = 0;

	if (column->num_places == 0)
		return 0;
	for (size_t i = 0; i < place->num_runs; i++)
		num += (size_t)(place->runs[i].last - place->runs[i].first) + 1;
	return num;
}

struct share_place *share_column_place(struct share_column *column, size_t n)
{
	while (n >= column->num_places) {
		*XPUSH(column->places, column->num_places, column->capacity) =
			(struct share_place){0};
	}
	return &column->places[n];
}

/* Make `last` one run with what follows, if that can be. */
static bool join_runs(struct share_run *last, const struct share_run *next)
{
	uint32_t step = next->item - share_run_item(last, last->last);

	if (last->last + 1 != next->first || step > 1)
		return false;
	if ((last->first < last->last && last->step != step) ||
	    (next->first < next->last && next->step != step))
		return false;
	last->step = step;
	last->last = next->last;
	return true;
}

void share_place_add_run(struct share_place *place, const struct share_run *run)
{
	if (place->num_runs && join_runs(&place->runs[place->num_runs - 1], run))
		return;
	*XPUSH(place->runs, place->num_runs, place->capacity) = *run;
}

void share_column_add(struct share_column *column, int rank, const uint32_t *items, size_t num)
{
	for (size_t n = 0; n < num; n++) {
		struct share_run run = {rank, rank, items[n], 0};

		share_place_add_run(share_column_place(column, n), &run);
	}
}

/* ---- Merge ---- */

/* A rank that both have, or -1. */
static int find_common(const struct share_column *a, const struct share_column *b)
{
	size_t i = 0, j = 0;

	if (a->num_places == 0 || b->num_places == 0)
		return -1;
	while (i < a->places->num_runs && j < b->places->num_runs) {
		const struct share_run *x = &a->places->runs[i], *y = &b->places->runs[j];

		if (x->last < y->first)
			i++;
		else if (y->last < x->first)
			j++;
		else
			return x->first > y->first ? x->first : y->first;
	}
	return -1;
}

uint32_t share_column_add_item(struct share_column *column, enum share_column_id id,
			       const void *bytes, size_t size)
{
	return share_is_own(id) ? blobs_add(&column->items, bytes, size)
				: blobs_intern(&column->items, bytes, size);
}

/* Where each item of `from` is in `into`; NULL: as many behind those that were there. */
static uint32_t *unite_items(struct share_column *into, const struct share_column *from,
			     enum share_column_id id)
{
	uint32_t *numbers;

	if (share_is_own(id)) {
		blobs_add_all(&into->items, &from->items);
		return NULL;
	}
	numbers = xreallocarray(NULL, from->items.num, sizeof(*numbers));
	for (size_t i = 0; i < from->items.num; i++) {
		size_t size;
		const uint8_t *bytes = blobs_get(&from->items, (uint32_t)i, &size);

		numbers[i] = blobs_intern(&into->items, bytes, size);
	}
	return numbers;
}

/* Add a run whose items have other numbers here. */
static void add_renumbered(struct share_place *place, struct share_run run, const uint32_t *numbers,
			   uint32_t shift)
{
	struct share_run one = run;

	if (!numbers || !run.step) {
		run.item = (numbers ? numbers[run.item] : run.item + shift);
		share_place_add_run(place, &run);
		return;
	}
	one.step = 0;
	for (int rank = run.first; rank <= run.last; rank++) {
		one.first = one.last = rank;
		one.item = numbers[share_run_item(&run, rank)];
		share_place_add_run(place, &one);
	}
}

static void unite_runs(struct share_place *into, const struct share_place *from,
		       const uint32_t *numbers, uint32_t shift)
{
	struct share_place old = *into;
	size_t i = 0, j = 0;

	*into = (struct share_place){.capacity = old.num_runs + from->num_runs};
	into->runs = xreallocarray(NULL, into->capacity, sizeof(*into->runs));
	while (i < old.num_runs || j < from->num_runs) {
		if (j == from->num_runs ||
		    (i < old.num_runs && old.runs[i].first < from->runs[j].first))
			share_place_add_run(into, &old.runs[i++]);
		else
			add_renumbered(into, from->runs[j++], numbers, shift);
	}
	free(old.runs);
}

static void unite_columns(struct share_column *into, const struct share_column *from,
			  enum share_column_id id)
{
	uint32_t shift = (uint32_t)into->items.num;
	uint32_t *numbers = unite_items(into, from, id);

	for (size_t n = 0; n < from->num_places; n++)
		unite_runs(share_column_place(into, n), &from->places[n], numbers, shift);
	free(numbers);
}

/* Names may be asked from some nodes only; an empty share has no parts yet. */
static bool has_same_parts(const struct share *a, const struct share *b)
{
	return !a->parts || !b->parts || ((a->parts ^ b->parts) & ~(unsigned int)SHARE_NAMES) == 0;
}

int share_merge(struct share *into, const struct share *from, struct pdb_error *err)
{
	if (!has_same_parts(into, from))
		return error_set(err, ERROR_FORMAT,
				 "two nodes report different things about their ranks");
	for (size_t c = 0; c < SHARE_NUM_COLUMNS; c++) {
		int rank = find_common(&into->columns[c], &from->columns[c]);

		if (rank >= 0)
			return error_set(err, ERROR_FORMAT, "two nodes report rank %d", rank);
		if (into->columns[c].items.num + from->columns[c].items.num > SHARE_MAX_ITEMS)
			return error_set(err, ERROR_FORMAT, "nodes report too much");
	}
	for (size_t c = 0; c < SHARE_NUM_COLUMNS; c++)
		unite_columns(&into->columns[c], &from->columns[c], c);
	into->parts |= from->parts;
	into->has_model |= from->has_model;
	into->memory += from->memory;
	if (from->taken_real_ns > into->taken_real_ns)
		into->taken_real_ns = from->taken_real_ns;
	if (from->look_seconds > into->look_seconds)
		into->look_seconds = from->look_seconds;
	return 0;
}
