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

#include "attach/gdb/gdb_guard.h"
#include "attach/process/procfs.h"

/* So long gdb has for its end after that of its parent. */
#define ORPHAN_MS 2000
/* So long after its end a stop may come that the rank was about to make: at once, but on a machine
 * that has much to do. The first if pdb waits for that. */
#define LATE_STOP_MS 200
#define ORPHAN_LATE_STOP_MS 2000
#define LOOK_MS 10

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

/* Until gdb has ended. Without its parent it ends soon by itself, unless it is busy, with the symbols
 * of a large program say: then it is killed, if the rank stands still, since none of gdb's break points
 * are in it then. Signals come to nobody here. */
static void wait_for_end(const struct gdb_guard_rank *rank, pid_t gdb, pid_t parent)
{
	struct pollfd ends[] = {{.fd = (int)syscall(SYS_pidfd_open, gdb, 0), .events = POLLIN},
				{.fd = (int)syscall(SYS_pidfd_open, parent, 0), .events = POLLIN}};
	struct procfs_stat stat;

	if (ends[0].fd < 0) /* it has ended, and has been waited for */
		return;
	if (ends[1].fd >= 0)
		poll(ends, 2, -1);
	while (poll(ends, 1, ORPHAN_MS) == 0) {
		if (procfs_stat(rank->pid, 0, &stat) == 0 && stat.state == 't')
			syscall(SYS_pidfd_send_signal, ends[0].fd, SIGKILL, NULL, 0);
	}
}

/* Let the rank go on if gdb's SIGSTOP has stopped it, or is going to. What gdb held is let go of before
 * its end can be seen; but where gdb was killed as it attached, the rank has the signal still to take,
 * and stops when it next runs. Nothing shows that before. */
static void let_go_on(const struct gdb_guard_rank *rank, pid_t parent)
{
	struct procfs_stat now;

	for (int ms = 0; ms <= (getppid() == parent ? LATE_STOP_MS : ORPHAN_LATE_STOP_MS); ms += LOOK_MS) {
		if (procfs_stat(rank->pid, 0, &now) < 0 || now.start_ticks != rank->start_ticks)
			return;
		if (is_stopped(rank->pid)) {
			kill(rank->pid, SIGCONT);
			return;
		}
		poll(NULL, 0, LOOK_MS);
	}
}

/* The guard; never returns. Nothing that is sent to pdb, its group or its terminal reaches it. */
static void guard_rank(const struct gdb_guard_rank *rank, pid_t gdb, pid_t parent)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	close_range(0, ~0U, 0);
	prctl(PR_SET_NAME, "pdb-gdb-guard");
	wait_for_end(rank, gdb, parent);
	let_go_on(rank, parent);
	_exit(0);
}

void gdb_guard_start(struct gdb_guard *guard, const struct gdb_guard_rank *rank, pid_t gdb)
{
	pid_t parent = getpid();

	guard->pid = 0;
	if (rank->was_stopped)
		return;
	guard->pid = fork();
	if (guard->pid == 0)
		guard_rank(rank, gdb, parent);
	if (guard->pid < 0)
		guard->pid = 0;
}

void gdb_guard_wait(struct gdb_guard *guard)
{
	while (guard->pid > 0 && waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
		;
	guard->pid = 0;
}
