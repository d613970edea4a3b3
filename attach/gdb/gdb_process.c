/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "attach/gdb/gdb_call.h"
#include "attach/gdb/gdb_guard.h"
#include "attach/gdb/gdb_order.h"
#include "attach/gdb/gdb_process.h"
#include "attach/process/procfs.h"

/* "gdb" in one of the folders of `path`; the caller frees. NULL: in none. */
static char *find_in(const char *path)
{
	while (path && *path) {
		size_t length = strcspn(path, ":");
		char file[4096];
		struct stat status;

		snprintf(file, sizeof(file), "%.*s/gdb", (int)length, path);
		if (length > 0 && stat(file, &status) == 0 && S_ISREG(status.st_mode) &&
		    access(file, X_OK) == 0)
			return xstrdup(file);
		path += length + (path[length] == ':');
	}
	return NULL;
}

/* The gdb that the user's shell finds, if it is here, too; else this node's. */
static char *find_gdb(const struct gdb_order *order)
{
	char *file = NULL;

	for (size_t i = 0; !file && i < order->num_environment; i++)
		if (gdb_order_is_variable(order->environment[i], "PATH"))
			file = find_in(order->environment[i] + 5);
	return file ? file : find_in(getenv("PATH"));
}

/* This process's environment with the order's on top; strings are borrowed, the caller frees. No
 * downloads (see child_run()); the order says how large the terminal is. */
static const char **make_environment(const struct gdb_order *order)
{
	static const char *const removed[] = {"DEBUGINFOD_URLS=", "LINES=", "COLUMNS="};
	size_t num = 0, num_own = 0;
	const char **ret;

	while (environ[num_own])
		num_own++;
	ret = xcalloc(num_own + order->num_environment + 1, sizeof(*ret));
	for (size_t i = 0; i < num_own; i++) {
		bool is_replaced = false;

		for (size_t k = 0; k < sizeof(removed) / sizeof(removed[0]); k++)
			is_replaced |= gdb_order_is_variable(environ[i], removed[k]);
		for (size_t k = 0; k < order->num_environment; k++)
			is_replaced |= gdb_order_is_variable(environ[i], order->environment[k]);
		if (!is_replaced)
			ret[num++] = environ[i];
	}
	for (size_t i = 0; i < order->num_environment; i++)
		ret[num++] = order->environment[i];
	return ret;
}

void gdb_process_resize(int terminal, unsigned rows, unsigned columns)
{
	const struct winsize size = {
		.ws_row = rows < UINT16_MAX ? (uint16_t)rows : UINT16_MAX,
		.ws_col = columns < UINT16_MAX ? (uint16_t)columns : UINT16_MAX,
	};

	ioctl(terminal, TIOCSWINSZ, &size);
}

/* Nobody types: output goes on as it is, and Ctrl-C, the only input, is not shown. */
static void make_plain(int fd)
{
	struct termios modes;

	if (tcgetattr(fd, &modes) < 0)
		return;
	modes.c_oflag &= ~(tcflag_t)OPOST;
	modes.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON);
	tcsetattr(fd, TCSANOW, &modes);
}

/* Both ends of a new terminal; the caller closes what is open also after -1. */
static int open_terminal(const struct gdb_order *order, int *here_ret, int *there_ret)
{
	int here = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), there = -1;
	char name[128];

	if (here < 0)
		return -1;
	if (grantpt(here) == 0 && unlockpt(here) == 0 && ptsname_r(here, name, sizeof(name)) == 0)
		there = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	*here_ret = here;
	*there_ret = there;
	if (there < 0)
		return -1;
	if (order->rows)
		gdb_process_resize(here, order->rows, order->columns);
	else
		make_plain(there);
	return 0;
}

/* In the child: only `kept` is left open, beside the standard ones. */
static void close_others(int kept)
{
	if (kept > 3)
		close_range(3, (unsigned)kept - 1, 0);
	close_range(kept >= 3 ? (unsigned)kept + 1 : 3, ~0U, 0);
}

/* In the child; never returns. */
static void become(const char *file, const struct gdb_call *call, const char *const env[],
		   const char *folder, int terminal, int errors, pid_t parent)
{
	const struct sigaction defaults = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		sigaction(number, &defaults, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	ioctl(terminal, TIOCSCTTY, 0);
	dup2(terminal, 0);
	dup2(terminal, 1);
	dup2(errors >= 0 ? errors : terminal, 2);
	close_others(call->script);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	if (chdir(folder) < 0 && chdir("/") < 0)
		_exit(127);
	execve(file, (char *const *)call->argv, (char *const *)env);
	_exit(127);
}

static int check_rank(pid_t rank, const struct gdb_order *order, struct gdb_process *process,
		      struct pdb_error *err)
{
	struct procfs_stat stat;

	if (procfs_look(rank, 0, &stat, err) < 0 ||
	    procfs_check_tracer(rank, "be debugged", err) < 0)
		return error_prefix(err, "rank %u", order->rank);
	process->start_ticks = stat.start_ticks;
	process->was_stopped = stat.state == 'T';
	return 0;
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

static int spawn(struct gdb_process *process, const char *file, const struct gdb_order *order,
		 int *terminal_ret, int *errors_ret, struct pdb_error *err)
{
	const struct gdb_guard_rank rank = {process->rank, process->start_ticks,
					    process->was_stopped};
	int terminal = -1, there = -1, errors[2] = {-1, -1};
	const char **env = make_environment(order);
	pid_t parent = getpid(), pid = -1;
	struct gdb_call call;

	gdb_call_init(&call, process->rank, order->words, order->num_words);
	if (open_terminal(order, &terminal, &there) == 0 &&
	    (order->rows || pipe2(errors, O_CLOEXEC) == 0))
		pid = fork();
	if (pid == 0)
		become(file, &call, env, order->folder, there, errors[1], parent);
	if (pid < 0)
		error_errno(err, "cannot start gdb");
	gdb_call_deinit(&call);
	free(env);
	close_if_open(there);
	close_if_open(errors[1]);
	if (pid < 0) {
		close_if_open(terminal);
		close_if_open(errors[0]);
		return -1;
	}
	process->guard = gdb_guard_start(&rank, pid);
	process->pid = pid;
	*terminal_ret = terminal;
	*errors_ret = errors[0];
	return 0;
}

int gdb_process_start(struct gdb_process *process, pid_t rank, const struct gdb_order *order,
		      const char *host, int *terminal_ret, int *errors_ret, struct pdb_error *err)
{
	char *file = find_gdb(order);

	*process = (struct gdb_process){.rank = rank};
	if (!file)
		return error_set(err, ERROR_NOT_FOUND,
				 "gdb is not installed on %s, where rank %u runs.\nInstall it "
				 "there, or put its directory into PATH before you start pdb.",
				 host, order->rank);
	int result = check_rank(rank, order, process, err);
	if (result == 0)
		result = spawn(process, file, order, terminal_ret, errors_ret, err);
	free(file);
	return result;
}

void gdb_process_check(struct gdb_process *process)
{
	int status = 0;
	pid_t pid;

	if (process->has_ended)
		return;
	pid = waitpid(process->pid, &status, WNOHANG);
	if (pid != process->pid && !(pid < 0 && errno == ECHILD))
		return;
	gdb_guard_wait(process->guard);
	process->has_ended = true;
	process->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

#define INTERRUPT_MS 300 /* from Ctrl-C to gdb's SIGINT for the rank */

/* A SIGINT has been sent to the process, and not taken by it. */
static bool has_interrupt(pid_t pid)
{
	struct procfs_status status;

	return procfs_status(pid, &status) == 0 && status.shared_pending >> (SIGINT - 1) & 1;
}

/* It is between Ctrl-C and what comes of it. */
static bool is_interrupting(const struct gdb_process *process, uint64_t now_ns)
{
	if (!process->interrupted_ns ||
	    now_ns - process->ending_ns >= GDB_PROCESS_PATIENCE_MS * UINT64_C(1000000))
		return false;
	return has_interrupt(process->pid) || has_interrupt(process->rank) ||
	       (now_ns - process->interrupted_ns < INTERRUPT_MS * UINT64_C(1000000) &&
		gdb_process_rank_state(process) != 't');
}

/* How it is told, and how long after the first time. By SIGHUP and SIGTERM gdb lets the rank go and
 * ends: by SIGTERM in the middle of a command, too. One that is stopped has to be let go on. */
static const struct {
	uint64_t after_ms;
	int signal;
} ways[] = {{0, SIGHUP}, {0, SIGCONT}, {500, SIGTERM}, {500, SIGCONT}, {2000, SIGKILL}};

void gdb_process_end(struct gdb_process *process, uint64_t now_ns)
{
	gdb_process_check(process);
	if (!process->ending_ns)
		process->ending_ns = now_ns;
	if (!process->num_told && !process->has_ended && is_interrupting(process, now_ns)) {
		kill(process->pid, SIGCONT);
		return;
	}
	if (!process->num_told)
		process->told_ns = now_ns;
	while (!process->has_ended && process->num_told < sizeof(ways) / sizeof(ways[0]) &&
	       now_ns - process->told_ns >= ways[process->num_told].after_ms * 1000000) {
		if (ways[process->num_told].signal == SIGKILL &&
		    gdb_process_rank_state(process) != 't')
			return;
		kill(process->pid, ways[process->num_told++].signal);
	}
}

char gdb_process_rank_state(const struct gdb_process *process)
{
	struct procfs_stat stat;

	if (procfs_stat(process->rank, 0, &stat) < 0 || stat.is_ending ||
	    stat.start_ticks != process->start_ticks)
		return 'X';
	return stat.state;
}
