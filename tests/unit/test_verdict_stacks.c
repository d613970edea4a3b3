/* SPDX-License-Identifier: BSD-3-Clause
 * Who holds the others up, by stacks alone: no rank has a recorder. */
#include <signal.h>

#include "tests/unit/unit.h"

#include "model/job/blocked.h"
#include "model/job/message_queues.h"
#include "model/job/rankset.h"
#include "tests/unit/answers.h"
#include "tests/unit/simulation.h"
#include "tests/unit/stack_samples.h"

static void assert_ranks(const struct rankset *set, const char *expected)
{
	char *text = rankset_encode(set, 0);

	assert_string_equal(text, expected);
	free(text);
}

/* Nobody is outside MPI, but one is not there. */
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
		struct answers a;

		for (int r = 0; r < 3; r++)
			add_sample(job, r, 'R', LIBMPI, calls_of_all[i].function, 1);
		job_add_hole(job, 3, JOB_HOLE_ENDED);
		a = answers_of(job);
		assert_int_equal(a.verdict->kind,
				 calls_of_all[i].is_final ? VERDICT_LEFT : VERDICT_NONE);
		assert_ranks(a.verdict->culprits, calls_of_all[i].is_final ? "3" : "");
		assert_ranks(a.verdict->waiting, "0-2");
		assert_false(a.verdict->is_hang);
		assert_int_equal(a.verdict->is_final, calls_of_all[i].is_final);
		assert_int_equal(a.verdict->is_edge, !calls_of_all[i].is_final);
		answers_deinit(&a);
		job_destroy(job);
	}
}

/* Nobody is to blame yet, but it is told whom the others wait for. */
static void test_late_by_stacks(void **state)
{
	static const char *const functions[] = {"PMPI_Init", "MPI_Finalize"};

	(void)state;
	for (size_t i = 0; i < NUM_OF(functions); i++) {
		struct job *job = job_create();
		struct answers a;

		for (int r = 0; r < 3; r++)
			add_sample(job, r, 'R', LIBMPI, functions[i], 1);
		add_sample(job, 3, 'R', APP, "write_results", 1);
		a = answers_of(job);
		assert_int_equal(a.verdict->kind, VERDICT_NONE);
		assert_ranks(a.verdict->culprits, "");
		assert_ranks(a.verdict->awaited, "3");
		assert_true(a.verdict->is_edge);
		answers_deinit(&a);
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
		struct answers a;

		print_message("%s\n", stacks[i].what);
		for (int r = 0; r < 5 && stacks[i].ranks[r].caller; r++)
			add_call_sample(job, r, stacks[i].ranks[r].caller,
					stacks[i].ranks[r].function);
		a = answers_of(job);
		assert_int_equal(a.verdict->kind, VERDICT_UNKNOWN);
		assert_ranks(a.verdict->culprits, "");
		assert_ranks(a.verdict->apart, stacks[i].apart);
		assert_false(a.verdict->is_hang);
		answers_deinit(&a);
		job_destroy(job);
	}
}

/* One computes, and another moves: the former is told if most wait, however long the look was, and is no
 * certain hang. */
static void test_beside_moving(void **state)
{
	(void)state;
	for (int size = 3; size <= 6; size++) {
		bool do_most_wait = size > 4;
		struct job *job = job_create();
		struct answers a;

		for (uint64_t look = 0; look < 2; look++) {
			uint64_t when = look * 20000 * SIM_MS + 1;

			add_sample(job, 0, 'R', APP, "compute", when);
			add_sample(job, 1, 'R', look ? APP : LIBMPI, look ? "work" : "PMPI_Recv",
				   when);
			for (int r = 2; r < size; r++)
				add_sample(job, r, 'R', LIBMPI, "PMPI_Recv", when);
		}
		a = answers_of(job);
		assert_int_equal(a.verdict->kind,
				 do_most_wait ? VERDICT_COMPUTATION : VERDICT_NONE);
		assert_ranks(a.verdict->culprits, do_most_wait ? "0" : "");
		assert_ranks(a.verdict->moving, "1");
		assert_false(a.verdict->is_hang);
		assert_int_equal(verdict_may_be_slow(a.verdict), do_most_wait);
		answers_deinit(&a);
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
		struct answers a;

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
		a = answers_of(job);
		assert_int_equal(a.verdict->kind, stacks[i].kind);
		assert_int_equal(a.verdict->basis, VERDICT_BY_STACKS);
		assert_ranks(a.verdict->culprits, stacks[i].culprits);
		assert_int_equal(a.verdict->is_hang, stacks[i].is_hang && num_counted == 3);
		assert_int_equal(a.verdict->is_uncounted, num_counted < 3);
		assert_int_equal(a.verdict->is_final, stacks[i].is_final);
		answers_deinit(&a);
		job_destroy(job);
	}
}

/* All samples of rank 0 are inside MPI, but in calls from two places: it moves. */
static void test_moves_by_stacks(void **state)
{
	struct job *job = job_create();
	struct answers a;
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
	a = answers_of(job);
	assert_int_equal(a.verdict->kind, VERDICT_NONE);
	assert_ranks(a.verdict->moving, "0");
	assert_ranks(a.verdict->waiting, "2");
	answers_deinit(&a);
	job_destroy(job);
}

/* Ranks 0 and 1 wait; of rank 2 there is no stack, in a process of this state. `call`: NULL, or
 * what it sleeps in. */
static void check_without_stack(char process_state, const char *call, bool is_named)
{
	struct blocked *blocked = call ? blocked_create(call, NULL, NULL, NULL, NULL) : NULL;
	struct job *job = job_create();
	struct answers a;

	for (int r = 0; r < 2; r++)
		add_sample(job, r, 'S', LIBMPI, "PMPI_Recv", 1);
	samples_add(job->samples, &(struct sample){.rank = 2,
						   .is_main = true,
						   .status = SAMPLE_FAILED,
						   .state = process_state,
						   .when_ns = 1,
						   .path = CALLPATH_NONE,
						   .blocked = blocked});
	/* Of one whose stack could not be read nothing is known. */
	samples_add(job->samples, &(struct sample){.rank = 3,
						   .is_main = true,
						   .state = 'R',
						   .when_ns = 1,
						   .path = CALLPATH_NONE});
	a = answers_of(job);
	assert_int_equal(a.evidence->num_actors, is_named ? 3 : 2);
	assert_int_equal(a.verdict->kind, is_named ? VERDICT_STOPPED : VERDICT_UNKNOWN);
	assert_ranks(a.verdict->culprits, is_named ? "2" : "");
	assert_ranks(a.verdict->waiting, "0-1");
	answers_deinit(&a);
	job_destroy(job);
}

/* A zombie has no stack any more, and what is held by the kernel cannot be stopped. */
static void test_without_stack(void **state)
{
	(void)state;
	check_without_stack('Z', NULL, true);
	check_without_stack('D', NULL, true);
	check_without_stack('D', "read", true);
	check_without_stack('S', "read", true);
	check_without_stack('S', NULL, false);
	check_without_stack('R', NULL, false);
}

static void test_nothing_known(void **state)
{
	struct job *job = job_create();
	struct answers a = answers_of(job);

	(void)state;
	assert_int_equal(a.verdict->kind, VERDICT_UNKNOWN);
	assert_true(rankset_is_empty(a.verdict->culprits));
	answers_deinit(&a);
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
		struct answers a;
		char *culprits;

		for (int c = 0; c < 3 && signals[i].crashes[c].signal; c++)
			job_add_crash(job, &signals[i].crashes[c]);
		a = answers_of(job);
		culprits = rankset_encode(a.verdict->culprits, 0);
		assert_int_equal(a.verdict->kind, signals[i].kind);
		assert_int_equal(a.verdict->is_hang, signals[i].kind == VERDICT_CRASHED);
		assert_string_equal(culprits, signals[i].culprits);
		free(culprits);
		answers_deinit(&a);
		job_destroy(job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ended_by_stacks), cmocka_unit_test(test_late_by_stacks),
		cmocka_unit_test(test_by_stacks),       cmocka_unit_test(test_beside_moving),
		cmocka_unit_test(test_apart_by_stacks), cmocka_unit_test(test_moves_by_stacks),
		cmocka_unit_test(test_without_stack),   cmocka_unit_test(test_nothing_known),
		cmocka_unit_test(test_crashed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
