/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/symbols/cut_guard.h"
#include "tests/unit/unit.h"

enum { PAGES = 4 };

static volatile sig_atomic_t num_handled;

static void count(int number)
{
	num_handled += number == SIGBUS;
}

static void count_info(int number, siginfo_t *info, void *context)
{
	(void)context;
	num_handled += number == SIGBUS && info->si_pid == getpid();
}

/* A mapped file of which the first page is left. */
static const volatile char *map_cut(void)
{
	char path[] = "/tmp/pdb-cut.XXXXXX";
	int fd = mkstemp(path);
	long page = sysconf(_SC_PAGESIZE);
	const char *map;

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(ftruncate(fd, PAGES * page), 0);
	assert_int_equal(pwrite(fd, "x", 1, 0), 1);
	map = mmap(NULL, (size_t)(PAGES * page), PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	assert_int_equal(ftruncate(fd, page), 0);
	close(fd);
	return map;
}

static void read_all(const volatile char *map)
{
	long page = sysconf(_SC_PAGESIZE);

	assert_int_equal(map[0], 'x');
	for (long i = PAGES * page - 1; i >= page; i -= page / 2)
		assert_int_equal(map[i], 0);
	munmap((void *)(uintptr_t)map, (size_t)(PAGES * page));
}

static void test_zeros(void **state)
{
	struct sigaction now;
	struct cut_guard guard;
	sigset_t set, mask;

	(void)state;
	signal(SIGBUS, SIG_DFL); /* cmocka has a handler */
	/* Blocked, as a program's threads may have it. */
	sigemptyset(&set);
	sigaddset(&set, SIGBUS);
	for (int round = 0; round < 2; round++) {
		sigprocmask(round ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
		cut_guard_enter(&guard);
		assert_false(guard.is_cut);
		read_all(map_cut());
		assert_true(cut_guard_leave(&guard));
		sigprocmask(SIG_UNBLOCK, &set, &mask);
		assert_int_equal(sigismember(&mask, SIGBUS), round);
		assert_int_equal(sigaction(SIGBUS, NULL, &now), 0);
		assert_ptr_equal(now.sa_handler, SIG_DFL);
		cut_guard_enter(&guard);
		assert_false(cut_guard_leave(&guard));
	}
}

/* What is not about files that were cut is for the program. */
static void test_others(void **state)
{
	struct sigaction plain = {.sa_handler = count}, now;
	struct sigaction info = {.sa_sigaction = count_info, .sa_flags = SA_SIGINFO};
	struct sigaction ignored = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL};
	const struct sigaction *actions[] = {&plain, &info, &ignored};
	struct cut_guard guard;

	(void)state;
	for (size_t i = 0; i < NUM_OF(actions); i++) {
		num_handled = 0;
		sigaction(SIGBUS, actions[i], NULL);
		cut_guard_enter(&guard);
		raise(SIGBUS);
		read_all(map_cut());
		assert_int_equal(num_handled, i < 2);
		assert_true(cut_guard_leave(&guard));
		sigaction(SIGBUS, NULL, &now);
		assert_ptr_equal(now.sa_handler, actions[i]->sa_handler);
	}
	/* One that it sets meanwhile stays. */
	sigaction(SIGBUS, &usual, NULL);
	cut_guard_enter(&guard);
	sigaction(SIGBUS, &plain, NULL);
	cut_guard_leave(&guard);
	sigaction(SIGBUS, NULL, &now);
	assert_ptr_equal(now.sa_handler, count);
	sigaction(SIGBUS, &usual, NULL);
}

/* Who has no handler dies of it: within a guard of one that is sent, behind it of both. */
static void test_default(void **state)
{
	struct cut_guard guard;

	(void)state;
	for (int round = 0; round < 3; round++) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			signal(SIGBUS, SIG_DFL);
			cut_guard_enter(&guard);
			if (round > 0)
				cut_guard_leave(&guard);
			if (round == 2)
				read_all(map_cut());
			else
				raise(SIGBUS);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGBUS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zeros),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
