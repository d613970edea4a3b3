/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/blocked/mount_probe.h"
#include "model/monotonic.h"

#define MAX_PROBES 8
#define MS UINT64_C(1000000)
#define SILENT_NS (5000 * MS) /* so long nobody asks again */
#define MOST_CLOSED 65536

struct probe {
	char *point;
	ino_t space; /* the mount namespace that it is in */
	int fd;      /* what the asking process writes; -1: it has ended, or none was started */
	pid_t pid;   /* 0: not known */
	uint64_t asked_ns;
	enum mount_answer answer;
};

struct mount_probes {
	struct probe list[MAX_PROBES];
	size_t num;
};

struct mount_probes *mount_probes_create(void)
{
	return xcalloc(1, sizeof(struct mount_probes));
}

/* ---- The process that asks ---- */

/* It may stay for hours: it holds nothing of this process open. */
static void close_from(unsigned first)
{
	int most = (int)sysconf(_SC_OPEN_MAX);

#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0U, 0) == 0)
		return;
#endif
	for (int fd = (int)first; fd < most && fd < MOST_CLOSED; fd++)
		close(fd);
}

static _Noreturn void ask(const char *path, int out)
{
	pid_t pid = getpid();
	struct statfs stat;
	char answer;

	prctl(PR_SET_NAME, MOUNT_PROBE_NAME);
	setsid();
	if (dup2(out, 0) < 0 || chdir("/") < 0)
		_exit(1);
	close_from(1);
	if (write(0, &pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
	answer = statfs(path, &stat) ? 'n' : 'y';
	_exit(write(0, &answer, 1) == 1 ? 0 : 1);
}

/* Its parent ends at once, so that it is nobody's here.
 *
 * posix_spawn() would have to read a program, perhaps from the mount that does not answer. After
 * vfork() this thread would stand still until statfs() returns. Between fork() and the end the
 * processes only make system calls, so that locks of other threads here do not matter. */
static int start(const char *path)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		pid = fork();
		if (pid == 0)
			ask(path, fds[1]);
		_exit(0);
	}
	close(fds[1]);
	if (pid > 0 && TEMP_FAILURE_RETRY(waitpid(pid, NULL, 0)) == pid)
		return fds[0];
	close(fds[0]);
	return -1;
}

/* ---- Answers ---- */

static void end(struct probe *probe)
{
	if (probe->fd >= 0)
		close(probe->fd);
	probe->fd = -1;
	probe->pid = 0;
}

/* Until the deadline: the process has ended, or goes on (false). */
static bool hear(struct probe *probe, uint64_t deadline_ns)
{
	while (probe->fd >= 0) {
		uint64_t now = monotonic_ns();
		int ms = now < deadline_ns ? (int)((deadline_ns - now) / MS) + 1 : 0;
		struct pollfd polled = {.fd = probe->fd, .events = POLLIN};
		int num = poll(&polled, 1, ms);
		char answer;

		if (num < 0 && errno == EINTR)
			continue;
		if (num <= 0)
			return false;
		if (!probe->pid) {
			if (read(probe->fd, &probe->pid, sizeof(probe->pid)) != sizeof(probe->pid))
				end(probe);
			continue;
		}
		if (read(probe->fd, &answer, 1) == 1)
			probe->answer = answer == 'y' ? MOUNT_ANSWERS : MOUNT_UNKNOWN;
		end(probe);
	}
	return true;
}

/* Containers have other mounts at the same place. 0: not known. */
static ino_t space_of(pid_t pid)
{
	struct stat stat_of;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	return stat(path, &stat_of) ? 0 : stat_of.st_ino;
}

static struct probe *find(struct mount_probes *probes, ino_t space, const char *point)
{
	for (size_t i = 0; i < probes->num; i++)
		if (probes->list[i].space == space && !strcmp(probes->list[i].point, point))
			return &probes->list[i];
	return NULL;
}

void mount_probes_ask(struct mount_probes *probes, pid_t pid, const char *point)
{
	ino_t space = space_of(pid);
	struct probe *probe = find(probes, space, point);
	char *path;

	if (!space || (!probe && probes->num == MAX_PROBES))
		return;
	if (!probe) {
		probe = &probes->list[probes->num++];
		*probe = (struct probe){.point = xstrdup(point), .space = space, .fd = -1};
	} else if (!hear(probe, 0) || (probe->answer == MOUNT_SILENT &&
				       monotonic_ns() - probe->asked_ns < SILENT_NS)) {
		return;
	}
	path = xasprintf("/proc/%d/root%s", (int)pid, point);
	probe->answer = MOUNT_UNKNOWN;
	probe->asked_ns = monotonic_ns();
	probe->fd = start(path);
	free(path);
}

enum mount_answer mount_probes_answer(struct mount_probes *probes, pid_t pid, const char *point)
{
	struct probe *probe = find(probes, space_of(pid), point);

	if (!probe)
		return MOUNT_UNKNOWN;
	if (!hear(probe, probe->asked_ns + MOUNT_PROBE_MS * MS)) {
		probe->answer = MOUNT_SILENT;
		/* It lives as long as its end of the pipe is open. */
		if (probe->pid)
			kill(probe->pid, SIGKILL);
	}
	return probe->answer;
}

void mount_probes_destroy(struct mount_probes *probes)
{
	if (!probes)
		return;
	for (size_t i = 0; i < probes->num; i++) {
		end(&probes->list[i]);
		free(probes->list[i].point);
	}
	free(probes);
}
