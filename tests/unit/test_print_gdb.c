/* SPDX-License-Identifier: BSD-3-Clause
 * Ranks that have ended, and whose pids other processes have: gdb touches none of these. */
#include "analysis/values/value_groups.h"
#include "attach/node/node.h"
#include "model/arena.h"
#include "model/job/job.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "shell/answers/print_gdb.h"
#include "shell/session.h"
#include "tests/unit/child.h"

static void wait_here_too(const void *argument, int ready)
{
	(void)argument;
	wait_here(ready);
}

static void test_ended(void **state)
{
	pid_t ended = start(wait_here_too, NULL), other = start(wait_here_too, NULL);
	struct arena *arena = arena_create();
	struct rankset *ranks = rankset_create();
	struct value_reading readings[2];
	struct session session;
	struct pdb_error err;

	(void)state;
	session_init(&session);
	session.job = job_create();
	proctable_add(session.job->proctable, 0, ended, "localhost", "rank");
	proctable_add_ended(session.job->proctable, 1, other, "localhost");
	assert_int_equal(proctable_finish(session.job->proctable, NULL), 0);
	session.node = node_create(session.job, NULL);
	stop(ended);
	rankset_add_range(ranks, 0, 1);
	assert_int_equal(print_gdb(&session, arena, "1 + 1", NULL, ranks, readings, &err), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(readings[i].rank, i);
		assert_false(readings[i].has_value);
		assert_string_equal(readings[i].text, "its process has ended");
	}
	node_destroy(session.node);
	session.node = NULL;
	job_destroy(session.job);
	session.job = NULL;
	rankset_destroy(ranks);
	arena_destroy(arena);
	stop(other);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
