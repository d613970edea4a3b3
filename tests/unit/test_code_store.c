/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/budget.h"
#include "model/buffer.h"
#include "model/wire/code_bytes.h"
#include "model/job/modules.h"
#include "model/codec.h"
#include "tests/unit/code_sample.h"

/* ---- The store ---- */

static const struct code_body *add(struct code_store *store, uint32_t module, uint64_t entry)
{
	return code_store_add(store, module, make_function(entry), make_variables(entry));
}

static void test_find(void **state)
{
	struct code_store *store = code_store_create();
	const struct code_body *high = add(store, 1, 0x2800), *low = add(store, 1, 0x1000);
	const struct code_body *other = add(store, 0, 0x1fff);
	const struct {
		uint32_t module;
		uint64_t address;
		const struct code_body *expected;
	} cases[] = {
		{1, 0x0fff, NULL}, {1, 0x1000, low},      {1, 0x101f, low},  {1, 0x1020, NULL},
		{1, 0x2003, low},  {1, 0x2004, NULL},     {1, 0x2800, high}, {1, 0x2820, NULL},
		{1, 0x3800, high}, {0, 0x1fff, other},    {0, 0x1000, NULL}, {0, 0x2fff, other},
		{2, 0x1000, NULL}, {1, UINT64_MAX, NULL},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++)
		if (code_store_find(store, cases[i].module, cases[i].address) != cases[i].expected)
			fail_msg("module %u, %#lx", cases[i].module,
				 (unsigned long)cases[i].address);
	/* The second of one entry is not kept. */
	assert_ptr_equal(add(store, 1, 0x1000), low);
	assert_int_equal(code_store_count(store), 3);
	assert_ptr_equal(code_store_get(store, 2), other);
	code_store_destroy(store);
	code_store_destroy(NULL);
}

static void test_trouble(void **state)
{
	struct code_store *store = code_store_create();

	(void)state;
	assert_string_equal(code_store_trouble(store, 3), "");
	code_store_set_trouble(store, 3, "one");
	code_store_set_trouble(store, 2, "other");
	code_store_set_trouble(store, 3, "two");
	assert_string_equal(code_store_trouble(store, 3), "two");
	assert_string_equal(code_store_trouble(store, 2), "other");
	code_store_destroy(store);
}

/* ---- Functions as bytes ---- */

static struct decoder input_of(const struct buffer *bytes, size_t size)
{
	return (struct decoder){
		.at = bytes->bytes, .end = bytes->bytes + size, .memory = BUDGET_MOST};
}

static void put(struct buffer *bytes, struct code_function *function,
		struct code_variables *variables)
{
	bytes->num = 0;
	code_bytes_function(&(struct codec){.to = bytes}, &function, &variables);
	code_function_destroy(function);
	code_variables_destroy(variables);
}

static void test_round_trip(void **state)
{
	struct code_function *function = make_function(0x400000), *again;
	struct code_variables *variables = make_variables(0x400000), *variables_again;
	struct buffer bytes = {.bytes = NULL};
	struct decoder in;

	(void)state;
	code_bytes_function(&(struct codec){.to = &bytes}, &function, &variables);
	in = input_of(&bytes, bytes.num);
	code_bytes_function(&(struct codec){.from = &in}, &again, &variables_again);
	assert_non_null(again);
	assert_ptr_equal(in.at, in.end);
	assert_same_function(function, again);
	assert_same_variables(variables, variables_again);
	free(bytes.bytes);
	code_function_destroy(function);
	code_variables_destroy(variables);
	code_function_destroy(again);
	code_variables_destroy(variables_again);
}

static bool is_taken(const struct buffer *bytes, size_t size)
{
	struct decoder in = input_of(bytes, size);
	struct code_variables *variables;
	struct code_function *function;

	code_bytes_function(&(struct codec){.from = &in}, &function, &variables);
	assert_int_equal(!function, in.is_bad);
	if (!function)
		return false;
	code_function_destroy(function);
	code_variables_destroy(variables);
	return true;
}

/* Each of these must be refused. */
static void spoil(struct code_function *function, struct code_variables *variables, int how)
{
	switch (how) {
	case 0: /* not by address */
		function->insns[1].address = function->insns[0].address - 1;
		break;
	case 1:
		function->insns[2].length = 0;
		break;
	case 2:
		function->insns[2].kind = CODE_END + 1;
		break;
	case 3:
		function->effects[0].to.reg = CODE_NUM_REGISTERS;
		break;
	case 4:
		function->effects[0].value.terms[0].place.reg = CODE_NUM_REGISTERS;
		break;
	case 5:
		function->effects[0].value.shift = 64;
		break;
	case 6:
		function->stack_pointer = CODE_NUM_REGISTERS;
		break;
	case 7: /* ends before it begins */
		function->ranges[1].end = function->ranges[1].begin - 1;
		break;
	case 8: /* without the function's own range */
		function->num_ranges = 0;
		break;
	case 9: /* more than instructions have */
		function->insns[0].num_effects = 1;
		break;
	case 10:
		function->insns[2].num_targets = 1;
		break;
	case 11:
		variables->variables[0].size = 3;
		break;
	case 12:
		variables->variables[1].size = 16;
		break;
	default:
		variables->variables[0].locations[0].value.terms[0].place.reg = 77;
		break;
	}
}

static void test_refused(void **state)
{
	struct buffer bytes = {.bytes = NULL};

	(void)state;
	for (int how = 0; how < 14; how++) {
		struct code_function *function = make_function(0x400000);
		struct code_variables *variables = make_variables(0x400000);

		spoil(function, variables, how);
		put(&bytes, function, variables);
		if (is_taken(&bytes, bytes.num))
			fail_msg("case %d was taken", how);
	}
	put(&bytes, make_function(0x400000), make_variables(0x400000));
	assert_true(is_taken(&bytes, bytes.num));
	for (size_t size = 0; size < bytes.num; size++)
		assert_false(is_taken(&bytes, size));
	free(bytes.bytes);
}

/* Whatever the bytes are, nothing worse happens than that they are refused. */
static void test_hostile(void **state)
{
	struct buffer bytes = {.bytes = NULL}, copy = {.bytes = NULL};
	int refused = 0;

	(void)state;
	put(&bytes, make_function(0x400000), make_variables(0x400000));
	srand(5);
	for (int i = 0; i < 20000; i++) {
		copy.num = 0;
		buffer_put_bytes(&copy, bytes.bytes, bytes.num);
		for (int k = rand() % 4; k >= 0; k--)
			copy.bytes[(size_t)rand() % copy.num] = (uint8_t)rand();
		refused += !is_taken(&copy, copy.num);
	}
	assert_in_range(refused, 2000, 19000);
	free(bytes.bytes);
	free(copy.bytes);
}

/* ---- Questions ---- */

static struct buffer question_bytes(void)
{
	struct code_op ops[] = {
		{CODE_OP_REGISTER, 7}, {CODE_OP_ADD_CONSTANT, -16}, {CODE_OP_BYTES, 8}};
	struct code_probe probes[] = {make_probe(1, 0x1234), make_probe(0, 0x99)};
	const struct code_address names[] = {{0, 0x10}, {1, 0x20}, {1, 0x30}};
	const struct code_address functions[] = {{1, 0x40}};
	const struct code_question question = {
		.probes = probes,
		.num_probes = NUM_OF(probes),
		.names = names,
		.num_names = NUM_OF(names),
		.functions = functions,
		.num_functions = NUM_OF(functions),
	};
	struct modules *modules = modules_create();
	struct buffer bytes = {.bytes = NULL};

	probes[1].read = (struct code_read){.num_bytes = 8, .ops = ops, .num_ops = NUM_OF(ops)};
	modules_intern(modules, "/bin/app", (const uint8_t *)"abcd", 4);
	modules_intern(modules, "/lib/plugin.so", NULL, 0);
	code_bytes_put_question(&bytes, &question, modules);
	modules_destroy(modules);
	return bytes;
}

/* Modules have other numbers where the question comes to. */
static void test_question(void **state)
{
	struct modules *modules = modules_create();
	struct buffer bytes = question_bytes();
	struct code_question question;
	struct code_probe expected = make_probe(1, 0x1234);

	(void)state;
	modules_intern(modules, "/lib/other.so", NULL, 0);
	modules_intern(modules, "/lib/plugin.so", NULL, 0);
	assert_int_equal(code_bytes_take_question(bytes.bytes, bytes.num, modules, &question), 0);
	assert_int_equal(question.num_probes, 2);
	assert_true(code_probe_is_same(&question.probes[0], &expected));
	assert_false(code_probe_is_same(&question.probes[1], &expected));
	assert_string_equal(modules_get(modules, question.probes[1].module)->path, "/bin/app");
	assert_int_equal(question.probes[0].read.num_ops, 0);
	assert_int_equal(question.probes[1].read.num_bytes, 8);
	assert_int_equal(question.probes[1].read.num_ops, 3);
	assert_int_equal(question.probes[1].read.ops[1].kind, CODE_OP_ADD_CONSTANT);
	assert_int_equal(question.probes[1].read.ops[1].operand, -16);
	assert_int_equal(question.num_names, 3);
	assert_int_equal(question.names[2].module, 1);
	assert_int_equal(question.names[2].address, 0x30);
	assert_int_equal(question.num_functions, 1);
	assert_int_equal(question.functions[0].address, 0x40);
	code_question_deinit(&question);
	modules_destroy(modules);
	free(bytes.bytes);
}

static void test_refused_questions(void **state)
{
	struct buffer bytes = question_bytes();
	struct code_question question;
	int refused = 0;

	(void)state;
	for (size_t size = 0; size <= bytes.num; size++) {
		struct modules *modules = modules_create();

		assert_int_equal(code_bytes_take_question(bytes.bytes, size, modules, &question),
				 size == bytes.num ? 0 : -1);
		code_question_deinit(&question);
		modules_destroy(modules);
	}
	srand(6);
	for (int i = 0; i < 5000; i++) {
		struct modules *modules = modules_create();
		size_t at = (size_t)rand() % bytes.num;
		uint8_t byte = bytes.bytes[at];

		bytes.bytes[at] = (uint8_t)rand();
		if (code_bytes_take_question(bytes.bytes, bytes.num, modules, &question) < 0)
			refused++;
		else
			for (size_t k = 0; k < question.num_probes; k++)
				assert_true(question.probes[k].module < modules_count(modules));
		code_question_deinit(&question);
		bytes.bytes[at] = byte;
		modules_destroy(modules);
	}
	assert_in_range(refused, 500, 4900);
	free(bytes.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_trouble),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_question),
		cmocka_unit_test(test_refused_questions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
