/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/verdict/verdict.h"
#include "model/job/job.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/monotonic.h"
#include "render/text/text.h"
#include "render/view.h"
#include "render/words/label.h"
#include "shell/answers/keep_variables.h"
#include "shell/interrupt.h"
#include "shell/start/launch.h"
#include "shell/answers/report_file.h"
#include "shell/session.h"
#include "model/wire/share.h"
#include "shell/watch/watch.h"
#include "shell/options/options.h"
#include "shell/watch/watch_tell.h"

#define POLL_NS (SECOND_NS / 50)
#define COMMAND_GRACE_NS (2 * SECOND_NS)
#define END_NS (30 * SECOND_NS) /* how long a launcher may take to end its job */

static void tell_failure(struct watch_teller *teller, struct pdb_error *err, const char *what)
{
	watch_tell_note(teller, "failure", "%s: %s", what, err->text);
}

static int check_report(const char *path, struct pdb_error *err)
{
	struct stat st;
	int fd;

	if (stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			errno = EISDIR;
		else if (access(path, W_OK) == 0)
			return 0;
		return error_errno(err, "%s", path);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno(err, "%s", path);
	close(fd);
	unlink(path);
	return 0;
}

int watch_hang_check(const struct watch_options *options, struct pdb_error *err)
{
	if (options->save && snapshot_check_path(options->save, err) < 0)
		return error_prefix(err, "--save");
	if (options->report && check_report(options->report, err) < 0)
		return error_prefix(err, "--report");
	if (options->save && options->report && strcmp(options->save, options->report) == 0)
		return error_set(err, ERROR_USAGE,
				 "--save and --report need different files, not both %s",
				 options->save);
	return 0;
}

static void save(struct session *session, const char *path, struct watch_teller *teller)
{
	struct pdb_error err;

	/* Without the traces of other hosts, the rest is still worth saving. */
	if (session_get_more(session, NULL, SHARE_TRACES, &err) < 0)
		tell_failure(teller, &err, "no traces");
	session->has_saved = true;
	keep_variables(session);
	if (snapshot_save(session->job, path, &err) < 0)
		tell_failure(teller, &err, "no snapshot");
	else
		watch_tell_note(teller, "saved", "snapshot: pdb --load %s", path);
}

static void report(struct session *session, const char *path, const struct watch_hang *hang,
		   struct watch_teller *teller)
{
	char *still SCOPED(free) = watch_standstill_text(&hang->still);
	char *about SCOPED(free) =
		xasprintf("Hang: %s; nobody %s, the job was watched for %.1f s.",
			  watch_kind_text(session->verdict), still, hang->watched_ns / 1e9);
	struct pdb_error err, undrawn;
	int result = report_file_write(session, path, about, &undrawn, &err);

	if (undrawn.code != ERROR_NONE)
		tell_failure(teller, &undrawn, "no pictures in the report");
	if (result < 0)
		tell_failure(teller, &err, "no report");
	else
		watch_tell_note(teller, "reported", "report: %s", path);
}

/* ---- The user's command ---- */

static void set_number(const char *name, double value)
{
	char text[40];

	snprintf(text, sizeof(text), "%.10g", value);
	setenv(name, text, 1);
}

/* As fork(), but the child gets its own process group, so that all its processes can be ended. */
static pid_t fork_group(void)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid >= 0)
		setpgid(pid, pid); /* parent and child both do this; the first one wins */
	return pid;
}

/* What the system knows of the first culprit's process. */
static void set_process(const struct session *session, int rank)
{
	struct arena *arena = arena_create();
	struct view view = session_view((struct session *)session, arena);
	const char *text = rank >= 0 ? label_process(&view, rank) : NULL;

	setenv("PDB_HANG_PROCESS", text ? text_of(&view, "rank %d: %s", rank, text) : "", 1);
	arena_destroy(arena);
}

/* In the child: pass the facts about the hang in variables. */
static void set_facts(const struct session *session, const struct watch_options *options,
		      const struct watch_hang *hang)
{
	const struct verdict *verdict = session->verdict;
	const struct proctable *table = session->job->proctable;
	char *ranks SCOPED(free) = rankset_encode(verdict->culprits, 0);

	setenv("PDB_HANG_KIND", watch_kind_text(verdict), 1);
	setenv("PDB_HANG_RANKS", ranks, 1);
	set_process(session, rankset_first(verdict->culprits));
	set_number("PDB_HANG_SECONDS", hang->still.ns / 1e9);
	setenv("PDB_JOB", table->job ? table->job : "", 1);
	set_number("PDB_JOB_SIZE", table->size);
	set_number("PDB_LAUNCHER_PID", session->launcher.pid);
	setenv("PDB_SNAPSHOT", options->save ? options->save : "", 1);
	setenv("PDB_REPORT", options->report ? options->report : "", 1);
}

/* No input that it could wait for; its output must not mix with JSON lines. */
static void set_streams(const struct watch_options *options)
{
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (in >= 0)
		dup2(in, STDIN_FILENO);
	if (options->wants_json)
		dup2(STDERR_FILENO, STDOUT_FILENO);
}

static void __attribute__((noreturn))
become(const struct session *session, const struct watch_options *options,
       const struct watch_hang *hang)
{
	const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
	set_facts(session, options, hang);
	set_streams(options);
	execl("/bin/sh", "sh", "-c", options->on_hang, (char *)NULL);
	_exit(127);
}

/* Wait: has the child ended by then? */
static bool wait_child(pid_t pid, uint64_t until_ns, int *status)
{
	for (;;) {
		if (waitpid(pid, status, WNOHANG) == pid)
			return true;
		if (monotonic_ns() >= until_ns || interrupt_wants_end())
			return false;
		if (!interrupt_sleep_until(monotonic_ns() + POLL_NS))
			return false;
	}
}

/* Wait: is the child a zombie by then? It is not reaped, so its process group stays reserved.
 * Signals to pdb do not shorten this. */
static bool dies(pid_t pid, uint64_t until_ns)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};

	while (monotonic_ns() < until_ns) {
		siginfo_t info = {.si_pid = 0};

		if (waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* End the child with its process group. False: it does not die, as it is inside the kernel. */
static bool end_child(pid_t pid)
{
	const int signals[] = {SIGTERM, SIGKILL};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		kill(-pid, signals[i]);
		/* One that is stopped hears nothing. */
		kill(-pid, SIGCONT);
		if (!dies(pid, monotonic_ns() + COMMAND_GRACE_NS))
			continue;
		kill(-pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return true;
	}
	return false;
}

static void tell_ended_early(pid_t pid, uint64_t began_ns, struct watch_teller *teller)
{
	const char *why = interrupt_pending() ? "interrupted" : "not done";
	struct label_time time = label_time(monotonic_ns() - began_ns);

	if (end_child(pid))
		watch_tell_note(teller, "failure", "--on-hang: %s after %s; pdb ended it", why,
				time.text);
	else
		watch_tell_note(teller, "failure", "--on-hang: %s after %s; pdb cannot end pid %d",
				why, time.text, (int)pid);
}

/* The command's time is limited: the job wastes computing time meanwhile. */
static void run_command(const struct session *session, const struct watch_options *options,
			const struct watch_hang *hang, struct watch_teller *teller)
{
	uint64_t began_ns = monotonic_ns();
	struct pdb_error err;
	int status = 0;
	pid_t pid;

	pid = fork_group();
	if (pid == 0)
		become(session, options, hang);
	if (pid < 0) {
		error_errno(&err, "cannot start the command");
		tell_failure(teller, &err, "--on-hang");
		return;
	}
	if (!wait_child(pid, began_ns + (uint64_t)(options->on_hang_s * SECOND_NS), &status))
		tell_ended_early(pid, began_ns, teller);
	else if (WIFSIGNALED(status))
		watch_tell_note(teller, "failure", "--on-hang: ended by signal %d",
				WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		watch_tell_note(teller, "failure", "--on-hang: ended with status %d",
				WEXITSTATUS(status));
}

/* ---- The job's end ---- */

static bool launcher_ends(struct session *session, uint64_t until_ns)
{
	while (!session_has_ended(session)) {
		if (monotonic_ns() >= until_ns || interrupt_wants_end())
			return false;
		interrupt_clear();
		interrupt_sleep_until(monotonic_ns() + POLL_NS);
	}
	return true;
}

/* Slurm's controller ends the step on all nodes, also on those that srun cannot reach. False: not
 * tried. */
static bool cancel_step(struct session *session)
{
	struct launcher_step step;
	int status;
	pid_t pid;

	launcher_read_step(&session->launcher, &step);
	/* Another user's srun may name a job that is not that user's. */
	if (!*step.job || !*step.step || launcher_check_own(&session->launcher, NULL) < 0)
		return false;
	pid = fork_group();
	if (pid == 0) {
		char name[40];

		snprintf(name, sizeof(name), "%s.%s", step.job, step.step);
		execlp("scancel", "scancel", "--quiet", name, (char *)NULL);
		_exit(127);
	}
	if (pid < 0)
		return false;
	if (!wait_child(pid, monotonic_ns() + END_NS, &status)) {
		end_child(pid);
		return false;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Launchers end all ranks at SIGTERM, in their own time. A second SIGTERM makes Open MPI's launcher
 * hurry. */
static void end_job(struct session *session, struct watch_teller *teller)
{
	uint64_t end_ns = monotonic_ns() + END_NS;
	struct leftovers *leftovers = leftovers_note(session);
	bool is_cancelled = cancel_step(session);

	if (is_cancelled)
		launcher_ends(session, monotonic_ns() + END_NS / 3);
	for (int i = 0; i < 2 && !session_has_ended(session); i++) {
		syscall(SYS_pidfd_send_signal, session->launcher_fd, SIGTERM, NULL, 0);
		/* One that is stopped hears nothing. */
		syscall(SYS_pidfd_send_signal, session->launcher_fd, SIGCONT, NULL, 0);
		launcher_ends(session, monotonic_ns() + END_NS / 3);
	}
	if (launcher_ends(session, end_ns))
		watch_tell_note(teller, "killed", "the launcher has ended the job");
	else
		watch_tell_note(teller, "failure",
				"pdb told the launcher, pid %d, to end the job, but it still runs",
				(int)session->launcher.pid);
	leftovers_remove(leftovers);
}

void watch_hang_act(struct session *session, const struct watch_options *options,
		    const struct watch_hang *hang, struct watch_teller *teller)
{
	if (options->save)
		save(session, options->save, teller);
	if (options->report)
		report(session, options->report, hang, teller);
	if (options->on_hang)
		run_command(session, options, hang, teller);
	if (options->wants_kill)
		end_job(session, teller);
}
