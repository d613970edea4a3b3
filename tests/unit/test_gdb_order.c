/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "attach/gdb/gdb_order.h"
#include "model/buffer.h"
#include "model/error.h"
#include "tests/unit/unit.h"

static struct buffer encode(void)
{
	static const char *words[] = {"-ex", "bt 3"}, *environment[] = {"TERM=xterm", "LANG=C"};
	const struct gdb_order order = {
		.rank = 7,
		.channel = 3,
		.rows = 24,
		.columns = 80,
		.folder = "/home/me",
		.words = words,
		.num_words = NUM_OF(words),
		.environment = environment,
		.num_environment = NUM_OF(environment),
	};
	struct buffer bytes = {.bytes = NULL};

	gdb_order_encode(&order, &bytes);
	return bytes;
}

static void test_both_ways(void **state)
{
	struct buffer bytes = encode();
	struct gdb_order order;
	struct pdb_error err;

	(void)state;
	assert_int_equal(gdb_order_decode(bytes.bytes, bytes.num, &order, &err), 0);
	assert_int_equal(order.rank, 7);
	assert_int_equal(order.channel, 3);
	assert_int_equal(order.rows, 24);
	assert_int_equal(order.columns, 80);
	assert_string_equal(order.folder, "/home/me");
	assert_int_equal(order.num_words, 2);
	assert_string_equal(order.words[0], "-ex");
	assert_string_equal(order.words[1], "bt 3");
	assert_int_equal(order.num_environment, 2);
	assert_string_equal(order.environment[0], "TERM=xterm");
	assert_string_equal(order.environment[1], "LANG=C");
	gdb_order_deinit(&order);
	free(bytes.bytes);
}

/* Cut off wherever, copied so that a byte too many is seen. */
static void test_cut(void **state)
{
	struct buffer bytes = encode();

	(void)state;
	for (size_t length = 0; length < bytes.num; length++) {
		uint8_t *copy = malloc(length + 1);
		struct gdb_order order;
		struct pdb_error err;

		memcpy(copy, bytes.bytes, length);
		copy = realloc(copy, length ? length : 1);
		assert_int_equal(gdb_order_decode(copy, length, &order, &err), -1);
		assert_int_equal(err.code, ERROR_FORMAT);
		free(copy);
	}
	free(bytes.bytes);
}

/* Numbers of strings that there is no memory for. */
static void test_too_many(void **state)
{
	struct buffer bytes = encode();
	struct gdb_order order;
	struct pdb_error err;

	(void)state;
	memset(bytes.bytes + 16, 0xff, 8); /* both numbers */
	assert_int_equal(gdb_order_decode(bytes.bytes, bytes.num, &order, &err), -1);
	assert_int_equal(err.code, ERROR_FORMAT);
	free(bytes.bytes);
}

static bool has(const char **list, size_t num, const char *entry)
{
	for (size_t i = 0; i < num; i++)
		if (strcmp(list[i], entry) == 0)
			return true;
	return false;
}

/* What makes gdb what it is here, and nothing else of this node. */
static void test_environment(void **state)
{
	const char **list;
	uint32_t num;

	(void)state;
	setenv("TERM", "screen", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("TERMCAP", "other", 1);
	setenv("PDB_INVITATION", "secret", 1);
	unsetenv("NO_COLOR");
	list = gdb_order_environment(&num);
	assert_true(has(list, num, "TERM=screen"));
	assert_true(has(list, num, "LC_ALL=C.UTF-8"));
	assert_false(has(list, num, "TERMCAP=other"));
	assert_false(has(list, num, "PDB_INVITATION=secret"));
	for (size_t i = 0; i < num; i++)
		assert_null(strstr(list[i], "NO_COLOR"));
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
