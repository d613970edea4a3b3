/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "tests/unit/unit.h"

static void test_set(void **state)
{
	struct pdb_error err = {0};

	(void)state;
	assert_int_equal(error_set(&err, ERROR_USAGE, "%s %d", "rank", 7), -1);
	assert_error(&err, ERROR_USAGE, "rank 7");
	assert_int_equal(error_set(NULL, ERROR_USAGE, "nobody asks"), -1);
	error_clear(&err);
	assert_int_equal(err.code, ERROR_NONE);
	assert_string_equal(err.text, "");
}

static void test_errno(void **state)
{
	static const struct {
		int number;
		enum error_code code;
	} table[] = {
		{EPERM, ERROR_PERMISSION}, {EACCES, ERROR_PERMISSION}, {ENOENT, ERROR_NOT_FOUND},
		{ESRCH, ERROR_GONE},       {EIO, ERROR_SYSTEM},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct pdb_error err = {0};

		errno = table[i].number;
		assert_int_equal(error_errno(&err, "open %s", "x"), -1);
		assert_int_equal(errno, table[i].number);
		assert_error(&err, table[i].code, "open x: ");
		assert_non_null(strstr(err.text, strerror(table[i].number)));
	}
	errno = EIO;
	assert_int_equal(error_errno(NULL, "nobody asks"), -1);
}

static void test_prefix(void **state)
{
	struct pdb_error err = {0};

	(void)state;
	error_set(&err, ERROR_GONE, "it ended");
	assert_int_equal(error_prefix(&err, "rank %d", 3), -1);
	assert_int_equal(err.code, ERROR_GONE);
	assert_string_equal(err.text, "rank 3: it ended");
	assert_int_equal(error_prefix(NULL, "nobody asks"), -1);
}

/* What is too long is cut and still terminated. */
static void test_long(void **state)
{
	struct pdb_error err = {0};
	char text[2000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	error_set(&err, ERROR_SYSTEM, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	error_prefix(&err, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	errno = EIO;
	error_errno(&err, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	error_set(&err, ERROR_SYSTEM, "short");
	error_prefix(&err, "%.1015s", text);
	assert_string_equal(err.text + 1013, "xx: short");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_errno),
		cmocka_unit_test(test_prefix),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
