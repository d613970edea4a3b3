/* SPDX-License-Identifier: BSD-3-Clause
 * Shares of several nodes are united, in any order. */
#include <stdlib.h>
#include <string.h>

#include "model/job/blocked.h"
#include "model/job/model_pool.h"
#include "model/wire/share_private.h"
#include "model/xalloc.h"
#include "tests/fixtures/many_ranks.h"
#include "tests/unit/answers.h"
#include "tests/unit/share_sample.h"

static void assert_same_answers(struct job *x, struct job *y)
{
	struct answers a = answers_of(x), b = answers_of(y);

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
	assert_int_equal(a.waitfor->num_actors, b.waitfor->num_actors);
	for (size_t l = 0; l < a.waitfor->num_actors; l++)
		assert_int_equal(a.waitfor->actors[l].is_stuck, b.waitfor->actors[l].is_stuck);
	answers_deinit(&a);
	answers_deinit(&b);
}

static struct job *make_many(struct many_ranks *many, int num_ranks)
{
	struct job *job = many_ranks_job(many, 0, num_ranks - 1);

	job->proctable->size = num_ranks;
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

/* The shares of two nodes, one of rank 2 and one of the rest, merged; merging begins with
 * nothing. */
static struct share *merge_two(const struct job *job, unsigned int parts_of_2,
			       unsigned int parts_of_rest)
{
	struct rankset *ranks = rankset_create(), *rest = rankset_create();
	struct share *all = share_create();

	rankset_add(ranks, 2);
	rankset_add_range(rest, 0, 1);
	rankset_add(rest, 3);
	merge(all, send_share(job, ranks, parts_of_2));
	merge(all, send_share(job, rest, parts_of_rest));
	rankset_destroy(ranks);
	rankset_destroy(rest);
	return all;
}

/* Names of all frames of a job come from one of its nodes. */
static void test_names(void **state)
{
	struct job *job = whole_job_create(true), *again;
	struct share *all = merge_two(job, SHARE_ANSWERS | SHARE_DETAILS, SHARE_ALL);

	(void)state;
	again = to_job(all);
	assert_same_contents(job, again);
	job_destroy(again);
	share_destroy(all);
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

static void check_text(const char *text, const char *expected)
{
	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
}

static void check_blocked(const struct blocked *of, const struct blocked *expected)
{
	assert_int_equal(of != NULL, expected != NULL);
	if (!of)
		return;
	check_text(of->call, expected->call);
	check_text(of->object, expected->object);
	check_text(of->place, expected->place);
	check_text(of->reason, expected->reason);
	check_text(of->kernel, expected->kernel);
}

/* Whom threads wait for, and nobody. Of main threads alone the others have no place. */
static void test_sample_waits(void **state)
{
	static const struct sample_wait waits[] = {
		{SAMPLE_WAIT_JOIN, false, 1200},
		{SAMPLE_WAIT_NONE, false, 0},
		{SAMPLE_WAIT_OTHER, true, 0},
		{SAMPLE_WAIT_LAST, true, 1003},
	};
	struct blocked *blocked[] = {
		blocked_create("read", "a pipe", NULL, "nobody writes", NULL),
		blocked_create("fsync", "/s/x", "nfs, s:/", NULL, "rpc_wait"),
	};
	struct job *job = job_create(), *again;
	struct share *share;

	(void)state;
	for (int rank = 0; rank < 4; rank++) {
		proctable_add(job->proctable, rank, 1000 + rank, "a", "app");
		add_stack(job, rank, 0x10, 50);
		job->samples->samples[rank].wait = waits[rank];
	}
	for (int i = 1; i < 4; i += 2) /* who waits for nobody else, and who does */
		job->samples->samples[i].blocked = blocked[i / 2]; /* until the end */
	add_stack(job, 3, 0x20, 50);
	job->samples->samples[4].tid = 1300;
	job->samples->samples[4].is_main = false;
	assert_int_equal(proctable_finish(job->proctable, NULL), 0);
	share = send_share(job, NULL, SHARE_ANSWERS);
	again = to_job(share);
	assert_int_equal(again->samples->num_samples, 5);
	for (int i = 0; i < 5; i++) {
		const struct sample *sample = &again->samples->samples[i];

		assert_int_equal(sample->wait.kind, i < 4 ? waits[i].kind : SAMPLE_WAIT_NONE);
		assert_int_equal(sample->wait.tid, i < 4 ? waits[i].tid : 0);
		assert_int_equal(sample->wait.is_timed, i < 4 && waits[i].is_timed);
		check_blocked(sample->blocked, i == 1 || i == 3 ? blocked[i / 2] : NULL);
	}
	share_destroy(share);
	job_destroy(again);
	share = send_share(job, NULL, SHARE_ANSWERS | SHARE_STACKS_ONLY);
	again = to_job(share);
	assert_int_equal(again->samples->num_samples, 4);
	share_destroy(share);
	job_destroy(again);
	job_destroy(job);
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
	struct job *job = whole_job_create(true), *again;
	struct share *all = merge_two(job, SHARE_ALL | SHARE_CODE, SHARE_ALL | SHARE_CODE);

	(void)state;
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
	struct job *job = whole_job_create(true), *again;
	struct rankset *ranks = rankset_create();
	struct share *all = send_share(job, NULL, SHARE_ALL), *one;
	struct pdb_error err = {0};

	(void)state;
	rankset_add(ranks, 2);
	one = send_share(job, ranks, SHARE_ALL);
	assert_int_equal(share_merge(all, one, &err), -1);
	assert_error(&err, ERROR_FORMAT, "two nodes report rank 2");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_tree),      cmocka_unit_test(test_order_of_ranks),
		cmocka_unit_test(test_growth),        cmocka_unit_test(test_shared_tables),
		cmocka_unit_test(test_own_counts),    cmocka_unit_test(test_names),
		cmocka_unit_test(test_sample_waits),  cmocka_unit_test(test_stacks_only),
		cmocka_unit_test(test_code),          cmocka_unit_test(test_values),
		cmocka_unit_test(test_refused_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
