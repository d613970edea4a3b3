/* SPDX-License-Identifier: BSD-3-Clause
 * What ranks wait for by what their MPI libraries hold of messages, alone or beside what a recorder
 * has counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#include "analysis/waits/waitfor.h"
#include "model/job/message_queues.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "tests/unit/answers.h"
#include "tests/unit/mixed_job.h"

static void print_need(FILE *out, const struct waitfor *w, const struct waitfor_need *need)
{
	static const char *const kinds[] = {"message", "receive",  "members", "lock",
					    "token",   "transfer", "part"};
	struct rankset *peers = rankset_create();
	char *text;

	waitfor_add_peers(w, need, peers);
	text = rankset_encode(peers, 0);
	fprintf(out, "%s of %s%s", kinds[need->kind], need->peer < 0 ? "any, " : "", text);
	if (need->tag == SEG_TAG_ANY)
		fprintf(out, " any tag");
	else if (need->tag == WAITFOR_NO_TAG)
		fprintf(out, " no tag");
	else if (need->kind != WAITFOR_MEMBERS)
		fprintf(out, " tag %d", need->tag);
	if (need->number != WAITFOR_NOT_KNOWN)
		fprintf(out, " number %d", (int)need->number);
	fprintf(out, "%s%s%s; ", need->is_read ? "" : " counted",
		need->is_certain ? "" : " perhaps", need->is_sent ? " sent" : "");
	free(text);
	rankset_destroy(peers);
}

static char *needs_of(const struct waitfor *w, int rank)
{
	static const char *const gaps[] = {
		[WAITFOR_COMPLETE] = "",           [WAITFOR_NOT_COVERED] = "not covered",
		[WAITFOR_NO_COMM] = "no comm",     [WAITFOR_OVERFLOW] = "overflow",
		[WAITFOR_UNSETTLED] = "unsettled", [WAITFOR_NO_MODEL] = "no model",
		[WAITFOR_UNREADABLE] = "torn",     [WAITFOR_NOT_TOLD] = "not told",
	};
	uint32_t l = waitfor_first_actor(w, rank);
	const struct waitfor_need *need = NULL;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_true(waitfor_is_actor_of(w, l, rank));
	while ((need = waitfor_next_need(w, l, need))) {
		print_need(out, w, need);
		/* A need of a recorded rank has a call, not the program's start. */
		assert_true(need->site != 0 || !w->evidence->actors[l].lane);
	}
	fprintf(out, "%s%s", gaps[w->actors[l].gap], w->actors[l].is_stuck ? "stuck" : "");
	fclose(out);
	return text;
}

static void check_needs(const char *what, struct job *job, int rank, const char *expected)
{
	struct answers a = answers_of(job);
	char *text = needs_of(a.waitfor, rank);

	if (strcmp(text, expected) != 0)
		print_error("%s: %s\n", what, text);
	assert_string_equal(text, expected);
	free(text);
	answers_deinit(&a);
	job_destroy(job);
}

/* ---- No recorder ---- */

static void test_read(void **state)
{
	static const struct {
		const char *what, *job;
		int rank;
		const char *needs;
	} cases[] = {
		{"a message", "Recv@20 <1:7\nRecv@20 <0:7", 0, "message of 1 tag 7; stuck"},
		{"the messages of an MPI_Wait, one of which is enough",
		 "Waitall@20 <1:7 <2:8\nRecv@20 <0:7\ncompute@20", 0,
		 "message of 1 tag 7; message of 2 tag 8; "},
		{"the library's own, too", "Wait@20 <1:7 <1:-12\ncompute@20", 0,
		 "message of 1 tag 7; part of 1 tag -12; "},
		{"a part of a collective, and not what was posted before",
		 "Allreduce@20 <1:7 <1:-12\nBarrier@30 <0:-16", 0, "part of 1 tag -12; stuck"},
		{"inside a function of a tool", "Allreduce/Recv@20 <1:7 <1:-12\ncompute@20", 0,
		 "message of 1 tag 7; "},
		{"a send: its message has arrived, and no receive has met it",
		 "Send@20\nBarrier@30 <0:-16 !0:5", 0, "receive of 1 tag 5; stuck"},
		{"a send that is posted nowhere", "Send@20\nBarrier@30 <0:-16", 0, "not told"},
		{"a receive of an MPI_Sendrecv comes before its send",
		 "Sendrecv@20 <1:7\nBarrier@30 <0:-16 !0:5", 0, "message of 1 tag 7; stuck"},
		{"where there is no receive left it is the send",
		 "Sendrecv@20\nBarrier@30 <0:-16 !0:5", 0, "receive of 1 tag 5; stuck"},
		{"a collective's message that nobody has come to receive",
		 "Bcast@20\nRecv@30 <0:7 !0:-12", 0, "part of 1 tag -12; stuck"},
		{"from any", "Recv@20 <*:7\nRecv@20 <0:7\nRecv@20 <0:7", 0,
		 "message of any, 1 tag 7; message of any, 2 tag 7; stuck"},
		{"from any, of which there is only one", "Recv@20 <*:7\nRecv@20 <0:7", 0,
		 "message of 1 tag 7; stuck"},
		{"from any, though not all of them have been heard of",
		 "Recv@20 <*:7 =1\nRecv@20 <0:7\nRecv@20 <0:7", 0,
		 "message of any, 1 tag 7 perhaps; message of any, 2 tag 7; stuck"},
		{"from any, of whom none was heard of", "Recv@20 <*:7 =1\nRecv@20 <0:7", 0,
		 "not told"},
		{"another process, too", "Waitall@20 <1:7 <9:7\nRecv@20 <0:7", 0,
		 "message of 1 tag 7; unsettled"},
		{"itself", "Recv@20 <0:7\nRecv@20 <0:7", 0, "message of 0 tag 7 perhaps; stuck"},
		{"outside MPI", "compute@20 <1:7\nRecv@20 <0:7", 0, ""},
		{"a poll may go on with something else", "Iprobe@20 <1:7\nRecv@20 <0:7", 0,
		 "message of 1 tag 7; "},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++)
		check_needs(cases[i].what, queue_ranks_create(cases[i].job), cases[i].rank,
			    cases[i].needs);
}

/* Is what is waited for on its way? */
static void test_certain(void **state)
{
	static const struct {
		const char *what, *job;
		bool is_certain;
	} cases[] = {
		{"all has arrived", "Recv@20 <1:7 =1:4,3\nRecv@20 <0:7 =0:3,2", true},
		{"one has not", "Recv@20 <1:7 =1:4,2\nRecv@20 <0:7 =0:3,4", false},
		{"counts that have gone round", "Recv@20 <1:7 =1:4,1\nRecv@20 <0:7 =0:65537,4",
		 true},
		{"one library does not count: but they stand there for long",
		 "Recv@20 <1:7 =0:0,0 =1:0,0\nRecv@20 <0:7 =0:3,4", true},
		{"no library counts, the same",
		 "Recv@20 <1:7 =0:0,0 =1:0,0\nRecv@20 <0:7 =0:0,0 =1:0,0", true},
		{"the other end moves", "Recv@20 <1:7\nRecv@20 <0:7 -> Recv@24 <0:8", false},
		{"it polls, and so stands still", "Recv@20 <1:7\nIprobe@20 <0:7", true},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = queue_ranks_create(cases[i].job);
		struct answers a = answers_of(job);
		const struct waitfor_need *need = waitfor_next_need(a.waitfor, 0, NULL);

		assert_non_null(need);
		if (need->is_certain != cases[i].is_certain)
			fail_msg("%s", cases[i].what);
		answers_deinit(&a);
		job_destroy(job);
	}
}

/* Without counts, and looked at for a moment only. */
static void test_soon(void **state)
{
	struct job *job = queue_ranks_create("Recv@20 <1:7 =0:0,0 =1:0,0\n"
					     "Recv@20 <0:7 =0:0,0 =1:0,0");
	struct answers a;

	(void)state;
	for (size_t i = 0; i < job->samples->num_samples; i++)
		if (job->samples->samples[i].when_ns > 1)
			job->samples->samples[i].when_ns = 2 * SIM_MS * 1000;
	a = answers_of(job);
	assert_false(waitfor_next_need(a.waitfor, 0, NULL)->is_certain);
	assert_int_equal(a.waitfor->num_deadlocks, 1);
	assert_false(a.waitfor->deadlocks[0].is_sure);
	answers_deinit(&a);
	job_destroy(job);
}

/* ---- With a recorder ---- */

static void test_mixed(void **state)
{
	static const struct {
		const char *what, *programs[5], *hidden, *stacks;
		int rank;
		const char *needs;
	} cases[] = {
		{"counts tell enough",
		 {"r1:7", "x"},
		 "",
		 "Recv@20 <1:7\ncompute@20",
		 0,
		 "message of 1 tag 7 number 1 counted; "},
		{"of the sender nothing is known",
		 {"r1:7", "x"},
		 "1",
		 "",
		 0,
		 "message of 1 tag 7 counted perhaps; no model"},
		{"the sender has a stack, and the receiver a recorder and no queues",
		 {"r1:7", "x"},
		 "1",
		 "\nRecv@20 <0:7",
		 0,
		 "message of 1 tag 7 counted perhaps; no model"},
		{"the receiver's library tells that it has not come",
		 {"r1:7", "x"},
		 "1",
		 "Recv@20 <1:7\nRecv@20 <0:7",
		 0,
		 "message of 1 tag 7; stuck"},
		{"the sender has a recorder, and the receiver none",
		 {"r1:7", "r0:8"},
		 "0",
		 "Recv@20 <1:7\nRecv@20 <0:8",
		 0,
		 "message of 1 tag 7; stuck"},
		{"a collective that one without a recorder has not come to",
		 {"b", "b", "x"},
		 "2",
		 "Barrier@30 <2:-16\nBarrier@30 <2:-16\nRecv@20 <0:7",
		 0,
		 "part of 2 tag -16 number 1; stuck"},
		{"a part of a collective that nobody has counted",
		 {"r2:7", "b", "x"},
		 "2",
		 "Barrier@30 <2:-16\nBarrier@30 <2:-16\nRecv@20 <0:7",
		 0,
		 "part of 2 tag -16; stuck"},
		{"a recorder, and no stack",
		 {"r1:7", "r0:7"},
		 "1",
		 "",
		 0,
		 "message of 1 tag 7 counted perhaps; no model"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++)
		check_needs(cases[i].what,
			    mixed_job(cases[i].programs, cases[i].hidden, cases[i].stacks),
			    cases[i].rank, cases[i].needs);
}

/* All members have begun it, so counts do not tell whose part is missing. Rank 2 may go on. */
static void test_begun(void **state)
{
	static const struct {
		const char *stacks, *needs;
	} cases[] = {
		{"", "transfer of any,  tag 0 number 1 counted perhaps; "},
		{"Barrier@30 <2:-16\nBarrier@30 <0:-16\nBarrier@30 <1:-16",
		 "part of 2 tag -16 number 1; "},
		{"Barrier@30\nBarrier@30 !0:-16\nBarrier@30", "part of 1 tag -16 number 1; "},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const char *const programs[] = {"b", "b", "x", NULL};
		struct job *job = mixed_job(programs, "", cases[i].stacks);
		struct model *first = (struct model *)(uintptr_t)job->model->lanes[0].model;
		struct model *last = (struct model *)(uintptr_t)job->model->lanes[2].model;

		last->comms[0].collectives = first->comms[0].collectives;
		memcpy(last->comms[0].recent, first->comms[0].recent,
		       sizeof(last->comms[0].recent));
		check_needs(cases[i].stacks, job, 0, cases[i].needs);
	}
}

/* Rank 1 waits in a broadcast of rank 0, which waits for its message. Has rank 2, without a recorder,
 * to hand on the broadcast? If so, then only if it has something of it. */
static void test_unknown_members(void **state)
{
	static const char *const programs[] = {"r1:7", "c0", "c0", NULL};
	static const struct {
		const char *stacks;
		size_t num_deadlocks;
	} cases[] = {
		{"Recv@20 <1:7\nBcast@30\nBcast@30 <0:-17", 1},
		{"Recv@20 <1:7\nBcast@30\nRecv@40 <0:9", 1},
		{"Recv@20 <1:7\nBcast@30\nBcast@30", 0},
		{"Recv@20 <1:7\nBcast@30\ncompute@40", 0},
		{"Recv@20 <1:7\nBcast@30\nRecv@40 <0:9 -> compute@40", 0},
		{"Recv@20 <1:7\nBcast@30", 0},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = mixed_job(programs, "2", cases[i].stacks);
		struct answers a = answers_of(job);

		print_message("%s\n", cases[i].stacks);
		assert_int_equal(a.waitfor->num_deadlocks, cases[i].num_deadlocks);
		assert_true(!cases[i].num_deadlocks || !a.waitfor->deadlocks[0].is_likely);
		answers_deinit(&a);
		job_destroy(job);
	}
}

/* Rank 0 holds a lock and waits in a barrier for rank 2, which wants it. Of rank 3 nothing is known. */
static void test_unknown_holders(void **state)
{
	static const char *const programs[] = {"L1 b", "b", "L1", "b", NULL};
	struct job *job = mixed_job(programs, "3", "");
	struct answers a = answers_of(job);

	(void)state;
	assert_int_equal(a.waitfor->num_deadlocks, 1);
	assert_true(rankset_contains(a.waitfor->deadlocks[0].ranks, 0));
	assert_true(rankset_contains(a.waitfor->deadlocks[0].ranks, 2));
	answers_deinit(&a);
	job_destroy(job);
}

/* ---- Messages that no receive has met ---- */

static void test_arrivals(void **state)
{
	struct job *job = queue_ranks_create("Recv@20 <1:7 !1:9 !2:9\n"
					     "Recv@20 <0:7 !0:-12 !2:8\n"
					     "Recv@20 <0:7 !9:8");
	struct answers a = answers_of(job);
	const struct waitfor_arrival *first;

	(void)state;
	assert_int_equal(a.waitfor->num_arrivals, 4);
	assert_int_equal(waitfor_arrivals_of(a.waitfor, 2, false, &first), 2);
	assert_int_equal(first[0].destination, 0);
	assert_int_equal(first[0].tag, 9);
	assert_string_equal(first[0].comm, "halo");
	assert_int_equal(first[1].destination, 1);
	assert_int_equal(waitfor_arrivals_of(a.waitfor, 0, true, &first), 1);
	assert_int_equal(first[0].tag, -12);
	assert_int_equal(waitfor_arrivals_of(a.waitfor, 0, false, &first), 0);
	answers_deinit(&a);
	job_destroy(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_certain),
		cmocka_unit_test(test_soon),
		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_begun),
		cmocka_unit_test(test_unknown_members),
		cmocka_unit_test(test_unknown_holders),
		cmocka_unit_test(test_arrivals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
