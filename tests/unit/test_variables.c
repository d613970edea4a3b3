/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/job/callpath.h"
#include "model/job/proctable.h"
#include "model/job/sample.h"
#include "model/job/variables.h"
#include "model/wire/share_private.h"
#include "tests/unit/share_sample.h"

/* Variables of one frame and another. */
static struct variables *make(void)
{
	char x[] = "x", y[] = "y", size[] = "size", type[] = "double", number[] = "-1.5",
	     why[] = "optimized away", text[] = "4", empty[] = "";
	const struct variable list[] = {
		{1, VARIABLE_GLOBAL, true, true, 7, size, NULL, text},
		{1, VARIABLE_ARGUMENT, true, true, -1.5, x, type, number},
		{1, VARIABLE_LOCAL, false, false, 0, y, NULL, why},
		{1, VARIABLE_LOCAL, true, true, 4, size, type, text},
		{UINT32_MAX, VARIABLE_GLOBAL, true, false, 0, empty, empty, empty},
	};
	struct variables *variables = variables_create();

	for (size_t i = 0; i < NUM_OF(list); i++)
		variables_add(variables, &list[i]);
	return variables;
}

static void test_find(void **state)
{
	struct variables *variables = make();

	(void)state;
	assert_string_equal(variables_find(variables, 1, "x")->text, "-1.5");
	assert_true(variables_find(variables, 1, "size")->number == 4);
	assert_true(variables_find_global(variables, "size")->number == 7);
	assert_null(variables_find_global(variables, "x"));
	assert_null(variables_find_global(NULL, "x"));
	assert_null(variables_find(variables, 0, "x"));
	assert_null(variables_find(variables, 1, "z"));
	assert_null(variables_find(NULL, 1, "x"));
	assert_true(variables_has_frame(variables, 1));
	assert_false(variables_has_frame(variables, 2));
	assert_false(variables_has_frame(NULL, 0));
	variables_destroy(variables);
	variables_destroy(NULL);
}

static void assert_same(const struct variables *a, const struct variables *b)
{
	assert_int_equal(a->num, b->num);
	for (size_t i = 0; i < a->num; i++) {
		const struct variable *x = &a->list[i], *y = &b->list[i];

		assert_int_equal(x->depth, y->depth);
		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->has_value, y->has_value);
		assert_int_equal(x->is_number, y->is_number);
		assert_true(x->number == y->number);
		assert_string_equal(x->name, y->name);
		assert_int_equal(!x->type, !y->type);
		if (x->type)
			assert_string_equal(x->type, y->type);
		assert_string_equal(x->text, y->text);
	}
}

static struct job *make_job(void)
{
	struct job *job = job_create();

	for (int rank = 0; rank < 4; rank++) {
		struct sample sample = {.rank = rank, .tid = 100 + rank, .is_main = true};

		sample.path =
			callpaths_intern(job->callpaths, CALLPATH_NONE, MODULE_NONE, 16, false);
		proctable_add(job->proctable, rank, 100 + rank, "a", "app");
		samples_add(job->samples, &sample);
	}
	assert_int_equal(proctable_finish(job->proctable, NULL), 0);
	return job;
}

/* Two ranks have some, through what daemons send and what is saved. */
static void test_share(void **state)
{
	static const unsigned int parts[] = {SHARE_ANSWERS, SHARE_ANSWERS | SHARE_STACKS_ONLY};

	(void)state;
	for (size_t i = 0; i < NUM_OF(parts); i++) {
		struct job *job = make_job(), *again;
		struct variables *expected = make();
		struct share *share;

		job->samples->samples[1].variables = make();
		job->samples->samples[3].variables = make();
		share = send_share(job, NULL, parts[i]);
		again = to_job(share);
		assert_int_equal(again->samples->num_samples, 4);
		for (int rank = 0; rank < 4; rank++)
			if (rank % 2)
				assert_same(again->samples->samples[rank].variables, expected);
			else
				assert_null(again->samples->samples[rank].variables);
		variables_destroy(expected);
		share_destroy(share);
		job_destroy(again);
		job_destroy(job);
	}
}

/* Cut anywhere: refused, or without them as what was written before there were any. */
static void test_cut(void **state)
{
	struct job *job = make_job();
	struct share *share = share_create();
	struct buffer all = {0}, without = {0};
	size_t num_read = 0;

	(void)state;
	share_fill(share, job, NULL, SHARE_ANSWERS);
	share_put(share, &without);
	share_destroy(share);
	job->samples->samples[1].variables = make();
	share = share_create();
	share_fill(share, job, NULL, SHARE_ANSWERS);
	share_put(share, &all);
	share_destroy(share);
	assert_true(all.num > without.num);
	for (size_t cut = without.num; cut <= all.num; cut++) {
		struct decoder in = {all.bytes, all.bytes + cut, .memory = 1 << 24};
		struct job *again = make_job();

		samples_destroy(again->samples);
		again->samples = samples_create();
		share = share_create();
		share_take(share, &in, 4);
		if (!in.is_bad && in.at == in.end && share_to_job(share, again, NULL) == 0) {
			num_read++;
			assert_int_equal(again->samples->samples[1].variables != NULL,
					 cut == all.num);
		}
		share_destroy(share);
		job_destroy(again);
	}
	assert_in_range(num_read, 2, 3); /* after each column that may be missing */
	free(all.bytes);
	free(without.bytes);
	job_destroy(job);
}

/* Ranks of a Python job that have almost the same, which compresses well. */
static void test_many(void **state)
{
	enum { RANKS = 1000, VARIABLES = 400 };
	struct job *job = job_create(), *again;
	struct share *share;

	(void)state;
	for (int rank = 0; rank < RANKS; rank++) {
		struct sample sample = {.rank = rank, .tid = 100 + rank, .is_main = true};

		sample.path =
			callpaths_intern(job->callpaths, CALLPATH_NONE, MODULE_NONE, 16, false);
		sample.variables = variables_create();
		for (int i = 0; i < VARIABLES; i++) {
			char name[32], type[] = "int", text[16];
			struct variable variable = {
				.has_value = true, .name = name, .type = type, .text = text};

			snprintf(name, sizeof(name), "variable_%d", i);
			snprintf(text, sizeof(text), "%d", i ? 0 : rank);
			variables_add(sample.variables, &variable);
		}
		proctable_add(job->proctable, rank, 100 + rank, "a", "app");
		samples_add(job->samples, &sample);
	}
	assert_int_equal(proctable_finish(job->proctable, NULL), 0);
	share = send_share(job, NULL, SHARE_ANSWERS | SHARE_STACKS_ONLY);
	again = to_job(share);
	assert_int_equal(again->samples->num_samples, RANKS);
	assert_int_equal(again->samples->samples[RANKS - 1].variables->num, VARIABLES);
	share_destroy(share);
	job_destroy(again);
	job_destroy(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
