/* SPDX-License-Identifier: BSD-3-Clause
 * Values as text and as numbers, and the values of many ranks together. */
#include <math.h>
#include <string.h>

#include "analysis/values/value_groups.h"
#include "model/arena.h"
#include "model/job/rankset.h"
#include "model/job/value_type.h"
#include "tests/unit/unit.h"

static const struct value_type int4 = {.kind = VALUE_SIGNED, .size = 4, .name = "int"};
static const struct value_type byte = {.kind = VALUE_UNSIGNED, .size = 1, .name = "byte"};
static const struct value_type real4 = {.kind = VALUE_FLOAT, .size = 4, .name = "float"};
static const struct value_type real8 = {.kind = VALUE_FLOAT, .size = 8, .name = "double"};
static const struct value_type wide = {.kind = VALUE_FLOAT, .size = 16, .name = "long double"};
static const struct value_type odd = {.kind = VALUE_FLOAT, .size = 2, .name = "half"};
static const struct value_type boolean = {.kind = VALUE_BOOL, .size = 1, .name = "bool"};
static const struct value_type character = {.kind = VALUE_CHARACTER, .size = 1, .name = "char"};
static const struct value_type pointer = {.kind = VALUE_POINTER, .size = 8, .name = "void *"};
static const struct value_type other = {.kind = VALUE_OTHER, .size = 3, .name = "?"};
static const struct value_type complex_type = {.kind = VALUE_COMPLEX, .size = 16};
static const struct value_name colors[] = {{"RED", 0}, {"GREEN", 5}};
static const struct value_type color = {
	.kind = VALUE_ENUM, .size = 4, .names = colors, .num_names = 2};

static void check(const struct value_type *type, const void *bytes, const char *expected)
{
	struct arena *arena = arena_create();

	assert_string_equal(value_text(arena, type, bytes), expected);
	arena_destroy(arena);
}

static void test_scalars(void **state)
{
	long double long_double = 0.1L;

	(void)state;
	check(&int4, &(int){-12}, "-12");
	check(&byte, &(unsigned char){200}, "200");
	check(&real4, &(float){0.1F}, "0.1");
	check(&real8, &(double){0.1}, "0.1");
	check(&real8, &(double){1.0 / 3}, "0.3333333333333333");
	check(&real8, &(double){1e300}, "1e+300");
	check(&real8, &(double){-INFINITY}, "-inf");
	check(&wide, &long_double, "0.1");
	check(&odd, "ab", "(2 bytes)");
	check(&boolean, "\1", "true");
	check(&boolean, "", "false");
	check(&character, "a", "97 'a'");
	check(&character, "\n", "10 '\\n'");
	check(&character, "'", "39 '\\''");
	check(&color, &(int){5}, "GREEN");
	check(&color, &(int){-7}, "-7");
	check(&(struct value_type){.kind = VALUE_ENUM, .size = 4, .is_unsigned = true}, &(int){-1},
	      "4294967295");
	check(&pointer, &(uint64_t){0x1234}, "0x1234");
	check(&complex_type, (double[]){1, -2.5}, "(1, -2.5)");
	check(&other, "abc", "(3 bytes)");
}

static void test_arrays(void **state)
{
	struct value_type few = {
		.kind = VALUE_ARRAY, .size = 12, .element = &int4, .num = 3, .total = 3};
	struct value_type many = {
		.kind = VALUE_ARRAY, .size = 160, .element = &real8, .num = 20, .total = 20};
	struct value_type text = {
		.kind = VALUE_ARRAY, .size = 8, .element = &character, .num = 8, .total = 8};
	struct value_type rows = {
		.kind = VALUE_ARRAY, .size = 24, .element = &few, .num = 2, .total = 2};
	double numbers[20];

	(void)state;
	check(&few, (int[]){1, -2, 3}, "{1, -2, 3}");
	check(&rows, (int[]){1, 2, 3, 4, 5, 6}, "{{1, 2, 3}, {4, 5, 6}}");
	check(&text, "ab\0cdefg", "\"ab\"");
	check(&text, "a\"\\\t\1xyz", "\"a\\\"\\\\\\t\\001xyz\"");
	for (int i = 0; i < 20; i++)
		numbers[i] = i;
	check(&many, numbers, "{20 elements: min 0, median 10, max 19}");
	numbers[3] = NAN;
	numbers[4] = INFINITY;
	check(&many, numbers, "{20 elements: min 0, median 11, max inf, 1 NaN, 1 infinite}");
	many.total = 1000;
	check(&many, numbers,
	      "{the first 20 of 1000 elements: min 0, median 11, max inf, 1 NaN, 1 infinite}");
	many.total = 20;
	for (int i = 0; i < 20; i++)
		numbers[i] = 1.5;
	check(&many, numbers, "{20 elements: all 1.5}");
	for (int i = 0; i < 20; i++)
		numbers[i] = NAN;
	check(&many, numbers, "{20 elements, 20 NaN}");
}

/* The longest stride is first. */
static void check_shape(const struct value_type *element, const uint64_t *counts, size_t num,
			const void *bytes, uint64_t num_bytes, const char *name,
			const char *expected)
{
	struct arena *arena = arena_create();
	const struct value_type *type = value_shape(arena, element, counts, num, num_bytes);

	assert_string_equal(type->name, name);
	assert_string_equal(value_text(arena, type, bytes), expected);
	arena_destroy(arena);
}

static void test_shapes(void **state)
{
	int numbers[30];

	(void)state;
	for (int i = 0; i < 30; i++)
		numbers[i] = i;
	check_shape(&int4, (uint64_t[]){3}, 1, numbers, 12, "int[3]", "{0, 1, 2}");
	check_shape(&int4, (uint64_t[]){2, 3}, 2, numbers, 24, "int[2][3]",
		    "{{0, 1, 2}, {3, 4, 5}}");
	check_shape(&int4, (uint64_t[]){3, 10}, 2, numbers, 120, "int[3][10]",
		    "{30 elements: min 0, median 15, max 29}");
	check_shape(&int4, (uint64_t[]){30, 10}, 2, numbers, 120, "int[30][10]",
		    "{the first 30 of 300 elements: min 0, median 15, max 29}");
	check_shape(&int4, (uint64_t[]){0}, 1, numbers, 0, "int[0]", "{}");
	check_shape(&int4, (uint64_t[]){0, 4}, 2, numbers, 0, "int[0][4]", "{}");
	check_shape(&int4, (uint64_t[]){UINT64_MAX, 4}, 2, numbers, 120,
		    "int[18446744073709551615][4]",
		    "{the first 30 of 18446744073709551615 elements: min 0, median 15, max 29}");
	check_shape(&character, (uint64_t[]){4}, 1, "abcd", 8, "char[4]", "\"abcd\"");
}

static void test_structs(void **state)
{
	static const struct value_type word = {.kind = VALUE_UNSIGNED, .size = 4};
	static const struct value_type flag = {.kind = VALUE_SIGNED, .size = 4};
	static const struct value_member members[] = {
		{"n", 0, &int4, 0, 0},
		{"low", 4, &word, 3, 0},
		{"high", 4, &flag, 5, 3},
		{NULL, 8, &real8, 0, 0},
	};
	struct value_type type = {
		.kind = VALUE_STRUCT, .size = 16, .members = members, .num_members = 4};
	struct {
		int n;
		unsigned int bits;
		double x;
	} value = {3, 5 | 17 << 3, 0.5};

	(void)state;
	/* 17 in five bits with a sign is -15. */
	check(&type, &value, "{n = 3, low = 5, high = -15, 0.5}");
	type.is_cut = true;
	check(&type, &value, "{n = 3, low = 5, high = -15, 0.5, ...}");
}

static void test_containers(void **state)
{
	struct value_type vector = {
		.kind = VALUE_CONTAINER, .size = 24, .begin = 0, .end = 8, .element_size = 8};
	struct value_type map = {.kind = VALUE_CONTAINER, .size = 48, .begin = 40};

	(void)state;
	check(&vector, (uint64_t[]){1000, 1040, 2000}, "{5 elements}");
	check(&map, (uint64_t[]){0, 0, 0, 0, 0, 1}, "{1 element}");
}

static void test_long_text(void **state)
{
	struct arena *arena = arena_create();
	char text[300];

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_string_equal(value_quote(arena, "abc", 2), "\"ab\"");
	assert_int_equal(strlen(value_quote(arena, text, sizeof(text))), 200 + 5);
	arena_destroy(arena);
}

static void test_numbers(void **state)
{
	double number;

	(void)state;
	assert_true(value_number(&int4, &(int){-3}, &number) && number == -3);
	assert_true(value_number(&byte, "\xff", &number) && number == 255);
	assert_true(value_number(&real4, &(float){0.5F}, &number) && number == 0.5);
	assert_true(value_number(&color, &(int){5}, &number) && number == 5);
	assert_false(value_number(&pointer, &(uint64_t){5}, &number));
	assert_false(value_number(&odd, "ab", &number));
}

/* ---- Of many ranks ---- */

static struct value_reading reading(int rank, const char *text, double number)
{
	return (struct value_reading){rank, text, true, !isinf(number), number};
}

static void test_groups(void **state)
{
	struct arena *arena = arena_create();
	const struct value_reading readings[] = {
		reading(0, "7", 7),     reading(1, "3", 3),           reading(2, "3", 3),
		reading(3, "nan", NAN), {4, "gone", false, false, 0}, reading(5, "40", 40),
	};
	const struct value_groups *groups = value_groups_create(arena, readings, 6);

	(void)state;
	assert_int_equal(groups->num, 5);
	assert_int_equal(groups->num_values, 4);
	assert_string_equal(groups->groups[0].text, "3");
	assert_int_equal(rankset_count(groups->groups[0].ranks), 2);
	assert_string_equal(groups->groups[1].text, "7");
	assert_string_equal(groups->groups[4].text, "gone");
	assert_false(groups->groups[4].has_value);
	assert_true(groups->are_numbers);
	assert_int_equal(groups->num_nan, 1);
	assert_string_equal(groups->by_number[0]->text, "3");
	assert_string_equal(groups->by_number[2]->text, "40");
	assert_string_equal(groups->by_number[3]->text, "nan");
	assert_string_equal(groups->median->text, "3");
	arena_destroy(arena);
}

static void test_groups_of_texts(void **state)
{
	struct arena *arena = arena_create();
	const struct value_reading readings[] = {reading(0, "\"a\"", INFINITY),
						 reading(1, "\"b\"", INFINITY),
						 reading(2, "\"a\"", INFINITY),
						 {3, "\"a\"", false, false, 0}};
	const struct value_groups *groups = value_groups_create(arena, readings, 4);

	(void)state;
	assert_int_equal(groups->num_values, 2);
	assert_int_equal(groups->num, 3);
	assert_false(groups->are_numbers);
	assert_null(groups->median);
	groups = value_groups_create(arena, NULL, 0);
	assert_int_equal(groups->num, 0);
	assert_false(groups->are_numbers);
	arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scalars),         cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_shapes),          cmocka_unit_test(test_structs),
		cmocka_unit_test(test_containers),      cmocka_unit_test(test_long_text),
		cmocka_unit_test(test_numbers),         cmocka_unit_test(test_groups),
		cmocka_unit_test(test_groups_of_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
