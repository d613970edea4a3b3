/* SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>

#include "tests/unit/unit.h"

#include "model/job/callpath.h"
#include "model/job/message_queues.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "tests/unit/answers.h"
#include "tests/unit/simulation.h"

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

/* By models and stacks: nobody has looked who waits for whom. */
static struct answers judge(struct job *job)
{
	struct answers answer = {.job = job};

	answer.progress = progress_create(job->model);
	answer.groups = eqgroups_create(answer.progress);
	answer.graph = progress_graph_create(answer.progress, answer.groups);
	answer.verdict = verdict_create(job, answer.groups, answer.graph, NULL);
	return answer;
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
		struct answers answer = judge(job);

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
	struct answers answer = judge(job);
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
		answer = judge(job);
		assert_int_equal(answer.verdict->kind, stays[i].kind);
		assert_int_equal(answer.verdict->is_hang, stays[i].is_hang);
		answers_deinit(&answer);
		job_destroy(job);
	}
}

/* ---- With stacks ---- */

#define LIBMPI "/lib/libmpi.so.40"
#define LIBC "/lib/libc.so.6"
#define APP "/bin/app"

/* A frame below the path, at an address that is the function's own. */
static uint32_t add_frame(struct job *job, uint32_t path, const char *module, const char *function,
			  bool is_return)
{
	struct name name = {.function = function, .is_symbol = true};
	uint64_t hash = 0;

	for (const char *c = function; *c; c++)
		hash = hash * 31 + (unsigned char)*c;
	path = callpaths_intern(job->callpaths, path, modules_intern(job->modules, module, NULL, 0),
				hash, is_return);
	names_set(job->names, path, &name);
	return path;
}

static void add_sample(struct job *job, int rank, char process_state, const char *module,
		       const char *function, uint64_t when)
{
	struct sample sample = {
		.rank = rank,
		.is_main = true,
		.state = process_state,
		.when_ns = when,
	};

	sample.path = add_frame(job, CALLPATH_NONE, APP, "main", true);
	sample.path = add_frame(job, sample.path, module, function, false);
	samples_add(job->samples, &sample);
}

/* The caller is the program's. */
static void add_call_sample(struct job *job, int rank, const char *caller, const char *function)
{
	struct sample sample = {.rank = rank, .is_main = true, .state = 'R', .when_ns = 1};

	sample.path = add_frame(job, CALLPATH_NONE, APP, "main", true);
	sample.path = add_frame(job, sample.path, APP, caller, true);
	sample.path = add_frame(job, sample.path, LIBMPI, function, false);
	samples_add(job->samples, &sample);
}

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
		answer = judge(job);
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
		answer = judge(job);
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
		answer = judge(job);
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

/* A rank without a recorder, while all that have one wait. */
static void test_unrecorded(void **state)
{
	struct job *job = case_job(find_case("all inside, in one place"));
	struct answers answer;

	(void)state;
	add_sample(job, 4, 'R', APP, "compute", 1);
	answer = judge(job);
	assert_int_equal(answer.verdict->kind, VERDICT_COMPUTATION);
	assert_int_equal(answer.verdict->basis, VERDICT_BY_STACKS);
	assert_ranks(answer.verdict->culprits, "4");
	assert_false(answer.verdict->is_hang);
	answers_deinit(&answer);
	job_destroy(job);
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
		answer = judge(job);
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
		answer = judge(job);
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
		answer = judge(job);
		assert_int_equal(answer.verdict->kind, starts[i].kind);
		assert_ranks(answer.verdict->culprits, starts[i].culprits);
		assert_int_equal(answer.verdict->is_hang, starts[i].kind != VERDICT_NONE);
		assert_int_equal(answer.verdict->is_edge, starts[i].kind == VERDICT_NONE);
		answers_deinit(&answer);
		job_destroy(job);
	}
}

/* The same without a recorder: nobody is outside MPI, but one is not there. */
static void test_ended_by_stacks(void **state)
{
	static const struct {
		const char *function;
		bool is_final;
	} calls_of_all[] = {
		{"PMPI_Recv", true},
		{"PMPI_Finalize", false},
		{"mpi_finalize_", false},
		{"PMPI_Init_thread", false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(calls_of_all); i++) {
		struct job *job = job_create();
		struct verdict *verdict;

		for (int r = 0; r < 3; r++)
			add_sample(job, r, 'R', LIBMPI, calls_of_all[i].function, 1);
		job_add_hole(job, 3, JOB_HOLE_ENDED);
		verdict = verdict_create(job, NULL, NULL, NULL);
		assert_int_equal(verdict->kind,
				 calls_of_all[i].is_final ? VERDICT_LEFT : VERDICT_NONE);
		assert_ranks(verdict->culprits, calls_of_all[i].is_final ? "3" : "");
		assert_ranks(verdict->waiting, "0-2");
		assert_false(verdict->is_hang);
		assert_int_equal(verdict->is_final, calls_of_all[i].is_final);
		verdict_destroy(verdict);
		job_destroy(job);
	}
}

/* All wait, for what is not known: some are not where most are. */
static void test_apart_by_stacks(void **state)
{
	static const struct {
		const char *what;
		struct {
			const char *caller, *function;
		} ranks[5];
		const char *apart;
	} stacks[] = {
		{"all in one call", {{"a", "MPI_Recv"}, {"a", "MPI_Recv"}, {"a", "MPI_Recv"}}, ""},
		{"one in another call of the same function",
		 {{"a", "MPI_Recv"}, {"b", "MPI_Recv"}, {"a", "MPI_Recv"}},
		 "1"},
		{"MPI does something else meanwhile",
		 {{"a", "MPI_Recv"}, {"a", "opal_progress"}, {"a", "MPI_Recv"}},
		 ""},
		{"two of five, each for itself",
		 {{"a", "MPI_Bcast"},
		  {"b", "MPI_Recv"},
		  {"a", "MPI_Bcast"},
		  {"a", "MPI_Bcast"},
		  {"c", "MPI_Recv"}},
		 "1,4"},
		{"half of them are not most",
		 {{"a", "MPI_Bcast"}, {"b", "MPI_Recv"}, {"a", "MPI_Bcast"}, {"b", "MPI_Recv"}},
		 ""},
		{"most poll", {{"a", "MPI_Test"}, {"b", "MPI_Iprobe"}, {"c", "MPI_Recv"}}, "2"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(stacks); i++) {
		struct job *job = job_create();
		struct verdict *verdict;

		print_message("%s\n", stacks[i].what);
		for (int r = 0; r < 5 && stacks[i].ranks[r].caller; r++)
			add_call_sample(job, r, stacks[i].ranks[r].caller,
					stacks[i].ranks[r].function);
		verdict = verdict_create(job, NULL, NULL, NULL);
		assert_int_equal(verdict->kind, VERDICT_UNKNOWN);
		assert_ranks(verdict->culprits, "");
		assert_ranks(verdict->apart, stacks[i].apart);
		assert_false(verdict->is_hang);
		verdict_destroy(verdict);
		job_destroy(job);
	}
}

struct stack_spec {
	const char *module, *function;
	char process_state;
};

static void test_by_stacks(void **state)
{
	static const struct {
		const char *what;
		struct stack_spec looks[2][3]; /* [look][rank] */
		int num_looks, seconds;        /* apart */
		enum verdict_kind kind;
		const char *culprits;
		bool is_hang, is_final;
	} stacks[] = {
		{"one sample",
		 {{{LIBMPI, "x", 'R'}, {APP, "compute", 'R'}, {LIBMPI, "x", 'R'}}},
		 1,
		 0,
		 VERDICT_COMPUTATION,
		 "1",
		 false,
		 false},
		{"two samples that agree",
		 {{{LIBMPI, "x", 'R'}, {APP, "compute", 'R'}, {LIBMPI, "x", 'R'}},
		  {{LIBMPI, "y", 'R'}, {APP, "other", 'R'}, {LIBMPI, "x", 'R'}}},
		 2,
		 3,
		 VERDICT_COMPUTATION,
		 "1",
		 true,
		 false},
		{"two samples that agree, soon after each other",
		 {{{LIBMPI, "x", 'R'}, {APP, "compute", 'R'}, {LIBMPI, "x", 'R'}},
		  {{LIBMPI, "y", 'R'}, {APP, "compute", 'R'}, {LIBMPI, "x", 'R'}}},
		 2,
		 1,
		 VERDICT_COMPUTATION,
		 "1",
		 false,
		 false},
		{"one computes, one moves",
		 {{{APP, "compute", 'R'}, {APP, "compute", 'R'}, {LIBMPI, "x", 'R'}},
		  {{LIBMPI, "x", 'R'}, {APP, "compute", 'R'}, {LIBMPI, "x", 'R'}}},
		 2,
		 3,
		 VERDICT_NONE,
		 "",
		 false,
		 false},
		{"two poll, as one is seen to in a loop around it",
		 {{{LIBMPI, "MPI_Iprobe", 'R'},
		   {APP, "compute", 'R'},
		   {LIBMPI, "ompi_test_f", 'R'}},
		  {{APP, "look", 'R'}, {APP, "compute", 'R'}, {LIBMPI, "MPI_Test", 'R'}}},
		 2,
		 3,
		 VERDICT_COMPUTATION,
		 "1",
		 true,
		 false},
		{"one polls, and then waits",
		 {{{LIBMPI, "MPI_Iprobe", 'R'}, {APP, "compute", 'R'}, {LIBMPI, "x", 'R'}},
		  {{LIBMPI, "MPI_Recv", 'R'}, {APP, "compute", 'R'}, {LIBMPI, "x", 'R'}}},
		 2,
		 3,
		 VERDICT_NONE,
		 "",
		 false,
		 false},
		{"all poll",
		 {{{LIBMPI, "MPI_Test", 'R'}, {LIBMPI, "MPI_Test", 'R'}, {LIBMPI, "x", 'R'}},
		  {{APP, "look", 'R'}, {APP, "look", 'R'}, {LIBMPI, "x", 'R'}}},
		 2,
		 3,
		 VERDICT_UNKNOWN,
		 "",
		 false,
		 false},
		{"two samples that do not",
		 {{{LIBMPI, "x", 'R'}, {APP, "compute", 'R'}, {LIBMPI, "x", 'R'}},
		  {{APP, "compute", 'R'}, {LIBMPI, "x", 'R'}, {LIBMPI, "x", 'R'}}},
		 2,
		 3,
		 VERDICT_NONE,
		 "",
		 false,
		 false},
		{"MPI linked into the program",
		 {{{APP, "PMPI_Recv", 'R'}, {APP, "compute", 'R'}, {APP, "mpi_recv_", 'R'}}},
		 1,
		 0,
		 VERDICT_COMPUTATION,
		 "1",
		 false,
		 false},
		{"most compute",
		 {{{APP, "compute", 'R'}, {APP, "compute", 'R'}, {LIBMPI, "x", 'R'}}},
		 1,
		 0,
		 VERDICT_NONE,
		 "",
		 false,
		 false},
		{"all inside",
		 {{{LIBMPI, "x", 'R'}, {LIBMPI, "x", 'R'}, {LIBMPI, "x", 'R'}}},
		 1,
		 0,
		 VERDICT_UNKNOWN,
		 "",
		 false,
		 false},
		{"one stopped",
		 {{{LIBMPI, "x", 'R'}, {LIBMPI, "x", 'R'}, {LIBMPI, "x", 'T'}}},
		 1,
		 0,
		 VERDICT_STOPPED,
		 "2",
		 false,
		 true},
		{"one stopped by a debugger",
		 {{{LIBMPI, "x", 'R'}, {LIBMPI, "x", 'R'}, {LIBMPI, "x", 't'}}},
		 1,
		 0,
		 VERDICT_STOPPED,
		 "2",
		 false,
		 false},
		{"one stopped, another computes",
		 {{{LIBMPI, "x", 'R'}, {APP, "compute", 'R'}, {LIBMPI, "x", 'T'}}},
		 1,
		 0,
		 VERDICT_STOPPED,
		 "2",
		 false,
		 false},
		{"all stopped",
		 {{{LIBMPI, "x", 'T'}, {LIBMPI, "x", 'T'}, {LIBMPI, "x", 'T'}}},
		 1,
		 0,
		 VERDICT_STOPPED,
		 "0-2",
		 false,
		 false},
	};

	(void)state;
	/* Each with messages that are counted of all ranks, and of all but one. */
	for (size_t n = 0; n < 2 * NUM_OF(stacks); n++) {
		size_t i = n / 2;
		int num_counted = n % 2 ? 2 : 3;
		struct job *job = job_create();
		struct verdict *verdict;

		print_message("%s, %d counted\n", stacks[i].what, num_counted);
		for (int r = 0; r < 3; r++) {
			for (int l = 0; l < stacks[i].num_looks; l++) {
				const struct stack_spec *s = &stacks[i].looks[l][r];

				add_sample(job, r, s->process_state, s->module, s->function,
					   ((uint64_t)l * (uint64_t)stacks[i].seconds + 1) * 1000 *
						   SIM_MS);
				if (r < num_counted)
					job->samples->samples[job->samples->num_samples - 1]
						.queues = message_queues_create();
			}
		}
		verdict = verdict_create(job, NULL, NULL, NULL);
		assert_int_equal(verdict->kind, stacks[i].kind);
		assert_int_equal(verdict->basis, VERDICT_BY_STACKS);
		assert_ranks(verdict->culprits, stacks[i].culprits);
		assert_int_equal(verdict->is_hang, stacks[i].is_hang && num_counted == 3);
		assert_int_equal(verdict->is_uncounted,
				 verdict->kind == VERDICT_COMPUTATION && num_counted < 3);
		assert_int_equal(verdict->is_final, stacks[i].is_final);
		verdict_destroy(verdict);
		job_destroy(job);
	}
}

/* All samples of rank 0 are inside MPI, but in calls from two places: it moves. */
static void test_moves_by_stacks(void **state)
{
	struct job *job = job_create();
	struct verdict *verdict;
	uint32_t mpi = modules_intern(job->modules, LIBMPI, NULL, 0);
	uint32_t program = modules_intern(job->modules, APP, NULL, 0);

	(void)state;
	for (uint64_t i = 0; i < 2; i++) {
		uint32_t line = callpaths_intern(job->callpaths, CALLPATH_NONE, program, i, true);
		struct sample sample = {
			.rank = 0,
			.is_main = true,
			.state = 'R',
			.when_ns = (i + 1) * 3000 * SIM_MS,
			.path = callpaths_intern(job->callpaths, line, mpi, 1, false),
		};

		samples_add(job->samples, &sample);
	}
	for (uint64_t i = 0; i < 2; i++)
		add_sample(job, 1, 'R', APP, "compute", (i + 1) * 3000 * SIM_MS);
	for (uint64_t i = 0; i < 2; i++)
		add_sample(job, 2, 'R', LIBMPI, "x", (i + 1) * 3000 * SIM_MS);
	verdict = verdict_create(job, NULL, NULL, NULL);
	assert_int_equal(verdict->kind, VERDICT_NONE);
	assert_ranks(verdict->moving, "0");
	assert_ranks(verdict->waiting, "2");
	verdict_destroy(verdict);
	job_destroy(job);
}

static void test_nothing_known(void **state)
{
	struct job *job = job_create();
	struct verdict *verdict = verdict_create(job, NULL, NULL, NULL);

	(void)state;
	assert_int_equal(verdict->kind, VERDICT_UNKNOWN);
	assert_true(rankset_is_empty(verdict->culprits));
	verdict_destroy(verdict);
	job_destroy(job);
}

static void test_crashed(void **state)
{
	static const struct {
		struct job_crash crashes[3];
		enum verdict_kind kind;
		const char *culprits;
	} signals[] = {
		{{{.rank = 1, .tid = 10, .signal = SIGSEGV, .is_fault = true}},
		 VERDICT_CRASHED,
		 "1"},
		/* Others abort because of the fault. */
		{{{.rank = 0, .tid = 10, .signal = SIGABRT},
		  {.rank = 1, .tid = 11, .signal = SIGFPE, .is_fault = true},
		  {.rank = 2, .tid = 12, .signal = SIGABRT}},
		 VERDICT_CRASHED,
		 "1"},
		{{{.rank = 0, .tid = 10, .signal = SIGABRT},
		  {.rank = 2, .tid = 12, .signal = SIGABRT}},
		 VERDICT_CRASHED,
		 "0,2"},
		/* A launcher ends what is left. */
		{{{.rank = 0, .tid = 10, .signal = SIGABRT, .is_sent = true},
		  {.rank = 2, .tid = 12, .signal = SIGABRT}},
		 VERDICT_CRASHED,
		 "2"},
		{{{.rank = 0, .tid = 10, .signal = SIGSEGV, .is_sent = true},
		  {.rank = 1, .tid = 12, .signal = SIGQUIT}},
		 VERDICT_UNKNOWN,
		 ""},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(signals); i++) {
		struct job *job = job_create();
		struct verdict *verdict;
		char *culprits;

		for (int c = 0; c < 3 && signals[i].crashes[c].signal; c++)
			job_add_crash(job, &signals[i].crashes[c]);
		verdict = verdict_create(job, NULL, NULL, NULL);
		culprits = rankset_encode(verdict->culprits, 0);
		assert_int_equal(verdict->kind, signals[i].kind);
		assert_int_equal(verdict->is_hang, signals[i].kind == VERDICT_CRASHED);
		assert_string_equal(culprits, signals[i].culprits);
		free(culprits);
		verdict_destroy(verdict);
		job_destroy(job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_models),
		cmocka_unit_test(test_evidence),
		cmocka_unit_test(test_usual_stay),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_stopped_soon),
		cmocka_unit_test(test_waits_for_own_threads),
		cmocka_unit_test(test_unrecorded),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_ending),
		cmocka_unit_test(test_starting),
		cmocka_unit_test(test_ended_by_stacks),
		cmocka_unit_test(test_by_stacks),
		cmocka_unit_test(test_apart_by_stacks),
		cmocka_unit_test(test_moves_by_stacks),
		cmocka_unit_test(test_nothing_known),
		cmocka_unit_test(test_crashed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
