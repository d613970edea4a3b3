/* SPDX-License-Identifier: BSD-3-Clause
 * A share as bytes, and back. What comes back is not trusted: all of it is under one checksum,
 * sizes are checked against what has come, and every number against what it counts. Items stay
 * unread until share_to_job(). */
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "model/buffer.h"
#include "model/error.h"
#include "model/share_private.h"
#include "model/snapshot_private.h"
#include "model/xalloc.h"

enum {
	/* Magic, version (4 bytes), checksum, size before compression, and behind it (8 bytes
	   each). */
	HEADER_SIZE = 36,
	CHECKSUM_AT = 12,
	SIZES_AT = 20,
	LEVEL = 1,
	/* What a share may grow to when decompressed: tables of equal things have long repeats. */
	SMALL = 16 << 20,
	MAX_RATIO = 1024,
};

#define MAX_SIZE ((uint64_t)2 << 30)

/* ---- Out ------------------------------------------------------------------------------------- */

static void put_column(struct buffer *b, const struct share_column *column)
{
	uint32_t expected = 0;
	int next = 0;

	buffer_put(b, column->items.num);
	for (size_t i = 0; i < column->items.num; i++)
		buffer_put(b, column->items.ends[i] - (i ? column->items.ends[i - 1] : 0));
	buffer_put_bytes(b, column->items.bytes, column->items.num_bytes);
	buffer_put(b, column->rows.num);
	for (size_t i = 0; i < column->rows.num; i++) {
		uint32_t one;
		size_t num;
		const uint32_t *row =
			share_column_row(column, (uint32_t)i | SHARE_ROW_MANY, &one, &num);

		buffer_put(b, num);
		for (size_t k = 0; k < num; k++) {
			buffer_put_signed(b, (int64_t)row[k] - expected);
			expected = row[k] + 1;
		}
	}
	expected = 0;
	buffer_put(b, column->num_runs);
	for (size_t i = 0; i < column->num_runs; i++) {
		const struct share_run *run = &column->runs[i];

		buffer_put(b, (uint64_t)(run->first - next));
		buffer_put(b, (uint64_t)(run->last - run->first));
		buffer_put_signed(b, (int64_t)run->row - expected);
		next = run->last + 1;
		expected = run->row + 1;
	}
}

static void store(uint8_t *at, uint64_t value, int num)
{
	for (int i = 0; i < num; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t fetch(const uint8_t *at, int num)
{
	uint64_t value = 0;

	for (int i = 0; i < num; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

int share_encode(const struct share *share, struct buffer *out, struct pdb_error *err)
{
	struct buffer b = {0};
	uint8_t header[HEADER_SIZE] = SHARE_MAGIC;
	uint64_t bits;
	size_t begin = out->num, bound, size;

	memcpy(&bits, &share->look_seconds, sizeof(bits));
	buffer_put(&b, share->parts);
	buffer_put(&b, share->has_model);
	buffer_put(&b, share->taken_real_ns);
	buffer_put(&b, bits);
	for (size_t c = 0; c < SHARE_NUM_COLUMNS; c++)
		put_column(&b, &share->columns[c]);
	bound = ZSTD_compressBound(b.num);
	buffer_put_bytes(out, header, HEADER_SIZE);
	if (out->capacity - out->num < bound) {
		out->capacity = out->num + bound;
		out->bytes = xreallocarray(out->bytes, out->capacity, 1);
	}
	size = ZSTD_compress(out->bytes + out->num, bound, b.bytes, b.num, LEVEL);
	free(b.bytes);
	if (ZSTD_isError(size)) {
		out->num = begin;
		return error_set(err, ERROR_SYSTEM, "zstd: %s", ZSTD_getErrorName(size));
	}
	out->num += size;
	store(out->bytes + begin + 8, SHARE_VERSION, 4);
	store(out->bytes + begin + SIZES_AT, b.num, 8);
	store(out->bytes + begin + SIZES_AT + 8, size, 8);
	store(out->bytes + begin + CHECKSUM_AT,
	      blobs_hash(out->bytes + begin + SIZES_AT, size + HEADER_SIZE - SIZES_AT), 8);
	return 0;
}

/* ---- In -------------------------------------------------------------------------------------- */

enum { COST_OF_ITEM = 24, COST_OF_RUN = 2 * sizeof(struct share_run) };

static void take_items(struct snapshot_input *in, struct share_column *column,
		       enum share_column_id id)
{
	uint64_t total = 0;
	size_t num = input_take_count(in, SHARE_ROW_MANY - 1, 1);
	uint64_t *sizes;

	input_charge(in, num, COST_OF_ITEM + sizeof(*sizes));
	sizes = input_allocate(in, num, sizeof(*sizes));
	for (size_t i = 0; i < num && !in->is_bad; i++)
		total += sizes[i] = input_take_count(in, SNAPSHOT_MAX_SECTION, 1);
	if (!in->is_bad && total <= (uint64_t)(in->end - in->at))
		blobs_reserve(&column->items, num, total);
	for (size_t i = 0; i < num && !in->is_bad; i++) {
		const uint8_t *bytes = input_take_bytes(in, sizes[i]);

		if (in->is_bad || !input_charge(in, sizes[i], 2))
			break;
		/* Twice the same would shift the numbers. */
		if (share_column_add_item(column, id, bytes, sizes[i]) != i)
			in->is_bad = true;
	}
	free(sizes);
}

static void take_rows(struct snapshot_input *in, struct share_column *column)
{
	size_t num = input_take_count(in, SHARE_ROW_MANY - 1, 1);
	uint32_t *row = NULL;
	int64_t expected = 0;

	input_charge(in, num, COST_OF_ITEM);
	for (size_t i = 0; i < num && !in->is_bad; i++) {
		size_t length = input_take_count(in, UINT32_MAX, 1);

		if (length < 2 || !input_charge(in, length, 2 * sizeof(*row))) {
			in->is_bad = true;
			break;
		}
		row = xreallocarray(row, length, sizeof(*row));
		for (size_t k = 0; k < length; k++) {
			int64_t item =
				expected + input_take_signed(in, -(int64_t)UINT32_MAX, UINT32_MAX);

			if (item < 0 || item >= (int64_t)column->items.num)
				in->is_bad = true;
			row[k] = (uint32_t)item;
			expected = item + 1;
		}
		if (!in->is_bad && blobs_intern(&column->rows, row, length * sizeof(*row)) != i)
			in->is_bad = true;
	}
	free(row);
}

static bool is_row(const struct share_column *column, int64_t row)
{
	if (row < 0 || row > UINT32_MAX)
		return false;
	if (row & SHARE_ROW_MANY)
		return (row & ~SHARE_ROW_MANY) < (int64_t)column->rows.num;
	return row < (int64_t)column->items.num;
}

static void take_runs(struct snapshot_input *in, struct share_column *column, int num_ranks)
{
	size_t num = input_take_count(in, SHARE_MAX_RANKS, 3);
	int64_t expected = 0;
	uint64_t next = 0;

	if (input_charge(in, num, COST_OF_RUN) && !in->is_bad) {
		column->runs = xreallocarray(NULL, num, sizeof(*column->runs));
		column->capacity = num;
	}
	for (size_t i = 0; i < num && !in->is_bad; i++) {
		uint64_t first = next + input_take_below(in, SHARE_MAX_RANKS);
		uint64_t last = first + input_take_below(in, SHARE_MAX_RANKS);
		int64_t row = expected + input_take_signed(in, -(int64_t)UINT32_MAX, UINT32_MAX);

		if (in->is_bad || last >= (uint64_t)num_ranks || !is_row(column, row)) {
			in->is_bad = true;
			return;
		}
		share_column_add_run(column, (int)first, (int)last, (uint32_t)row);
		next = last + 1;
		expected = row + 1;
	}
}

static void take_share(struct snapshot_input *in, struct share *share, int num_ranks)
{
	uint64_t bits;

	share->parts = (unsigned int)input_take_below(in, SHARE_ALL);
	share->has_model = input_take_below(in, 1);
	share->taken_real_ns = input_take(in);
	bits = input_take(in);
	memcpy(&share->look_seconds, &bits, sizeof(bits));
	if (!(share->look_seconds >= 0 && share->look_seconds < 1e9))
		in->is_bad = true;
	for (size_t c = 0; c < SHARE_NUM_COLUMNS && !in->is_bad; c++) {
		struct share_column *column = &share->columns[c];

		take_items(in, column, c);
		take_rows(in, column);
		take_runs(in, column, num_ranks);
	}
	if (in->at != in->end)
		in->is_bad = true;
}

static int corrupt(struct pdb_error *err)
{
	return error_set(err, ERROR_FORMAT, "the share is corrupt");
}

/* The bytes before compression, which the caller frees; NULL: corrupt. */
static uint8_t *decompress(const uint8_t *bytes, size_t size, size_t raw_size)
{
	uint8_t *raw;
	size_t got;

	if (ZSTD_getFrameContentSize(bytes, size) != raw_size)
		return NULL;
	raw = xmalloc(raw_size + 1);
	got = ZSTD_decompress(raw, raw_size, bytes, size);
	if (ZSTD_isError(got) || got != raw_size) {
		free(raw);
		return NULL;
	}
	return raw;
}

int share_decode(const uint8_t *bytes, size_t size, int num_ranks, struct share **share_ret,
		 struct pdb_error *err)
{
	struct snapshot_input in = {.err = err};
	uint64_t raw_size, packed;
	uint32_t version;
	uint8_t *raw;
	struct share *share;

	if (size < HEADER_SIZE || memcmp(bytes, SHARE_MAGIC, 8) != 0)
		return error_set(err, ERROR_FORMAT, "not a share, or truncated");
	version = (uint32_t)fetch(bytes + 8, 4);
	if (version != SHARE_VERSION)
		return error_set(err, ERROR_VERSION, "the share has version %u, this pdb reads %d",
				 version, SHARE_VERSION);
	raw_size = fetch(bytes + SIZES_AT, 8);
	packed = fetch(bytes + SIZES_AT + 8, 8);
	if (packed != size - HEADER_SIZE || raw_size > MAX_SIZE ||
	    raw_size > SMALL + packed * MAX_RATIO)
		return corrupt(err);
	if (fetch(bytes + CHECKSUM_AT, 8) != blobs_hash(bytes + SIZES_AT, size - SIZES_AT))
		return corrupt(err);
	raw = decompress(bytes + HEADER_SIZE, packed, raw_size);
	if (!raw)
		return corrupt(err);
	in.memory = SNAPSHOT_MAX_MEMORY;
	in.at = raw;
	in.end = raw + raw_size;
	share = share_create();
	take_share(&in, share, num_ranks);
	free(raw);
	if (in.is_bad) {
		share_destroy(share);
		return corrupt(err);
	}
	*share_ret = share;
	return 0;
}
