/* SPDX-License-Identifier: BSD-3-Clause
 * On processes of the machine's own Python, as far as it is one that pdb knows. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "attach/process/maps.h"
#include "attach/stacks/python.h"
#include "attach/stacks/python_private.h"
#include "attach/stacks/unwind.h"
#include "tests/unit/sampler_fixture.h"

#define INTERPRETER "/usr/bin/python3"

/* ---- Lines ---- */

/* An entry: kind and number of code units. */
#define ENTRY(kind, units) (0x80 | (kind) << 3 | ((units)-1))

static void test_lines(void **state)
{
	static const uint8_t table[] = {
		ENTRY(15, 1),                       /* 0: no location */
		ENTRY(0, 2),  0x11,                 /* 1-2: the line stays, columns */
		ENTRY(11, 1), 3,        4,          /* 3: one more */
		ENTRY(13, 8), 0x05,                 /* 4-11: -2 */
		ENTRY(14, 1), 0x40 | 8, 1, 0, 1, 1, /* 12: 36, in two bytes */
		ENTRY(12, 1), 0,        0,          /* 13: two more */
	};
	static const struct {
		int64_t unit;
		size_t size;
		int line;
	} cases[] = {
		{-1, sizeof(table), 10},
		{0, sizeof(table), 0},
		{1, sizeof(table), 10},
		{2, sizeof(table), 10},
		{3, sizeof(table), 11},
		{4, sizeof(table), 9},
		{11, sizeof(table), 9},
		{12, sizeof(table), 45},
		{13, sizeof(table), 47},
		{14, sizeof(table), 0},
		{INT64_MAX, sizeof(table), 0},
		{3, 4, 11},
		{3, 3, 0},
		{4, 7, 11}, /* cut off */
		{0, 0, 0},
	};
	static const uint8_t bad[] = {0x11, ENTRY(0, 1)};
	static const uint8_t negative[] = {ENTRY(13, 1), 63, ENTRY(13, 1), 0x40, 0x40};

	uint8_t far[64 * 11];

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++)
		assert_int_equal(python_line(table, cases[i].size, 10, cases[i].unit),
				 cases[i].line);
	assert_int_equal(python_line(bad, sizeof(bad), 10, 0), 0);
	assert_int_equal(python_line(negative, sizeof(negative), 10, 0), 0);
	python_line(negative, sizeof(negative), 10, 1);
	/* Lines so far apart that their sum would be beyond all numbers. */
	for (size_t i = 0; i < sizeof(far); i++)
		far[i] = i % 11 ? 0x7e : ENTRY(13, 1);
	assert_int_equal(python_line(far, sizeof(far), 10, 63), 0);
}

/* ---- Threads ---- */

/* The own memory is that of a process with interpreters that are each other's next, as are their
 * threads: what looks like Python need not be. */
static void test_circle(void **state)
{
	enum { NUM_ASKED = 2000, MOST_S = 2 };
	struct thread {
		uint64_t number;
		struct thread *next;
	} threads[3] = {{101, &threads[1]}, {102, &threads[2]}, {103, &threads[1]}};
	struct interpreter {
		struct interpreter *next;
		struct thread *threads;
	} interpreters[2] = {{&interpreters[1], &threads[0]}, {&interpreters[1], &threads[2]}};
	struct interpreter *runtime = interpreters;
	struct python python = {
		.memory.pid = getpid(),
		.offsets = {.interpreter = {.next = offsetof(struct interpreter, next),
					    .threads_head = offsetof(struct interpreter, threads)},
			    .thread = {.next = offsetof(struct thread, next),
				       .native_thread_id = offsetof(struct thread, number)}},
		.runtime = (uintptr_t)&runtime,
	};
	struct python_copy *copy = calloc(1, sizeof(*copy));
	clock_t begin = clock();

	(void)state;
	/* Threads that are not Python's, of which there may be many. */
	for (pid_t tid = 1000000; tid < 1000000 + NUM_ASKED; tid++)
		assert_false(python_prepare(&python, tid, copy));
	assert_true(clock() - begin < MOST_S * CLOCKS_PER_SEC);
	assert_in_range(python.num_threads, 3, 100);
	for (pid_t tid = 101; tid <= 103; tid++) {
		assert_true(python_prepare(&python, tid, copy));
		assert_int_equal(copy->thread, (uintptr_t)&threads[tid - 101]);
	}
	/* One that has its state for another thread now. */
	threads[0].number = 104;
	assert_false(python_prepare(&python, 101, copy));
	free(python.threads);
	free(copy);
}

/* ---- Merging: numbers are addresses of frames, letters kinds ---- */

enum { EVAL = 0x1100, OWN = 0x1500, LIBRARY = 0x9000 };

static void test_merge(void **state)
{
	/* Native frames, innermost first; entries of the interpreter ('|' ends one, '.' a frame
	 * whose code object cannot be read, so that the native frame stays in its place, 'm' one
	 * without code); what is left of the native ones: e the interpreter's, L others. */
	static const struct {
		const char *native, *frames;
		bool is_whole;
		const char *expected;
		bool is_complete, is_late;
	} cases[] = {
		{"LoeoL", ".|", true, "LeL", true, false},
		{"LoeoL", "..|", true, "LeeL", true, false},
		{"LeoeL", ".|..|", true, "LeeeL", true, false},
		{"eoLoeo", ".|.|", true, "eLe", true, false},
		/* The innermost call has just begun. */
		{"eoeoL", "..|", true, "eeL", true, false},
		{"eoeoL", "m|..|", true, "eeL", true, false},
		/* They do not fit. */
		{"LoeL", ".|.|", true, "LoeL", true, false},
		{"eeeL", ".|", true, "eeeL", true, false},
		{"LoL", ".|", true, "LoL", true, false},
		{"LoeL", "", true, "LoeL", true, false},
		/* More frames than were copied. */
		{"LoeL", "...", false, "LeeeL", false, false},
		{"LeoeL", ".|..", false, "LeeeL", false, false},
		/* No time to copy them. */
		{"LoeL", "", false, "LoeL", false, true},
		{"LeoeL", ".|..", false, "LeeeL", false, true},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct python python = {.memory.pid = 0x7ffffff0, /* there is none */
					.eval_start = EVAL,
					.eval_end = EVAL + 0x100,
					.start = 0x1000,
					.end = 0x2000};
		struct python_copy *copy = calloc(1, sizeof(*copy));
		struct modules *modules = modules_create();
		struct unwind_frame frames[32] = {0};
		char result[32] = "";
		size_t num = strlen(cases[i].native);

		for (size_t f = 0; f < num; f++) {
			char kind = cases[i].native[f];

			frames[f].address = kind == 'e' ? EVAL + 8 : kind == 'o' ? OWN : LIBRARY;
			frames[f].is_return = true;
		}
		copy->python = &python;
		copy->is_whole = cases[i].is_whole;
		copy->is_late = cases[i].is_late;
		for (const char *p = cases[i].frames; *p; p++) {
			if (*p == '|')
				copy->frames[copy->num_frames - 1].is_entry = true;
			else
				copy->frames[copy->num_frames++].code = *p == '.' ? 0x100 : 0;
		}
		assert_int_equal(python_merge(copy, modules, frames, &num, 32),
				 cases[i].is_complete);
		for (size_t f = 0; f < num; f++)
			result[f] = frames[f].address == LIBRARY ? 'L'
				    : frames[f].address == OWN   ? 'o'
								 : 'e';
		assert_string_equal(result, cases[i].expected);
		modules_destroy(modules);
		free(copy);
	}
}

/* ---- Processes ---- */

/* What each script ends with: says that it is there, and waits. */
#define WAIT "os.write(int(sys.argv[1]), b'r'); time.sleep(1000)\n"

static void run(const void *script, int ready)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", ready);
	execl(INTERPRETER, INTERPRETER, "-c", script, number, NULL);
}

static bool is_known(pid_t pid)
{
	struct maps *maps = maps_read(pid);
	struct memory memory = {.pid = pid};
	struct python *python = python_create(&memory, maps);
	bool is = python != NULL;

	python_destroy(python);
	maps_destroy(maps);
	return is;
}

/* Of a thread: its Python functions and lines, outermost first: "<module>:1 f:2 ". */
static void describe(const struct fixture *f, uint32_t path, char *text, size_t size)
{
	const struct callpath_node *node = callpaths_get(f->callpaths, path);
	const struct name *name;

	if (node->parent != CALLPATH_NONE)
		describe(f, node->parent, text, size);
	if (node->module == MODULE_NONE ||
	    strcmp(modules_get(f->modules, node->module)->path, "<string>") != 0)
		return;
	name = names_get(f->names, path);
	assert_string_equal(name->full_file, "<string>");
	snprintf(text + strlen(text), size - strlen(text), "%s:%d ", name->function, name->line);
}

static pid_t start_script(const char *script)
{
	pid_t pid = start(run, script);

	if (!is_known(pid)) {
		stop(pid);
		print_message("%s is not one that is known\n", INTERPRETER);
		skip();
	}
	return pid;
}

static void test_functions(void **state)
{
	static const struct {
		const char *script, *expected;
	} cases[] = {
		{"import os, sys, time\n" WAIT, "<module>:2 "},
		{"import os, sys, time\n"
		 "class Solver:\n"
		 "    def step(self, x):\n"
		 "        y = x\n"
		 "        return sorted([y], key=lambda v: self.halo(v))\n"
		 "    def halo(self, x):\n"
		 "        " WAIT "\n"
		 "def main():\n"
		 "    def inner():\n"
		 "        list(map(Solver().step,\n"
		 "            [1]))\n"
		 "    inner()\n"
		 "main()\n",
		 "<module>:14 main:13 main.inner:11 Solver.step:5 Solver.step.<lambda>:5 "
		 "Solver.halo:7 "},
		{"import os, sys, time\n"
		 "def numbers():\n"
		 "    yield 1\n"
		 "    " WAIT "\n"
		 "def total():\n"
		 "    return sum(numbers())\n"
		 "total()\n",
		 "<module>:8 total:7 numbers:4 "},
		/* Names of one, two and four bytes a character. */
		{"import os, sys, time\n"
		 "def \303\251t\303\251(): \316\261()\n"
		 "def \316\261(): \360\240\200\200()\n"
		 "def \360\240\200\200(): " WAIT "\303\251t\303\251()\n",
		 "<module>:5 \303\251t\303\251:2 \316\261:3 \360\240\200\200:4 "},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < NUM_OF(cases); i++) {
		pid_t pid = start_script(cases[i].script);
		const struct sample *sample;
		char text[1024] = "";

		wait_for_state(pid, 'S');
		sample = take(f, pid, 0);
		assert_int_equal(sample->status, SAMPLE_COMPLETE);
		describe(f, sample->path, text, sizeof(text));
		assert_string_equal(text, cases[i].expected);
		/* Of the interpreter itself nothing is left, but the system call that waits. */
		for (uint32_t path = sample->path; path != CALLPATH_NONE;
		     path = callpaths_get(f->callpaths, path)->parent)
			assert_null(strstr(names_get(f->names, path)->function, "_PyEval"));
		stop(pid);
	}
}

static void test_threads(void **state)
{
	static const char script[] = "import os, sys, threading, time\n"
				     "def work():\n"
				     "    ready.set()\n"
				     "    time.sleep(1000)\n"
				     "ready = threading.Event()\n"
				     "threading.Thread(target=work).start()\n"
				     "ready.wait()\n" WAIT;
	struct fixture *f = *state;
	pid_t pid = start_script(script);
	bool has_main = false, has_work = false;

	wait_for_state(pid, 'S');
	take(f, pid, SAMPLER_ALL_THREADS);
	for (size_t i = 0; i < f->samples->num_samples; i++) {
		char text[1024] = "";

		describe(f, f->samples->samples[i].path, text, sizeof(text));
		has_main |= f->samples->samples[i].is_main && !strcmp(text, "<module>:8 ");
		has_work |= !f->samples->samples[i].is_main && strstr(text, "work:4 ");
	}
	assert_true(has_main && has_work);
	stop(pid);
}

/* Many calls of the interpreter within each other, and more frames than are copied. */
static void test_deep(void **state)
{
	static const char script[] = "import os, sys, time\n"
				     "sys.setrecursionlimit(10000)\n"
				     "def down(n):\n"
				     "    if n: return down(n - 1)\n"
				     "    " WAIT "\n"
				     "def mixed(n):\n"
				     "    if n: return max([n], key=lambda x: mixed(n - 1))\n"
				     "    down(%d)\n"
				     "mixed(40)\n";
	static const struct {
		int depth;
		enum sample_status status;
		size_t num;
	} cases[] = {{300, SAMPLE_COMPLETE, 2 * 40 + 1 + 301 + 1},
		     {1500, SAMPLE_INCOMPLETE, PYTHON_MAX_FRAMES}};
	struct fixture *f = *state;

	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const struct sample *sample;
		char text[sizeof(script) + 16];
		size_t num = 0;
		pid_t pid;

		snprintf(text, sizeof(text), script, cases[i].depth);
		pid = start_script(text);
		wait_for_state(pid, 'S');
		sample = take(f, pid, 0);
		assert_int_equal(sample->status, cases[i].status);
		for (uint32_t path = sample->path; path != CALLPATH_NONE;
		     path = callpaths_get(f->callpaths, path)->parent) {
			uint32_t module = callpaths_get(f->callpaths, path)->module;

			num += module != MODULE_NONE &&
			       !strcmp(modules_get(f->modules, module)->path, "<string>");
		}
		assert_true(num == cases[i].num || cases[i].status == SAMPLE_INCOMPLETE);
		stop(pid);
	}
}

static void test_none(void **state)
{
	(void)state;
	assert_false(is_known(getpid()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_circle),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_merge),
		cmocka_unit_test_setup_teardown(test_functions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deep, setup, teardown),
		cmocka_unit_test(test_none),
	};

	if (!share_memory())
		return 1;
	python_copy_ns = UINT64_C(60000000000);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
