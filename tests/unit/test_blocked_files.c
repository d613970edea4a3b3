/* SPDX-License-Identifier: BSD-3-Clause
 * Children that sleep on pipes, FIFOs, terminals, files and their locks. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "model/job/blocked.h"
#include "tests/unit/blocked_look.h"
#include "tests/unit/child.h"
#include "tests/unit/silent_fuse.h"

/* ---- FIFOs and pipes ---- */

static void body_open(const void *argument, int ready)
{
	const char *const *how = argument;

	if (chdir(directory))
		_exit(1);
	tell(ready);
	close(ready);
	open(how[0], how[1] ? O_WRONLY : O_RDONLY);
}

static void test_open_fifo(void **state)
{
	static const char *const ways[][2] = {
		{"fifo", NULL}, {"fifo", "w"}, {"link", NULL}, {"../", NULL}};
	char absolute[256], dotted[300];
	const char *nobody = sees_all() ? "nobody has it open for" : NULL;

	(void)state;
	snprintf(absolute, sizeof(absolute), "%s", in_directory("fifo"));
	snprintf(dotted, sizeof(dotted), "%s/./../%s/fifo", directory, directory + 5);
	for (size_t i = 0; i < NUM_OF(ways); i++) {
		const char *way[2] = {ways[i][0], ways[i][1]};
		const char *doing = way[1] ? "reading" : "writing", *shown = absolute;
		pid_t pid;

		if (i == 2)
			shown = in_directory("link");
		if (i == 3)
			way[0] = shown = dotted;
		pid = start(body_open, way);
		assert_blocked(pid, "openat", text_of("the FIFO %s", shown),
			       nobody ? text_of("%s %s", nobody, doing) : "-");
		stop(pid);
	}
}

struct pipe_of {
	int fds[2];
	bool is_writer, keeps_other;
};

static void body_pipe(const void *argument, int ready)
{
	const struct pipe_of *pipe_of = argument;
	char byte[4096] = "";

	if (!pipe_of->keeps_other)
		close(pipe_of->fds[!pipe_of->is_writer]);
	tell(ready);
	while (pipe_of->is_writer)
		if (write(pipe_of->fds[1], byte, sizeof(byte)) < 0)
			return;
	if (read(pipe_of->fds[0], byte, 1) < 0)
		return;
}

static void body_hold_end(const void *argument, int ready)
{
	const struct pipe_of *pipe_of = argument;

	close(pipe_of->fds[pipe_of->is_writer]);
	body_hold(NULL, ready);
}

static pid_t start_with_pipe(struct pipe_of *pipe_of, pid_t *holders, size_t num)
{
	pid_t pid;

	assert_int_equal(pipe(pipe_of->fds), 0);
	pid = start(body_pipe, pipe_of);
	for (size_t i = 0; i < num; i++)
		holders[i] = start(body_hold_end, pipe_of);
	close(pipe_of->fds[0]);
	close(pipe_of->fds[1]);
	return pid;
}

static void check_pipe(bool is_writer)
{
	struct pipe_of pipe_of = {.is_writer = is_writer};
	const char *call = is_writer ? "write" : "read", *doing = is_writer ? "reading" : "writing";
	pid_t holders[3], pid = start_with_pipe(&pipe_of, holders, 3);

	/* Which two are named is the order of /proc. */
	assert_blocked(pid, call, "a pipe",
		       text_of("processes %d (holder), %d (holder) and 1 more have it open for %s",
			       holders[0], holders[1], doing));
	stop(holders[2]);
	assert_blocked(pid, call, "a pipe",
		       text_of("processes %d (holder) and %d (holder) have it open for %s",
			       holders[0], holders[1], doing));
	stop(holders[1]);
	assert_blocked(pid, call, "a pipe",
		       text_of("process %d (holder) has it open for %s", holders[0], doing));
	kill(holders[0], SIGSTOP);
	wait_for_state(holders[0], 'T');
	assert_blocked(
		pid, call, "a pipe",
		text_of("process %d (holder, stopped) has it open for %s", holders[0], doing));
	stop(holders[0]);
	stop(pid);
}

static void test_pipe(void **state)
{
	(void)state;
	check_pipe(false);
	check_pipe(true);
}

static void test_own_pipe(void **state)
{
	struct pipe_of pipe_of = {.keeps_other = true};
	pid_t pid = start_with_pipe(&pipe_of, NULL, 0);

	(void)state;
	assert_blocked(
		pid, "read", "a pipe",
		text_of("%sthis process has it open for writing", sees_all() ? "only " : ""));
	stop(pid);
}

static void body_read_fifo(const void *argument, int ready)
{
	int fd = open(in_directory("fifo"), O_RDWR);
	char byte;

	(void)argument;
	tell(ready);
	if (read(fd, &byte, 1) < 0)
		return;
}

static void test_read_fifo(void **state)
{
	pid_t pid = start(body_read_fifo, NULL);

	(void)state;
	assert_blocked(
		pid, "read", text_of("the FIFO %s", in_directory("fifo")),
		text_of("%sthis process has it open for writing", sees_all() ? "only " : ""));
	stop(pid);
}

static void body_terminal(const void *argument, int ready)
{
	char byte;

	tell(ready);
	if (read(*(const int *)argument, &byte, 1) < 0)
		return;
}

static void test_terminal(void **state)
{
	int main_end = posix_openpt(O_RDWR | O_NOCTTY), terminal;
	char name[64];
	pid_t pid;

	(void)state;
	if (main_end < 0)
		skip();
	assert_int_equal(grantpt(main_end) | unlockpt(main_end), 0);
	assert_int_equal(ptsname_r(main_end, name, sizeof(name)), 0);
	terminal = open(name, O_RDWR | O_NOCTTY);
	assert_true(terminal >= 0);
	pid = start(body_terminal, &terminal);
	assert_blocked(pid, "read", text_of("the terminal %s", name), "-");
	stop(pid);
	close(terminal);
	close(main_end);
}

/* ---- A file system whose server does not answer ---- */

static void body_silent(const void *argument, int ready)
{
	/* FUSE serves nobody before its first answer. */
	bool is_mounted = silent_fuse_mount(in_directory("mount")) >= 0;

	if (write(ready, is_mounted ? "y" : "n", 1) == 1 && is_mounted)
		open(argument, O_RDONLY);
}

/* 0: this machine allows no such mount. */
static pid_t start_silent(const char *path)
{
	int fds[2];
	char answer = 'n';
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		body_silent(path, fds[1]);
		_exit(1);
	}
	close(fds[1]);
	assert_true(read(fds[0], &answer, 1) == 1);
	close(fds[0]);
	if (answer == 'y')
		return pid;
	stop(pid);
	return 0;
}

static void test_silent_server(void **state)
{
	static const char *const ways[] = {"mount/sub/file", "to_mount/sub/file"};
	struct blocked *blocked;
	char path[256];

	(void)state;
	mkdir(in_directory("mount"), 0700);
	assert_int_equal(symlink("mount", in_directory("to_mount")), 0);
	for (size_t i = 0; i < NUM_OF(ways); i++) {
		pid_t pid;

		snprintf(path, sizeof(path), "%s", in_directory(ways[i]));
		pid = start_silent(path);
		if (!pid)
			skip();
		blocked = look(pid, 0, "openat");
		assert_string_equal(or_none(blocked->object), path);
		assert_string_equal(
			or_none(blocked->place),
			text_of("fuse.silent, far:/data, mounted at %s", in_directory("mount")));
		assert_null(blocked->reason);
		/* The functions have other names in other kernels. */
		assert_true(!blocked->kernel || !strchr(blocked->kernel, '\n'));
		if (shows_wchan(pid))
			assert_non_null(blocked->kernel);
		blocked_destroy(blocked);
		stop(pid);
	}
}

/* ---- Locks ---- */

static void body_flock(const void *argument, int ready)
{
	int fd = open(in_directory("file"), O_RDWR);

	prctl(PR_SET_NAME, "tar");
	if (argument)
		tell(ready);
	flock(fd, LOCK_EX);
	wait_here(ready);
}

static void lock_file(const void *argument, int ready, int operation)
{
	int fd = open(in_directory("file"), O_RDWR);
	struct flock lock = {.l_type = F_WRLCK, .l_start = 10, .l_len = 10};

	prctl(PR_SET_NAME, "tar");
	if (argument)
		tell(ready);
	fcntl(fd, operation, &lock);
	wait_here(ready);
}

static void body_posix(const void *argument, int ready)
{
	lock_file(argument, ready, F_SETLKW);
}

static void body_ofd(const void *argument, int ready)
{
	lock_file(argument, ready, F_OFD_SETLKW);
}

static void test_locks(void **state)
{
	static void (*const bodies[])(const void *argument, int ready) = {body_flock, body_posix,
									  body_ofd};

	(void)state;
	for (size_t i = 0; i < NUM_OF(bodies); i++) {
		pid_t holder = start(bodies[i], NULL), pid = start(bodies[i], "waits");

		assert_blocked(pid, i ? "fcntl" : "flock", in_directory("file"),
			       i == 2 ? "-" : text_of("process %d (tar) holds the lock", holder));
		stop(pid);
		stop(holder);
	}
}

static void test_place(void **state)
{
	pid_t holder = start(body_flock, NULL), pid = start(body_flock, "waits");
	struct blocked *blocked = look(pid, 0, "flock");

	(void)state;
	assert_non_null(blocked->place);
	assert_non_null(strstr(blocked->place, "mounted at /"));
	assert_null(blocked->kernel);
	blocked_destroy(blocked);
	stop(pid);
	stop(holder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_fifo),     cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_own_pipe),      cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_silent_server), cmocka_unit_test(test_read_fifo),
		cmocka_unit_test(test_locks),         cmocka_unit_test(test_place),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
