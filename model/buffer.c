/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/buffer.h"

void buffer_put_bytes(struct buffer *b, const void *bytes, size_t num)
{
	if (b->num + num > b->capacity) {
		b->capacity = (b->num + num) * 2;
		b->bytes = xreallocarray(b->bytes, b->capacity, 1);
	}
	if (num)
		memcpy(b->bytes + b->num, bytes, num);
	b->num += num;
}

void buffer_put(struct buffer *b, uint64_t value)
{
	uint8_t bytes[10];
	size_t num = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[num++] = (uint8_t)(value | 0x80);
	bytes[num++] = (uint8_t)value;
	buffer_put_bytes(b, bytes, num);
}

void buffer_put_signed(struct buffer *b, int64_t value)
{
	buffer_put(b, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

void buffer_put_index(struct buffer *b, uint32_t index)
{
	buffer_put(b, (uint32_t)(index + 1));
}

void buffer_put_text(struct buffer *b, const char *text)
{
	size_t length = text ? strlen(text) : 0;

	buffer_put(b, length);
	buffer_put_bytes(b, text, length);
}
