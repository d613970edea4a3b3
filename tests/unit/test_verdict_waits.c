/* SPDX-License-Identifier: BSD-3-Clause
 * Verdicts by who waits for whom: how long it takes to accuse, and when nobody is. */
#include "tests/unit/unit.h"

#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "tests/unit/small_answers.h"

static void test_patience(void **state)
{
	static const struct {
		const char *programs[4];
		uint64_t stay_ms;
		int thread_level;
		enum verdict_kind kind;
		bool is_hang, is_likely, is_stuck;
	} cases[] = {
		{{"r1", "r0"}, 300, 0, VERDICT_NONE, false, false, false},
		{{"r1", "r0"}, 700, 0, VERDICT_DEADLOCK, true, false, true},
		{{"r1", "r0", "m"}, 300, 0, VERDICT_NONE, false, false, false},
		{{"r1", "r0", "m"}, 700, 0, VERDICT_DEADLOCK, true, false, true},
		{{"a", "b"}, 300, 0, VERDICT_NONE, false, false, false},
		{{"a", "b"}, 700, 0, VERDICT_MISMATCH, true, false, true},
		{{"a", "b", "m"}, 700, 0, VERDICT_MISMATCH, true, false, true},
		/* Another thread that never called MPI may come to help. */
		{{"r1", "r0", "m"}, 2000, 3, VERDICT_NONE, false, false, false},
		{{"r1", "r0"}, 3100, 3, VERDICT_DEADLOCK, true, true, false},
		/* One that does not come, while nobody moves. */
		{{"r1", "r0"}, 300, 3, VERDICT_NONE, false, false, false},
		{{"r1", "r0"}, 700, 3, VERDICT_DEADLOCK, false, true, false},
		{{"{20 r1 a}", "{9 s0 a} =1 a"}, 2500, 3, VERDICT_LOST, true, true, false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = run(cases[i].programs, cases[i].stay_ms);
		struct answers a;

		for (size_t l = 0; l < job->model->num_lanes; l++)
			model_of(job, (int)l)->thread_level = cases[i].thread_level;
		a = answers_of(job);
		print_message("case %zu\n", i);
		assert_int_equal(a.verdict->kind, cases[i].kind);
		assert_int_equal(a.verdict->is_hang, cases[i].is_hang);
		assert_int_equal(a.verdict->doubt != DOUBT_NONE, cases[i].is_likely);
		assert_int_equal(a.verdict->is_final, cases[i].is_stuck);
		forget(&a);
	}
}

/* By its counts rank 2 has ended the barrier that the others are in. */
static void have_been_there(struct job *job)
{
	struct model_comm *comm = &model_of(job, 2)->comms[0];

	comm->recent[1] = comm->recent[0];
	comm->recent[1].number = ++comm->collectives;
}

/* By their counts all but ranks 0 and 1 have ended the second collective and are in a third. */
static void are_one_further(struct job *job)
{
	for (int r = 2; r < 5; r++) {
		struct model *model = model_of(job, r);
		struct model_comm *comm = &model->comms[0];

		/* The latest comes first. */
		comm->recent[0].number = ++comm->collectives;
		comm->recent[2] = comm->recent[1];
		comm->recent[1].number = 2;
		model->lanes[0].operation.number = comm->collectives;
	}
}

/* Where the counts do not say who is the cause, somebody is named, but not as certain. */
static void test_uncertain(void **state)
{
	static const struct {
		const char *programs[6];
		void (*damage)(struct job *job);
		enum verdict_kind kind;
		const char *culprits;
		int novel_rank;
		bool is_likely;
	} cases[] = {
		{{"{20 r1 a}", "{9 s0 a} =1 a"}, change_nothing, VERDICT_LOST, "1", 1, false},
		{{"{20 r1 a}", "{9 s0 a} =1 a"}, drop_rows, VERDICT_LEAST, "1", 1, false},
		/* Rank 0 has taken a new step, too, but has gone on from there. */
		{{"{8 r1 a} =2 r1 =0 a {3 r1 a}", "{9 s0 a} =1 a"},
		 drop_rows,
		 VERDICT_LEAST,
		 "1",
		 1,
		 false},
		{{"{2 b}", "{2 b}", "b r0"}, have_been_there, VERDICT_LIBRARY, "0-1", -1, true},
		{{"{2 b}", "{2 b}", "b a:8", "b a:8", "b a:8"},
		 are_one_further,
		 VERDICT_LIBRARY,
		 "0-1",
		 -1,
		 true},
		/* One of those that are further has another size. */
		{{"{2 b}", "{2 b}", "b a:8", "b a:4", "b a:8"},
		 are_one_further,
		 VERDICT_MISMATCH,
		 "3",
		 -1,
		 true},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = run(cases[i].programs, 5000);
		struct answers a;
		char *culprits;

		cases[i].damage(job);
		a = answers_of(job);
		culprits = rankset_encode(a.verdict->culprits, 0);
		print_message("case %zu\n", i);
		assert_int_equal(a.verdict->kind, cases[i].kind);
		assert_string_equal(culprits, cases[i].culprits);
		assert_int_equal(a.verdict->witness.kind == WITNESS_NOVEL ? a.verdict->witness.rank
									  : -1,
				 cases[i].novel_rank);
		assert_int_equal(a.verdict->doubt != DOUBT_NONE, cases[i].is_likely);
		free(culprits);
		forget(&a);
	}
}

/* A message lies there that may be the one that is waited for: whose call is wrong? */
static void test_receiver(void **state)
{
	static const struct {
		const char *programs[5];
		const char *culprits;
		enum verdict_witness_kind witness;
		bool is_likely;
	} cases[] = {
		/* The receive has a tag as never before. */
		{{"{9 r1:7 a} =0 r1:8 =1 a", "{10 s0:7 a}", "{10 a}"},
		 "0-1",
		 WITNESS_RECEIVER,
		 true},
		/* A communicator. */
		{{"{9 r1:7 a} =0 r1:7@1 =1 a", "{10 s0:7 a}", "{10 a}"},
		 "0-1",
		 WITNESS_RECEIVER,
		 true},
		/* The message has. */
		{{"{10 r1:7 a}", "{9 s0:7 a} =0 s0:8 =1 a", "{10 a}"}, "1", WITNESS_SLIP, false},
		/* Neither was there before. */
		{{"r1:7 a", "s0:8 a", "a"}, "0-1", WITNESS_RECEIVER, true},
		/* Another one has received such, and nobody one like the message. */
		{{"r1:7 a", "s0:8 a", "s3:7 a", "r2:7 a"}, "1", WITNESS_SLIP, false},
		/* Both were: the message is for a later receive, and one was left out. */
		{{"{9 r1:7 r1:8 a} =0 r1:7 =1 r1:8 =2 a", "{9 s0:7 s0:8 a} =1 s0:8 =2 a", "{10 a}"},
		 "1",
		 WITNESS_NOVEL,
		 false},
		/* Nothing lies there. */
		{{"{9 r1:7 a} =0 r1:8 =1 a", "{9 s0:7 a} =1 a", "{10 a}"},
		 "1",
		 WITNESS_NOVEL,
		 false},
	};
	int failed = 0;

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = run(cases[i].programs, 5000);
		struct answers a = answers_of(job);
		char *culprits = rankset_encode(a.verdict->culprits, 0);

		if (a.verdict->kind != VERDICT_LOST || strcmp(culprits, cases[i].culprits) != 0 ||
		    a.verdict->witness.kind != cases[i].witness ||
		    (a.verdict->doubt != DOUBT_NONE) != cases[i].is_likely) {
			print_error("case %zu: kind %d, culprits %s, witness %d, likely %d\n", i,
				    a.verdict->kind, culprits, a.verdict->witness.kind,
				    a.verdict->doubt);
			failed++;
		}
		free(culprits);
		forget(&a);
	}
	assert_int_equal(failed, 0);
}

/* All zero: it does not go by a departure. */
static const struct verdict_witness *departed_of(const struct verdict *verdict)
{
	static const struct verdict_witness none;

	return verdict->witness.kind == WITNESS_DEPARTED ? &verdict->witness : &none;
}

/* Each step of a rank is usual, but not after those before it: by the counts either may be the
 * one. */
static void test_departed(void **state)
{
	static const struct {
		const char *programs[5];
		enum verdict_kind kind;
		const char *culprits;
		int rank;
		size_t num_usual, num_times, num_memory;
	} cases[] = {
		/* Rank 0 has left out the first of two messages of a round. */
		{{"{150 r1 s1 =0 r1 =0 r1 =1 s1 a} =0 r1 =0 r1", "{151 s0 r0 =0 s0 =0 s0 =1 r0 a}"},
		 VERDICT_LOST,
		 "0",
		 0,
		 149,
		 149,
		 2},
		/* The same with a third one in the round. */
		{{"{150 r1 s1 =0 r1 =0 r1 =1 s1 a} =0 r1 =0 r1", "{151 s0 r0 =0 s0 =0 s0 =1 r0 a}",
		  "{151 a}"},
		 VERDICT_LOST,
		 "0",
		 0,
		 149,
		 149,
		 2},
		/* Rank 1 makes fewer calls, so that a step that all took once is among its last
		 * ones: new to it, but not to the others. */
		{{"{150 {10 =30 s2 =31 r2} =0 r1 =1 s1 =0 r1 =0 r1 =1 s1 =2 a} =20 a "
		  "{3 {10 =30 s2 =31 r2} =0 r1 =1 s1 =0 r1 =0 r1 =1 s1 =2 a} {10 =30 s2 =31 r2} =0 "
		  "r1 =0 r1",
		  "{150 =0 s0 =1 r0 =0 s0 =0 s0 =1 r0 =2 a} =20 a {4 =0 s0 =1 r0 =0 s0 =0 s0 =1 r0 "
		  "=2 a}",
		  "{150 {10 =0 r0 =1 s0} =2 a} =20 a {3 {10 =0 r0 =1 s0} =2 a} {10 =0 r0 =1 s0} =2 "
		  "a"},
		 VERDICT_LOST,
		 "0",
		 0,
		 153,
		 153,
		 2},
		{{"{150 {10 =30 s2 =31 r2} =0 r1 =1 s1 =0 r1 =0 r1 =1 s1 =2 a} {10 =30 s2 =31 r2} "
		  "=0 r1 =0 r1",
		  "{151 =0 s0 =1 r0 =0 s0 =0 s0 =1 r0 =2 a}", "{151 {10 =0 r0 =1 s0} =2 a}"},
		 VERDICT_LOST,
		 "0",
		 0,
		 150,
		 150,
		 2},
		/* A loop left after 38 of 40 rounds: itself it went round 12 times before, too
		 * seldom to tell; so did others. */
		{{"{12 {40 =0 s1 =1 r1} =2 r1:5} {38 =0 s1 =1 r1} =2 r1:5",
		  "{13 {40 =0 r0 =1 s0} =2 s0:5}", "{26 {40 =0 s3 =1 r3} =2 r3:5}",
		  "{26 {40 =0 r2 =1 s2} =2 s2:5}"},
		 VERDICT_LOST,
		 "0",
		 0,
		 36,
		 36,
		 77},
		{{"{12 {40 =0 s1 =1 r1} =2 r1:5} {38 =0 s1 =1 r1} =2 r1:5",
		  "{13 {40 =0 r0 =1 s0} =2 s0:5}"},
		 VERDICT_DEADLOCK,
		 "0-1",
		 0,
		 0,
		 0,
		 0},
		/* Of few rounds nobody knows what is usual. */
		{{"{20 r1 s1 =0 r1 =0 r1 =1 s1 a} =0 r1 =0 r1", "{21 s0 r0 =0 s0 =0 s0 =1 r0 a}"},
		 VERDICT_DEADLOCK,
		 "0-1",
		 0,
		 0,
		 0,
		 0},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = run(cases[i].programs, 5000);
		struct answers a = answers_of(job);
		const struct verdict_witness *witness;
		char *culprits = rankset_encode(a.verdict->culprits, 0);

		print_message("case %zu\n", i);
		assert_int_equal(a.verdict->kind, cases[i].kind);
		assert_string_equal(culprits, cases[i].culprits);
		witness = departed_of(a.verdict);
		assert_int_equal(witness->rank, cases[i].rank);
		assert_int_equal(witness->departure.num_usual, cases[i].num_usual);
		assert_int_equal(witness->departure.num_times, cases[i].num_times);
		assert_int_equal(witness->departure.num_memory, cases[i].num_memory);
		assert_int_equal(a.verdict->doubt != DOUBT_NONE, cases[i].num_times > 0);
		free(culprits);
		forget(&a);
	}
}

/* In place of the rank that is delayed: when things happened is not known, as of ranks that
 * daemons look at. */
enum { NO_TIMES = -1 };

/* All that the rank did was a second later. */
static void delay(struct job *job, int rank)
{
	for (size_t r = 0; r < job->model->num_lanes; r++) {
		struct model_lane *lane = &model_of(job, (int)r)->lanes[0];

		for (size_t i = 0; i < lane->num_ring; i++)
			if (rank == NO_TIMES)
				lane->ring[i].ns = 0;
			else if (rank == (int)r)
				lane->ring[i].ns += UINT64_C(1000000000);
	}
}

#define LEAVES_LOOP "{12 {40 =0 s1 =1 r1} =2 s2:5 =3 r2:6} {38 =0 s1 =1 r1} =2 s2:5 =3 r2:6"
#define ROUNDS "{13 {40 =0 r0 =1 s0} =2 s2:7}"
#define NEW_STEP "{300 =7 s3 =8 r3} {12 =2 r0:5 =3 s0:6 =4 r1:7} =2 r0:5 =4 r1:7"
#define OTHER_ROUNDS                                                                               \
	"{300 =7 r2 =8 s2} {26 {40 =0 s4 =1 r4} =2 s4:5 =3 r4:6}",                                 \
		"{26 {40 =0 r3 =1 s3} =2 r3:5 =3 s3:6}"

#define LOOP(out, in) "{40 =0 " out " =1 " in "} =2 a"
#define EARLY(out, in) "{12 " LOOP(out, in) "} {38 =0 " out " =1 " in "} =2 a"
#define ONCE_9(out, in) "{40 {10 =0 " out " =1 " in "} =2 a} {9 =0 " out " =1 " in "} =2 a "

/* Where several have left their course, others than the first may have done so because of that
 * one. */
static void test_departed_first(void **state)
{
	static const struct {
		const char *programs[7];
		int delayed;
		enum verdict_kind kind;
		const char *culprits;
		size_t num_later;
	} cases[] = {
		{{"{150 r1 s1 =0 r1 =0 r1 =1 s1 a} =0 r1 =0 r1 =0 r1",
		  "{150 s0 r0 =0 s0 =0 s0 =1 r0 a} =0 s0 =0 s0 =1 r0"},
		 1,
		 VERDICT_LOST,
		 "0",
		 1},
		{{"{150 r1 s1 =0 r1 =0 r1 =1 s1 a} =0 r1 =0 r1 =0 r1",
		  "{150 s0 r0 =0 s0 =0 s0 =1 r0 a} =0 s0 =0 s0 =1 r0"},
		 0,
		 VERDICT_DEADLOCK,
		 "1",
		 1},
		{{"{150 r1 s1 =0 r1 =0 r1 =1 s1 a} =0 r1 =0 r1 =0 r1",
		  "{150 s0 r0 =0 s0 =0 s0 =1 r0 a} =0 s0 =0 s0 =1 r0"},
		 NO_TIMES,
		 VERDICT_DEADLOCK,
		 "0-1",
		 0},
		/* Both wait since they left it. */
		{{"{600 s1 a} r1", "{600 r0 a} =3 r0"}, 1, VERDICT_DEADLOCK, "0-1", 0},
		/* Rank 0 leaves a loop after 38 of 40 rounds; rank 2 takes a step that is new to
		 * the job. */
		{{LEAVES_LOOP, ROUNDS, NEW_STEP, OTHER_ROUNDS}, 2, VERDICT_LOST, "0", 1},
		{{LEAVES_LOOP, ROUNDS, NEW_STEP, OTHER_ROUNDS}, 0, VERDICT_DEADLOCK, "2", 0},
		{{LEAVES_LOOP, ROUNDS, NEW_STEP, OTHER_ROUNDS}, NO_TIMES, VERDICT_DEADLOCK, "2", 0},
		/* Ranks 0 and 1 have both left a loop early, which is no fault, and gone on for
		 * long. */
		{{EARLY("s1", "r1") " {2 " LOOP("s1", "r1") "}",
		  EARLY("r0", "s0") " {2 " LOOP("r0", "s0") "}",
		  "{14 " LOOP("s3", "r3") "} =5 r1:7", "{15 " LOOP("r2", "s2") "}",
		  "{15 " LOOP("s5", "r5") "}", "{15 " LOOP("r4", "s4") "}"},
		 2,
		 VERDICT_DEADLOCK,
		 "2",
		 0},
		/* All make 9 rounds in place of 10, once; then rank 2 leaves out a send, or
		 * makes another call. */
		{{ONCE_9("s1", "r1") "{10 =0 s1 =1 r1} =2 a",
		  ONCE_9("r0", "s0") "{10 =0 r0 =1 s0} =2 a",
		  ONCE_9("s3", "r3") "{4 =0 s3 =1 r3} =1 r3",
		  ONCE_9("r2", "s2") "{10 =0 r2 =1 s2} =2 a"},
		 2,
		 VERDICT_DEADLOCK,
		 "2",
		 0},
		{{ONCE_9("s1", "r1") "{2 =0 s1 =1 r1} =2 a",
		  ONCE_9("r0", "s0") "{2 =0 r0 =1 s0} =2 a",
		  ONCE_9("s3", "r3") "{2 =0 s3 =1 r3} =2 b",
		  ONCE_9("r2", "s2") "{2 =0 r2 =1 s2} =2 a"},
		 3,
		 VERDICT_MISMATCH,
		 "2",
		 0},
		/* One of two sides of a mismatch. */
		{{"{600 a} b", "{601 a}"}, 0, VERDICT_MISMATCH, "0", 0},
		{{"{9 a} b", "{10 a}"}, 0, VERDICT_MISMATCH, "0-1", 0},
		{{"{600 a} b", "{601 a}", "{601 a}"}, 0, VERDICT_MISMATCH, "0", 0},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = run(cases[i].programs, 5000);
		struct answers a;
		char *culprits;

		delay(job, cases[i].delayed);
		a = answers_of(job);
		culprits = rankset_encode(a.verdict->culprits, 0);
		print_message("case %zu\n", i);
		assert_int_equal(a.verdict->kind, cases[i].kind);
		assert_string_equal(culprits, cases[i].culprits);
		assert_int_equal(departed_of(a.verdict)->num_later, cases[i].num_later);
		free(culprits);
		forget(&a);
	}
}

/* All others wait in a collective for one that polls for a message of anybody: it is apart from
 * them, whoever of them has left out a message. */
static void test_apart(void **state)
{
	static const struct {
		const char *programs[5];
		enum verdict_kind kind;
		const char *culprits;
	} cases[] = {
		{{"b ir* t", "b b", "b b", "b b"}, VERDICT_LEAST, "0"},
		/* Two of them poll. */
		{{"b ir* t", "b b", "b b", "b ir* t"}, VERDICT_UNDECIDED, "0-3"},
		/* A broadcast goes on without those that come later. */
		{{"b ir* t", "b c0", "b c0", "b c0"}, VERDICT_UNDECIDED, "0-3"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct answers a = judge(cases[i].programs, 5000);
		char *culprits = rankset_encode(a.verdict->culprits, 0);

		print_message("case %zu: %d %s\n", i, a.verdict->kind, culprits);
		assert_int_equal(a.verdict->kind, cases[i].kind);
		assert_string_equal(culprits, cases[i].culprits);
		assert_true(a.verdict->doubt != DOUBT_NONE);
		free(culprits);
		forget(&a);
	}
}

/* All wait for one that moves: that is an answer, and no accusation. */
static void test_awaited(void **state)
{
	static const char *const programs[] = {"r1", "r2", "m", "b", NULL};
	struct answers a = judge(programs, 5000);
	char *text = rankset_encode(a.verdict->awaited, 0);

	(void)state;
	assert_int_equal(a.verdict->kind, VERDICT_NONE);
	assert_string_equal(text, "2");
	free(text);
	forget(&a);
}

/* All wait for one that computes, as it did before for as long: no accusation either, but it is
 * told. */
static void test_slow(void **state)
{
	static const struct {
		uint64_t longest_ms;
		/* It has polled since then: the last time so long ago, and once not for so long. */
		uint64_t polled_ms, gap_ms;
		enum verdict_kind kind;
		const char *awaited;
		uint64_t stay_ms, before_ms;
		bool is_hang;
	} cases[] = {
		{300, 0, 0, VERDICT_COMPUTATION, "", 5000, 300, true},
		{6000, 0, 0, VERDICT_NONE, "1", 5000, 6000, false},
		{1, 300, 700, VERDICT_NONE, "1", 300, 700, false},
		{1, 900, 1500, VERDICT_NONE, "1", 900, 1500, false},
		{1, 4500, 200, VERDICT_COMPUTATION, "", 4500, 200, true},
		{300, 4500, 200, VERDICT_COMPUTATION, "", 4500, 300, true},
		/* Others have not polled, so theirs are not compared: too few stays for a hang. */
		{500, 4500, 200, VERDICT_COMPUTATION, "", 4500, 500, false},
	};
	static const char *const programs[] = {"{8 a} a", "{8 a} x", "{8 a} a", NULL};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = run(programs, 5000);
		const struct model *model = job->model->lanes[1].model;
		struct model_lane *lane = model->lanes;
		struct answers a;
		char *text;

		lane->longest_ns[lane->state] = cases[i].longest_ms * SIM_MS;
		lane->polls = cases[i].polled_ms ? 100000 : 0;
		lane->last_poll_ns = model->now_ns - cases[i].polled_ms * SIM_MS;
		lane->state_polls[lane->state] = cases[i].gap_ms * SIM_MS;
		a = answers_of(job);
		text = rankset_encode(a.verdict->awaited, 0);
		assert_int_equal(a.verdict->kind, cases[i].kind);
		assert_string_equal(text, cases[i].awaited);
		assert_int_equal(a.verdict->stay_ns, cases[i].stay_ms * SIM_MS);
		assert_int_equal(a.verdict->longest_before_ns, cases[i].before_ms * SIM_MS);
		assert_int_equal(a.verdict->is_hang, cases[i].is_hang);
		free(text);
		forget(&a);
	}
}

/* Rank 1 is outside MPI, inside a signal's handler or not, and waits for a lock of this thread. */
static void test_own_lock(void **state)
{
	static const char *const programs[] = {"r1", "x", NULL};
	static const struct {
		bool is_handler;
		struct sample_wait wait;
		bool is_hang;
	} cases[] = {
		{true, {SAMPLE_WAIT_OWNED, false, 100}, true},
		{true, {SAMPLE_WAIT_OWNED, true, 100}, false},
		{true, {SAMPLE_WAIT_OWNED, false, 101}, false},
		{true, {SAMPLE_WAIT_OTHER, false, 0}, false},
		{false, {SAMPLE_WAIT_OWNED, false, 100}, false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = run(programs, 200);
		uint32_t signals = modules_intern(job->modules, MODULES_SIGNAL, NULL, 0);
		uint32_t main =
			callpaths_intern(job->callpaths, CALLPATH_NONE, MODULE_NONE, 1, true);
		struct sample sample = {
			.rank = 1,
			.tid = 100,
			.is_main = true,
			.state = 'S',
			.wait = cases[i].wait,
		};
		struct answers a;

		if (cases[i].is_handler)
			main = callpaths_intern(job->callpaths, main, signals, 14, false);
		sample.path = callpaths_intern(job->callpaths, main, MODULE_NONE, 2, false);
		names_set(job->names, sample.path,
			  &(struct name){.function = "pthread_mutex_lock"});
		samples_add(job->samples, &sample);
		a = answers_of(job);
		print_message("case %zu\n", i);
		assert_int_equal(a.verdict->is_hang, cases[i].is_hang);
		assert_int_equal(a.verdict->is_final, cases[i].is_hang);
		if (cases[i].is_hang) {
			assert_int_equal(a.verdict->kind, VERDICT_COMPUTATION);
			assert_int_equal(rankset_count(a.verdict->culprits), 1);
			assert_true(rankset_contains(a.verdict->culprits, 1));
		}
		forget(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patience),       cmocka_unit_test(test_uncertain),
		cmocka_unit_test(test_receiver),       cmocka_unit_test(test_departed),
		cmocka_unit_test(test_departed_first), cmocka_unit_test(test_apart),
		cmocka_unit_test(test_awaited),        cmocka_unit_test(test_slow),
		cmocka_unit_test(test_own_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
