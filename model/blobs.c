/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/hash.h"
#include "model/blobs.h"

#define SLOT_FREE UINT32_MAX

void blobs_deinit(struct blobs *blobs)
{
	free(blobs->bytes);
	free(blobs->ends);
	free(blobs->hashes);
	free(blobs->slots);
}

static void end(void *blobs)
{
	blobs_deinit(blobs);
}

struct blobs *blobs_in(struct arena *arena)
{
	return arena_keep(arena, arena_alloc(arena, sizeof(struct blobs)), end);
}

const uint8_t *blobs_get(const struct blobs *blobs, uint32_t number, size_t *size_ret)
{
	uint64_t begin = number ? blobs->ends[number - 1] : 0;

	*size_ret = blobs->ends[number] - begin;
	return blobs->bytes + begin;
}

static void reserve_slots(struct blobs *blobs, size_t num)
{
	size_t mask, needed = blobs->num_slots ? blobs->num_slots : 16;

	while (num * 2 > needed)
		needed *= 2;
	if (needed == blobs->num_slots)
		return;
	blobs->num_slots = needed;
	free(blobs->slots);
	blobs->slots = xreallocarray(NULL, needed, sizeof(*blobs->slots));
	memset(blobs->slots, 0xff, needed * sizeof(*blobs->slots));
	mask = needed - 1;
	for (size_t i = 0; i < blobs->num_hashed; i++) {
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
	}
	if (num_bytes > blobs->bytes_capacity) {
		blobs->bytes_capacity = num_bytes;
		blobs->bytes = xreallocarray(blobs->bytes, num_bytes, 1);
	}
}

uint32_t blobs_add(struct blobs *blobs, const void *bytes, size_t size)
{
	blobs->ends = xgrow(blobs->ends, blobs->num, &blobs->capacity, sizeof(*blobs->ends));
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

void blobs_add_all(struct blobs *blobs, const struct blobs *from)
{
	blobs_reserve(blobs, blobs->num + from->num, blobs->num_bytes + from->num_bytes);
	for (size_t i = 0; i < from->num; i++)
		blobs->ends[blobs->num++] = blobs->num_bytes + from->ends[i];
	if (from->num_bytes)
		memcpy(blobs->bytes + blobs->num_bytes, from->bytes, from->num_bytes);
	blobs->num_bytes += from->num_bytes;
}

/* Where the byte string is in the slots, or the free one where it would be. */
static uint32_t *find_slot(const struct blobs *blobs, uint32_t hash, const void *bytes, size_t size)
{
	size_t at = hash & (blobs->num_slots - 1);

	for (; blobs->slots[at] != SLOT_FREE; at = (at + 1) & (blobs->num_slots - 1)) {
		uint32_t number = blobs->slots[at];
		size_t known_size;

		if (blobs->hashes[number] != hash)
			continue;
		const uint8_t *known = blobs_get(blobs, number, &known_size);
		if (known_size == size && (size == 0 || memcmp(known, bytes, size) == 0))
			break;
	}
	return &blobs->slots[at];
}

static void put_slot(struct blobs *blobs, uint32_t *slot, uint32_t number, uint32_t hash)
{
	*XPUSH(blobs->hashes, blobs->num_hashed, blobs->hashes_capacity) = hash;
	*slot = number;
}

/* Of what was added without looking, the first of equal ones is found later. */
static void hash_added(struct blobs *blobs)
{
	reserve_slots(blobs, blobs->num + 1);
	for (size_t i = blobs->num_hashed; i < blobs->num; i++) {
		size_t size;
		const uint8_t *bytes = blobs_get(blobs, (uint32_t)i, &size);
		uint32_t hash = (uint32_t)hash_bytes(bytes, size);
		uint32_t *slot = find_slot(blobs, hash, bytes, size);

		put_slot(blobs, slot, *slot == SLOT_FREE ? (uint32_t)i : *slot, hash);
	}
}

uint32_t blobs_intern(struct blobs *blobs, const void *bytes, size_t size)
{
	uint32_t hash = (uint32_t)hash_bytes(bytes, size), *slot;

	hash_added(blobs);
	slot = find_slot(blobs, hash, bytes, size);
	if (*slot == SLOT_FREE)
		put_slot(blobs, slot, blobs_add(blobs, bytes, size), hash);
	return *slot;
}
