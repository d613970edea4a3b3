/* SPDX-License-Identifier: BSD-3-Clause
 * The stream and the values of a snapshot, bounded. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/wire/budget.h"
#include "model/error.h"
#include "model/interrupt.h"
#include "model/segment/segment.h"
#include "model/segment/segment_private.h"
#include "model/wire/snapshot_private.h"
#include "model/xalloc.h"

enum { ALLOCATION_COST = 32, STRING_COST = 16 }; /* of its place in the table */
enum { CHUNK_SIZE = 64 << 10 };

int input_init(struct snapshot_input *in, int fd, uint64_t size, struct pdb_error *err)
{
	memset(in, 0, sizeof(*in));
	in->err = err;
	in->fd = fd;
	in->bytes = in->memory = budget_compressed(size);
	in->chunk = xmalloc(CHUNK_SIZE);
	in->zstd = ZSTD_createDStream();
	return in->zstd ? 0 : error_set(err, ERROR_SYSTEM, "zstd: out of memory");
}

void input_deinit(struct snapshot_input *in)
{
	for (size_t i = 0; i < in->num_strings; i++)
		free(in->strings[i]);
	free(in->strings);
	for (size_t i = 0; i < in->num_lists; i++)
		free(in->lists[i].ranks);
	free(in->lists);
	free(in->section);
	ZSTD_freeDStream(in->zstd);
	free(in->chunk);
}

static const char too_much[] = "claims far more than its bytes can hold: it is damaged, or made to "
			       "do harm; have it saved again";

const char *input_why_bad(const struct snapshot_input *in)
{
	return in->is_too_much ? too_much : "is corrupt";
}

static int truncated(struct snapshot_input *in)
{
	return error_set(in->err, ERROR_FORMAT, "the snapshot is truncated");
}

/* Decompress up to `size` bytes; fewer only at the end. -1 and *err on garbage. */
static int64_t decompress(struct snapshot_input *in, void *to, size_t size)
{
	ZSTD_outBuffer out = {to, size, 0};

	while (out.pos < size && !in->at_end) {
		size_t status;

		if (interrupt_check(in->err) < 0)
			return -1;
		if (in->in.pos == in->in.size) {
			ssize_t got = read(in->fd, in->chunk, CHUNK_SIZE);

			if (got < 0 && errno == EINTR)
				continue;
			if (got < 0)
				return error_errno(in->err, "reading");
			if (got == 0)
				return truncated(in);
			in->in = (ZSTD_inBuffer){in->chunk, (size_t)got, 0};
		}
		status = ZSTD_decompressStream(in->zstd, &out, &in->in);
		if (ZSTD_isError(status))
			return error_set(in->err, ERROR_FORMAT, "not a snapshot, or damaged: %s",
					 ZSTD_getErrorName(status));
		in->at_end = status == 0;
	}
	if (out.pos > in->bytes)
		return error_set(in->err, ERROR_FORMAT, "the snapshot %s", too_much);
	in->bytes -= out.pos;
	return (int64_t)out.pos;
}

int input_read(struct snapshot_input *in, void *to, size_t size)
{
	int64_t got = decompress(in, to, size);

	if (got < 0)
		return -1;
	return (uint64_t)got == size ? 0 : truncated(in);
}

int input_expect_end(struct snapshot_input *in)
{
	char extra;
	int64_t got = decompress(in, &extra, 1);

	if (got < 0)
		return -1;
	if (got > 0 || in->in.pos < in->in.size || read(in->fd, &extra, 1) > 0)
		return error_set(in->err, ERROR_FORMAT, "the snapshot goes on after its end");
	return 0;
}

int input_next_section(struct snapshot_input *in, int *id_ret)
{
	uint8_t header[SNAPSHOT_SECTION_HEADER_SIZE];
	uint64_t size = 0, have = 0;

	if (input_read(in, header, sizeof(header)) < 0)
		return -1;
	for (int i = 0; i < 8; i++)
		size |= (uint64_t)header[1 + i] << (8 * i);
	if (size > SNAPSHOT_MAX_SECTION)
		return error_set(in->err, ERROR_FORMAT, "section %d is too large", header[0]);
	/* Not all at once: the size is only a claim. */
	while (have < size) {
		uint64_t more = size - have < (1 << 20) + have ? size - have : (1 << 20) + have;

		if (have + more > in->section_capacity) {
			in->is_bad = false;
			if (!input_charge(in, have + more - in->section_capacity, 1))
				return interrupt_check(in->err) < 0
					       ? -1
					       : error_set(in->err, ERROR_FORMAT, "section %d %s",
							   header[0], input_why_bad(in));
			in->section_capacity = have + more;
			in->section = xreallocarray(in->section, in->section_capacity, 1);
		}
		if (input_read(in, in->section + have, more) < 0)
			return -1;
		have += more;
	}
	*id_ret = header[0];
	in->at = in->section;
	in->end = in->section + size;
	in->is_bad = false;
	return 0;
}

uint64_t input_take(struct snapshot_input *in)
{
	uint64_t value = 0;

	for (int shift = 0; shift < 64 && in->at < in->end; shift += 7) {
		uint8_t byte = *in->at++;

		/* The tenth byte has room for one bit. */
		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	in->is_bad = true;
	return 0;
}

uint64_t input_take_below(struct snapshot_input *in, uint64_t most)
{
	uint64_t value = input_take(in);

	if (value <= most)
		return value;
	in->is_bad = true;
	return 0;
}

int64_t input_take_signed(struct snapshot_input *in, int64_t least, int64_t most)
{
	uint64_t raw = input_take(in);
	int64_t value = (int64_t)(raw >> 1) ^ -(int64_t)(raw & 1);

	if (value >= least && value <= most)
		return value;
	in->is_bad = true;
	return 0;
}

int input_take_int(struct snapshot_input *in)
{
	return (int)input_take_signed(in, INT32_MIN, INT32_MAX);
}

uint32_t input_take_index(struct snapshot_input *in, uint64_t num)
{
	return (uint32_t)input_take_below(in, num) - 1;
}

size_t input_take_count(struct snapshot_input *in, uint64_t most, size_t bytes_each)
{
	uint64_t value = input_take(in);

	if (value <= most && value <= (uint64_t)(in->end - in->at) / bytes_each)
		return value;
	in->is_bad = true;
	return 0;
}

const uint8_t *input_take_bytes(struct snapshot_input *in, size_t num)
{
	const uint8_t *bytes = in->at;

	if (num > (size_t)(in->end - in->at)) {
		in->is_bad = true;
		return NULL;
	}
	in->at += num;
	return bytes;
}

const char *input_take_string(struct snapshot_input *in)
{
	uint64_t id = input_take_below(in, in->num_strings);

	return id ? in->strings[id - 1] : NULL;
}

const char *input_take_text(struct snapshot_input *in)
{
	const char *text = input_take_string(in);

	return text ? text : "";
}

char *input_copy_text(struct snapshot_input *in)
{
	size_t length = input_take_count(in, SNAPSHOT_MAX_SECTION, 1);
	const uint8_t *bytes = input_take_bytes(in, length);
	char *text = input_allocate(in, length + 1, 1);

	if (in->is_bad) {
		free(text);
		return xstrdup("");
	}
	memcpy(text, bytes, length);
	segment_clean_text(text, length);
	return text;
}

bool input_charge(struct snapshot_input *in, size_t num, size_t size)
{
	if (size && num > in->memory / size)
		in->is_bad = in->is_too_much = true;
	if (in->is_bad || interrupt_pending()) {
		in->is_bad = true;
		return false;
	}
	in->memory -= num * size;
	return true;
}

void *input_allocate(struct snapshot_input *in, size_t num, size_t size)
{
	/* What the allocator needs itself, for nothing, too. */
	input_charge(in, 1, ALLOCATION_COST);
	return xcalloc(input_charge(in, num, size) ? num : 0, size);
}

void input_take_strings(struct snapshot_input *in)
{
	while (in->at < in->end && !in->is_bad) {
		size_t length = input_take_count(in, SNAPSHOT_MAX_SECTION, 1);
		const uint8_t *bytes = input_take_bytes(in, length);
		char *text;

		/* An empty one takes a byte of the file, next to none when compressed, and more
		 * than one here. */
		input_charge(in, 1, STRING_COST);
		text = input_allocate(in, length + 1, 1);

		if (in->is_bad) {
			free(text);
			return;
		}
		memcpy(text, bytes, length);
		segment_clean_text(text, length);
		in->strings = xgrow(in->strings, in->num_strings, &in->strings_capacity,
				    sizeof(*in->strings));
		in->strings[in->num_strings++] = text;
	}
}

void input_take_lists(struct snapshot_input *in)
{
	while (in->at < in->end && !in->is_bad) {
		size_t num = input_take_count(in, SEG_MAX_MEMBERS, 1);
		struct snapshot_list list = {.num = num};
		int64_t expected = 0;

		input_charge(in, 1, STRING_COST);
		list.ranks = input_allocate(in, num, sizeof(*list.ranks));
		for (size_t i = 0; i < num && !in->is_bad; i++) {
			int64_t rank = expected +
				       input_take_signed(in, -(int64_t)INT32_MAX - 1, INT32_MAX);

			if (rank < -1 || rank > INT32_MAX)
				in->is_bad = true;
			list.ranks[i] = (int32_t)rank;
			expected = rank + 1;
		}
		in->lists =
			xgrow(in->lists, in->num_lists, &in->lists_capacity, sizeof(*in->lists));
		in->lists[in->num_lists++] = list;
	}
}
