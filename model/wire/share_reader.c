/* SPDX-License-Identifier: BSD-3-Clause
 * Rows and values of a share that is being read. */
#include <stdlib.h>

#include "model/error.h"
#include "model/interrupt.h"
#include "model/job/model.h"
#include "model/job/model_pool.h"
#include "model/wire/share_read.h"
#include "model/xalloc.h"

void share_reader_init(struct share_reader *r, const struct share *share)
{
	*r = (struct share_reader){.share = share, .in.memory = share->memory};
	for (size_t c = 0; c < SHARE_NUM_COLUMNS; c++) {
		r->at[c] = xcalloc(share->columns[c].num_places, sizeof(*r->at[c]));
		r->rows[c] = xcalloc(share->columns[c].num_places, sizeof(*r->rows[c]));
	}
	r->numbers = xcalloc(share->columns[SHARE_COMMS].num_places, sizeof(*r->numbers));
}

void share_reader_deinit(struct share_reader *r)
{
	for (size_t c = 0; c < SHARE_NUM_COLUMNS; c++) {
		free(r->at[c]);
		free(r->rows[c]);
	}
	free(r->numbers);
}

int share_reader_refuse(const struct share_reader *r, const char *what, struct pdb_error *err)
{
	if (interrupt_check(err) < 0)
		return -1;
	return error_set(err, ERROR_FORMAT, "what %s tells of %s %s",
			 r->share->teller ? r->share->teller : "a node", what,
			 decoder_why_bad(&r->in));
}

/* The rank's item in a place; false: it has none. */
static bool find_item(struct share_reader *r, enum share_column_id id, size_t n, int rank,
		      uint32_t *item_ret)
{
	const struct share_place *place = &r->share->columns[id].places[n];
	size_t *at = &r->at[id][n];

	while (*at < place->num_runs && place->runs[*at].last < rank)
		(*at)++;
	if (*at == place->num_runs || place->runs[*at].first > rank)
		return false;
	*item_ret = share_run_item(&place->runs[*at], rank);
	return true;
}

const uint32_t *share_reader_row(struct share_reader *r, enum share_column_id id, int rank,
				 size_t *num_ret)
{
	size_t n = 0;

	while (n < r->share->columns[id].num_places && find_item(r, id, n, rank, &r->rows[id][n]))
		n++;
	*num_ret = n;
	return r->rows[id];
}

size_t share_reader_count(struct share_reader *r, enum share_column_id id, int rank, size_t most)
{
	size_t num;

	share_reader_row(r, id, rank, &num);
	if (num <= most)
		return num;
	r->in.is_bad = true;
	return 0;
}

/* An input that is bad stays so. */
void share_reader_begin_item(struct share_reader *r, enum share_column_id id, uint32_t number)
{
	size_t size;

	r->in.at = blobs_get(&r->share->columns[id].items, number, &size);
	r->in.end = r->in.at + size;
}

uint32_t share_reader_item(struct share_reader *r, enum share_column_id id, int rank, size_t n)
{
	uint32_t item = 0;

	if (n < r->share->columns[id].num_places && find_item(r, id, n, rank, &item))
		return item;
	r->in.at = r->in.end;
	r->in.is_bad = true;
	return 0;
}

uint32_t share_reader_begin(struct share_reader *r, enum share_column_id id, int rank, size_t n)
{
	uint32_t item = share_reader_item(r, id, rank, n);

	if (!r->in.is_bad)
		share_reader_begin_item(r, id, item);
	return item;
}

void share_reader_end(struct share_reader *r)
{
	if (r->in.at != r->in.end)
		r->in.is_bad = true;
}

char *share_reader_text(struct share_reader *r)
{
	return decoder_take_text(&r->in);
}

int32_t share_reader_peer(struct share_reader *r, const struct model *model, uint32_t comm)
{
	uint64_t value = decoder_take(&r->in), half = value >> 1;
	int64_t peer = (int64_t)(half >> 1) ^ -(int64_t)(half & 1);

	if (value & 1)
		peer = half > INT32_MAX ? INT64_MAX : -(int64_t)half;
	else if (half <= UINT32_MAX * (uint64_t)2)
		peer += share_peer_base(model, comm);
	else
		peer = INT64_MAX;
	if (peer > INT32_MAX || (peer < 0 && !(value & 1)))
		r->in.is_bad = true;
	return (int32_t)peer;
}

void share_reader_ledger_peer(struct share_reader *r, struct model_ledger *row)
{
	uint64_t value = decoder_take(&r->in), half = value >> 1;

	row->is_distance = !(value & 1);
	/* So that no sum of it and a rank is too large for an int. */
	if (half > 4 * (uint64_t)SHARE_MAX_RANKS)
		r->in.is_bad = true;
	else if (row->is_distance)
		row->peer = (int32_t)((int64_t)(half >> 1) ^ -(int64_t)(half & 1));
	else
		row->peer = -(int32_t)half;
}

void *share_reader_take(struct share_reader *r, size_t num, size_t size)
{
	if (r->in.is_bad || !decoder_charge(&r->in, num, size))
		num = 0;
	return model_pool_take(r->pool, num, size);
}
