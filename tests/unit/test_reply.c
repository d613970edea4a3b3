/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	struct reply reply = {.bytes = NULL};
	struct pdb_error err = {.code = ERROR_NONE};

	(void)state;
	reply_encode_table(&reply, table);
	assert_int_equal(reply_decode(reply.bytes, reply.length, &back, &err), 0);
	assert_string_equal(back->job, "prterun-login1-4019@1");
	assert_string_equal(back->source_note, "the latest of 2 jobs");
	assert_int_equal(back->source, PROCTABLE_PMIX);
	assert_int_equal(back->size, 5);
	assert_int_equal(back->num_procs, 5);
	for (int rank = 0; rank < 5; rank++) {
		const struct proc *proc = proctable_find(back, rank);

		assert_non_null(proc);
		assert_int_equal(proc->pid, 1000 + rank);
		assert_string_equal(proc->host, table->procs[rank].host);
		assert_string_equal(proc->executable, table->procs[rank].executable);
	}
	proctable_destroy(back);
	proctable_destroy(table);
	reply_deinit(&reply);
}

/* What does not change from one process to the next is written once. */
static void test_equal_names_cost_nothing(void **state)
{
	struct proctable *table = proctable_create(), *back = NULL;
	struct reply reply = {.bytes = NULL};

	(void)state;
	for (int rank = 0; rank < 100; rank++)
		proctable_add(table, rank, 1, "a-host-of-the-cluster", "/a/long/path/to/a/program");
	reply_encode_table(&reply, table);
	assert_true(reply.length < 100 * 12 + 200);
	assert_int_equal(reply_decode(reply.bytes, reply.length, &back, NULL), 0);
	assert_null(back->source_note);
	proctable_destroy(back);
	proctable_destroy(table);
	reply_deinit(&reply);
}

static void test_error_comes_back(void **state)
{
	struct pdb_error sent, err = {.code = ERROR_NONE};
	struct reply reply = {.bytes = NULL};
	struct proctable *back = NULL;

	(void)state;
	error_set(&sent, ERROR_GONE, "nobody answers");
	reply_encode_error(&reply, &sent);
	assert_int_equal(reply_decode(reply.bytes, reply.length, &back, &err), -1);
	assert_error(&err, ERROR_GONE, "nobody answers");
	assert_null(back);
	reply_deinit(&reply);
}

static void test_name_comes_back(void **state)
{
	struct reply reply = {.bytes = NULL};
	struct proctable *table = NULL;
	struct pdb_error err;
	char *name = NULL;

	(void)state;
	reply_encode_spawned(&reply, "prterun-login1-4019@2");
	assert_int_equal(reply_decode_spawned(reply.bytes, reply.length, &name, &err), 0);
	assert_string_equal(name, "prterun-login1-4019@2");
	free(name);
	for (size_t length = 0; length < reply.length; length++) {
		assert_int_equal(reply_decode_spawned(reply.bytes, length, &name, &err), -1);
		assert_int_equal(err.code, ERROR_FORMAT);
	}
	/* It is no table, and neither is a table a name. */
	assert_int_equal(reply_decode(reply.bytes, reply.length, &table, &err), -1);
	assert_error(&err, ERROR_FORMAT, "damaged");
	reply_deinit(&reply);
	table = make_table(2);
	reply_encode_table(&reply, table);
	assert_int_equal(reply_decode_spawned(reply.bytes, reply.length, &name, &err), -1);
	assert_error(&err, ERROR_FORMAT, "damaged");
	reply_deinit(&reply);
	proctable_destroy(table);
	reply_encode_error(&reply, &(struct pdb_error){.code = ERROR_GONE, .text = "it has ended"});
	assert_int_equal(reply_decode_spawned(reply.bytes, reply.length, &name, &err), -1);
	assert_error(&err, ERROR_GONE, "it has ended");
	reply_deinit(&reply);
}

/* An answer that ends anywhere before its end is refused; sanitizers see reads beyond it. */
static void test_cut_off(void **state)
{
	struct proctable *table = make_table(3), *back = NULL;
	struct reply reply = {.bytes = NULL};

	(void)state;
	reply_encode_table(&reply, table);
	for (size_t length = 0; length < reply.length; length++) {
		struct pdb_error err = {.code = ERROR_NONE};
		char *copy = xmalloc(length + 1);
		uint32_t total = length;

		memcpy(copy, reply.bytes, length);
		/* Once as it is, once with a header that agrees. */
		assert_int_equal(reply_decode(copy, length, &back, &err), -1);
		assert_int_equal(err.code, ERROR_FORMAT);
		if (length >= 12) {
			memcpy(copy + 8, &total, sizeof(total));
			assert_int_equal(reply_decode(copy, length, &back, &err), -1);
			assert_int_equal(err.code, ERROR_FORMAT);
		}
		assert_null(back);
		free(copy);
	}
	proctable_destroy(table);
	reply_deinit(&reply);
}

/* Any single byte changed: refused, or a table with other values in it, but never a crash. */
static void test_any_byte_changed(void **state)
{
	struct proctable *table = make_table(3);
	struct reply reply = {.bytes = NULL};
	int num_refused = 0;

	(void)state;
	reply_encode_table(&reply, table);
	for (size_t i = 0; i < reply.length; i++) {
		char saved = reply.bytes[i];

		for (int change = 1; change < 256; change <<= 1) {
			struct proctable *back = NULL;

			reply.bytes[i] = saved ^ change;
			if (reply_decode(reply.bytes, reply.length, &back, NULL) != 0)
				num_refused++;
			proctable_destroy(back);
		}
		reply.bytes[i] = saved;
	}
	assert_true(num_refused > 12 * 8); /* the header at least */
	proctable_destroy(table);
	reply_deinit(&reply);
}

struct refusal {
	const char *what;
	uint32_t words[8];
	size_t num_words;
};

static void test_refusals(void **state)
{
	static const uint32_t magic = 0x41626470;
	const struct refusal refusals[] = {
		{"nothing", {0}, 0},
		{"another magic", {1, 2, 12}, 3},
		{"an unknown kind", {magic, 3, 12}, 3},
		{"a length that is not its own", {magic, 2, 400, 0, 0, 0, 0}, 7},
		{"error without a code", {magic, 1, 20, 0, 0}, 5},
		{"error with an unknown code", {magic, 1, 20, 99, 0}, 5},
		{"a text longer than all", {magic, 1, 20, 1, 0xffffffff}, 5},
		{"more processes than bytes", {magic, 2, 28, 0, 0, 0, 0xffffffff}, 7},
		{"bytes after the end", {magic, 2, 32, 0, 0, 0, 0, 0}, 8},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(refusals); i++) {
		struct pdb_error err = {.code = ERROR_NONE};
		struct proctable *back = NULL;

		print_message("%s\n", refusals[i].what);
		assert_int_equal(reply_decode((const char *)refusals[i].words,
					      4 * refusals[i].num_words, &back, &err),
				 -1);
		assert_int_equal(err.code, ERROR_FORMAT);
	}
}

static void test_same_rank_twice(void **state)
{
	struct proctable *table = proctable_create(), *back = NULL;
	struct reply reply = {.bytes = NULL};
	struct pdb_error err = {.code = ERROR_NONE};

	(void)state;
	proctable_add(table, 1, 10, "a", "x");
	proctable_add(table, 1, 11, "a", "x");
	reply_encode_table(&reply, table);
	assert_int_equal(reply_decode(reply.bytes, reply.length, &back, &err), -1);
	assert_null(back);
	proctable_destroy(table);
	reply_deinit(&reply);
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
