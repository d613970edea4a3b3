/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/hash.h"
#include "model/job/pair_map.h"

/* The key's slot, or the free one where it would be. */
static struct pair_slot *find_slot(const struct pair_map *map, uint64_t key)
{
	size_t at = hash_word(0, key), mask = map->num_slots - 1;

	while (map->slots[at & mask].value != PAIR_NONE && map->slots[at & mask].key != key)
		at++;
	return &map->slots[at & mask];
}

uint32_t pair_map_get(const struct pair_map *map, uint64_t key)
{
	return map->num_slots ? find_slot(map, key)->value : PAIR_NONE;
}

void pair_map_add(struct pair_map *map, uint64_t key, uint32_t value)
{
	if ((map->num + 1) * 2 > map->num_slots) {
		struct pair_map old = *map;

		map->num_slots = old.num_slots ? old.num_slots * 2 : 64;
		map->slots = xmalloc(map->num_slots * sizeof(*map->slots));
		for (size_t i = 0; i < map->num_slots; i++)
			map->slots[i].value = PAIR_NONE;
		for (size_t i = 0; i < old.num_slots; i++)
			if (old.slots[i].value != PAIR_NONE)
				*find_slot(map, old.slots[i].key) = old.slots[i];
		free(old.slots);
	}
	*find_slot(map, key) = (struct pair_slot){.key = key, .value = value};
	map->num++;
}

void pair_map_set(struct pair_map *map, uint64_t key, uint32_t value)
{
	if (pair_map_get(map, key) == PAIR_NONE)
		pair_map_add(map, key, value);
	else
		find_slot(map, key)->value = value;
}

static void end(void *map)
{
	free(((struct pair_map *)map)->slots);
}

struct pair_map *pair_map_in(struct arena *arena)
{
	return arena_keep(arena, arena_alloc(arena, sizeof(struct pair_map)), end);
}
