/* SPDX-License-Identifier: BSD-3-Clause
 * The temporal order of stacks of real processes, which tests/order has in several forms: each is
 * stopped at its n-th visit, so an earlier visit is the earlier moment. */
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/stacks/temporal.h"
#include "attach/code/code.h"
#include "attach/stacks/sampler.h"
#include "model/budget.h"
#include "model/buffer.h"
#include "model/job/callpath.h"
#include "model/job/code.h"
#include "model/wire/code_bytes.h"
#include "model/job/code_store.h"
#include "model/job/modules.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/codec.h"
#include "tests/unit/unit.h"

#define NUM_STOPS 8

/* Functions that have been read from files come to the analysis as those that a node has told. */
struct told {
	struct code_reader *reader;
	struct code_store *read, *told;
};

static const struct code_function *get_function(void *argument, uint32_t module, uint64_t address,
						struct pdb_error *err)
{
	struct told *told = argument;
	const struct code_function *function = code_reader_get(told->reader, module, address, err);
	struct code_function *again = (struct code_function *)function;
	struct code_variables *variables;
	struct buffer bytes = {.bytes = NULL};
	struct decoder in = {.memory = BUDGET_MOST};

	if (!function)
		return NULL;
	variables = (struct code_variables *)code_store_find(told->read, module, function->entry)
			    ->variables;
	code_bytes_function(&(struct codec){.to = &bytes}, &again, &variables);
	in.at = bytes.bytes;
	in.end = bytes.bytes + bytes.num;
	code_bytes_function(&(struct codec){.from = &in}, &again, &variables);
	assert_non_null(again);
	assert_ptr_equal(in.at, in.end);
	free(bytes.bytes);
	return code_store_add(told->told, module, again, variables)->function;
}

static const struct code_variables *get_variables(void *argument, uint32_t module,
						  const struct code_function *function)
{
	const struct told *told = argument;

	return code_store_find(told->told, module, function->entry)->variables;
}

/* ---- Processes ---- */

/* Until it stands at the visit. It ends with the test. */
static pid_t start(const char *program, const char *function, int stop, int which)
{
	char self[PATH_MAX] = "", path[PATH_MAX], stop_text[16], which_text[16];
	int status = 0;
	pid_t pid;

	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	snprintf(path, sizeof(path), "%.2000s/../order/order-%s", dirname(self), program);
	snprintf(stop_text, sizeof(stop_text), "%d", stop);
	snprintf(which_text, sizeof(which_text), "%d", which);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(path, path, function, stop_text, which_text, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	if (!WIFSTOPPED(status))
		fail_msg("%s %s has ended before visit %d", program, function, stop);
	return pid;
}

struct look {
	struct modules *modules;
	struct callpaths *callpaths;
	struct sampler *sampler;
	struct samples *samples;
	struct told told;
	struct temporal *temporal;
	struct temporal_result *result;
};

static void take(struct look *look, const struct sampler_target *targets, size_t num)
{
	struct pdb_error err;

	samples_destroy(look->samples);
	look->samples = samples_create();
	if (sampler_take(look->sampler, targets, num, 0, look->samples, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < look->samples->num_samples; i++)
		assert_int_equal(look->samples->samples[i].status, SAMPLE_COMPLETE);
}

/* Rank n is process n. */
static void look_at(struct look *look, const pid_t *pids, size_t num)
{
	struct sampler_target targets[2 * NUM_STOPS];
	struct temporal_source source = {get_function, get_variables, &look->told};
	struct rankset *ranks = rankset_create();
	const struct code_probe *probes;
	size_t num_probes;

	memset(look, 0, sizeof(*look));
	look->modules = modules_create();
	look->callpaths = callpaths_create();
	look->sampler = sampler_create(look->modules, look->callpaths);
	look->told.read = code_store_create();
	look->told.told = code_store_create();
	look->told.reader = code_reader_create(look->modules, look->told.read);
	look->temporal = temporal_create(look->callpaths, look->modules, &source);
	for (size_t i = 0; i < num; i++)
		targets[i] = (struct sampler_target){(int)i, pids[i], 0};
	take(look, targets, num);
	for (size_t i = 0; i < num; i++)
		temporal_add(look->temporal, look->samples->samples[i].path);
	probes = temporal_choose(look->temporal, &num_probes);
	sampler_set_probes(look->sampler, probes, num_probes);
	take(look, targets, num);
	rankset_add_range(ranks, 0, (int)num - 1);
	look->result = temporal_compare(look->temporal, look->samples, ranks, SIZE_MAX, NULL);
	assert_non_null(look->result);
	rankset_destroy(ranks);
}

static void look_away(struct look *look)
{
	temporal_result_destroy(look->result);
	temporal_destroy(look->temporal);
	code_reader_destroy(look->told.reader);
	code_store_destroy(look->told.read);
	code_store_destroy(look->told.told);
	samples_destroy(look->samples);
	sampler_destroy(look->sampler);
	callpaths_destroy(look->callpaths);
	modules_destroy(look->modules);
}

static size_t group_of(const struct look *look, int rank)
{
	size_t i = 0;

	while (!rankset_contains(look->result->groups[i].ranks, rank))
		i++;
	return i;
}

static void stop_all(const pid_t *pids, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

/* ---- Loops ---- */

static const char *const programs[] = {"O0", "O1", "O2", "O3", "fixed", "static", "stripped"};
enum {
	NUM_LEVELS = 4, /* programs that differ in their optimization */
	O0 = 1 << 0,
	O1 = 1 << 1,
	O2 = 1 << 2 | 1 << 4 | 1 << 5, /* and the other forms of it */
	O3 = 1 << 3,
	STRIPPED = 1 << 6,
	DEBUG = O0 | O1 | O2 | O3,
	ALL = DEBUG | STRIPPED,
	/* Always so many iterations: optimized, they may be one after the other, the last a jump.
	 */
	UNROLLED = 1 << 7,
};

static const struct {
	const char *function;
	int num_stops;
	int ordered_in;       /* programs in which each two of them are ordered */
	const char *variable; /* that decides between the first and the last; NULL: none does */
} loops[] = {
	{"up", 4, DEBUG, "i"},
	{"down", 4, DEBUG, "i"},
	{"down_from", 4, 0, NULL},
	{"strided", 4, DEBUG, "i"},
	{"longs", 4, DEBUG, "i"},
	/* Optimized: doubled before the call, and nobody can tell what it was. */
	{"doubled", 4, O0 | O1, "width"},
	{"halved", 5, O0 | UNROLLED, "width"},
	{"divided", 5, O0 | UNROLLED, "width"},
	{"pointers", 4, 0, NULL},
	{"two_calls", 6, DEBUG, "k"},
	{"until", 4, DEBUG, "k"},
	{"jumps", 4, DEBUG, "k"},
	{"nested", 8, DEBUG, "i"},
	{"branches", 6, DEBUG, "i"},
	{"sequence", 6, DEBUG, NULL},
	{"choose", 2, ALL, NULL},
	{"array", 4, DEBUG, "i"},
	/* Optimized: inlined into itself, with jumps from one loop into another. */
	{"recurse", 6, O0 | O1, NULL},
	{"inlined", 6, DEBUG, "step"},
	{"changed", 4, 0, NULL},
	{"irregular", 4, 0, NULL},
	{"triangle", 8, DEBUG, "i"},
	{"random_numbers", 6, 0, NULL},
	{"hashed", 6, 0, NULL},
	{"byte", 4, 0, NULL},
	{"half_word", 4, 0, NULL},
	{"masked", 6, 0, NULL},
	{"shifted", 6, 0, NULL},
	{"around", 4, DEBUG, "i"},
	{"uneven", 6, 0, NULL},
	{"reset", 5, 0, NULL},
	{"lent", 5, 0, NULL},
	{"lent_part", 5, 0, NULL},
	{"retried", 8, 0, NULL},
	{"up_f", 4, DEBUG, "i"},
	{"down_f", 4, DEBUG, "i"},
	{"nested_f", 6, DEBUG, "j"},
	{"while_f", 4, DEBUG, "k"},
	{"by_reference_f", 4, DEBUG, "i"},
};

/* An earlier stop is before a later one; where that cannot be told it must not be claimed. */
static void check_pair(const struct look *look, const char *program, size_t loop, int early,
		       int late)
{
	struct temporal_reason reason, back;
	size_t a = group_of(look, early), b = group_of(look, late);
	enum temporal_order order = temporal_order_of(look->result, a, b, &reason);
	/* The first iteration may be at a place of its own. */
	bool is_last = early == 1 && late == loops[loop].num_stops - 1;
	const char *variable = loops[loop].variable;
	bool is_expected = false;

	for (size_t p = 0; p < NUM_OF(programs); p++)
		is_expected |= !strcmp(program, programs[p]) && loops[loop].ordered_in >> p & 1;
	if (order == TEMPORAL_AFTER || (is_expected && order != TEMPORAL_BEFORE) ||
	    (!loops[loop].ordered_in && order == TEMPORAL_BEFORE))
		fail_msg("%s %s: %d, %d: order %d, cause %d", program, loops[loop].function, early,
			 late, order, reason.cause);
	order = temporal_order_of(look->result, b, a, &back);
	if (back.cause != reason.cause)
		fail_msg("%s %s: %d, %d: causes %d and %d", program, loops[loop].function, early,
			 late, reason.cause, back.cause);
	if (!is_expected)
		return;
	assert_int_equal(order, TEMPORAL_AFTER);
	if (!is_last || !variable)
		return;
	/* Of a loop that was unrolled the first and the last are at different places. */
	if (reason.cause == TEMPORAL_BY_POSITION && !strcmp(program, "O3"))
		return;
	if (reason.cause != TEMPORAL_BY_VARIABLE)
		fail_msg("%s %s: cause %d", program, loops[loop].function, reason.cause);
	assert_string_equal(reason.loop->variable.variable->name, variable);
	assert_int_equal(back.value_a, reason.value_b);
}

static void check_loop(const char *program, size_t loop)
{
	pid_t pids[NUM_STOPS];
	struct look look;
	int num = loops[loop].num_stops;

	for (int i = 0; i < num; i++)
		pids[i] = start(program, loops[loop].function, i, 0);
	look_at(&look, pids, (size_t)num);
	for (int early = 0; early < num; early++)
		for (int late = early + 1; late < num; late++)
			check_pair(&look, program, loop, early, late);
	look_away(&look);
	stop_all(pids, (size_t)num);
}

static void test_loops(void **state)
{
	(void)state;
	for (size_t p = 0; p < NUM_OF(programs); p++)
		/* What is never ordered needs not be seen in all forms. */
		for (size_t i = 0; i < NUM_OF(loops); i++)
			if (loops[i].ordered_in || p < NUM_LEVELS)
				check_loop(programs[p], i);
}

/* ---- Branches and reasons ---- */

static void test_pairs(void **state)
{
	static const struct {
		const char *function;
		int stop_a, which_a, stop_b, which_b;
		enum temporal_order order;
		enum temporal_cause cause;
	} cases[] = {
		{"branches", 1, 0, 1, 1, TEMPORAL_UNORDERED, TEMPORAL_BRANCHES},
		{"branches", 0, 0, 1, 1, TEMPORAL_BEFORE, TEMPORAL_BY_POSITION},
		{"branches", 2, 0, 1, 1, TEMPORAL_AFTER, TEMPORAL_BY_POSITION},
		{"branches", 4, 0, 1, 1, TEMPORAL_AFTER, TEMPORAL_BY_VARIABLE},
		{"choose", 1, 0, 1, 1, TEMPORAL_UNORDERED, TEMPORAL_BRANCHES},
		{"choose", 1, 4, 2, 1, TEMPORAL_UNORDERED, TEMPORAL_BRANCHES},
		{"choose", 1, 1, 2, 1, TEMPORAL_BEFORE, TEMPORAL_BY_POSITION},
		{"choose", 1, 2, 1, 3, TEMPORAL_BEFORE, TEMPORAL_BY_POSITION},
		{"choose", 0, 5, 3, 4, TEMPORAL_BEFORE, TEMPORAL_BY_POSITION},
		{"choose", 1, 5, 1, 5, TEMPORAL_SAME, TEMPORAL_BY_NOTHING},
	};
	static const char *const all[] = {"O0", "O1", "O2", "O3", "fixed", "static", "stripped"};

	(void)state;
	for (size_t p = 0; p < NUM_OF(all); p++) {
		for (size_t i = 0; i < NUM_OF(cases); i++) {
			const pid_t pids[] = {
				start(all[p], cases[i].function, cases[i].stop_a, cases[i].which_a),
				start(all[p], cases[i].function, cases[i].stop_b, cases[i].which_b),
			};
			bool is_branches = !strcmp(cases[i].function, "branches");
			enum temporal_order order;
			struct temporal_reason reason;
			struct look look;

			look_at(&look, pids, NUM_OF(pids));
			order = temporal_order_of(look.result, group_of(&look, 0),
						  group_of(&look, 1), &reason);
			/* Without debug information there is no variable. */
			if (!strcmp(all[p], "stripped") && is_branches) {
				assert_int_equal(order, TEMPORAL_UNORDERED);
				assert_int_equal(reason.cause, TEMPORAL_NO_VARIABLE);
				assert_int_equal(reason.loop->variable.result,
						 LOOP_VARIABLE_NO_DEBUG_INFO);
			} else if (order != cases[i].order || reason.cause != cases[i].cause) {
				fail_msg("%s, case %zu: order %d, cause %d, loop's %d", all[p], i,
					 order, reason.cause,
					 reason.loop ? (int)reason.loop->variable.result : -1);
			}
			look_away(&look);
			stop_all(pids, NUM_OF(pids));
		}
	}
}

/* Where there is an order it must not be claimed the other way round; where there is none, as stops
 * of processes that differ, none. */
static void test_traps(void **state)
{
	static const struct {
		const char *function;
		int stop_a, which_a, stop_b, which_b;
	} cases[] = {
		{"part", 2, 0, 1, 1},        {"part_down", 3, 0, 1, 1}, {"vanishing", 9, 0, 10, 0},
		{"overflowing", 5, 0, 6, 0}, {"uneven", 2, 0, 1, 1},    {"lent", 1, 1, 2, 0},
		{"lent_part", 1, 1, 2, 0},   {"searched", 1, 0, 2, 0},  {"dead", 1, 1, 0, 0},
		{"dead", 1, 1, 1, 0},        {"unbounded", 2, 0, 3, 0}, {"unbounded", 1, 3, 2, 1},
		{"caught", 1, 0, 4, 0},      {"caught", 2, 0, 4, 0},    {"caught", 2, 0, 5, 0},
		{"caught", 3, 0, 5, 0},
	};

	(void)state;
	for (size_t p = 0; p < NUM_LEVELS; p++) {
		for (size_t i = 0; i < NUM_OF(cases); i++) {
			const pid_t pids[] = {
				start(programs[p], cases[i].function, cases[i].stop_a,
				      cases[i].which_a),
				start(programs[p], cases[i].function, cases[i].stop_b,
				      cases[i].which_b),
			};
			enum temporal_order order;
			struct temporal_reason reason;
			struct look look;

			look_at(&look, pids, NUM_OF(pids));
			order = temporal_order_of(look.result, group_of(&look, 0),
						  group_of(&look, 1), &reason);
			if (order == TEMPORAL_AFTER ||
			    (order == TEMPORAL_BEFORE && cases[i].which_a != cases[i].which_b))
				fail_msg("%s, %s, case %zu: order %d, cause %d", programs[p],
					 cases[i].function, i, order, reason.cause);
			look_away(&look);
			stop_all(pids, NUM_OF(pids));
		}
	}
}

/* Why there is no variable. */
static void test_reasons(void **state)
{
	static const struct {
		const char *program, *function;
		enum loop_variable_result result;
		const char *variable;
	} cases[] = {
		{"O2", "up", LOOP_VARIABLE_FOUND, "i"},
		{"O2", "down_from", LOOP_VARIABLE_NO_START, "i"},
		{"O0", "pointers", LOOP_VARIABLE_NONE, NULL},
		{"O0", "changed", LOOP_VARIABLE_NONE, NULL},
		{"O0", "irregular", LOOP_VARIABLE_NONE, NULL},
		{"O2", "doubled", LOOP_VARIABLE_UNREADABLE, "width"},
		{"stripped", "up", LOOP_VARIABLE_NO_DEBUG_INFO, NULL},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		pid_t pid = start(cases[i].program, cases[i].function, 1, 0);
		const struct temporal_loop *loop;
		struct look look;
		int64_t value;
		bool has_value;
		uint32_t frame;
		size_t num = 0;

		look_at(&look, &pid, 1);
		/* The innermost frame in a loop is the function's. */
		for (frame = look.result->groups[0].path; !num && frame != CALLPATH_NONE;
		     frame = callpaths_get(look.callpaths, frame)->parent)
			num = temporal_loops_of(look.result, 0, frame, &loop, &value, &has_value,
						1);
		assert_int_equal(num, 1);
		if (loop->variable.result != cases[i].result)
			fail_msg("%s %s: result %d", cases[i].program, cases[i].function,
				 loop->variable.result);
		assert_int_equal(has_value, cases[i].result == LOOP_VARIABLE_FOUND);
		if (cases[i].variable)
			assert_string_equal(loop->variable.variable->name, cases[i].variable);
		look_away(&look);
		stop_all(&pid, 1);
	}
}

/* What was read stays what it is when a place comes in addition. */
static void test_later_place(void **state)
{
	const pid_t pids[] = {start("O2", "two_calls", 0, 0), start("O2", "two_calls", 3, 0)};
	struct sampler_target later = {1, pids[1], 0};
	struct samples *first;
	struct rankset *ranks = rankset_create();
	const struct code_probe *probes;
	struct temporal_reason reason;
	struct look look;
	size_t num;

	(void)state;
	look_at(&look, pids, 1);
	first = look.samples;
	look.samples = NULL;
	take(&look, &later, 1);
	assert_true(temporal_add(look.temporal, look.samples->samples[0].path));
	assert_false(temporal_add(look.temporal, look.samples->samples[0].path));
	probes = temporal_choose(look.temporal, &num);
	sampler_set_probes(look.sampler, probes, num);
	take(&look, &later, 1);
	samples_add(look.samples, &first->samples[0]);
	first->samples[0].values = NULL;
	first->samples[0].note = NULL;
	samples_sort(look.samples);
	samples_destroy(first);
	rankset_add_range(ranks, 0, 1);
	temporal_result_destroy(look.result);
	look.result = temporal_compare(look.temporal, look.samples, ranks, SIZE_MAX, NULL);
	assert_int_equal(
		temporal_order_of(look.result, group_of(&look, 0), group_of(&look, 1), &reason),
		TEMPORAL_BEFORE);
	assert_int_equal(reason.cause, TEMPORAL_BY_VARIABLE);
	assert_int_equal(reason.value_a, 0);
	assert_int_equal(reason.value_b, 2); /* has been counted up there */
	rankset_destroy(ranks);
	look_away(&look);
	stop_all(pids, NUM_OF(pids));
}

static bool is_in_program(const struct look *look)
{
	uint32_t path = look->samples->samples[0].path;

	return modules_get(look->modules, callpaths_get(look->callpaths, path)->module)->kind ==
	       MODULE_PROGRAM;
}

/* Samples of an endless loop are at other instructions each time. One of them is enough to read
 * the loop's variable at all of them. */
static void test_endless(void **state)
{
	(void)state;
	for (size_t p = 0; p < NUM_LEVELS; p++) {
		pid_t pid = start(programs[p], "endless", 2, 2);
		struct sampler_target target = {0, pid, 0};
		const struct code_probe *probes;
		size_t num, num_now;
		struct look look;

		look_at(&look, &pid, 1);
		kill(pid, SIGCONT);
		do
			take(&look, &target, 1);
		while (!is_in_program(&look));
		/* The first one may still be in visit(). */
		take(&look, &target, 1);
		temporal_add(look.temporal, look.samples->samples[0].path);
		probes = temporal_choose(look.temporal, &num);
		sampler_set_probes(look.sampler, probes, num);
		for (int i = 0; i < 50; i++) {
			const struct sample_value *last;

			take(&look, &target, 1);
			temporal_add(look.temporal, look.samples->samples[0].path);
			temporal_choose(look.temporal, &num_now);
			assert_int_equal(num_now, num);
			assert_true(look.samples->samples[0].num_values > 0);
			last = &look.samples->samples[0]
					.values[look.samples->samples[0].num_values - 1];
			assert_int_equal(last->value, 2);
		}
		look_away(&look);
		stop_all(&pid, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_later_place), cmocka_unit_test(test_loops),
		cmocka_unit_test(test_pairs),       cmocka_unit_test(test_traps),
		cmocka_unit_test(test_reasons),     cmocka_unit_test(test_endless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
