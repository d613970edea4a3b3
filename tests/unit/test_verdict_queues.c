/* SPDX-License-Identifier: BSD-3-Clause
 * The verdict by stacks and what MPI libraries hold of messages. A job is a text, a rank a line of it:
 *
 *	Recv@20 <2:7 !1:5
 *
 * is in MPI_Recv, called from the program's address 20, has posted a receive from rank 2 with tag 7 (<*:7:
 * from any), and a message of rank 1 with tag 5 has arrived that no receive has met. Tags below 0 are the
 * library's own. "compute@20" is outside MPI. What follows "->" is what a later sample sees. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#include "analysis/verdict.h"
#include "model/callpath.h"
#include "model/job.h"
#include "model/message_queues.h"
#include "model/modules.h"
#include "model/names.h"
#include "model/rankset.h"
#include "model/sample.h"
#include "model/xalloc.h"

enum { MAX_MESSAGES = 16, MAX_TEXT = 200 };

static uint32_t make_path(struct job *job, const char *function, unsigned address)
{
	uint32_t program = modules_intern(job->modules, "/bin/app", NULL, 0);
	uint32_t mpi = modules_intern(job->modules, "/lib/libmpi.so.40", NULL, 0);
	uint32_t path = callpaths_intern(job->callpaths, CALLPATH_NONE, program, address, true);
	char name[MAX_TEXT];

	if (strcmp(function, "compute") == 0)
		return callpaths_intern(job->callpaths, path, program, 0x1000, false);
	snprintf(name, sizeof(name), "MPI_%s", function);
	/* Each function has an address of its own. */
	path = callpaths_intern(job->callpaths, path, mpi,
				(uint64_t)function[0] << 16 | (uint64_t)strlen(function) << 8, false);
	names_set(job->names, path, &(struct name){.function = name, .is_symbol = true});
	return path;
}

/* "<2:7 !1:5", up to the end or "->" */
static struct message_queues *make_queues(const char *text, int num_ranks)
{
	struct message_queues *queues = message_queues_create();

	queues->comms = xcalloc(1, sizeof(*queues->comms));
	snprintf(queues->comms[0].name, sizeof(queues->comms[0].name), "halo");
	queues->comms[0].size = (uint32_t)num_ranks;
	queues->num_comms = 1;
	queues->receives = xcalloc(MAX_MESSAGES, sizeof(*queues->receives));
	queues->unexpected = xcalloc(MAX_MESSAGES, sizeof(*queues->unexpected));
	queues->pairs = xcalloc((size_t)num_ranks, sizeof(*queues->pairs));
	for (int r = 0; r < num_ranks; r++)
		queues->pairs[queues->num_pairs++] = (struct message_pair){.peer = r, .sent = 1, .arrived = 1};
	for (; *text && strncmp(text, "->", 2) != 0; text++) {
		struct queued_message message = {.peer = MESSAGE_ANY_PEER};

		if (*text != '<' && *text != '!')
			continue;
		if (text[1] != '*')
			message.peer = atoi(text + 1);
		message.tag = atoi(strchr(text, ':') + 1);
		if (*text == '<')
			queues->receives[queues->num_receives++] = message;
		else
			queues->unexpected[queues->num_unexpected++] = message;
	}
	return queues;
}

static void add_sample(struct job *job, int rank, int num_ranks, const char *text, uint64_t when_ns)
{
	struct sample sample = {.rank = rank, .is_main = true, .state = 'R', .when_ns = when_ns};
	char function[MAX_TEXT];
	unsigned address;

	assert_int_equal(sscanf(text, " %99[A-Za-z_]@%u", function, &address), 2);
	sample.path = make_path(job, function, address);
	sample.queues = make_queues(text, num_ranks);
	samples_add(job->samples, &sample);
}

static struct job *make_job(const char *text)
{
	struct job *job = job_create();
	char *lines = xstrdup(text), *rest = lines, *line;
	int num_ranks = 1, rank = 0;

	for (const char *at = text; *at; at++)
		num_ranks += *at == '\n';
	while ((line = strsep(&rest, "\n"))) {
		const char *later = strstr(line, "->");

		add_sample(job, rank, num_ranks, line, 1);
		add_sample(job, rank, num_ranks, later ? later + 2 : line, UINT64_C(4000000001));
		rank++;
	}
	samples_sort(job->samples);
	free(lines);
	return job;
}

static const struct {
	const char *what, *job;
	enum verdict_kind kind;
	enum queue_cause_kind cause; /* if it is not UNKNOWN, NONE or COMPUTATION */
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
	{"two send to each other",
	 "Barrier@30 <1:-16\n"
	 "Send@20 !2:7\n"
	 "Send@20 !1:7\n"
	 "Barrier@30 <2:-16",
	 VERDICT_DEADLOCK, QUEUE_CAUSE_CYCLE, "1-2"},
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
	 VERDICT_UNKNOWN, 0, ""},
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
		struct job *job = make_job(cases[i].job);
		struct verdict *verdict = verdict_create(job, NULL, NULL, NULL);
		char *culprits;

		verdict_choose_by_queues(verdict, job, NULL);
		culprits = rankset_encode(verdict->culprits, 0);
		if (verdict->kind != cases[i].kind || strcmp(culprits, cases[i].culprits) != 0)
			fail_msg("%s: kind %d, culprits %s", cases[i].what, verdict->kind, culprits);
		assert_int_equal(verdict->queue_cause != NULL, cases[i].kind == VERDICT_LOST ||
								       cases[i].kind == VERDICT_DEADLOCK);
		if (verdict->queue_cause) {
			assert_int_equal(verdict->queue_cause->kind, cases[i].cause);
			assert_true(verdict->is_likely);
			assert_true(verdict->is_hang);
			assert_false(rankset_contains(verdict->waiting, rankset_first(verdict->culprits)));
		}
		free(culprits);
		verdict_destroy(verdict);
		job_destroy(job);
	}
}

/* Of libraries that tell nothing, and of peers that are no ranks of the job. */
static void test_nothing_known(void **state)
{
	struct job *job = make_job("Recv@20 <7:7\nRecv@20 <0:7");
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
