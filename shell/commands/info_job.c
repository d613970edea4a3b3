/* SPDX-License-Identifier: BSD-3-Clause
 * info job: the attached job, and how it was found. */
#include <math.h>
#include <stdarg.h>

#include "model/error.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "render/text/json.h"
#include "render/text/text.h"
#include "render/words/label.h"
#include "shell/command.h"
#include "shell/daemons.h"
#include "shell/session.h"

/* A line of the table, wrapped below its text. */
__attribute__((format(printf, 3, 4))) static void
print_fact(const struct view *view, const char *name, const char *format, ...)
{
	va_list ap;
	char *text;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		abort();
	va_end(ap);
	text_wrap_behind(view, text_of(view, "  %-9s ", name), text);
	free(text);
}

static void print_state(const struct view *view)
{
	struct session *session = view->session;
	struct label_time age = label_time(session_age(session) * 1e9);

	if (session->snapshot)
		print_fact(view, "state", "snapshot loaded from %s", session->snapshot);
	else if (session->has_cores)
		print_fact(view, "state", "ended; read from cores");
	else if (session_has_ended(session))
		print_fact(view, "state", "ended; the last snapshot is %s old", age.text);
	else
		print_fact(view, "state", "attached; the snapshot is %s old", age.text);
}

static void print_daemons(const struct view *view)
{
	const struct session *session = view->session;

	if (session->daemons)
		print_fact(view, "daemons", "on %d hosts", session->daemons->num_hosts);
	else if (session->daemon_trouble.code != ERROR_NONE)
		print_fact(view, "daemons", "none, pdb looks only at ranks of this host: %s",
			   session->daemon_trouble.text);
}

/* "Open MPI v4.1.4", without the package behind it; "" if not known. The caller frees. */
static char *find_mpi(const struct job *job)
{
	const struct job_model *jm = job->model;
	const char *mpi = jm && jm->num_lanes ? jm->lanes[0].model->program->mpi_library : "";

	return xstrndup(mpi, strcspn(mpi, ","));
}

static void job_json(const struct view *view)
{
	const struct session *session = view->session;
	const struct job *job = session->job;
	const struct proctable *table = job->proctable;
	const char *command = session->launcher.command;
	char *mpi SCOPED(free) = find_mpi(job);
	struct json *json = view->json;

	if (table->launcher_pid) {
		json_text(json, "launcher",
			  table->launcher_name ? table->launcher_name : "unknown launcher");
		json_int(json, "launcher_pid", table->launcher_pid);
	}
	json_text(json, "command", *command ? command : NULL);
	json_text(json, "mpi", mpi);
	json_text(json, "found_by", proctable_source_text(table->source));
	json_text(json, "found_note", table->source_note);
	json_int(json, "daemons", session->daemons ? session->daemons->num_hosts : 0);
	json_text(json, "no_daemons_because",
		  session->daemons || session->daemon_trouble.code == ERROR_NONE
			  ? NULL
			  : session->daemon_trouble.text);
	json_real(json, "age_s", session->looked_ns ? session_age(session) : NAN);
	json_text(json, "snapshot", session->snapshot);
}

static void print_job(const struct view *view)
{
	struct session *session = view->session;
	const struct job *job = session->job;
	const struct proctable *table = job->proctable;
	char *mpi;

	print_fact(view, "job", "%s", table->job && *table->job ? table->job : "(no name)");
	if (table->launcher_pid)
		print_fact(view, "launcher", "%s, pid %d",
			   table->launcher_name ? table->launcher_name : "unknown launcher",
			   (int)table->launcher_pid);
	if (session->launcher.command[0])
		print_fact(view, "command", "%s", session->launcher.command);
	print_fact(view, "ranks", "%d, recorder in %d", table->size,
		   job->model ? rankset_count(job->model->ranks) : 0);
	if (table->size_claimed)
		print_fact(view, "", "the job claims %d ranks; so few processes make that unlikely",
			   table->size_claimed);
	mpi = find_mpi(job);
	if (*mpi)
		print_fact(view, "MPI", "%s", mpi);
	free(mpi);
	print_fact(view, "found by", "%s%s%s", proctable_source_text(table->source),
		   table->source_note ? ": " : "", table->source_note ? table->source_note : "");
	print_daemons(view);
	print_state(view);
}

const struct command info_job = {
	.name = "job",
	.topic = TOPIC_JOB,
	.usage = "info job",
	.summary = "Show which job this is, how pdb found it, and how old the look is.",
	.text = "\"found by\" shows how pdb found the ranks, and why it took no other way.",
	.example = "info job",
	.flags = CMD_NEEDS_JOB,
	.views = {[FORMAT_TEXT] = print_job, [FORMAT_JSON] = job_json},
};
