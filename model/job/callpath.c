/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>

#include <uthash.h>

#include "model/job/callpath.h"

struct node {
	UT_hash_handle hh;
	struct key {
		uint64_t offset;
		uint32_t parent, module;
		uint64_t is_return;
	} key;
	uint32_t id;
	struct callpath_node node;
};

struct callpaths {
	struct arena *arena; /* of the nodes */
	struct node **nodes; /* by id */
	size_t num, capacity;
	struct node *table; /* by key */
};

struct callpaths *callpaths_create(void)
{
	struct callpaths *paths = xcalloc(1, sizeof(*paths));

	paths->arena = arena_create();
	return paths;
}

void callpaths_destroy(struct callpaths *paths)
{
	if (!paths)
		return;
	HASH_CLEAR(hh, paths->table);
	arena_destroy(paths->arena);
	free(paths->nodes);
	free(paths);
}

uint32_t callpaths_intern(struct callpaths *paths, uint32_t parent, uint32_t module,
			  uint64_t offset, bool is_return)
{
	const struct key key = {offset, parent, module, is_return};
	struct node *node;

	assert(parent == CALLPATH_NONE || parent < paths->num);
	HASH_FIND(hh, paths->table, &key, sizeof(key), node);
	if (node)
		return node->id;
	node = arena_alloc(paths->arena, sizeof(*node));
	node->key = key;
	node->id = (uint32_t)paths->num;
	node->node = (struct callpath_node){
		.parent = parent,
		.module = module,
		.offset = offset,
		.depth = parent == CALLPATH_NONE ? 0 : callpaths_get(paths, parent)->depth + 1,
		.is_return = is_return,
	};
	HASH_ADD(hh, paths->table, key, sizeof(node->key), node);
	*XPUSH(paths->nodes, paths->num, paths->capacity) = node;
	return node->id;
}

size_t callpaths_count(const struct callpaths *paths)
{
	return paths->num;
}

const struct callpath_node *callpaths_get(const struct callpaths *paths, uint32_t id)
{
	assert(id < paths->num);
	return &paths->nodes[id]->node;
}

uint32_t callpaths_at_depth(const struct callpaths *paths, uint32_t path, uint32_t depth)
{
	while (path != CALLPATH_NONE && callpaths_get(paths, path)->depth > depth)
		path = callpaths_get(paths, path)->parent;
	return path;
}

uint32_t callpaths_common(const struct callpaths *paths, uint32_t a, uint32_t b)
{
	if (a == CALLPATH_NONE || b == CALLPATH_NONE)
		return CALLPATH_NONE;
	a = callpaths_at_depth(paths, a, callpaths_get(paths, b)->depth);
	b = callpaths_at_depth(paths, b, callpaths_get(paths, a)->depth);
	while (a != b) {
		a = callpaths_get(paths, a)->parent;
		b = callpaths_get(paths, b)->parent;
	}
	return a;
}

bool callpaths_has_prefix(const struct callpaths *paths, uint32_t path, uint32_t prefix)
{
	if (prefix == CALLPATH_NONE)
		return true;
	return callpaths_at_depth(paths, path, callpaths_get(paths, prefix)->depth) == prefix;
}
