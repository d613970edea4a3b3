/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/pathcache.h"

#include <assert.h>
#include <string.h>

#include "model/recorder/pages.h"

static_assert(PATHCACHE_BUCKETS == 1 << 12, "pathcache_place() makes 12 bits");

enum { BUCKET_BYTES = PATHCACHE_BUCKETS * sizeof(struct path_entry *) };

bool pathcache_init(struct pathcache *c)
{
	char *memory = pages_map(BUCKET_BYTES + PATHCACHE_ARENA);

	if (!memory)
		return false;
	c->buckets = (struct path_entry **)memory;
	c->arena = memory + BUCKET_BYTES;
	c->used = 0;
	return true;
}

void pathcache_deinit(struct pathcache *c)
{
	pages_unmap(c->buckets, BUCKET_BYTES + PATHCACHE_ARENA);
	c->buckets = NULL;
}

void pathcache_flush(struct pathcache *c)
{
	memset(c->buckets, 0, BUCKET_BYTES);
	c->used = 0;
}

const struct path_entry *pathcache_find(const struct pathcache *c,
					const struct recorder_function *function, uintptr_t ra,
					uintptr_t cfa)
{
	const struct path_entry *e = c->buckets[pathcache_place(ra, cfa)];

	for (uint32_t i = 0; e && i < PATHCACHE_WAYS; i++, e = e->next) {
		if (path_entry_fits(e, function, ra, cfa) && path_entry_holds(e))
			return e;
	}
	return NULL;
}

const struct path_entry *pathcache_add(struct pathcache *c,
				       const struct recorder_function *function, uintptr_t ra,
				       uintptr_t cfa, uint32_t site,
				       const struct path_slot *slots, uint32_t num_slots)
{
	uint32_t padded = (num_slots + PATHCACHE_STEP - 1) / PATHCACHE_STEP * PATHCACHE_STEP;
	size_t size = sizeof(struct path_entry) + padded * sizeof(struct path_word);

	if (c->used + size > PATHCACHE_ARENA)
		return NULL;
	struct path_entry *e = (struct path_entry *)(c->arena + c->used);
	struct path_entry **bucket = &c->buckets[pathcache_place(ra, cfa)];
	c->used += size;
	*e = (struct path_entry){.function = function, .ra = ra, .cfa = cfa, .site = site,
				 .next = *bucket, .end = e->words + padded};
	for (uint32_t i = 0; i < padded; i++) {
		const struct path_slot *slot = &slots[i < num_slots ? i : num_slots - 1];
		e->words[i].offset = (uintptr_t)slot->at - cfa;
		e->words[i].value = slot->value;
	}
	*bucket = e;
	return e;
}
