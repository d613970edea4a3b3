/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/buffer.h"
#include "model/job/proctable.h"
#include "model/xalloc.h"
#include "pmix/reply.h"
#include "tests/unit/unit.h"

static struct proctable *make_table(size_t num_procs)
{
	struct proctable *table = proctable_create();

	table->job = xstrdup("prterun-login1-4019@1");
	table->source_note = xstrdup("the latest of 2 jobs");
	for (size_t i = 0; i < num_procs; i++) {
		char host[32];

		snprintf(host, sizeof(host), "node%zu", i / 2);
		proctable_add(table, i, 1000 + i, host, i == 2 ? "" : "/usr/bin/lmp");
	}
	return table;
}

static void test_table_comes_back(void **state)
{
	struct proctable *table = make_table(5), *back = NULL;
	struct buffer reply = {.bytes = NULL};
	struct pdb_error err = {.code = ERROR_NONE};

	(void)state;
	table->procs[3].has_ended = true;
	reply_put_table(&reply, table);
	assert_int_equal(reply_take_table(reply.bytes, reply.num, &back, &err), 0);
	assert_string_equal(back->job, "prterun-login1-4019@1");
	assert_string_equal(back->source_note, "the latest of 2 jobs");
	assert_int_equal(back->source, PROCTABLE_PMIX);
	assert_int_equal(back->size, 5);
	assert_int_equal(back->num_procs, 5);
	for (int rank = 0; rank < 5; rank++) {
		const struct proc *proc = proctable_find(back, rank);

		assert_non_null(proc);
		assert_int_equal(proc->pid, 1000 + rank);
		assert_int_equal(proc->has_ended, rank == 3);
		assert_string_equal(proc->host, table->procs[rank].host);
		assert_string_equal(proc->executable, table->procs[rank].executable);
	}
	proctable_destroy(back);
	proctable_destroy(table);
	free(reply.bytes);
}

/* What does not change from one process to the next is written once. */
static void test_equal_names_cost_nothing(void **state)
{
	struct proctable *table = proctable_create(), *back = NULL;
	struct buffer reply = {.bytes = NULL};

	(void)state;
	for (int rank = 0; rank < 100; rank++)
		proctable_add(table, rank, 1, "a-host-of-the-cluster", "/a/long/path/to/a/program");
	reply_put_table(&reply, table);
	assert_true(reply.num < 100 * 8 + 200);
	assert_int_equal(reply_take_table(reply.bytes, reply.num, &back, NULL), 0);
	assert_null(back->source_note);
	proctable_destroy(back);
	proctable_destroy(table);
	free(reply.bytes);
}

static void test_error_comes_back(void **state)
{
	struct pdb_error sent, err = {.code = ERROR_NONE};
	struct buffer reply = {.bytes = NULL};
	struct proctable *back = NULL;

	(void)state;
	error_set(&sent, ERROR_GONE, "nobody answers");
	reply_put_error(&reply, &sent);
	assert_int_equal(reply_take_table(reply.bytes, reply.num, &back, &err), -1);
	assert_error(&err, ERROR_GONE, "nobody answers");
	assert_null(back);
	free(reply.bytes);
}

static void test_name_comes_back(void **state)
{
	struct buffer reply = {.bytes = NULL};
	struct proctable *table = NULL;
	struct pdb_error err;
	char *name = NULL;

	(void)state;
	reply_put_spawned(&reply, "prterun-login1-4019@2");
	assert_int_equal(reply_take_spawned(reply.bytes, reply.num, &name, &err), 0);
	assert_string_equal(name, "prterun-login1-4019@2");
	free(name);
	for (size_t length = 0; length < reply.num; length++) {
		assert_int_equal(reply_take_spawned(reply.bytes, length, &name, &err), -1);
		assert_int_equal(err.code, ERROR_FORMAT);
	}
	/* It is no table, and neither is a table a name. */
	assert_int_equal(reply_take_table(reply.bytes, reply.num, &table, &err), -1);
	assert_error(&err, ERROR_FORMAT, "damaged");
	reply.num = 0;
	table = make_table(2);
	reply_put_table(&reply, table);
	assert_int_equal(reply_take_spawned(reply.bytes, reply.num, &name, &err), -1);
	assert_error(&err, ERROR_FORMAT, "damaged");
	reply.num = 0;
	proctable_destroy(table);
	reply_put_error(&reply, &(struct pdb_error){.code = ERROR_GONE, .text = "it has ended"});
	assert_int_equal(reply_take_spawned(reply.bytes, reply.num, &name, &err), -1);
	assert_error(&err, ERROR_GONE, "it has ended");
	free(reply.bytes);
}

/* An answer that ends anywhere before its end is refused; sanitizers see reads beyond it. */
static void test_cut_off(void **state)
{
	struct proctable *table = make_table(3), *back = NULL;
	struct buffer reply = {.bytes = NULL};

	(void)state;
	reply_put_table(&reply, table);
	for (size_t length = 0; length < reply.num; length++) {
		struct pdb_error err = {.code = ERROR_NONE};
		uint8_t *copy = xmalloc(length + 1);

		memcpy(copy, reply.bytes, length);
		assert_int_equal(reply_take_table(copy, length, &back, &err), -1);
		assert_int_equal(err.code, ERROR_FORMAT);
		assert_null(back);
		free(copy);
	}
	proctable_destroy(table);
	free(reply.bytes);
}

/* Any single byte changed: refused, or a table with other values in it, but never a crash. */
static void test_any_byte_changed(void **state)
{
	struct proctable *table = make_table(3);
	struct buffer reply = {.bytes = NULL};
	int num_refused = 0;

	(void)state;
	reply_put_table(&reply, table);
	for (size_t i = 0; i < reply.num; i++) {
		uint8_t saved = reply.bytes[i];

		for (int change = 1; change < 256; change <<= 1) {
			struct proctable *back = NULL;

			reply.bytes[i] = saved ^ change;
			if (reply_take_table(reply.bytes, reply.num, &back, NULL) != 0)
				num_refused++;
			proctable_destroy(back);
		}
		reply.bytes[i] = saved;
	}
	assert_true(num_refused >= 8); /* the kind at least */
	proctable_destroy(table);
	free(reply.bytes);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *what;
		uint8_t bytes[10];
		size_t num;
	} refusals[] = {
		{"nothing", {0}, 0},
		{"an unknown kind", {4, 0}, 2},
		{"no kind", {0, 0}, 2},
		{"error without a code", {1, 0, 0}, 3},
		{"error with an unknown code", {1, 99, 0}, 3},
		{"a text longer than all", {1, 1, 0xff, 0xff, 0xff, 0x7f}, 6},
		{"more processes than bytes", {2, 0, 0, 1, 0, 0xff, 0xff, 0x7f}, 8},
		{"a process without names", {2, 0, 0, 0, 1, 0, 0, 0, 0}, 9},
		{"bytes after the end", {2, 0, 0, 0, 0, 0}, 6},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(refusals); i++) {
		struct pdb_error err = {.code = ERROR_NONE};
		struct proctable *back = NULL;

		print_message("%s\n", refusals[i].what);
		assert_int_equal(reply_take_table(refusals[i].bytes, refusals[i].num, &back, &err),
				 -1);
		assert_int_equal(err.code, ERROR_FORMAT);
	}
}

static void test_same_rank_twice(void **state)
{
	struct proctable *table = proctable_create(), *back = NULL;
	struct buffer reply = {.bytes = NULL};
	struct pdb_error err = {.code = ERROR_NONE};

	(void)state;
	proctable_add(table, 1, 10, "a", "x");
	proctable_add(table, 1, 11, "a", "x");
	reply_put_table(&reply, table);
	assert_int_equal(reply_take_table(reply.bytes, reply.num, &back, &err), -1);
	assert_null(back);
	proctable_destroy(table);
	free(reply.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_comes_back),
		cmocka_unit_test(test_equal_names_cost_nothing),
		cmocka_unit_test(test_error_comes_back),
		cmocka_unit_test(test_name_comes_back),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_any_byte_changed),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_same_rank_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
