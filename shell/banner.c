/* SPDX-License-Identifier: BSD-3-Clause */

#include "analysis/verdict/verdict.h"
#include "analysis/evidence/evidence.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/text/text.h"
#include "render/words/label.h"
#include "shell/banner.h"
#include "shell/session.h"

/* Kinds of trouble shown one by one; the rest is counted. */
#define MAX_KINDS 8

static size_t count_hosts(const struct proctable *table)
{
	size_t num = 0;

	/* Ranks of a host are mostly neighbours; the inner loop handles the others. */
	for (size_t i = 0; i < table->num_procs; i++) {
		size_t j = i;

		while (j > 0 && strcmp(table->procs[j - 1].host, table->procs[i].host) != 0)
			j--;
		num += j == 0;
	}
	return num;
}

static void print_job(const struct session *session, FILE *out)
{
	const struct proctable *table = session->job->proctable;
	const char *program = table->num_procs ? basename(table->procs[0].executable) : "";
	size_t hosts = count_hosts(table);

	if (session->snapshot)
		fprintf(out, "Snapshot %s of ", session->snapshot);
	else if (session->has_cores)
		fputs("Cores of ", out);
	fprintf(out, "%s%s%s: %d rank%s on %zu host%s%s%s\n",
		table->launcher_name ? table->launcher_name : "unknown launcher",
		table->job && *table->job ? " job " : "", table->job ? table->job : "", table->size,
		table->size == 1 ? "" : "s", hosts, hosts == 1 ? "" : "s", *program ? ", " : "",
		program);
}

void banner_print_moves(struct session *session, FILE *out)
{
	const struct verdict *verdict = session->verdict;
	int moving = rankset_count(verdict->moving);

	if (session->job->num_crashes) {
		struct arena *arena SCOPED(arena) = arena_create();
		struct view view = session_view(session, arena);

		view.out = out;
		view_crashes(&view, NULL);
	}
	if (!session->job->model) {
		fprintf(out, "Try \"bt\" or \"lp\".\n");
	} else if (moving == 0) {
		int waiting = rankset_first(verdict->waiting);

		fprintf(out, "No rank has moved for %s. Try \"lp\"",
			label_time(verdict->quiet_ns).text);
		if (waiting >= 0)
			fprintf(out, " or \"why %d\"", waiting);
		fputs(".\n", out);
	} else {
		fprintf(out, "%d of %d ranks move. Try \"%s\".\n", moving,
			session->job->proctable->size,
			rankset_is_empty(verdict->culprits) ? "progress" : "lp");
	}
}

void banner_print(struct session *session, FILE *out)
{
	const struct job *job = session->job;

	print_job(session, out);
	fprintf(out, "recorder in %d of %d ranks; found by %s\n",
		job->model ? rankset_count(job->model->ranks) : 0, job->proctable->size,
		proctable_source_text(job->proctable->source));
	banner_print_moves(session, out);
}

/* Ranks by the reason why something is not known about them. */
struct kinds {
	const char *why[MAX_KINDS];
	struct rankset *ranks[MAX_KINDS];
	size_t num;
	struct rankset *others;
};

static void add_kind(struct kinds *kinds, int rank, const char *why)
{
	size_t i;

	for (i = 0; i < kinds->num; i++)
		if (strcmp(kinds->why[i], why) == 0)
			break;
	if (i == MAX_KINDS) {
		rankset_add(kinds->others, rank);
		return;
	}
	if (i == kinds->num) {
		kinds->why[i] = why;
		kinds->ranks[i] = rankset_create();
		kinds->num++;
	}
	rankset_add(kinds->ranks[i], rank);
}

static void print_kinds(struct kinds *kinds, const struct session *session, const char *what,
			FILE *out)
{
	int size = session->job->proctable->size;
	struct arena *arena SCOPED(arena) = arena_create();
	struct view view = session_view((struct session *)session, arena);
	int width = view.width / 3;

	view.out = out;
	/* Scripts get each in one line. */
	if (session->is_batch)
		view.width = INT_MAX;
	for (size_t i = 0; i < kinds->num; i++) {
		text_wrap(&view, 0, "%s%s: %s (%d of %d ranks)",
			  label_who(arena, kinds->ranks[i], width), what, kinds->why[i],
			  rankset_count(kinds->ranks[i]), size);
		rankset_destroy(kinds->ranks[i]);
	}
	if (!rankset_is_empty(kinds->others))
		fprintf(out, "%d of %d ranks%s: other reasons\n", rankset_count(kinds->others),
			size, what);
	rankset_destroy(kinds->others);
}

/* Is there no recorder? False if all holes have other reasons. */
static bool is_unrecorded(const struct job *job)
{
	for (size_t i = 0; i < job->num_holes; i++)
		if (strcmp(job->holes[i].why, "no recorder") == 0)
			return true;
	return job->num_holes == 0;
}

static void print_model_holes(const struct session *session, FILE *out)
{
	const struct job *job = session->job;
	bool has_waits = session->evidence->has_queues;
	struct kinds kinds = {.others = rankset_create()};

	for (size_t i = 0; i < job->num_holes; i++)
		if (job->model || strcmp(job->holes[i].why, "no recorder") != 0)
			add_kind(&kinds, job->holes[i].rank, job->holes[i].why);
	print_kinds(&kinds, session, "", out);
	if (!job->model && is_unrecorded(job)) {
		struct arena *arena SCOPED(arena) = arena_create();
		struct view view = session_view((struct session *)session, arena);

		view.out = out;
		text_wrap(&view, 0,
			  "No recorder in this job, so pdb has no counts of loops and calls: %s go "
			  "by stacks%s.",
			  has_waits ? "lp, groups, waits and why" : "lp and groups",
			  has_waits ? " and by the messages that the MPI library holds" : "");
		text_wrap(&view, 0, "Start the job with \"pdb run -- mpirun ...\" next time.");
	}
}

void banner_print_stack_holes(struct session *session, const struct rankset *ranks, FILE *out)
{
	const struct samples *samples = session->job->samples;
	struct kinds kinds = {.others = rankset_create()};

	for (size_t i = 0; samples && i < samples->num_samples; i++) {
		const struct sample *sample = &samples->samples[i];

		if (sample->status == SAMPLE_FAILED && sample->is_main &&
		    (!ranks || rankset_contains(ranks, sample->rank)))
			add_kind(&kinds, sample->rank, sample->note ? sample->note : "no stack");
	}
	print_kinds(&kinds, session, " without stack", out);
}

void banner_print_holes(struct session *session, FILE *out)
{
	print_model_holes(session, out);
	if (session->sample_trouble)
		fprintf(out, "%s\nThere are no stacks; models, lp and why still work.\n",
			session->sample_trouble);
	else
		banner_print_stack_holes(session, NULL, out);
}
