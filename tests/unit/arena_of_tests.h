/* SPDX-License-Identifier: BSD-3-Clause
 * What tests make of answers lives here, from arena_begin() to arena_end(): set-up and end of a
 * group of tests. */
#ifndef PDB_TESTS_UNIT_ARENA_OF_TESTS_H
#define PDB_TESTS_UNIT_ARENA_OF_TESTS_H

#include "model/arena.h"

static struct arena *arena;

static inline int arena_begin(void **state)
{
	(void)state;
	arena = arena_create();
	return 0;
}

static inline int arena_end(void **state)
{
	(void)state;
	arena_destroy(arena);
	return 0;
}

#endif
