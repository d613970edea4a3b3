/* SPDX-License-Identifier: BSD-3-Clause
 * Who holds the others up, by what a recorder tells, and where stacks add to it. */
#include "tests/unit/unit.h"

#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "tests/unit/answers.h"
#include "tests/unit/simulation.h"
#include "tests/unit/stack_samples.h"

#define MAIN(n) SIM_PATH(1000 + (n))

/* ---- Jobs ---- */

/* for { Send; Recv; Allreduce }, where rank r stops at step `stop` of iteration `iteration`: at
 * step 2 * i inside call i, at step 2 * i + 1 after it; for `stay` ms. */
struct rank_spec {
	int iteration, stop;
	uint64_t stay;
	bool has_moved; /* in the second look */
	int life;       /* 0: running */
};

static const char *const calls[] = {"MPI_Send", "MPI_Recv", "MPI_Allreduce"};

static void add_rank(struct job *job, int number, const struct rank_spec *spec)
{
	struct sim_rank *rank = sim_rank_create(number);

	sim_call(rank, "MPI_Init", MAIN(1));
	for (int i = 0; i <= spec->iteration; i++) {
		for (int call = 0; call < 3; call++) {
			sim_enter(rank, calls[call], MAIN(2 + call));
			if (i == spec->iteration && spec->stop == 2 * call)
				goto stop;
			sim_leave(rank);
			if (i == spec->iteration && spec->stop == 2 * call + 1)
				goto stop;
		}
	}
stop:
	sim_stay(rank, spec->stay);
	if (spec->life)
		rank->model->life = (enum seg_life)spec->life;
	sim_add(job, rank);
}

static void assert_ranks(const struct rankset *set, const char *expected)
{
	char *text = rankset_encode(set, 0);

	assert_string_equal(text, expected);
	free(text);
}

/* ---- By models ---- */

enum { SEND, SENT, RECV, RECEIVED, REDUCE, REDUCED };

struct case_spec {
	const char *what;
	struct rank_spec ranks[4];
	bool has_second_look;
	enum verdict_kind kind;
	const char *culprits;
	bool is_hang;
};

#define STAYS(iteration, stop, stay)                                                               \
	{                                                                                          \
		iteration, stop, stay, false, 0                                                    \
	}
#define MOVES(iteration, stop, stay)                                                               \
	{                                                                                          \
		iteration, stop, stay, true, 0                                                     \
	}

static const struct case_spec cases[] = {
	{"one computes, the others wait",
	 {STAYS(9, REDUCE, 5000), STAYS(9, RECEIVED, 5000), STAYS(9, REDUCE, 5000),
	  STAYS(9, REDUCE, 5000)},
	 true,
	 VERDICT_COMPUTATION,
	 "1",
	 true},
	{"the same with one look",
	 {STAYS(9, REDUCE, 5000), STAYS(9, RECEIVED, 5000), STAYS(9, REDUCE, 5000),
	  STAYS(9, REDUCE, 5000)},
	 false,
	 VERDICT_COMPUTATION,
	 "1",
	 true},
	{"pipeline: the one that computes is ahead of the one that waits for it",
	 {STAYS(9, REDUCE, 5000), STAYS(9, RECEIVED, 5000), STAYS(9, RECV, 5000),
	  STAYS(8, SEND, 5000)},
	 true,
	 VERDICT_COMPUTATION,
	 "1",
	 true},
	{"the others began to wait before the one came where it computes: a long phase",
	 {STAYS(9, REDUCE, 8000), STAYS(9, RECEIVED, 5000), STAYS(9, REDUCE, 9000),
	  STAYS(9, REDUCE, 8000)},
	 true,
	 VERDICT_COMPUTATION,
	 "1",
	 false},
	{"the same, much later",
	 {STAYS(9, REDUCE, 19000), STAYS(9, RECEIVED, 16000), STAYS(9, REDUCE, 20000),
	  STAYS(9, REDUCE, 19000)},
	 true,
	 VERDICT_COMPUTATION,
	 "1",
	 true},
	{"only some began to wait before",
	 {STAYS(9, REDUCE, 8000), STAYS(9, RECEIVED, 5000), STAYS(9, REDUCE, 5000),
	  STAYS(9, REDUCE, 8000)},
	 true,
	 VERDICT_COMPUTATION,
	 "1",
	 true},
	{"two compute: the one behind",
	 {STAYS(9, REDUCE, 5000), STAYS(9, RECEIVED, 5000), STAYS(9, SENT, 5000),
	  STAYS(9, REDUCE, 5000)},
	 true,
	 VERDICT_COMPUTATION,
	 "2",
	 true},
	{"two compute in one place",
	 {STAYS(9, REDUCE, 5000), STAYS(9, SENT, 5000), STAYS(9, SENT, 7000),
	  STAYS(9, REDUCE, 5000)},
	 true,
	 VERDICT_COMPUTATION,
	 "1-2",
	 true},
	{"hung in the second call of the first iteration",
	 {STAYS(0, REDUCE, 5500), STAYS(0, SENT, 5500), STAYS(0, REDUCE, 5500),
	  STAYS(0, REDUCE, 5500)},
	 true,
	 VERDICT_COMPUTATION,
	 "1",
	 true},
	{"too short to be sure",
	 {STAYS(9, REDUCE, 700), STAYS(9, RECEIVED, 700), STAYS(9, REDUCE, 700),
	  STAYS(9, REDUCE, 700)},
	 true,
	 VERDICT_COMPUTATION,
	 "1",
	 false},
	{"too short to say",
	 {STAYS(9, REDUCE, 100), STAYS(9, RECEIVED, 100), STAYS(9, REDUCE, 100),
	  STAYS(9, REDUCE, 100)},
	 true,
	 VERDICT_NONE,
	 "",
	 false},
	{"a first phase that all but one are in",
	 {STAYS(0, SENT, 4000), STAYS(0, SENT, 4000), STAYS(0, RECV, 3000), STAYS(0, SENT, 4000)},
	 true,
	 VERDICT_COMPUTATION,
	 "0-1,3",
	 false},
	{"all move",
	 {MOVES(9, REDUCE, 3), MOVES(9, SENT, 1), MOVES(9, RECV, 2), MOVES(9, SEND, 0)},
	 true,
	 VERDICT_NONE,
	 "",
	 false},
	{"one waits, the others move",
	 {STAYS(9, REDUCE, 900), MOVES(9, SENT, 1), MOVES(9, RECV, 2), MOVES(9, SEND, 0)},
	 true,
	 VERDICT_NONE,
	 "",
	 false},
	{"a rank computes for a while, others move",
	 {STAYS(9, REDUCE, 900), STAYS(9, SENT, 900), MOVES(9, RECV, 2), MOVES(9, SEND, 0)},
	 true,
	 VERDICT_NONE,
	 "",
	 false},
	{"a rank computes for long, others move: the last step of a matrix, say",
	 {STAYS(9, REDUCE, 9000), STAYS(9, SENT, 9000), MOVES(9, RECV, 2), MOVES(9, SEND, 0)},
	 true,
	 VERDICT_COMPUTATION,
	 "1",
	 false},
	{"a rank computes for very long, others move still",
	 {STAYS(9, REDUCE, 12000), STAYS(9, SENT, 12000), MOVES(9, RECV, 2), MOVES(9, SEND, 0)},
	 true,
	 VERDICT_COMPUTATION,
	 "1",
	 true},
	{"all compute",
	 {STAYS(9, SENT, 9000), STAYS(9, SENT, 9000), STAYS(9, RECEIVED, 9000),
	  STAYS(9, SENT, 9000)},
	 true,
	 VERDICT_NONE,
	 "",
	 false},
	{"all inside: one is behind",
	 {STAYS(9, REDUCE, 5000), STAYS(8, RECV, 5000), STAYS(9, REDUCE, 5000),
	  STAYS(9, REDUCE, 5000)},
	 true,
	 VERDICT_LEAST,
	 "1",
	 true},
	{"all inside, in one place",
	 {STAYS(9, SEND, 5000), STAYS(9, SEND, 5000), STAYS(9, SEND, 5000), STAYS(9, SEND, 5000)},
	 true,
	 VERDICT_UNDECIDED,
	 "0-3",
	 true},
	{"all inside for a short while",
	 {STAYS(9, SEND, 300), STAYS(9, SEND, 300), STAYS(9, RECV, 300), STAYS(9, SEND, 300)},
	 true,
	 VERDICT_NONE,
	 "",
	 false},
	{"one has left",
	 {STAYS(9, REDUCE, 5000),
	  {9, REDUCED, 5000, false, SEG_LIFE_FINALIZED},
	  STAYS(9, REDUCE, 5000),
	  STAYS(9, REDUCE, 5000)},
	 true,
	 VERDICT_LEFT,
	 "1",
	 true},
};

static const struct case_spec *find_case(const char *what)
{
	for (size_t i = 0; i < NUM_OF(cases); i++)
		if (!strcmp(cases[i].what, what))
			return &cases[i];
	abort();
}

static struct job *case_job(const struct case_spec *spec)
{
	struct job *job = job_create();

	for (int r = 0; r < 4; r++)
		add_rank(job, r, &spec->ranks[r]);
	job_model_finish(job->model);
	for (int r = 0; r < 4 && spec->has_second_look; r++) {
		job->model->lanes[r].has_second_look = true;
		job->model->lanes[r].has_moved = spec->ranks[r].has_moved;
	}
	return job;
}

static void test_by_models(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = case_job(&cases[i]);
		struct answers answer = answers_of(job);

		print_message("%s\n", cases[i].what);
		assert_int_equal(answer.verdict->kind, cases[i].kind);
		assert_ranks(answer.verdict->culprits, cases[i].culprits);
		assert_int_equal(answer.verdict->is_hang, cases[i].is_hang);
		/* Where others move, nobody else's word makes a hang of it. */
		assert_int_equal(verdict_may_be_hang(answer.verdict),
				 cases[i].is_hang || (cases[i].culprits[0] &&
						      rankset_is_empty(answer.verdict->moving)));
		assert_int_equal(answer.verdict->num_culprit_groups > 0, cases[i].culprits[0] != 0);
		assert_int_equal(answer.verdict->basis, VERDICT_BY_MODELS);
		answers_deinit(&answer);
		job_destroy(job);
	}
	verdict_destroy(NULL);
}

/* What the first case says besides. */
static void test_evidence(void **state)
{
	struct job *job = case_job(find_case("one computes, the others wait"));
	struct answers answer = answers_of(job);
	const struct verdict *verdict = answer.verdict;

	(void)state;
	assert_ranks(verdict->waiting, "0,2-3");
	assert_ranks(verdict->moving, "");
	assert_int_equal(verdict->stay_ns, 5000 * (uint64_t)SIM_MS);
	assert_int_equal(verdict->longest_before_ns, SIM_MS);
	assert_int_equal(verdict->quiet_ns, 5000 * (uint64_t)SIM_MS);
	assert_false(verdict->is_new_state);
	assert_false(verdict->is_approximate);
	assert_int_equal(verdict->num_culprit_groups, 1);
	assert_int_equal(answer.groups->groups[verdict->culprit_groups[0]].actors[0], 1);
	answers_deinit(&answer);
	job_destroy(job);
}

/* The same stay is normal for a rank that has stayed there as long before. */
static void test_usual_stay(void **state)
{
	static const struct {
		uint64_t longest;
		enum verdict_kind kind;
		bool is_hang;
	} stays[] = {
		{400, VERDICT_COMPUTATION, true},
		{2800, VERDICT_COMPUTATION, false},
		{6000, VERDICT_NONE, false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(stays); i++) {
		struct job *job = case_job(find_case("one computes, the others wait"));
		const struct model_lane *lane = job->model->lanes[1].data;
		struct answers answer;

		lane->longest_ns[lane->state] = stays[i].longest * SIM_MS;
		answer = answers_of(job);
		assert_int_equal(answer.verdict->kind, stays[i].kind);
		assert_int_equal(answer.verdict->is_hang, stays[i].is_hang);
		answers_deinit(&answer);
		job_destroy(job);
	}
}

/* ---- With stacks ---- */

/* Inside MPI as the others, and only the process state tells. */
static void test_stopped(void **state)
{
	static const char states[] = {'T', 't', 'Z', 'D'};

	(void)state;
	for (size_t i = 0; i < NUM_OF(states); i++) {
		struct job *job = case_job(find_case("all inside, in one place"));
		struct answers answer;

		for (int r = 0; r < 4; r++)
			add_sample(job, r, r == 2 ? states[i] : 'R', LIBMPI, "PMPI_Send", 1);
		answer = answers_of(job);
		assert_int_equal(answer.verdict->kind, VERDICT_STOPPED);
		assert_ranks(answer.verdict->culprits, "2");
		assert_ranks(answer.verdict->waiting, "0-1,3");
		assert_true(answer.verdict->is_hang);
		assert_int_equal(answer.verdict->is_final, strchr("TZ", states[i]) != NULL);
		answers_deinit(&answer);
		job_destroy(job);
	}
}

/* A stopped process needs no comparison with what was usual; one in the kernel does. */
static void test_stopped_soon(void **state)
{
	static const struct {
		char process_state;
		bool is_hang;
	} stopped[] = {
		{'T', true},
		{'D', false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(stopped); i++) {
		struct job *job = case_job(find_case("all inside, in one place"));
		const struct model_lane *lane = job->model->lanes[2].data;
		struct answers answer;

		lane->longest_ns[lane->state] = (uint64_t)4000 * SIM_MS;
		for (int r = 0; r < 4; r++)
			add_sample(job, r, r == 2 ? stopped[i].process_state : 'R', LIBMPI,
				   "PMPI_Send", 1);
		answer = answers_of(job);
		assert_int_equal(answer.verdict->kind, VERDICT_STOPPED);
		assert_ranks(answer.verdict->culprits, "2");
		assert_int_equal(answer.verdict->is_hang, stopped[i].is_hang);
		answers_deinit(&answer);
		job_destroy(job);
	}
}

/* Two threads each; rank 1's second thread computes. Main threads wait in MPI or, of rank 1 and its
 * neighbour 2, for their threads. */
static void test_waits_for_own_threads(void **state)
{
	(void)state;
	for (int with_stacks = 0; with_stacks < 2; with_stacks++) {
		struct job *job = job_create();
		struct answers answer;
		uint32_t group;

		for (int r = 0; r < 4; r++) {
			struct sim_rank *rank = sim_rank_create(r);

			sim_call(rank, "MPI_Init", MAIN(1));
			sim_call(rank, "MPI_Barrier", MAIN(2));
			if (r == 0 || r == 3)
				sim_enter(rank, "MPI_Barrier", MAIN(3));
			sim_add_thread(rank);
			for (int i = 0; i < 5; i++)
				sim_call(rank, "MPI_Recv", SIM_PATH(5000, 5001));
			if (r != 1)
				sim_enter(rank, "MPI_Recv", SIM_PATH(5000, 5001));
			sim_stay(rank, 5000);
			sim_add(job, rank);
		}
		job_model_finish(job->model);
		for (int r = 1; with_stacks && r < 3; r++)
			add_sample(job, r, 'S', LIBC, "__pthread_clockjoin_ex", 1);
		answer = answers_of(job);
		assert_int_equal(answer.verdict->kind, VERDICT_COMPUTATION);
		assert_ranks(answer.verdict->culprits, "1");
		assert_true(answer.verdict->is_hang);
		/* The thread, and not the main thread that waits for it. */
		assert_int_equal(answer.verdict->num_culprit_groups, 1);
		group = answer.verdict->culprit_groups[0];
		assert_false(
			job->model->lanes[answer.groups->groups[group].actors[0]].data->is_main);
		answers_deinit(&answer);
		job_destroy(job);
	}
}

/* A rank without a recorder, while all that have one wait: many of them have long waited before. */
static void test_unrecorded(void **state)
{
	(void)state;
	for (size_t num_usual = 0; num_usual <= 4; num_usual++) {
		struct job *job = case_job(find_case("all inside, in one place"));
		bool is_usual = num_usual == 4;
		struct answers answer;

		for (size_t i = 0; i < num_usual; i++) {
			const struct model_lane *lane = job->model->lanes[i].data;

			lane->longest_ns[lane->state] = (uint64_t)10000 * SIM_MS;
		}
		add_sample(job, 4, 'R', APP, "compute", 1);
		answer = answers_of(job);
		assert_int_equal(answer.verdict->kind,
				 is_usual ? VERDICT_NONE : VERDICT_COMPUTATION);
		assert_ranks(answer.verdict->culprits, is_usual ? "" : "4");
		assert_false(answer.verdict->is_hang);
		if (!is_usual)
			assert_int_equal(answer.verdict->basis, VERDICT_BY_STACKS);
		answers_deinit(&answer);
		job_destroy(job);
	}
}

/* Rank 4 is gone: named when all others wait, not while somebody computes or moves. */
static void test_ended(void **state)
{
	static const struct {
		const char *ranks; /* the case whose ranks 0 to 3 go on */
		enum verdict_kind kind;
		const char *culprits;
		bool is_hang;
	} ended[] = {
		{"all inside, in one place", VERDICT_LEFT, "4", true},
		{"one computes, the others wait", VERDICT_COMPUTATION, "1", true},
		{"all move", VERDICT_NONE, "", false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(ended); i++) {
		struct job *job = case_job(find_case(ended[i].ranks));
		struct answers answer;

		job_add_hole(job, 4, JOB_HOLE_ENDED);
		job_add_hole(job, 5, "no recorder");
		answer = answers_of(job);
		assert_int_equal(answer.verdict->kind, ended[i].kind);
		assert_ranks(answer.verdict->culprits, ended[i].culprits);
		assert_int_equal(answer.verdict->is_hang, ended[i].is_hang);
		answers_deinit(&answer);
		job_destroy(job);
	}
}

/* Two ranks are in this call, and a third has ended: gone, or (is_known) after MPI_Finalize. At
 * a job's end ranks end one after the other, which takes its time. */
static void test_ending(void **state)
{
	static const struct {
		const char *call;
		bool is_known;
		uint64_t stay_ms;
		bool is_hang;
	} endings[] = {
		{"MPI_Barrier", false, 5000, true},   {"MPI_Finalize", false, 5000, false},
		{"MPI_Finalize", false, 70000, true}, {"MPI_Barrier", true, 5000, true},
		{"MPI_Finalize", true, 5000, false},  {"MPI_Finalize", true, 70000, true},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(endings); i++) {
		struct job *job = job_create();
		struct answers answer;

		for (int r = 0; r < (endings[i].is_known ? 3 : 2); r++) {
			struct sim_rank *rank = sim_rank_create(r);

			sim_call(rank, "MPI_Init", MAIN(1));
			sim_enter(rank, r == 2 ? "MPI_Finalize" : endings[i].call, MAIN(2));
			if (r == 2) {
				sim_leave(rank);
				rank->model->life = SEG_LIFE_FINALIZED;
			}
			sim_stay(rank, endings[i].stay_ms);
			sim_add(job, rank);
		}
		if (!endings[i].is_known)
			job_add_hole(job, 2, JOB_HOLE_ENDED);
		job_model_finish(job->model);
		for (size_t l = 0; l < job->model->num_lanes; l++)
			job->model->lanes[l].has_second_look = true;
		answer = answers_of(job);
		print_message("case %zu\n", i);
		assert_int_equal(answer.verdict->kind,
				 endings[i].is_hang ? VERDICT_LEFT : VERDICT_NONE);
		assert_ranks(answer.verdict->culprits, endings[i].is_hang ? "2" : "");
		assert_int_equal(answer.verdict->is_hang, endings[i].is_hang);
		assert_true(answer.verdict->is_hang || !answer.verdict->is_final);
		assert_int_equal(answer.verdict->is_edge, !endings[i].is_hang);
		answers_deinit(&answer);
		job_destroy(job);
	}
}

/* All who have begun are in MPI_Init; two ranks have not come there. */
static void test_starting(void **state)
{
	static const struct {
		uint64_t stay_ms;
		enum verdict_kind kind;
		const char *culprits;
	} starts[] = {
		{5000, VERDICT_NONE, ""},
		{50000, VERDICT_NONE, ""},
		{70000, VERDICT_COMPUTATION, "1,3"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(starts); i++) {
		struct job *job = job_create();
		struct answers answer;
		struct pdb_error err;

		for (int r = 0; r < 4; r++) {
			struct sim_rank *rank;

			proctable_add(job->proctable, r, 1000 + r, "here", "/bin/app");
			if (r & 1) {
				job_add_hole(job, r, "no recorder");
				continue;
			}
			rank = sim_rank_create(r);
			sim_enter(rank, "MPI_Init", MAIN(1));
			sim_stay(rank, starts[i].stay_ms);
			sim_add(job, rank);
		}
		assert_int_equal(proctable_finish(job->proctable, &err), 0);
		job_model_finish(job->model);
		answer = answers_of(job);
		assert_int_equal(answer.verdict->kind, starts[i].kind);
		assert_ranks(answer.verdict->culprits, starts[i].culprits);
		assert_int_equal(answer.verdict->is_hang, starts[i].kind != VERDICT_NONE);
		assert_true(answer.verdict->is_edge);
		answers_deinit(&answer);
		job_destroy(job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_models),    cmocka_unit_test(test_evidence),
		cmocka_unit_test(test_usual_stay),   cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_stopped_soon), cmocka_unit_test(test_waits_for_own_threads),
		cmocka_unit_test(test_unrecorded),   cmocka_unit_test(test_ended),
		cmocka_unit_test(test_ending),       cmocka_unit_test(test_starting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
