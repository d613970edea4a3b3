/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/verdict.h"
#include "model/error.h"
#include "model/job.h"
#include "model/monotonic.h"
#include "model/proctable.h"
#include "model/rankset.h"
#include "model/xalloc.h"
#include "shell/banner.h"
#include "shell/command.h"
#include "shell/interrupt.h"
#include "shell/session.h"
#include "shell/watch.h"
#include "shell/watch_hang.h"
#include "shell/watch_options.h"
#include "shell/watch_tell.h"

#define SECOND_NS UINT64_C(1000000000)
#define POLL_NS (SECOND_NS / 50)
#define COMMAND_SECONDS 60 /* of --on-hang */
#define COMMAND_GRACE_NS (2 * SECOND_NS)
#define END_NS (30 * SECOND_NS) /* how long a launcher may take to end its job */

static void tell_failure(struct watch_teller *teller, struct pdb_error *err, const char *what)
{
	watch_tell_note(teller, "failure", "%s: %s", what, err->text);
}

/* ---- Snapshot and report --------------------------------------------------------------------- */

static void save(struct session *session, const char *path, struct watch_teller *teller)
{
	struct pdb_error err;

	if (snapshot_save(session->job, path, &err) < 0)
		tell_failure(teller, &err, "no snapshot");
	else
		watch_tell_note(teller, "saved", "snapshot: pdb --load %s", path);
}

/* One command as the user would type it, its output among that of the others. */
static void report_command(struct session *session, const char *line)
{
	struct pdb_error err;

	fprintf(session->out, "\n---- %s\n\n", line);
	if (command_execute(session, line, &err) < 0)
		fprintf(session->out, "%s\n", err.text);
}

static void write_report(struct session *session, const struct watch_hang *hang)
{
	static const char *const lines[] = {"lp",   "groups", "waits",   "progress",
					    "tree", "bt lp",  "info job"};
	const struct verdict *verdict = session->verdict;
	int waiting = rankset_first(verdict->waiting), culprit = rankset_first(verdict->culprits);
	char line[40];

	banner_print(session, session->out);
	banner_print_holes(session, session->out);
	fprintf(session->out,
		"Hang: %s; nobody has moved for %.1f s, the job was watched for %.1f s.\n",
		watch_kind_text(verdict), hang->still_ns / 1e9, hang->watched_ns / 1e9);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		report_command(session, lines[i]);
	if (session->job->model && culprit >= 0) {
		snprintf(line, sizeof(line), "history %d 20", culprit);
		report_command(session, line);
	}
	if (session->job->model && waiting >= 0) {
		snprintf(line, sizeof(line), "why %d", waiting);
		report_command(session, line);
	}
}

static void report(struct session *session, const char *path, const struct watch_hang *hang,
		   struct watch_teller *teller)
{
	FILE *outer = session->out, *file = fopen(path, "we");
	struct pdb_error err;

	if (!file) {
		error_errno(&err, "cannot write to %s", path);
		tell_failure(teller, &err, "no report");
		return;
	}
	session->out = file;
	write_report(session, hang);
	session->out = outer;
	if (ferror(file) | fclose(file)) {
		error_errno(&err, "cannot write to %s", path);
		tell_failure(teller, &err, "no report");
	} else {
		watch_tell_note(teller, "reported", "report: %s", path);
	}
}

/* ---- The user's command ---------------------------------------------------------------------- */

static void set_number(const char *name, double value)
{
	char text[40];

	snprintf(text, sizeof(text), "%.10g", value);
	setenv(name, text, 1);
}

/* In the child: what is known of the hang. */
static void set_facts(const struct session *session, const struct watch_options *options,
		      const struct watch_hang *hang)
{
	const struct verdict *verdict = session->verdict;
	const struct proctable *table = session->job->proctable;
	char *ranks = rankset_encode(verdict->culprits, 0);

	setenv("PDB_HANG_KIND", watch_kind_text(verdict), 1);
	setenv("PDB_HANG_RANKS", ranks, 1);
	set_number("PDB_HANG_SECONDS", hang->still_ns / 1e9);
	setenv("PDB_JOB", table->job ? table->job : "", 1);
	set_number("PDB_JOB_SIZE", table->size);
	set_number("PDB_LAUNCHER_PID", session->launcher.pid);
	setenv("PDB_SNAPSHOT", options->save ? options->save : "", 1);
	setenv("PDB_REPORT", options->report ? options->report : "", 1);
	free(ranks);
}

static void __attribute__((noreturn))
become(const struct session *session, const struct watch_options *options,
       const struct watch_hang *hang)
{
	const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

	setpgid(0, 0);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
	set_facts(session, options, hang);
	execl("/bin/sh", "sh", "-c", options->on_hang, (char *)NULL);
	_exit(127);
}

/* Has the child ended by then? */
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

/* It gets its time, and no more: the job burns its own meanwhile. */
static void run_command(const struct session *session, const struct watch_options *options,
			const struct watch_hang *hang, struct watch_teller *teller)
{
	struct pdb_error err;
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		become(session, options, hang);
	if (pid < 0) {
		error_errno(&err, "it cannot be started");
		tell_failure(teller, &err, "--on-hang");
		return;
	}
	setpgid(pid, pid);
	if (!wait_child(pid, monotonic_ns() + COMMAND_SECONDS * SECOND_NS, &status)) {
		kill(-pid, SIGTERM);
		if (!wait_child(pid, monotonic_ns() + COMMAND_GRACE_NS, &status)) {
			kill(-pid, SIGKILL);
			waitpid(pid, &status, 0);
		}
		watch_tell_note(teller, "failure", "--on-hang: ended after %d s", COMMAND_SECONDS);
	} else if (WIFSIGNALED(status)) {
		watch_tell_note(teller, "failure", "--on-hang: ended by signal %d",
				WTERMSIG(status));
	} else if (WEXITSTATUS(status) != 0) {
		watch_tell_note(teller, "failure", "--on-hang: ended with status %d",
				WEXITSTATUS(status));
	}
}

/* ---- The job's end --------------------------------------------------------------------------- */

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

/* The controller ends the step on all its nodes, also what srun cannot reach. False: not tried. */
static bool cancel_step(struct session *session)
{
	struct launcher_step step;
	int status;
	pid_t pid;

	launcher_slurm_step(&session->launcher, &step);
	if (!*step.job || !*step.step)
		return false;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		char name[40];

		snprintf(name, sizeof(name), "%s.%s", step.job, step.step);
		execlp("scancel", "scancel", "--quiet", name, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || !wait_child(pid, monotonic_ns() + END_NS, &status))
		return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Launchers end their ranks at SIGTERM, on all hosts, with their own time limits; a second one
 * makes those of Open MPI hurry. */
static void end_job(struct session *session, struct watch_teller *teller)
{
	uint64_t end_ns = monotonic_ns() + END_NS;
	bool is_cancelled = session->launcher.kind == LAUNCHER_SRUN && cancel_step(session);

	if (is_cancelled)
		launcher_ends(session, monotonic_ns() + END_NS / 3);
	for (int i = 0; i < 2 && !session_has_ended(session); i++) {
		syscall(SYS_pidfd_send_signal, session->launcher_fd, SIGTERM, NULL, 0);
		/* One that is stopped hears nothing. */
		syscall(SYS_pidfd_send_signal, session->launcher_fd, SIGCONT, NULL, 0);
		launcher_ends(session, monotonic_ns() + END_NS / 3);
	}
	if (launcher_ends(session, end_ns))
		watch_tell_note(teller, "killed", "the job has been ended by its launcher");
	else
		watch_tell_note(teller, "failure",
				"the launcher, pid %d, was told to end the job and has not yet",
				(int)session->launcher.pid);
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
