/* SPDX-License-Identifier: BSD-3-Clause
 * What is known of each actor, by models and stacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#include "analysis/evidence/evidence.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "tests/unit/mixed_job.h"
#include "tests/unit/stack_samples.h"

/* "0 in MPI recorded seen; " */
static char *describe(const struct evidence *evidence)
{
	static const char *const activities[] = {
		[ACTIVITY_IN_MPI] = "in MPI",     [ACTIVITY_POLLING] = "polls",
		[ACTIVITY_COMPUTING] = "outside", [ACTIVITY_ENDED] = "ended",
		[ACTIVITY_MOVES] = "moves",
	};
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	for (size_t i = 0; i < evidence->num_actors; i++) {
		const struct actor *actor = &evidence->actors[i];

		fprintf(out, "%d %s%s%s; ", actor->rank, activities[actor->activity],
			actor->lane ? " recorded" : "", actor->stack->num_samples ? " seen" : "");
		assert_true(actor->is_main);
		assert_int_equal(actor->lane != NULL, i < evidence->num_lanes);
		assert_int_equal(evidence->ranks[actor->rank].first, i);
		assert_int_equal(evidence->ranks[actor->rank].num, 1);
		assert_int_equal(actor->stay_ns, (actor->lane ? 5000 : 4000) * (uint64_t)SIM_MS);
	}
	fclose(out);
	return text;
}

static void test_actors(void **state)
{
	static const struct {
		const char *programs[5], *hidden, *stacks, *actors;
	} cases[] = {
		{{"r1", "x"}, "", "", "0 in MPI recorded; 1 outside recorded; "},
		{{"r1", "t", "r0"},
		 "012",
		 "Recv@20\ncompute@20\nIprobe@20",
		 "0 in MPI seen; 1 outside seen; 2 polls seen; "},
		/* Those with a recorder come first. */
		{{"r1", "r0", "r0"},
		 "0",
		 "Recv@20\nRecv@20",
		 "1 in MPI recorded seen; 2 in MPI recorded; 0 in MPI seen; "},
		/* Samples in several calls, or inside and outside. */
		{{"r1", "r1", "r0", "r0"},
		 "0123",
		 "Recv@20 -> Recv@24\nRecv@20 -> compute@20\nIprobe@20 -> compute@20\nRecv@20",
		 "0 moves seen; 1 moves seen; 2 polls seen; 3 in MPI seen; "},
		/* Messages went on in what looks like one call. */
		{{"r1", "r0"},
		 "01",
		 "Recv@20 <1:7 -> Recv@20 <1:8\nRecv@20",
		 "0 moves seen; 1 in MPI seen; "},
		/* The recorder counts, and samples do not. */
		{{"r1", "x"},
		 "",
		 "Recv@20 -> compute@20\nRecv@20",
		 "0 in MPI recorded seen; 1 outside recorded seen; "},
		/* Of some nothing is known. */
		{{"r1", "r0", "x"}, "12", "\nRecv@20", "0 in MPI recorded; 1 in MPI seen; "},
		{{"x", "x"}, "01", "", ""},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = mixed_job(cases[i].programs, cases[i].hidden, cases[i].stacks);
		struct evidence *evidence = evidence_create(job);
		char *actors = describe(evidence);

		print_message("case %zu\n", i);
		assert_string_equal(actors, cases[i].actors);
		assert_int_equal(evidence->num_ranks, job->proctable->size);
		assert_true(rankset_is_empty(evidence->ended));
		assert_int_equal(evidence->has_queues, *cases[i].stacks != '\0');
		free(actors);
		evidence_destroy(evidence);
		job_destroy(job);
	}
}

static struct model_lane *lane_of(struct job *job, int l)
{
	return (struct model_lane *)(uintptr_t)job->model->lanes[l].data;
}

/* What a model says besides: it has ended, or went on while it was copied. */
static void test_models(void **state)
{
	const char *const programs[] = {"r1", "r0", "m", "f", NULL};
	struct job *job = mixed_job(programs, "", "");
	struct evidence *evidence;
	struct model *aborted = (struct model *)(uintptr_t)job->model->lanes[0].model;

	(void)state;
	aborted->life = SEG_LIFE_ABORTED;
	lane_of(job, 1)->last_events = lane_of(job, 1)->events + 1;
	evidence = evidence_create(job);
	assert_int_equal(evidence->actors[0].activity, ACTIVITY_ENDED);
	assert_int_equal(evidence->actors[1].activity, ACTIVITY_IN_MPI);
	assert_int_equal(evidence->actors[2].activity, ACTIVITY_MOVES);
	assert_false(evidence->actors[0].is_torn);
	assert_true(evidence->actors[1].is_torn);
	assert_false(actor_is_waiting(&evidence->actors[0]));
	assert_true(actor_is_waiting(&evidence->actors[1]));
	assert_false(actor_is_waiting(&evidence->actors[2]));
	evidence_destroy(evidence);
	job_destroy(job);
}

/* Each thread that calls MPI is an actor; the stack is that of the main thread. */
static void test_threads(void **state)
{
	struct job *job = job_create();
	struct evidence *evidence;

	(void)state;
	for (int r = 0; r < 2; r++) {
		struct sim_rank *rank = sim_rank_create(r);

		sim_call(rank, "MPI_Init", SIM_PATH(1001));
		if (r == 0) {
			sim_add_thread(rank);
			sim_enter(rank, "MPI_Recv", SIM_PATH(5000, 5001));
		}
		sim_stay(rank, 5000);
		sim_add(job, rank);
	}
	job_model_finish(job->model);
	add_sample(job, 0, 'S', LIBC, "pthread_join", 1);
	add_sample(job, 2, 'S', LIBMPI, "MPI_Recv", 1);
	evidence = evidence_create(job);
	assert_int_equal(evidence->num_actors, 4);
	assert_int_equal(evidence->num_ranks, 3);
	assert_int_equal(evidence->ranks[0].num, 2);
	assert_int_equal(evidence->ranks[1].first, 2);
	assert_int_equal(evidence->ranks[2].first, 3);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(evidence->actors[i].rank, 0);
		assert_int_equal(evidence->actors[i].stack->num_samples, 1);
	}
	assert_int_equal(evidence->actors[0].is_main + evidence->actors[1].is_main, 1);
	assert_int_equal(evidence->actors[2].stack->num_samples, 0);
	assert_null(evidence->actors[3].lane);
	assert_true(evidence->actors[3].is_main);
	evidence_destroy(evidence);
	job_destroy(job);
}

/* Ranks that are gone, of which only a hole tells; there may be more of them than was thought. */
static void test_ended(void **state)
{
	const char *const programs[] = {"r1", "r0", NULL};
	struct job *job = mixed_job(programs, "", "");
	struct evidence *evidence;

	(void)state;
	job_add_hole(job, 1, "no recorder");
	job_add_hole(job, 4, JOB_HOLE_ENDED);
	evidence = evidence_create(job);
	assert_int_equal(evidence->num_ranks, 5);
	assert_int_equal(rankset_count(evidence->ended), 1);
	assert_true(rankset_contains(evidence->ended, 4));
	assert_int_equal(evidence->ranks[4].num, 0);
	evidence_destroy(evidence);
	evidence_destroy(NULL);
	job_destroy(job);
}

/* Polls once in four samples, called at 0x1000 of a function that main calls at 0x10. */
static void test_between_polls(void **state)
{
	static const struct {
		uint64_t outside, caller;
		enum activity activity;
	} cases[] = {
		{0x1010, 0x10, ACTIVITY_POLLING},
		{0xff0, 0x10, ACTIVITY_POLLING},
		{0x1100, 0x10, ACTIVITY_MOVES}, /* somewhere else in that function, */
		{0x1010, 0x20, ACTIVITY_MOVES}, /* or in another one */
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = job_create();
		uint32_t app = modules_intern(job->modules, APP, NULL, 0);
		struct evidence *evidence;

		for (int s = 0; s < 4; s++) {
			struct sample sample = {.is_main = true, .state = 'R'};

			sample.when_ns = (uint64_t)(s + 1) * SIM_MS;
			sample.path = callpaths_intern(job->callpaths, CALLPATH_NONE, app,
						       s == 2 ? 0x10 : cases[i].caller, true);
			sample.path = callpaths_intern(job->callpaths, sample.path, app,
						       s == 2 ? 0x1000 : cases[i].outside, s == 2);
			if (s == 2)
				sample.path =
					add_frame(job, sample.path, LIBMPI, "MPI_Test", false);
			samples_add(job->samples, &sample);
		}
		evidence = evidence_create(job);
		assert_int_equal(evidence->actors[0].activity, cases[i].activity);
		evidence_destroy(evidence);
		job_destroy(job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_actors),        cmocka_unit_test(test_models),
		cmocka_unit_test(test_between_polls), cmocka_unit_test(test_threads),
		cmocka_unit_test(test_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
