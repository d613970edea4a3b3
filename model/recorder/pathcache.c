/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/pathcache.h"

#include <assert.h>
#include <string.h>

#include "model/recorder/pages.h"

static_assert(PATHCACHE_BUCKETS == 1 << 12, "pathcache_place() makes 12 bits");
static_assert(PATHCACHE_TAILS == 1 << 13, "place_of_tail() makes 13 bits");

enum {
	LINE = sizeof(struct path_entry),
	BUCKET_BYTES = PATHCACHE_BUCKETS * sizeof(uint32_t),
	TAIL_BYTES = PATHCACHE_TAILS * sizeof(struct path_tail),
	MEMORY = BUCKET_BYTES + TAIL_BYTES + PATHCACHE_ARENA,
};

bool pathcache_init(struct pathcache *c)
{
	char *memory = pages_map(MEMORY);

	if (!memory)
		return false;
	c->buckets = (uint32_t *)memory;
	c->tails = (struct path_tail *)(memory + BUCKET_BYTES);
	c->arena = memory + BUCKET_BYTES + TAIL_BYTES;
	c->used = LINE;
	return true;
}

void pathcache_deinit(struct pathcache *c)
{
	pages_unmap(c->buckets, MEMORY);
	c->buckets = NULL;
}

void pathcache_flush(struct pathcache *c)
{
	memset(c->buckets, 0, BUCKET_BYTES + TAIL_BYTES);
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

static struct path_tail *place_of_tail(const struct pathcache *c, const struct path_slot *slot)
{
	uint64_t x = (slot->value ^ (uintptr_t)slot->at << 12) * 0x9e3779b97f4a7c15u;

	return &c->tails[x >> 51];
}

uint32_t pathcache_tail(const struct pathcache *c, const struct path_slot *slot,
			struct path_slot *ret, uint32_t max)
{
	const struct path_tail *tail = place_of_tail(c, slot);
	const struct path_entry *e = (const struct path_entry *)(c->arena + tail->entry);
	const char *cfa = (const char *)e->cfa;
	uint32_t num = tail->end - tail->first;

	if (!tail->entry || num > max)
		return 0;
	const struct path_word *own = &e->words[tail->first - 1], *outside = own + 1;
	if (cfa + own->offset != (const char *)slot->at || own->value != (uint32_t)slot->value)
		return 0;
	for (uint32_t i = 0; i < num; i++) {
		const uintptr_t *at = (const uintptr_t *)(cfa + outside[i].offset);
		if (!path_word_holds(cfa, &outside[i]))
			return 0;
		ret[i] = (struct path_slot){.at = at, .value = *at};
	}
	return num;
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
	for (uint32_t i = 0; i < path->num_new && i + 1 < num_slots; i++)
		*place_of_tail(c, &slots[i]) = (struct path_tail){c->used, i + 1, num_slots};
	*bucket = c->used;
	c->used += lines * LINE;
	return e;
}
