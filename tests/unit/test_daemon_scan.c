/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/daemons/daemon_scan.h"
#include "model/job/proctable.h"
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
static void test_both_ways(void **state)
{
	struct proctable *a = proctable_create(), *b = proctable_create();
	struct proctable *table = proctable_create();
	char *of_a, *of_b, *both, *text;
	struct pdb_error err;

	(void)state;
	proctable_add(a, 5, 50, "a", "/bin/two words");
	proctable_add(a, 0, 40, "a", "/bin/one");
	proctable_add(a, 1, 41, "a", "/bin/two words");
	proctable_add_ended(a, 2, 42, "a");
	assert_int_equal(proctable_finish(a, &err), 0);
	a->size = 9;
	proctable_add(b, 8, 40, "b", "/bin/\t\none");
	assert_int_equal(proctable_finish(b, &err), 0);
	of_a = daemon_scan_encode(a);
	of_b = daemon_scan_encode(b);
	assert_string_equal(of_a, "a\t9\t\t2:-42\na\t9\t/bin/one\t0:40\n"
				  "a\t9\t/bin/two words\t1:41 5:50\n");
	assert_string_equal(of_b, "b\t9\t/bin/??one\t8:40\n");

	proctable_add(table, 0, 40, "here", "one");
	assert_int_equal(proctable_finish(table, &err), 0);
	both = malloc(strlen(of_a) + strlen(of_b) + 1);
	strcpy(stpcpy(both, of_a), of_b);
	assert_int_equal(daemon_scan_add(table, both, strlen(both), &err), 4);
	text = print_table(table);
	assert_string_equal(text, "9: 0 here 40 one; 1 a 41 /bin/two words; 2 a -42 ; "
				  "5 a 50 /bin/two words; 8 b 40 /bin/??one;");
	free(text);
	/* Once more: nothing new. */
	assert_int_equal(daemon_scan_add(table, both, strlen(both), &err), 0);
	assert_int_equal(table->num_procs, 5);
	assert_int_equal(table->size, 9);
	free(both);
	free(of_a);
	free(of_b);
	proctable_destroy(a);
	proctable_destroy(b);
	proctable_destroy(table);
}

static void test_nothing_found(void **state)
{
	struct proctable *table = proctable_create();
	struct pdb_error err;
	char *text;

	(void)state;
	assert_int_equal(proctable_finish(table, &err), 0);
	text = daemon_scan_encode(table);
	assert_string_equal(text, "");
	assert_int_equal(daemon_scan_add(table, text, 0, &err), 0);
	assert_int_equal(table->num_procs, 0);
	assert_int_equal(table->size, 0);
	free(text);
	proctable_destroy(table);
}

/* Damaged answers: what can be read is taken. */
static void test_damaged(void **state)
{
	static const struct {
		const char *text, *table;
	} cases[] = {
		{"a\t2\tp\t0:1 1:2", "2: 0 a 1 p; 1 a 2 p;"},
		{"a\t2\tp\t", "2:"},
		{"a\t2\tp", "0:"},
		{"a 2 p 0:1\n\t2\tp\t0:1\n", "0:"},
		{"a\tx\tp\t0:1\na\t-1\tp\t0:1\na\t16777217\tp\t0:1\na\t\tp\t0:1\n", "0:"},
		{"a\t4\tp\t0:0 1: :2 2:x -1:3 3:7", "4: 3 a 7 p;"},
		{"a\t4\tp\t16777216:1 99999999999999999999:1 0:99999999999 0:-99999999999 2:5",
		 "4: 2 a 5 p;"},
		/* The rank is more than the size allows, and rank 1 is there twice. */
		{"a\t2\tp\t1:5 7:6\nb\t2\tq\t1:8\n", "8: 1 a 5 p; 7 a 6 p;"},
		/* Hosts that could be no words of a command line. */
		{"-x\t2\tp\t0:1\na b\t2\tp\t0:1\na,b\t2\tp\t0:1\n", "0:"},
		{"\n\n\t\t\t\na\t1\t\t0:3\n", "1: 0 a 3 ;"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct proctable *table = proctable_create();
		struct pdb_error err;
		char *text;

		assert_true(daemon_scan_add(table, cases[i].text, strlen(cases[i].text), &err) >=
			    0);
		text = print_table(table);
		assert_string_equal(text, cases[i].table);
		free(text);
		proctable_destroy(table);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_nothing_found),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
