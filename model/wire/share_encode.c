/* SPDX-License-Identifier: BSD-3-Clause
 * A share as bytes, and back. What comes back is not trusted: all of it is under one checksum,
 * sizes are checked against what has come, and every number against what it counts. Items stay
 * unread until share_to_job(). */
#include <endian.h>

#include <zstd.h>

#include "model/budget.h"
#include "model/hash.h"
#include "model/codec.h"
#include "model/wire/share_private.h"

enum { LEVEL = 1 };

/* Little endian. The checksum is of what comes behind it. */
struct header {
	char magic[8];
	uint32_t version;
	uint64_t checksum, raw_size, packed_size;
} __attribute__((packed));

static uint64_t checksum_of(const uint8_t *bytes, size_t size)
{
	const size_t begin = offsetof(struct header, raw_size);

	return hash_bytes(bytes + begin, size - begin);
}

/* ---- Columns ---- */

static void runs(struct codec *c, struct share_place *place, size_t num_items, int num_ranks)
{
	size_t num = place->num_runs;
	int64_t expected = 0;
	uint64_t next = 0;

	codec_count(c, &num, SHARE_MAX_RANKS, 3);
	/* No place is for nobody. */
	codec_refuse(c, num == 0);
	if (c->from) {
		if (!decoder_charge(c->from, num, sizeof(*place->runs)))
			return;
		place->runs = xreallocarray(NULL, num, sizeof(*place->runs));
		place->capacity = num;
	}
	for (size_t i = 0; i < num; i++) {
		struct share_run run = {0};
		uint64_t before, length;
		int64_t item;

		if (c->to)
			run = place->runs[i];
		before = (uint64_t)run.first - next;
		length = (uint64_t)(run.last - run.first) << 1 | run.step;
		item = run.item;
		CODEC_BELOW(c, before, SHARE_MAX_RANKS);
		CODEC_BELOW(c, length, (uint64_t)SHARE_MAX_RANKS << 1 | 1);
		CODEC_NEAR(c, item, expected, 0, SHARE_MAX_ITEMS);
		expected = item + 1 + (length & 1 ? (int64_t)(length >> 1) : 0);
		next += before + (length >> 1) + 1;
		codec_refuse(c, next > (uint64_t)num_ranks || expected > (int64_t)num_items);
		if (!codec_goes_on(c))
			return;
		run = (struct share_run){(int)(next - 1 - (length >> 1)), (int)next - 1,
					 (uint32_t)item, length & 1};
		if (c->from)
			share_place_add_run(place, &run);
	}
}

static void items(struct codec *c, struct blobs *blobs)
{
	const uint8_t *bytes = blobs->bytes;
	size_t num = blobs->num;

	codec_count(c, &num, SHARE_MAX_ITEMS, 1);
	if (c->from) {
		if (!decoder_charge(c->from, num, sizeof(*blobs->ends)))
			return;
		blobs_reserve(blobs, num, 0);
	}
	for (size_t i = 0; i < num && codec_goes_on(c); i++) {
		size_t size = c->to ? blobs->ends[i] - (i ? blobs->ends[i - 1] : 0) : 0;

		codec_count(c, &size, UINT32_MAX, 1);
		if (c->to)
			continue;
		blobs->num_bytes += size;
		blobs->ends[blobs->num++] = blobs->num_bytes;
	}
	CODEC_FIELD(c, bytes, buffer_put_bytes(c->to, bytes, blobs->num_bytes),
		    decoder_take_bytes(c->from, blobs->num_bytes));
	if (c->to || !bytes || !decoder_charge(c->from, blobs->num_bytes, 1))
		return;
	blobs_reserve(blobs, 0, blobs->num_bytes);
	if (blobs->num_bytes)
		memcpy(blobs->bytes, bytes, blobs->num_bytes);
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

static void column_fields(struct codec *c, struct share_column *column, int num_ranks)
{
	size_t num = column->num_places;

	items(c, &column->items);
	codec_count(c, &num, SHARE_MAX_ITEMS, 1);
	if (c->from)
		decoder_charge(c->from, num, 2 * sizeof(*column->places));
	for (size_t n = 0; n < num && codec_goes_on(c); n++) {
		struct share_place *place = share_column_place(column, n);

		runs(c, place, column->items.num, num_ranks);
		codec_refuse(c, n > 0 && codec_goes_on(c) &&
					!is_within(place, &column->places[n - 1]));
	}
}

/* In this column, or a later one. */
static bool has_items(const struct share *share, size_t column)
{
	for (; column < SHARE_NUM_COLUMNS; column++)
		if (share->columns[column].num_places > 0)
			return true;
	return false;
}

static void share_fields(struct codec *c, struct share *share, int num_ranks)
{
	uint64_t bits;

	memcpy(&bits, &share->look_seconds, sizeof(bits));
	CODEC_BELOW(c, share->parts, SHARE_ANY);
	CODEC_BELOW(c, share->has_model, 1);
	CODEC(c, share->taken_real_ns);
	CODEC(c, bits);
	if (c->from)
		memcpy(&share->look_seconds, &bits, sizeof(bits));
	codec_refuse(c, !(share->look_seconds >= 0 && share->look_seconds < 1e9));
	for (size_t i = 0; i < SHARE_USAGE && codec_goes_on(c); i++)
		column_fields(c, &share->columns[i], num_ranks);
	/* Older ones have less. */
	for (size_t i = SHARE_USAGE;
	     i < SHARE_NUM_COLUMNS && codec_goes_on(c) && codec_has_part(c, has_items(share, i));
	     i++)
		column_fields(c, &share->columns[i], num_ranks);
}

void share_put(const struct share *share, struct buffer *b)
{
	share_fields(&(struct codec){.to = b}, (struct share *)share, SHARE_MAX_RANKS);
}

void share_take(struct share *share, struct decoder *in, int num_ranks)
{
	share_fields(&(struct codec){.from = in}, share, num_ranks);
}

/* ---- The whole ---- */

int share_encode(const struct share *share, struct buffer *out, struct pdb_error *err)
{
	struct buffer b = {0};
	struct header header = {SHARE_MAGIC, htole32(SHARE_VERSION), 0, 0, 0};
	size_t begin = out->num, bound, size;

	share_put(share, &b);
	bound = ZSTD_compressBound(b.num);
	buffer_put_bytes(out, &header, sizeof(header));
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
	header.raw_size = htole64(b.num);
	header.packed_size = htole64(size);
	memcpy(out->bytes + begin, &header, sizeof(header));
	header.checksum = htole64(checksum_of(out->bytes + begin, sizeof(header) + size));
	memcpy(out->bytes + begin, &header, sizeof(header));
	return 0;
}

static int refuse(const struct decoder *in, struct pdb_error *err)
{
	return error_set(err, ERROR_FORMAT, "the share %s", decoder_why_bad(in));
}

/* The bytes before compression, which the caller frees; NULL: corrupt. */
static uint8_t *decompress(const uint8_t *bytes, size_t size, size_t raw_size)
{
	if (ZSTD_getFrameContentSize(bytes, size) != raw_size)
		return NULL;
	uint8_t *raw = xmalloc(raw_size + 1);
	size_t got = ZSTD_decompress(raw, raw_size, bytes, size);
	if (ZSTD_isError(got) || got != raw_size) {
		free(raw);
		return NULL;
	}
	return raw;
}

/* Names that all ranks have take few bytes compressed, and memory for each. */
static uint64_t budget_of_variables(const struct share *share)
{
	const uint64_t each = 128 << 10; /* some 700 */
	uint64_t num = share_column_num_ranks(&share->columns[SHARE_VARIABLES]);

	return num > BUDGET_MOST / each ? BUDGET_MOST : num * each;
}

int share_decode(const uint8_t *bytes, size_t size, int num_ranks, struct share **share_ret,
		 struct pdb_error *err)
{
	struct decoder in = {.memory = share_budget(size, num_ranks)};
	struct header header;
	struct share *share;
	uint64_t raw_size;

	if (size < sizeof(header) || memcmp(bytes, SHARE_MAGIC, 8) != 0)
		return error_set(err, ERROR_FORMAT, "not a share, or truncated");
	memcpy(&header, bytes, sizeof(header));
	if (le32toh(header.version) != SHARE_VERSION)
		return error_set(err, ERROR_VERSION, "the share has version %u, this pdb reads %d",
				 le32toh(header.version), SHARE_VERSION);
	raw_size = le64toh(header.raw_size);
	in.is_too_much = raw_size > in.memory;
	if (le64toh(header.packed_size) != size - sizeof(header) || in.is_too_much ||
	    le64toh(header.checksum) != checksum_of(bytes, size))
		return refuse(&in, err);
	uint8_t *raw = decompress(bytes + sizeof(header), size - sizeof(header), raw_size);
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
	share->memory = share_budget(size, num_ranks) + budget_of_variables(share);
	*share_ret = share;
	return 0;
}
