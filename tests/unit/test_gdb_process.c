/* SPDX-License-Identifier: BSD-3-Clause
 * In place of gdb: shell scripts of that name. In place of a rank: a process that waits. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/gdb/gdb_order.h"
#include "attach/gdb/gdb_process.h"
#include "model/error.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

#define SECOND UINT64_C(1000000000)

struct place {
	char folder[64], path[80], file[80];
	pid_t rank;
	struct gdb_process process;
	int terminal, errors;
	struct pdb_error err;
	char text[512]; /* what it has said */
};

static void be_rank(const void *argument, int ready)
{
	(void)argument;
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	wait_here(ready);
}

static pid_t start_rank(void)
{
	pid_t pid = start(be_rank, NULL);

	wait_for_state(pid, 'S');
	return pid;
}

static void place_init(struct place *place, const char *script)
{
	FILE *out;

	snprintf(place->folder, sizeof(place->folder), "/tmp/test_gdb_process.XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	snprintf(place->path, sizeof(place->path), "PATH=/nowhere:%s", place->folder);
	snprintf(place->file, sizeof(place->file), "%s/gdb", place->folder);
	out = fopen(place->file, "w");
	assert_non_null(out);
	fprintf(out, "#!/bin/sh\nPATH=/usr/bin:/bin\n%s\n", script);
	fclose(out);
	assert_int_equal(chmod(place->file, 0755), 0);
	place->rank = start_rank();
}

static void place_deinit(struct place *place)
{
	kill(place->rank, SIGKILL);
	waitpid(place->rank, NULL, 0);
	unlink(place->file);
	rmdir(place->folder);
}

static int start_gdb(struct place *place, bool is_typed)
{
	static const char *words[] = {"-ex", "bt"};
	const char *environment[] = {place->path, "MARK=here"};
	const struct gdb_order order = {
		.rank = 3,
		.rows = is_typed ? 30 : 0,
		.columns = is_typed ? 90 : 0,
		.folder = place->folder,
		.words = words,
		.num_words = is_typed ? 0 : NUM_OF(words),
		.environment = environment,
		.num_environment = NUM_OF(environment),
	};

	return gdb_process_start(&place->process, place->rank, &order, "node7", &place->terminal,
				 &place->errors, &place->err);
}

/* What comes from there until it ends, or until it says `until`. */
static void read_text(struct place *place, int fd, const char *until)
{
	size_t have = 0;

	for (place->text[0] = '\0';
	     have < sizeof(place->text) - 1 && !(until && strstr(place->text, until));) {
		ssize_t n = read(fd, place->text + have, sizeof(place->text) - 1 - have);

		if (n <= 0)
			break;
		have += (size_t)n;
		place->text[have] = '\0';
	}
}

static void await_end(struct place *place)
{
	while (!place->process.has_ended) {
		gdb_process_check(&place->process);
		usleep(1000);
	}
}

/* At a terminal: it gets what is typed, its own size, the order's environment and the rank. */
static void test_typed(void **state)
{
	struct place place;
	char pid[32];

	(void)state;
	place_init(&place, "echo words $*; stty size; echo mark $MARK; pwd; tty <&2; read line;"
			   "echo got $line; exit 3");
	assert_int_equal(start_gdb(&place, true), 0);
	assert_int_equal(place.errors, -1);
	assert_int_equal(write(place.terminal, "hello\n", 6), 6);
	read_text(&place, place.terminal, NULL);
	snprintf(pid, sizeof(pid), "words -q -p %d", (int)place.rank);
	assert_non_null(strstr(place.text, pid));
	assert_non_null(strstr(place.text, "30 90"));
	assert_non_null(strstr(place.text, "mark here"));
	assert_non_null(strstr(place.text, place.folder));
	assert_non_null(strstr(place.text, "/dev/pts/"));
	assert_non_null(strstr(place.text, "got hello"));
	await_end(&place);
	assert_int_equal(place.process.status, 3);
	close(place.terminal);
	place_deinit(&place);
}

/* ---- Ranks that their user stops, and a gdb that traces ---- */

/* In place of gdb: this program. It attaches as gdb does, and leaves in one of these ways when
 * told. */
static int be_gdb(const char *way, pid_t rank)
{
	char byte;

	if (ptrace(PTRACE_ATTACH, rank, NULL, NULL) < 0)
		return 1;
	if (strcmp(way, "die-early") == 0)
		raise(SIGKILL);
	if (waitpid(rank, NULL, __WALL) != rank || write(1, "ready\n", 6) != 6 ||
	    read(0, &byte, 1) != 1)
		return 1;
	if (strcmp(way, "die") == 0)
		raise(SIGKILL);
	/* A process that was stopped goes on by no less. */
	if (strcmp(way, "let-go") == 0)
		kill(rank, SIGCONT);
	ptrace(PTRACE_DETACH, rank, NULL, strcmp(way, "leave-stopped") == 0 ? SIGSTOP : 0);
	return 0;
}

static void attach(struct place *place, const char *way, bool is_stopped)
{
	char script[PATH_MAX + 64], self[PATH_MAX] = "";

	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	snprintf(script, sizeof(script), "exec '%s' %s $3", self, way);
	place_init(place, script);
	if (is_stopped) {
		kill(place->rank, SIGSTOP);
		wait_for_state(place->rank, 'T');
	}
	assert_int_equal(start_gdb(place, true), 0);
	read_text(place, place->terminal, "ready");
}

/* The guard has looked at the rank since. */
static void await_guard(const struct place *place)
{
	long first = -1, now = -1;

	while (first < 0 || now < first + 3) {
		char *status = procfs_read(place->process.guard, "status", NULL);
		const char *line = status ? strstr(status, "\nvoluntary_ctxt_switches:") : NULL;

		assert_non_null(line);
		now = strtol(strchr(line, ':') + 1, NULL, 10);
		first = first < 0 ? now : first;
		free(status);
		usleep(1000);
	}
}

static void leave(struct place *place)
{
	if (write(place->terminal, "\n", 1) < 0)
		assert_int_equal(errno, EIO); /* it has ended */
	await_end(place);
}

/* However gdb leaves a rank, it is as its user wants it. */
static void test_stopped_by_user(void **state)
{
	static const struct {
		const char *way;
		bool is_stopped; /* before */
		int meanwhile;   /* this signal comes while gdb is on it */
		char after;
	} cases[] = {
		{"detach", false, 0, 'S'},        {"die", false, 0, 'S'},
		{"die-early", false, 0, 'S'},     {"die-early", true, 0, 'T'},
		{"leave-stopped", false, 0, 'S'}, {"detach", true, 0, 'T'},
		{"let-go", true, 0, 'T'},         {"die", true, 0, 'T'},
		{"detach", false, SIGSTOP, 'T'},  {"die", false, SIGSTOP, 'T'},
		{"detach", false, SIGTSTP, 'T'},  {"leave-stopped", false, SIGSTOP, 'T'},
		{"detach", true, SIGCONT, 'S'},   {"leave-stopped", true, SIGCONT, 'S'},
		{"let-go", true, SIGCONT, 'S'},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct procfs_stat rank;
		struct place place;

		attach(&place, cases[i].way, cases[i].is_stopped);
		if (cases[i].meanwhile) {
			kill(place.rank, cases[i].meanwhile);
			await_guard(&place);
		}
		leave(&place);
		assert_int_equal(procfs_stat(place.rank, 0, &rank), 0);
		/* Woken up, it may not be asleep again yet. */
		if (rank.state == 'R')
			wait_for_state(place.rank, rank.state = cases[i].after);
		if (rank.state != cases[i].after)
			fail_msg("%s, case %zu: the rank is left in state %c", cases[i].way, i,
				 rank.state);
		close(place.terminal);
		place_deinit(&place);
	}
}

/* With commands: lines end as they were written, standard error is apart, and Ctrl-C is a signal.
 */
static void test_commands(void **state)
{
	struct place place;

	(void)state;
	place_init(&place, "trap 'echo caught; exit 4' INT; echo \"$2 $7\"; echo warning >&2;"
			   "while :; do sleep 0.01; done");
	assert_int_equal(start_gdb(&place, false), 0);
	read_text(&place, place.terminal, "\n");
	assert_string_equal(place.text, "-batch -ex\n");
	read_text(&place, place.errors, "\n");
	assert_string_equal(place.text, "warning\n");
	assert_int_equal(write(place.terminal, "\003", 1), 1);
	read_text(&place, place.terminal, NULL);
	assert_string_equal(place.text, "caught\n");
	await_end(&place);
	assert_int_equal(place.process.status, 4);
	close(place.terminal);
	close(place.errors);
	place_deinit(&place);
}

static void test_refused(void **state)
{
	char *path = strdup(getenv("PATH"));
	struct place place;

	(void)state;
	place_init(&place, "exit 0");
	chmod(place.file, 0644);
	setenv("PATH", "/nowhere", 1);
	assert_int_equal(start_gdb(&place, true), -1);
	assert_error(&place.err, ERROR_NOT_FOUND,
		     "gdb is not installed on node7, where rank 3 runs");
	setenv("PATH", path, 1);
	free(path);
	chmod(place.file, 0755);
	kill(place.rank, SIGKILL);
	assert_int_equal(waitpid(place.rank, NULL, 0), place.rank);
	assert_int_equal(start_gdb(&place, true), -1);
	assert_error(&place.err, ERROR_GONE, "has ended");
	place.rank = start_rank();
	assert_int_equal(ptrace(PTRACE_SEIZE, place.rank, NULL, NULL), 0);
	assert_int_equal(start_gdb(&place, true), -1);
	assert_error(&place.err, ERROR_PERMISSION, "rank 3: process");
	assert_error(&place.err, ERROR_PERMISSION,
		     "cannot be debugged: it is already traced by pid");
	place_deinit(&place);
}

/* It loses its terminal, and ends by that alone. */
static void test_hang_up(void **state)
{
	struct place place;

	(void)state;
	place_init(&place, "echo ready; while :; do sleep 0.01; done");
	assert_int_equal(start_gdb(&place, true), 0);
	read_text(&place, place.terminal, "ready");
	close(place.terminal);
	await_end(&place);
	assert_int_equal(place.process.status, 128 + SIGHUP);
	place_deinit(&place);
}

/* Both are stopped, and one does not end by SIGHUP. */
static void test_end(void **state)
{
	static const struct {
		const char *script;
		int status;
	} gdbs[] = {
		{"echo ready; while :; do sleep 0.01; done", 128 + SIGHUP},
		{"trap '' HUP; echo ready; while :; do sleep 0.01; done", 128 + SIGTERM},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(gdbs); i++) {
		struct place place;
		uint64_t now = SECOND;

		place_init(&place, gdbs[i].script);
		assert_int_equal(start_gdb(&place, true), 0);
		read_text(&place, place.terminal, "ready");
		kill(place.process.pid, SIGSTOP);
		for (; !place.process.has_ended; now += SECOND / 1000) {
			gdb_process_end(&place.process, now);
			usleep(1000);
		}
		assert_int_equal(place.process.status, gdbs[i].status);
		close(place.terminal);
		place_deinit(&place);
	}
}

/* One that ends by nothing is killed when the rank stands still under it, and only then. */
static void test_kill(void **state)
{
	struct place place;

	(void)state;
	place_init(&place, "trap '' HUP TERM; echo ready; while :; do sleep 0.01; done");
	assert_int_equal(start_gdb(&place, true), 0);
	read_text(&place, place.terminal, "ready");
	assert_int_equal(gdb_process_rank_state(&place.process), 'S');
	gdb_process_end(&place.process, SECOND);
	for (int i = 0; i < 100; i++) {
		gdb_process_end(&place.process, 10 * SECOND);
		usleep(1000);
	}
	assert_false(place.process.has_ended);
	assert_int_equal(ptrace(PTRACE_SEIZE, place.rank, NULL, NULL), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, place.rank, NULL, NULL), 0);
	assert_int_equal(waitpid(place.rank, NULL, __WALL), place.rank);
	assert_int_equal(gdb_process_rank_state(&place.process), 't');
	while (!place.process.has_ended) {
		gdb_process_end(&place.process, 10 * SECOND);
		usleep(1000);
	}
	assert_int_equal(place.process.status, 128 + SIGKILL);
	close(place.terminal);
	kill(place.rank, SIGKILL);
	waitpid(place.rank, NULL, __WALL);
	assert_int_equal(gdb_process_rank_state(&place.process), 'X');
	place_deinit(&place);
}

/* After Ctrl-C it is not told to end before the rank stands still, but not for ever. */
static void test_interrupted(void **state)
{
	struct place place;

	(void)state;
	place_init(&place, "echo ready; while :; do sleep 0.01; done");
	assert_int_equal(start_gdb(&place, true), 0);
	read_text(&place, place.terminal, "ready");
	place.process.interrupted_ns = 10 * SECOND;
	gdb_process_end(&place.process, 10 * SECOND);
	assert_int_equal(place.process.num_told, 0);
	assert_int_equal(ptrace(PTRACE_SEIZE, place.rank, NULL, NULL), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, place.rank, NULL, NULL), 0);
	assert_int_equal(waitpid(place.rank, NULL, __WALL), place.rank);
	kill(place.rank, SIGINT);
	gdb_process_end(&place.process, 10 * SECOND + SECOND / 2);
	assert_int_equal(place.process.num_told, 0);
	gdb_process_end(&place.process, 12 * SECOND);
	assert_int_not_equal(place.process.num_told, 0);
	await_end(&place);
	assert_int_equal(place.process.status, 128 + SIGHUP);
	close(place.terminal);
	kill(place.rank, SIGKILL);
	waitpid(place.rank, NULL, __WALL);
	place_deinit(&place);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_typed),       cmocka_unit_test(test_commands),
		cmocka_unit_test(test_refused),     cmocka_unit_test(test_hang_up),
		cmocka_unit_test(test_end),         cmocka_unit_test(test_kill),
		cmocka_unit_test(test_interrupted), cmocka_unit_test(test_stopped_by_user),
	};

	if (argc == 3)
		return be_gdb(argv[1], (pid_t)atoi(argv[2]));
	alarm(250);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
