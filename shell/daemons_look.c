/* SPDX-License-Identifier: BSD-3-Clause
 * Looks, samples and traces of ranks, through the daemons on their hosts. */
#include "attach/daemons/link.h"
#include "attach/daemons/overlay.h"
#include "attach/daemons/pdbd.h"
#include "attach/node/node.h"
#include "model/buffer.h"
#include "model/job/code.h"
#include "model/wire/code_bytes.h"
#include "model/job/job_model.h"
#include "model/monotonic.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/job/usage.h"
#include "model/wire/proc_bytes.h"
#include "model/wire/share.h"
#include "shell/daemons.h"

/* Details are most of the data of large jobs, differ in all ranks, and no verdict needs them.
 * Larger jobs send them only when the user asks for them. */
enum { MOST_WITH_DETAILS = 4096 };

/* Ask for a share; share_destroy() frees it. *ret is NULL: no daemon knew anything. */
static int ask_share(struct daemons *daemons, uint32_t kind, const void *question, size_t length,
		     int extra_ms, struct share **ret, struct pdb_error *err)
{
	struct link_frame answer;
	int result;

	*ret = NULL;
	result = daemons_ask(daemons, kind, question, length, extra_ms, &answer, err);
	if (result < 0)
		return -1;
	if (answer.length > 0)
		result = share_decode(answer.payload, answer.length, daemons->job->proctable->size,
				      ret, err);
	link_frame_deinit(&answer);
	return result;
}

/* The same, stored in daemons->answer in terms of the job's own tables. */
static int ask_job(struct daemons *daemons, uint32_t kind, const void *question, size_t length,
		   int extra_ms, struct pdb_error *err)
{
	struct share *share;
	int result = 0;

	daemons_forget_answer(daemons);
	if (ask_share(daemons, kind, question, length, extra_ms, &share, err) < 0)
		return -1;
	daemons->answer = *daemons->job;
	daemons->answer.model = NULL;
	daemons->answer.holes = NULL;
	daemons->answer.num_holes = 0;
	daemons->answer.usage = NULL;
	daemons->answer.samples = samples_create();
	if (share)
		result = share_to_job(share, &daemons->answer, err);
	share_destroy(share);
	if (result < 0)
		daemons_forget_answer(daemons);
	return result;
}

/* The ranks that the answer contains. */
static struct rankset *list_told(const struct job *answer)
{
	struct rankset *told =
		answer->model ? rankset_copy(answer->model->ranks) : rankset_create();

	for (size_t i = 0; i < answer->num_holes; i++)
		rankset_add(told, answer->holes[i].rank);
	return told;
}

static void add_holes(const struct daemons *daemons, struct job *answer, double seconds)
{
	const struct proctable *table = answer->proctable;
	struct rankset *told SCOPED(rankset) = list_told(answer);
	char why[400];

	for (int rank = 0; rank < table->size; rank++) {
		const struct proc *proc = proctable_find(table, rank);

		if (!proc) {
			job_add_hole(answer, rank,
				     table->source == PROCTABLE_PROCFS
					     ? "not found on the job's hosts"
					     : "not in the launcher's table");
			continue;
		}
		if (rankset_contains(told, rank))
			continue;
		if (proc->pid <= 0)
			snprintf(why, sizeof(why), "process id not known");
		else if (daemons_is_avoided(daemons, proc->host))
			snprintf(why, sizeof(why), "on host %s, which does not answer", proc->host);
		else if (seconds * 1000 < OVERLAY_SILENCE_MS) /* known to be silent */
			snprintf(why, sizeof(why), "on host %s, whose daemon does not answer",
				 proc->host);
		else
			snprintf(why, sizeof(why), "on host %s: no answer in %.0f s", proc->host,
				 seconds);
		job_add_hole(answer, rank, why);
	}
}

static bool is_all_ended(const struct job *answer)
{
	if (answer->model || !answer->num_holes)
		return false;
	for (size_t i = 0; i < answer->num_holes; i++)
		if (strcmp(answer->holes[i].why, JOB_HOLE_ENDED) != 0)
			return false;
	return true;
}

int daemons_look(struct daemons *daemons, const struct node_look_options *options,
		 struct pdb_error *err)
{
	const struct proctable *table = daemons->job->proctable;
	const struct pdbd_look question = {
		.num_ranks = (uint32_t)table->size,
		.milliseconds = (uint32_t)options->milliseconds,
		.max_samples = (uint32_t)options->max_samples,
		.all_threads = options->all_threads,
		.all_evidence = options->all_evidence,
		.keeps = options->keeps,
		.is_last = options->is_last,
		.measures = options->measures,
		.parts = SHARE_ANSWERS | SHARE_NAMES |
			 (table->size <= MOST_WITH_DETAILS || options->all_evidence ? SHARE_DETAILS
										    : 0),
	};
	uint64_t begin = monotonic_ns();

	if (ask_job(daemons, PDBD_LOOK, &question, sizeof(question), 2 * options->milliseconds,
		    err) < 0)
		return -1;
	add_holes(daemons, &daemons->answer, (monotonic_ns() - begin) / 1e9);
	if (is_all_ended(&daemons->answer)) {
		daemons_forget_answer(daemons);
		return error_set(err, ERROR_GONE, "the job has ended");
	}
	return 0;
}

void daemons_commit(struct daemons *daemons)
{
	struct job *job = daemons->job, *answer = &daemons->answer;

	job_clear_holes(job);
	job_model_destroy(job->model);
	samples_destroy(job->samples);
	usage_destroy(job->usage);
	job->model = answer->model;
	job->samples = answer->samples;
	job->usage = answer->usage;
	job->holes = answer->holes;
	job->num_holes = answer->num_holes;
	job->taken_real_ns = answer->taken_real_ns;
	job->look_seconds = answer->look_seconds;
	*answer = (struct job){.model = NULL};
}

/* Encode a question about these ranks. The caller frees its bytes. */
static struct buffer put_look(const struct pdbd_look *look, const struct rankset *ranks)
{
	struct buffer question = {.bytes = NULL};

	buffer_put_bytes(&question, look, sizeof(*look));
	proc_bytes_put_ranks(&question, ranks);
	return question;
}

/* Leaves out what differs in all ranks: 1,000,000 ranks at 20 places send only 20 stacks. */
int daemons_sample(struct daemons *daemons, const struct rankset *ranks,
		   const struct node_sampling *sampling, const struct code_question *code,
		   struct pdb_error *err)
{
	const struct pdbd_look look = {
		.num_ranks = (uint32_t)daemons->job->proctable->size,
		.milliseconds = (uint32_t)sampling->milliseconds,
		.all_threads = sampling->all_threads,
		.parts = SHARE_ANSWERS | SHARE_NAMES |
			 (sampling->all_threads ? 0 : SHARE_STACKS_ONLY) |
			 (code && code->num_functions ? SHARE_CODE : 0),
		.times = (uint32_t)sampling->times,
		.variables = code && code->wants_variables,
	};
	struct buffer question = put_look(&look, ranks);
	int result;

	if (code)
		code_bytes_put_question(&question, code, daemons->job->modules);
	result = ask_job(daemons, PDBD_SAMPLE, question.bytes, question.num,
			 2 * sampling->milliseconds, err);
	free(question.bytes);
	if (result < 0)
		return -1;
	job_replace_samples(daemons->job, ranks, daemons->answer.samples);
	daemons->answer.samples = NULL;
	daemons_forget_answer(daemons);
	return 0;
}

int daemons_get_more(struct daemons *daemons, const struct rankset *ranks, unsigned int parts,
		     struct pdb_error *err)
{
	const struct pdbd_look look = {
		.num_ranks = (uint32_t)daemons->job->proctable->size,
		.parts = parts,
	};
	struct buffer question = put_look(&look, ranks);
	struct share *share;
	int result = ask_share(daemons, PDBD_MORE, question.bytes, question.num, 0, &share, err);

	free(question.bytes);
	if (share)
		result = share_add(share, daemons->job, err);
	share_destroy(share);
	return result;
}
