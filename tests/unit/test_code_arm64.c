/* SPDX-License-Identifier: BSD-3-Clause
 * Machine code of AArch64, which any host can decode: its loops, what counts in them, and tables of
 * switches. The words are those that GNU as makes of the text beside them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/progress/loop_nest.h"
#include "analysis/stacks/loop_variables.h"
#include "tests/unit/code_file.h"
#include "tests/unit/unit.h"

#define BASE CODE_FILE_BASE
#define MAX_WORDS 32

/* ---- Loops ---- */

enum { X19, SLOT };

/* Each is between a beginning and an end that make a frame of 48 bytes and keep x19:
 * stp x29,x30,[sp,-48]!; mov x29,sp; str x19,[sp,16]  ...  ldr x19,[sp,16]; ldp x29,x30,[sp],48;
 * ret. The slot is at sp+44, which is 4 below the CFA. The variable is looked at in the function
 * that is called. */
static const uint32_t beginning[] = {0xa9bd7bfd, 0x910003fd, 0xf9000bf3};
static const uint32_t end[] = {0xf9400bf3, 0xa8c37bfd, 0xd65f03c0};

static const struct {
	const char *name;
	uint32_t words[MAX_WORDS - 6];
	int variable;
	enum loop_variable_result result;
	enum loop_variable_kind kind;
	bool is_down;
	int64_t start; /* of LOOP_VARIABLE_ADDS */
} loops[] = {
	/* mov w19,0; 1: mov w0,w19; bl; add w19,w19,1; cmp w19,4; b.ne 1b */
	{"add_up",
	 {0x52800013, 0x2a1303e0, 0x94000400, 0x11000673, 0x7100127f, 0x54ffff81},
	 X19,
	 LOOP_VARIABLE_FOUND,
	 LOOP_VARIABLE_ADDS,
	 false,
	 0},
	/* mov w19,4; 1: bl; subs w19,w19,1; b.ne 1b */
	{"subs_down",
	 {0x52800093, 0x94000400, 0x71000673, 0x54ffffc1},
	 X19,
	 LOOP_VARIABLE_FOUND,
	 LOOP_VARIABLE_ADDS,
	 true,
	 4},
	/* str wzr,[sp,44]; b 2f; 1: bl; ldr w0,[sp,44]; add w0,w0,1; str w0,[sp,44]; 2: ldr
	   w0,[sp,44]; cmp w0,3; b.le 1b */
	{"slot",
	 {0xb9002fff, 0x14000005, 0x94000400, 0xb9402fe0, 0x11000400, 0xb9002fe0, 0xb9402fe0,
	  0x71000c1f, 0x54ffff4d},
	 SLOT,
	 LOOP_VARIABLE_FOUND,
	 LOOP_VARIABLE_ADDS,
	 false,
	 0},
	/* mov w19,7; stp wzr,w19,[sp,40]; 1: bl; ldp w0,w1,[sp,40]; add w1,w1,2; stp w0,w1,[sp,40];
	   cbnz w0,1b */
	{"pair",
	 {0x528000f3, 0x29054fff, 0x94000400, 0x294507e0, 0x11000821, 0x290507e0, 0x35ffff80},
	 SLOT,
	 LOOP_VARIABLE_FOUND,
	 LOOP_VARIABLE_ADDS,
	 false,
	 7},
	/* mov w19,-2; 1: bl; add w19,w19,1; cmp w19,2; b.ne 1b */
	{"negative",
	 {0x12800033, 0x94000400, 0x11000673, 0x71000a7f, 0x54ffffa1},
	 X19,
	 LOOP_VARIABLE_FOUND,
	 LOOP_VARIABLE_ADDS,
	 false,
	 -2},
	/* mov w19,w0; 1: bl; sub w19,w19,1; cbnz w19,1b */
	{"parameter",
	 {0x2a0003f3, 0x94000400, 0x51000673, 0x35ffffd3},
	 X19,
	 LOOP_VARIABLE_NO_START,
	 0,
	 false,
	 0},
	/* mov w19,1; 1: bl; lsl w19,w19,1; cmp w19,64; b.ne 1b */
	{"shifted_left",
	 {0x52800033, 0x94000400, 0x531f7a73, 0x7101027f, 0x54ffffa1},
	 X19,
	 LOOP_VARIABLE_FOUND,
	 LOOP_VARIABLE_GROWS,
	 false,
	 0},
	/* mov w19,64; 1: bl; asr w19,w19,1; cbnz w19,1b */
	{"shifted_right",
	 {0x52800813, 0x94000400, 0x13017e73, 0x35ffffd3},
	 X19,
	 LOOP_VARIABLE_FOUND,
	 LOOP_VARIABLE_SHRINKS,
	 false,
	 0},
	/* adr x19,.; 1: ldr w0,[x19],4; bl; cbnz w0,1b */
	{"post_indexed",
	 {0x10000013, 0xb8404660, 0x94000400, 0x35ffffc0},
	 X19,
	 LOOP_VARIABLE_FOUND,
	 LOOP_VARIABLE_ADDS,
	 false,
	 BASE + 16},
	/* adr x19,.; 1: ldr w0,[x19,8]!; bl; cbnz w0,1b */
	{"pre_indexed",
	 {0x10000013, 0xb8408e60, 0x94000400, 0x35ffffc0},
	 X19,
	 LOOP_VARIABLE_FOUND,
	 LOOP_VARIABLE_ADDS,
	 false,
	 BASE + 20},
	/* mov x19,0; mov x20,1; 1: bl; add x19,x19,x20,lsl 3; cbnz x0,1b */
	{"added_shifted",
	 {0xd2800013, 0xd2800034, 0x94000400, 0x8b140e73, 0xb5ffffc0},
	 X19,
	 LOOP_VARIABLE_NONE,
	 0,
	 false,
	 0},
	/* mov w19,0; 1: bl; add w19,w19,1; and w19,w19,255; cbnz w0,1b */
	{"byte",
	 {0x52800013, 0x94000400, 0x11000673, 0x12001e73, 0x35ffffa0},
	 X19,
	 LOOP_VARIABLE_NONE,
	 0,
	 false,
	 0},
	/* mov w19,0; 1: bl; add w19,w19,1; uxtb w19,w19; cbnz w0,1b */
	{"extended_byte",
	 {0x52800013, 0x94000400, 0x11000673, 0x53001e73, 0x35ffffa0},
	 X19,
	 LOOP_VARIABLE_NONE,
	 0,
	 false,
	 0},
	/* mov w19,1; mov w20,31; 1: bl; madd w19,w19,w20,w20; cbnz w0,1b */
	{"random",
	 {0x52800033, 0x528003f4, 0x94000400, 0x1b145273, 0x35ffffc0},
	 X19,
	 LOOP_VARIABLE_NONE,
	 0,
	 false,
	 0},
	/* mov w19,0; 1: bl; tbz w0,3,2f; add w19,w19,1; 2: cbnz w0,1b */
	{"one_way",
	 {0x52800013, 0x94000400, 0x36180040, 0x11000673, 0x35ffffa0},
	 X19,
	 LOOP_VARIABLE_NONE,
	 0,
	 false,
	 0},
	/* str wzr,[sp,44]; 1: add x0,sp,44; bl; ldr w0,[sp,44]; add w0,w0,1; str w0,[sp,44]; cmp
	   w0,3; b.le 1b */
	{"address_taken",
	 {0xb9002fff, 0x9100b3e0, 0x94000400, 0xb9402fe0, 0x11000400, 0xb9002fe0, 0x71000c1f,
	  0x54ffff4d},
	 SLOT,
	 LOOP_VARIABLE_NONE,
	 0,
	 false,
	 0},
	/* mov w19,0; 1: bl; cmp w0,0; csinc w19,w19,w19,eq; cbnz w0,1b */
	{"selected",
	 {0x52800013, 0x94000400, 0x7100001f, 0x1a930673, 0x35ffffa0},
	 X19,
	 LOOP_VARIABLE_NONE,
	 0,
	 false,
	 0},
};

static struct code_variables variable_at(int place, struct code_variable *variable,
					 struct code_location *location)
{
	*location = (struct code_location){
		.range = {BASE, BASE + 4 * MAX_WORDS},
		.value = {.is_known = true, .num_terms = 1, .terms[0].factor = 1},
	};
	if (place == SLOT)
		location->value.terms[0].place = (struct code_place){
			.kind = CODE_MEMORY, .reg = CODE_CFA, .size = 4, .displacement = -4};
	else
		location->value.terms[0].place =
			(struct code_place){.kind = CODE_REGISTER, .reg = 19, .size = 8};
	*variable = (struct code_variable){.name = (char *)"i",
					   .size = 4,
					   .is_signed = true,
					   .locations = location,
					   .num_locations = 1};
	return (struct code_variables){true, variable, 1};
}

static void check_loop(size_t i)
{
	uint32_t words[MAX_WORDS];
	struct code_variable variable;
	struct code_location location;
	struct code_variables variables = variable_at(loops[i].variable, &variable, &location);
	struct flow_place place = {UINT32_MAX, true};
	struct loop_variable found;
	struct opened opened;
	size_t num = 0;

	while (loops[i].words[num])
		num++;
	memcpy(words, beginning, sizeof(beginning));
	memcpy(words + 3, loops[i].words, 4 * num);
	memcpy(words + 3 + num, end, sizeof(end));
	open_code(&opened, EM_AARCH64, words, 4 * (num + 6), 4 * (num + 6), 0);
	assert_int_equal(opened.code->num_insns, num + 6);
	if (opened.flow->nest->num_loops != 1 || opened.flow->nest->loops[0].is_irreducible)
		fail_msg("%s: %zu loops", loops[i].name, opened.flow->nest->num_loops);
	for (uint32_t j = 0; j < opened.code->num_insns; j++)
		if (opened.code->insns[j].kind == CODE_CALL)
			place.insn = j;
	assert_true(place.insn != UINT32_MAX && flow_loop(opened.flow, place) == 0);
	loop_variables_choose(opened.flow, &variables, 0, &place, 1, 0, &found);
	if (found.result != loops[i].result)
		fail_msg("%s: result %d", loops[i].name, found.result);
	if (found.result == LOOP_VARIABLE_FOUND &&
	    (found.kind != loops[i].kind || found.is_down != loops[i].is_down ||
	     (found.kind == LOOP_VARIABLE_ADDS && found.sites[0].subtract != loops[i].start)))
		fail_msg("%s: kind %d, down %d, start %lld", loops[i].name, found.kind,
			 found.is_down, (long long)found.sites[0].subtract);
	free(found.sites);
	close_code(&opened);
}

static void test_loops(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(loops); i++)
		check_loop(i);
}

/* ---- Switches ---- */

/* Four cases, with a table after the function. */
static const struct {
	const char *name;
	uint32_t words[MAX_WORDS];
	size_t num_words, num_all;
	uint64_t targets[4]; /* words; none: the jump is not understood */
} switches[] = {
	/* cmp w0,3; b.hi 9f; adr x1,8f; ldrb w0,[x1,w0,uxtw]; adr x1,0f; add x0,x1,w0,sxtb 2; br
	 * x0; 0: bl; b 9f; 1: bl; 2: bl; b 9f; 3: bl; 9: 8: .byte 0,2,3,5 */
	{"bytes",
	 {0xa9bd7bfd, 0x910003fd, 0xf9000bf3, 0x71000c1f, 0x54000188, 0x100001c1, 0x38604820,
	  0x10000061, 0x8b208820, 0xd61f0000, 0x94000400, 0x14000005, 0x94000400, 0x94000400,
	  0x14000002, 0x94000400, 0xf9400bf3, 0xa8c37bfd, 0xd65f03c0, 0x05030200},
	 19,
	 20,
	 {10, 12, 13, 15}},
	/* The same without the comparison. */
	{"unbounded",
	 {0xa9bd7bfd, 0x910003fd, 0xf9000bf3, 0xd503201f, 0xd503201f, 0x100001c1, 0x38604820,
	  0x10000061, 0x8b208820, 0xd61f0000, 0x94000400, 0x14000005, 0x94000400, 0x94000400,
	  0x14000002, 0x94000400, 0xf9400bf3, 0xa8c37bfd, 0xd65f03c0, 0x05030200},
	 19,
	 20,
	 {0}},
	/* cmp w0,3; b.ls 7f; 9: (end) 7: adr x1,8f; ldr w0,[x1,w0,uxtw 2]; adr x1,0f;
	 * add x0,x1,w0,sxtw 2; br x0; ... 8: .word 0,2,3,5 */
	{"far",
	 {0xa9bd7bfd, 0x910003fd, 0xf9000bf3, 0x71000c1f, 0x54000089, 0xf9400bf3,
	  0xa8c37bfd, 0xd65f03c0, 0x10000181, 0xb8605820, 0x10000061, 0x8b20c820,
	  0xd61f0000, 0x94000400, 0x17fffff7, 0x94000400, 0x94000400, 0x17fffff4,
	  0x94000400, 0x17fffff2, 0x00000000, 0x00000002, 0x00000003, 0x00000005},
	 20,
	 24,
	 {13, 15, 16, 18}},
};

static void test_switches(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(switches); i++) {
		const struct code_insn *jump = NULL;
		struct opened opened;

		open_code(&opened, EM_AARCH64, switches[i].words, 4 * switches[i].num_words,
			  4 * switches[i].num_all, 0);
		for (size_t j = 0; j < opened.code->num_insns; j++)
			if (opened.code->insns[j].kind == CODE_SWITCH)
				jump = &opened.code->insns[j];
		assert_non_null(jump);
		if (jump->num_targets != (switches[i].targets[0] ? 4 : 0))
			fail_msg("%s: %u targets", switches[i].name, jump->num_targets);
		for (uint32_t j = 0; j < jump->num_targets; j++)
			assert_int_equal(opened.code->targets[jump->first_target + j],
					 BASE + 4 * switches[i].targets[j]);
		close_code(&opened);
	}
}

/* ---- What is no function ---- */

static void test_no_code(void **state)
{
	static const uint32_t words[] = {0xffffffff, 0xffffffff};
	struct opened opened;

	(void)state;
	open_code(&opened, EM_AARCH64, words, sizeof(words), sizeof(words), 0);
	assert_int_equal(opened.code->num_insns, NUM_OF(words));
	close_code(&opened);
}

/* A part whose function is not in the file. b whole+4 */
static void test_not_there(void **state)
{
	static const uint32_t words[] = {0x14000401};
	struct opened opened;

	(void)state;
	open_code(&opened, EM_AARCH64, words, sizeof(words), sizeof(words), BASE + 0x1000);
	assert_int_equal(opened.code->entry, BASE);
	assert_int_equal(opened.code->num_insns, NUM_OF(words));
	close_code(&opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_switches),
		cmocka_unit_test(test_no_code),
		cmocka_unit_test(test_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
