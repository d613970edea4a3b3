/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "analysis/progress/eqgroup.h"
#include "analysis/verdict/verdict.h"
#include "model/job/job.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "shell/options/args.h"
#include "shell/session.h"
#include "tests/unit/unit.h"

/* Of 8 ranks "lp" is 3, group 2 is 2 and 3, and 4 and 5 are on node7. */
static void fill_in(struct session *session)
{
	static struct eqgroup groups[2];
	static struct eqgroups all = {.groups = groups, .num_groups = 2};
	static struct verdict verdict = {.kind = VERDICT_LEAST};

	*session = (struct session){.job = job_create(), .groups = &all, .verdict = &verdict};
	for (int rank = 0; rank < 8; rank++)
		proctable_add(session->job->proctable, rank, 100 + rank,
			      rank == 4 || rank == 5 ? "node7" : "node1", "a.out");
	assert_int_equal(proctable_finish(session->job->proctable, NULL), 0);
	assert_int_equal(rankset_decode("0-1", -1, &groups[0].ranks, NULL), 0);
	assert_int_equal(rankset_decode("2-3", -1, &groups[1].ranks, NULL), 0);
	assert_int_equal(rankset_decode("3", -1, &verdict.culprits, NULL), 0);
}

static void free_of(struct session *session)
{
	for (size_t i = 0; i < session->groups->num_groups; i++)
		rankset_destroy(session->groups->groups[i].ranks);
	rankset_destroy(session->verdict->culprits);
	job_destroy(session->job);
}

static int take(const char *line, struct rankset **ret, struct pdb_error *err)
{
	struct session session;
	struct args *args;
	size_t next = 0;
	int result;

	fill_in(&session);
	assert_int_equal(args_parse(line, &args, NULL), 0);
	result = session_take_ranks(&session, args, &next, ret, err);
	assert_true(result < 0 || next == args->num_words);
	args_destroy(args);
	free_of(&session);
	return result;
}

static int take_one(const char *line, int *ret, struct pdb_error *err)
{
	struct session session;
	struct args *args;
	size_t next = 0;
	int result;

	fill_in(&session);
	assert_int_equal(args_parse(line, &args, NULL), 0);
	result = session_take_rank(&session, args, &next, ret, err);
	args_destroy(args);
	free_of(&session);
	return result;
}

static void rank_lists(void **state)
{
	static const struct {
		const char *line, *ranks;
	} cases[] = {
		{"", "0-7"},           {"0", "0"},     {"0,3-5", "0,3-5"}, {"0-7:2", "0,2,4,6"},
		{"7 1", "1,7"},        {"all", "0-7"}, {"lp", "3"},        {"group 2 7", "2-3,7"},
		{"host node7", "4-5"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct rankset *set;
		char *text;

		assert_int_equal(take(cases[i].line, &set, NULL), 0);
		text = rankset_encode(set, 0);
		assert_string_equal(text, cases[i].ranks);
		free(text);
		rankset_destroy(set);
	}
}

static void bad_rank_lists(void **state)
{
	static const struct {
		const char *line;
		enum error_code code;
		const char *text; /* part of the message */
	} cases[] = {
		{"8", ERROR_USAGE, "8"},
		{"3-", ERROR_USAGE, "3-"},
		{"-1", ERROR_USAGE, "-1"},
		{"everything", ERROR_USAGE, "everything"},
		{"group", ERROR_USAGE, "word after"},
		{"group 3", ERROR_USAGE, "from 1 to 2"},
		{"host", ERROR_USAGE, "word after"},
		{"host node9", ERROR_NOT_FOUND, "no rank runs on host"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct rankset *set = NULL;
		struct pdb_error err;

		assert_int_equal(take(cases[i].line, &set, &err), -1);
		assert_error(&err, cases[i].code, cases[i].text);
		assert_null(set);
	}
}

static void one_rank(void **state)
{
	struct pdb_error err;
	int rank = -1;

	(void)state;
	assert_int_equal(take_one("lp", &rank, &err), 0);
	assert_int_equal(rank, 3);
	assert_int_equal(take_one("5 x", &rank, &err), 0);
	assert_int_equal(rank, 5);
	assert_int_equal(take_one("group 2", &rank, &err), -1);
	assert_error(&err, ERROR_USAGE, "this needs one rank, and \"group\" names 2");
	assert_int_equal(take_one("", &rank, &err), -1);
	assert_error(&err, ERROR_USAGE, "ranks are missing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rank_lists),
		cmocka_unit_test(bad_rank_lists),
		cmocka_unit_test(one_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
