/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/pathcache.h"

#include <assert.h>
#include <string.h>

#include "model/recorder/pages.h"

static_assert(PATHCACHE_BUCKETS == 1 << 12, "pathcache_place() makes 12 bits");

enum { LINE = sizeof(struct path_entry), BUCKET_BYTES = PATHCACHE_BUCKETS * sizeof(uint32_t) };

bool pathcache_init(struct pathcache *c)
{
	char *memory = pages_map(BUCKET_BYTES + PATHCACHE_ARENA);

	if (!memory)
		return false;
	c->buckets = (uint32_t *)memory;
	c->arena = memory + BUCKET_BYTES;
	c->used = LINE;
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
	c->used = LINE;
}

const struct path_entry *pathcache_find(const struct pathcache *c,
					const struct recorder_function *function, uintptr_t ra,
					uintptr_t cfa)
{
	uint32_t at = c->buckets[pathcache_place(ra, cfa)];

	for (uint32_t i = 0; at && i < PATHCACHE_WAYS; i++) {
		const struct path_entry *e = (const struct path_entry *)(c->arena + at);
		at = e->older;
		if (path_entry_fits(e, function, ra, cfa) && path_entry_holds(e))
			return e;
	}
	return NULL;
}

const struct path_entry *pathcache_add(struct pathcache *c,
				       const struct recorder_function *function, uintptr_t ra,
				       uintptr_t cfa, uint32_t site, const struct call_path *path)
{
	const struct path_slot *slots = path->slots;
	uint32_t num_slots = path->num_frames;
	uint32_t padded = (num_slots + PATHCACHE_STEP - 1) / PATHCACHE_STEP * PATHCACHE_STEP;
	size_t size = offsetof(struct path_entry, words) + padded * sizeof(struct path_word);
	size_t lines = (size + LINE - 1) / LINE;

	if (padded > UINT16_MAX || c->used + lines * LINE > PATHCACHE_ARENA)
		return NULL;
	struct path_entry *e = (struct path_entry *)(c->arena + c->used);
	uint32_t *bucket = &c->buckets[pathcache_place(ra, cfa)];
	*e = (struct path_entry){.function = function, .ra = ra, .cfa = cfa, .older = *bucket,
				 .site = site, .num_words = padded};
	for (uint32_t i = 0; i < padded; i++) {
		const struct path_slot *slot = &slots[i < num_slots ? i : num_slots - 1];
		e->words[i].offset = (uintptr_t)slot->at - cfa;
		e->words[i].value = slot->value;
	}
	*bucket = c->used;
	c->used += lines * LINE;
	return e;
}
