/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/codec.h"

void codec_count(struct codec *c, size_t *num, uint64_t most, size_t each)
{
	CODEC_FIELD(c, *num, buffer_put(c->to, *num), decoder_take_count(c->from, most, each));
}

void *codec_allocate(struct codec *c, size_t *num, size_t size)
{
	void *table = NULL;

	if (c->from->is_bad || (c->arena && !decoder_charge(c->from, *num, size)))
		*num = 0;
	if (c->arena)
		return arena_array(c->arena, *num, size);
	if (*num)
		table = decoder_allocate(c->from, *num, size);
	if (c->from->is_bad)
		*num = 0;
	return table;
}

void codec_flags(struct codec *c, bool *const flags[], size_t num)
{
	uint64_t bits = 0;

	for (size_t i = 0; c->to && i < num; i++)
		bits |= (uint64_t)*flags[i] << i;
	CODEC_BELOW(c, bits, ((uint64_t)1 << num) - 1);
	for (size_t i = 0; c->from && i < num; i++)
		*flags[i] = bits >> i & 1;
}

int64_t codec_take_near(struct decoder *from, int64_t base, int64_t least, int64_t most)
{
	int64_t value = base + decoder_take_signed(from, -(int64_t)UINT32_MAX, UINT32_MAX);

	if (value >= least && value <= most)
		return value;
	from->is_bad = true;
	return least;
}

void codec_put_optional(struct buffer *to, const char *text)
{
	buffer_put(to, text != NULL);
	buffer_put_text(to, text);
}

char *codec_take_optional(struct decoder *from)
{
	bool is_there = decoder_take_below(from, 1);
	char *text = decoder_take_text(from);

	if (is_there)
		return text;
	free(text);
	return NULL;
}

void codec_text_field(struct codec *c, char *field, size_t size)
{
	char *text = field;

	CODEC_TEXT(c, text);
	if (c->to)
		return;
	snprintf(field, size, "%s", text);
	free(text);
}

void codec_bytes(struct codec *c, uint8_t *field, uint8_t *size, uint8_t most)
{
	const uint8_t *bytes = field;

	CODEC_BELOW(c, *size, most);
	CODEC_FIELD(c, bytes, buffer_put_bytes(c->to, bytes, *size),
		    decoder_take_bytes(c->from, *size));
	if (c->from && bytes)
		memcpy(field, bytes, *size);
}

void codec_peer(struct codec *c, int32_t *peer, int32_t base)
{
	int64_t distance = (int64_t)*peer - base, value;
	uint64_t bits, half;

	if (c->to) {
		buffer_put(c->to, *peer < 0 ? (uint64_t) - (int64_t)*peer << 1 | 1
					    : ((uint64_t)distance << 1 ^ (uint64_t)(distance >> 63))
						      << 1);
		return;
	}
	bits = decoder_take(c->from);
	half = bits >> 1;
	value = bits & 1 ? -(int64_t)half : base + ((int64_t)(half >> 1) ^ -(int64_t)(half & 1));
	codec_refuse(c, half > UINT32_MAX * (uint64_t)2 || value > INT32_MAX || value < INT32_MIN ||
				(value < 0) != (bits & 1));
	*peer = codec_goes_on(c) ? (int32_t)value : 0;
}
