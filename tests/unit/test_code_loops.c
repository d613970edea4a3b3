/* SPDX-License-Identifier: BSD-3-Clause
 * Are calls in one loop of the code or in nested ones? Of functions made up for that. */
#include <string.h>

#include "analysis/stacks/code_loops.h"
#include "model/job/callpath.h"
#include "model/job/code.h"
#include "tests/unit/unit.h"

/* A letter for each instruction of four bytes: c a call, p plain, e the end, s a jump of which it is
 * not known where to; or a branch to the instruction of that number, J a jump. */
struct made_insn {
	char kind;
	uint8_t to;
};

enum { MAX_INSNS = 16, MAIN = 0x1000, CALLED = 0x2000, OTHER = 0x3000, MODULE = 1 };

struct made {
	struct code_function code;
	struct code_range range;
	struct code_insn insns[MAX_INSNS];
};

struct example {
	const char *what;
	struct made_insn main[MAX_INSNS];
	struct made_insn called[MAX_INSNS]; /* by the last call in main() */
	/* Calls in main(), by their instructions. */
	uint8_t first, last, outside;
	enum progress_nesting expected;
};

#define C                                                                                          \
	{                                                                                          \
		'c', 0                                                                             \
	}
#define P                                                                                          \
	{                                                                                          \
		'p', 0                                                                             \
	}
#define E                                                                                          \
	{                                                                                          \
		'e', 0                                                                             \
	}
#define S                                                                                          \
	{                                                                                          \
		's', 0                                                                             \
	}
#define B(n)                                                                                       \
	{                                                                                          \
		'b', n                                                                             \
	}
#define J(n)                                                                                       \
	{                                                                                          \
		'J', n                                                                             \
	}

static const struct example examples[] = {
	{"for { for { 1; 2 } 3 }",
	 {P, P, C, C, B(2), C, B(1), E},
	 {C, E},
	 2,
	 3,
	 5,
	 PROGRESS_NESTED},
	{"for { for { 1 } 3 }", {P, P, C, B(2), C, B(1), E}, {C, E}, 2, 2, 4, PROGRESS_NESTED},
	{"for { 1; 2; if { 3 } }", {P, C, C, B(5), C, B(1), E}, {C, E}, 1, 2, 4, PROGRESS_ONE_LOOP},
	{"for { 1; 2; 3 } with a loop around",
	 {P, P, C, C, C, B(2), B(1), E},
	 {C, E},
	 2,
	 3,
	 4,
	 PROGRESS_ONE_LOOP},
	{"for { for { 1; 2 } if { 3 } }",
	 {P, P, C, C, B(2), B(7), C, B(1), E},
	 {C, E},
	 2,
	 3,
	 6,
	 PROGRESS_NESTING_NOT_KNOWN},
	{"for { for { for { 1; 2 } } 3 }",
	 {P, P, P, C, C, B(3), B(2), C, B(1), E},
	 {C, E},
	 3,
	 4,
	 7,
	 PROGRESS_NESTED},
	{"for { 1; 2; if { continue } 3 } or for { for { 1; 2 } 3 }",
	 {P, C, C, B(1), C, B(1), E},
	 {C, E},
	 1,
	 2,
	 4,
	 PROGRESS_NESTING_NOT_KNOWN},
	{"called, but it may go without its call",
	 {P, P, C, C, B(2), C, B(1), E},
	 {B(2), C, E},
	 2,
	 3,
	 5,
	 PROGRESS_MAYBE_SKIPPED},
	{"an endless loop beside the call is no way around it",
	 {P, P, C, C, B(2), C, B(1), E},
	 {B(2), J(1), C, E},
	 2,
	 3,
	 5,
	 PROGRESS_NESTED},
	{"a jump to somewhere",
	 {P, P, C, C, B(2), C, B(1), S},
	 {C, E},
	 2,
	 3,
	 5,
	 PROGRESS_NESTING_NOT_KNOWN},
	{"no loop", {P, C, C, C, E}, {C, E}, 1, 2, 3, PROGRESS_ONE_LOOP},
};

static void make(struct made *made, uint64_t entry, const struct made_insn *insns)
{
	static const char kinds[] = {'p', 'c', 'b', 'J', 's', 'e'};
	static const enum code_kind as[] = {CODE_PLAIN, CODE_CALL,   CODE_BRANCH,
					    CODE_JUMP,  CODE_SWITCH, CODE_END};
	size_t num = 0;

	memset(made, 0, sizeof(*made));
	for (; insns[num].kind; num++) {
		struct code_insn *insn = &made->insns[num];

		insn->address = entry + 4 * num;
		insn->length = 4;
		for (size_t k = 0; k < NUM_OF(kinds); k++)
			if (insns[num].kind == kinds[k])
				insn->kind = as[k];
		if (insn->kind == CODE_BRANCH || insn->kind == CODE_JUMP)
			insn->target = entry + 4 * insns[num].to;
	}
	made->range = (struct code_range){entry, entry + 4 * num};
	made->code = (struct code_function){
		.entry = entry,
		.ranges = &made->range,
		.num_ranges = 1,
		.insns = made->insns,
		.num_insns = num,
	};
}

static struct made functions[2];
static bool is_readable;

static const struct code_function *get_function(void *context, uint32_t module, uint64_t address,
						struct pdb_error *err)
{
	(void)context;
	(void)err;
	assert_int_equal(module, MODULE);
	for (size_t i = 0; i < NUM_OF(functions); i++)
		if (is_readable && address >= functions[i].range.begin &&
		    address < functions[i].range.end)
			return &functions[i].code;
	return NULL;
}

/* The path of a call in main(), or of the last one in the function called there. */
static uint32_t path_of(struct callpaths *paths, uint32_t parent, const struct made *in,
			size_t insn)
{
	return callpaths_intern(paths, parent, MODULE, in->range.begin + 4 * insn + 4, true);
}

static uint32_t call_in(const struct made *made)
{
	size_t insn = 0;

	while (made->insns[insn].kind != CODE_CALL)
		insn++;
	return (uint32_t)insn;
}

static enum progress_nesting ask(const struct example *example, uint32_t depth)
{
	const struct temporal_source source = {get_function, NULL, NULL};
	struct callpaths *paths = callpaths_create();
	struct code_loops *loops = code_loops_create(paths, &source);
	uint32_t parent = CALLPATH_NONE, all[3];
	struct progress_calls calls = {.all = all, .num_all = 3};
	enum progress_nesting found;

	make(&functions[0], MAIN, example->main);
	make(&functions[1], CALLED, example->called);
	for (uint32_t i = 0; i < depth; i++)
		parent = callpaths_intern(paths, parent, MODULE, OTHER + i, true);
	all[0] = calls.first = path_of(paths, parent, &functions[0], example->first);
	all[1] = calls.last = path_of(paths, parent, &functions[0], example->last);
	calls.outside = path_of(paths, path_of(paths, parent, &functions[0], example->outside),
				&functions[1], call_in(&functions[1]));
	all[2] = calls.outside;
	found = code_loops_ask(loops, &calls);
	code_loops_destroy(loops);
	callpaths_destroy(paths);
	return found;
}

static void test_examples(void **state)
{
	(void)state;
	is_readable = true;
	for (size_t i = 0; i < NUM_OF(examples); i++) {
		print_message("%s\n", examples[i].what);
		assert_int_equal(ask(&examples[i], 0), examples[i].expected);
		assert_int_equal(ask(&examples[i], 3), examples[i].expected);
	}
	is_readable = false;
	assert_int_equal(ask(&examples[0], 1), PROGRESS_NESTING_NOT_KNOWN);
}

/* The loop inside is in a function that the one around calls. */
static void test_loop_in_function(void **state)
{
	static const struct made_insn main[MAX_INSNS] = {P, C, C, B(1), E};
	static const struct made_insn loop[MAX_INSNS] = {P, C, C, B(1), E};
	const struct temporal_source source = {get_function, NULL, NULL};
	struct callpaths *paths = callpaths_create();
	struct code_loops *loops = code_loops_create(paths, &source);
	uint32_t all[3], inside;
	struct progress_calls calls = {.all = all, .num_all = 3};

	(void)state;
	is_readable = true;
	make(&functions[0], MAIN, main);
	make(&functions[1], CALLED, loop);
	inside = path_of(paths, CALLPATH_NONE, &functions[0], 1);
	all[0] = calls.first = path_of(paths, inside, &functions[1], 1);
	all[1] = calls.last = path_of(paths, inside, &functions[1], 2);
	all[2] = calls.outside = path_of(paths, CALLPATH_NONE, &functions[0], 2);
	assert_int_equal(code_loops_ask(loops, &calls), PROGRESS_NESTED);
	/* A path that ends where the others go on tells nothing. */
	calls.outside = inside;
	assert_int_equal(code_loops_ask(loops, &calls), PROGRESS_NESTING_NOT_KNOWN);
	calls.outside = all[2];
	calls.last = calls.first = CALLPATH_NONE;
	assert_int_equal(code_loops_ask(loops, &calls), PROGRESS_NESTING_NOT_KNOWN);
	code_loops_destroy(loops);
	code_loops_destroy(NULL);
	callpaths_destroy(paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_loop_in_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
