/* SPDX-License-Identifier: BSD-3-Clause
 * The verdict by stacks and what MPI libraries hold of messages: jobs are as in
 * tests/fixtures/queue_ranks.h. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#include "model/job/message_queues.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "tests/fixtures/queue_ranks.h"
#include "tests/unit/answers.h"

static const struct {
	const char *what, *job;
	enum verdict_kind kind;
	enum verdict_witness_kind witness;
	const char *culprits;
	bool is_sure; /* that they are those who wait for each other */
} cases[] = {
	{"a message was not sent: all wait in the next collective",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12 !0:-12\n"
	 "Wait@20 <2:7 !1:-12",
	 VERDICT_LOST, WITNESS_LOST, "2", false},
	{"a collective was left out: its messages are not received where it waits for some",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12 !0:-12 !3:7\n"
	 "Wait@20 <2:7 !1:-12",
	 VERDICT_DEADLOCK, WITNESS_AHEAD, "3", false},
	{"the same, by a message to another one in the collective",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <3:-12 !3:7\n"
	 "Allreduce@30 <3:-12 !0:-12\n"
	 "Wait@20 <2:7 !1:-12",
	 VERDICT_DEADLOCK, WITNESS_AHEAD, "3", false},
	{"a message to one in another collective tells nothing",
	 "Allreduce@30 <2:-12\n"
	 "Barrier@40 <2:-16 !3:7\n"
	 "Allreduce@30 <3:-12 !0:-12\n"
	 "Wait@20 <2:7",
	 VERDICT_LOST, WITNESS_LOST, "2", false},
	{"the same, by the messages of several that it waits for",
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Waitall@20 <1:7 <2:7",
	 VERDICT_DEADLOCK, WITNESS_AHEAD, "3", false},
	{"one is in another collective",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12 !0:-12\n"
	 "Barrier@40 <2:-16 !1:-12 !2:-12",
	 VERDICT_DEADLOCK, WITNESS_APART, "3", false},
	{"one is in another collective, and the library takes the part of any",
	 "Win_free@30 <*:-12\n"
	 "Win_free@30 <0:-12\n"
	 "Win_free@30 <0:-12\n"
	 "Barrier@40 <0:-16",
	 VERDICT_DEADLOCK, WITNESS_APART, "3", false},
	{"the same, and of the one there was none before",
	 "Win_free@30 <*:-12 =3:0,0\n"
	 "Win_free@30 <0:-12\n"
	 "Win_free@30 <0:-12\n"
	 "Barrier@40 <0:-16 =0:0,0",
	 VERDICT_DEADLOCK, WITNESS_APART, "3", false},
	{"others are elsewhere, too: only those who wait for each other are told",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12 !0:-12\n"
	 "Reduce@40 <2:-21\n"
	 "Reduce@50 <3:-21",
	 VERDICT_DEADLOCK, WITNESS_NONE, "2-3", true},
	{"a collective was left out by who sends to one that waits in it",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12 !3:7\n"
	 "Send@20",
	 VERDICT_DEADLOCK, WITNESS_AHEAD, "3", false},
	{"the same, but all others send, too: who waits alone in it has left out the receive",
	 "Allreduce@30 <1:-12 !1:7\n"
	 "Send@20\n"
	 "Send@20 !3:7\n"
	 "Send@20",
	 VERDICT_LOST, WITNESS_LOST, "0", false},
	{"who waits alone in a collective has left out its message",
	 "Allreduce@30 <1:-12 !1:7\n"
	 "Wait@20 <0:7\n"
	 "Wait@20 <1:7\n"
	 "Wait@20 <0:7",
	 VERDICT_LOST, WITNESS_LOST, "0", false},
	{"the same with a collective that not all need wait in",
	 "Bcast@30 <1:-17 !1:7\n"
	 "Wait@20 <0:7\n"
	 "Wait@20 <1:7\n"
	 "Wait@20 <0:7",
	 VERDICT_DEADLOCK, WITNESS_AHEAD, "1", false},
	{"one has not come to a collective; or have several there left out their messages?",
	 "Recv@20 <1:7\n"
	 "Recv@20 <2:7\n"
	 "Bcast@30 <1:-17\n"
	 "Bcast@30 <1:-17\n"
	 "Recv@20 <3:7",
	 VERDICT_DEADLOCK, WITNESS_APART, "1", false},
	{"all are in the same collective: two wait for each other, not known why",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <2:-12",
	 VERDICT_DEADLOCK, WITNESS_NONE, "2-3", true},
	{"two wait for each other",
	 "Barrier@30 <1:-16\n"
	 "Recv@20 <2:7\n"
	 "Recv@20 <1:7\n"
	 "Barrier@30 <2:-16",
	 VERDICT_DEADLOCK, WITNESS_NONE, "1-2", true},
	{"two wait for each other, and one of them for another process, too",
	 "Barrier@30 <1:-16\n"
	 "Recv@20 <2:7 <9:7\n"
	 "Recv@20 <1:7\n"
	 "Barrier@30 <2:-16",
	 VERDICT_UNKNOWN, WITNESS_NONE, "", false},
	{"two wait for each other inside a tool's or library's function",
	 "Barrier@30 <1:-16\n"
	 "Allreduce/Recv@20 <2:7 <0:-12\n"
	 "File_write_all/Waitall@20 <1:7\n"
	 "Barrier@30 <2:-16",
	 VERDICT_DEADLOCK, WITNESS_NONE, "1-2", true},
	{"a receive was left out: another one still waits for such a message",
	 "Ssend@20\n"
	 "Barrier@30 <0:-16\n"
	 "Barrier@30 <0:-16 !0:5\n"
	 "Recv@24 <0:5",
	 VERDICT_LOST, WITNESS_LOST, "2", false},
	{"one sends to itself, and none of its threads receives that",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <2:-12\n"
	 "Ssend@20 !2:6",
	 VERDICT_DEADLOCK, WITNESS_NONE, "2", false},
	{"two send to each other",
	 "Barrier@30 <1:-16\n"
	 "Send@20 !2:7\n"
	 "Send@20 !1:7\n"
	 "Barrier@30 <2:-16",
	 VERDICT_DEADLOCK, WITNESS_NONE, "1-2", true},
	{"two wait for each other, and one has sent the other one like it waits for: of an "
	 "exchange",
	 "Barrier@30 <1:-16\n"
	 "Recv@20 <2:7 !2:8\n"
	 "Recv@24 <1:8\n"
	 "Barrier@30 <2:-16",
	 VERDICT_LOST, WITNESS_LOST, "2", false},
	{"the same, but it waits for another tag: who asks a question does so, too",
	 "Barrier@30 <1:-16\n"
	 "Recv@20 <2:7 !2:9\n"
	 "Recv@24 <1:8\n"
	 "Barrier@30 <2:-16",
	 VERDICT_DEADLOCK, WITNESS_NONE, "1-2", true},
	{"each has sent the other something else",
	 "Recv@20 <1:7 !1:9\n"
	 "Recv@20 <0:7 !0:9\n"
	 "Barrier@30 <0:-16\n"
	 "Barrier@30 <1:-16",
	 VERDICT_DEADLOCK, WITNESS_NONE, "0-1", true},
	{"a message from any, and there is only one",
	 "Recv@20 <*:7\n"
	 "Allreduce@30 <0:-12",
	 VERDICT_LOST, WITNESS_LOST, "1", false},
	{"one sends to who receives from another",
	 "Sendrecv@20 <1:7\n"
	 "Sendrecv@20 <0:7\n"
	 "Barrier@30 <0:-16\n"
	 "Barrier@30 <1:-16",
	 VERDICT_DEADLOCK, WITNESS_NONE, "0-1", true},
	{"a circle of all: nobody of them is named before the others",
	 "Recv@20 <1:7\n"
	 "Recv@20 <2:7\n"
	 "Recv@20 <3:7\n"
	 "Recv@20 <0:7",
	 VERDICT_DEADLOCK, WITNESS_NONE, "0-3", true},
	{"a message from any: nobody can send it",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Recv@20 <*:7",
	 VERDICT_DEADLOCK, WITNESS_NONE, "0-3", true},
	{"the same, but one may still send its first message",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Recv@20 <*:7 =1",
	 VERDICT_DEADLOCK, WITNESS_NONE, "0-3", false},
	{"a circle of all, in which a message may be on its way",
	 "Recv@20 <1:7\n"
	 "Recv@20 <2:7 =2:1,0\n"
	 "Recv@20 <3:7\n"
	 "Recv@20 <0:7",
	 VERDICT_DEADLOCK, WITNESS_NONE, "0-3", false},
	{"two wait for each other, and a message may be on its way",
	 "Recv@20 <1:7 =1:1,0\n"
	 "Recv@20 <0:7",
	 VERDICT_DEADLOCK, WITNESS_NONE, "0-1", false},
	{"the messages of an MPI_Irecv are not what a collective waits for",
	 "Allreduce@30 <3:-12 <1:7\n"
	 "Allreduce@30 <3:-12 <0:7\n"
	 "Allreduce@30 <3:-12\n"
	 "Recv@20 <2:7",
	 VERDICT_LOST, WITNESS_LOST, "2", false},
	{"who sends many messages ahead does not wait for their receives",
	 "Recv@20 <1:8 !1:7\n"
	 "Recv@20 <0:8 !0:7",
	 VERDICT_DEADLOCK, WITNESS_NONE, "0-1", true},
	{"somebody asks again and again, and nothing is known of what for",
	 "Recv@20 <1:7\n"
	 "Iprobe@40",
	 VERDICT_UNKNOWN, WITNESS_NONE, "", false},
	{"messages go on: nobody is behind",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Wait@20 <2:7 -> Wait@20 <2:8",
	 VERDICT_NONE, WITNESS_NONE, "", false},
	{"somebody computes",
	 "Recv@20 <2:7\n"
	 "Recv@20 <2:7\n"
	 "compute@20",
	 VERDICT_COMPUTATION, WITNESS_NONE, "2", false},
};

static void test_cases(void **state)
{
	int failed = 0;

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = queue_ranks_create(cases[i].job);
		struct answers a = answers_of(job);
		const struct verdict *verdict = a.verdict;
		char *culprits = rankset_encode(verdict->culprits, 0);

		if (verdict->kind != cases[i].kind || verdict->witness.kind != cases[i].witness ||
		    strcmp(culprits, cases[i].culprits) != 0) {
			print_error("%s: kind %d, witness %d, culprits %s\n", cases[i].what,
				    verdict->kind, verdict->witness.kind, culprits);
			failed++;
		}
		assert_int_equal(verdict->need != NULL, verdict->witness.kind != WITNESS_NONE);
		if (!failed &&
		    (verdict->kind == VERDICT_LOST || verdict->kind == VERDICT_DEADLOCK)) {
			assert_int_equal(verdict->certainty == VERDICT_CERTAIN, cases[i].is_sure);
			assert_true(verdict->is_hang);
			assert_true(verdict->is_read);
			assert_false(rankset_contains(verdict->waiting,
						      rankset_first(verdict->culprits)));
		}
		free(culprits);
		answers_deinit(&a);
		job_destroy(job);
	}
	assert_int_equal(failed, 0);
}

/* Of libraries that tell nothing, and of peers that are no ranks of the job. */
static void test_nothing_known(void **state)
{
	struct job *job = queue_ranks_create("Recv@20 <7:7\nRecv@20 <0:7");
	struct answers a = answers_of(job);

	(void)state;
	assert_int_equal(a.verdict->kind, VERDICT_UNKNOWN);
	answers_deinit(&a);
	for (size_t i = 0; i < job->samples->num_samples; i++) {
		message_queues_destroy(job->samples->samples[i].queues);
		job->samples->samples[i].queues = NULL;
	}
	a = answers_of(job);
	assert_int_equal(a.verdict->kind, VERDICT_UNKNOWN);
	answers_deinit(&a);
	job_destroy(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_nothing_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
