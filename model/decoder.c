/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/interrupt.h"
#include "model/clean_text.h"
#include "model/decoder.h"

enum { ALLOCATION_COST = 32 }; /* what the allocator needs itself, for nothing, too */

const char decoder_too_much[] =
	"claims far more than its bytes can hold: it is damaged or hostile; save it again";

const char *decoder_why_bad(const struct decoder *d)
{
	return d->is_too_much ? decoder_too_much : "is corrupt";
}

void decoder_end(struct decoder *d)
{
	if (d->at != d->end)
		d->is_bad = true;
}

uint64_t decoder_take(struct decoder *d)
{
	uint64_t value = 0;

	for (int shift = 0; shift < 64 && d->at < d->end; shift += 7) {
		uint8_t byte = *d->at++;

		/* The tenth byte has room for one bit. */
		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	d->is_bad = true;
	return 0;
}

uint64_t decoder_take_below(struct decoder *d, uint64_t most)
{
	uint64_t value = decoder_take(d);

	if (value <= most)
		return value;
	d->is_bad = true;
	return 0;
}

int64_t decoder_take_signed(struct decoder *d, int64_t least, int64_t most)
{
	uint64_t raw = decoder_take(d);
	int64_t value = (int64_t)(raw >> 1) ^ -(int64_t)(raw & 1);

	if (value >= least && value <= most)
		return value;
	d->is_bad = true;
	return 0;
}

int decoder_take_int(struct decoder *d)
{
	return (int)decoder_take_signed(d, INT32_MIN, INT32_MAX);
}

uint32_t decoder_take_index(struct decoder *d, uint64_t num)
{
	return (uint32_t)decoder_take_below(d, num) - 1;
}

size_t decoder_take_count(struct decoder *d, uint64_t most, size_t bytes_each)
{
	uint64_t value = decoder_take(d);

	if (value <= most && value <= (uint64_t)(d->end - d->at) / bytes_each)
		return value;
	d->is_bad = true;
	return 0;
}

const uint8_t *decoder_take_bytes(struct decoder *d, size_t num)
{
	const uint8_t *bytes = d->at;

	if (num > (size_t)(d->end - d->at)) {
		d->is_bad = true;
		return NULL;
	}
	d->at += num;
	return bytes;
}

char *decoder_take_text(struct decoder *d)
{
	size_t length = decoder_take_count(d, UINT32_MAX, 1);
	const uint8_t *bytes = decoder_take_bytes(d, length);
	char *text = decoder_allocate(d, length + 1, 1);

	if (d->is_bad) {
		free(text);
		return xstrdup("");
	}
	memcpy(text, bytes, length);
	clean_text(text, length);
	return text;
}

bool decoder_charge(struct decoder *d, size_t num, size_t size)
{
	if (size && num > d->memory / size)
		d->is_bad = d->is_too_much = true;
	if (d->is_bad || interrupt_pending()) {
		d->is_bad = true;
		return false;
	}
	d->memory -= num * size;
	return true;
}

void *decoder_allocate(struct decoder *d, size_t num, size_t size)
{
	decoder_charge(d, 1, ALLOCATION_COST);
	return xcalloc(decoder_charge(d, num, size) ? num : 0, size);
}
