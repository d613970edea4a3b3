/* SPDX-License-Identifier: BSD-3-Clause
 * A share as bytes, and back. What comes back is not trusted: all of it is under one checksum,
 * sizes are checked against what has come, and every number against what it counts. Items stay
 * unread until share_to_job(). */
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "model/hash.h"
#include "model/buffer.h"
#include "model/error.h"
#include "model/wire/share_private.h"
#include "model/decoder.h"
#include "model/xalloc.h"

enum {
	/* Magic, version (4 bytes), checksum, size before compression, and behind it (8 bytes
	   each). */
	HEADER_SIZE = 36,
	CHECKSUM_AT = 12,
	SIZES_AT = 20,
	LEVEL = 1,
};

/* ---- Out ---- */

static void put_runs(struct buffer *b, const struct share_place *place)
{
	uint32_t expected = 0;
	int next = 0;

	buffer_put(b, place->num_runs);
	for (size_t i = 0; i < place->num_runs; i++) {
		const struct share_run *run = &place->runs[i];

		buffer_put(b, (uint64_t)(run->first - next));
		buffer_put(b, (uint64_t)(run->last - run->first) << 1 | run->step);
		buffer_put_signed(b, (int64_t)run->item - expected);
		next = run->last + 1;
		expected = share_run_item(run, run->last) + 1;
	}
}

static void put_column(struct buffer *b, const struct share_column *column)
{
	buffer_put(b, column->items.num);
	for (size_t i = 0; i < column->items.num; i++)
		buffer_put(b, column->items.ends[i] - (i ? column->items.ends[i - 1] : 0));
	buffer_put_bytes(b, column->items.bytes, column->items.num_bytes);
	buffer_put(b, column->num_places);
	for (size_t n = 0; n < column->num_places; n++)
		put_runs(b, &column->places[n]);
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

void share_put(const struct share *share, struct buffer *b)
{
	uint64_t bits;

	memcpy(&bits, &share->look_seconds, sizeof(bits));
	buffer_put(b, share->parts);
	buffer_put(b, share->has_model);
	buffer_put(b, share->taken_real_ns);
	buffer_put(b, bits);
	for (size_t c = 0; c < SHARE_NUM_COLUMNS; c++)
		put_column(b, &share->columns[c]);
}

int share_encode(const struct share *share, struct buffer *out, struct pdb_error *err)
{
	struct buffer b = {0};
	uint8_t header[HEADER_SIZE] = SHARE_MAGIC;
	size_t begin = out->num, bound, size;

	share_put(share, &b);
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
	      hash_bytes(out->bytes + begin + SIZES_AT, size + HEADER_SIZE - SIZES_AT), 8);
	return 0;
}

/* ---- In ---- */

static void take_items(struct decoder *in, struct blobs *items)
{
	size_t num = decoder_take_count(in, SHARE_MAX_ITEMS, 1);
	const uint8_t *bytes;

	if (!decoder_charge(in, num, sizeof(*items->ends)) || in->is_bad)
		return;
	blobs_reserve(items, num, 0);
	for (size_t i = 0; i < num && !in->is_bad; i++) {
		items->num_bytes += decoder_take_count(in, UINT32_MAX, 1);
		items->ends[items->num++] = items->num_bytes;
	}
	bytes = decoder_take_bytes(in, items->num_bytes);
	if (in->is_bad || !decoder_charge(in, items->num_bytes, 1))
		return;
	blobs_reserve(items, 0, items->num_bytes);
	if (items->num_bytes)
		memcpy(items->bytes, bytes, items->num_bytes);
}

static void take_runs(struct decoder *in, struct share_place *place, size_t num_items,
		      int num_ranks)
{
	size_t num = decoder_take_count(in, SHARE_MAX_RANKS, 3);
	int64_t expected = 0;
	uint64_t next = 0;

	/* No place is for nobody. */
	if (num == 0 || !decoder_charge(in, num, sizeof(*place->runs)) || in->is_bad) {
		in->is_bad = true;
		return;
	}
	place->runs = xreallocarray(NULL, num, sizeof(*place->runs));
	place->capacity = num;
	for (size_t i = 0; i < num; i++) {
		uint64_t first = next + decoder_take_below(in, SHARE_MAX_RANKS), length, last;
		int64_t item;

		length = decoder_take_below(in, (uint64_t)SHARE_MAX_RANKS << 1 | 1);
		last = first + (length >> 1);
		item = expected +
		       decoder_take_signed(in, -(int64_t)SHARE_MAX_ITEMS, SHARE_MAX_ITEMS);
		expected = item + 1 + (length & 1 ? (int64_t)(last - first) : 0);
		if (in->is_bad || last >= (uint64_t)num_ranks || item < 0 ||
		    expected > (int64_t)num_items) {
			in->is_bad = true;
			return;
		}
		share_place_add_run(place, &(struct share_run){(int)first, (int)last,
							       (uint32_t)item, length & 1});
		next = last + 1;
	}
}

/* Are all ranks that have an item in `place` in the one before it, too? */
static bool is_within(const struct share_place *place, const struct share_place *before)
{
	size_t k = 0;
	int first;

	for (size_t i = 0; i < place->num_runs; i++) {
		for (first = place->runs[i].first; first <= place->runs[i].last;
		     first = before->runs[k].last + 1) {
			while (k < before->num_runs && before->runs[k].last < first)
				k++;
			if (k == before->num_runs || before->runs[k].first > first)
				return false;
		}
	}
	return true;
}

static void take_column(struct decoder *in, struct share_column *column, int num_ranks)
{
	size_t num;

	take_items(in, &column->items);
	num = decoder_take_count(in, SHARE_MAX_ITEMS, 1);
	decoder_charge(in, num, 2 * sizeof(*column->places));
	for (size_t n = 0; n < num && !in->is_bad; n++) {
		struct share_place *place = share_column_place(column, n);

		take_runs(in, place, column->items.num, num_ranks);
		if (n > 0 && !in->is_bad && !is_within(place, &column->places[n - 1]))
			in->is_bad = true;
	}
}

void share_take(struct share *share, struct decoder *in, int num_ranks)
{
	uint64_t bits;

	share->parts = (unsigned int)decoder_take_below(in, SHARE_ANY);
	share->has_model = decoder_take_below(in, 1);
	share->taken_real_ns = decoder_take(in);
	bits = decoder_take(in);
	memcpy(&share->look_seconds, &bits, sizeof(bits));
	if (!(share->look_seconds >= 0 && share->look_seconds < 1e9))
		in->is_bad = true;
	for (size_t c = 0; c < SHARE_NUM_COLUMNS && !in->is_bad; c++)
		take_column(in, &share->columns[c], num_ranks);
}

static int refuse(const struct decoder *in, struct pdb_error *err)
{
	return error_set(err, ERROR_FORMAT, "the share %s", decoder_why_bad(in));
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
	struct decoder in = {.memory = share_budget(size, num_ranks)};
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
	in.is_too_much = raw_size > in.memory;
	if (packed != size - HEADER_SIZE || in.is_too_much)
		return refuse(&in, err);
	if (fetch(bytes + CHECKSUM_AT, 8) != hash_bytes(bytes + SIZES_AT, size - SIZES_AT))
		return refuse(&in, err);
	raw = decompress(bytes + HEADER_SIZE, packed, raw_size);
	if (!raw)
		return refuse(&in, err);
	in.at = raw;
	in.end = raw + raw_size;
	share = share_create();
	share_take(share, &in, num_ranks);
	decoder_end(&in);
	free(raw);
	if (in.is_bad) {
		share_destroy(share);
		return refuse(&in, err);
	}
	share->memory = share_budget(size, num_ranks);
	*share_ret = share;
	return 0;
}
