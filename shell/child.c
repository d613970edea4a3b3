/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "model/error.h"
#include "model/xalloc.h"
#include "shell/child.h"

/* The environment without one variable; the strings are borrowed, the caller frees the array. */
static char **environment_without(const char *name)
{
	size_t num = 0, kept = 0, length = name ? strlen(name) : 0;
	char **copy;

	while (environ[num])
		num++;
	copy = xcalloc(num + 1, sizeof(char *));
	for (size_t i = 0; i < num; i++)
		if (!name || strncmp(environ[i], name, length) != 0 || environ[i][length] != '=')
			copy[kept++] = environ[i];
	return copy;
}

/* A child that died badly may leave the terminal raw, or itself its owner. */
static void take_terminal_back(const struct termios *saved)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, old;

	sigaction(SIGTTOU, &ignore, &old);
	tcsetpgrp(STDIN_FILENO, getpgrp());
	tcsetattr(STDIN_FILENO, TCSADRAIN, saved);
	sigaction(SIGTTOU, &old, NULL);
}

static int spawn(const char *const argv[], const char *remove_env, int output_fd, pid_t *pid_ret)
{
	char **env = environment_without(remove_env);
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t defaults;
	int result;

	sigemptyset(&defaults);
	sigaddset(&defaults, SIGINT);
	sigaddset(&defaults, SIGQUIT);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&actions);
	if (output_fd != STDOUT_FILENO)
		posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO);
	result = posix_spawnp(pid_ret, argv[0], &actions, &attr, (char **)argv, env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	free(env);
	return result;
}

int child_run(const char *const argv[], const char *remove_env, int output_fd, int *status_ret,
	      struct pdb_error *err)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, old_int, old_quit;
	struct termios terminal;
	bool has_terminal =
		tcgetpgrp(STDIN_FILENO) == getpgrp() && tcgetattr(STDIN_FILENO, &terminal) == 0;
	int status = 0, result;
	pid_t pid;

	fflush(NULL);
	sigaction(SIGINT, &ignore, &old_int);
	sigaction(SIGQUIT, &ignore, &old_quit);
	result = spawn(argv, remove_env, output_fd, &pid);
	while (!result && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGQUIT, &old_quit, NULL);
	sigaction(SIGINT, &old_int, NULL);
	if (result) {
		errno = result;
		return error_errno(err, "cannot run %s", argv[0]);
	}
	if (has_terminal)
		take_terminal_back(&terminal);
	*status_ret = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return 0;
}
