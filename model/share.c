/* SPDX-License-Identifier: BSD-3-Clause
 * Columns, and their union. */
#include <stdlib.h>
#include <string.h>

#include "model/error.h"
#include "model/model.h"
#include "model/share_private.h"
#include "model/xalloc.h"

struct share *share_create(void)
{
	return xcalloc(1, sizeof(struct share));
}

void share_destroy(struct share *share)
{
	if (!share)
		return;
	for (size_t c = 0; c < SHARE_NUM_COLUMNS; c++) {
		blobs_deinit(&share->columns[c].items);
		blobs_deinit(&share->columns[c].rows);
		free(share->columns[c].runs);
	}
	free(share);
}

int32_t share_peer_base(const struct model *model, uint32_t comm)
{
	int32_t own = comm < model->num_comms ? model_comm_rank(model, comm) : 0;

	return own > 0 ? own : 0;
}

size_t share_num_ranks(const struct share *share)
{
	const struct share_column *column = &share->columns[SHARE_PROCESS];
	size_t num = 0;

	for (size_t i = 0; i < column->num_runs; i++)
		num += (size_t)(column->runs[i].last - column->runs[i].first) + 1;
	return num;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static uint32_t intern_row(struct share_column *column, const uint32_t *items, size_t num)
{
	if (num == 1)
		return items[0];
	return blobs_intern(&column->rows, items, num * sizeof(*items)) | SHARE_ROW_MANY;
}

const uint32_t *share_column_row(const struct share_column *column, uint32_t row, uint32_t *one,
				 size_t *num_ret)
{
	const uint8_t *bytes;
	size_t size;

	if (!(row & SHARE_ROW_MANY)) {
		*one = row;
		*num_ret = 1;
		return one;
	}
	/* Blobs of rows are all of uint32_t, so each is aligned. */
	bytes = blobs_get(&column->rows, row & ~SHARE_ROW_MANY, &size);
	*num_ret = size / sizeof(*one);
	return (const uint32_t *)(const void *)bytes;
}

static void append_run(struct share_run **runs, size_t *num, size_t *capacity,
		       const struct share_run *run)
{
	struct share_run *last = *num ? &(*runs)[*num - 1] : NULL;

	if (last && last->row == run->row && last->last + 1 == run->first) {
		last->last = run->last;
		return;
	}
	*runs = xgrow(*runs, *num, capacity, sizeof(**runs));
	(*runs)[(*num)++] = *run;
}

void share_column_add_run(struct share_column *column, int first, int last, uint32_t row)
{
	struct share_run run = {first, last, row};

	append_run(&column->runs, &column->num_runs, &column->capacity, &run);
}

void share_column_add(struct share_column *column, int rank, const uint32_t *items, size_t num)
{
	if (num)
		share_column_add_run(column, rank, rank, intern_row(column, items, num));
}

/* ---- Merge ----------------------------------------------------------------------------------- */

/* A rank that both have, or -1. */
static int find_common(const struct share_column *a, const struct share_column *b)
{
	size_t i = 0, j = 0;

	while (i < a->num_runs && j < b->num_runs) {
		const struct share_run *x = &a->runs[i], *y = &b->runs[j];

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

/* Where each item of `from` is in `into`. */
static uint32_t *unite_items(struct share_column *into, const struct share_column *from,
			     enum share_column_id id)
{
	uint32_t *place = xreallocarray(NULL, from->items.num + 1, sizeof(*place));

	for (size_t i = 0; i < from->items.num; i++) {
		size_t size;
		const uint8_t *bytes = blobs_get(&from->items, (uint32_t)i, &size);

		place[i] = share_column_add_item(into, id, bytes, size);
	}
	return place;
}

static uint32_t *unite_rows(struct share_column *into, const struct share_column *from,
			    const uint32_t *place)
{
	uint32_t *row_place = xreallocarray(NULL, from->rows.num + 1, sizeof(*row_place));
	uint32_t *items = NULL;
	size_t capacity = 0;

	for (size_t i = 0; i < from->rows.num; i++) {
		uint32_t one;
		size_t num;
		const uint32_t *row =
			share_column_row(from, (uint32_t)i | SHARE_ROW_MANY, &one, &num);

		if (num > capacity) {
			capacity = num * 2;
			items = xreallocarray(items, capacity, sizeof(*items));
		}
		for (size_t k = 0; k < num; k++)
			items[k] = place[row[k]];
		row_place[i] = intern_row(into, items, num);
	}
	free(items);
	return row_place;
}

static void unite_runs(struct share_column *into, const struct share_column *from,
		       const uint32_t *place, const uint32_t *row_place)
{
	struct share_run *runs = NULL, *old = into->runs;
	size_t num = 0, capacity = 0, i = 0, j = 0;

	while (i < into->num_runs || j < from->num_runs) {
		struct share_run run;

		if (j == from->num_runs ||
		    (i < into->num_runs && old[i].first < from->runs[j].first)) {
			run = old[i++];
		} else {
			run = from->runs[j++];
			run.row = run.row & SHARE_ROW_MANY ? row_place[run.row & ~SHARE_ROW_MANY]
							   : place[run.row];
		}
		append_run(&runs, &num, &capacity, &run);
	}
	free(old);
	into->runs = runs;
	into->num_runs = num;
	into->capacity = capacity;
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
				 "two nodes tell different things of their ranks");
	for (size_t c = 0; c < SHARE_NUM_COLUMNS; c++) {
		int rank = find_common(&into->columns[c], &from->columns[c]);

		if (rank >= 0)
			return error_set(err, ERROR_FORMAT, "two nodes tell of rank %d", rank);
	}
	for (size_t c = 0; c < SHARE_NUM_COLUMNS; c++) {
		const struct share_column *column = &from->columns[c];
		uint32_t *place = unite_items(&into->columns[c], column, c);
		uint32_t *row_place = unite_rows(&into->columns[c], column, place);

		unite_runs(&into->columns[c], column, place, row_place);
		free(place);
		free(row_place);
	}
	into->parts |= from->parts;
	into->has_model |= from->has_model;
	if (from->taken_real_ns > into->taken_real_ns)
		into->taken_real_ns = from->taken_real_ns;
	if (from->look_seconds > into->look_seconds)
		into->look_seconds = from->look_seconds;
	return 0;
}
