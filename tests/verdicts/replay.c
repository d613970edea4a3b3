/* SPDX-License-Identifier: BSD-3-Clause
 * What pdb answers to lp of snapshots that were taken with all evidence (`set evidence all`): as of
 * a job with the recorder, of one without, and of one where a third of the ranks have none.
 *
 *	replay FILE...          a line of JSON for each answer
 *	replay --shrink IN OUT  a smaller snapshot with the same answers
 *
 * In a shrunk one the times of past transitions are rounded: they are most of a snapshot's bytes,
 * since nothing in them repeats. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/error.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/wire/share.h"
#include "model/xalloc.h"
#include "render/text/json.h"
#include "shell/command.h"
#include "shell/session.h"

#define ROUND_NS (UINT64_C(1) << 17)

enum hidden { HIDDEN_NONE, HIDDEN_ALL, HIDDEN_THIRD, NUM_HIDDEN };

static const char *const hidden_names[NUM_HIDDEN] = {"recorder", "stacks", "third"};

static void fail(const struct pdb_error *err)
{
	fprintf(stderr, "replay: %s\n", err->text);
	exit(2);
}

/* ---- What a look would have seen ---- */

static bool is_of_thread(const struct sample *a, const struct sample *b)
{
	return a->rank == b->rank && a->tid == b->tid;
}

/* Samples of a thread stand together, in the order of time. A look takes the last one of each rank
 * with a recorder. Of one without it takes all, but other threads only where they were asked for:
 * then they are in more than the last. */
static bool is_seen(const struct samples *samples, size_t i, bool with_recorder)
{
	const struct sample *sample = &samples->samples[i];
	bool is_last =
		i + 1 == samples->num_samples || !is_of_thread(sample, &samples->samples[i + 1]);
	bool is_first = i == 0 || !is_of_thread(sample, &samples->samples[i - 1]);

	return with_recorder ? is_last : sample->is_main || !is_first || !is_last;
}

static void keep_samples(struct job *job)
{
	struct samples *kept = samples_create();

	for (size_t i = 0; i < job->samples->num_samples; i++) {
		struct sample *sample = &job->samples->samples[i];

		if (!is_seen(job->samples, i,
			     job->model && rankset_contains(job->model->ranks, sample->rank)))
			continue;
		samples_add(kept, sample);
		sample->note = NULL;
		sample->values = NULL;
		sample->queues = NULL;
	}
	samples_destroy(job->samples);
	job->samples = kept;
}

/* By the file's name, so that they are always the same. */
static uint64_t hash(const char *name, int rank)
{
	uint64_t value = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)rank;

	for (; *name; name++)
		value = (value ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
	return value ^ value >> 32;
}

/* The third of the ranks with the lower hashes, or one. */
static struct rankset *choose_third(const char *name, int size)
{
	struct rankset *ranks = rankset_create();

	for (int rank = 0; rank < size; rank++) {
		int before = 0;

		for (int other = 0; other < size; other++)
			before += hash(name, other) < hash(name, rank);
		if (before < (size + 2) / 3)
			rankset_add(ranks, rank);
	}
	return ranks;
}

/* The models of the other ranks go through a share, as if one node had told of them. */
static void drop_models(struct job *job, const struct rankset *hidden)
{
	struct rankset *seen = proctable_ranks(job->proctable);
	struct job models = *job, told = *job;
	struct share *share = share_create();
	struct pdb_error err;

	rankset_remove_set(seen, hidden);
	models.samples = samples_create();
	models.num_holes = 0;
	share_fill(share, &models, seen, SHARE_ANSWERS | SHARE_DETAILS);
	told.model = NULL;
	told.samples = models.samples;
	told.holes = NULL;
	told.num_holes = 0;
	if (share_to_job(share, &told, &err) < 0)
		fail(&err);
	share_destroy(share);
	samples_destroy(models.samples);
	rankset_destroy(seen);
	job_model_destroy(job->model);
	job->model = told.model;
}

static bool has_model(const struct job *job)
{
	return job->model && !rankset_is_empty(job->model->ranks);
}

static void hide(struct job *job, enum hidden what, const char *name)
{
	struct rankset *ranks = what == HIDDEN_ALL ? proctable_ranks(job->proctable)
						   : choose_third(name, job->proctable->size);

	if (what != HIDDEN_NONE) {
		drop_models(job, ranks);
		for (int rank = rankset_first(ranks); rank >= 0; rank = rankset_next(ranks, rank))
			if (!job_find_hole(job, rank))
				job_add_hole(job, rank, "no recorder");
	}
	if (!has_model(job)) {
		job_model_destroy(job->model);
		job->model = NULL;
	}
	keep_samples(job);
	rankset_destroy(ranks);
}

/* ---- Answers ---- */

static struct job *load(const char *path)
{
	struct job *job;
	struct pdb_error err;

	if (snapshot_load(path, &job, &err) < 0)
		fail(&err);
	return job;
}

static char *ask(struct session *session)
{
	struct pdb_error err;
	char *text = NULL;
	size_t size;

	session->is_batch = true;
	session->settings.unicode = SWITCH_OFF;
	session->settings.width = 80;
	session->out = open_memstream(&text, &size);
	if (!session->out)
		abort();
	if (command_execute(session, "lp", &err) < 0)
		fprintf(session->out, "error: %s\n", err.text);
	fclose(session->out);
	return text;
}

static void answer(const char *path, const char *name, enum hidden what)
{
	struct json json = {.out = stdout};
	struct session session;
	struct job *job = load(path);
	char *text;

	hide(job, what, name);
	session_init(&session);
	session_take_loaded(&session, job, path);
	text = ask(&session);
	json_object(&json, NULL);
	json_text(&json, "file", name);
	json_text(&json, "by", hidden_names[what]);
	json_int(&json, "status", session_status(&session));
	json_text(&json, "text", text);
	json_end_object(&json);
	putchar('\n');
	free(text);
	session_deinit(&session);
}

static void replay(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (int what = 0; what < NUM_HIDDEN; what++)
		answer(path, name, what);
}

/* ---- Smaller ---- */

static void round_times(const struct job_lane *lane)
{
	for (size_t i = 0; i < lane->data->num_ring; i++) {
		struct model_event *event = &lane->data->ring[i];

		event->ns += (lane->model->now_ns - event->ns) % ROUND_NS;
	}
}

static void shrink(const char *path, const char *to)
{
	struct job *job = load(path);
	struct pdb_error err;

	for (size_t i = 0; job->model && i < job->model->num_lanes; i++)
		round_times(&job->model->lanes[i]);
	if (snapshot_save(job, to, &err) < 0)
		fail(&err);
	job_destroy(job);
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "--shrink") == 0)
		shrink(argv[2], argv[3]);
	else
		for (int i = 1; i < argc; i++)
			replay(argv[i]);
	return 0;
}
