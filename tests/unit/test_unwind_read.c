/* SPDX-License-Identifier: BSD-3-Clause
 * What operations of a read give, and how they end, whatever they are. */
#include <string.h>

#include "attach/stacks/tracee.h"
#include "attach/stacks/unwind_private.h"
#include "model/interrupt.h"
#include "model/job/code.h"
#include "model/job/sample.h"
#include "tests/unit/unit.h"

#define START UINT64_C(0x10000)

/* A descriptor: data, lower and upper bound; then six numbers. */
static const int64_t memory[] = {START + 64, 1, 6, -5, 0, 0, 0, 0, 11, 12, 13, 14, 15, 16};

static int read_memory(void *context, uint64_t address, void *buffer, size_t size)
{
	(void)context;
	if (address < START || address - START > sizeof(memory) ||
	    size > sizeof(memory) - (address - START))
		return -1;
	memcpy(buffer, (const uint8_t *)memory + (address - START), size);
	return 0;
}

enum { MAX_WORDS = 16 };

/* Words as they come in a sample. Returns how many. */
static size_t carry_out(const struct code_op *ops, size_t num, uint32_t num_bytes,
			int64_t words[MAX_WORDS])
{
	struct unwind_space space = {.memory = {.read = read_memory}};
	struct tracee tracee = {.tid = 0};
	struct walk walk = {.space = &space, .tracee = &tracee};
	struct code_probe probe = {
		.read = {.num_bytes = num_bytes, .ops = (struct code_op *)ops, .num_ops = num}};
	unw_cursor_t cursor;
	size_t num_words;

	memset(&cursor, 0, sizeof(cursor));
	tracee.vectors.num = 2;
	memcpy(tracee.vectors.bytes[1], &(double){1.5}, sizeof(double));
	walk_read_ops(&walk, &cursor, &probe, 7, 0);
	num_words = walk.num_values;
	assert_in_range(num_words, 1, MAX_WORDS);
	for (size_t i = 0; i < num_words; i++)
		words[i] = walk.values[num_words - 1 - i].value;
	free(walk.values);
	return num_words;
}

static void test_results(void **state)
{
	static const struct {
		struct code_op ops[12];
		size_t num_words;
		int64_t words[8];
	} cases[] = {
		{{{CODE_OP_CONSTANT, 3},
		  {CODE_OP_CONSTANT, 4},
		  {CODE_OP_MULTIPLY, 0},
		  {CODE_OP_WORD, 8}},
		 2,
		 {CODE_READ, 12}},
		{{{CODE_OP_CONSTANT, 0xfff}, {CODE_OP_SIGNED, 1}, {CODE_OP_WORD, 8}},
		 2,
		 {CODE_READ, -1}},
		{{{CODE_OP_CONSTANT, START + 24}, {CODE_OP_LOAD, 8}, {CODE_OP_WORD, 8}},
		 2,
		 {CODE_READ, -5}},
		{{{CODE_OP_CONSTANT, START + 64}, {CODE_OP_BYTES, 16}}, 3, {CODE_READ, 11, 12}},
		{{{CODE_OP_CONSTANT, START - 8}, {CODE_OP_BYTES, 16}}, 1, {CODE_NO_MEMORY}},
		{{{CODE_OP_VECTOR, 256 + 8}}, 2, {CODE_READ, 0x3ff8000000000000}},
		{{{CODE_OP_VECTOR, 512 + 8}}, 1, {CODE_LOST_REGISTER}},
		{{{CODE_OP_CONSTANT, 0}, {CODE_OP_REQUIRE, CODE_NOT_ALLOCATED}},
		 1,
		 {CODE_NOT_ALLOCATED}},
		/* The third element, by a descriptor. */
		{{{CODE_OP_CONSTANT, START},
		  {CODE_OP_OBJECT, 0},
		  {CODE_OP_LOAD, 8},
		  {CODE_OP_CONSTANT, 1},
		  {CODE_OP_PUSH_OBJECT, 0},
		  {CODE_OP_ADD_CONSTANT, 16},
		  {CODE_OP_LOAD, 8},
		  {CODE_OP_CONSTANT, 8},
		  {CODE_OP_INDEX, 3},
		  {CODE_OP_BYTES, 8}},
		 2,
		 {CODE_READ, 13}},
		{{{CODE_OP_CONSTANT, START + 64},
		  {CODE_OP_CONSTANT, 1},
		  {CODE_OP_CONSTANT, 6},
		  {CODE_OP_CONSTANT, 8},
		  {CODE_OP_INDEX, 7},
		  {CODE_OP_BYTES, 8}},
		 3,
		 {CODE_NO_ELEMENT, 1, 6}},
		/* Backwards, every second one. */
		{{{CODE_OP_CONSTANT, START + 104},
		  {CODE_OP_CONSTANT, 1},
		  {CODE_OP_CONSTANT, 3},
		  {CODE_OP_CONSTANT, -16},
		  {CODE_OP_RANGE, 1},
		  {CODE_OP_ELEMENTS, 8}},
		 5,
		 {CODE_READ, 3, 16, 14, 12}},
		/* Two rows of two, from the second column on. */
		{{{CODE_OP_CONSTANT, START + 64},
		  {CODE_OP_CONSTANT, 1},
		  {CODE_OP_CONSTANT, 3},
		  {CODE_OP_CONSTANT, 8},
		  {CODE_OP_CONSTANT, 2},
		  {CODE_OP_CONSTANT, 3},
		  {CODE_OP_RANGE, 0},
		  {CODE_OP_CONSTANT, 1},
		  {CODE_OP_CONSTANT, 2},
		  {CODE_OP_CONSTANT, 24},
		  {CODE_OP_RANGE, 1},
		  {CODE_OP_ELEMENTS, 8}},
		 7,
		 {CODE_READ, 2, 2, 12, 13, 15, 16}},
		/* None. */
		{{{CODE_OP_CONSTANT, 0},
		  {CODE_OP_CONSTANT, 1},
		  {CODE_OP_CONSTANT, 0},
		  {CODE_OP_CONSTANT, 8},
		  {CODE_OP_RANGE, 1},
		  {CODE_OP_ELEMENTS, 8}},
		 2,
		 {CODE_READ, 0}},
		/* Endlessly many rows without an element. */
		{{{CODE_OP_CONSTANT, START + 64},
		  {CODE_OP_CONSTANT, 1},
		  {CODE_OP_CONSTANT, 0},
		  {CODE_OP_CONSTANT, 8},
		  {CODE_OP_RANGE, 1},
		  {CODE_OP_CONSTANT, 1},
		  {CODE_OP_CONSTANT, INT64_MAX},
		  {CODE_OP_CONSTANT, 0},
		  {CODE_OP_RANGE, 1},
		  {CODE_OP_ELEMENTS, 8}},
		 3,
		 {CODE_READ, INT64_MAX, 0}},
		{{{CODE_OP_CONSTANT, 1}, {CODE_OP_CONSTANT, 0}, {CODE_OP_DIVIDE, 0}},
		 1,
		 {CODE_NO_VALUE}},
		{{{CODE_OP_ADD, 0}}, 1, {CODE_NO_VALUE}},
		{{{CODE_OP_DROP, 0}}, 1, {CODE_NO_VALUE}},
		{{{CODE_OP_CONSTANT, 1}, {CODE_OP_REQUIRE, 0}, {CODE_OP_PICK, 0}},
		 1,
		 {CODE_NO_VALUE}},
		{{{CODE_OP_CONSTANT, START}, {CODE_OP_BYTES, 65}}, 1, {CODE_TOO_LARGE}},
	};
	int64_t words[MAX_WORDS];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t num = 12;

		while (!cases[i].ops[num - 1].kind && !cases[i].ops[num - 1].operand)
			num--;
		if (carry_out(cases[i].ops, num, 64, words) != cases[i].num_words)
			fail_msg("case %zu ends with %d", i, (int)words[0]);
		for (size_t k = 0; k < cases[i].num_words; k++)
			if (words[k] != cases[i].words[k])
				fail_msg("case %zu, word %zu: %lld", i, k, (long long)words[k]);
	}
}

/* They end, and read nothing that is not there. */
static void test_hostile(void **state)
{
	struct code_op ops[40];
	int64_t words[MAX_WORDS];
	int num_read = 0;

	(void)state;
	srand(7);
	for (int round = 0; round < 100000; round++) {
		size_t num = 1 + (size_t)rand() % 40;

		for (size_t i = 0; i < num; i++) {
			do
				ops[i].kind = (uint8_t)(rand() % (CODE_OP_ELEMENTS + 1));
			while (ops[i].kind == CODE_OP_REGISTER || ops[i].kind == CODE_OP_FRAME ||
			       ops[i].kind == CODE_OP_BIAS || ops[i].kind == CODE_OP_THREAD);
			if (rand() % 2)
				ops[i].kind = CODE_OP_CONSTANT;
			ops[i].operand = rand() % 3 == 0 ? (int64_t)START + rand() % 100
					 : rand() % 2    ? rand() % 10 - 2
							 : (int64_t)((uint64_t)rand() << 33);
		}
		carry_out(ops, num, 24, words);
		num_read += words[0] == CODE_READ;
	}
	assert_in_range(num_read, 1000, 99000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
