/* SPDX-License-Identifier: BSD-3-Clause
 * info job: the attached job, and how it was found. */
#include <math.h>

#include "model/error.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "render/text/json.h"
#include "render/words/label.h"
#include "shell/command.h"
#include "shell/daemons.h"
#include "shell/session.h"

static void print_state(struct session *session, FILE *out)
{
	struct label_time age = label_time(session_age(session) * 1e9);

	if (session->snapshot)
		fprintf(out, "  state     snapshot loaded from %s\n", session->snapshot);
	else if (session->has_cores)
		fputs("  state     ended; read from cores\n", out);
	else if (session_has_ended(session))
		fprintf(out, "  state     ended; the last snapshot is %s old\n", age.text);
	else
		fprintf(out, "  state     attached; the snapshot is %s old\n", age.text);
}

static void print_daemons(const struct session *session, FILE *out)
{
	if (session->daemons)
		fprintf(out, "  daemons   on %d hosts\n", session->daemons->num_hosts);
	else if (session->daemon_trouble.code != ERROR_NONE)
		fprintf(out, "  daemons   none, pdb looks only at ranks of this host: %s\n",
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
	FILE *out = view->out;
	char *mpi;

	fprintf(out, "  job       %s\n", table->job && *table->job ? table->job : "(no name)");
	if (table->launcher_pid)
		fprintf(out, "  launcher  %s, pid %d\n",
			table->launcher_name ? table->launcher_name : "unknown launcher",
			(int)table->launcher_pid);
	if (session->launcher.command[0])
		fprintf(out, "  command   %s\n", session->launcher.command);
	fprintf(out, "  ranks     %d, recorder in %d\n", table->size,
		job->model ? rankset_count(job->model->ranks) : 0);
	if (table->size_claimed)
		fprintf(out,
			"            the job claims %d ranks; so few processes make that "
			"unlikely\n",
			table->size_claimed);
	mpi = find_mpi(job);
	if (*mpi)
		fprintf(out, "  MPI       %s\n", mpi);
	free(mpi);
	fprintf(out, "  found by  %s%s%s\n", proctable_source_text(table->source),
		table->source_note ? ": " : "", table->source_note ? table->source_note : "");
	print_daemons(session, out);
	print_state(session, out);
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
