/* SPDX-License-Identifier: BSD-3-Clause
 * Rows and values of a share that is being read. */

#include "model/interrupt.h"
#include "model/wire/share_read.h"

void share_reader_init(struct share_reader *r, const struct share *share)
{
	*r = (struct share_reader){.share = share, .in.memory = share->memory};
	r->own.from = r->pooled.from = &r->in;
	r->arena = arena_create();
	for (size_t c = 0; c < SHARE_NUM_COLUMNS; c++) {
		size_t num = share->columns[c].num_places;

		r->at[c] = arena_array(r->arena, num, sizeof(*r->at[c]));
		r->rows[c] = arena_array(r->arena, num, sizeof(*r->rows[c]));
	}
}

void share_reader_deinit(struct share_reader *r)
{
	arena_destroy(r->arena);
}

void *share_reader_by_item(struct share_reader *r, enum share_column_id id, size_t size)
{
	return arena_array(r->arena, r->share->columns[id].items.num, size);
}

int share_reader_refuse(const struct share_reader *r, const char *what, struct pdb_error *err)
{
	if (interrupt_check(err) < 0)
		return -1;
	return error_set(err, ERROR_FORMAT, "what %s reports of %s %s",
			 r->share->teller ? r->share->teller : "a node", what,
			 decoder_why_bad(&r->in));
}

int share_reader_refuse_rank(const struct share_reader *r, int rank, struct pdb_error *err)
{
	char what[32];

	snprintf(what, sizeof(what), "rank %d", rank);
	return share_reader_refuse(r, what, err);
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
