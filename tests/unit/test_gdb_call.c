/* SPDX-License-Identifier: BSD-3-Clause
 * What gdb shows first of programs in several languages: the real gdb, on processes that sleep. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/gdb/gdb_call.h"
#include "tests/unit/unit.h"

/* Start it, its output (and errors) in *out. */
static pid_t start_program(const char *const argv[], int *out)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(ends[1], 1);
		dup2(ends[1], 2);
		close(ends[0]);
		close(ends[1]);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(ends[1]);
	*out = ends[0];
	return pid;
}

static void read_all(int fd, char *text, size_t size)
{
	size_t have = 0;
	ssize_t n;

	while ((n = read(fd, text + have, size - 1 - have)) > 0)
		have += (size_t)n;
	text[have] = '\0';
}

/* A file of tests/attach as it was built. The caller frees. */
static char *built(const char *name)
{
	char own[256], *path = NULL;
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	assert_true(length > 0);
	own[length] = '\0';
	*strstr(own, "/unit/") = '\0';
	assert_true(asprintf(&path, "%s/attach/%s", own, name) > 0);
	return path;
}

static void assert_shows(const char *const argv[], const char *frame)
{
	static const char *const words[] = {"-ex", "frame"};
	static const char *const bad[] = {"Warning: the current language", "Error in sourced",
					  "No symbol table", "cannot go"};
	char text[16384];
	struct gdb_call call;
	pid_t program, gdb;
	int out, status;

	program = start_program(argv, &out);
	assert_int_equal(read(out, text, 1), 1); /* it is where it sleeps, or just before */
	gdb_call_init(&call, program, words, NUM_OF(words));
	assert_true(call.script >= 0);
	close(out);
	gdb = start_program(call.argv, &out);
	read_all(out, text, sizeof(text));
	close(out);
	assert_int_equal(waitpid(gdb, &status, 0), gdb);
	gdb_call_deinit(&call);
	kill(program, SIGKILL);
	waitpid(program, NULL, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		skip(); /* no gdb here */
	if (!strstr(text, frame))
		fail_msg("not in %s:\n%s", frame, text);
	for (size_t i = 0; i < NUM_OF(bad); i++)
		if (strstr(text, bad[i]))
			fail_msg("%s:\n%s", bad[i], text);
}

static void assert_program_shows(const char *name, const char *frame)
{
	char *path = built(name);
	const char *const argv[] = {path, NULL};

	assert_shows(argv, frame);
	free(path);
}

static void test_cxx(void **state)
{
	(void)state;
	assert_program_shows("sleeps_cxx", "Sleeper::deep (this=");
}

static void test_fortran(void **state)
{
	(void)state;
	assert_program_shows("sleeps_f", "sleeps::deep (n=2)");
}

/* There is no machine code of the program's own: the interpreter's innermost frame, or the one
 * below the MPI library. */
static void assert_python_shows(const char *code, const char *frame)
{
	const char *const argv[] = {"/usr/bin/python3", "-c", code, NULL};

	if (access(argv[0], X_OK) < 0)
		skip();
	assert_shows(argv, frame);
}

static void test_python(void **state)
{
	(void)state;
	assert_python_shows("import os, time\n"
			    "os.write(1, b'x')\n"
			    "time.sleep(1000)",
			    "#0 ");
}

static void test_python_mpi(void **state)
{
	char *library = built("libmpi_sleeps.so"), *code;

	(void)state;
	assert_true(asprintf(&code, "import ctypes; ctypes.CDLL('%s').sleeps()", library) > 0);
	assert_python_shows(code, "libffi");
	free(code);
	free(library);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_fortran),
		cmocka_unit_test(test_python),
		cmocka_unit_test(test_python_mpi),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
