/* SPDX-License-Identifier: BSD-3-Clause
 * What conditional jumps of x86-64 compare, and who calls what: machine code in files made here,
 * which any host can decode. */
#include <stdio.h>

#include "attach/code/condition.h"
#include "attach/symbols/cut_guard.h"
#include "attach/values/values.h"
#include "model/job/condition.h"
#include "tests/unit/code_file.h"
#include "tests/unit/unit.h"

enum { BASE = CODE_FILE_BASE, MAX_TEXT = 32, RAX = 0, RSI = 4, RDI = 5, XMM0 = 17, XMM1 = 18 };

/* ---- What is compared ---- */

static void comparisons(void **state)
{
	static const struct {
		const char *what;
		uint8_t text[MAX_TEXT];
		uint8_t size, jump;               /* the latter's offset */
		enum condition_relation relation; /* CONDITION_UNKNOWN: it is not known */
		bool is_unsigned, is_float;
		uint64_t mask;
		int left, right; /* registers; -1: a constant */
		int64_t constant;
	} rows[] = {
		{"cmp edi,5; jle",
		 {0x83, 0xff, 5, 0x7e, 1, 0x90, 0xc3},
		 7,
		 3,
		 CONDITION_LESS_EQUAL,
		 false,
		 false,
		 0,
		 RDI,
		 -1,
		 5},
		{"test eax,eax; jne",
		 {0x85, 0xc0, 0x75, 1, 0x90, 0xc3},
		 6,
		 2,
		 CONDITION_UNEQUAL,
		 false,
		 false,
		 0,
		 RAX,
		 -1,
		 0},
		{"cmp esi,edi; jb",
		 {0x39, 0xfe, 0x72, 1, 0x90, 0xc3},
		 6,
		 2,
		 CONDITION_LESS,
		 true,
		 false,
		 0,
		 RSI,
		 RDI,
		 0},
		{"test dil,1; je",
		 {0x40, 0xf6, 0xc7, 1, 0x74, 1, 0x90, 0xc3},
		 8,
		 4,
		 CONDITION_EQUAL,
		 false,
		 false,
		 1,
		 RDI,
		 -1,
		 0},
		{"comisd xmm0,xmm1; ja",
		 {0x66, 0x0f, 0x2f, 0xc1, 0x77, 1, 0x90, 0xc3},
		 8,
		 4,
		 CONDITION_GREATER,
		 false,
		 true,
		 0,
		 XMM0,
		 XMM1,
		 0},
		{"cmp edi,5; mov eax,esi; jg",
		 {0x83, 0xff, 5, 0x89, 0xf0, 0x7f, 1, 0x90, 0xc3},
		 9,
		 5,
		 CONDITION_GREATER,
		 false,
		 false,
		 0,
		 RDI,
		 -1,
		 5},
		{"call; jne: flags of a called function",
		 {0xe8, 0, 1, 0, 0, 0x75, 1, 0x90, 0xc3},
		 9,
		 5,
		 CONDITION_UNKNOWN,
		 false,
		 false,
		 0,
		 0,
		 0,
		 0},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(rows); i++) {
		struct comparison comparison;
		struct conditions *conditions;
		struct cut_guard guard;
		struct opened opened;
		bool is_known;

		print_message("%s\n", rows[i].what);
		open_code(&opened, EM_X86_64, rows[i].text, rows[i].size, rows[i].size, 0);
		cut_guard_enter(&guard);
		conditions = conditions_create(opened.reader, opened.module, opened.code);
		is_known =
			conditions && conditions_of(conditions, BASE + rows[i].jump, &comparison);
		conditions_destroy(conditions);
		assert_false(cut_guard_leave(&guard));
		assert_int_equal(is_known, rows[i].relation != CONDITION_UNKNOWN);
		close_code(&opened);
		if (!is_known)
			continue;
		assert_int_equal(comparison.relation, rows[i].relation);
		assert_int_equal(comparison.is_unsigned, rows[i].is_unsigned);
		assert_int_equal(comparison.left.is_float, rows[i].is_float);
		assert_int_equal(comparison.mask, rows[i].mask);
		assert_int_equal(comparison.left.kind, OPERAND_REGISTER);
		assert_int_equal(comparison.left.reg, rows[i].left);
		assert_int_equal(comparison.right.kind,
				 rows[i].right < 0 ? OPERAND_CONSTANT : OPERAND_REGISTER);
		if (rows[i].right < 0)
			assert_int_equal(comparison.right.constant, rows[i].constant);
		else
			assert_int_equal(comparison.right.reg, rows[i].right);
	}
}

/* ---- Names, of this program ---- */

extern const char __ehdr_start[]; /* the linker's */

__attribute__((noinline)) static void take_whole(long n)
{
	if (n == 3)
		puts("three");
}

__attribute__((noinline)) static void take_part(long n)
{
	if ((int)n == 3)
		puts("three");
}

__attribute__((noinline)) static void take_bits(long n)
{
	if (n & 6)
		puts("six");
}

static void names_of_this_program(void **state)
{
	static const struct {
		void (*function)(long);
		bool is_known;
	} rows[] = {
		{take_whole, true},
		{take_part, false}, /* of which print tells another number than that part's */
		{take_bits, true},
	};
	struct opened opened = {.modules = modules_create(), .store = code_store_create()};
	struct arena *arena SCOPED(arena) = arena_create();
	struct values *values = values_create(opened.modules, 0);

	(void)state;
	opened.reader = code_reader_create(opened.modules, opened.store);
	opened.module = modules_intern(opened.modules, "/proc/self/exe", NULL, 0);
	for (size_t i = 0; i < NUM_OF(rows); i++) {
		uint64_t entry = (uintptr_t)rows[i].function - (uintptr_t)__ehdr_start;
		const struct code_function *code;
		struct condition condition;
		struct pdb_error err;
		size_t jump = 0;

		rows[i].function(0);
		code = code_reader_get(opened.reader, opened.module, entry, &err);
		if (!code)
			fail_msg("%s", err.text);
		while (jump < code->num_insns && code->insns[jump].kind != CODE_BRANCH)
			jump++;
		assert_true(jump < code->num_insns);
		if (!values_condition(values, arena, opened.reader, opened.module, code,
				      code->insns[jump].address, &condition))
			skip(); /* another architecture */
		assert_int_equal(condition.left.is_known, rows[i].is_known);
	}
	values_destroy(values);
	code_reader_destroy(opened.reader);
	code_store_destroy(opened.store);
	modules_destroy(opened.modules);
}

/* ---- Who calls ---- */

static void calls(void **state)
{
	/* call 0x10010; je 0x10010; jmp 0x10010; ret */
	static const uint8_t text[] = {0xe8, 0x0b, 0,    0, 0, 0x0f, 0x84, 0x05, 0,
				       0,    0,    0xe9, 0, 0, 0,    0,    0xc3};
	struct opened opened;
	uint64_t found[3];

	(void)state;
	open_code(&opened, EM_X86_64, text, sizeof(text), sizeof(text), 0);
	assert_int_equal(code_reader_calls(opened.reader, opened.module, BASE + 0x10, found, 3), 3);
	assert_int_equal(found[0], BASE);
	assert_int_equal(found[1], BASE + 5);
	assert_int_equal(found[2], BASE + 11);
	assert_true(code_reader_calls(opened.reader, opened.module, BASE + 0x10, found, 2) ==
		    SIZE_MAX);
	assert_int_equal(code_reader_calls(opened.reader, opened.module, BASE + 0x11, found, 3), 0);
	assert_false(code_reader_may_import(opened.reader, opened.module, "MPI_Barrier"));
	close_code(&opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comparisons),
		cmocka_unit_test(names_of_this_program),
		cmocka_unit_test(calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
