/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/start/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/launchers/launcher.h"
#include "attach/launchers/words.h"
#include "attach/process/procfs.h"
#include "model/job/job.h"
#include "model/job/model.h"
#include "model/job/proctable.h"
#include "model/monotonic.h"
#include "model/segment/segment.h"
#include "model/segment/segment_reader.h"
#include "shell/interrupt.h"
#include "shell/line/editor.h"
#include "shell/options/options.h"
#include "shell/session.h"
#include "shell/start/child.h"
#include "shell/start/find.h"
#include "shell/start/preload.h"

#define WAIT_NS UINT64_C(30000000000)
#define POLL_NS UINT64_C(100000000)
#define SLOW_POLL_NS UINT64_C(1000000000) /* after a long time */
#define END_NS UINT64_C(5000000000)

struct launch {
	pid_t pid;
	int pidfd; /* -1: signals are not passed on */
	bool has_ended;
	bool is_told; /* it has ended */
	int status;   /* status of wait(), once it has ended */
};

/* The recorder of the MPI that the user named, else all recorders: each recognises its own
 * programs. */
static int find_recorders(const struct options *options, char **paths_ret, struct pdb_error *err)
{
	char mpirun[] = "mpirun";
	char *const default_argv[] = {mpirun, NULL};
	enum preload_mpi mpi = (enum preload_mpi)options->program.mpi;

	if (mpi)
		return preload_find(mpi, paths_ret, err);
	mpi = preload_guess(options->run_argv ? options->run_argv : default_argv);
	return preload_find_all(mpi, paths_ret, err);
}

int launch_print_env(const struct options *options, struct pdb_error *err)
{
	char *library, *lines;
	bool is_written;

	if (options->program.wants_unset) {
		lines = preload_unset_lines();
	} else if (find_recorders(options, &library, err) < 0) {
		return -1;
	} else {
		lines = preload_shell_lines((enum preload_mpi)options->program.mpi, library);
		free(library);
	}
	/* A shell reads these bytes, so they bypass the gate. */
	is_written = dprintf(STDOUT_FILENO, "%s", lines) >= 0;
	free(lines);
	return is_written ? 0 : error_errno(err, "cannot write the lines");
}

/* ---- Starting ---- */

struct program {
	char *const *argv;
	const char *output; /* NULL: the terminal */
	bool has_input;
};

static int become(void *context)
{
	const struct program *program = context;
	int out;

	setpgid(0, 0);
	if (!program->has_input)
		dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
	if (program->output) {
		out = open(program->output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
		if (out < 0)
			return errno;
		dup2(out, STDOUT_FILENO);
		dup2(out, STDERR_FILENO);
	}
	execvp(program->argv[0], program->argv);
	return errno;
}

/* Traced ranks of this host pass their segments to this process when they end. */
static void set_keeper(void)
{
	char host[256] = "", *text;

	gethostname(host, sizeof(host) - 1);
	text = xasprintf("%d@%s", (int)getpid(), host);
	setenv(PDB_ENV_KEEPER, text, 1);
	free(text);
}

int launch_start(const struct options *options, struct launch **ret, struct pdb_error *err)
{
	struct program program = {
		.output = options->program.output,
		/* A background process that reads from the terminal would be stopped. */
		.has_input = options->program.is_watched && !isatty(STDIN_FILENO),
	};
	char *library, **argv;
	pid_t pid = 0;
	int error;

	if (find_recorders(options, &library, err) < 0)
		return -1;
	if (options->program.trace)
		setenv(PDB_ENV_TRACE, options->program.trace, 1);
	if (options->program.trace_filter)
		setenv(PDB_ENV_TRACE_FILTER, options->program.trace_filter, 1);
	if (options->watch.save)
		set_keeper();
	argv = preload_command(options->run_argv, library);
	program.argv = argv;
	error = child_start(become, &program, &pid);
	words_free(argv);
	free(library);
	if (error) {
		errno = error;
		return error_errno(err, "cannot run %s", options->run_argv[0]);
	}
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->pid = pid;
	(*ret)->pidfd = -1;
	return 0;
}

void launch_pass_signals(struct launch *launch)
{
	launch->pidfd = (int)syscall(SYS_pidfd_open, launch->pid, 0);
	if (launch->pidfd >= 0)
		interrupt_pass_on(launch->pidfd);
}

bool launch_is_script(const struct launch *launch)
{
	struct launcher_info info;

	return launcher_identify(launch->pid, &info, NULL) < 0 || info.pid != launch->pid;
}

void launch_terminate(const struct launch *launch)
{
	if (!launch->has_ended)
		kill(launch->pid, SIGTERM);
}

/* ---- Waiting for the ranks ---- */

static bool has_ended(struct launch *launch)
{
	if (!launch->has_ended && waitpid(launch->pid, &launch->status, WNOHANG) == launch->pid)
		launch->has_ended = true;
	return launch->has_ended;
}

/* Does the process have a recorder, and has it left MPI_Init? */
static bool is_recorded(pid_t pid)
{
	int fd = segment_open_pid(pid, NULL);
	struct model *model = NULL;
	bool yes;

	if (fd < 0)
		return false;
	yes = segment_read(fd, &model, NULL) == 0 && model->life != SEG_LIFE_STARTING;
	model_destroy(model);
	close(fd);
	return yes;
}

static bool all_are_recorded(const struct proctable *table)
{
	for (size_t i = 0; i < table->num_procs; i++)
		if (proc_is_here(&table->procs[i]) && !is_recorded(table->procs[i].pid))
			return false;
	return table->num_procs > 0;
}

static bool is_ready(const struct launch *launch)
{
	struct launcher_hosts hosts;
	struct launcher_info info;
	struct proctable *table;
	bool ready;

	if (find_job(launch->pid, NULL, &info, &hosts, &table, NULL) < 0)
		return false;
	ready = (all_are_recorded(table) && find_is_complete(table, &hosts)) ||
		(hosts.num > 0 && table->num_procs == 0);
	launcher_hosts_deinit(&hosts);
	proctable_destroy(table);
	return ready;
}

static void describe_end(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "signal %d", WTERMSIG(status));
	else
		snprintf(text, size, "status %d", WEXITSTATUS(status));
}

int launch_attach(struct launch *launch, struct session *session, struct pdb_error *err)
{
	uint64_t begin = monotonic_ns(), poll_ns = POLL_NS;
	char how[32];

	while (!has_ended(launch) && !is_ready(launch) && monotonic_ns() < begin + WAIT_NS) {
		if (monotonic_ns() - begin > WAIT_NS / 3)
			poll_ns = SLOW_POLL_NS;
		if (!interrupt_sleep_until(monotonic_ns() + poll_ns))
			break;
	}
	interrupt_clear();
	if (has_ended(launch)) {
		describe_end(launch->status, how, sizeof(how));
		launch->is_told = true;
		return error_set(err, ERROR_GONE,
				 "the job ended with %s before pdb could look at it", how);
	}
	return session_attach(session, launch->pid, NULL, err);
}

/* ---- The end ---- */

bool launch_has_ended(struct launch *launch, int *status_ret)
{
	if (!has_ended(launch))
		return false;
	launch->is_told = true;
	*status_ret = WIFSIGNALED(launch->status) ? 128 + WTERMSIG(launch->status)
						  : WEXITSTATUS(launch->status);
	return true;
}

void launch_end(struct launch *launch)
{
	uint64_t end = monotonic_ns() + END_NS;

	kill(-launch->pid, SIGTERM);
	while (!has_ended(launch) && monotonic_ns() < end)
		interrupt_sleep_until(monotonic_ns() + POLL_NS / 10);
	if (!has_ended(launch))
		fprintf(stderr, "pdb: the job has not ended yet: pid %d\n", (int)launch->pid);
}

void launch_finish(struct launch *launch, struct session *session)
{
	char how[32];

	if (!launch)
		return;
	if (has_ended(launch)) {
		describe_end(launch->status, how, sizeof(how));
		if (!launch->is_told)
			fprintf(stderr, "pdb: the job has ended with %s\n", how);
	} else if (session->editor && !interrupt_wants_end() &&
		   editor_confirm(session, "The job is still running. End it?")) {
		struct leftovers *leftovers = leftovers_note(session);

		launch_end(launch);
		leftovers_remove(leftovers);
	} else {
		fprintf(stderr, "pdb: the job goes on: pid %d\n", (int)launch->pid);
	}
	if (launch->pidfd >= 0) {
		interrupt_pass_on(-1);
		close(launch->pidfd);
	}
	free(launch);
}

/* ---- What an ended job leaves ---- */

/* Ranks may live this long after their launcher, on a busy machine. */
#define LEFT_WAIT_NS UINT64_C(10000000000)
#define LEFT_POLL_NS UINT64_C(10000000)

struct leftovers {
	struct segment_process *processes;
	size_t num;
};

struct leftovers *leftovers_note(const struct session *session)
{
	const struct proctable *table = session->job ? session->job->proctable : NULL;
	struct leftovers *leftovers = xcalloc(1, sizeof(*leftovers));
	struct procfs_stat stat;

	if (!table)
		return leftovers;
	leftovers->processes = xcalloc(table->num_procs, sizeof(*leftovers->processes));
	for (size_t i = 0; i < table->num_procs; i++) {
		const struct proc *proc = &table->procs[i];

		if (proc_is_here(proc) && procfs_stat(proc->pid, 0, &stat) == 0)
			leftovers->processes[leftovers->num++] =
				(struct segment_process){proc->pid, stat.start_ticks};
	}
	return leftovers;
}

/* A killed process ends thread by thread. Its segment is in use until the last thread has ended,
 * even if the process is a zombie. */
static bool is_alive(const struct segment_process *process)
{
	struct procfs_stat stat;

	return procfs_stat(process->pid, 0, &stat) == 0 && stat.start_ticks == process->start &&
	       (stat.state != 'Z' || stat.num_threads > 1);
}

void leftovers_remove(struct leftovers *leftovers)
{
	uint64_t until_ns = monotonic_ns() + LEFT_WAIT_NS;

	if (!leftovers)
		return;
	for (size_t i = 0; i < leftovers->num; i++)
		while (is_alive(&leftovers->processes[i]) && monotonic_ns() < until_ns &&
		       interrupt_sleep_until(monotonic_ns() + LEFT_POLL_NS))
			;
	/* Failures do not matter here: "pdb clean" says why. */
	if (leftovers->num)
		segment_clean(NULL, leftovers->processes, leftovers->num, NULL);
	free(leftovers->processes);
	free(leftovers);
}
