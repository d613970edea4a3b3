/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach/launchers/launcher.h"
#include "model/job/proctable.h"
#include "model/monotonic.h"
#include "render/text/json.h"
#include "shell/answers/document.h"
#include "shell/start/find.h"
#include "shell/interrupt.h"
#include "shell/watch/watch.h"
#include "shell/start/launch.h"
#include "shell/options/options.h"
#include "shell/session.h"
#include "shell/watch/watch_tell.h"

#define POLL_NS (SECOND_NS / 20)
#define END_NS (3 * SECOND_NS)       /* launchers end at most this long after their ranks */
#define RETRY_NS (SECOND_NS / 2)     /* time in which a script starts its next job */
#define RETRY_MAX_NS (5 * SECOND_NS) /* and in which a job gets its nodes */
#define START_NS (10 * SECOND_NS)    /* all ranks exist this soon after the first */
#define EXEC_NS (2 * SECOND_NS)      /* a shell's child becomes the launcher this soon */

enum { STATUS_HANG = 1, STATUS_CANNOT = 2 };

/* The last word for programs. */
static int finish(const struct options *options, const char *how, int status)
{
	struct json json = {.out = stdout};

	if (options->watch.wants_json) {
		json_object(&json, NULL);
		document_write_version(&json);
		json_text(&json, "command", "watch");
		json_text(&json, "event", "end");
		json_text(&json, "how", how);
		json_int(&json, "status", status);
		json_end_object(&json);
		putchar('\n');
		fflush(stdout);
	}
	return status;
}

static int fail(const struct options *options, const struct pdb_error *err)
{
	session_complain(err);
	return finish(options, "error", STATUS_CANNOT);
}

static bool has_all_ranks(pid_t pid, const char *nspace)
{
	struct launcher_hosts hosts;
	struct launcher_info info;
	struct proctable *table;
	bool has_all;

	if (find_job(pid, nspace, &info, &hosts, &table, NULL) < 0)
		return true;
	has_all = find_is_complete(table, &hosts);
	launcher_hosts_deinit(&hosts);
	proctable_destroy(table);
	return has_all;
}

/* Ranks that are missing now would never be watched. Some may never come: they have already
 * ended. */
static void wait_for_ranks(pid_t pid, const char *nspace)
{
	uint64_t until_ns = monotonic_ns() + START_NS;

	while (!has_all_ranks(pid, nspace) && monotonic_ns() < until_ns)
		if (!interrupt_sleep_until(monotonic_ns() + RETRY_NS))
			return;
}

/* A new launcher has no ranks yet, also while it waits for nodes. */
static int attach(struct session *session, pid_t pid, const char *nspace, struct pdb_error *err)
{
	uint64_t begin_ns = monotonic_ns(), retry_ns = RETRY_NS;

	wait_for_ranks(pid, nspace);
	while (session_attach(session, pid, nspace, err) < 0) {
		bool is_early =
			err->code == ERROR_NOT_FOUND ||
			(err->code == ERROR_UNSUPPORTED && monotonic_ns() - begin_ns < EXEC_NS);

		if (!is_early || interrupt_pending() || kill(pid, 0) < 0)
			return -1;
		interrupt_sleep_until(monotonic_ns() + retry_ns);
		if (retry_ns < RETRY_MAX_NS)
			retry_ns += retry_ns / 4;
		wait_for_ranks(pid, nspace);
	}
	return 0;
}

static int watch_running(struct session *session, const struct options *options)
{
	struct pdb_error err;
	enum watch_end end;
	pid_t pid = options->program.pid;

	if ((!pid && joblist_choose(&pid, stdout, &err) < 0) ||
	    attach(session, pid, options->program.nspace, &err) < 0 ||
	    watch_run(session, &options->watch, stdout, &end, &err) < 0)
		return fail(options, &err);
	switch (end) {
	case WATCH_HUNG:
		return finish(options, "hang", STATUS_HANG);
	case WATCH_ENDED:
		return finish(options, "ended", 0);
	default:
		session_note("watching was interrupted; the job goes on");
		return finish(options, "interrupted", STATUS_CANNOT);
	}
}

struct run {
	struct session *session;
	const struct options *options;
	struct launch *launch;
	FILE *out;
	bool was_watched;      /* a job of it was watched or saved */
	struct pdb_error last; /* why the last attempt failed */
};

static bool has_ended_by(struct run *run, uint64_t until_ns, int *status)
{
	while (!launch_has_ended(run->launch, status)) {
		if (monotonic_ns() >= until_ns || interrupt_pending())
			return false;
		interrupt_sleep_until(monotonic_ns() + POLL_NS);
	}
	return true;
}

static int end_with(struct run *run, int status)
{
	if (!run->was_watched && run->last.code != ERROR_NONE && run->last.code != ERROR_GONE) {
		error_prefix(&run->last, "pdb did not watch the job");
		session_complain(&run->last);
	}
	if (status >= 128)
		fprintf(stderr, "pdb: the job has ended by signal %d\n", status - 128);
	else if (status)
		fprintf(stderr, "pdb: the job has ended with status %d\n", status);
	return finish(run->options, "ended", status);
}

/* A job that ended before it could be watched has left its segments. */
static void look_for_kept(struct run *run)
{
	const struct watch_options *options = &run->options->watch;
	struct watch_teller teller;

	if (!options->save)
		return;
	watch_tell_init(&teller, run->session, run->out, options->wants_json);
	last_look_clean(run->session, options->save, &teller);
	run->was_watched |= run->session->has_saved;
	watch_tell_clear(&teller);
}

static int end_hung(struct run *run)
{
	int status;

	/* A started launcher has ended with its job; a script would continue. */
	if (run->options->watch.wants_kill && !has_ended_by(run, monotonic_ns() + END_NS, &status))
		launch_end(run->launch);
	if (launch_has_ended(run->launch, &status))
		look_for_kept(run);
	return finish(run->options, "hang", STATUS_HANG);
}

/* A batch system ends a script by a signal to its shell. pdb has the shell's place, so it passes
 * the signal on. True: it did. */
static bool hand_on_end(struct run *run)
{
	if (!launch_is_script(run->launch) || !interrupt_take_termination())
		return false;
	launch_terminate(run->launch);
	return true;
}

/* Attach to the next job if there is one, and watch it. True: watching is over, and *ret is pdb's
 * exit status. */
static bool watch_next(struct run *run, uint64_t *retry_ns, int *ret)
{
	enum watch_end end = WATCH_ENDED;
	int status;

	if (launch_attach(run->launch, run->session, &run->last) == 0) {
		*retry_ns = RETRY_NS;
		run->was_watched = true;
		if (watch_run(run->session, &run->options->watch, run->out, &end, &run->last) < 0)
			session_complain(&run->last);
	}
	if (end == WATCH_HUNG) {
		*ret = end_hung(run);
		return true;
	}
	if ((end == WATCH_INTERRUPTED || interrupt_pending()) && !hand_on_end(run)) {
		*ret = finish(run->options, "interrupted", STATUS_CANNOT);
		return true;
	}
	if (run->session->job)
		session_detach(run->session);
	if (has_ended_by(run, monotonic_ns() + *retry_ns, &status)) {
		look_for_kept(run);
		*ret = end_with(run, status);
		return true;
	}
	if (*retry_ns < RETRY_MAX_NS)
		*retry_ns += *retry_ns / 4;
	return false;
}

static int watch_started(struct session *session, const struct options *options)
{
	struct run run = {
		.session = session,
		.options = options,
		/* Standard output belongs to the job. */
		.out = options->watch.wants_json || options->program.output ? stdout : stderr,
	};
	uint64_t retry_ns = RETRY_NS;
	int status = 0;

	if (launch_start(options, &run.launch, &run.last) < 0)
		return fail(options, &run.last);
	session->is_batch = true;
	launch_pass_signals(run.launch);
	while (!watch_next(&run, &retry_ns, &status))
		;
	launch_finish(run.launch, session);
	return status;
}

int watch_main(struct session *session, const struct options *options)
{
	struct pdb_error err;

	session->is_batch = true;
	session->keeps_traces = options->watch.save != NULL;
	if (watch_hang_check(&options->watch, &err) < 0)
		return fail(options, &err);
	if (options->action == ACTION_RUN)
		return watch_started(session, options);
	return watch_running(session, options);
}
