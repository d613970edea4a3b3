/* SPDX-License-Identifier: BSD-3-Clause
 * An arena for all tests of a program: cmocka_run_group_tests(tests, begin_arena, end_arena). */
#ifndef PDB_TESTS_WITH_ARENA_H
#define PDB_TESTS_WITH_ARENA_H

#include "model/arena.h"

static struct arena *arena;

static int begin_arena(void **state)
{
	(void)state;
	arena = arena_create();
	return 0;
}

static int end_arena(void **state)
{
	(void)state;
	arena_destroy(arena);
	return 0;
}

#endif
