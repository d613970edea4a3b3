/* SPDX-License-Identifier: BSD-3-Clause
 * Children of a test, which are killed when it ends. */
#ifndef PDB_TESTS_UNIT_CHILD_H
#define PDB_TESTS_UNIT_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/process/procfs.h"
#include "tests/unit/unit.h"

/* Run body(argument, ready) in a child and wait until that calls tell(ready), or writes a byte:
 * *is_ready is whether that is not "n". */
static inline pid_t start_told(void (*body)(const void *argument, int ready), const void *argument,
			       bool *is_ready)
{
	int fds[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		body(argument, fds[1]);
		_exit(1);
	}
	assert_true(pid > 0);
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	*is_ready = byte != 'n';
	return pid;
}

static inline pid_t start(void (*body)(const void *argument, int ready), const void *argument)
{
	bool is_ready;

	return start_told(body, argument, &is_ready);
}

static inline void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static inline void tell(int ready)
{
	if (write(ready, "r", 1) != 1)
		_exit(1);
}

/* Until killed. */
static inline void wait_here(int ready)
{
	tell(ready);
	for (;;)
		pause();
}

static inline void wait_for_state(pid_t pid, char state)
{
	struct procfs_stat stat;

	for (int i = 0; i < 20000; i++) {
		if (!procfs_stat(pid, 0, &stat) && stat.state == state)
			return;
		usleep(100);
	}
	fail_msg("process %d never got into state %c", (int)pid, state);
}

#endif
