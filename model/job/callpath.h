/* SPDX-License-Identifier: BSD-3-Clause
 * Call paths as a prefix tree, shared by all ranks of a job: a path is the id of its innermost
 * node, its frames are that node and its ancestors. Equal paths have equal ids. */
#pragma once

#include "model/base.h"

#define CALLPATH_NONE UINT32_MAX /* the empty path: parent of outermost frames */
/* Of what is read: many paths may share little room. Stacks have half as many at most. */
#define CALLPATH_MAX_FRAMES 8192

struct callpath_node {
	uint32_t parent; /* smaller than the node's own id, or CALLPATH_NONE */
	uint32_t module; /* id in struct modules, or MODULE_NONE */
	uint64_t offset; /* ELF virtual address: address minus load bias */
	uint32_t depth;  /* 0 for outermost frames */
	bool is_return;  /* a return address (look up offset - 1); false: a program counter */
};

struct callpaths *callpaths_create(void);
void callpaths_destroy(struct callpaths *paths);

/* The id of (parent, module, offset, is_return), added if new. */
uint32_t callpaths_intern(struct callpaths *paths, uint32_t parent, uint32_t module,
			  uint64_t offset, bool is_return);
size_t callpaths_count(const struct callpaths *paths);
/* Borrowed, valid until the next intern. */
const struct callpath_node *callpaths_get(const struct callpaths *paths, uint32_t id);

/* The longest common prefix of two paths; CALLPATH_NONE if they share no frame. */
uint32_t callpaths_common(const struct callpaths *paths, uint32_t a, uint32_t b);
/* Is `prefix` (or CALLPATH_NONE) an ancestor of path or path itself? */
bool callpaths_has_prefix(const struct callpaths *paths, uint32_t path, uint32_t prefix);
/* The ancestor of path at `depth`; path itself if it is not that deep. */
uint32_t callpaths_at_depth(const struct callpaths *paths, uint32_t path, uint32_t depth);
