/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/gdb_guard.h"
#include "attach/procfs.h"

/* A SIGSTOP for this thread that it has not taken yet. */
static bool has_pending_stop(pid_t tid)
{
	static const char *const names[] = {"\nSigPnd:", "\nShdPnd:"};
	char *status = procfs_read(tid, "status", NULL);
	uint64_t pending = 0;

	for (size_t i = 0; status && i < sizeof(names) / sizeof(names[0]); i++) {
		const char *line = strstr(status, names[i]);

		if (line)
			pending |= strtoull(line + strlen(names[i]), NULL, 16);
	}
	free(status);
	return pending >> (SIGSTOP - 1) & 1;
}

static bool is_stopped(pid_t pid)
{
	struct procfs_stat stat;
	size_t num = 0;
	pid_t *tids = procfs_threads(pid, &num);
	bool ret = false;

	for (size_t i = 0; tids && i < num && !ret; i++)
		ret = (procfs_stat(pid, tids[i], &stat) == 0 && stat.state == 'T') ||
		      has_pending_stop(tids[i]);
	free(tids);
	return ret;
}

/* Of a process that has ended already, who waits for it has been, too. */
static void wait_for_end(pid_t pid)
{
	struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};

	while (end.fd >= 0 && poll(&end, 1, -1) < 0 && errno == EINTR)
		;
}

/* The guard; never returns. Nothing that is sent to pdb, its group or its terminal reaches it. */
static void guard_rank(const struct gdb_guard_rank *rank, pid_t gdb)
{
	struct procfs_stat now;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	close_range(0, ~0U, 0);
	prctl(PR_SET_NAME, "pdb-gdb-guard");
	wait_for_end(gdb);
	/* What gdb held is let go of before its end can be seen. */
	if (procfs_stat(rank->pid, 0, &now) == 0 && now.start_ticks == rank->start_ticks &&
	    is_stopped(rank->pid))
		kill(rank->pid, SIGCONT);
	_exit(0);
}

void gdb_guard_start(struct gdb_guard *guard, const struct gdb_guard_rank *rank, pid_t gdb)
{
	guard->pid = 0;
	if (rank->was_stopped)
		return;
	guard->pid = fork();
	if (guard->pid == 0)
		guard_rank(rank, gdb);
	if (guard->pid < 0)
		guard->pid = 0;
}

void gdb_guard_wait(struct gdb_guard *guard)
{
	while (guard->pid > 0 && waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
		;
	guard->pid = 0;
}
