/* SPDX-License-Identifier: BSD-3-Clause
 * Messages that were sent, as counted, and that the receiver's MPI library has not got. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#include "model/job/message_queues.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "tests/unit/answers.h"
#include "tests/unit/mixed_job.h"

/* What is sent with this tag is lost, and was counted as sent with the other. */
enum { TAG_LOST = 80, TAG_COUNTED = 7 };

static const struct {
	const char *what, *programs[5], *stacks;
	uint64_t stay_ms;
	enum verdict_witness_kind witness;
	const char *culprits;
	bool is_hang, is_likely;
} cases[] = {
	{"two wait for each other",
	 {"r1:7", "s0:80 r0:9"},
	 "Recv@20 <1:7\nRecv@30 <0:9",
	 5000,
	 WITNESS_NOT_ARRIVED,
	 "0-1",
	 true,
	 true},
	{"it is in the network by what both libraries count",
	 {"r1:7", "s0:80 r0:9"},
	 "Recv@20 <1:7 =1:1,0\nRecv@30 <0:9 =0:1,1",
	 5000,
	 WITNESS_NOT_ARRIVED,
	 "0-1",
	 true,
	 false},
	{"it may be on its way for so long",
	 {"r1:7", "s0:80 r0:9"},
	 "Recv@20 <1:7 =1:1,0\nRecv@30 <0:9 =0:1,1",
	 1000,
	 WITNESS_NOT_ARRIVED,
	 "0-1",
	 false,
	 true},
	{"others are in a collective",
	 {"r1:7 a", "s0:80 a", "a"},
	 "Recv@20 <1:7\nAllreduce@30 <0:-12\nAllreduce@30 <0:-12",
	 5000,
	 WITNESS_NOT_ARRIVED,
	 "0-1",
	 true,
	 true},
	{"it waits for another one, too, in a circle",
	 {"ir1:7 ir2:7 w", "s0:80 r0:9", "r0:9"},
	 "Waitall@20 <1:7 <2:7\nRecv@30 <0:9\nRecv@30 <0:9",
	 5000,
	 WITNESS_NOT_ARRIVED,
	 "0-1",
	 true,
	 true},
	{"its sender has left MPI",
	 {"r1:7", "s0:80 f"},
	 "Recv@20 <1:7\nFinalize@30",
	 5000,
	 WITNESS_NOT_ARRIVED,
	 "0-1",
	 true,
	 true},
	{"its receiver polls",
	 {"{9 ir1:5 w} ir1:7 t", "{9 s0:5} s0:80 r0:9"},
	 "Test@20 <1:7\nRecv@30 <0:9",
	 5000,
	 WITNESS_NOT_ARRIVED,
	 "0-1",
	 true,
	 true},
	/* Not so. */
	{"its receive has been met: it is being transferred",
	 {"r1:7", "s0:80 r0:9"},
	 "Recv@20\nRecv@30 <0:9",
	 5000,
	 WITNESS_NONE,
	 "0",
	 true,
	 false},
	{"another receive may have got it",
	 {"ir*:7 r1:7", "s0:80 r0:9"},
	 "Recv@20 <1:7\nRecv@30 <0:9",
	 5000,
	 WITNESS_LOST,
	 NULL,
	 true,
	 true},
	{"the second of two receives is without a message, and rightly so",
	 {"ir1:7 ir1:7 v", "s0:80 r0:9"},
	 "Waitany@20 <1:7\nRecv@30 <0:9",
	 5000,
	 WITNESS_NONE,
	 NULL,
	 true,
	 false},
	{"its sender computes, and may have kept it",
	 {"r1:7", "s0:80 x"},
	 "Recv@20 <1:7\ncompute@30",
	 5000,
	 WITNESS_NONE,
	 "1",
	 true,
	 false},
};

/* The ledger's rows are in the order of their keys. */
static int compare_rows(const void *a, const void *b)
{
	const struct model_ledger *x = a, *y = b;

	return (x->comm > y->comm) - (x->comm < y->comm) ?: (x->peer > y->peer) - (x->peer < y->peer)
	       ?: (x->tag > y->tag) - (x->tag < y->tag);
}

static void lose(struct job *job, uint64_t stay_ms)
{
	for (size_t l = 0; l < job->model->num_lanes; l++) {
		struct job_lane *lane = &job->model->lanes[l];
		struct model_lane *data = (struct model_lane *)(uintptr_t)lane->data;

		lane->stay_ns = stay_ms * SIM_MS;
		for (size_t i = 0; i < data->num_ledger; i++)
			if (data->ledger[i].tag == TAG_LOST)
				data->ledger[i].tag = TAG_COUNTED;
		qsort(data->ledger, data->num_ledger, sizeof(*data->ledger), compare_rows);
	}
}

static bool check(size_t i)
{
	struct job *job = mixed_job(cases[i].programs, "", cases[i].stacks);
	struct answers a;
	char *culprits;
	bool is_right;

	lose(job, cases[i].stay_ms);
	a = answers_of(job);
	culprits = rankset_encode(a.verdict->culprits, 0);
	is_right = (a.verdict->witness.kind == WITNESS_NOT_ARRIVED) ==
		   (cases[i].witness == WITNESS_NOT_ARRIVED);
	if (is_right && cases[i].witness == WITNESS_NOT_ARRIVED)
		is_right = a.verdict->kind == VERDICT_LOST &&
			   strcmp(culprits, cases[i].culprits) == 0 &&
			   a.verdict->is_hang == cases[i].is_hang &&
			   (a.verdict->doubt != DOUBT_NONE) == cases[i].is_likely &&
			   a.verdict->need->tag == TAG_COUNTED && a.verdict->need->number == 1;
	if (!is_right)
		print_error("%s: kind %d, witness %d, culprits %s, hang %d, likely %d\n",
			    cases[i].what, a.verdict->kind, a.verdict->witness.kind, culprits,
			    a.verdict->is_hang, a.verdict->doubt);
	free(culprits);
	answers_deinit(&a);
	job_destroy(job);
	return is_right;
}

static void test_cases(void **state)
{
	int failed = 0;

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++)
		failed += !check(i);
	assert_int_equal(failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
