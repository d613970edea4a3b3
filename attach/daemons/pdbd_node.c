/* SPDX-License-Identifier: BSD-3-Clause
 * What a daemon answers when it is asked for its node's ranks: shares (model/wire/share.h) of
 * looks, samples and traces, digests (watch_digest.h), how many live. Nothing when the question is
 * damaged, when the look was given up, or when the job is not known. */
#include <unistd.h>

#include "attach/code/code.h"
#include "attach/daemons/pdbd.h"
#include "attach/daemons/pdbd_private.h"
#include "attach/node/daemon_job.h"
#include "attach/node/node.h"
#include "attach/node/watch_digest.h"
#include "attach/node/watch_look.h"
#include "attach/stacks/sampler.h"
#include "attach/symbols/symbols.h"
#include "model/buffer.h"
#include "model/job/callpath.h"
#include "model/job/code.h"
#include "model/wire/code_bytes.h"
#include "model/job/code_store.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/job/usage.h"
#include "model/decoder.h"
#include "model/wire/proc_bytes.h"
#include "model/wire/share.h"

void pdbd_node_tell(struct daemon *daemon, struct daemon_rank *ranks, size_t num_ranks)
{
	struct job *job = job_create();
	char host[256] = "";
	struct pdb_error err;

	pdbd_node_deinit(daemon);
	daemon->ranks = ranks;
	daemon->num_ranks = num_ranks;
	gethostname(host, sizeof(host) - 1);
	for (size_t i = 0; i < num_ranks; i++)
		proctable_add_like(job->proctable,
				   &(struct proc){.rank = ranks[i].rank,
						  .pid = ranks[i].pid,
						  .host = host,
						  .has_ended = !ranks[i].start_ticks});
	if (proctable_finish(job->proctable, &err) < 0) {
		job_destroy(job);
		return;
	}
	daemon->job = job;
	daemon->symbols = symbols_create(job->modules);
	names_destroy(job->names);
	job->names = names_create(job->modules, job->callpaths, symbols_resolve, daemon->symbols);
	daemon->sampler = sampler_create(job->modules, job->callpaths);
	daemon->node = node_create(job, daemon->sampler);
}

void pdbd_node_deinit(struct daemon *daemon)
{
	if (daemon->job) {
		watch_look_destroy(daemon->watch);
		node_destroy(daemon->node);
		sampler_destroy(daemon->sampler);
		symbols_destroy(daemon->symbols);
		job_destroy(daemon->job);
	}
	free(daemon->ranks);
	daemon->ranks = NULL;
	daemon->num_ranks = 0;
	daemon->job = NULL;
	daemon->watch = NULL;
}

/* ---- What is asked of processes ---- */

void pdbd_node_living(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct daemon *daemon = argument;
	uint32_t num_living = daemon_job_count_living(daemon->ranks, daemon->num_ranks);

	(void)payload, (void)length;
	buffer_put_bytes(ret, &num_living, sizeof(num_living));
}

void pdbd_node_job(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct daemon *daemon = argument;
	struct daemon_rank *ranks;
	size_t num = daemon_job_take(payload, length, &ranks);

	pdbd_node_tell(daemon, ranks, num);
	daemon->knows_job = true;
	pdbd_node_living(daemon, NULL, 0, ret);
}

void pdbd_node_hear(void *argument, const uint8_t *payload, size_t length)
{
	struct daemon *daemon = argument;
	uint32_t num_ranks;

	if (length < sizeof(num_ranks))
		return;
	memcpy(&num_ranks, payload, sizeof(num_ranks));
	daemon->job_size = (int)num_ranks;
}

void pdbd_node_hear_look(void *argument, const uint8_t *payload, size_t length)
{
	struct daemon *daemon = argument;
	struct pdbd_look question;

	pdbd_node_hear(argument, payload, length);
	if (length < sizeof(question))
		return;
	memcpy(&question, payload, sizeof(question));
	daemon->keeps_traces = question.keeps;
}

/* ---- Looks ---- */

static struct decoder decoder_of(const uint8_t *payload, size_t length)
{
	return (struct decoder){.at = payload, .end = payload + length};
}

enum { OF_LOOKS = SHARE_ALL | SHARE_STACKS_ONLY | SHARE_CODE };

/* Which asks for `needed`, and for nothing that is not `allowed`. */
static bool take_question(struct decoder *in, unsigned needed, unsigned allowed,
			  struct pdbd_look *ret)
{
	const uint8_t *bytes = decoder_take_bytes(in, sizeof(*ret));

	if (!bytes)
		return false;
	memcpy(ret, bytes, sizeof(*ret));
	return (ret->parts & needed) == needed && (ret->parts & ~(needed | allowed)) == 0;
}

static void answer(const struct job *job, const struct rankset *ranks, unsigned parts,
		   struct buffer *ret)
{
	struct share *share = share_create();
	struct pdb_error err;

	share_fill(share, job, ranks, parts);
	if (share_encode(share, ret, &err) < 0)
		ret->num = 0;
	share_destroy(share);
}

/* All processes have ended. */
static void forget_all(struct job *job)
{
	const struct proctable *table = job->proctable;

	job_clear_holes(job);
	job_model_destroy(job->model);
	job->model = NULL;
	samples_destroy(job->samples);
	job->samples = samples_create();
	usage_destroy(job->usage);
	job->usage = NULL;
	for (size_t i = 0; i < table->num_procs; i++)
		job_add_hole(job, table->procs[i].rank, JOB_HOLE_ENDED);
}

/* There are no stacks of these ranks (NULL: any) at all, and each tells why. */
static void add_trouble(struct job *job, const struct rankset *ranks, const char *trouble)
{
	for (size_t i = 0; i < job->proctable->num_procs; i++) {
		const struct proc *proc = &job->proctable->procs[i];

		if (!ranks || rankset_contains(ranks, proc->rank))
			samples_add_failed(job->samples, proc->rank, proc->pid, trouble);
	}
}

void pdbd_node_look(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct daemon *daemon = argument;
	struct decoder in = decoder_of(payload, length);
	struct pdbd_look question;
	struct pdb_error err;
	char *trouble = NULL;

	if (!daemon->job || !take_question(&in, SHARE_ANSWERS, OF_LOOKS, &question))
		return;
	const struct node_look_options options = {
		.milliseconds = (int)question.milliseconds,
		.max_samples = (int)question.max_samples,
		.all_threads = question.all_threads,
		.all_evidence = question.all_evidence,
		.keeps = question.keeps,
		.is_last = question.is_last,
		.measures = question.measures,
		.sleep_until = daemon->sleep_until,
	};
	if (node_look(daemon->node, &options, &trouble, &err) == 0) {
		node_commit(daemon->node);
		if (trouble)
			add_trouble(daemon->job, NULL, trouble);
		free(trouble);
	} else if (err.code == ERROR_GONE) {
		forget_all(daemon->job);
	} else {
		return;
	}
	answer(daemon->job, NULL, question.parts, ret);
}

/* What the question names: the ranks, and what is asked of machine code. False: it is damaged. */
static bool take_sample_question(const struct daemon *daemon, struct decoder *in,
				 struct pdbd_look *ret, struct rankset **ranks_ret,
				 struct code_question *code_ret)
{
	if (!daemon->job || !take_question(in, SHARE_ANSWERS, OF_LOOKS, ret))
		return false;
	*ranks_ret = proc_bytes_take_ranks(in, (int)ret->num_ranks);
	*code_ret = (struct code_question){.num_probes = 0};
	if (!in->is_bad &&
	    (in->at == in->end || code_bytes_take_question(in->at, (size_t)(in->end - in->at),
							   daemon->job->modules, code_ret) == 0))
		return true;
	rankset_destroy(*ranks_ret);
	return false;
}

/* The functions that this node has files of. */
static struct code_store *read_code(const struct job *job, const struct code_question *code)
{
	struct code_store *store = code_store_create();
	struct code_reader *reader = code_reader_create(job->modules, store);
	struct pdb_error err;

	for (size_t i = 0; i < code->num_functions; i++)
		code_reader_get(reader, code->functions[i].module, code->functions[i].address,
				&err);
	code_reader_destroy(reader);
	return store;
}

static void sample(struct daemon *daemon, const struct rankset *ranks,
		   const struct node_sampling *sampling, const struct code_question *code)
{
	struct job *job = daemon->job;
	struct pdb_error err;

	sampler_set_probes(daemon->sampler, code->probes, code->num_probes);
	if (node_sample(daemon->node, ranks, sampling, &err) < 0) {
		job_replace_samples(job, ranks, samples_create());
		add_trouble(job, ranks, err.text);
	}
	sampler_set_probes(daemon->sampler, NULL, 0);
	/* Names are told of what is among the call paths. */
	for (size_t i = 0; i < code->num_names; i++)
		callpaths_intern(job->callpaths, CALLPATH_NONE, code->names[i].module,
				 code->names[i].address, false);
}

void pdbd_node_sample(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct daemon *daemon = argument;
	struct decoder in = decoder_of(payload, length);
	struct code_question code;
	struct pdbd_look question;
	struct rankset *ranks;

	if (!take_sample_question(daemon, &in, &question, &ranks, &code))
		return;
	const struct node_sampling sampling = {
		.all_threads = question.all_threads,
		.times = question.times ? (int)question.times : 1,
		.milliseconds = (int)question.milliseconds,
		.sleep_until = daemon->sleep_until,
	};
	sampler_set_variables(daemon->sampler, question.variables);
	sample(daemon, ranks, &sampling, &code);
	sampler_set_variables(daemon->sampler, false);
	struct job samples_only = *daemon->job;
	samples_only.model = NULL;
	samples_only.usage = NULL;
	samples_only.holes = NULL;
	samples_only.num_holes = 0;
	samples_only.code = read_code(daemon->job, &code);
	answer(&samples_only, ranks, question.parts, ret);
	code_store_destroy(samples_only.code);
	code_question_deinit(&code);
	rankset_destroy(ranks);
}

void pdbd_node_more(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct daemon *daemon = argument;
	struct decoder in = decoder_of(payload, length);
	struct pdbd_look question;

	if (!daemon->job || !take_question(&in, 0, SHARE_DETAILS | SHARE_TRACES, &question))
		return;
	struct rankset *ranks = proc_bytes_take_ranks(&in, (int)question.num_ranks);
	if (!in.is_bad)
		answer(daemon->job, ranks, question.parts, ret);
	rankset_destroy(ranks);
}

void pdbd_node_watch(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct daemon *daemon = argument;
	struct decoder in = decoder_of(payload, length);
	const uint8_t *size = decoder_take_bytes(&in, sizeof(uint32_t));
	struct watch_digest digest;
	uint32_t num_ranks = 0;

	if (size)
		memcpy(&num_ranks, size, sizeof(num_ranks));
	struct rankset *sampled = proc_bytes_take_ranks(&in, (int)num_ranks);
	if (!in.is_bad && daemon->job) {
		if (!daemon->watch)
			daemon->watch = watch_look_create(daemon->ranks, daemon->num_ranks);
		watch_digest_init(&digest);
		watch_look_take(daemon->watch, sampled, &digest);
		watch_digest_encode(&digest, ret);
		watch_digest_deinit(&digest);
	}
	rankset_destroy(sampled);
}

void pdbd_node_cost(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	const struct daemon *daemon = argument;
	struct sampler_cost cost;

	(void)payload, (void)length;
	if (!daemon->job)
		return;
	sampler_get_cost(daemon->sampler, &cost);
	buffer_put_bytes(ret, &cost, sizeof(cost));
}

int pdbd_node_merge_shares(void *argument, struct buffer *into, const uint8_t *part, size_t length)
{
	const int num_ranks = ((const struct daemon *)argument)->job_size;
	struct share *share = NULL, *other = NULL;
	struct buffer merged = {.bytes = NULL};
	struct pdb_error err;
	int result = -1;

	if (length == 0)
		return 0;
	if (share_decode(part, length, num_ranks, &other, &err) < 0)
		return -1;
	if (into->num == 0)
		share = share_create();
	else if (share_decode(into->bytes, into->num, num_ranks, &share, &err) < 0)
		share = NULL;
	if (share && share_merge(share, other, &err) == 0)
		result = share_encode(share, &merged, &err);
	share_destroy(share);
	share_destroy(other);
	free(result == 0 ? into->bytes : merged.bytes);
	if (result == 0)
		*into = merged;
	return result;
}

int pdbd_node_merge_digests(void *argument, struct buffer *into, const uint8_t *part, size_t length)
{
	const struct daemon *daemon = argument;

	return watch_digest_merge(into, part, length, daemon->job_size);
}
