/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "model/blobs.h"
#include "model/xalloc.h"

#define SLOT_FREE UINT32_MAX

void blobs_deinit(struct blobs *blobs)
{
	free(blobs->bytes);
	free(blobs->ends);
	free(blobs->hashes);
	free(blobs->slots);
}

/* Each step can be undone, so different words lead to different hashes. */
static uint64_t add_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ (hash >> 32);
}

uint64_t blobs_hash(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t hash = add_word(0, size), word;

	for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = add_word(hash, word);
	}
	if (size) {
		word = 0;
		memcpy(&word, at, size);
		hash = add_word(hash, word);
	}
	return hash;
}

const uint8_t *blobs_get(const struct blobs *blobs, uint32_t number, size_t *size_ret)
{
	uint64_t begin = number ? blobs->ends[number - 1] : 0;

	*size_ret = blobs->ends[number] - begin;
	return blobs->bytes + begin;
}

static void grow_slots(struct blobs *blobs)
{
	size_t mask;

	blobs->num_slots = blobs->num_slots ? blobs->num_slots * 2 : 16;
	blobs->slots = xreallocarray(blobs->slots, blobs->num_slots, sizeof(*blobs->slots));
	memset(blobs->slots, 0xff, blobs->num_slots * sizeof(*blobs->slots));
	mask = blobs->num_slots - 1;
	for (size_t i = 0; i < blobs->num; i++) {
		size_t at = blobs->hashes[i] & mask;

		while (blobs->slots[at] != SLOT_FREE)
			at = (at + 1) & mask;
		blobs->slots[at] = (uint32_t)i;
	}
}

void blobs_reserve(struct blobs *blobs, size_t num, size_t num_bytes)
{
	if (num > blobs->capacity) {
		blobs->capacity = num;
		blobs->ends = xreallocarray(blobs->ends, num, sizeof(*blobs->ends));
		if (blobs->hashes)
			blobs->hashes = xreallocarray(blobs->hashes, num, sizeof(*blobs->hashes));
	}
	if (num_bytes > blobs->bytes_capacity) {
		blobs->bytes_capacity = num_bytes;
		blobs->bytes = xreallocarray(blobs->bytes, num_bytes, 1);
	}
}

uint32_t blobs_add(struct blobs *blobs, const void *bytes, size_t size)
{
	if (blobs->num == blobs->capacity) {
		blobs->capacity = blobs->capacity ? blobs->capacity * 2 : 16;
		blobs->ends = xreallocarray(blobs->ends, blobs->capacity, sizeof(*blobs->ends));
		if (blobs->hashes)
			blobs->hashes = xreallocarray(blobs->hashes, blobs->capacity,
						      sizeof(*blobs->hashes));
	}
	if (blobs->num_bytes + size > blobs->bytes_capacity) {
		blobs->bytes_capacity = (blobs->num_bytes + size) * 3 / 2 + 64;
		blobs->bytes = xreallocarray(blobs->bytes, blobs->bytes_capacity, 1);
	}
	if (size)
		memcpy(blobs->bytes + blobs->num_bytes, bytes, size);
	blobs->num_bytes += size;
	blobs->ends[blobs->num] = blobs->num_bytes;
	return (uint32_t)blobs->num++;
}

uint32_t blobs_intern(struct blobs *blobs, const void *bytes, size_t size)
{
	uint32_t hash = (uint32_t)blobs_hash(bytes, size);
	size_t at;

	if ((blobs->num + 1) * 2 > blobs->num_slots)
		grow_slots(blobs);
	if (!blobs->hashes)
		blobs->hashes = xcalloc(blobs->capacity, sizeof(*blobs->hashes));
	at = hash & (blobs->num_slots - 1);
	for (; blobs->slots[at] != SLOT_FREE; at = (at + 1) & (blobs->num_slots - 1)) {
		uint32_t number = blobs->slots[at];
		const uint8_t *known;
		size_t known_size;

		if (blobs->hashes[number] != hash)
			continue;
		known = blobs_get(blobs, number, &known_size);
		if (known_size == size && (size == 0 || memcmp(known, bytes, size) == 0))
			return number;
	}
	blobs->slots[at] = blobs_add(blobs, bytes, size);
	blobs->hashes[blobs->slots[at]] = hash;
	return blobs->slots[at];
}
