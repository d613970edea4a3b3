/* SPDX-License-Identifier: BSD-3-Clause
 * Children that really sleep in the kernel: in what, and for whom. */
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>

#include "attach/blocked/blocked.h"
#include "attach/blocked/open_by.h"
#include "attach/blocked/path_object.h"
#include "model/job/blocked.h"
#include "tests/unit/child.h"

/* ---- Where the tests have their files ---- */

static char directory[] = "/tmp/test_blocked.XXXXXX";

static const char *in_directory(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) && !mkfifo(in_directory("fifo"), 0600) &&
			       !symlink("fifo", in_directory("link")) &&
			       close(open(in_directory("file"), O_CREAT | O_RDWR, 0600)) == 0
		       ? 0
		       : -1;
}

static int remove_directory(void **state)
{
	static const char *const names[] = {"fifo", "link", "file", "socket", "to_mount"};

	(void)state;
	for (size_t i = 0; i < NUM_OF(names); i++)
		unlink(in_directory(names[i]));
	rmdir(in_directory("mount"));
	return rmdir(directory);
}

/* ---- Looking ---- */

/* Once the thread sleeps in this call. */
static struct blocked *look(pid_t pid, pid_t tid, const char *call)
{
	struct blocked *blocked;

	for (int i = 0; i < 20000; i++) {
		blocked = blocked_read(pid, tid, NULL);
		if (blocked && !strcmp(blocked->call, call))
			return blocked;
		blocked_destroy(blocked);
		usleep(100);
	}
	fail_msg("process %d never slept in %s", (int)pid, call);
	return NULL;
}

static const char *or_none(const char *text)
{
	return text ? text : "-";
}

/* Until it says so: a busy machine cuts the search for other processes short. */
static void assert_blocked(pid_t pid, const char *call, const char *object, const char *reason)
{
	struct blocked *blocked = look(pid, 0, call);

	for (int i = 0; i < 200 && strcmp(or_none(blocked->reason), reason); i++) {
		blocked_destroy(blocked);
		blocked = look(pid, 0, call);
	}
	assert_string_equal(or_none(blocked->object), object);
	assert_string_equal(or_none(blocked->reason), reason);
	blocked_destroy(blocked);
}

/* "nobody" and "only" are sure only where all processes of the machine can be seen. */
static bool sees_all(void)
{
	struct open_by by = {.is_whole = false};

	for (int i = 0; i < 20 && !by.is_whole; i++)
		open_by_find(getpid(), "none", OPEN_BY_ANY, &by);
	return by.is_whole;
}

static const char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *text_of(const char *format, ...)
{
	static char texts[4][512];
	static int at;
	char *text = texts[at++ % 4];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(*texts), format, arguments);
	va_end(arguments);
	return text;
}

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

static void body_hold(const void *argument, int ready)
{
	const struct pipe_of *pipe_of = argument;

	prctl(PR_SET_NAME, "holder");
	if (pipe_of)
		close(pipe_of->fds[pipe_of->is_writer]);
	wait_here(ready);
}

static pid_t start_with_pipe(struct pipe_of *pipe_of, pid_t *holders, size_t num)
{
	pid_t pid;

	assert_int_equal(pipe(pipe_of->fds), 0);
	pid = start(body_pipe, pipe_of);
	for (size_t i = 0; i < num; i++)
		holders[i] = start(body_hold, pipe_of);
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

static bool shows_wchan(pid_t pid)
{
	char *wchan = procfs_read(pid, "wchan", NULL);
	bool is_shown = wchan && strcmp(wchan, "0") != 0;

	free(wchan);
	return is_shown;
}

/* ---- A file system whose server does not answer ---- */

/* In a mount namespace of its own; FUSE serves nobody before its first answer. */
static bool mount_silent(void)
{
	char options[64];
	int server = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", server);
	return server >= 0 && !unshare(CLONE_NEWNS) &&
	       !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("far:/data", in_directory("mount"), "fuse.silent", 0, options);
}

static void body_silent(const void *argument, int ready)
{
	bool is_mounted = mount_silent();

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

/* ---- Sockets ---- */

static void receive(int fd, int ready)
{
	char byte;

	tell(ready);
	if (recv(fd, &byte, 1, 0) < 0)
		return;
}

static void body_receive(const void *argument, int ready)
{
	prctl(PR_SET_NAME, "receiver");
	receive(*(const int *)argument, ready);
}

static void body_accept(const void *argument, int ready)
{
	tell(ready);
	accept(*(const int *)argument, NULL, NULL);
}

static int listen_tcp(int family, int *port_ret)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
	socklen_t length = family == AF_INET ? sizeof(v4) : sizeof(v6);
	struct sockaddr *address = family == AF_INET ? (void *)&v4 : (void *)&v6;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, address, length) || listen(fd, 5))
		return -1;
	assert_int_equal(getsockname(fd, address, &length), 0);
	*port_ret = ntohs(family == AF_INET ? v4.sin_port : v6.sin6_port);
	return fd;
}

static int connect_tcp(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* A listening socket of IPv6 accepts IPv4, too; the tables differ then. */
static void check_tcp(int family)
{
	int port, own_port, listener = listen_tcp(family, &port), client, server;
	struct sockaddr_in own;
	socklen_t length = sizeof(own);
	pid_t pid, other;

	if (listener < 0)
		return;
	pid = start(body_accept, &listener);
	if (family == AF_INET)
		assert_blocked(pid, "accept",
			       text_of("the listening TCP socket 127.0.0.1:%d", port), "-");
	else
		assert_blocked(pid, "accept", text_of("the listening TCP socket [::]:%d", port),
			       "-");
	stop(pid);
	client = connect_tcp(port);
	server = accept(listener, NULL, NULL);
	assert_true(server >= 0);
	getsockname(client, (struct sockaddr *)&own, &length);
	own_port = ntohs(own.sin_port);
	close(listener);
	pid = start(body_receive, &client);
	close(client);
	/* That inherits nothing but the server's end. */
	other = start(body_receive, &server);
	close(server);
	assert_blocked(other, "recvfrom",
		       text_of("the TCP connection 127.0.0.1:%d to 127.0.0.1:%d (established)",
			       port, own_port),
		       text_of("the other end is in process %d (receiver)", pid));
	stop(other);
	stop(pid);
}

static void test_tcp(void **state)
{
	(void)state;
	check_tcp(AF_INET);
	check_tcp(AF_INET6);
}

static void test_unix_socket(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fds[2], listener = socket(AF_UNIX, SOCK_STREAM, 0);
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	pid = start(body_receive, &fds[0]);
	assert_blocked(pid, "recvfrom", "a Unix socket", "-");
	stop(pid);
	close(fds[0]);
	close(fds[1]);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", in_directory("socket"));
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	pid = start(body_accept, &listener);
	assert_blocked(pid, "accept",
		       text_of("the listening Unix socket %s", in_directory("socket")), "-");
	stop(pid);
	close(listener);
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

/* ---- Children ---- */

struct family {
	int num;
	pid_t which; /* 0: the first child */
	bool is_stopped, is_waitid;
};

static void body_wait(const void *argument, int ready)
{
	const struct family *family = argument;
	pid_t first = 0;
	siginfo_t info;

	for (int i = 0; i < family->num; i++) {
		pid_t child = start(body_hold, NULL);

		first = first ? first : child;
		if (family->is_stopped)
			kill(child, SIGSTOP);
	}
	tell(ready);
	if (family->is_waitid)
		waitid(family->which ? P_ALL : P_PID, (id_t)first, &info, WEXITED);
	else
		waitpid(family->which ? family->which : first, NULL, 0);
}

static void check_wait(const struct family *family, const char *call, const char *begin,
		       const char *end, const char *reason)
{
	pid_t pid = start(body_wait, family);
	struct blocked *blocked = NULL;

	for (int i = 0; i < 20000; i++) {
		blocked_destroy(blocked);
		blocked = look(pid, 0, call);
		if (!strcmp(or_none(blocked->reason), reason))
			break;
		usleep(100);
	}
	assert_string_equal(or_none(blocked->reason), reason);
	if (strncmp(blocked->object, begin, strlen(begin)) || !strstr(blocked->object, end))
		fail_msg("%s", blocked->object);
	blocked_destroy(blocked);
	stop(pid);
}

static void test_children(void **state)
{
	(void)state;
	check_wait(&(struct family){.num = 1}, "wait4", "process ", " (holder)", "-");
	check_wait(&(struct family){.num = 2, .is_stopped = true}, "wait4", "process ", " (holder)",
		   "it is stopped");
	check_wait(&(struct family){.num = 1, .which = -1, .is_stopped = true}, "wait4", "process ",
		   " (holder)", "it is stopped");
	check_wait(&(struct family){.num = 2, .which = -1}, "wait4",
		   "any of 2 children: ", " (holder), ", "-");
	check_wait(&(struct family){.num = 5, .which = -1, .is_stopped = true}, "wait4",
		   "any of 5 children: ", " (holder) and 2 more", "they are stopped");
	check_wait(&(struct family){.num = 1, .is_waitid = true}, "waitid", "process ", " (holder)",
		   "-");
	check_wait(&(struct family){.num = 2, .which = 1, .is_waitid = true}, "waitid",
		   "any of 2 children: ", " (holder)", "-");
}

/* ---- System V ---- */

static int queue = -1, semaphores = -1;

static void body_queue(const void *argument, int ready)
{
	struct {
		long type;
		char text[8];
	} message;

	(void)argument;
	tell(ready);
	msgrcv(queue, &message, sizeof(message.text), 0, 0);
}

static void body_semaphores(const void *argument, int ready)
{
	struct sembuf operation = {.sem_op = -1};

	(void)argument;
	tell(ready);
	/* The libc makes this of semop(), too. */
	semtimedop(semaphores, &operation, 1, NULL);
}

static void test_system_v(void **state)
{
	pid_t pid;

	(void)state;
	queue = msgget(IPC_PRIVATE, 0600);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	if (queue < 0 || semaphores < 0)
		skip();
	pid = start(body_queue, NULL);
	assert_blocked(pid, "msgrcv", text_of("the System V message queue %d", queue), "-");
	stop(pid);
	pid = start(body_semaphores, NULL);
	assert_blocked(pid, "semtimedop", text_of("the System V semaphore set %d", semaphores),
		       "-");
	stop(pid);
}

static int remove_system_v(void **state)
{
	(void)state;
	if (queue >= 0)
		msgctl(queue, IPC_RMID, NULL);
	if (semaphores >= 0)
		semctl(semaphores, 0, IPC_RMID);
	return 0;
}

/* ---- Times, signals, several descriptors ---- */

static void body_sleep(const void *argument, int ready)
{
	struct timespec for_ever = {.tv_sec = 3000}, half = {.tv_sec = 42, .tv_nsec = 500000000};

	tell(ready);
	if (argument)
		syscall(SYS_nanosleep, &half, NULL);
	else
		clock_nanosleep(CLOCK_MONOTONIC, 0, &for_ever, NULL);
}

static void body_sleep_until(const void *argument, int ready)
{
	struct timespec until;

	(void)argument;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += 3000;
	tell(ready);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* A stop and going on make another call of those with a limit. */
static void interrupt(pid_t pid)
{
	kill(pid, SIGSTOP);
	wait_for_state(pid, 'T');
	assert_null(blocked_read(pid, 0, NULL));
	kill(pid, SIGCONT);
	wait_for_state(pid, 'S');
}

static void test_sleep(void **state)
{
	pid_t pid = start(body_sleep, "half");

	(void)state;
	assert_blocked(pid, "nanosleep", "-", "for 42.5 s");
	if (shows_wchan(pid)) {
		/* syscall() has the number in a register, not in its code. */
		interrupt(pid);
		assert_blocked(pid, "nanosleep", "-", "for 42.5 s");
	}
	stop(pid);
	pid = start(body_sleep, NULL);
	assert_blocked(pid, "clock_nanosleep", "-", "for 3000 s");
	interrupt(pid);
	assert_blocked(pid, "clock_nanosleep", "-", "for 3000 s");
	stop(pid);
	pid = start(body_sleep_until, NULL);
	assert_blocked(pid, "clock_nanosleep", "-", "-");
	stop(pid);
}

enum { EPOLL = -1, SELECT = -2, NOTHING = -3 };

static void wait_for_several(int how, int *fds, int num)
{
	struct pollfd polled[8];
	struct epoll_event event = {.events = EPOLLIN};
	struct timeval limit = {.tv_sec = 500, .tv_usec = 500000};
	int epoll = epoll_create1(0);
	fd_set set;

	FD_ZERO(&set);
	for (int i = 0; i < num; i++) {
		polled[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
		epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event);
		FD_SET(fds[i], &set);
	}
	if (how == EPOLL)
		epoll_wait(epoll, &event, 1, -1);
	else if (how == SELECT)
		select(1000, &set, NULL, NULL, &limit);
	else if (how == NOTHING)
		poll(NULL, 0, 500000);
	else
		poll(polled, (nfds_t)num, how);
}

static void body_several(const void *argument, int ready)
{
	const int *how = argument;
	int fds[8], listener, pipe_of[2];

	if (pipe(pipe_of))
		return;
	listener = listen_tcp(AF_INET, &fds[3]);
	fds[0] = pipe_of[0];
	fds[1] = eventfd(0, 0);
	fds[2] = socket(AF_UNIX, SOCK_DGRAM, 0);
	fds[3] = dup(fds[1]);
	fds[4] = listener;
	tell(ready);
	wait_for_several(how[0], fds, how[1]);
}

static void test_several(void **state)
{
	static const struct {
		int how[2];
		const char *calls[2], *object, *reason;
	} cases[] = {
		{{5000000, 2}, {"poll", "ppoll"}, "a pipe and an eventfd", "for 5000 s at most"},
		{{-1000, 1}, {"poll", "ppoll"}, "a pipe", "-"},
		{{-1000, 5},
		 {"poll", "ppoll"},
		 "a pipe, an eventfd, a Unix socket and 2 more",
		 "-"},
		{{NOTHING, 0}, {"poll", "ppoll"}, "-", "for 500 s"},
		{{EPOLL, 1}, {"epoll_wait", "epoll_pwait"}, "a pipe", "-"},
		{{SELECT, 3},
		 {"select", "pselect6"},
		 "a pipe, an eventfd and a Unix socket",
		 "for 500 s at most"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		pid_t pid = start(body_several, cases[i].how);
		struct blocked *blocked = NULL;

		/* Which of the two depends on the machine and its libc. */
		for (int k = 0; k < 20000 && !blocked; k++) {
			blocked = blocked_read(pid, 0, NULL);
			if (!blocked || (strcmp(blocked->call, cases[i].calls[0]) &&
					 strcmp(blocked->call, cases[i].calls[1]))) {
				blocked_destroy(blocked);
				blocked = NULL;
				usleep(100);
			}
		}
		assert_non_null(blocked);
		assert_string_equal(or_none(blocked->object), cases[i].object);
		assert_string_equal(or_none(blocked->reason), cases[i].reason);
		blocked_destroy(blocked);
		stop(pid);
	}
}

static void test_signal(void **state)
{
	pid_t pid = start(body_hold, NULL);
	struct blocked *blocked;

	(void)state;
	wait_for_state(pid, 'S');
	blocked = blocked_read(pid, 0, NULL);
	assert_non_null(blocked);
	assert_string_equal(blocked->object, "a signal");
	assert_null(blocked->reason);
	blocked_destroy(blocked);
	stop(pid);
}

/* ---- Threads; what is none of this ---- */

static int thread_pipe[2];

static void *read_in_thread(void *argument)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);
	char byte;

	if (write(*(int *)argument, &tid, sizeof(tid)) != sizeof(tid) ||
	    read(thread_pipe[0], &byte, 1) < 0)
		_exit(1);
	return argument;
}

static void body_thread(const void *argument, int ready)
{
	int told = *(const int *)argument;
	pthread_t thread;

	if (pipe(thread_pipe))
		_exit(1);
	pthread_create(&thread, NULL, read_in_thread, &told);
	tell(ready);
	pthread_join(thread, NULL);
}

static void test_thread(void **state)
{
	struct blocked *blocked;
	int told[2];
	pid_t pid, tid;

	(void)state;
	assert_int_equal(pipe(told), 0);
	pid = start(body_thread, &told[1]);
	assert_int_equal(read(told[0], &tid, sizeof(tid)), sizeof(tid));
	blocked = look(pid, tid, "read");
	assert_string_equal(blocked->object, "a pipe");
	blocked_destroy(blocked);
	/* The main thread joins it: a futex. */
	wait_for_state(pid, 'S');
	assert_null(blocked_read(pid, 0, NULL));
	/* Not a thread of this process. */
	assert_null(blocked_read(getpid(), tid, NULL));
	stop(pid);
	close(told[0]);
	close(told[1]);
}

static void body_compute(const void *argument, int ready)
{
	(void)argument;
	tell(ready);
	for (volatile unsigned long i = 0;; i++)
		continue;
}

static void test_none(void **state)
{
	pid_t pid = start(body_compute, NULL);

	(void)state;
	assert_null(blocked_read(pid, 0, NULL));
	stop(pid);
	assert_null(blocked_read(pid, 0, NULL));
	assert_null(blocked_read(getpid(), 0, NULL));
}

/* ---- Costs ---- */

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_fifo),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_own_pipe),
		cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_silent_server),
		cmocka_unit_test(test_read_fifo),
		cmocka_unit_test(test_tcp),
		cmocka_unit_test(test_unix_socket),
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_children),
		cmocka_unit_test_teardown(test_system_v, remove_system_v),
		cmocka_unit_test(test_sleep),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
