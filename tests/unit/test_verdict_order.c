/* SPDX-License-Identifier: BSD-3-Clause
 * The verdict by stacks with their temporal order, and trees with it, in a program of this
 *function:
 *
 *	first();                          CALL_FIRST
 *	for (i = 0; ...; i++) {
 *		exchange(); MPI_Recv();   CALL_EARLY, CALL_LATE
 *	}
 *	last();                           CALL_LAST
 */
#include <stdlib.h>

#include "tests/unit/unit.h"

#include "analysis/stacks/calltree.h"
#include "analysis/stacks/temporal.h"
#include "model/job/callpath.h"
#include "model/job/code.h"
#include "model/job/job.h"
#include "model/job/message_queues.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/xalloc.h"
#include "tests/unit/answers.h"

#define LIBMPI "/lib/libmpi.so.40"
#define APP "/bin/app"
#define COUNTER 3 /* the register */
#define S UINT64_C(1000000000)

/* Return addresses. */
enum { CALL_FIRST = 0x104, CALL_EARLY = 0x10c, CALL_LATE = 0x110, CALL_LAST = 0x11c };

#define REGISTER(name)                                                                             \
	{                                                                                          \
		.kind = CODE_REGISTER, .reg = (name), .size = 8                                    \
	}

static struct code_effect effects[] = {
	{REGISTER(COUNTER), {.is_known = true, .constant = 0}},
	{REGISTER(COUNTER),
	 {.is_known = true, .num_terms = 1, .constant = 1, .terms = {{REGISTER(COUNTER), 1}}}},
};

static struct code_insn insns[] = {
	{.address = 0x100, .length = 4, .kind = CODE_CALL},
	{.address = 0x104, .length = 4, .kind = CODE_PLAIN, .num_effects = 1},
	{.address = 0x108, .length = 4, .kind = CODE_CALL},
	{.address = 0x10c, .length = 4, .kind = CODE_CALL},
	{.address = 0x110, .length = 4, .kind = CODE_PLAIN, .first_effect = 1, .num_effects = 1},
	{.address = 0x114, .length = 4, .kind = CODE_BRANCH, .target = 0x108},
	{.address = 0x118, .length = 4, .kind = CODE_CALL},
	{.address = 0x11c, .length = 4, .kind = CODE_END},
};

static struct code_range range = {0x100, 0x120};

static const struct code_function function = {
	.entry = 0x100,
	.ranges = &range,
	.num_ranges = 1,
	.insns = insns,
	.num_insns = NUM_OF(insns),
	.effects = effects,
	.num_effects = NUM_OF(effects),
	.preserved = 1 << COUNTER,
	.stack_pointer = 7,
};

static struct code_location location = {
	{0x100, 0x120}, {.is_known = true, .num_terms = 1, .terms = {{REGISTER(COUNTER), 1}}}};

static struct code_variable variable = {
	.name = (char *)"i",
	.size = 8,
	.is_signed = true,
	.locations = &location,
	.num_locations = 1,
};

static const struct code_variables with_variable = {true, &variable, 1},
				   without_variable = {true, NULL, 0};

static const struct code_function *get_function(void *context, uint32_t module, uint64_t address,
						struct pdb_error *err)
{
	(void)context;
	(void)module;
	(void)err;
	return address >= range.begin && address < range.end ? &function : NULL;
}

static const struct code_variables *get_variables(void *context, uint32_t module,
						  const struct code_function *code)
{
	(void)module;
	(void)code;
	return context;
}

/* ---- Jobs ---- */

enum { MAX_LOOKS = 2, MAX_RANKS = 6 };

/* Where a rank is in a look, and in which iteration; inside: in this function of MPI. */
struct at {
	uint64_t call;
	const char *inside;
	int64_t i;
};

static uint32_t make_path(struct job *job, const struct at *at)
{
	uint32_t program = modules_intern(job->modules, APP, NULL, 0);
	uint32_t mpi = modules_intern(job->modules, LIBMPI, NULL, 0);
	uint32_t path = callpaths_intern(job->callpaths, CALLPATH_NONE, program, at->call, true);

	if (!at->inside)
		return callpaths_intern(job->callpaths, path, program, 0x1000, false);
	path = callpaths_intern(job->callpaths, path, mpi, (uint64_t)at->inside[4], false);
	names_set(job->names, path, &(struct name){.function = at->inside, .is_symbol = true});
	return path;
}

/* What a probe would have read there. */
static void add_value(struct sample *sample, const struct code_probe *probes, size_t num,
		      const struct at *at)
{
	for (size_t p = 0; p < num; p++) {
		if (probes[p].offset != at->call || !probes[p].is_return)
			continue;
		sample->values = xcalloc(1, sizeof(*sample->values));
		sample->values[0] = (struct sample_value){0, (uint32_t)p, at->i};
		sample->num_values = 1;
	}
}

static void add_look(struct job *job, struct temporal *temporal, const struct at *ranks,
		     uint64_t when_ns)
{
	const struct code_probe *probes;
	size_t num;

	for (int r = 0; r < MAX_RANKS && ranks[r].call; r++)
		temporal_add(temporal, make_path(job, &ranks[r]));
	probes = temporal_choose(temporal, &num);
	for (int r = 0; r < MAX_RANKS && ranks[r].call; r++) {
		struct sample sample = {
			.rank = r,
			.is_main = true,
			.state = 'R',
			.when_ns = when_ns,
			.path = make_path(job, &ranks[r]),
			.queues = message_queues_create(), /* messages can be counted */
		};

		add_value(&sample, probes, num, &ranks[r]);
		samples_add(job->samples, &sample);
	}
	samples_sort(job->samples);
}

#define RECV(call, i)                                                                              \
	{                                                                                          \
		call, "MPI_Recv", i                                                                \
	}
#define TEST(call, i)                                                                              \
	{                                                                                          \
		call, "MPI_Test", i                                                                \
	}
#define OUT(call, i)                                                                               \
	{                                                                                          \
		call, NULL, i                                                                      \
	}

static const struct {
	const char *what;
	struct at looks[MAX_LOOKS][MAX_RANKS];
	bool has_variable;
	enum verdict_kind kind;
	const char *culprits;
	bool is_by_order, is_hang;
} cases[] = {
	{"all inside, one an iteration behind",
	 {{RECV(CALL_LATE, 8), RECV(CALL_LATE, 7), RECV(CALL_LATE, 8)},
	  {RECV(CALL_LATE, 8), RECV(CALL_LATE, 7), RECV(CALL_LATE, 8)}},
	 true,
	 VERDICT_LEAST,
	 "1",
	 true,
	 true},
	{"the same, but all go on",
	 {{RECV(CALL_LATE, 8), RECV(CALL_LATE, 7), RECV(CALL_LATE, 8)},
	  {RECV(CALL_LATE, 18), RECV(CALL_LATE, 17), RECV(CALL_LATE, 18)}},
	 true,
	 VERDICT_NONE,
	 "",
	 false,
	 false},
	{"one of them goes on",
	 {{RECV(CALL_LATE, 8), RECV(CALL_LATE, 7), RECV(CALL_LATE, 8)},
	  {RECV(CALL_LATE, 8), RECV(CALL_LATE, 7), RECV(CALL_LATE, 9)}},
	 true,
	 VERDICT_NONE,
	 "",
	 false,
	 false},
	{"who asks again and again does not go on by that",
	 {{RECV(CALL_LAST, 0), TEST(CALL_LATE, 7), RECV(CALL_LAST, 0)},
	  {RECV(CALL_LAST, 0), TEST(CALL_LATE, 99), RECV(CALL_LAST, 0)}},
	 true,
	 VERDICT_LEAST,
	 "1",
	 true,
	 true},
	{"an earlier call of the same iteration",
	 {{RECV(CALL_LATE, 8), RECV(CALL_EARLY, 8), RECV(CALL_LATE, 8)},
	  {RECV(CALL_LATE, 8), RECV(CALL_EARLY, 8), RECV(CALL_LATE, 8)}},
	 true,
	 VERDICT_LEAST,
	 "1",
	 true,
	 true},
	{"no variable: they may be in different iterations",
	 {{RECV(CALL_LATE, 8), RECV(CALL_EARLY, 8), RECV(CALL_LATE, 8)},
	  {RECV(CALL_LATE, 8), RECV(CALL_EARLY, 8), RECV(CALL_LATE, 8)}},
	 false,
	 VERDICT_UNKNOWN,
	 "",
	 false,
	 false},
	{"no variable, before the loop: it is known where it is",
	 {{RECV(CALL_LATE, 8), RECV(CALL_FIRST, 0), RECV(CALL_LAST, 0)},
	  {RECV(CALL_LATE, 8), RECV(CALL_FIRST, 0), RECV(CALL_LAST, 0)}},
	 false,
	 VERDICT_LEAST,
	 "1",
	 true,
	 true},
	{"no variable, in the loop: it may go on",
	 {{RECV(CALL_LAST, 0), RECV(CALL_LATE, 0), RECV(CALL_LAST, 0)},
	  {RECV(CALL_LAST, 0), RECV(CALL_LATE, 0), RECV(CALL_LAST, 0)}},
	 false,
	 VERDICT_LEAST,
	 "1",
	 true,
	 false},
	{"all the same",
	 {{RECV(CALL_LATE, 8), RECV(CALL_LATE, 8), RECV(CALL_LATE, 8)},
	  {RECV(CALL_LATE, 8), RECV(CALL_LATE, 8), RECV(CALL_LATE, 8)}},
	 true,
	 VERDICT_UNKNOWN,
	 "",
	 false,
	 false},
	{"one outside",
	 {{RECV(CALL_LATE, 8), OUT(CALL_EARLY, 8), RECV(CALL_LATE, 8)},
	  {RECV(CALL_LATE, 8), OUT(CALL_EARLY, 8), RECV(CALL_LATE, 8)}},
	 true,
	 VERDICT_COMPUTATION,
	 "1",
	 false,
	 true},
	{"one outside goes from one iteration to the next, and through MPI with that",
	 {{RECV(CALL_LATE, 8), OUT(CALL_EARLY, 7), RECV(CALL_LATE, 8)},
	  {RECV(CALL_LATE, 8), OUT(CALL_EARLY, 8), RECV(CALL_LATE, 8)}},
	 true,
	 VERDICT_NONE,
	 "",
	 false,
	 false},
	{"one outside counts in a loop that nobody waits in",
	 {{RECV(CALL_LAST, 0), OUT(CALL_EARLY, 7), RECV(CALL_LAST, 0)},
	  {RECV(CALL_LAST, 0), OUT(CALL_EARLY, 8), RECV(CALL_LAST, 0)}},
	 true,
	 VERDICT_COMPUTATION,
	 "1",
	 false,
	 true},
	{"several outside, of whom one is before the others",
	 {{RECV(CALL_LATE, 8), OUT(CALL_EARLY, 7), OUT(CALL_EARLY, 9), OUT(CALL_EARLY, 8)},
	  {RECV(CALL_LATE, 8), OUT(CALL_EARLY, 7), OUT(CALL_EARLY, 9), OUT(CALL_EARLY, 8)}},
	 true,
	 VERDICT_COMPUTATION,
	 "1",
	 true,
	 true},
	{"most outside, none before the others",
	 {{RECV(CALL_LATE, 8), OUT(CALL_EARLY, 7), OUT(CALL_EARLY, 7), OUT(CALL_EARLY, 7)},
	  {RECV(CALL_LATE, 8), OUT(CALL_EARLY, 7), OUT(CALL_EARLY, 7), OUT(CALL_EARLY, 7)}},
	 true,
	 VERDICT_NONE,
	 "",
	 false,
	 false},
};

static void test_choice(void **state)
{
	(void)state;
	for (size_t c = 0; c < NUM_OF(cases); c++) {
		struct job *job = job_create();
		const struct code_variables *variables =
			cases[c].has_variable ? &with_variable : &without_variable;
		struct temporal_source source = {get_function, get_variables, (void *)variables};
		struct temporal *temporal = temporal_create(job->callpaths, job->modules, &source);
		struct rankset *ranks = rankset_create();
		struct temporal_result *order;
		struct answers a;
		char *culprits;

		print_message("%s\n", cases[c].what);
		for (uint64_t look = 0; look < MAX_LOOKS; look++)
			add_look(job, temporal, cases[c].looks[look], (look * 3 + 1) * S);
		rankset_add_range(ranks, 0, MAX_RANKS);
		order = temporal_compare(temporal, job->samples, ranks, SIZE_MAX, NULL);
		a = answers_with_order(job, order);
		culprits = rankset_encode(a.verdict->culprits, 0);
		assert_int_equal(a.verdict->kind, cases[c].kind);
		assert_string_equal(culprits, cases[c].culprits);
		assert_int_equal(a.verdict->is_by_order, cases[c].is_by_order);
		assert_int_equal(a.verdict->is_hang, cases[c].is_hang);
		free(culprits);
		answers_deinit(&a);
		temporal_result_destroy(order);
		rankset_destroy(ranks);
		temporal_destroy(temporal);
		job_destroy(job);
	}
}

/* ---- Trees ---- */

static void assert_steps(const struct temporal_result *order, size_t num, bool from_last,
			 const char *expected)
{
	struct rankset *ranks = temporal_steps(order, num, from_last);
	char *text = rankset_encode(ranks, 0);

	assert_string_equal(text, expected);
	free(text);
	rankset_destroy(ranks);
}

/* A branch for each call. */
static void test_branches(void **state)
{
	static const struct at ranks[MAX_RANKS] = {RECV(CALL_LAST, 0), RECV(CALL_FIRST, 0),
						   RECV(CALL_EARLY, 5), RECV(CALL_LAST, 0),
						   RECV(CALL_LATE, 5)};
	static const struct {
		const struct code_variables *variables;
		uint32_t times[4]; /* of the branches as they are arranged */
		int first_ranks[4];
		const char *first_two, *last;
	} trees[] = {
		{&with_variable, {1, 2, 3, 4}, {1, 2, 4, 0}, "1-2", "0,3"},
		/* Two may be in different iterations. */
		{&without_variable, {1, 2, 2, 3}, {1, 2, 4, 0}, "1-2,4", "0,3"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(trees); i++) {
		const struct calltree_options options = {.frames = CALLTREE_ADDRESS, .fold = true};
		struct temporal_source source = {get_function, get_variables,
						 (void *)trees[i].variables};
		struct job *job = job_create();
		struct temporal *temporal = temporal_create(job->callpaths, job->modules, &source);
		struct rankset *all = rankset_create();
		struct temporal_result *order;
		struct calltree *tree;

		add_look(job, temporal, ranks, S);
		rankset_add_range(all, 0, 4);
		order = temporal_compare(temporal, job->samples, all, SIZE_MAX, NULL);
		tree = calltree_create(job, NULL, &options);
		assert_true(calltree_order(tree, order));
		assert_int_equal(tree->num_roots, 4);
		for (size_t r = 0; r < 4; r++) {
			const struct calltree_node *root = &tree->nodes[tree->roots[r]];

			assert_int_equal(root->time, trees[i].times[r]);
			assert_int_equal(rankset_first(root->ranks), trees[i].first_ranks[r]);
			assert_int_equal(tree->nodes[root->children[0]].time, 0);
		}
		assert_steps(order, 1, false, "1");
		assert_steps(order, 2, false, trees[i].first_two);
		assert_steps(order, 9, false, "0-4");
		assert_steps(order, 1, true, trees[i].last);
		calltree_destroy(tree);
		temporal_result_destroy(order);
		rankset_destroy(all);
		temporal_destroy(temporal);
		job_destroy(job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_choice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
