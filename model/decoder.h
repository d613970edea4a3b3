/* SPDX-License-Identifier: BSD-3-Clause
 * Reads values from untrusted bytes, as written by buffer.h. Reading past the end or a value out of
 * range marks the decoder bad and yields 0, so one check at the end is enough. Memory is charged to
 * a budget (budget.h) before it is allocated. */
#pragma once

#include "model/base.h"

struct decoder {
	const uint8_t *at, *end; /* what is left */
	uint64_t memory;         /* of the budget: still allowed to be allocated */
	bool is_bad;
	bool is_too_much; /* bad, because the budget does not suffice */
};

uint64_t decoder_take(struct decoder *d);
/* A value of at most `most`. */
uint64_t decoder_take_below(struct decoder *d, uint64_t most);
int64_t decoder_take_signed(struct decoder *d, int64_t least, int64_t most);
int decoder_take_int(struct decoder *d);
/* An index below `num`, or UINT32_MAX. */
uint32_t decoder_take_index(struct decoder *d, uint64_t num);
/* A number of elements that take `bytes_each` or more of what is left. */
size_t decoder_take_count(struct decoder *d, uint64_t most, size_t bytes_each);
/* Borrowed; NULL if there are not so many. */
const uint8_t *decoder_take_bytes(struct decoder *d, size_t num);
/* A text, its length first; control characters are replaced. Never NULL; the caller frees. */
char *decoder_take_text(struct decoder *d);
/* All must have been taken. */
void decoder_end(struct decoder *d);

/* What to say behind the name of what was read: "is corrupt", or decoder_too_much. */
const char *decoder_why_bad(const struct decoder *d);
extern const char decoder_too_much[];

/* Charge a coming allocation; bad if it is too much, or interrupted (model/interrupt.h). */
bool decoder_charge(struct decoder *d, size_t num, size_t size);
/* Charged and zeroed; never NULL, but empty when the decoder is bad. */
void *decoder_allocate(struct decoder *d, size_t num, size_t size);
