/* SPDX-License-Identifier: BSD-3-Clause
 * Where ranks parted: conditions, candidates and the choice among them, on small functions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cause/cause.h"
#include "model/job/condition.h"
#include "model/xalloc.h"
#include "tests/unit/unit.h"

/* ---- Conditions ---- */

static struct condition_term named(int64_t add, uint64_t mask)
{
	return (struct condition_term){.is_known = true, .name = "n", .add = add, .mask = mask};
}

static struct condition_term constant(double number)
{
	return (struct condition_term){.is_known = true, .is_constant = true, .number = number};
}

static void holds(void **state)
{
	static const struct {
		enum condition_relation relation;
		bool is_unsigned, is_true_for_nan;
		uint64_t mask;
		int64_t add;
		double left, right;
		int expected;
	} rows[] = {
		{CONDITION_EQUAL, false, false, 0, 0, 3, 3, 1},
		{CONDITION_UNEQUAL, false, false, 0, 0, 3, 3, 0},
		/* n == UINT_MAX, which is -1 in the instruction */
		{CONDITION_EQUAL, false, false, 0, 0, 4294967295.0, -1, 1},
		{CONDITION_UNEQUAL, false, false, 0, 0, 4294967294.0, -1, 1},
		{CONDITION_LESS, false, false, 0, 0, -1, 3, 1},
		{CONDITION_LESS, true, false, 0, 0, -1, 3, 0},
		{CONDITION_LESS, false, false, 0, 5, -1, 3, 0},
		{CONDITION_LESS, true, false, 0, 1, 4294967295.0, 3, 1},
		{CONDITION_LESS_EQUAL, false, false, 0, 0, 3, 3, 1},
		{CONDITION_GREATER, false, false, 0, 0, 4, 3, 1},
		{CONDITION_GREATER_EQUAL, false, false, 0, 0, 2, 3, 0},
		{CONDITION_UNEQUAL, false, false, 1, 0, 6, 0, 0},
		{CONDITION_UNEQUAL, false, false, 1, 0, 7, 0, 1},
		{CONDITION_UNEQUAL, false, false, 1, 0, 7.5, 0, -1},
		{CONDITION_LESS, false, false, 0, 0, NAN, 3, 0},
		{CONDITION_LESS, false, true, 0, 0, NAN, 3, 1},
		{CONDITION_UNORDERED, false, false, 0, 0, NAN, 3, 1},
		{CONDITION_ORDERED, false, false, 0, 0, 1, 3, 1},
		{CONDITION_UNKNOWN, false, false, 0, 0, 1, 3, -1},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(rows); i++) {
		const struct condition condition = {.relation = rows[i].relation,
						    .is_unsigned = rows[i].is_unsigned,
						    .is_true_for_nan = rows[i].is_true_for_nan,
						    .size = 4,
						    .left = named(rows[i].add, rows[i].mask),
						    .right = constant(rows[i].right)};

		assert_int_equal(condition_holds(&condition, rows[i].left, 0), rows[i].expected);
	}
}

static void absolute_and_unknown(void **state)
{
	struct condition condition = {
		.relation = CONDITION_LESS, .left = named(0, 0), .right = constant(1e-8)};

	(void)state;
	condition.left.is_absolute = true;
	assert_int_equal(condition_holds(&condition, -0.5, 0), 0);
	assert_int_equal(condition_holds(&condition, -1e-9, 0), 1);
	condition.left.is_known = false;
	assert_int_equal(condition_holds(&condition, -1e-9, 0), -1);
}

static void index_in_table(void **state)
{
	const struct condition condition = {.relation = CONDITION_TABLE, .left = named(-2, 0)};

	(void)state;
	assert_int_equal(condition_index(&condition, 5), 3);
	assert_int_equal(condition_index(&condition, 1), -1);
	assert_int_equal(condition_index(&condition, NAN), -1);
}

/* ---- Functions: an instruction a letter, at addresses 0, 1, 2, ... ----
 *	.  plain	c  call	R  return	jN  jump to N	bN  branch to N or on
 *	+  adds 1 to register 3 */

struct small {
	struct code_function code;
	struct code_insn insns[64];
	struct code_effect effects[64];
	struct code_range range;
	struct flow *flow;
};

static void build(struct small *small, const char *text)
{
	struct code_function *code = &small->code;

	memset(small, 0, sizeof(*small));
	code->insns = small->insns;
	code->effects = small->effects;
	code->ranges = &small->range;
	code->num_ranges = 1;
	code->preserved = UINT64_C(1) << 3 | UINT64_C(1) << CODE_CFA;
	code->stack_pointer = 7;
	code->entry_offset = 8;
	for (const char *at = text; *at;) {
		struct code_insn *insn = &small->insns[code->num_insns];
		char letter = *at++;

		if (letter == ' ')
			continue;
		*insn = (struct code_insn){.address = code->num_insns++, .length = 1};
		insn->kind = letter == 'c'   ? CODE_CALL
			     : letter == 'R' ? CODE_END
			     : letter == 'j' ? CODE_JUMP
			     : letter == 'b' ? CODE_BRANCH
					     : CODE_PLAIN;
		if (letter == 'j' || letter == 'b')
			insn->target = strtoul(at, (char **)&at, 10);
		if (letter != '+')
			continue;
		insn->first_effect = (uint32_t)code->num_effects;
		insn->num_effects = 1;
		small->effects[code->num_effects++] = (struct code_effect){
			.to = {.reg = 3, .size = 8},
			.value = {.is_known = true,
				  .num_terms = 1,
				  .constant = 1,
				  .terms = {{.place = {.reg = 3, .size = 8}, .factor = 1}}}};
	}
	small->range.end = code->num_insns;
	small->flow = flow_create(code);
}

static struct cause_places places_of(const struct small *small, int a, int b)
{
	struct cause_places places = {.flow = small->flow, .earlier = -1};
	const int insns[2] = {a, b};

	for (int side = 0; side < 2; side++) {
		places.has_left[side] = insns[side] < 0;
		places.is_in_library[side] = true;
		if (insns[side] >= 0)
			places.place[side] = (struct flow_place){(uint32_t)insns[side], true};
	}
	return places;
}

/* The addresses of the candidates, as text. */
static void candidates(void **state)
{
	static const struct {
		const char *code;
		int a, b; /* -1: it has left the function */
		const char *expected;
	} rows[] = {
		/* if (x) { c } else { c } */
		{". b4 c j5 c . R", 2, 4, "1"},
		/* if (x) c; c */
		{". b3 c . c R", 2, 4, "1"},
		/* One that both have gone through, and one that parts them. */
		{"b2 . b5 c j6 c R", 3, 5, "2"},
		/* if (x) { if (y) c } c: either may have parted them. */
		{"b4 . b4 c . c R", 3, 5, "0 2"},
		/* do c while (x); c */
		{". c b1 c R", 1, 3, "2"},
		/* Nothing is between them. */
		{". c c R", 1, 2, ""},
		/* if (x) return; c */
		{". b4 c . R", 2, -1, "1"},
		{". c R", 1, -1, ""},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(rows); i++) {
		struct arena *arena SCOPED(arena) = arena_create();
		struct small small;
		struct cause_places places;
		struct cause_branch *branches;
		const char *found = "";
		bool is_known;

		build(&small, rows[i].code);
		places = places_of(&small, rows[i].a, rows[i].b);
		size_t num = cause_branches(arena, &places, &branches, &is_known);
		assert_true(is_known);
		for (size_t k = 0; k < num; k++)
			found = arena_printf(arena, "%s%s%d", found, *found ? " " : "",
					     (int)branches[k].address);
		assert_string_equal(found, rows[i].expected);
		flow_destroy(small.flow);
	}
}

/* What is before a branch in the iteration has not come there. */
static void not_there_yet(void **state)
{
	struct arena *arena SCOPED(arena) = arena_create();
	struct small small;
	struct cause_places places;
	struct cause_branch *branches;
	bool is_known;

	(void)state;
	/* do { c; if (x) c } while (y) */
	build(&small, ". c b4 c b1 R");
	places = places_of(&small, 1, 3);
	assert_int_equal(cause_branches(arena, &places, &branches, &is_known), 0);
	places.earlier = 1;
	assert_int_equal(cause_branches(arena, &places, &branches, &is_known), 1);
	flow_destroy(small.flow);
}

/* Instructions that run just as often. */
static void equivalents(void **state)
{
	static const struct {
		const char *code;
		uint32_t a, b;
		bool expected;
	} rows[] = {
		{". c b4 c c R", 1, 4, true},
		{". c b4 c c R", 1, 3, false},
		/* do { c; c } while (x); c */
		{". c c b1 c R", 1, 2, true},
		{". c c b1 c R", 1, 4, false},
		/* if (x) { c } else { c } */
		{". b4 c j5 c . R", 2, 4, false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(rows); i++) {
		struct small small;

		build(&small, rows[i].code);
		assert_int_equal(cause_are_equivalent(small.flow, rows[i].a, rows[i].b),
				 rows[i].expected);
		flow_destroy(small.flow);
	}
}

static void successors(void **state)
{
	const struct condition condition = {
		.relation = CONDITION_LESS, .left = named(0, 0), .right = constant(3)};
	struct small small;
	struct cause_branch branch = {.address = 1};

	(void)state;
	build(&small, ". b4 c j5 c . R");
	branch.block = small.flow->block_of[1];
	assert_int_equal(cause_successor(small.flow, &branch, &condition, 1, 0),
			 small.flow->block_of[4]);
	assert_int_equal(cause_successor(small.flow, &branch, &condition, 3, 0),
			 small.flow->block_of[2]);
	flow_destroy(small.flow);
}

static void changes(void **state)
{
	static const struct {
		const char *code;
		int a, b;
		struct code_place place;
		bool expected[2];
	} rows[] = {
		{". b4 c j5 c . R", 2, 4, {.reg = 3, .size = 8}, {true, true}},
		{". b5 + c j6 c . R", 3, 5, {.reg = 3, .size = 8}, {false, true}},
		/* The register is not the caller's: the call changes it after the place alone. */
		{". b5 c c j6 c . R", 3, 5, {.reg = 0, .size = 8}, {false, true}},
		/* What a pointer leads to is something else once the pointer has changed. */
		{". b5 + c j6 c . R", 3, 5, {CODE_MEMORY, .reg = 3, .size = 8}, {false, true}},
		{". b5 + c j6 c . R", 3, 5, {CODE_MEMORY, .reg = 4, .size = 8}, {true, true}},
		/* A global variable has no register. */
		{". b5 + c j6 c . R", 3, 5, {CODE_MEMORY, .reg = 255, .size = 8}, {true, true}},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(rows); i++) {
		struct arena *arena SCOPED(arena) = arena_create();
		struct small small;
		struct cause_places places;
		struct cause_branch *branches;
		bool is_known;

		build(&small, rows[i].code);
		places = places_of(&small, rows[i].a, rows[i].b);
		places.is_in_library[0] = places.is_in_library[1] = true;
		assert_int_equal(cause_branches(arena, &places, &branches, &is_known), 1);
		for (uint32_t side = 0; side < 2; side++)
			assert_int_equal(
				cause_is_unchanged(&places, &branches[0], side, &rows[i].place, 1),
				rows[i].expected[side]);
		flow_destroy(small.flow);
	}
}

static void counters(void **state)
{
	struct arena *arena SCOPED(arena) = arena_create();
	const struct code_place counted = {.reg = 3, .size = 8}, other = {.reg = 2, .size = 8};
	struct small small;
	struct cause_places places;
	struct cause_branch *branches;
	bool is_known;

	(void)state;
	build(&small, ". c + b1 c R");
	places = places_of(&small, 1, 4);
	assert_int_equal(cause_branches(arena, &places, &branches, &is_known), 1);
	assert_true(cause_is_counter(&places, &branches[0], &counted));
	assert_false(cause_is_counter(&places, &branches[0], &other));
	assert_true(cause_is_in_loop(&places, &branches[0], 0));
	assert_false(cause_is_in_loop(&places, &branches[0], 1));
	flow_destroy(small.flow);
}

/* ---- The choice ---- */

enum { N = CAUSE_NONE };

static void choice(void **state)
{
	static const struct {
		const char *what;
		struct cause_branch branches[2];
		struct cause_evidence evidence[2];
		size_t num;
		int earlier;
		bool is_together[2];
		enum cause_result result;
		uint32_t branch;
	} rows[] = {
		{"no branch", {{0}}, {{0}}, 0, -1, {false}, CAUSE_ELSEWHERE, 0},
		{"both sides, in one iteration",
		 {{1, 1, {2, 3}}},
		 {{0, {N, N}, {false}, false, {false}, false}},
		 1,
		 -1,
		 {false},
		 CAUSE_FOUND,
		 0},
		{"both sides, maybe not in one iteration",
		 {{1, 1, {2, 3}}},
		 {{0, {N, N}, {false}, false, {false}, false}},
		 1,
		 -2,
		 {false},
		 CAUSE_NOT_KNOWN,
		 0},
		{"both sides, by values",
		 {{1, 1, {2, 3}}},
		 {{0, {2, 3}, {false}, false, {false}, false}},
		 1,
		 -2,
		 {false},
		 CAUSE_FOUND,
		 0},
		{"values contradict",
		 {{1, 1, {2, 3}}},
		 {{0, {3, 2}, {false}, false, {false}, false}},
		 1,
		 -2,
		 {false},
		 CAUSE_NOT_KNOWN,
		 0},
		{"one side, nothing known",
		 {{1, 1, {2, N}}},
		 {{0, {N, N}, {false}, false, {false}, false}},
		 1,
		 -1,
		 {false},
		 CAUSE_NOT_KNOWN,
		 0},
		{"one side, which waits for the other",
		 {{1, 1, {2, N}}},
		 {{0, {N, N}, {false}, false, {false}, false}},
		 1,
		 -1,
		 {true, false},
		 CAUSE_FOUND,
		 0},
		{"one side, which waits for the other, maybe in another iteration",
		 {{1, 1, {2, N}}},
		 {{0, {N, N}, {false}, false, {false}, false}},
		 1,
		 -2,
		 {true, false},
		 CAUSE_NOT_KNOWN,
		 0},
		{"the other waits, which tells nothing",
		 {{1, 1, {2, N}}},
		 {{0, {N, N}, {false}, false, {false}, false}},
		 1,
		 -1,
		 {false, true},
		 CAUSE_NOT_KNOWN,
		 0},
		{"they have surely not parted there",
		 {{1, 1, {2, N}}},
		 {{0, {2, 2}, {true, true}, false, {false}, false}},
		 1,
		 -1,
		 {true, true},
		 CAUSE_ELSEWHERE,
		 0},
		{"they would take the same way now, which may be new",
		 {{1, 1, {2, N}}},
		 {{0, {2, 2}, {false, false}, false, {false}, false}},
		 1,
		 -1,
		 {false},
		 CAUSE_NOT_KNOWN,
		 0},
		{"the first cannot be, the second is it",
		 {{1, 1, {2, N}}, {4, 4, {5, N}}},
		 {{0, {2, 2}, {true, true}, false, {false}, false},
		  {1, {5, 6}, {true, true}, false, {false}, false}},
		 2,
		 -1,
		 {false},
		 CAUSE_FOUND,
		 1},
		{"it may be the first",
		 {{1, 1, {2, N}}, {4, 4, {5, N}}},
		 {{0, {N, N}, {false}, false, {false}, false},
		  {1, {5, 6}, {true, true}, false, {false}, false}},
		 2,
		 -1,
		 {true, true},
		 CAUSE_NOT_KNOWN,
		 0},
		{"two branches of one line",
		 {{1, 1, {2, N}}, {4, 4, {5, N}}},
		 {{0, {N, N}, {false}, false, {false}, false},
		  {0, {5, 6}, {true, true}, false, {false}, false}},
		 2,
		 -1,
		 {false},
		 CAUSE_FOUND,
		 1},
		{"it has only not counted so far",
		 {{1, 1, {2, N}}},
		 {{0, {2, 3}, {true, true}, true, {false}, false}},
		 1,
		 -1,
		 {true, true},
		 CAUSE_ELSEWHERE,
		 0},
		{"still in the loop, and maybe only slower",
		 {{1, 1, {2, 3}}},
		 {{0, {2, 3}, {true, true}, false, {true, false}, false}},
		 1,
		 -1,
		 {false},
		 CAUSE_NOT_KNOWN,
		 0},
		{"still in the loop, where it waits for those who have left it",
		 {{1, 1, {2, 3}}},
		 {{0, {N, N}, {false}, false, {true, false}, false}},
		 1,
		 -1,
		 {true, false},
		 CAUSE_FOUND,
		 0},
		{"one waits for the other, but all would go the same way now",
		 {{1, 1, {2, N}}},
		 {{0, {2, 2}, {false}, false, {false}, false}},
		 1,
		 -1,
		 {true, true},
		 CAUSE_NOT_KNOWN,
		 0},
		{"an earlier branch would lead all the same way, if nothing has changed",
		 {{1, 1, {2, N}}, {4, 4, {5, N}}},
		 {{0, {2, 2}, {false}, false, {false}, false},
		  {1, {5, 6}, {true, true}, false, {false}, false}},
		 2,
		 -1,
		 {false},
		 CAUSE_LIKELY,
		 1},
		{"in different iterations of a loop around both",
		 {{1, 1, {2, 3}}},
		 {{0, {2, 3}, {true, true}, false, {false}, false}},
		 1,
		 1,
		 {false},
		 CAUSE_NOT_KNOWN,
		 0},
		{"it goes by the iteration, which may be another",
		 {{1, 1, {2, 3}}},
		 {{0, {2, 3}, {true, true}, false, {false}, true}},
		 1,
		 -2,
		 {false},
		 CAUSE_NOT_KNOWN,
		 0},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(rows); i++) {
		const struct cause_places places = {.earlier = rows[i].earlier};
		uint32_t branch = 0;

		print_message("%s\n", rows[i].what);
		assert_int_equal(cause_choose(&places, rows[i].branches, rows[i].evidence,
					      rows[i].num, rows[i].is_together, &branch),
				 rows[i].result);
		if (rows[i].result == CAUSE_FOUND || rows[i].result == CAUSE_LIKELY)
			assert_int_equal(branch, rows[i].branch);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds),      cmocka_unit_test(absolute_and_unknown),
		cmocka_unit_test(candidates), cmocka_unit_test(index_in_table),
		cmocka_unit_test(changes),    cmocka_unit_test(not_there_yet),
		cmocka_unit_test(counters),   cmocka_unit_test(successors),
		cmocka_unit_test(choice),     cmocka_unit_test(equivalents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
