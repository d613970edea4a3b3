/* SPDX-License-Identifier: BSD-3-Clause
 * Variables of processes of the machine's own Python, as far as it is one that pdb knows, and of
 * memory that is no Python's. */
#include <stdio.h>
#include <unistd.h>

#include "attach/process/maps.h"
#include "attach/stacks/python.h"
#include "attach/stacks/python_private.h"
#include "model/job/variables.h"
#include "tests/unit/sampler_fixture.h"

#define INTERPRETER "/usr/bin/python3"
#define WAIT "os.write(int(sys.argv[1]), b'r'); time.sleep(1000)\n"

static void run(const void *script, int ready)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", ready);
	execl(INTERPRETER, INTERPRETER, "-c", script, number, NULL);
}

static pid_t start_script(const char *script)
{
	pid_t pid = start(run, script);
	struct maps *maps = maps_read(pid);
	struct memory memory = {.pid = pid};
	struct python *python = python_create(&memory, maps);

	maps_destroy(maps);
	if (!python) {
		stop(pid);
		print_message("%s is not one that is known\n", INTERPRETER);
		skip();
	}
	python_destroy(python);
	return pid;
}

static void test_values(void **state)
{
	static const char script[] =
		"import os, sys, time\n"
		"LIMIT = -12\n"
		"class Solver:\n"
		"    def step(self, x, *more, tol=1e-8, **rest):\n"
		"        zero = 0; small = -7; large = 2 ** 62; huge = -2 ** 100; most = 1 << "
		"2000\n"
		"        yes = True; no = False; none = None\n"
		"        f = 0.1; whole = 2.0; inf = -float('inf'); nan = float('nan'); e = 1e300\n"
		"        text = 'h\303\251'; long = 'ab' * 100; empty = ''; wide = "
		"'\360\240\200\200'\n"
		"        raw = b'abc'; items = [1, 2, 3]; pair = (1, 2); table = {1: 2}; some = "
		"{1, 2}\n"
		"        if x == 0: unbound = 1\n"
		"        shared = 5\n"
		"        def inner():\n"
		"            own = shared\n"
		"            " WAIT "        inner()\n"
		"Solver().step(3, 4, 5, extra=1)\n";
	static const struct {
		const char *name, *text, *type;
		uint8_t kind;
		bool is_number;
	} expected[] = {
		{"own", "5", "int", VARIABLE_LOCAL, true},
		{"zero", "0", "int", VARIABLE_LOCAL, true},
		{"small", "-7", "int", VARIABLE_LOCAL, true},
		{"large", "4611686018427387904", "int", VARIABLE_LOCAL, true},
		{"huge", "-1267650600228229401496703205376", "int", VARIABLE_LOCAL, true},
		{"most", "an int of about 2010 bits", "int", VARIABLE_LOCAL, false},
		{"yes", "True", "bool", VARIABLE_LOCAL, true},
		{"no", "False", "bool", VARIABLE_LOCAL, true},
		{"none", "None", "NoneType", VARIABLE_LOCAL, false},
		{"f", "0.1", "float", VARIABLE_LOCAL, true},
		{"whole", "2.0", "float", VARIABLE_LOCAL, true},
		{"inf", "-inf", "float", VARIABLE_LOCAL, true},
		{"nan", "nan", "float", VARIABLE_LOCAL, true},
		{"e", "1e+300", "float", VARIABLE_LOCAL, true},
		{"text", "'h\303\251'", "str", VARIABLE_LOCAL, false},
		{"empty", "''", "str", VARIABLE_LOCAL, false},
		{"wide", "'\360\240\200\200'", "str", VARIABLE_LOCAL, false},
		{"long",
		 "'abababababababababababababababababababababababababababababababababababababababab"
		 "...' of 200 characters",
		 "str", VARIABLE_LOCAL, false},
		{"raw", "bytes of 3", "bytes", VARIABLE_LOCAL, false},
		{"items", "list of 3", "list", VARIABLE_LOCAL, false},
		{"pair", "tuple of 2", "tuple", VARIABLE_LOCAL, false},
		{"table", "dict of 1", "dict", VARIABLE_LOCAL, false},
		{"some", "set of 2", "set", VARIABLE_LOCAL, false},
		{"unbound", NULL, NULL, VARIABLE_LOCAL, false},
		{"inner", "a function", "function", VARIABLE_LOCAL, false},
		{"self", "a Solver", "Solver", VARIABLE_ARGUMENT, false},
		{"x", "3", "int", VARIABLE_ARGUMENT, true},
		{"more", "tuple of 2", "tuple", VARIABLE_ARGUMENT, false},
		{"tol", "1e-08", "float", VARIABLE_ARGUMENT, true},
		{"rest", "dict of 1", "dict", VARIABLE_ARGUMENT, false},
		{"LIMIT", "-12", "int", VARIABLE_GLOBAL, true},
		{"Solver", NULL, NULL, VARIABLE_GLOBAL, false},
		{"sys", NULL, NULL, VARIABLE_GLOBAL, false},
		{"__name__", NULL, NULL, VARIABLE_GLOBAL, false},
	};
	struct fixture *f = *state;
	pid_t pid = start_script(script);
	const struct variables *variables;

	sampler_set_variables(f->sampler, true);
	wait_for_state(pid, 'S');
	variables = take(f, pid, 0)->variables;
	assert_non_null(variables);
	for (size_t i = 0; i < NUM_OF(expected); i++) {
		const struct variable *found = NULL;

		for (size_t k = 0; k < variables->num && !found; k++)
			if (!strcmp(variables->list[k].name, expected[i].name))
				found = &variables->list[k];
		assert_int_equal(found != NULL, expected[i].text != NULL);
		if (!found)
			continue;
		assert_string_equal(found->text, expected[i].text);
		assert_string_equal(found->type, expected[i].type);
		assert_int_equal(found->kind, expected[i].kind);
		assert_int_equal(found->is_number, expected[i].is_number);
		assert_true(found->has_value);
	}
	stop(pid);
	sampler_set_variables(f->sampler, false);
}

/* Frames in memory that holds addresses of itself, small numbers, and anything. */
static void test_hostile(void **state)
{
	enum { NUM_WORDS = 4096, ROUNDS = 300 };
	uint64_t *words = calloc(NUM_WORDS, sizeof(*words));
	struct python_copy *copy = calloc(1, sizeof(*copy));
	struct modules *modules = modules_create();

	(void)state;
	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		struct python python = {.memory.pid = getpid(), .is_3_11 = round % 2};

		python.offsets.object.type = 8;
		python.offsets.frame.localsplus = 72;
		python.offsets.frame.executable = 32;
		python.offsets.code.localsplusnames = 96;
		python.offsets.code.localspluskinds = 104;
		python.offsets.code.argcount = 56;
		python.offsets.string.length = 16;
		python.offsets.string.state = 32;
		python.offsets.string.ascii_size = 48;
		python.offsets.bytes.ob_sval = 32;
		for (size_t i = 0; i < NUM_WORDS; i++) {
			int kind = rand() % 4;

			words[i] = kind == 0   ? (uint64_t)rand() % 300
				   : kind == 1 ? (uint64_t)rand() << 33 | (uint64_t)rand()
					       : (uintptr_t)&words[rand() % NUM_WORDS];
		}
		copy->python = &python;
		copy->num_frames = 20;
		for (size_t i = 0; i < copy->num_frames; i++) {
			uint64_t *frame = &words[rand() % NUM_WORDS];

			copy->frames[i] = (struct python_frame){
				.address = (uintptr_t)frame,
				.code = frame[4 % (size_t)(&words[NUM_WORDS] - frame)],
				.module = modules_intern(modules, "a.py", NULL, 0),
				.place = i + 1,
			};
		}
		variables_destroy(python_variables(copy, modules, 10 + (size_t)(round % 20)));
	}
	modules_destroy(modules);
	free(copy);
	free(words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_values, setup, teardown),
		cmocka_unit_test(test_hostile),
	};

	if (!share_memory())
		return 1;
	python_copy_ns = UINT64_C(60000000000);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
