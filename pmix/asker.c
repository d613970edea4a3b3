/* SPDX-License-Identifier: BSD-3-Clause
 * PMIx runs in a process of its own, the asker: PMIx_tool_init() hangs for more than 30 seconds
 * against a server that is dying, starts threads, prints, and may abort.
 *
 * The asker is never ended from outside. When a tool's connection breaks before the server has
 * answered it, the server (PMIx 5.0.7, process_cbfunc()) takes the tool off a list that it is not
 * on yet, follows a null pointer, and the job dies with its mpirun. So after a time-out, or when
 * pdb is killed, the asker lives on until the server has answered, and takes its leave, or has
 * ended. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/buffer.h"
#include "model/monotonic.h"
#include "pmix/asker.h"
#include "pmix/query.h"
#include "pmix/rendezvous.h"
#include "pmix/reply.h"

#define PIPE 3 /* the asker's end of it */

/* The server of an Open MPI 4 mpirun dies of a tool that connects, and its job with it. Callers
 * know that, but a mistake is so dear that it is checked once more. */
static int refuse_orte(pid_t pid, struct pdb_error *err)
{
	char *path = xasprintf("/proc/%d/maps", pid);
	FILE *maps = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	bool has_prrte = false, has_orte = false;

	free(path);
	if (!maps && errno == ENOENT)
		return error_set(err, ERROR_GONE, "process %d has ended", pid);
	if (!maps)
		return error_errno(err, "cannot see what process %d is", pid);
	while (getline(&line, &size, maps) > 0) {
		has_prrte |= strstr(line, "libprrte") != NULL;
		has_orte |= strstr(line, "libopen-rte") != NULL;
	}
	free(line);
	fclose(maps);
	if (has_prrte && !has_orte)
		return 0;
	return error_set(err, ERROR_UNSUPPORTED,
			 "process %d is no PRRTE launcher: a PMIx tool connection could crash it",
			 pid);
}

/* A stopped server cannot reply, and a connection would be left waiting for it. */
static int refuse_stopped(pid_t pid, struct pdb_error *err)
{
	char *path = xasprintf("/proc/%d/stat", pid);
	FILE *file = fopen(path, "re");
	char line[512] = "";

	free(path);
	if (!file)
		return error_set(err, ERROR_GONE, "process %d has ended", pid);
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	const char *end_of_name = strrchr(line, ')');
	if (end_of_name && (end_of_name[2] == 'T' || end_of_name[2] == 't'))
		return error_set(
			err, ERROR_TIMEOUT,
			"process %d is stopped and cannot answer; \"kill -CONT %d\" lets it "
			"run",
			pid, pid);
	return 0;
}

/* Pids in the answer mean something only where the launcher's pids are ours. */
static int refuse_other_pids(pid_t pid, struct pdb_error *err)
{
	char theirs[64] = "", ours[64] = "";
	char *path = xasprintf("/proc/%d/ns/pid", pid);
	ssize_t got_theirs = readlink(path, theirs, sizeof(theirs) - 1);
	ssize_t got_ours = readlink("/proc/self/ns/pid", ours, sizeof(ours) - 1);

	free(path);
	if (got_theirs <= 0 || got_ours <= 0 || strcmp(theirs, ours) == 0)
		return 0;
	return error_set(err, ERROR_UNSUPPORTED,
			 "process %d runs in a container of its own: run pdb in that container",
			 pid);
}

/* A child of a rank or batch step inherits it. Parameters of PMIx itself are the site's and
 * stay. */
static void forget_pmix_identity(void)
{
	for (size_t i = 0; environ[i];) {
		const char *equals = strchr(environ[i], '=');

		if (equals && strncmp(environ[i], "PMIX_", 5) == 0 &&
		    strncmp(environ[i], "PMIX_MCA_", 9) != 0) {
			char *name = xstrndup(environ[i], equals - environ[i]);

			unsetenv(name); /* moves the rest up */
			free(name);
		} else {
			i++;
		}
	}
}

/* Keep nothing of the shell's but the pipe, as PIPE, and no terminal to print to. */
static void keep_only(int pipe_fd)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	if (pipe_fd != PIPE)
		dup2(pipe_fd, PIPE);
	close_range(PIPE + 1, ~0u, 0);
}

/* End with the server: there is nobody left then to whom it could matter. */
static void *watch_server(void *argument)
{
	struct pollfd poll_fd = {.fd = (int)(intptr_t)argument, .events = POLLIN};

	while (poll(&poll_fd, 1, -1) < 0 && errno == EINTR)
		;
	_exit(1);
}

static void start_watching(pid_t server)
{
	int fd = syscall(SYS_pidfd_open, server, 0);
	pthread_t thread;

	if (fd < 0 && errno == ESRCH)
		_exit(1);
	if (fd >= 0)
		pthread_create(&thread, NULL, watch_server, (void *)(intptr_t)fd);
}

/* Servers take tools of their own user only. All of root's identity is dropped: groups, user and
 * with it the capabilities, keys, working folder. Root's memory and environment stay: that user
 * cannot read them, as the process cannot be dumped, and no program is started in it. */
static int become_owner(const struct rendezvous *server, struct pdb_error *err)
{
	if (geteuid() != 0 || server->euid == 0)
		return 0;
	syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
	if (chdir("/") != 0 || setgroups(0, NULL) != 0 ||
	    setresgid(server->egid, server->egid, server->egid) != 0 ||
	    setresuid(server->euid, server->euid, server->euid) != 0 ||
	    prctl(PR_SET_DUMPABLE, 0) != 0)
		return error_errno(err, "cannot become user %u, who owns the job", server->euid);
	return 0;
}

static void write_all(const struct buffer *reply)
{
	for (size_t done = 0; done < reply->num;) {
		ssize_t written = write(PIPE, reply->bytes + done, reply->num - done);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return; /* nobody reads any more */
		done += (size_t)written;
	}
}

/* Until pdb has let go of its end. */
static void wait_for_end(void)
{
	char byte;
	ssize_t n;

	do
		n = read(PIPE, &byte, 1);
	while (n > 0 || (n < 0 && errno == EINTR));
}

static void __attribute__((noreturn))
run_asker(const struct rendezvous *server, asker_work work, const void *argument, int fd)
{
	struct pdb_error error = {.code = ERROR_NONE};
	struct buffer reply = {.bytes = NULL};

	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	keep_only(fd);
	forget_pmix_identity();
	/* PMIx itself would break the connection when the server is slow. */
	setenv("PMIX_MCA_ptl_base_handshake_wait_time", "1000000", 1);
	if (become_owner(server, &error) == 0)
		start_watching(server->pid);
	if (error.code || work(server, argument, &reply, &error) < 0)
		reply_put_error(&reply, &error);
	write_all(&reply);
	shutdown(PIPE, SHUT_WR);
	wait_for_end();
	query_disconnect();
	_exit(0);
}

/* As nobody's child, not to be waited for, in a session of its own: Ctrl-C is for the shell. */
static int start(const struct rendezvous *server, asker_work work, const void *argument, int fd,
		 struct pdb_error *err)
{
	pid_t child = fork();

	if (child < 0)
		return error_errno(err, "cannot fork");
	if (child == 0) {
		setsid();
		pid_t asker = fork();
		if (asker == 0)
			run_asker(server, work, argument, fd);
		_exit(asker < 0);
	}
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

/* Until the asker says no more. */
static int read_reply(int fd, int64_t deadline_ms, struct buffer *reply, struct pdb_error *err)
{
	uint8_t bytes[16384];

	for (;;) {
		struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
		int64_t left_ms = deadline_ms - monotonic_ms();
		int ready = left_ms > 0 ? poll(&poll_fd, 1, left_ms) : 0;

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready < 0)
			return error_errno(err, "cannot wait for the launcher's answer");
		if (ready == 0)
			return error_set(err, ERROR_TIMEOUT,
					 "the launcher does not answer; it may be ending. If not, "
					 "run pdb again");
		ssize_t length = read(fd, bytes, sizeof(bytes));
		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return error_errno(err, "cannot read the launcher's answer");
		if (length == 0)
			return 0;
		buffer_put_bytes(reply, bytes, (size_t)length);
		if (reply->num > REPLY_MAX)
			return error_set(err, ERROR_FORMAT, "the launcher's answer has no end");
	}
}

int asker_ask(pid_t pid, asker_work work, const void *argument, int timeout_ms,
	      struct buffer *reply, int *leash_ret, struct pdb_error *err)
{
	int64_t deadline_ms = monotonic_ms() + timeout_ms;
	struct rendezvous server;
	int fds[2], result;

	if (refuse_orte(pid, err) != 0 || refuse_other_pids(pid, err) != 0 ||
	    refuse_stopped(pid, err) != 0 || rendezvous_find(pid, &server, err) != 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
		return error_errno(err, "cannot make a pair of sockets");
	result = start(&server, work, argument, fds[1], err);
	close(fds[1]);
	if (result == 0)
		result = read_reply(fds[0], deadline_ms, reply, err);
	if (result == 0)
		*leash_ret = fds[0];
	else
		close(fds[0]);
	return result;
}
