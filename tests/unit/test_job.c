/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/message_queues.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/xalloc.h"
#include "tests/unit/unit.h"

static void test_create(void **state)
{
	struct job *job = job_create();
	uint32_t node;

	(void)state;
	assert_int_equal(job->proctable->num_procs, 0);
	assert_int_equal(modules_count(job->modules), 0);
	assert_int_equal(callpaths_count(job->callpaths), 0);
	assert_int_equal(job->samples->num_samples, 0);
	assert_null(job->model);
	/* Names without a resolver: module and offset. */
	node = callpaths_intern(job->callpaths, CALLPATH_NONE,
				modules_intern(job->modules, "/bin/app", NULL, 0), 0x10, true);
	assert_string_equal(names_get(job->names, node)->function, "app+0x10");
	job_destroy(job);
	job_destroy(NULL);
}

static void test_holes(void **state)
{
	struct job *job = job_create();
	char why[] = "no recorder";

	(void)state;
	for (int i = 0; i < 100; i++)
		job_add_hole(job, i * 2, why);
	memset(why, 'x', sizeof(why) - 1);
	assert_int_equal(job->num_holes, 100);
	assert_int_equal(job->holes[99].rank, 198);
	assert_string_equal(job->holes[0].why, "no recorder");
	job_destroy(job);
}

/* What was borrowed of samples stays valid, also of ranks that keep theirs. */
static void test_replaced(void **state)
{
	struct job *job = job_create();
	const struct message_queues *queues[2];
	const struct sample *first;

	(void)state;
	job->keeps_replaced = true;
	for (int r = 0; r < 2; r++)
		samples_add(job->samples,
			    &(struct sample){.rank = r, .is_main = true, .note = xstrdup("old")})
			->queues = message_queues_create();
	first = samples_find(job->samples, 0, 0);
	for (int r = 0; r < 2; r++)
		queues[r] = samples_find(job->samples, r, 0)->queues;
	for (int i = 0; i < 3; i++) {
		struct rankset *ranks = rankset_create();
		struct samples *fresh = samples_create();

		rankset_add(ranks, i % 2);
		samples_add(fresh, &(struct sample){.rank = i % 2, .is_main = true});
		job_replace_samples(job, ranks, fresh);
		rankset_destroy(ranks);
		assert_int_equal(job->samples->num_samples, 2);
		assert_null(samples_find(job->samples, i % 2, 0)->queues);
		assert_string_equal(first->note, "old");
		assert_int_equal(queues[0]->num_comms + queues[1]->num_comms, 0);
	}
	job_destroy(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create),
		cmocka_unit_test(test_holes),
		cmocka_unit_test(test_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
