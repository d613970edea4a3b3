/* SPDX-License-Identifier: BSD-3-Clause
 * The verdict by stacks and what MPI libraries hold of messages: jobs are as in
 * tests/fixtures/queue_ranks.h. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#include "analysis/verdict/verdict.h"
#include "model/job/job.h"
#include "model/job/message_queues.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "tests/fixtures/queue_ranks.h"

static const struct {
	const char *what, *job;
	enum verdict_kind kind;
	enum queue_cause_kind cause; /* if it is not NONE or COMPUTATION; UNKNOWN: 0, or OPEN */
	const char *culprits;
} cases[] = {
	{"a message was not sent: all wait in the next collective",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12 !0:-12\n"
	 "Wait@20 <2:7 !1:-12",
	 VERDICT_LOST, QUEUE_CAUSE_LOST, "2"},
	{"a collective was left out: its messages are not received where it waits for some",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12 !0:-12 !3:7\n"
	 "Wait@20 <2:7 !1:-12",
	 VERDICT_DEADLOCK, QUEUE_CAUSE_SKIPPED, "3"},
	{"the same, by a message to another one in the collective",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <3:-12 !3:7\n"
	 "Allreduce@30 <3:-12 !0:-12\n"
	 "Wait@20 <2:7 !1:-12",
	 VERDICT_DEADLOCK, QUEUE_CAUSE_SKIPPED, "3"},
	{"a message to one in another collective tells nothing",
	 "Allreduce@30 <2:-12\n"
	 "Barrier@40 <2:-16 !3:7\n"
	 "Allreduce@30 <3:-12 !0:-12\n"
	 "Wait@20 <2:7",
	 VERDICT_LOST, QUEUE_CAUSE_LOST, "2"},
	{"the same, by the messages of several that it waits for",
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Waitall@20 <1:7 <2:7",
	 VERDICT_DEADLOCK, QUEUE_CAUSE_SKIPPED, "3"},
	{"one is in another collective",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12 !0:-12\n"
	 "Barrier@40 <2:-16 !1:-12 !2:-12",
	 VERDICT_DEADLOCK, QUEUE_CAUSE_APART, "3"},
	{"others are elsewhere, too: some may have gone past what one waits in",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12 !0:-12\n"
	 "Reduce@40 <2:-21\n"
	 "Reduce@50 <3:-21",
	 VERDICT_UNKNOWN, 0, ""},
	{"a collective was left out by who sends to one that waits in it",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12 !3:7\n"
	 "Send@20",
	 VERDICT_DEADLOCK, QUEUE_CAUSE_SKIPPED, "3"},
	{"all are in the same collective: nothing tells who is behind",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <2:-12",
	 VERDICT_UNKNOWN, 0, ""},
	{"two wait for each other",
	 "Barrier@30 <1:-16\n"
	 "Recv@20 <2:7\n"
	 "Recv@20 <1:7\n"
	 "Barrier@30 <2:-16",
	 VERDICT_DEADLOCK, QUEUE_CAUSE_CYCLE, "1-2"},
	{"two wait for each other, and one of them for another process, too",
	 "Barrier@30 <1:-16\n"
	 "Recv@20 <2:7 <9:7\n"
	 "Recv@20 <1:7\n"
	 "Barrier@30 <2:-16",
	 VERDICT_UNKNOWN, 0, ""},
	{"two wait for each other inside a tool's or library's function",
	 "Barrier@30 <1:-16\n"
	 "Allreduce/Recv@20 <2:7 <0:-12\n"
	 "File_write_all/Waitall@20 <1:7\n"
	 "Barrier@30 <2:-16",
	 VERDICT_DEADLOCK, QUEUE_CAUSE_CYCLE, "1-2"},
	{"two send to each other",
	 "Barrier@30 <1:-16\n"
	 "Send@20 !2:7\n"
	 "Send@20 !1:7\n"
	 "Barrier@30 <2:-16",
	 VERDICT_DEADLOCK, QUEUE_CAUSE_CYCLE, "1-2"},
	{"two wait for each other, and one has sent the other what that has not come to receive",
	 "Barrier@30 <1:-16\n"
	 "Recv@20 <2:7 !2:9\n"
	 "Recv@24 <1:8\n"
	 "Barrier@30 <2:-16",
	 VERDICT_LOST, QUEUE_CAUSE_LOST, "2"},
	{"each has sent the other something else",
	 "Recv@20 <1:7 !1:9\n"
	 "Recv@20 <0:7 !0:9\n"
	 "Barrier@30 <0:-16\n"
	 "Barrier@30 <1:-16",
	 VERDICT_DEADLOCK, QUEUE_CAUSE_CYCLE, "0-1"},
	{"a message from any, and there is only one",
	 "Recv@20 <*:7\n"
	 "Allreduce@30 <0:-12",
	 VERDICT_LOST, QUEUE_CAUSE_LOST, "1"},
	{"one sends to who receives from another",
	 "Sendrecv@20 <1:7\n"
	 "Sendrecv@20 <0:7\n"
	 "Barrier@30 <0:-16\n"
	 "Barrier@30 <1:-16",
	 VERDICT_DEADLOCK, QUEUE_CAUSE_CYCLE, "0-1"},
	{"a circle of all says nothing of anybody",
	 "Recv@20 <1:7\n"
	 "Recv@20 <2:7\n"
	 "Recv@20 <3:7\n"
	 "Recv@20 <0:7",
	 VERDICT_UNKNOWN, QUEUE_CAUSE_OPEN, ""},
	{"a message from any: not known whose is missing",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Recv@20 <*:7",
	 VERDICT_UNKNOWN, 0, ""},
	{"the messages of an MPI_Irecv are not what a collective waits for",
	 "Allreduce@30 <3:-12 <1:7\n"
	 "Allreduce@30 <3:-12 <0:7\n"
	 "Allreduce@30 <3:-12\n"
	 "Recv@20 <2:7",
	 VERDICT_LOST, QUEUE_CAUSE_LOST, "2"},
	{"who sends many messages ahead does not wait for their receives",
	 "Recv@20 <1:8 !1:7\n"
	 "Recv@20 <0:8 !0:7",
	 VERDICT_DEADLOCK, QUEUE_CAUSE_CYCLE, "0-1"},
	{"somebody asks again and again, and nothing is known of what for",
	 "Recv@20 <1:7\n"
	 "Iprobe@40",
	 VERDICT_UNKNOWN, 0, ""},
	{"messages go on: nobody is behind",
	 "Allreduce@30 <2:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Allreduce@30 <3:-12\n"
	 "Wait@20 <2:7 -> Wait@20 <2:8",
	 VERDICT_NONE, 0, ""},
	{"somebody computes",
	 "Recv@20 <2:7\n"
	 "Recv@20 <2:7\n"
	 "compute@20",
	 VERDICT_COMPUTATION, 0, "2"},
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = queue_ranks_create(cases[i].job);
		struct verdict *verdict = verdict_create(job, NULL, NULL, NULL);
		char *culprits;

		verdict_choose_by_queues(verdict, job, NULL);
		culprits = rankset_encode(verdict->culprits, 0);
		if (verdict->kind != cases[i].kind || strcmp(culprits, cases[i].culprits) != 0)
			fail_msg("%s: kind %d, culprits %s", cases[i].what, verdict->kind,
				 culprits);
		assert_int_equal(verdict->queue_cause != NULL,
				 cases[i].kind == VERDICT_LOST ||
					 cases[i].kind == VERDICT_DEADLOCK ||
					 cases[i].cause == QUEUE_CAUSE_OPEN);
		if (cases[i].cause == QUEUE_CAUSE_OPEN) {
			assert_int_equal(verdict->queue_cause->kind, QUEUE_CAUSE_OPEN);
			assert_int_equal(verdict->queue_cause->num_waits, 4);
		} else if (verdict->queue_cause) {
			assert_int_equal(verdict->queue_cause->kind, cases[i].cause);
			assert_true(verdict->is_likely);
			assert_true(verdict->is_hang);
			assert_false(rankset_contains(verdict->waiting,
						      rankset_first(verdict->culprits)));
		}
		free(culprits);
		verdict_destroy(verdict);
		job_destroy(job);
	}
}

/* Of libraries that tell nothing, and of peers that are no ranks of the job. */
static void test_nothing_known(void **state)
{
	struct job *job = queue_ranks_create("Recv@20 <7:7\nRecv@20 <0:7");
	struct verdict *verdict;

	(void)state;
	verdict = verdict_create(job, NULL, NULL, NULL);
	verdict_choose_by_queues(verdict, job, NULL);
	assert_int_equal(verdict->kind, VERDICT_UNKNOWN);
	verdict_destroy(verdict);
	for (size_t i = 0; i < job->samples->num_samples; i++) {
		message_queues_destroy(job->samples->samples[i].queues);
		job->samples->samples[i].queues = NULL;
	}
	verdict = verdict_create(job, NULL, NULL, NULL);
	verdict_choose_by_queues(verdict, job, NULL);
	assert_int_equal(verdict->kind, VERDICT_UNKNOWN);
	verdict_destroy(verdict);
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
