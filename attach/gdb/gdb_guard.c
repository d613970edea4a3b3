/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <signal.h>
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
#define WATCH_MS 50 /* between two looks at the rank while gdb is there */

#define BIT(signal) (UINT64_C(1) << ((signal)-1))
#define STOPS (BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU))

/* What is known of who wants the rank to stand still. */
struct watch {
	const struct gdb_guard_rank *rank;
	bool is_stopped; /* its user does: he has stopped it, before gdb came or since */
	bool was_traced;
	bool was_free; /* seen going on, since then untraced: a stop is not gdb's */
};

/* It is, or is about to be by a SIGSTOP for this thread, as gdb sends it, never for the process. */
static bool stands(const struct procfs_status *status)
{
	return status->state == 'T' || status->pending & BIT(SIGSTOP);
}

static bool is_same(const struct gdb_guard_rank *rank)
{
	struct procfs_stat now;

	return procfs_stat(rank->pid, 0, &now) == 0 && now.start_ticks == rank->start_ticks;
}

/* Any of its threads. */
static bool is_stopped(pid_t pid)
{
	size_t num = 0;
	pid_t *tids = procfs_threads(pid, &num);
	struct procfs_status status;
	bool ret = false;

	for (size_t i = 0; tids && i < num && !ret; i++)
		ret = procfs_status(tids[i], &status) == 0 && stands(&status);
	free(tids);
	return ret;
}

/* gdb lives. What its user sends to the rank waits until gdb lets it run. A stop once gdb does not
 * trace it any more may be gdb's, until the rank was seen to go on. */
static void watch_rank(struct watch *watch)
{
	struct procfs_status status;
	bool is_traced, is_left;

	if (procfs_status(watch->rank->pid, &status) < 0 || !is_same(watch->rank))
		return;
	is_traced = status.tracer != 0;
	is_left = !is_traced && watch->was_traced;
	watch->was_traced = is_traced;
	if (is_traced && status.shared_pending & (STOPS | BIT(SIGCONT)))
		watch->is_stopped = status.shared_pending & STOPS;
	else if (is_left && watch->rank->was_stopped && watch->is_stopped)
		kill(watch->rank->pid, SIGSTOP); /* gdb was told to detach, and stays */
	else if (!is_traced)
		watch->is_stopped = stands(&status) ? watch->is_stopped || watch->was_free
						    : watch->is_stopped && !watch->was_free;
	watch->was_free = !is_traced && (watch->was_free || !stands(&status));
}

/* Until gdb has ended. Without its parent it ends soon by itself, unless it is busy, with the
 * symbols of a large program say: then it is killed, if the rank stands still, since none of gdb's
 * break points are in it then. Signals come to nobody here. */
static void wait_for_end(struct watch *watch, pid_t gdb, pid_t parent)
{
	struct pollfd ends[] = {{.fd = (int)syscall(SYS_pidfd_open, gdb, 0), .events = POLLIN},
				{.fd = (int)syscall(SYS_pidfd_open, parent, 0), .events = POLLIN}};
	struct procfs_stat stat;

	if (ends[0].fd < 0) /* it has ended, and has been waited for */
		return;
	while (ends[1].fd >= 0 && poll(ends, 2, WATCH_MS) == 0)
		watch_rank(watch);
	while (poll(ends, 1, ORPHAN_MS) == 0)
		if (procfs_stat(watch->rank->pid, 0, &stat) == 0 && stat.state == 't')
			syscall(SYS_pidfd_send_signal, ends[0].fd, SIGKILL, NULL, 0);
}

/* Let the rank go on if gdb's SIGSTOP has stopped it, or is going to. What gdb held is let go of
 * before its end can be seen; but where gdb was killed as it attached, the rank has the signal
 * still to take, and stops when it next runs. Nothing shows that before. */
static void let_go_on(const struct gdb_guard_rank *rank, int late_ms)
{
	for (int ms = 0; ms <= late_ms && is_same(rank); ms += LOOK_MS) {
		if (is_stopped(rank->pid)) {
			kill(rank->pid, SIGCONT);
			return;
		}
		poll(NULL, 0, LOOK_MS);
	}
}

/* One that its user had stopped before gdb came is stopped again. */
static void stop_again(const struct gdb_guard_rank *rank)
{
	struct procfs_status status;

	for (int ms = 0;
	     ms <= LATE_STOP_MS && procfs_status(rank->pid, &status) == 0 && is_same(rank);
	     ms += LOOK_MS) {
		if (status.state == 'T')
			return;
		if (ms == 0)
			kill(rank->pid, SIGSTOP);
		poll(NULL, 0, LOOK_MS);
	}
}

/* The guard; never returns. Nothing that is sent to pdb, its group or its terminal reaches it. */
static void guard_rank(const struct gdb_guard_rank *rank, pid_t gdb, pid_t parent)
{
	struct watch watch = {.rank = rank, .is_stopped = rank->was_stopped};
	struct procfs_status last;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	close_range(0, ~0U, 0);
	prctl(PR_SET_NAME, "pdb-gdb-guard");
	wait_for_end(&watch, gdb, parent);
	if (procfs_status(rank->pid, &last) == 0 && last.shared_pending & STOPS)
		watch.is_stopped = true;
	if (!watch.is_stopped)
		let_go_on(rank, getppid() == parent ? LATE_STOP_MS : ORPHAN_LATE_STOP_MS);
	else if (rank->was_stopped)
		stop_again(rank);
	_exit(0);
}

pid_t gdb_guard_start(const struct gdb_guard_rank *rank, pid_t gdb)
{
	pid_t parent = getpid(), guard = fork();

	if (guard == 0)
		guard_rank(rank, gdb, parent);
	return guard;
}

void gdb_guard_wait(pid_t guard)
{
	while (guard > 0 && waitpid(guard, NULL, 0) < 0 && errno == EINTR)
		;
}
