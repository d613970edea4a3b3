/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "model/base.h"

/* A growing map from 64-bit keys to 32-bit values; open addressing, at most half full. */
struct pair_map {
	struct pair_slot {
		uint64_t key;
		uint32_t value; /* PAIR_NONE: the slot is free */
	} * slots;
	size_t num, num_slots; /* num_slots is 0 or a power of two */
};

#define PAIR_NONE UINT32_MAX

static inline uint64_t pair_key(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* PAIR_NONE: not there. */
uint32_t pair_map_get(const struct pair_map *map, uint64_t key);
/* The key must not be there yet. */
void pair_map_add(struct pair_map *map, uint64_t key, uint32_t value);
/* It may. */
void pair_map_set(struct pair_map *map, uint64_t key, uint32_t value);

/* An empty one that ends with the arena. */
struct pair_map *pair_map_in(struct arena *arena);
