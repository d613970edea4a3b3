/* SPDX-License-Identifier: BSD-3-Clause
 * Who holds the others up, by invented times; and why, by invented counters. */
#include "tests/unit/unit.h"

#include "analysis/evidence/stack_facts.h"
#include "analysis/progress/loop_nest.h"
#include "analysis/progress/progress.h"
#include "analysis/slow/slow.h"
#include "model/arena.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/usage.h"
#include "tests/unit/simulation.h"
#include "tests/unit/stack_samples.h"

enum { RANKS = 4, STEPS = 60 };

#define MAIN(line) SIM_PATH(line)

/* What each rank computes in a step, in ms; the wait for the last one follows. */
typedef uint64_t work_fn(int rank, int step);

static uint64_t work_even(int rank, int step)
{
	return 10 + (uint64_t)((rank + step) % 2);
}

static uint64_t work_double(int rank, int step)
{
	return rank == 2 ? 20 + (uint64_t)(step % 2) : 10;
}

static uint64_t work_later(int rank, int step)
{
	return rank == 2 && step >= 40 ? 30 : 10;
}

static uint64_t work_in_turns(int rank, int step)
{
	return step % RANKS == rank ? 40 : 10;
}

static uint64_t work_two_slow(int rank, int step)
{
	(void)step;
	return rank < 2 ? 20 : 10;
}

/* One step in ten takes long: is it chance? */
static uint64_t work_seldom(int rank, int step)
{
	return rank == 2 && step == 57 ? 40 : 10;
}

/* The others do nothing, and arrive at the last step before the rank begins it. */
static uint64_t work_alone(int rank, int step)
{
	return rank == 2 ? (step == 8 ? 90 : 30) : 0;
}

static uint64_t work_little(int rank, int step)
{
	(void)rank, (void)step;
	return 1;
}

/* after_ms: since then nobody has moved. */
static struct job *make_stuck_job(work_fn *work, int num_steps, uint64_t mpi_ms, uint64_t after_ms)
{
	struct job *job = job_create();
	struct sim_rank *sim[RANKS];

	for (int r = 0; r < RANKS; r++) {
		sim[r] = sim_rank_create(r);
		sim[r]->step_ns = 1000;
		sim_call(sim[r], "MPI_Init", MAIN(1));
	}
	for (int k = 0; k < num_steps; k++) {
		uint64_t most = 0;

		for (int r = 0; r < RANKS; r++)
			most = work(r, k) > most ? work(r, k) : most;
		for (int r = 0; r < RANKS; r++) {
			sim_stay(sim[r], work(r, k));
			sim_enter(sim[r], "MPI_Allreduce", MAIN(2));
			sim_stay(sim[r], most - work(r, k) + mpi_ms);
			sim_leave(sim[r]);
		}
	}
	for (int r = 0; r < RANKS; r++) {
		sim_stay(sim[r], after_ms);
		sim_add(job, sim[r]);
	}
	job_model_finish(job->model);
	job->look_seconds = 1;
	return job;
}

static struct job *make_job(work_fn *work, int num_steps, uint64_t mpi_ms)
{
	return make_stuck_job(work, num_steps, mpi_ms, 0);
}

struct found {
	struct job *job;
	struct progress *progress;
	struct arena *arena;
	struct slow *slow;
};

static struct found find(struct job *job)
{
	struct found found = {.job = job, .arena = arena_create()};

	found.progress = job->model ? progress_create(job->model) : NULL;
	found.slow =
		slow_find(found.arena, job, found.progress, stack_facts_create(job, found.arena));
	return found;
}

static void done(struct found *found)
{
	progress_destroy(found->progress);
	arena_destroy(found->arena);
	job_destroy(found->job);
}

static void assert_slow(const struct slow *slow, const char *ranks)
{
	struct rankset *set = rankset_create();
	char *text;

	for (size_t i = 0; i < slow->num_slow; i++)
		rankset_add(set, slow->ranks[i].rank);
	text = rankset_encode(set, 0);
	assert_string_equal(text, ranks);
	free(text);
	rankset_destroy(set);
}

static void test_kinds(void **state)
{
	static const struct {
		const char *what;
		work_fn *work;
		int num_steps;
		uint64_t mpi_ms;
		enum slow_kind kind;
		const char *ranks;
	} cases[] = {
		{"all alike", work_even, STEPS, 1, SLOW_BALANCED, ""},
		{"one does twice as much", work_double, STEPS, 1, SLOW_RANKS, "2"},
		{"the same, in five steps", work_double, 7, 1, SLOW_RANKS, "2"},
		{"too few steps", work_double, 4, 1, SLOW_NOT_KNOWN, ""},
		{"two of four", work_two_slow, STEPS, 1, SLOW_RANKS, "0-1"},
		{"since then", work_later, STEPS, 1, SLOW_RANKS, "2"},
		{"each in turn", work_in_turns, STEPS, 1, SLOW_TURNS, ""},
		{"once", work_seldom, STEPS, 1, SLOW_BALANCED, ""},
		{"MPI takes long", work_little, STEPS, 10, SLOW_MPI, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct found found =
			find(make_job(cases[i].work, cases[i].num_steps, cases[i].mpi_ms));

		print_message("%s\n", cases[i].what);
		assert_int_equal(found.slow->kind, cases[i].kind);
		assert_slow(found.slow, cases[i].ranks);
		assert_int_equal(found.slow->num_reasons, 0);
		assert_false(found.slow->is_measured);
		done(&found);
	}
}

static void test_stretch(void **state)
{
	struct found found = find(make_job(work_later, STEPS, 1));
	const struct slow_rank *rank = &found.slow->ranks[0];

	(void)state;
	assert_int_equal(found.slow->source, SLOW_BY_ITERATIONS);
	assert_int_not_equal(found.slow->loop, LOOP_NONE);
	assert_int_equal(found.slow->last_step, STEPS - 1);
	assert_true(rank->has_stretch);
	assert_int_equal(rank->stretch.from & 1, 1);
	assert_int_equal(rank->stretch.to & 1, 0);
	assert_float_equal(rank->stretch.others_ns / SIM_MS, 10, 0.5);
	assert_float_equal(rank->stretch.before_ns / SIM_MS, 10, 0.5);
	/* Arrivals are counted from 1; the work before arrival 41 is step 40's. */
	assert_in_range(rank->since_iteration, 39, 42);
	assert_float_equal(rank->since_ns / 1e9, 20 * 0.031, 0.04);
	done(&found);
	found = find(make_job(work_double, STEPS, 1));
	assert_int_equal(found.slow->ranks[0].since_iteration, 0);
	assert_float_equal(found.slow->ranks[0].stretch.own_ns / SIM_MS, 20.5, 0.5);
	assert_float_equal(found.slow->ranks[0].loss, 10.5 / 21.5, 0.05);
	done(&found);
}

static void test_whole_loss(void **state)
{
	struct found found = find(make_job(work_alone, 9, 0));

	(void)state;
	assert_slow(found.slow, "2");
	assert_float_equal(found.slow->ranks[0].loss, 1, 0.001);
	done(&found);
}

/* What was before a hang is told as such, and not by lp. */
static void test_stuck(void **state)
{
	struct found found = find(make_stuck_job(work_double, STEPS, 1, 20000));

	(void)state;
	assert_int_equal(found.slow->kind, SLOW_RANKS);
	assert_true(found.slow->is_quiet);
	assert_null(slow_glance(found.arena, found.job, found.progress));
	done(&found);
	found = find(make_stuck_job(work_double, STEPS, 1, 30));
	assert_false(found.slow->is_quiet);
	done(&found);
}

static void test_glance(void **state)
{
	struct job *job = make_job(work_double, STEPS, 1);
	struct progress *progress = progress_create(job->model);
	struct arena *arena = arena_create();
	const struct slow *slow = slow_glance(arena, job, progress);

	(void)state;
	assert_non_null(slow);
	assert_slow(slow, "2");
	progress_destroy(progress);
	job_destroy(job);
	job = make_job(work_even, STEPS, 1);
	progress = progress_create(job->model);
	assert_null(slow_glance(arena, job, progress));
	progress_destroy(progress);
	job_destroy(job);
	job = job_create();
	assert_null(slow_glance(arena, job, NULL));
	job_destroy(job);
	arena_destroy(arena);
}

/* ---- Without a recorder ---- */

/* outside[rank] of `num` samples are outside MPI. */
static void add_samples(struct job *job, const int *outside, int num_ranks, int num)
{
	for (int r = 0; r < num_ranks; r++)
		for (int i = 0; i < num; i++)
			if (i * 7 % num < outside[r])
				add_sample(job, r, 'R', APP, "work", (uint64_t)i + 1);
			else
				add_sample(job, r, 'R', LIBMPI, "MPI_Allreduce", (uint64_t)i + 1);
}

static struct job *make_samples(const int *outside, int num)
{
	struct job *job = job_create();

	add_samples(job, outside, RANKS, num);
	return job;
}

static void test_samples(void **state)
{
	static const struct {
		const char *what;
		int outside[RANKS], num;
		enum slow_kind kind;
		const char *ranks;
	} cases[] = {
		{"one is always outside", {2, 40, 1, 3}, 40, SLOW_RANKS, "1"},
		{"all alike", {20, 22, 19, 21}, 40, SLOW_BALANCED, ""},
		{"a little more often", {20, 24, 20, 20}, 40, SLOW_BALANCED, ""},
		{"few samples", {0, 4, 0, 0}, 4, SLOW_NOT_KNOWN, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct found found = find(make_samples(cases[i].outside, cases[i].num));

		print_message("%s\n", cases[i].what);
		assert_int_equal(found.slow->kind, cases[i].kind);
		assert_slow(found.slow, cases[i].ranks);
		done(&found);
	}
}

/* The others may wait for a rank without a recorder: only stacks show that. */
static void test_left_out(void **state)
{
	struct job *job = make_job(work_little, STEPS, 10);
	struct found found;

	(void)state;
	job->proctable->size = RANKS + 1;
	found = find(job);
	assert_int_equal(found.slow->kind, SLOW_BALANCED);
	assert_int_equal(rankset_first(found.slow->left_out), RANKS);
	done(&found);
	job = make_job(work_little, STEPS, 10);
	job->proctable->size = RANKS + 1;
	add_samples(job, (const int[RANKS + 1]){2, 1, 2, 1, 40}, RANKS + 1, 40);
	found = find(job);
	assert_int_equal(found.slow->source, SLOW_BY_SAMPLES);
	assert_true(rankset_is_empty(found.slow->left_out));
	assert_slow(found.slow, "4");
	done(&found);
}

/* ---- Why ---- */

static struct usage_rank usual_use(int rank)
{
	return (struct usage_rank){
		.rank = rank,
		.interval_ns = 1000 * (uint64_t)SIM_MS,
		.has_queue = true,
		.ran_ns = 980 * (uint64_t)SIM_MS,
		.process_ns = 980 * (uint64_t)SIM_MS,
		.allowed = rankset_create(),
		.khz = 2400000,
	};
}

static void use_nothing(struct usage_rank *rank, struct usage_node *node)
{
	(void)rank, (void)node;
}

static void use_queue(struct usage_rank *rank, struct usage_node *node)
{
	(void)node;
	rank->ran_ns = rank->process_ns = 500 * (uint64_t)SIM_MS;
	rank->queued_ns = 480 * (uint64_t)SIM_MS;
}

static void use_quota(struct usage_rank *rank, struct usage_node *node)
{
	use_queue(rank, node);
	rank->group = xstrdup("/job");
	/* Not read in one moment, or of a snapshot that claims anything. */
	rank->periods = 10;
	rank->throttled = 11;
	rank->quota_percent = 50;
}

static void use_same_processor(struct usage_rank *rank, struct usage_node *node)
{
	use_queue(rank, node);
	rankset_remove(rank->allowed, 2);
	rankset_add(rank->allowed, 1);
}

static void use_competitor(struct usage_rank *rank, struct usage_node *node)
{
	use_queue(rank, node);
	node->num_others = 1;
	node->others[0] = (struct usage_process){
		.pid = 812,
		.name = "stress",
		.ran_ns = 470 * (uint64_t)SIM_MS,
		.processors = rankset_create(),
	};
	rankset_add(node->others[0].processors, 2);
}

/* On another processor: it keeps nobody waiting. */
static void use_stranger(struct usage_rank *rank, struct usage_node *node)
{
	use_competitor(rank, node);
	rankset_remove(node->others[0].processors, 2);
	rankset_add(node->others[0].processors, 5);
}

static void use_threads(struct usage_rank *rank, struct usage_node *node)
{
	use_queue(rank, node);
	rank->process_ns = 1000 * (uint64_t)SIM_MS;
}

static void use_frequency(struct usage_rank *rank, struct usage_node *node)
{
	(void)node;
	rank->khz = 1200000;
}

static void use_swap(struct usage_rank *rank, struct usage_node *node)
{
	rank->major_faults = 800;
	node->swapped_in = 1200;
}

static void use_disk(struct usage_rank *rank, struct usage_node *node)
{
	(void)node;
	rank->ran_ns = rank->process_ns = 400 * (uint64_t)SIM_MS;
	rank->block_ns = 500 * (uint64_t)SIM_MS;
}

static void use_steal(struct usage_rank *rank, struct usage_node *node)
{
	(void)rank;
	node->steal_ns = 2000 * (uint64_t)SIM_MS;
}

/* Of a rank on node 0. */
static void use_pages(struct usage_rank *rank, uint32_t num, uint32_t num_far)
{
	rank->num_pages = num;
	rank->num_far = num_far;
	rank->far_node = 1;
}

static void use_far_memory(struct usage_rank *rank, struct usage_node *node)
{
	(void)node;
	use_pages(rank, 240, 200);
}

static void use_half_far_memory(struct usage_rank *rank, struct usage_node *node)
{
	(void)node;
	use_pages(rank, 240, 110);
}

static void use_few_pages(struct usage_rank *rank, struct usage_node *node)
{
	(void)node;
	use_pages(rank, 40, 40);
}

/* It waits for a processor, and would do so with near memory, too. */
static void use_far_memory_queued(struct usage_rank *rank, struct usage_node *node)
{
	use_queue(rank, node);
	use_pages(rank, 240, 240);
}

/* use: of rank 2. */
static void add_usage_near(struct job *job, void (*use)(struct usage_rank *, struct usage_node *),
			   uint32_t num_pages, uint32_t num_far)
{
	struct usage_node node = {.interval_ns = 1000 * (uint64_t)SIM_MS, .num_processors = 8};

	job->usage = usage_create();
	for (int r = 0; r < RANKS; r++) {
		struct usage_rank used = usual_use(r);

		rankset_add(used.allowed, r);
		use_pages(&used, num_pages, num_far);
		if (r == 2)
			use(&used, &node);
		usage_add_rank(job->usage, &used);
	}
	usage_add_node(job->usage, &node);
}

static void add_usage(struct job *job, void (*use)(struct usage_rank *, struct usage_node *))
{
	add_usage_near(job, use, 0, 0);
}

/* The reasons of the one slow rank. */
static void assert_reasons(const struct slow *slow, const char *reasons)
{
	static const char *const names[] = {
#define SLOW_REASON(id, name, scope, find) name,
#include "analysis/slow/reasons.def"
#undef SLOW_REASON
	};
	char text[200] = "";

	assert_true(slow->is_measured);
	assert_slow(slow, "2");
	for (size_t k = 0; k < slow->ranks[0].num_reasons; k++) {
		strcat(text, names[slow->ranks[0].reasons[k].kind]);
		strcat(text, " ");
		assert_true(slow->ranks[0].reasons[k].share <= 1);
	}
	assert_string_equal(text, reasons);
}

static void test_reasons(void **state)
{
	static const struct {
		const char *what;
		void (*use)(struct usage_rank *rank, struct usage_node *node); /* of rank 2 */
		const char *reasons;
	} cases[] = {
		{"it only computes", use_nothing, "computes "},
		{"no processor", use_queue, "no_processor "},
		{"a quota", use_quota, "throttled "},
		{"bound to one processor", use_same_processor, "shared_processors "},
		{"another process", use_competitor, "other_processes "},
		{"another process, elsewhere", use_stranger, "no_processor "},
		{"its own threads", use_threads, "own_threads "},
		{"frequency", use_frequency, "frequency computes "},
		{"swap", use_swap, "page_faults computes "},
		{"disk", use_disk, "disk "},
		/* All ranks are on that node. */
		{"steal", use_steal, "computes "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct job *job = make_job(work_double, STEPS, 1);
		struct found found;

		print_message("%s\n", cases[i].what);
		add_usage(job, cases[i].use);
		found = find(job);
		assert_reasons(found.slow, cases[i].reasons);
		assert_int_equal(found.slow->num_reasons,
				 i + 1 == sizeof(cases) / sizeof(cases[0]));
		done(&found);
	}
}

static void test_far_memory(void **state)
{
	static const struct {
		const char *what;
		void (*use)(struct usage_rank *rank, struct usage_node *node);
		uint32_t num_pages, num_far; /* of the others */
		const char *reasons;
	} cases[] = {
		{"far", use_far_memory, 256, 25, "remote_memory computes "},
		{"all others' is near", use_far_memory, 256, 0, "remote_memory computes "},
		{"as far as others", use_far_memory, 256, 250, "computes "},
		{"further than others, but theirs, too", use_far_memory, 200, 90, "computes "},
		{"theirs is not known", use_far_memory, 0, 0, "computes "},
		{"of theirs too little is known", use_far_memory, 63, 0, "computes "},
		{"less than half", use_half_far_memory, 256, 0, "computes "},
		{"few pages", use_few_pages, 256, 0, "computes "},
		{"it does not compute", use_far_memory_queued, 256, 0, "no_processor "},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = make_job(work_double, STEPS, 1);
		struct found found;

		print_message("%s\n", cases[i].what);
		add_usage_near(job, cases[i].use, cases[i].num_pages, cases[i].num_far);
		found = find(job);
		assert_reasons(found.slow, cases[i].reasons);
		done(&found);
	}
}

/* What was counted after the iterations says nothing about them. */
static void test_reasons_later(void **state)
{
	struct job *job = make_stuck_job(work_double, STEPS, 1, 20000);
	struct found found;

	(void)state;
	add_usage(job, use_queue);
	found = find(job);
	assert_true(found.slow->is_quiet);
	assert_slow(found.slow, "2");
	assert_int_equal(found.slow->ranks[0].num_reasons, 0);
	assert_int_equal(found.slow->num_reasons, 0);
	done(&found);
}

/* A balanced job whose counters are all well has no cause. */
static void test_healthy(void **state)
{
	struct job *job = make_job(work_even, STEPS, 1);
	struct usage_node node = {.interval_ns = 1000 * (uint64_t)SIM_MS, .num_processors = 8};
	struct found found;

	(void)state;
	job->usage = usage_create();
	for (int r = 0; r < RANKS; r++) {
		struct usage_rank used = usual_use(r);

		/* Who spins in MPI may be in the queue all the time. */
		rankset_add(used.allowed, r);
		used.queued_ns = 40 * (uint64_t)SIM_MS;
		usage_add_rank(job->usage, &used);
	}
	usage_add_node(job->usage, &node);
	found = find(job);
	assert_int_equal(found.slow->kind, SLOW_BALANCED);
	assert_int_equal(found.slow->num_reasons, 0);
	done(&found);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),         cmocka_unit_test(test_stretch),
		cmocka_unit_test(test_glance),        cmocka_unit_test(test_samples),
		cmocka_unit_test(test_reasons),       cmocka_unit_test(test_healthy),
		cmocka_unit_test(test_stuck),         cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_reasons_later), cmocka_unit_test(test_whole_loss),
		cmocka_unit_test(test_far_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
