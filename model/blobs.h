/* SPDX-License-Identifier: BSD-3-Clause
 * A set of byte strings, numbered from 0 in the order added. Each is stored once, or, if comparing
 * is not worth it, as often as it was added. */
#pragma once

#include "model/base.h"

/* Zeroed: empty. */
struct blobs {
	uint8_t *bytes; /* of all, one after the other */
	size_t num_bytes, bytes_capacity;
	uint64_t *ends; /* [num] where each ends in bytes */
	size_t num, capacity;
	/* Of those that blobs_intern() has looked at. */
	size_t num_hashed, hashes_capacity;
	uint32_t *hashes;
	uint32_t *slots;  /* numbers; open addressing, at most half full */
	size_t num_slots; /* 0 or a power of two */
};

void blobs_deinit(struct blobs *blobs);
/* An empty one that ends with the arena. */
struct blobs *blobs_in(struct arena *arena);

/* The number of a byte string, added if it is new. Fewer than UINT32_MAX in all. */
uint32_t blobs_intern(struct blobs *blobs, const void *bytes, size_t size);
/* Add a byte string without looking whether it is there already. */
uint32_t blobs_add(struct blobs *blobs, const void *bytes, size_t size);
/* Add all of `from` so. */
void blobs_add_all(struct blobs *blobs, const struct blobs *from);
/* Make room for so many of so many bytes, in all. */
void blobs_reserve(struct blobs *blobs, size_t num, size_t num_bytes);
/* Borrowed, valid until the next intern; number < blobs->num. */
const uint8_t *blobs_get(const struct blobs *blobs, uint32_t number, size_t *size_ret);
