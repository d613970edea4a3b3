/* SPDX-License-Identifier: BSD-3-Clause
 * A growing sequence of bytes, for snapshots and shares (docs/snapshot-format.md). */
#pragma once

#include "model/base.h"

/* Zeroed: empty. The owner frees bytes. */
struct buffer {
	uint8_t *bytes;
	size_t num, capacity;
};

void buffer_put_bytes(struct buffer *b, const void *bytes, size_t num);
/* Seven bits a byte, the lowest first, the top bit set in all but the last. */
void buffer_put(struct buffer *b, uint64_t value);
/* Small for small values of either sign. */
void buffer_put_signed(struct buffer *b, int64_t value);
/* An index of which UINT32_MAX means "none". */
void buffer_put_index(struct buffer *b, uint32_t index);
/* Its length, its bytes. NULL: as an empty one. */
void buffer_put_text(struct buffer *b, const char *text);
