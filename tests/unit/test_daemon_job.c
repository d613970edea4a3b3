/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/node/daemon_job.h"
#include "model/buffer.h"
#include "model/job/proctable.h"
#include "model/wire/proc_bytes.h"
#include "tests/unit/unit.h"

/* Lines "RANK HOST PID EXECUTABLE" with "-" before the pid of one that has ended. */
static char *print_table(const struct proctable *table)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fprintf(out, "%d:", table->size);
	for (size_t i = 0; i < table->num_procs; i++) {
		const struct proc *proc = &table->procs[i];

		fprintf(out, " %d %s %s%d %s;", proc->rank, proc->host, proc->has_ended ? "-" : "",
			(int)proc->pid, proc->executable);
	}
	fclose(out);
	return text;
}

/* What two daemons tell, one behind the other, into a table that has some of it. */
static void test_found(void **state)
{
	struct proctable *a = proctable_create(), *b = proctable_create();
	struct proctable *table = proctable_create();
	struct buffer both = {.bytes = NULL};
	struct pdb_error err;
	char *text;

	(void)state;
	proctable_add(a, 5, 50, "a", "/bin/two words");
	proctable_add(a, 0, 40, "a", "/bin/one");
	proctable_add(a, 1, 41, "a", "/bin/two words");
	proctable_add_ended(a, 2, 42, "a");
	assert_int_equal(proctable_finish(a, &err), 0);
	a->size = 9;
	proctable_add(b, 8, 40, "b", "/bin/\t\none");
	assert_int_equal(proctable_finish(b, &err), 0);
	proctable_add(table, 0, 40, "here", "one");
	assert_int_equal(proctable_finish(table, &err), 0);
	daemon_job_put_found(&both, a);
	daemon_job_put_found(&both, b);
	assert_int_equal(daemon_job_take_found(both.bytes, both.num, table, &err), 4);
	text = print_table(table);
	assert_string_equal(text, "9: 0 here 40 one; 1 a 41 /bin/two words; 2 a -42 ; "
				  "5 a 50 /bin/two words; 8 b 40 /bin/??one;");
	free(text);
	/* Once more: nothing new. */
	assert_int_equal(daemon_job_take_found(both.bytes, both.num, table, &err), 0);
	assert_int_equal(table->num_procs, 5);
	assert_int_equal(table->size, 9);
	free(both.bytes);
	proctable_destroy(a);
	proctable_destroy(b);
	proctable_destroy(table);
}

static void test_nothing_found(void **state)
{
	struct proctable *table = proctable_create();
	struct buffer found = {.bytes = NULL};
	struct pdb_error err;

	(void)state;
	assert_int_equal(proctable_finish(table, &err), 0);
	daemon_job_put_found(&found, table);
	assert_int_equal(daemon_job_take_found(found.bytes, found.num, table, &err), 0);
	assert_int_equal(daemon_job_take_found(NULL, 0, table, &err), 0);
	assert_int_equal(table->num_procs, 0);
	assert_int_equal(table->size, 0);
	free(found.bytes);
	proctable_destroy(table);
}

struct odd {
	int rank, pid;
	const char *host;
};

static void put_odd(struct buffer *b, const struct odd *odd, size_t num)
{
	struct proctable *table = proctable_create();

	for (size_t i = 0; i < num && odd[i].host; i++) {
		proctable_add(table, odd[i].rank, odd[i].pid, odd[i].host, "p");
		table->procs[i].has_ended = odd[i].pid == 5;
	}
	table->size = 4;
	daemon_job_put_found(b, table);
	proctable_destroy(table);
}

/* What cannot be is passed over. */
static void test_odd(void **state)
{
	static const struct {
		struct odd odd[4];
		const char *table;
	} cases[] = {
		{{{0, 0, "a"}, {-1, 3, "a"}, {3, 7, "a"}, {1 << 24, 1, "a"}}, "4: 3 a 7 p;"},
		/* The rank is more than the size allows, and rank 1 is there twice. */
		{{{1, 5, "a"}, {7, 6, "a"}, {1, 8, "b"}}, "8: 1 a -5 p; 7 a 6 p;"},
		/* Hosts that could be no words of a command line. */
		{{{0, 1, "-x"}, {1, 1, "a b"}, {2, 1, "a,b"}, {3, 1, ""}}, "4:"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct proctable *table = proctable_create();
		struct buffer b = {.bytes = NULL};
		struct pdb_error err;
		char *text;

		put_odd(&b, cases[i].odd, NUM_OF(cases[i].odd));
		assert_true(daemon_job_take_found(b.bytes, b.num, table, &err) >= 0);
		text = print_table(table);
		assert_string_equal(text, cases[i].table);
		free(text);
		free(b.bytes);
		proctable_destroy(table);
	}
}

/* Cut off anywhere, or a byte changed: what can be read is taken, and nothing beyond it. */
static void test_damaged(void **state)
{
	static const struct odd odd[] = {{0, 10, "a"}, {1, -11, "a"}, {2, 12, "b"}};
	struct buffer b = {.bytes = NULL};

	(void)state;
	put_odd(&b, odd, NUM_OF(odd));
	for (size_t i = 0; i < 2 * b.num; i++) {
		struct proctable *table = proctable_create();
		size_t length = i < b.num ? i : b.num;
		uint8_t *copy = malloc(length + 1);

		memcpy(copy, b.bytes, length);
		if (i >= b.num)
			copy[i - b.num] ^= 0xff;
		daemon_job_take_found(copy, length, table, NULL);
		assert_true(table->num_procs <= 4);
		free(copy);
		proctable_destroy(table);
	}
	free(b.bytes);
}

/* ---- The job ---- */

static void test_job(void **state)
{
	struct proctable *table = proctable_create();
	struct daemon_rank *ranks;
	struct buffer b = {.bytes = NULL};

	(void)state;
	proctable_add(table, 0, 100, "localhost", "p");
	proctable_add(table, 1, 101, "elsewhere", "p");
	proctable_add(table, 2, 0, "localhost", "p"); /* not known */
	proctable_add(table, -1, 104, "localhost", "p");
	proctable_add(table, 5, 105, "localhost", "q");
	proc_bytes_put(&b, table);
	assert_int_equal(daemon_job_take(b.bytes, b.num, &ranks), 2);
	assert_int_equal(ranks[0].rank, 0);
	assert_int_equal(ranks[0].pid, 100);
	assert_int_equal(ranks[1].rank, 5);
	free(ranks);
	for (size_t length = 0; length < b.num; length++) {
		assert_true(daemon_job_take(b.bytes, length, &ranks) < 2);
		free(ranks);
	}
	free(b.bytes);
	proctable_destroy(table);
}

/* This process, one that there is not, and one whose pid is this process' by now. */
static void test_lives(void **state)
{
	struct proctable *table = proctable_create();
	struct buffer b = {.bytes = NULL};
	struct daemon_rank *ranks;

	(void)state;
	proctable_add(table, 0, getpid(), "localhost", "");
	proctable_add(table, 1, 0x3fffffff, "localhost", "");
	proctable_add_ended(table, 2, getpid(), "localhost");
	proc_bytes_put(&b, table);
	assert_int_equal(daemon_job_take(b.bytes, b.num, &ranks), 3);
	assert_int_equal(daemon_job_count_living(ranks, 3), 1);
	assert_true(daemon_job_count_living(&ranks[0], 1));
	assert_int_equal(ranks[2].pid, getpid());
	ranks[0].start_ticks++; /* another process with this pid */
	assert_int_equal(daemon_job_count_living(ranks, 3), 0);
	free(ranks);
	free(b.bytes);
	proctable_destroy(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found), cmocka_unit_test(test_nothing_found),
		cmocka_unit_test(test_odd),   cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_job),   cmocka_unit_test(test_lives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
