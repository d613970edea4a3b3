/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/job/callpath.h"
#include "model/xalloc.h"

struct callpaths {
	struct callpath_node *nodes;
	size_t num, capacity;
	/* Open addressing with linear probing; slots hold ids, CALLPATH_NONE is free. At most half
	 * full; num_slots is a power of two. */
	uint32_t *slots;
	size_t num_slots;
};

enum { FIRST_SLOTS = 64 };

static uint32_t *make_slots(size_t num)
{
	uint32_t *slots = xmalloc(num * sizeof(*slots));

	memset(slots, 0xff, num * sizeof(*slots));
	return slots;
}

struct callpaths *callpaths_create(void)
{
	struct callpaths *paths = xcalloc(1, sizeof(*paths));

	paths->num_slots = FIRST_SLOTS;
	paths->slots = make_slots(paths->num_slots);
	return paths;
}

void callpaths_destroy(struct callpaths *paths)
{
	if (!paths)
		return;
	free(paths->slots);
	free(paths->nodes);
	free(paths);
}

/* The finalizer of splitmix64, over the fields folded together. */
static uint64_t hash_node(uint32_t parent, uint32_t module, uint64_t offset, bool is_return)
{
	uint64_t x = offset * 2 + is_return;

	x ^= ((uint64_t)parent << 32 | module) * 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static void grow_slots(struct callpaths *paths)
{
	free(paths->slots);
	paths->num_slots *= 2;
	paths->slots = make_slots(paths->num_slots);
	for (size_t id = 0; id < paths->num; id++) {
		const struct callpath_node *node = &paths->nodes[id];
		size_t at = hash_node(node->parent, node->module, node->offset, node->is_return);

		while (paths->slots[at & (paths->num_slots - 1)] != CALLPATH_NONE)
			at++;
		paths->slots[at & (paths->num_slots - 1)] = (uint32_t)id;
	}
}

uint32_t callpaths_intern(struct callpaths *paths, uint32_t parent, uint32_t module,
			  uint64_t offset, bool is_return)
{
	size_t at = hash_node(parent, module, offset, is_return);
	struct callpath_node *node;
	uint32_t id;

	assert(parent == CALLPATH_NONE || parent < paths->num);
	for (;; at++) {
		id = paths->slots[at & (paths->num_slots - 1)];
		if (id == CALLPATH_NONE)
			break;
		node = &paths->nodes[id];
		if (node->parent == parent && node->module == module && node->offset == offset &&
		    node->is_return == is_return)
			return id;
	}
	id = (uint32_t)paths->num;
	paths->nodes = xgrow(paths->nodes, paths->num, &paths->capacity, sizeof(*paths->nodes));
	paths->nodes[paths->num++] = (struct callpath_node){
		.parent = parent,
		.module = module,
		.offset = offset,
		.depth = parent == CALLPATH_NONE ? 0 : paths->nodes[parent].depth + 1,
		.is_return = is_return,
	};
	paths->slots[at & (paths->num_slots - 1)] = id;
	if (paths->num * 2 > paths->num_slots)
		grow_slots(paths);
	return id;
}

size_t callpaths_count(const struct callpaths *paths)
{
	return paths->num;
}

const struct callpath_node *callpaths_get(const struct callpaths *paths, uint32_t id)
{
	assert(id < paths->num);
	return &paths->nodes[id];
}

uint32_t callpaths_at_depth(const struct callpaths *paths, uint32_t path, uint32_t depth)
{
	while (path != CALLPATH_NONE && paths->nodes[path].depth > depth)
		path = paths->nodes[path].parent;
	return path;
}

uint32_t callpaths_common(const struct callpaths *paths, uint32_t a, uint32_t b)
{
	if (a == CALLPATH_NONE || b == CALLPATH_NONE)
		return CALLPATH_NONE;
	a = callpaths_at_depth(paths, a, paths->nodes[b].depth);
	b = callpaths_at_depth(paths, b, paths->nodes[a].depth);
	while (a != b) {
		a = paths->nodes[a].parent;
		b = paths->nodes[b].parent;
	}
	return a;
}

bool callpaths_has_prefix(const struct callpaths *paths, uint32_t path, uint32_t prefix)
{
	if (prefix == CALLPATH_NONE)
		return true;
	return callpaths_at_depth(paths, path, paths->nodes[prefix].depth) == prefix;
}
