/* SPDX-License-Identifier: BSD-3-Clause
 * Tables of ranks in a launcher's memory. */
#include "tests/unit/unit.h"

#include <errno.h>

#include "attach/launchers/launcher.h"
#include "attach/launchers/launcher_kind.h"
#include "model/job/proctable.h"
#include "tests/unit/launcher_children.h"

/* As srun has them. */
extern char *totalview_jobid, *totalview_stepid;
char *totalview_jobid, *totalview_stepid;

#define MAX_ENTRIES 4

struct table_case {
	const char *what;
	int size;
	struct procdesc entries[MAX_ENTRIES];
	const void *address; /* NULL: of the entries */
	enum error_code code;
	const char *part; /* of the error */
};

static char *endless; /* 8 KiB without a zero byte, and nothing readable behind */

static void body_table(const void *argument, int ready)
{
	const struct table_case *c = argument;
	struct procdesc *entries = malloc(sizeof(c->entries));

	memcpy(entries, c->entries, sizeof(c->entries));
	MPIR_proctable = c->address ? (struct procdesc *)c->address : entries;
	if (c->address == &MPIR_proctable)
		MPIR_proctable = NULL;
	MPIR_proctable_size = c->size;
	wait_here(ready);
}

static void read_table(const struct table_case *c, struct proctable **table, pid_t *pid)
{
	struct launcher_info info = {.kind = &launcher_openmpi4, .name = "fake"};
	struct pdb_error err = {0};
	int result;

	*pid = info.pid = start(body_table, c);
	result = launcher_read_mpir(&info, table, &err);
	if (!c->part) {
		if (result)
			fail_msg("%s: %s", c->what, err.text);
		return;
	}
	if (!result)
		fail_msg("%s: no error", c->what);
	assert_error(&err, c->code, c->part);
	stop(*pid);
}

static void test_bad_tables(void **state)
{
	const struct table_case cases[] = {
		{"empty", 0, {{0}}, NULL, ERROR_NOT_FOUND, "is empty"},
		{"not yet", 3, {{0}}, &MPIR_proctable, ERROR_NOT_FOUND, "is empty"},
		{"negative", -1, {{0}}, NULL, ERROR_FORMAT, "-1 ranks"},
		{"huge", 0x7fffffff, {{0}}, NULL, ERROR_FORMAT, "2147483647 ranks"},
		{"longer than its memory",
		 1 << 23,
		 {{0}},
		 endless + 4096,
		 ERROR_FORMAT,
		 "cannot be read"},
		{"wild table", 2, {{0}}, (void *)0x10, ERROR_FORMAT, "the table at 0x10"},
		{"no host", 1, {{NULL, "a", 1}}, NULL, ERROR_FORMAT, "the host of rank 0"},
		{"wild host",
		 2,
		 {{"h", "a", 1}, {(char *)0x7fff00000000, "a", 2}},
		 NULL,
		 ERROR_FORMAT,
		 "the host of rank 1"},
		{"kernel address",
		 1,
		 {{(char *)-8, "a", 1}},
		 NULL,
		 ERROR_FORMAT,
		 "the host of rank 0"},
		{"wild executable",
		 1,
		 {{"h", (char *)1, 1}},
		 NULL,
		 ERROR_FORMAT,
		 "the executable of rank 0"},
		{"endless host", 1, {{endless, "a", 1}}, NULL, ERROR_FORMAT, "does not end"},
		{"host into nothing",
		 1,
		 {{endless + 8000, "a", 1}},
		 NULL,
		 ERROR_FORMAT,
		 "cannot be read"},
	};
	struct proctable *table;
	size_t i;
	pid_t pid;

	(void)state;
	for (i = 0; i < NUM_OF(cases); i++)
		read_table(&cases[i], &table, &pid);
}

static void test_tables(void **state)
{
	const struct table_case remote = {
		.what = "remote",
		.size = 4,
		.entries = {{"node1.x", "/app", 100},
			    {"node1.x", NULL, 100},
			    {"node2.x", "/app", 100},
			    {"node2.x", "/app", -7}},
	};
	struct proctable *table;
	pid_t pid;

	(void)state;
	read_table(&remote, &table, &pid);
	assert_int_equal(table->num_procs, 4);
	assert_int_equal(table->size, 4);
	assert_int_equal(table->source, PROCTABLE_MPIR);
	/* Two ranks with one process: neither is believed. On another host it is another one. */
	assert_int_equal(table->procs[0].pid, 0);
	assert_int_equal(table->procs[1].pid, 0);
	assert_int_equal(table->procs[2].pid, 100);
	assert_int_equal(table->procs[3].pid, 0);
	assert_non_null(strstr(table->source_note, "2 ranks share a pid"));
	assert_string_equal(table->procs[0].executable, "/app");
	assert_string_equal(table->procs[1].executable, "");
	assert_string_equal(table->procs[2].host, "node2.x");
	assert_false(table->procs[0].is_local);
	proctable_destroy(table);
	stop(pid);
}

struct step_case {
	const char *job, *step; /* in the launcher's memory */
	const struct launcher_kind *launcher;
	const char *expected_job, *expected_step, *name; /* NULL: by the launcher's pid */
};

static void body_step(const void *argument, int ready)
{
	const struct step_case *c = argument;
	static struct procdesc table = {"node1.x", "/app", 100};

	totalview_jobid = (char *)c->job;
	totalview_stepid = (char *)c->step;
	MPIR_proctable = &table;
	MPIR_proctable_size = 1;
	wait_here(ready);
}

static void test_slurm_step(void **state)
{
	static const struct step_case cases[] = {
		{"12", "0", &launcher_slurm, "12", "0", "slurm-12.0"},
		{"4294967295", "7", &launcher_slurm, "4294967295", "7", "slurm-4294967295.7"},
		{"12", "0", &launcher_openmpi4, "", "", NULL},
		{NULL, NULL, &launcher_slurm, "", "", NULL},
		{"12", NULL, &launcher_slurm, "12", "", NULL},
		{"", "", &launcher_slurm, "", "", NULL},
		{"12 --uid=0", "-1", &launcher_slurm, "", "", NULL},
		{"12345678901234567890", "0", &launcher_slurm, "", "0", NULL},
		{(char *)0x10, "0", &launcher_slurm, "", "0", NULL},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct launcher_info info = {.kind = cases[i].launcher, .name = "fake"};
		struct launcher_step step;
		struct proctable *table;
		struct pdb_error err;
		char by_pid[32];

		info.pid = start(body_step, &cases[i]);
		launcher_read_step(&info, &step);
		assert_string_equal(step.job, cases[i].expected_job);
		assert_string_equal(step.step, cases[i].expected_step);
		assert_int_equal(launcher_read_mpir(&info, &table, &err), 0);
		snprintf(by_pid, sizeof(by_pid), "pid-%d", (int)info.pid);
		assert_string_equal(table->job, cases[i].name ? cases[i].name : by_pid);
		proctable_destroy(table);
		stop(info.pid);
		launcher_read_step(&info, &step);
		assert_string_equal(step.job, "");
	}
}

/* The ranks' own word counts more than their order in the table. */
static void test_table_against_environment(void **state)
{
	pid_t pids[2] = {start(body_rank, "PMI_RANK=2"), start(body_rank, "PMI_RANK=0")}, pid;
	const struct table_case local = {
		.what = "local",
		.size = 2,
		.entries = {{"localhost", "wrapper", pids[0]}, {"localhost", "wrapper", pids[1]}},
	};
	struct proctable *table;

	(void)state;
	read_table(&local, &table, &pid);
	assert_int_equal(table->num_procs, 2);
	assert_int_equal(table->size, 3);
	assert_int_equal(proctable_find(table, 2)->pid, pids[0]);
	assert_int_equal(proctable_find(table, 0)->pid, pids[1]);
	assert_null(proctable_find(table, 1));
	assert_null(table->source_note);
	assert_string_equal(strrchr(proctable_find(table, 0)->executable, '/') + 1,
			    program_invocation_short_name);
	proctable_destroy(table);
	stop(pid);
	stop(pids[0]);
	stop(pids[1]);
}

/* A pid in the table is another process' by now: of somebody else, or a rank of another job. */
static void test_reused_pids(void **state)
{
	pid_t pids[3] = {start(body_rank, "PMIX_NAMESPACE=a\nPMI_RANK=0"), start(body_rank, "X=y"),
			 start(body_rank, "PMIX_NAMESPACE=b\nPMI_RANK=0")};
	const struct table_case local = {
		.what = "reused",
		.size = 3,
		.entries = {{"localhost", "a", pids[0]},
			    {"localhost", "a", pids[1]},
			    {"localhost", "a", pids[2]}},
	};
	struct proctable *table;
	pid_t pid;
	int i;

	(void)state;
	read_table(&local, &table, &pid);
	assert_int_equal(table->num_procs, 3);
	assert_int_equal(table->procs[0].pid, pids[0]);
	assert_int_equal(table->procs[1].pid, 0);
	assert_int_equal(table->procs[2].pid, 0);
	assert_non_null(strstr(table->source_note, "2 ranks have ended"));
	proctable_destroy(table);
	stop(pid);
	for (i = 0; i < 3; i++)
		stop(pids[i]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_tables),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_slurm_step),
		cmocka_unit_test(test_table_against_environment),
		cmocka_unit_test(test_reused_pids),
	};

	if (argc > 4 && !strcmp(argv[1], "--as-rank"))
		play_rank(argv);
	endless = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (endless == MAP_FAILED)
		return 1;
	memset(endless, 'x', 8192);
	mprotect(endless + 8192, 4096, PROT_NONE);
	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
