/* SPDX-License-Identifier: BSD-3-Clause
 * Fields to bytes and back: one function names the fields for both directions. Input out of range
 * marks the decoder bad. Writing does not change its input. */
#pragma once

#include "model/buffer.h"
#include "model/decoder.h"

/* One of the first two is NULL. */
struct codec {
	struct buffer *to;
	struct decoder *from;
	struct arena *arena; /* tables that are read are of it; NULL: the caller frees them */
};

/* Loops over what was counted end where this is false. */
static inline bool codec_goes_on(const struct codec *c)
{
	return !c->from || !c->from->is_bad;
}

/* Is there a part at the end that what was written before had not? Written if `is_there`. */
static inline bool codec_has_part(const struct codec *c, bool is_there)
{
	return c->to ? is_there : !c->from->is_bad && c->from->at < c->from->end;
}

/* What is read cannot be: it is bad. */
static inline void codec_refuse(const struct codec *c, bool is_bad)
{
	if (c->from && is_bad)
		c->from->is_bad = true;
}

#define CODEC_FIELD(c, field, put, take)                                                           \
	do {                                                                                       \
		if ((c)->to)                                                                       \
			put;                                                                       \
		else                                                                               \
			(field) = take;                                                            \
	} while (0)

/* A number of at most `most`; any number that an unsigned field holds. */
#define CODEC_BELOW(c, field, most)                                                                \
	CODEC_FIELD(c, field, buffer_put((c)->to, field), decoder_take_below((c)->from, most))
#define CODEC(c, field) CODEC_BELOW(c, field, UINT64_MAX >> (64 - 8 * sizeof(field)))
/* Any number that an int or an int64_t holds. */
#define CODEC_INT(c, field)                                                                        \
	CODEC_FIELD(c, field, buffer_put_signed((c)->to, field), decoder_take_int((c)->from))
#define CODEC_SIGNED(c, field)                                                                     \
	CODEC_FIELD(c, field, buffer_put_signed((c)->to, field),                                   \
		    decoder_take_signed((c)->from, INT64_MIN, INT64_MAX))
/* An index below `num`, or UINT32_MAX. */
#define CODEC_INDEX(c, field, num)                                                                 \
	CODEC_FIELD(c, field, buffer_put_index((c)->to, field), decoder_take_index((c)->from, num))
/* A number of [least, most], as the distance from one that is mostly near. */
#define CODEC_NEAR(c, field, base, least, most)                                                    \
	CODEC_FIELD(c, field, buffer_put_signed((c)->to, (int64_t)(field) - (int64_t)(base)),      \
		    codec_take_near((c)->from, (int64_t)(base), least, most))
/* Any number of 64 bits, by how much it is above the base, or as a signed distance from it. */
#define CODEC_ABOVE(c, field, base)                                                                \
	CODEC_FIELD(c, field, buffer_put((c)->to, (field) - (base)),                               \
		    (base) + decoder_take((c)->from))
#define CODEC_AROUND(c, field, base)                                                               \
	CODEC_FIELD(c, field, buffer_put_signed((c)->to, (int64_t)((field) - (base))),             \
		    (base) + (uint64_t)decoder_take_signed((c)->from, INT64_MIN, INT64_MAX))
/* A time, by how long it was before `now`. */
#define CODEC_AGO(c, field, now)                                                                   \
	CODEC_FIELD(c, field, buffer_put((c)->to, (now) - (field)),                                \
		    (now)-decoder_take_below((c)->from, now))
/* A text, which is allocated when it is read: by itself, or with whether it is there (not NULL). */
#define CODEC_TEXT(c, field)                                                                       \
	CODEC_FIELD(c, field, buffer_put_text((c)->to, field), decoder_take_text((c)->from))
#define CODEC_OPTIONAL(c, field)                                                                   \
	CODEC_FIELD(c, field, codec_put_optional((c)->to, field), codec_take_optional((c)->from))
/* The number of a table's elements, of `each` bytes or more, and when read a zeroed table for them;
 * without any, NULL if it is not of the arena. */
#define CODEC_TABLE(c, table, num, most, each)                                                     \
	do {                                                                                       \
		codec_count(c, &(num), most, each);                                                \
		if ((c)->from)                                                                     \
			(table) = codec_allocate(c, &(num), sizeof(*(table)));                     \
	} while (0)
/* Several bools, the first in the lowest bit. */
#define CODEC_FLAGS(c, ...)                                                                        \
	codec_flags(c, (bool *const[]){__VA_ARGS__},                                               \
		    sizeof((bool *const[]){__VA_ARGS__}) / sizeof(bool *))

void codec_count(struct codec *c, size_t *num, uint64_t most, size_t each);
/* Charged; *num becomes 0 where it is too much. */
void *codec_allocate(struct codec *c, size_t *num, size_t size);
void codec_flags(struct codec *c, bool *const flags[], size_t num);
int64_t codec_take_near(struct decoder *from, int64_t base, int64_t least, int64_t most);
void codec_put_optional(struct buffer *to, const char *text);
char *codec_take_optional(struct decoder *from);
/* A text in a field of so many bytes, which cuts off what is too long. */
void codec_text_field(struct codec *c, char *field, size_t size);
/* So many bytes, of a field that has room for `most`; its size is before them. */
void codec_bytes(struct codec *c, uint8_t *field, uint8_t *size, uint8_t most);
/* The peer of a message: a rank by its distance from `base`, so that like neighbours have the same
 * bytes; what is below 0 as it is. */
void codec_peer(struct codec *c, int32_t *peer, int32_t base);
