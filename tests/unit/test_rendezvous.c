/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/xalloc.h"
#include "pmix/rendezvous.h"
#include "pmix/tool.h"
#include "tests/unit/unit.h"

#define PID 1234

struct parse_case {
	const char *text;
	int pid; /* 0: refused */
	const char *version;
};

static void test_parse(void **state)
{
	static const struct parse_case cases[] = {
		{"prterun-vm-14@0.0;tcp4://192.0.2.2:45961\n5.0.7a1\n14\n0:0\nFri Nov 20 2026\n",
		 14, "5.0.7a1"},
		{"prte-h-7@0.0;tcp6://::1:45961\n4.2.2\n7\n1000:100\n", 7, "4.2.2"},
		{"", 0, NULL},
		{"\n\n\n\n", 0, NULL},
		{"x.0;tcp4://a:1\n5.0\n", 0, NULL},
		{"x.0;tcp4://a:1\n5.0\n-3\n0:0\n", 0, NULL},
		{"x.0;tcp4://a:1\n5.0\nabc\n0:0\n", 0, NULL},
		{"x.0;tcp4://a:1\n5.0\n14\n0\n", 0, NULL},
		{"x.0;usock:/tmp/x\n5.0\n14\n0:0\n", 0, NULL},
		{"4.0\n14\n0:0\nFri\n", 0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct rendezvous found = {.pid = -1};
		struct pdb_error err = {.code = ERROR_NONE};
		int result = rendezvous_parse(cases[i].text, &found, &err);

		assert_int_equal(result, cases[i].pid ? 0 : -1);
		if (cases[i].pid) {
			assert_int_equal(found.pid, cases[i].pid);
			assert_string_equal(found.version, cases[i].version);
		} else {
			assert_int_equal(err.code, ERROR_FORMAT);
			assert_int_equal(found.pid, -1);
		}
	}
}

/* A directory of our own for each test, removed afterwards. */
static int set_up(void **state)
{
	char *directory = xstrdup("/tmp/pdb-test-XXXXXX");

	*state = directory;
	return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
	char *command = xasprintf("rm -rf '%s'", (char *)*state);
	int status = system(command);

	free(command);
	free(*state);
	return status;
}

static void make_directory(const char *base, const char *name)
{
	char *path = xasprintf("%s/%s", base, name);

	assert_int_equal(mkdir(path, 0700), 0);
	free(path);
}

static void write_file(const char *base, const char *name, pid_t pid)
{
	char *path = xasprintf("%s/%s", base, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fprintf(file, "prterun-h-%d@0.0;tcp4://192.0.2.2:1\n5.0.7\n%d\n%u:%u\nFri\n", pid, pid,
		getuid(), getgid());
	fclose(file);
	free(path);
}

static void assert_found(const char *base, const char *name)
{
	struct rendezvous found;
	char *expected = xasprintf("%s/%s", base, name);

	assert_int_equal(rendezvous_search(base, PID, getuid(), &found), 0);
	assert_string_equal(found.path, expected);
	assert_int_equal(found.pid, PID);
	free(expected);
}

static void assert_not_found(const char *base)
{
	struct rendezvous found;

	assert_int_equal(rendezvous_search(base, PID, getuid(), &found), 1);
}

static void test_found_in_session_directory(void **state)
{
	make_directory(*state, "prterun.h.1234.0");
	write_file(*state, "prterun.h.1234.0/pmix.h.tool.1234", PID);
	write_file(*state, "prterun.h.1234.0/pmix.h.tool.prterun-h-1234@0", PID);
	assert_found(*state, "prterun.h.1234.0/pmix.h.tool.1234");
}

/* A file of process 12345 or 234 is not that of 1234, whatever prefixes say. */
static void test_names_that_only_look_alike(void **state)
{
	write_file(*state, "pmix.h.tool.12345", 12345);
	write_file(*state, "pmix.h.tool.234", 234);
	write_file(*state, "pmix.h.tool.91234", 91234);
	write_file(*state, "pmix.tool.1234", PID);
	write_file(*state, "xpmix.h.tool.1234", PID);
	assert_not_found(*state);
	write_file(*state, "pmix.h.tool.1234", PID);
	assert_found(*state, "pmix.h.tool.1234");
}

/* The name alone is no evidence: another pid inside is a stale file. Search goes on after it. */
static void test_stale_file(void **state)
{
	make_directory(*state, "old");
	write_file(*state, "old/pmix.h.tool.1234", 99);
	assert_not_found(*state);
	make_directory(*state, "new");
	write_file(*state, "new/pmix.h.tool.1234", PID);
	assert_found(*state, "new/pmix.h.tool.1234");
}

static void test_other_kinds_of_files(void **state)
{
	char *path = xasprintf("%s/pmix.h.tool.1234", (char *)*state);
	char *elsewhere = xasprintf("%s/elsewhere", (char *)*state);

	assert_int_equal(mkfifo(path, 0600), 0); /* must not block */
	assert_not_found(*state);
	unlink(path);
	write_file(*state, "elsewhere", PID);
	assert_int_equal(symlink(elsewhere, path), 0);
	assert_not_found(*state);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_not_found(*state);
	free(path);
	free(elsewhere);
}

static void test_depth_and_loops(void **state)
{
	char *link = xasprintf("%s/loop", (char *)*state);

	assert_int_equal(symlink(".", link), 0);
	make_directory(*state, "a");
	make_directory(*state, "a/b");
	make_directory(*state, "a/b/c");
	write_file(*state, "a/b/c/pmix.h.tool.1234", PID);
	assert_not_found(*state);
	write_file(*state, "a/b/pmix.h.tool.1234", PID);
	assert_found(*state, "a/b/pmix.h.tool.1234");
	free(link);
}

static void test_no_directory(void **state)
{
	struct rendezvous found;

	(void)state;
	assert_int_equal(rendezvous_search("/nonexistent", PID, getuid(), &found), 1);
	assert_int_equal(rendezvous_search("/dev/null", PID, getuid(), &found), 1);
}

static void test_another_users(void **state)
{
	struct rendezvous found;

	write_file(*state, "pmix.h.tool.1234", PID);
	assert_int_equal(rendezvous_search(*state, PID, getuid() + 1, &found), 1);
}

/* A process that is no launcher must never be spoken to, even if it has a rendezvous file. */
static void test_no_launcher(void **state)
{
	struct proctable *table = NULL;
	struct pdb_error err;

	(void)state;
	assert_int_equal(pmix_proctable(getpid(), NULL, 1000, &table, &err), -1);
	assert_error(&err, ERROR_UNSUPPORTED, "no PRRTE launcher");
}

static void test_gone(void **state)
{
	struct proctable *table = NULL;
	struct rendezvous found;
	struct pdb_error err;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(pmix_proctable(child, NULL, 1000, &table, &err), -1);
	assert_error(&err, ERROR_GONE, "has ended");
	assert_int_equal(rendezvous_find(child, &found, &err), -1);
	assert_error(&err, ERROR_GONE, "has ended");
}

/* A tool takes on the identity of the process, not the one that the file tells. */
static void test_identity(void **state)
{
	char *variable = xasprintf("TMPDIR=%s", (char *)*state), *path;
	char *const environment[] = {variable, NULL}, *const argv[] = {(char *)"sleep",
								       (char *)"60", NULL};
	struct rendezvous found = {.egid = 4711};
	struct pdb_error err;
	int ends[2];
	FILE *file;
	pid_t child;
	char byte;

	/* It is there when the pipe is closed by its execve(). */
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		execve("/bin/sleep", argv, environment);
		_exit(1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	path = xasprintf("%s/pmix.h.tool.%d", (char *)*state, child);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "prterun-h-%d@0.0;tcp4://192.0.2.2:1\n5.0.7\n%d\n%u:%u\nFri\n", child, child,
		getuid(), getgid() + 1);
	fclose(file);
	assert_int_equal(rendezvous_find(child, &found, &err), 0);
	assert_string_equal(found.path, path);
	assert_int_equal(found.euid, geteuid());
	assert_int_equal(found.egid, getegid());
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	free(path);
	free(variable);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test_setup_teardown(test_found_in_session_directory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_names_that_only_look_alike, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stale_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other_kinds_of_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_depth_and_loops, set_up, tear_down),
		cmocka_unit_test(test_no_directory),
		cmocka_unit_test_setup_teardown(test_another_users, set_up, tear_down),
		cmocka_unit_test(test_no_launcher),
		cmocka_unit_test(test_gone),
		cmocka_unit_test_setup_teardown(test_identity, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
