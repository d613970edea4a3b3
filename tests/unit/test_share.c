/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "analysis/eqgroup.h"
#include "analysis/progress.h"
#include "analysis/verdict.h"
#include "analysis/waitfor.h"
#include "model/buffer.h"
#include "model/job_comms.h"
#include "model/model_pool.h"
#include "model/share_private.h"
#include "model/xalloc.h"
#include "tests/fixtures/many_ranks.h"
#include "tests/unit/whole_job.h"

enum { NUM_RANKS = 4 };

static struct buffer encode(const struct share *share)
{
	struct pdb_error err = {0};
	struct buffer bytes = {0};

	if (share_encode(share, &bytes, &err) < 0)
		fail_msg("%s", err.text);
	return bytes;
}

static struct share *decode(const struct buffer *bytes, int num_ranks)
{
	struct pdb_error err = {0};
	struct share *share = NULL;

	if (share_decode(bytes->bytes, bytes->num, num_ranks, &share, &err) < 0)
		fail_msg("%s", err.text);
	return share;
}

/* A share of some ranks, as it comes out at the other end. */
static struct share *send_share(const struct job *job, const struct rankset *ranks,
				unsigned int parts)
{
	struct share *share = share_create(), *again;
	struct buffer bytes;

	share_fill(share, job, ranks, parts);
	bytes = encode(share);
	share_destroy(share);
	again = decode(&bytes, job->proctable->size);
	free(bytes.bytes);
	return again;
}

static struct job *to_job(const struct share *share)
{
	struct pdb_error err = {0};
	struct job *job = job_create();

	if (share_to_job(share, job, &err) < 0)
		fail_msg("%s", err.text);
	return job;
}

static void merge(struct share *into, struct share *from)
{
	struct pdb_error err = {0};

	if (share_merge(into, from, &err) < 0)
		fail_msg("%s", err.text);
	share_destroy(from);
}

/* ---- Round trips ----------------------------------------------------------------------------- */

static void test_round_trip(void **state)
{
	struct job *job = make_job(true), *again;
	struct share *share = send_share(job, NULL, SHARE_ALL);

	(void)state;
	assert_int_equal(share_num_ranks(share), 3);
	again = to_job(share);
	assert_same_contents(job, again);
	assert_string_equal(names_get(again->names, 0)->function, "main");
	job_destroy(again);
	share_destroy(share);
	job_destroy(job);
}

static void test_empty(void **state)
{
	struct job *job = job_create(), *again;
	struct share *share = send_share(job, NULL, SHARE_ALL);

	(void)state;
	again = to_job(share);
	assert_null(again->model);
	share_destroy(share);
	job_destroy(again);
	/* A model without ranks is not the same as none. */
	job->model = job_model_create(job->modules, job->callpaths);
	job_model_finish(job->model);
	share = send_share(job, NULL, SHARE_ALL);
	again = to_job(share);
	assert_non_null(again->model);
	assert_int_equal(share_num_ranks(share), 0);
	share_destroy(share);
	job_destroy(again);
	job_destroy(job);
	share_destroy(NULL);
}

/* ---- Details --------------------------------------------------------------------------------- */

static void test_details(void **state)
{
	struct job *job = make_job(true), *again;
	struct share *share = send_share(job, NULL, SHARE_ANSWERS | SHARE_NAMES);
	struct rankset *ranks = rankset_create();
	const struct model_lane *lane, *own;
	struct pdb_error err = {0};

	(void)state;
	again = to_job(share);
	share_destroy(share);
	lane = again->model->lanes[0].data;
	own = job->model->lanes[0].data;
	assert_int_equal(lane->num_ring, own->num_ring);
	assert_int_equal(lane->ring[0].state, own->ring[0].state);
	assert_int_equal(lane->ring[0].ns, 0);
	assert_true(model_lane_stay(own, own->state) > 0);
	assert_int_equal(model_lane_stay(lane, own->state), model_lane_stay(own, own->state));
	/* Of one rank, then of the others. */
	rankset_add(ranks, 1);
	share = send_share(job, ranks, SHARE_DETAILS);
	assert_int_equal(share_num_ranks(share), 1);
	assert_int_equal(share_add_details(share, again, &err), 0);
	share_destroy(share);
	assert_int_equal(lane->ring[0].ns, 0);
	rankset_remove(ranks, 1);
	rankset_add_range(ranks, 0, 2);
	rankset_remove(ranks, 1);
	share = send_share(job, ranks, SHARE_DETAILS);
	assert_int_equal(share_add_details(share, again, &err), 0);
	share_destroy(share);
	assert_same_contents(job, again);
	rankset_destroy(ranks);
	job_destroy(again);
	job_destroy(job);
}

/* Details of another moment do not fit. */
static void test_wrong_details(void **state)
{
	struct job *job = make_job(true), *other;
	struct share *share = send_share(job, NULL, SHARE_ANSWERS), *details;
	struct pdb_error err = {0};
	struct model_lane *lane = (struct model_lane *)job->model->lanes[0].data;

	(void)state;
	other = to_job(share);
	lane->num_ring--;
	details = send_share(job, NULL, SHARE_DETAILS);
	assert_int_equal(share_add_details(details, other, &err), -1);
	assert_error(&err, ERROR_FORMAT, "rank 0 is corrupt");
	share_destroy(details);
	share_destroy(share);
	job_destroy(other);
	job_destroy(job);
}

/* ---- Merging --------------------------------------------------------------------------------- */

struct answers {
	struct progress *progress;
	struct eqgroups *groups;
	struct progress_graph *graph;
	struct job_comms *comms;
	struct waitfor *waitfor;
	struct verdict *verdict;
};

static struct answers answer(const struct job *job)
{
	struct answers a = {.progress = progress_create(job->model)};

	a.groups = eqgroups_create(a.progress);
	a.graph = progress_graph_create(a.progress, a.groups);
	a.comms = job_comms_create(job->model);
	a.waitfor = waitfor_create(job, a.comms);
	a.verdict = verdict_create(job, a.groups, a.graph, a.waitfor);
	return a;
}

static void forget(struct answers *a)
{
	verdict_destroy(a->verdict);
	waitfor_destroy(a->waitfor);
	job_comms_destroy(a->comms);
	progress_graph_destroy(a->graph);
	eqgroups_destroy(a->groups);
	progress_destroy(a->progress);
}

static void assert_same_answers(const struct job *x, const struct job *y)
{
	struct answers a = answer(x), b = answer(y);

	assert_int_equal(a.groups->num_groups, b.groups->num_groups);
	for (size_t i = 0; i < a.groups->num_groups; i++) {
		assert_true(rankset_equal(a.groups->groups[i].ranks, b.groups->groups[i].ranks));
		assert_int_equal(a.groups->groups[i].state, b.groups->groups[i].state);
	}
	assert_int_equal(a.progress->num_loops, b.progress->num_loops);
	assert_int_equal(a.verdict->kind, b.verdict->kind);
	assert_true(rankset_equal(a.verdict->culprits, b.verdict->culprits));
	assert_true(rankset_equal(a.verdict->waiting, b.verdict->waiting));
	assert_int_equal(a.comms->num_comms, b.comms->num_comms);
	assert_int_equal(a.waitfor->num_lanes, b.waitfor->num_lanes);
	for (size_t l = 0; l < a.waitfor->num_lanes; l++)
		assert_int_equal(a.waitfor->lanes[l].is_stuck, b.waitfor->lanes[l].is_stuck);
	forget(&a);
	forget(&b);
}

static struct job *make_many(struct many_ranks *many, int num_ranks)
{
	struct job *job = job_create();

	job->proctable->size = num_ranks;
	job->model = job_model_create(job->modules, job->callpaths);
	for (int rank = 0; rank < num_ranks; rank++)
		job_model_add(job->model, rank, many_ranks_model(many, rank), 0);
	job_model_finish(job->model);
	for (size_t l = 0; l < job->model->num_lanes; l++)
		job->model->lanes[l].has_second_look = true;
	return job;
}

/* Ranks dealt to nodes at random, nodes merged two by two at random, sent on at each step. */
static void test_any_tree(void **state)
{
	static const struct many_ranks_setting settings[] = {
		{.num_ranks = 64, .num_hanging = 2, .num_programs = 1, .ring = 300},
		{.num_ranks = 150,
		 .num_hanging = 3,
		 .num_programs = 2,
		 .ring = 5000,
		 .ranks_per_node = 7,
		 .num_neighbours = 6},
		{.num_ranks = 50, .num_programs = 3, .ring = 1, .num_neighbours = 3},
	};

	(void)state;
	srandom(11);
	for (size_t round = 0; round < 4 * NUM_OF(settings); round++) {
		const struct many_ranks_setting *setting = &settings[round % NUM_OF(settings)];
		struct many_ranks *many = many_ranks_create(setting);
		struct job *job = make_many(many, setting->num_ranks), *again;
		int num_nodes = 1 + (int)(random() % 12);
		struct rankset *ranks[12];
		struct share *shares[12];

		for (int i = 0; i < num_nodes; i++)
			ranks[i] = rankset_create();
		for (int rank = 0; rank < setting->num_ranks; rank++)
			rankset_add(ranks[random() % num_nodes], rank);
		for (int i = 0; i < num_nodes; i++) {
			shares[i] = send_share(job, ranks[i], SHARE_ANSWERS | SHARE_DETAILS);
			rankset_destroy(ranks[i]);
		}
		for (; num_nodes > 1; num_nodes--) {
			int into = (int)(random() % (num_nodes - 1));
			struct buffer bytes;

			merge(shares[into], shares[num_nodes - 1]);
			bytes = encode(shares[into]);
			share_destroy(shares[into]);
			shares[into] = decode(&bytes, setting->num_ranks);
			free(bytes.bytes);
		}
		assert_int_equal(share_num_ranks(shares[0]), setting->num_ranks);
		again = to_job(shares[0]);
		assert_same_job_model(job->model, again->model);
		assert_same_answers(job, again);
		job_destroy(again);
		share_destroy(shares[0]);
		shares[0] = send_share(job, NULL, SHARE_ANSWERS);
		again = to_job(shares[0]);
		assert_same_answers(job, again);
		job_destroy(again);
		share_destroy(shares[0]);
		job_destroy(job);
		many_ranks_destroy(many);
	}
}

/* Ranks come out by number, in whatever order they were added. */
static void test_order_of_ranks(void **state)
{
	static const struct many_ranks_setting setting = {
		.num_ranks = 50, .num_programs = 2, .ring = 9};
	struct many_ranks *many = many_ranks_create(&setting);
	struct job *job = make_many(many, 50), *other = job_create(), *again;
	struct share *share;

	(void)state;
	other->proctable->size = 50;
	other->model = job_model_create(other->modules, other->callpaths);
	for (int rank = 49; rank >= 0; rank--)
		job_model_add(other->model, rank, many_ranks_model(many, rank), 0);
	job_model_finish(other->model);
	for (size_t l = 0; l < other->model->num_lanes; l++)
		other->model->lanes[l].has_second_look = true;
	share = send_share(other, NULL, SHARE_ANSWERS | SHARE_DETAILS);
	again = to_job(share);
	assert_same_job_model(job->model, again->model);
	share_destroy(share);
	job_destroy(again);
	job_destroy(job);
	job_destroy(other);
	many_ranks_destroy(many);
}

/* What is equal is there once, whatever the number of ranks. */
static void test_growth(void **state)
{
	size_t sizes[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct many_ranks_setting setting = {.num_ranks = i ? 2048 : 1024,
						     .num_programs = 1,
						     .ring = 300,
						     .num_neighbours = 26};
		struct many_ranks *many = many_ranks_create(&setting);
		struct job *job = make_many(many, setting.num_ranks);
		struct share *share = share_create();
		struct buffer bytes;

		share_fill(share, job, NULL, SHARE_ANSWERS);
		assert_int_equal(share->columns[SHARE_PROGRAM].items.num, 1);
		assert_in_range(share->columns[SHARE_SHAPE].items.num, 1, 27);
		assert_in_range(share->columns[SHARE_RING_STATES].items.num, 1, 27 * 12);
		assert_int_equal(share->columns[SHARE_PROCESS].items.num, setting.num_ranks);
		bytes = encode(share);
		sizes[i] = bytes.num;
		free(bytes.bytes);
		share_destroy(share);
		job_destroy(job);
		many_ranks_destroy(many);
	}
	assert_in_range((sizes[1] - sizes[0]) / 1024, 1, 60);
}

/* Two ranks that do the same point to one thing each. */
static void assert_shared(const struct job_lane *a, const struct job_lane *b)
{
	assert_ptr_equal(a->model->program, b->model->program);
	assert_ptr_equal(a->model->sites, b->model->sites);
	assert_ptr_equal(a->data->transitions, b->data->transitions);
	assert_ptr_equal(a->data->ledger, b->data->ledger);
	assert_ptr_equal(a->data->ring, b->data->ring);
	assert_ptr_equal(a->data->state_polls, b->data->state_polls);
	assert_null(a->data->longest_ns);
	assert_null(a->model->comms);
	/* All but the rows and columns that they are in. */
	assert_int_equal(a->like, b->like);
	assert_memory_equal(a->model->pool_comms, b->model->pool_comms,
			    (MANY_RANKS_COMMS - 2) * sizeof(uint32_t));
}

static void test_shared_tables(void **state)
{
	static const struct many_ranks_setting setting = {
		.num_ranks = 2048, .num_programs = 1, .ring = 300, .num_neighbours = 26};
	struct many_ranks *many = many_ranks_create(&setting);
	struct job *job = make_many(many, setting.num_ranks), *again;
	struct share *share = share_create();
	const struct job_lane *lanes;
	const struct model_pool *pool;
	size_t num_sets;

	(void)state;
	share_fill(share, job, NULL, SHARE_ANSWERS);
	again = to_job(share);
	lanes = again->model->lanes;
	/* In the middle of a block, with the same number of iterations. */
	assert_shared(&lanes[273], &lanes[273 + 768]);
	assert_ptr_not_equal(lanes[273].data->transitions, lanes[274].data->transitions);
	assert_int_equal(model_comm_rank(lanes[273].model, 0), 273);
	assert_int_equal(model_comm_rank(lanes[1041].model, 0), 1041);
	assert_int_equal(model_ledger_peer(lanes[273].model, &lanes[273].data->ledger[0]), 274);
	assert_int_equal(model_ledger_peer(lanes[1041].model, &lanes[1041].data->ledger[1]), 1040);
	assert_int_equal(
		model_members(lanes[1041].model, model_comm(lanes[1041].model, 1)->members)[0],
		1041);
	/* The world and its duplicates once, rows and columns for each set of call sites. */
	pool = lanes[0].model->pool;
	num_sets = share->columns[SHARE_SHAPE].items.num;
	assert_in_range(pool->num_comms, MANY_RANKS_COMMS,
			MANY_RANKS_COMMS + num_sets * (2048 / 16 + 2048 / 64));
	assert_int_equal(pool->num_members, 2 * 2048);
	share_destroy(share);
	job_destroy(again);
	job_destroy(job);
	many_ranks_destroy(many);
}

/* More different counts than are gathered in classes: all, or some, ranks have their own. */
static void test_own_counts(void **state)
{
	static const struct many_ranks_setting setting = {
		.num_ranks = 900, .num_programs = 2, .ring = 30};
	struct many_ranks *many = many_ranks_create(&setting);

	(void)state;
	for (int kinds = 900; kinds >= 100; kinds -= 400) {
		struct job *job = job_create(), *again;
		struct share *share;

		job->proctable->size = setting.num_ranks;
		job->model = job_model_create(job->modules, job->callpaths);
		for (int rank = 0; rank < setting.num_ranks; rank++) {
			struct model *model = many_ranks_model(many, rank);

			model->lanes[0].transitions[3].count += (uint64_t)(rank % kinds);
			job_model_add(job->model, rank, model, 0);
		}
		job_model_finish(job->model);
		share = send_share(job, NULL, SHARE_ANSWERS | SHARE_DETAILS);
		again = to_job(share);
		assert_same_job_model(job->model, again->model);
		share_destroy(share);
		job_destroy(again);
		job_destroy(job);
	}
	many_ranks_destroy(many);
}

/* Names of all frames of a job come from one of its nodes; merging begins with nothing. */
static void test_names(void **state)
{
	struct job *job = make_job(true), *again;
	struct rankset *ranks = rankset_create(), *rest = rankset_create();
	struct share *all = share_create();

	(void)state;
	rankset_add(ranks, 2);
	rankset_add_range(rest, 0, 1);
	rankset_add(rest, 3);
	merge(all, send_share(job, ranks, SHARE_ANSWERS | SHARE_DETAILS));
	merge(all, send_share(job, rest, SHARE_ALL));
	again = to_job(all);
	assert_same_contents(job, again);
	job_destroy(again);
	share_destroy(all);
	rankset_destroy(ranks);
	rankset_destroy(rest);
	job_destroy(job);
}

static void add_stack(struct job *job, int rank, uint64_t offset, uint64_t when_ns)
{
	uint32_t module = modules_intern(job->modules, "/bin/app", NULL, 0);
	struct sample sample = {
		.rank = rank,
		.tid = 1000 + rank,
		.is_main = true,
		.status = SAMPLE_INCOMPLETE,
		.path = callpaths_intern(job->callpaths, CALLPATH_NONE, module, offset, true),
		.state = 'S',
		.when_ns = when_ns,
		.note = xstrdup("why"),
	};

	samples_add(job->samples, &sample);
}

/* Two stacks, however many ranks have them: what arrives says which, in order, and whose. */
static void test_stacks_only(void **state)
{
	struct job *job = job_create(), *again;
	struct share *all = share_create();
	struct buffer bytes;
	size_t few;

	(void)state;
	for (int rank = 0; rank < 4096; rank++) {
		proctable_add(job->proctable, rank, 1000 + rank, "a", "app");
		add_stack(job, rank, rank < 5 ? 0x10 : 0x20, 50);
		add_stack(job, rank, 0x20, 60);
	}
	assert_int_equal(proctable_finish(job->proctable, NULL), 0);
	share_fill(all, job, NULL, SHARE_ANSWERS | SHARE_STACKS_ONLY);
	bytes = encode(all);
	few = bytes.num;
	free(bytes.bytes);
	share_destroy(all);
	assert_true(few < 300);
	all = send_share(job, NULL, SHARE_ANSWERS | SHARE_STACKS_ONLY);
	again = job_create();
	for (int rank = 0; rank < 4096; rank++)
		proctable_add(again->proctable, rank, 1000 + rank, "a", "app");
	assert_int_equal(proctable_finish(again->proctable, NULL), 0);
	assert_int_equal(share_to_job(all, again, NULL), 0);
	assert_int_equal(again->samples->num_samples, 2 * 4096);
	for (size_t i = 0; i < again->samples->num_samples; i++) {
		const struct sample *sample = &again->samples->samples[i];

		assert_int_equal(sample->rank, i / 2);
		assert_int_equal(sample->tid, 1000 + i / 2);
		assert_int_equal(sample->when_ns, i % 2);
		assert_int_equal(sample->status, SAMPLE_INCOMPLETE);
		assert_string_equal(sample->note, "why");
		assert_int_equal(callpaths_get(again->callpaths, sample->path)->offset,
				 i < 10 && i % 2 == 0 ? 0x10 : 0x20);
	}
	share_destroy(all);
	job_destroy(again);
	job_destroy(job);
}

/* Machine code comes from one of the nodes that have it, whichever. */
static void test_code(void **state)
{
	struct job *job = make_job(true), *again;
	struct rankset *ranks = rankset_create(), *rest = rankset_create();
	struct share *all = share_create();

	(void)state;
	rankset_add(ranks, 2);
	rankset_add_range(rest, 0, 1);
	rankset_add(rest, 3);
	merge(all, send_share(job, ranks, SHARE_ALL | SHARE_CODE));
	merge(all, send_share(job, rest, SHARE_ALL | SHARE_CODE));
	assert_int_equal(all->columns[SHARE_CODE_COLUMN].items.num, 1);
	again = to_job(all);
	assert_same_code(job->code, again->code);
	job_destroy(again);
	share_destroy(all);
	all = send_share(job, NULL, SHARE_ALL);
	again = to_job(all);
	assert_int_equal(code_store_count(again->code), 0);
	job_destroy(again);
	share_destroy(all);
	rankset_destroy(ranks);
	rankset_destroy(rest);
	job_destroy(job);
}

/* Of different values there are as many as are different; a rank without any costs nothing. */
static void test_values(void **state)
{
	struct job *job = job_create(), *again;
	struct share *all;

	(void)state;
	for (int rank = 0; rank < 64; rank++) {
		struct sample *sample;

		proctable_add(job->proctable, rank, 1000 + rank, "a", "app");
		add_stack(job, rank, 0x20, 60);
		sample = &job->samples->samples[rank];
		if (rank < 2)
			continue;
		sample->num_values = 1;
		sample->values = xcalloc(1, sizeof(*sample->values));
		sample->values[0] = (struct sample_value){.value = rank == 40 ? 16 : 17};
	}
	assert_int_equal(proctable_finish(job->proctable, NULL), 0);
	all = send_share(job, NULL, SHARE_ANSWERS | SHARE_STACKS_ONLY);
	assert_int_equal(all->columns[SHARE_SAMPLES].items.num, 1);
	assert_int_equal(all->columns[SHARE_VALUES].items.num, 2);
	assert_int_equal(all->columns[SHARE_VALUES].places[0].num_runs, 3);
	again = to_job(all);
	for (int rank = 0; rank < 64; rank++) {
		const struct sample *sample = samples_find(again->samples, rank, 0);

		assert_int_equal(sample->num_values, rank >= 2);
		if (rank >= 2)
			assert_int_equal(sample->values[0].value, rank == 40 ? 16 : 17);
	}
	share_destroy(all);
	job_destroy(again);
	job_destroy(job);
}

static void test_refused_merge(void **state)
{
	struct job *job = make_job(true), *again;
	struct rankset *ranks = rankset_create();
	struct share *all = send_share(job, NULL, SHARE_ALL), *one;
	struct pdb_error err = {0};

	(void)state;
	rankset_add(ranks, 2);
	one = send_share(job, ranks, SHARE_ALL);
	assert_int_equal(share_merge(all, one, &err), -1);
	assert_error(&err, ERROR_FORMAT, "two nodes tell of rank 2");
	share_destroy(one);
	one = send_share(job, ranks, SHARE_DETAILS);
	assert_int_equal(share_merge(all, one, &err), -1);
	assert_error(&err, ERROR_FORMAT, "different things");
	/* Nothing has changed. */
	again = to_job(all);
	assert_same_contents(job, again);
	job_destroy(again);
	share_destroy(all);
	share_destroy(one);
	rankset_destroy(ranks);
	job_destroy(job);
}

/* ---- Bad input ------------------------------------------------------------------------------- */

static void assert_refused(const uint8_t *bytes, size_t size, int num_ranks, enum error_code code,
			   const char *part)
{
	struct pdb_error err = {0};
	struct share *share = NULL;

	assert_int_equal(share_decode(bytes, size, num_ranks, &share, &err), -1);
	assert_null(share);
	assert_error(&err, code, part);
	assert_int_equal(share_decode(bytes, size, num_ranks, &share, NULL), -1);
}

static struct buffer encode_whole_job(void)
{
	struct job *job = make_job(true);
	struct share *share = share_create();
	struct buffer bytes;

	share_fill(share, job, NULL, SHARE_ALL);
	bytes = encode(share);
	share_destroy(share);
	job_destroy(job);
	return bytes;
}

/* One byte changed, anywhere, to anything near or far; cut off anywhere; too long. */
static void test_damaged(void **state)
{
	struct buffer bytes = encode_whole_job();

	(void)state;
	for (size_t at = 0; at < bytes.num; at++) {
		uint8_t old = bytes.bytes[at];

		for (int bit = 0; bit < 8; bit++) {
			bytes.bytes[at] = (uint8_t)(old ^ 1 << bit);
			assert_refused(bytes.bytes, bytes.num, NUM_RANKS,
				       at >= 8 && at < 12 ? ERROR_VERSION : ERROR_FORMAT, "share");
		}
		bytes.bytes[at] = old;
	}
	for (size_t size = 0; size < bytes.num; size++) {
		uint8_t *copy = xmalloc(size + 1);

		memcpy(copy, bytes.bytes, size);
		assert_refused(copy, size, NUM_RANKS, ERROR_FORMAT, "share");
		free(copy);
	}
	buffer_put(&bytes, 0);
	assert_refused(bytes.bytes, bytes.num, NUM_RANKS, ERROR_FORMAT, "corrupt");
	/* Rank 3 has a sample. */
	bytes.num--;
	assert_refused(bytes.bytes, bytes.num, 3, ERROR_FORMAT, "corrupt");
	free(bytes.bytes);
}

enum { HEADER = 36, CHECKSUM_AT = 12, SIZES_AT = 20 };

static void store(uint8_t *at, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

/* Contents with all sizes and the checksum right. */
static struct buffer wrap(const uint8_t *plain, size_t size, uint64_t claimed)
{
	struct buffer bytes = {.capacity = HEADER + ZSTD_compressBound(size)};
	size_t packed;

	bytes.bytes = xcalloc(1, bytes.capacity);
	memcpy(bytes.bytes, SHARE_MAGIC, 8);
	bytes.bytes[8] = SHARE_VERSION;
	packed = ZSTD_compress(bytes.bytes + HEADER, bytes.capacity - HEADER, plain, size, 1);
	store(bytes.bytes + SIZES_AT, claimed);
	store(bytes.bytes + SIZES_AT + 8, packed);
	store(bytes.bytes + CHECKSUM_AT,
	      blobs_hash(bytes.bytes + SIZES_AT, HEADER - SIZES_AT + packed));
	bytes.num = HEADER + packed;
	return bytes;
}

static uint8_t *unwrap(const struct buffer *bytes, size_t *size_ret)
{
	size_t capacity = 1 << 20;
	uint8_t *plain = xmalloc(capacity);

	*size_ret = ZSTD_decompress(plain, capacity, bytes->bytes + HEADER, bytes->num - HEADER);
	assert_false(ZSTD_isError(*size_ret));
	return plain;
}

/* 0: read to a job; else the error. */
static enum error_code try(const struct buffer *bytes)
{
	struct pdb_error err = {0};
	struct share *share = NULL;
	struct job *job;

	if (share_decode(bytes->bytes, bytes->num, NUM_RANKS, &share, &err) < 0)
		return err.code;
	job = job_create();
	if (share_to_job(share, job, &err) == 0 && job->model) {
		struct answers answers = answer(job);

		forget(&answers);
	}
	job_destroy(job);
	share_destroy(share);
	return err.code;
}

/* Hostile: the checksum is right, what is inside is not. */
static void test_hostile(void **state)
{
	struct buffer bytes = encode_whole_job(), bad;
	size_t size;
	uint8_t *plain = unwrap(&bytes, &size), *copy = xmalloc(size);
	int taken = 0, refused = 0;

	(void)state;
	bad = wrap(plain, size, size);
	assert_int_equal(try(&bad), ERROR_NONE);
	free(bad.bytes);
	for (size_t cut = 0; cut < size; cut++) {
		bad = wrap(plain, cut, cut);
		assert_int_equal(try(&bad), ERROR_FORMAT);
		free(bad.bytes);
	}
	/* More than there is, and more than may be. */
	bad = wrap(plain, size, size + 1);
	assert_int_equal(try(&bad), ERROR_FORMAT);
	free(bad.bytes);
	bad = wrap(plain, size, (uint64_t)1 << 40);
	assert_int_equal(try(&bad), ERROR_FORMAT);
	free(bad.bytes);
	srandom(5);
	for (int round = 0; round < 8000; round++) {
		enum error_code code;

		memcpy(copy, plain, size);
		for (int n = 1 + (int)(random() % 2); n > 0; n--) {
			uint8_t *at = &copy[(size_t)random() % size];

			*at = (uint8_t)(random() % 2 ? random() : *at + random() % 3 - 1);
		}
		bad = wrap(copy, size, size);
		code = try(&bad);
		free(bad.bytes);
		if (code == ERROR_NONE)
			taken++;
		else
			refused++;
		assert_true(code == ERROR_NONE || code == ERROR_FORMAT);
	}
	assert_in_range(taken, 100, 7900);
	assert_in_range(refused, 100, 7900);
	free(copy);
	free(plain);
	free(bytes.bytes);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

enum { NUM_IN_RUNS = 6 };

static void add_to_runs(struct share_place *place, const int *items, int first, int last)
{
	for (int rank = first; rank <= last; rank++) {
		struct share_run run = {rank, rank, 0, 0};

		run.item = (uint32_t)items[rank];
		if (items[rank] >= 0)
			share_place_add_run(place, &run);
	}
}

static void assert_items(const struct share_place *place, const int *items)
{
	int found[NUM_IN_RUNS] = {-1, -1, -1, -1, -1, -1};

	for (size_t i = 0; i < place->num_runs; i++)
		for (int rank = place->runs[i].first; rank <= place->runs[i].last; rank++)
			found[rank] = (int)share_run_item(&place->runs[i], rank);
	assert_memory_equal(found, items, sizeof(found));
}

/* Items of ranks 0, 1, ... (-1: none), and how many runs they make one by one. */
static void test_runs(void **state)
{
	static const struct {
		int items[NUM_IN_RUNS];
		size_t num_runs;
	} table[] = {
		{{4, 4, 4, 4, 4, 4}, 1},   {{4, 5, 6, 7, 8, 9}, 1}, {{4, 4, 5, 6, 6, 6}, 3},
		{{4, 4, -1, 4, -1, 5}, 3}, {{5, 4, 3, 3, 2, 0}, 5}, {{-1, 0, 1, 0, 1, 2}, 2},
		{{7, 7, 7, 8, 8, 8}, 2},   {{0, 1, 2, 2, 3, 4}, 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct share_place one = {0}, low = {0}, high = {0};

		add_to_runs(&one, table[i].items, 0, NUM_IN_RUNS - 1);
		assert_int_equal(one.num_runs, table[i].num_runs);
		assert_items(&one, table[i].items);
		add_to_runs(&low, table[i].items, 0, 2);
		add_to_runs(&high, table[i].items, 3, NUM_IN_RUNS - 1);
		for (size_t n = 0; n < high.num_runs; n++)
			share_place_add_run(&low, &high.runs[n]);
		assert_in_range(low.num_runs, table[i].num_runs, table[i].num_runs + 1);
		assert_items(&low, table[i].items);
		free(one.runs);
		free(low.runs);
		free(high.runs);
	}
}

/* What may not be in a share although it is well-formed. */
static void test_refused_runs(void **state)
{
	static const struct {
		int place, first, last;
		uint32_t item, step;
		bool is_good;
	} table[] = {
		{1, 0, 3, 0, 0, true},  {1, 0, 2, 0, 1, true},  {1, 0, 3, 0, 1, false},
		{1, 2, 3, 2, 1, false}, {1, 1, 2, 3, 0, false}, {1, 0, 4, 0, 0, false},
		{2, 1, 2, 0, 0, true},  {2, 0, 0, 0, 0, false}, {2, 2, 3, 0, 0, false},
		{3, 1, 1, 0, 0, false}, /* nobody is in place 2 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct share *share = share_create(), *again = NULL;
		struct share_column *column = &share->columns[SHARE_HOLES];
		struct share_run run = {table[i].first, table[i].last, table[i].item & 3,
					table[i].step & 1};
		struct pdb_error err = {0};
		struct buffer bytes;

		for (int item = 0; item < 3; item++)
			share_column_add_item(column, SHARE_HOLES, &item, sizeof(item));
		share_place_add_run(share_column_place(column, 0), &(struct share_run){0, 3, 0, 0});
		if (table[i].place > 1)
			share_place_add_run(share_column_place(column, 1),
					    &(struct share_run){1, 2, 0, 0});
		share_place_add_run(share_column_place(column, (size_t)table[i].place), &run);
		bytes = encode(share);
		assert_int_equal(share_decode(bytes.bytes, bytes.num, 5, &again, &err),
				 table[i].is_good ? 0 : -1);
		share_destroy(again);
		share_destroy(share);
		free(bytes.bytes);
	}
}

/* ---- Blobs ----------------------------------------------------------------------------------- */

static void test_blobs(void **state)
{
	struct blobs blobs = {0};
	size_t size;

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 1000; i++)
			assert_int_equal(blobs_intern(&blobs, &i, i % 2 ? 4 : 3), i);
		assert_int_equal(blobs_intern(&blobs, NULL, 0), 1000);
	}
	assert_int_equal(blobs.num, 1001);
	blobs_get(&blobs, 1000, &size);
	assert_int_equal(size, 0);
	assert_int_equal(*blobs_get(&blobs, 7, &size), 7);
	assert_int_equal(size, 4);
	blobs_deinit(&blobs);
	/* Those that nobody compares, in room made before. */
	blobs = (struct blobs){0};
	blobs_reserve(&blobs, 10, 40);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(blobs_add(&blobs, "same", 4), i);
	assert_memory_equal(blobs_get(&blobs, 999, &size), "same", 4);
	assert_int_equal(size, 4);
	/* ... until somebody does. */
	assert_int_equal(blobs_intern(&blobs, "other", 5), 1000);
	assert_int_equal(blobs_intern(&blobs, "same", 4), 0);
	assert_int_equal(blobs_intern(&blobs, "other", 5), 1000);
	blobs_deinit(&blobs);
	/* A byte more or less of the same is something else. */
	assert_true(blobs_hash("\0\0", 1) != blobs_hash("\0\0", 2));
	assert_true(blobs_hash("abcdefgh", 8) != blobs_hash("abcdefgi", 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),          cmocka_unit_test(test_refused_runs),
		cmocka_unit_test(test_blobs),         cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_empty),         cmocka_unit_test(test_order_of_ranks),
		cmocka_unit_test(test_details),       cmocka_unit_test(test_wrong_details),
		cmocka_unit_test(test_any_tree),      cmocka_unit_test(test_growth),
		cmocka_unit_test(test_shared_tables), cmocka_unit_test(test_own_counts),
		cmocka_unit_test(test_names),         cmocka_unit_test(test_code),
		cmocka_unit_test(test_values),        cmocka_unit_test(test_refused_merge),
		cmocka_unit_test(test_damaged),       cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_stacks_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
