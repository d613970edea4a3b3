/* SPDX-License-Identifier: BSD-3-Clause
 * On the hung job of hung_job.h: its culprit computes, the neighbours wait for its messages, all
 * others for these three in a collective. */
#include <string.h>

#include "analysis/waits/wait_groups.h"
#include "tests/unit/hung_job.h"
#include "tests/unit/unit.h"

/* "3:0-1 -> 2,4-5 | ...", then the edges */
static char *describe(const struct wait_groups *groups)
{
	char *text = xstrdup("");

	for (size_t g = 0; g < groups->num_groups; g++) {
		const struct wait_group *group = &groups->groups[g];
		char *ranks = rankset_encode(group->ranks, 0), *peers;
		char *more;

		peers = rankset_encode(group->peers, 0);
		more = xasprintf("%s%s%s -> %s%s%s", text, g ? " | " : "", ranks, peers,
				 group->is_apart ? " apart" : "",
				 group->is_deadlocked ? " deadlocked" : "");
		free(text);
		free(ranks);
		free(peers);
		text = more;
	}
	for (size_t e = 0; e < groups->num_edges; e++) {
		char *more = xasprintf("%s%s%u-%u", text, e ? " " : ", ", groups->edges[e].from,
				       groups->edges[e].to);

		free(text);
		text = more;
	}
	return text;
}

static void assert_groups(struct hung *hung, const char *ranks_text, size_t max_groups,
			  const char *expected)
{
	struct rankset *ranks;
	struct wait_groups *groups;
	struct pdb_error err;
	char *text;

	assert_int_equal(rankset_decode(ranks_text, -1, &ranks, &err), 0);
	groups = wait_groups_create(hung->waitfor, &hung->groups, ranks, hung->verdict.culprits,
				    max_groups, hung->view.arena);
	text = describe(groups);
	assert_string_equal(text, expected);
	free(text);
	rankset_destroy(ranks);
}

static void test_groups(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});

	(void)state;
	assert_groups(hung, "0-7", 24, "0-1,5-7 -> 2-4 | 2,4 -> 3 | 3 ->  apart, 0-1 0-2 1-2");
	/* Some only: whom they wait for need not be there. */
	assert_groups(hung, "0-2", 24, "0-1 -> 2-4 | 2 -> 3, 0-1");
	assert_groups(hung, "3", 24, "3 ->  apart");
	hung_destroy(hung);
}

/* Rank 4 waits for message `number` of `peer`, as its ledger says. */
static void wait_for(struct hung *hung, int peer, uint64_t number)
{
	struct model *model = (struct model *)hung->job.model->lanes[4].model;

	model->requests[0].peer = peer;
	model->requests[0].ordinal = number;
	model->lanes[0].ledger[1] = (struct model_ledger){.peer = peer,
							  .tag = 7,
							  .sends = 413,
							  .sends_done = 413,
							  .receives = number,
							  .receives_done = number - 1};
	waitfor_destroy(hung->waitfor);
	hung->waitfor = waitfor_create(hung->evidence, hung->comms);
}

/* The neighbours wait for different ranks: two groups, or one where that is too many. */
static void test_coarse(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});

	(void)state;
	wait_for(hung, 2, 1);
	assert_groups(hung, "0-7", 4,
		      "0-1,5-7 -> 2-4 | 2 -> 3 | 3 ->  apart | 4 -> 2, 0-1 0-2 0-3 1-2 3-1");
	assert_groups(hung, "0-7", 3, "0-1,5-7 -> 2-4 | 2,4 -> 2-3 | 3 ->  apart, 0-1 0-2 1-1 1-2");
	hung_destroy(hung);
}

/* Several who wait for any other wait for all, one for all but itself. */
static void test_wildcards(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});

	(void)state;
	for (int r = 2; r <= 4; r += 2) {
		struct model *model = (struct model *)hung->job.model->lanes[r].model;

		model->requests[0].peer = SEG_PEER_ANY;
		model->requests[0].tag = 99;
	}
	waitfor_destroy(hung->waitfor);
	hung->waitfor = waitfor_create(hung->evidence, hung->comms);
	assert_groups(hung, "2-4", 24, "2,4 -> 0-7 | 3 ->  apart, 0-0 0-1");
	assert_groups(hung, "2", 24, "2 -> 0-1,3-7");
	hung_destroy(hung);
}

/* Those in a circle stay apart from others who do the same. */
static void test_deadlock(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});

	(void)state;
	wait_for(hung, 5, 414);
	assert_groups(hung, "0-7", 3,
		      "0-1,6-7 -> 2-4 | 2 -> 3 | 3 ->  apart | 4 -> 5 deadlocked | "
		      "5 -> 2-4 deadlocked, 0-1 0-2 0-3 1-2 3-4 4-1 4-2 4-3");
	hung_destroy(hung);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_coarse),
		cmocka_unit_test(test_wildcards),
		cmocka_unit_test(test_deadlock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
