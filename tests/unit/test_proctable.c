/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "tests/unit/unit.h"

static void test_finish(void **state)
{
	struct proctable *table = proctable_create();
	struct pdb_error err = {0};

	(void)state;
	proctable_add(table, 3, 103, "far.example", "/bin/app");
	proctable_add(table, 0, 100, "localhost", "/bin/app");
	proctable_add(table, 1, 101, "localhost", NULL);
	assert_int_equal(proctable_finish(table, &err), 0);
	assert_int_equal(table->num_procs, 3);
	assert_int_equal(table->size, 4);
	assert_int_equal(table->procs[0].pid, 100);
	assert_int_equal(table->procs[2].rank, 3);
	assert_true(table->procs[1].is_local);
	assert_false(table->procs[2].is_local);
	assert_string_equal(table->procs[1].executable, "");
	assert_string_equal(table->job, "");
	assert_ptr_equal(proctable_find(table, 1), &table->procs[1]);
	assert_ptr_equal(proctable_find(table, 3), &table->procs[2]);
	assert_null(proctable_find(table, 2));
	assert_null(proctable_find(table, 4));

	struct rankset *ranks = proctable_ranks(table);

	assert_int_equal(rankset_count(ranks), table->size);
	assert_true(rankset_contains(ranks, 0) && rankset_contains(ranks, table->size - 1));
	rankset_destroy(ranks);
	assert_null(proctable_find(table, -1));
	proctable_destroy(table);
	proctable_destroy(NULL);
}

static void test_size(void **state)
{
	static const struct {
		int said, highest, expected; /* highest -1: no ranks */
	} table[] = {{INT_MAX, 7, 8}, {1 << 17, 7, 1 << 17}, {(1 << 17) + 1, 7, 8}, {0, 7, 8},
		     {4, 7, 8},       {16, 7, 16},           {-3, -1, 0},           {5, -1, 5}};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct proctable *procs = proctable_create();

		procs->size = table[i].said;
		if (table[i].highest >= 0)
			proctable_add(procs, table[i].highest, 1, "", "");
		assert_int_equal(proctable_finish(procs, NULL), 0);
		assert_int_equal(procs->size, table[i].expected);
		/* What so few processes cannot be is only told. */
		assert_int_equal(procs->size_claimed,
				 table[i].said > procs->size ? table[i].said : 0);
		assert_null(proctable_find(procs, 0));
		proctable_destroy(procs);
	}
}

static void test_refused(void **state)
{
	static const struct {
		int ranks[2], pid, size;
		const char *part;
	} table[] = {
		{{0, -1}, 5, 0, "rank -1"},
		{{4, 4}, 5, 0, "rank 4 twice"},
		{{0, 16 << 20}, 5, 0, "rank 16777216"},
		{{0, INT_MAX}, 5, 0, "rank 2147483647"},
		{{0, 1}, -7, 0, "pid -7"},
		{{0, 3 << 16}, 5, 0, "rank 196608, but only 2 processes"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct proctable *procs = proctable_create();
		struct pdb_error err = {0};

		procs->size = table[i].size;
		proctable_add(procs, table[i].ranks[0], 3, "a", "");
		proctable_add(procs, table[i].ranks[1], table[i].pid, "b", "");
		assert_int_equal(proctable_finish(procs, &err), -1);
		assert_error(&err, ERROR_FORMAT, table[i].part);
		proctable_destroy(procs);
	}
}

static void test_host_is_name(void **state)
{
	static const char *const names[] = {"a",         "7",       "node-7", "a.b.example",
					    "192.0.2.7", "my_node", "a..b",   "A-"};
	static const char *const others[] = {
		"",          "-a",       ".a",    "_a",    " a",  "a ",
		"a b",       "a,b",      "a:1",   "a;b",   "a\n", "$a",
		"a$(b)",     "a/b",      "a@b",   "[::1]", "a=b", "-oProxyCommand=x",
		"a\303\244", "\303\244", "a\177", "a*",    "a'"};
	char name[300];

	(void)state;
	for (size_t i = 0; i < NUM_OF(names); i++)
		assert_true(host_is_name(names[i]));
	for (size_t i = 0; i < NUM_OF(others); i++) {
		struct proctable *table = proctable_create();
		struct pdb_error err = {0};

		assert_false(host_is_name(others[i]));
		if (!*others[i])
			strcpy(name, "127.0.0.1 -x"); /* would be local */
		else
			strcpy(name, others[i]);
		proctable_add(table, 0, 5, "a", "");
		proctable_add(table, 1, 6, name, "");
		assert_int_equal(proctable_finish(table, &err), -1);
		assert_error(&err, ERROR_FORMAT, "rank 1 on");
		assert_error(&err, ERROR_FORMAT, "no name of a host");
		proctable_destroy(table);
	}
	memset(name, 'a', sizeof(name));
	name[255] = '\0';
	assert_true(host_is_name(name));
	name[255] = 'a';
	name[256] = '\0';
	assert_false(host_is_name(name));
}

static void test_host_is_local(void **state)
{
	char own[HOST_NAME_MAX + 1] = "", name[HOST_NAME_MAX + 64];

	(void)state;
	assert_int_equal(gethostname(own, sizeof(own) - 1), 0);
	assert_true(host_is_local(""));
	assert_true(host_is_local("localhost"));
	assert_true(host_is_local(own));
	assert_false(host_is_local("no-such-host-of-mine"));
	snprintf(name, sizeof(name), "%sx", own);
	assert_false(host_is_local(name));
	own[strcspn(own, ".")] = '\0';
	assert_true(host_is_local(own));
	snprintf(name, sizeof(name), "%.10s-other.example", own);
	assert_false(host_is_local(name));
}

static void test_texts(void **state)
{
	(void)state;
	for (int i = PROCTABLE_NONE; i <= PROCTABLE_CORES; i++) {
		for (int j = PROCTABLE_NONE; j < i; j++)
			assert_string_not_equal(proctable_source_text(i), proctable_source_text(j));
	}
}

static void test_daemons(void **state)
{
	static const struct {
		const char *first, *second;
		bool is_daemons;
	} cases[] = {
		{"/usr/lib/pdb/pdbd-openmpi", "pdbd-mpich", true},
		{"/usr/lib/pdb/pdbd-openmpi", "/bin/app", false},
		{"/home/pdbd-x/app", "/home/pdbd-x/app", false},
		{"", "", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct proctable *table = proctable_create();

		assert_false(proctable_is_daemons(table));
		proctable_add(table, 0, 100, "a", cases[i].first);
		proctable_add(table, 1, 101, "b", cases[i].second);
		assert_int_equal(proctable_is_daemons(table), cases[i].is_daemons);
		proctable_destroy(table);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finish),       cmocka_unit_test(test_size),
		cmocka_unit_test(test_refused),      cmocka_unit_test(test_host_is_local),
		cmocka_unit_test(test_host_is_name), cmocka_unit_test(test_texts),
		cmocka_unit_test(test_daemons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
