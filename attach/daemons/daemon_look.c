/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/code/code.h"
#include "attach/daemons/daemon_look.h"
#include "attach/daemons/pdbd.h"
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
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/wire/decoder.h"
#include "model/wire/proc_bytes.h"
#include "model/wire/share.h"
#include "model/xalloc.h"

struct daemon_look {
	struct job *job; /* of this node's ranks only */
	struct symbols *symbols;
	struct sampler *sampler;
	struct node *node;
	const struct daemon_rank *ranks; /* borrowed */
	size_t num_ranks;
	struct watch_look *watch; /* NULL: not asked yet */
};

struct daemon_look *daemon_look_create(const struct daemon_rank *ranks, size_t num_ranks)
{
	struct daemon_look *look = xcalloc(1, sizeof(*look));
	struct job *job = look->job = job_create();
	char host[256] = "";
	struct pdb_error err;

	gethostname(host, sizeof(host) - 1);
	for (size_t i = 0; i < num_ranks; i++)
		proctable_add(job->proctable, ranks[i].rank, ranks[i].pid, host, "");
	if (proctable_finish(job->proctable, &err) < 0) {
		job_destroy(job);
		free(look);
		return NULL;
	}
	look->symbols = symbols_create(job->modules);
	names_destroy(job->names);
	job->names = names_create(job->modules, job->callpaths, symbols_resolve, look->symbols);
	look->sampler = sampler_create(job->modules, job->callpaths);
	look->node = node_create(job, look->sampler);
	look->ranks = ranks;
	look->num_ranks = num_ranks;
	return look;
}

void daemon_look_destroy(struct daemon_look *look)
{
	if (!look)
		return;
	watch_look_destroy(look->watch);
	node_destroy(look->node);
	sampler_destroy(look->sampler);
	symbols_destroy(look->symbols);
	job_destroy(look->job);
	free(look);
}

static struct decoder decoder_of(const uint8_t *payload, size_t length)
{
	return (struct decoder){.at = payload, .end = payload + length};
}

static bool take_question(struct decoder *in, struct pdbd_look *ret)
{
	const uint8_t *bytes = decoder_take_bytes(in, sizeof(*ret));

	if (!bytes)
		return false;
	memcpy(ret, bytes, sizeof(*ret));
	return (ret->parts & ~(uint32_t)(SHARE_ALL | SHARE_STACKS_ONLY | SHARE_CODE)) == 0 &&
	       ret->parts & SHARE_ANSWERS;
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

/* All processes have ended: that is what there is to tell. */
static void forget_all(struct job *job)
{
	const struct proctable *table = job->proctable;

	job_clear_holes(job);
	job_model_destroy(job->model);
	job->model = NULL;
	samples_destroy(job->samples);
	job->samples = samples_create();
	for (size_t i = 0; i < table->num_procs; i++)
		job_add_hole(job, table->procs[i].rank, JOB_HOLE_ENDED);
}

/* There are no stacks of these ranks (NULL: any) at all, and each tells why. */
static void add_trouble(struct job *job, const struct rankset *ranks, const char *trouble)
{
	const struct proctable *table = job->proctable;

	for (size_t i = 0; i < table->num_procs; i++) {
		const struct sample failed = {
			.rank = table->procs[i].rank,
			.tid = table->procs[i].pid,
			.is_main = true,
			.status = SAMPLE_FAILED,
			.path = CALLPATH_NONE,
			.state = '?',
		};

		if (!ranks || rankset_contains(ranks, failed.rank))
			samples_add(job->samples, &failed)->note = xstrdup(trouble);
	}
}

void daemon_look_answer(struct daemon_look *look, const uint8_t *payload, size_t length,
			bool (*sleep_until)(uint64_t until_ns), struct buffer *ret)
{
	struct decoder in = decoder_of(payload, length);
	struct pdbd_look question;
	struct pdb_error err;
	char *trouble = NULL;

	if (!take_question(&in, &question))
		return;
	const struct node_look_options options = {
		.milliseconds = (int)question.milliseconds,
		.max_samples = (int)question.max_samples,
		.all_threads = question.all_threads,
		.all_evidence = question.all_evidence,
		.keeps = question.keeps,
		.is_last = question.is_last,
		.sleep_until = sleep_until,
	};
	if (node_look(look->node, &options, &trouble, &err) == 0) {
		node_commit(look->node);
		if (trouble)
			add_trouble(look->job, NULL, trouble);
		free(trouble);
	} else if (err.code == ERROR_GONE) {
		forget_all(look->job);
	} else {
		return;
	}
	answer(look->job, NULL, question.parts, ret);
}

/* What the question names: the ranks, and what is asked of machine code. False: it is damaged. */
static bool take_sample_question(struct daemon_look *look, struct decoder *in,
				 struct pdbd_look *ret, struct rankset **ranks_ret,
				 struct code_question *code_ret)
{
	if (!take_question(in, ret))
		return false;
	*ranks_ret = proc_bytes_take_ranks(in, (int)ret->num_ranks);
	*code_ret = (struct code_question){.num_probes = 0};
	if (!in->is_bad &&
	    (in->at == in->end || code_bytes_take_question(in->at, (size_t)(in->end - in->at),
							   look->job->modules, code_ret) == 0))
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

static void sample(struct daemon_look *look, const struct rankset *ranks,
		   const struct node_sampling *sampling, const struct code_question *code)
{
	struct job *job = look->job;
	struct pdb_error err;

	sampler_set_probes(look->sampler, code->probes, code->num_probes);
	if (node_sample(look->node, ranks, sampling, &err) < 0) {
		job_replace_samples(job, ranks, samples_create());
		add_trouble(job, ranks, err.text);
	}
	sampler_set_probes(look->sampler, NULL, 0);
	/* Names are told of what is among the call paths. */
	for (size_t i = 0; i < code->num_names; i++)
		callpaths_intern(job->callpaths, CALLPATH_NONE, code->names[i].module,
				 code->names[i].address, false);
}

void daemon_look_answer_samples(struct daemon_look *look, const uint8_t *payload, size_t length,
				bool (*sleep_until)(uint64_t until_ns), struct buffer *ret)
{
	struct decoder in = decoder_of(payload, length);
	struct job samples_only = *look->job;
	struct code_question code;
	struct pdbd_look question;
	struct rankset *ranks;

	if (!take_sample_question(look, &in, &question, &ranks, &code))
		return;
	const struct node_sampling sampling = {
		.all_threads = question.all_threads,
		.times = question.times ? (int)question.times : 1,
		.milliseconds = (int)question.milliseconds,
		.sleep_until = sleep_until,
	};
	sample(look, ranks, &sampling, &code);
	samples_only.samples = look->job->samples;
	samples_only.model = NULL;
	samples_only.holes = NULL;
	samples_only.num_holes = 0;
	samples_only.code = read_code(look->job, &code);
	answer(&samples_only, ranks, question.parts, ret);
	code_store_destroy(samples_only.code);
	code_question_deinit(&code);
	rankset_destroy(ranks);
}

void daemon_look_answer_traces(struct daemon_look *look, const uint8_t *payload, size_t length,
			       struct buffer *ret)
{
	struct decoder in = decoder_of(payload, length);
	struct pdbd_look question;
	struct rankset *ranks;

	if (!take_question(&in, &question))
		return;
	ranks = proc_bytes_take_ranks(&in, (int)question.num_ranks);
	if (!in.is_bad)
		answer(look->job, ranks, SHARE_TRACES, ret);
	rankset_destroy(ranks);
}

void daemon_look_answer_watch(struct daemon_look *look, const uint8_t *payload, size_t length,
			      struct buffer *ret)
{
	struct decoder in = decoder_of(payload, length);
	const uint8_t *size = decoder_take_bytes(&in, sizeof(uint32_t));
	struct rankset *sampled;
	struct watch_digest digest;
	uint32_t num_ranks = 0;

	if (size)
		memcpy(&num_ranks, size, sizeof(num_ranks));
	sampled = proc_bytes_take_ranks(&in, (int)num_ranks);
	if (!in.is_bad) {
		if (!look->watch)
			look->watch = watch_look_create(look->ranks, look->num_ranks);
		watch_digest_init(&digest);
		watch_look_take(look->watch, sampled, &digest);
		watch_digest_encode(&digest, ret);
		watch_digest_deinit(&digest);
	}
	rankset_destroy(sampled);
}

void daemon_look_get_cost(const struct daemon_look *look, struct sampler_cost *ret)
{
	sampler_get_cost(look->sampler, ret);
}

int daemon_look_merge(struct buffer *into, const uint8_t *part, size_t length, int num_ranks)
{
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
