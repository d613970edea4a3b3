/* SPDX-License-Identifier: BSD-3-Clause
 * Children that sleep for children, System V, times, signals and several descriptors. */
#include "tests/unit/unit.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#include "attach/blocked/blocked.h"
#include "model/job/blocked.h"
#include "tests/unit/blocked_look.h"
#include "tests/unit/child.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
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
