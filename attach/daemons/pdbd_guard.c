/* SPDX-License-Identifier: BSD-3-Clause
 * What a launcher starts for pdb on each node: the guard of a daemon, which starts the daemon
 * itself (pdbd.c) and ends when it has ended.
 *
 * - An mpirun of PRRTE does not end before all that it has started has: a daemon that somebody has
 *   stopped would hold up the end of the job. The guard ends it.
 * - The job's environment may preload libraries, pdb's recorder among them. The daemon has none.
 * - The daemon is in a session of its own. A kernel that shares processors among sessions first
 *   (sched_autogroup) gives it as much then as all ranks of the launcher's session together.
 *
 * It has no libraries: to load those of a daemon twice takes longer than all that is done here. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched/types.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/daemons/pdbd.h"
#include "attach/daemons/pdbd_end.h"
#include "attach/launchers/daemon_plan.h"
#include "model/monotonic.h"

#define STOPPED_MS 5000  /* so long may the daemon be stopped */
#define PATIENCE_MS 4000 /* so long may it take to end */
#define REST_MS 200
#define SLICE_NS 100000

static void on_child(int signal_number)
{
	(void)signal_number; /* to wake the guard */
}

static void catch_signals(void)
{
	const struct sigaction action = {.sa_handler = on_child};

	pdbd_end_catch();
	sigaction(SIGCHLD, &action, NULL);
}

/* Nobody reads what a daemon or its MPI prints, and the terminal is the job's. */
static void be_quiet(void)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
}

/* The daemon has it. In place: /proc/PID/environ shows what is there. */
static void forget_invitation(void)
{
	char *value = getenv(PDBD_ENV_INVITATION);

	if (value)
		explicit_bzero(value, strlen(value));
}

/* Short turns on a processor that come soon (from Linux 6.12 on); what it gets in all stays the
 * same. To start a daemon takes hundreds of turns. */
static void take_short_turns(void)
{
	struct sched_attr attr = {
		.size = SCHED_ATTR_SIZE_VER0,
		.sched_nice = getpriority(PRIO_PROCESS, 0),
		.sched_runtime = SLICE_NS,
	};

	syscall(SYS_sched_setattr, 0, &attr, 0);
}

/* Become the daemon. Signals that are caught here are not there. */
static void __attribute__((noreturn)) work(pid_t guard, char **argv)
{
	char path[PATH_MAX + sizeof(PDBD_WORKER)];
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);

	if (length <= 0)
		_exit(127);
	memcpy(path + length, PDBD_WORKER, sizeof(PDBD_WORKER));
	setsid();
	take_short_turns();
	/* Its session keeps it apart from the launcher's signals; only this one ends the stopped. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != guard)
		_exit(0);
	unsetenv("LD_PRELOAD");
	setenv("PDB_RECORD", "0", 1);
	argv[0] = path;
	execv(path, argv);
	_exit(127);
}

/* End the worker, be it stopped or not: with its consent; when that takes too long, without. */
static void end_worker(pid_t worker, int64_t since_ms)
{
	kill(worker, monotonic_ms() - since_ms < PATIENCE_MS ? SIGTERM : SIGKILL);
	kill(worker, SIGCONT);
}

/* Until the worker has ended; end well then: a status would be reported as the job's. */
static void __attribute__((noreturn)) watch(pid_t worker, pid_t parent)
{
	int64_t over_since_ms = 0, stopped_since_ms = 0;

	for (;;) {
		struct timespec rest = {.tv_nsec = REST_MS * 1000 * 1000}; /* or a SIGCHLD */
		int status;
		pid_t changed = waitpid(worker, &status, WNOHANG | WUNTRACED | WCONTINUED);

		if ((changed < 0 && errno != EINTR) ||
		    (changed > 0 && (WIFEXITED(status) || WIFSIGNALED(status))))
			_exit(0);
		if (changed > 0)
			stopped_since_ms = WIFSTOPPED(status) ? monotonic_ms() : 0;
		if (stopped_since_ms && monotonic_ms() - stopped_since_ms > STOPPED_MS)
			kill(worker, SIGKILL);
		if (pdbd_end_is_told() || getppid() != parent) {
			over_since_ms = over_since_ms ? over_since_ms : monotonic_ms();
			end_worker(worker, over_since_ms);
		}
		nanosleep(&rest, NULL);
	}
}

int main(int argc, char **argv)
{
	pid_t self = getpid(), parent = getppid(), worker;

	(void)argc;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	be_quiet();
	catch_signals();
	worker = fork();
	if (worker == 0)
		work(self, argv);
	forget_invitation();
	if (worker < 0)
		return 0;
	watch(worker, parent);
}
