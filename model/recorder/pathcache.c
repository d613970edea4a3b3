/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/pathcache.h"

#include <assert.h>
#include <string.h>

static_assert(PATHCACHE_BUCKETS == 1 << 12, "pathcache_place() makes 12 bits");

enum { LINE = sizeof(struct path_entry), BUCKET_BYTES = PATHCACHE_BUCKETS * sizeof(uint16_t) };

bool pathcache_init(struct pathcache *c)
{
	char *memory = pages_map(BUCKET_BYTES + PATHCACHE_ARENA);

	if (!memory)
		return false;
	c->buckets = (uint16_t *)memory;
	c->arena = (struct path_entry *)(memory + BUCKET_BYTES);
	c->used = 1;
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
	c->used = 1;
}

const struct path_entry *pathcache_find(const struct pathcache *c,
					const struct recorder_function *function, uintptr_t ra,
					uintptr_t cfa)
{
	uint32_t line = c->buckets[pathcache_place(ra, cfa)];

	for (uint32_t i = 0; line && i < PATHCACHE_WAYS; i++) {
		const struct path_entry *e = &c->arena[line];
		line = e->older;
		if (path_entry_fits(e, function, ra, cfa) && path_entry_holds(e))
			return e;
	}
	return NULL;
}

uint64_t path_sum_wide(const struct path_entry *e)
{
	const path_word *stack = (const path_word *)(uintptr_t)e->cfa;
	const int32_t *slot = (const int32_t *)e->slots;
	uint64_t sum = 0;

	for (uint32_t step = 0; step < e->num_steps; step++, slot += PATHCACHE_STEP)
		sum = path_sum_step(sum, stack[slot[0]], stack[slot[1]], stack[slot[2]],
				    stack[slot[3]]);
	return sum;
}

/* Slot number i of the path; the last one for those behind it. */
static const struct path_slot *slot_of(const struct call_path *path, uint32_t i)
{
	return &path->slots[i < path->num_frames ? i : path->num_frames - 1];
}

/* Words from `cfa` to it. */
static int32_t distance(const struct path_slot *slot, uintptr_t cfa)
{
	return (intptr_t)((uintptr_t)slot->at - cfa) / (intptr_t)sizeof(uintptr_t);
}

static bool needs_wide(const struct call_path *path, uintptr_t cfa)
{
	for (uint32_t i = 0; i < path->num_frames; i++) {
		int32_t words = distance(&path->slots[i], cfa);
		if (words < INT16_MIN || words > INT16_MAX)
			return true;
	}
	return false;
}

const struct path_entry *pathcache_add(struct pathcache *c,
				       const struct recorder_function *function, uintptr_t ra,
				       uintptr_t cfa, uint32_t site, const struct call_path *path)
{
	uint32_t num_steps = (path->num_frames + PATHCACHE_STEP - 1) / PATHCACHE_STEP;
	bool is_wide = needs_wide(path, cfa);
	size_t slot_size = is_wide ? sizeof(int32_t) : sizeof(int16_t);
	size_t size = offsetof(struct path_entry, slots) + num_steps * PATHCACHE_STEP * slot_size;
	uint32_t lines = (size + LINE - 1) / LINE;
	uint16_t *bucket = &c->buckets[pathcache_place(ra, cfa)];

	if ((c->used + lines) * LINE > PATHCACHE_ARENA)
		return NULL;
	struct path_entry *e = &c->arena[c->used];
	*e = (struct path_entry){.cfa = cfa,
				 .site = site,
				 .tag = path_tag(function, ra),
				 .older = *bucket,
				 .num_steps = num_steps,
				 .is_wide = is_wide};
	for (uint32_t i = 0; i < num_steps * PATHCACHE_STEP; i++) {
		int32_t words = distance(slot_of(path, i), cfa);
		if (is_wide)
			((int32_t *)e->slots)[i] = words;
		else
			e->slots[i] = words;
	}
	for (uint32_t i = 0; i < num_steps * PATHCACHE_STEP; i += PATHCACHE_STEP)
		e->sum = path_sum_step(e->sum, slot_of(path, i)->value, slot_of(path, i + 1)->value,
				       slot_of(path, i + 2)->value, slot_of(path, i + 3)->value);
	*bucket = c->used;
	c->used += lines;
	return e;
}
