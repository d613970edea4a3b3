/* SPDX-License-Identifier: BSD-3-Clause */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "model/arena.h"
#include "tests/unit/unit.h"

/* Sizes around all borders: each memory is zeroed, aligned and nobody else's. */
static void test_alloc(void **state)
{
	const size_t sizes[] = {0, 1, 8, 15, 16, 17, 4095, 4096, 4097, 16384, 16385, 100000};
	struct arena *arena = arena_create();
	unsigned char *memory[50][NUM_OF(sizes)];

	(void)state;
	for (size_t i = 0; i < 50; i++) {
		for (size_t k = 0; k < NUM_OF(sizes); k++) {
			memory[i][k] = arena_alloc(arena, sizes[k]);
			assert_int_equal((uintptr_t)memory[i][k] % _Alignof(max_align_t), 0);
			for (size_t byte = 0; byte < sizes[k]; byte++)
				assert_int_equal(memory[i][k][byte], 0);
			memset(memory[i][k], (int)(i * 7 + k + 1), sizes[k]);
		}
	}
	for (size_t i = 0; i < 50; i++)
		for (size_t k = 0; k < NUM_OF(sizes); k++)
			for (size_t byte = 0; byte < sizes[k]; byte++)
				assert_int_equal(memory[i][k][byte], (i * 7 + k + 1) & 255);
	arena_destroy(arena);
	arena_destroy(NULL);
}

/* What is small takes not much more than its size, however much there is. */
static void test_room(void **state)
{
	enum { NUM = 20000, SIZE = 64 };
	struct arena *arena = arena_create();
	struct mallinfo2 before = mallinfo2(), after;

	(void)state;
	for (size_t i = 0; i < NUM; i++)
		arena_alloc(arena, SIZE);
	after = mallinfo2();
#ifndef __SANITIZE_ADDRESS__
	assert_true(after.uordblks - before.uordblks < (size_t)2 * NUM * SIZE);
#endif
	(void)before;
	(void)after;
	arena_destroy(arena);
}

static void test_text(void **state)
{
	struct arena *arena = arena_create();
	char *empty = arena_strdup(arena, ""), *part = arena_strndup(arena, "ranks", 4);
	char *whole = arena_strndup(arena, "ranks", 40), *long_text = NULL;

	(void)state;
	assert_string_equal(empty, "");
	assert_string_equal(part, "rank");
	assert_string_equal(whole, "ranks");
	assert_string_equal(arena_printf(arena, "%s", ""), "");
	assert_string_equal(arena_printf(arena, "%s %d of %s", part, 3, whole), "rank 3 of ranks");
	long_text = arena_printf(arena, "%*d", 50000, 7);
	assert_int_equal(strlen(long_text), 50000);
	assert_string_equal(part, "rank");
	arena_destroy(arena);
}

static void count_end(void *number)
{
	++*(int *)number;
}

static void test_clear(void **state)
{
	struct arena *arena = arena_create();
	int num_ended = 0;
	char *first, *again;

	(void)state;
	arena_clear(arena);
	first = arena_alloc(arena, 100);
	memset(first, 1, 100);
	arena_keep(arena, &num_ended, count_end);
	arena_array(arena, 1 << 20, 1);
	arena_clear(arena);
	assert_int_equal(num_ended, 1);
	again = arena_alloc(arena, 100);
	for (int i = 0; i < 100; i++)
		assert_int_equal(again[i], 0);
	arena_destroy(arena);
	assert_int_equal(num_ended, 1);
}

static void test_grow(void **state)
{
	struct arena *arena = arena_create();
	size_t capacity = 0;
	int *array = NULL;

	(void)state;
	for (size_t i = 0; i < 10000; i++) {
		array = arena_grow(arena, array, i, &capacity, sizeof(*array));
		array[i] = (int)i;
		assert_ptr_equal(arena_grow(arena, array, i + 1, &(size_t){i + 2}, sizeof(*array)),
				 array);
	}
	for (size_t i = 0; i < 10000; i++)
		assert_int_equal(array[i], i);
	arena_destroy(arena);
}

static char ended[8];

static void end(void *object)
{
	strncat(ended, object, 1);
}

/* The latest goes first; what it says is still there then. */
static void test_keep(void **state)
{
	struct arena *arena = arena_create();

	(void)state;
	ended[0] = '\0';
	assert_null(arena_keep(arena, NULL, end));
	arena_keep(arena, arena_strdup(arena, "a"), end);
	arena_keep(arena, arena_strdup(arena, "b"), end);
	assert_non_null(arena_keep(arena, malloc(100), free));
	arena_keep(arena, arena_strdup(arena, "c"), end);
	arena_destroy(arena);
	assert_string_equal(ended, "cba");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alloc), cmocka_unit_test(test_room),
		cmocka_unit_test(test_text),  cmocka_unit_test(test_grow),
		cmocka_unit_test(test_clear), cmocka_unit_test(test_keep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
