/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/error.h"
#include "model/monotonic.h"
#include "shell/start/child.h"
#include "shell/interrupt.h"

void child_hold_terminal(struct child_hold *hold)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};

	hold->has_terminal =
		tcgetpgrp(STDIN_FILENO) == getpgrp() && tcgetattr(STDIN_FILENO, &hold->modes) == 0;
	fflush(NULL);
	sigaction(SIGINT, &ignore, &hold->old_int);
	sigaction(SIGQUIT, &ignore, &hold->old_quit);
}

/* A child that crashed may leave the terminal raw or owned by its process group. */
void child_release_terminal(const struct child_hold *hold)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, old;

	sigaction(SIGQUIT, &hold->old_quit, NULL);
	sigaction(SIGINT, &hold->old_int, NULL);
	if (!hold->has_terminal)
		return;
	sigaction(SIGTTOU, &ignore, &old);
	tcsetpgrp(STDIN_FILENO, getpgrp());
	tcsetattr(STDIN_FILENO, TCSADRAIN, &hold->modes);
	sigaction(SIGTTOU, &old, NULL);
}

int child_start(int (*become)(void *context), void *context, pid_t *pid_ret)
{
	int fds[2], error = 0;
	ssize_t length = 0;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return errno;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		error = become(context);
		if (write(fds[1], &error, sizeof(error)) < 0)
			_exit(126);
		_exit(127);
	}
	if (pid < 0)
		error = errno;
	close(fds[1]);
	do
		length = pid < 0 ? 0 : read(fds[0], &error, sizeof(error));
	while (length < 0 && errno == EINTR);
	close(fds[0]);
	if (length > 0)
		waitpid(pid, NULL, 0);
	*pid_ret = pid;
	return error;
}

struct program {
	const char *const *argv;
	const char *remove_env;
	int output_fd;
	pid_t parent;
};

/* If pdb is killed, the program gets SIGHUP, as if its terminal had gone. A gdb left alone would
 * keep its rank stopped forever; SIGHUP makes it release the rank and end. */
static int become(void *context)
{
	const struct program *program = context;
	struct sigaction defaults = {.sa_handler = SIG_DFL};

	sigaction(SIGINT, &defaults, NULL);
	sigaction(SIGQUIT, &defaults, NULL);
	/* nohup and some batch systems start programs with SIGHUP ignored. */
	sigaction(SIGHUP, &defaults, NULL);
	prctl(PR_SET_PDEATHSIG, SIGHUP);
	if (getppid() != program->parent)
		_exit(127);
	if (program->remove_env)
		unsetenv(program->remove_env);
	if (program->output_fd == STDOUT_FILENO || dup2(program->output_fd, STDOUT_FILENO) >= 0)
		execvp(program->argv[0], (char *const *)program->argv);
	return errno;
}

/* Signals that tell it to end, and how long after the first each is sent. */
static const struct {
	int after_ms, signal;
} ways[] = {{0, SIGHUP}, {500, SIGTERM}, {2000, SIGKILL}};

/* Send the signals that are due. Returns the ms until the next one, -1: none is left. *num_told:
 * signals already sent. */
static int tell_to_end(pid_t pid, const struct child_watch *watch, int waited_ms, size_t *num_told)
{
	while (*num_told < sizeof(ways) / sizeof(ways[0]) &&
	       waited_ms >= ways[*num_told].after_ms) {
		int number = ways[*num_told].signal;

		if (number == SIGKILL && !(watch && watch->may_kill(watch->context)))
			return 100;
		kill(pid, number);
		(*num_told)++;
	}
	return *num_told < sizeof(ways) / sizeof(ways[0]) ? ways[*num_told].after_ms - waited_ms
							  : -1;
}

/* Wait for the child; returns its status. When pdb must end, the child is told to end, too: a gdb
 * would otherwise hold its rank without limit. */
static int wait_for_end(pid_t pid, const struct child_watch *watch)
{
	struct pollfd fds[] = {{.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN},
			       {.fd = interrupt_fd(), .events = POLLIN}};
	uint64_t since_ns = 0;
	size_t num_told = 0;
	int status = 0;

	while (fds[0].fd >= 0 && !fds[0].revents) {
		int timeout_ms = -1;

		if (interrupt_wants_end()) {
			since_ns = since_ns ? since_ns : monotonic_ns();
			timeout_ms = tell_to_end(pid, watch,
						 (int)((monotonic_ns() - since_ns) / 1000000),
						 &num_told);
		}
		interrupt_drain();
		if (poll(fds, 2, timeout_ms) < 0 && errno != EINTR)
			break;
	}
	if (fds[0].fd >= 0)
		close(fds[0].fd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int child_run(const char *const argv[], const char *remove_env, int output_fd,
	      const struct child_watch *watch, int *status_ret, struct pdb_error *err)
{
	struct program program = {argv, remove_env, output_fd, getpid()};
	struct child_hold hold;
	int status = 0, result;
	pid_t pid = 0;

	child_hold_terminal(&hold);
	result = child_start(become, &program, &pid);
	if (!result && watch)
		watch->started(watch->context, pid);
	if (!result)
		status = wait_for_end(pid, watch);
	child_release_terminal(&hold);
	if (result) {
		errno = result;
		return error_errno(err, "cannot run %s", argv[0]);
	}
	if (hold.has_terminal && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)
		putchar('\n'); /* behind the terminal's ^C */
	*status_ret = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return 0;
}
