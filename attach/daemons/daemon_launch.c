/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/daemons/daemon_launch.h"
#include "attach/launchers/daemon_plan.h"
#include "attach/launchers/launcher_kind.h"
#include "attach/launchers/words.h"

#define GRACE_MS 1000 /* after a SIGTERM: a launcher ends what it has started on other nodes */
#define LAST_MS 5000  /* after the last one: a busy machine */

/* Does the variable tell a process which rank of which job it is? */
static bool is_identity(const char *variable)
{
	for (size_t i = 0; launcher_kinds[i]; i++)
		if (launcher_variables_have(&launcher_kinds[i]->identity, variable))
			return true;
	return strncmp(variable, "LD_PRELOAD=", 11) == 0;
}

/* The caller frees it with words_free(). */
static char **make_environment(const struct daemon_plan *plan)
{
	const char *const *added = (const char *const *)plan->environment;
	struct words words = {.words = NULL};

	for (char **variable = environ; *variable; variable++)
		if (!is_identity(*variable) && !words_variable(added, *variable) &&
		    !(plan->allocation &&
		      launcher_variables_have(&plan->allocation->own, *variable)))
			words_add(&words, *variable);
	/* An empty LD_PRELOAD is as good as none, but looks like a mistake to ld.so of old. */
	for (; *added; added++)
		if (strncmp(*added, "LD_PRELOAD=", 11) != 0)
			words_add(&words, *added);
	return words.words;
}

static void __attribute__((noreturn))
run(const struct daemon_plan *plan, char **environment, int output, pid_t parent)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	dup2(null, 0);
	dup2(output, 1);
	dup2(output, 2);
	close_range(3, ~0u, 0);
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	execve(plan->argv[0], plan->argv, environment);
	dprintf(2, "%s: %s", plan->argv[0], strerror(errno));
	_exit(127);
}

int daemon_launch_start(const struct daemon_plan *plan, struct daemon_launch *ret,
			struct pdb_error *err)
{
	int output = memfd_create("pdb-launcher-output", MFD_CLOEXEC);
	pid_t parent = getpid();

	if (output < 0)
		return error_errno(err, "cannot make a file in memory");
	char **environment = make_environment(plan);
	pid_t child = fork();
	if (child == 0)
		run(plan, environment, output, parent);
	words_free(environment);
	if (child < 0) {
		close(output);
		return error_errno(err, "cannot fork");
	}
	*ret = (struct daemon_launch){.pid = child, .output = output, .kind = plan->kind};
	return 0;
}

/* The words of the text in one line, without those that are rules ("------"). */
static void put_in_line(char *text)
{
	char *save, *to = text;

	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		size_t length = strlen(word);

		if (length > 3 && strspn(word, "-=*") == length)
			continue;
		if (to != text)
			*to++ = ' ';
		memmove(to, word, length);
		to += length;
	}
	*to = '\0';
}

/* The end of what the launcher has printed. */
static void read_output(int output, char *buffer, size_t size)
{
	off_t end = lseek(output, 0, SEEK_END);
	off_t begin = end > (off_t)size - 1 ? end - ((off_t)size - 1) : 0;
	ssize_t length = pread(output, buffer, size - 1, begin);

	buffer[length > 0 ? length : 0] = '\0';
	for (char *c = buffer; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	put_in_line(buffer);
}

static void reap(struct daemon_launch *launch)
{
	while (waitpid(launch->pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (launch->kind && launch->kind->clean_up)
		launch->kind->clean_up(launch->pid);
	close(launch->output);
	launch->pid = 0;
}

int daemon_launch_check(struct daemon_launch *launch, struct pdb_error *err)
{
	siginfo_t info = {.si_pid = 0};
	char text[512];

	if (launch->pid == 0)
		return error_set(err, ERROR_GONE, "the launcher of the daemons has ended");
	if (waitid(P_PID, launch->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
		return 0;
	read_output(launch->output, text, sizeof(text));
	reap(launch);
	return error_set(err, ERROR_GONE, "the launcher of the daemons has ended%s%s",
			 *text ? ": " : "", text);
}

static bool has_ended(pid_t pid, int timeout_ms)
{
	struct pollfd poll_fd = {.fd = syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	bool has = poll_fd.fd < 0 || poll(&poll_fd, 1, timeout_ms) > 0;

	if (poll_fd.fd >= 0)
		close(poll_fd.fd);
	return has;
}

void daemon_launch_stop(struct daemon_launch *launch, int timeout_ms)
{
	if (launch->pid == 0)
		return;
	bool has = has_ended(launch->pid, timeout_ms);

	/* Where a host is cut off, an mpirun waits for it in vain. Only at the third signal it ends
	 * whatever its daemons say, and removes its files. */
	for (int i = 0; i < 3 && !has; i++) {
		kill(launch->pid, SIGTERM);
		has = has_ended(launch->pid, i < 2 ? GRACE_MS : LAST_MS);
	}
	if (!has)
		kill(launch->pid, SIGKILL);
	reap(launch);
}
