/* SPDX-License-Identifier: BSD-3-Clause
 * What of a program is traced: sizes and filters from the environment, and names of functions from
 * files. */
#include "model/recorder/trace_filter.h"

#include <string.h>

#include "model/recorder/objects.h"
#include "model/recorder/tracer.h"
#include "model/segment/segment.h"
#include "tests/unit/unit.h"

static void test_calls(void **state)
{
	static const struct {
		const char *filter, *name;
		uint16_t class_id;
		bool is_traced;
	} cases[] = {
		{NULL, "MPI_Send", SEG_CLASS_SEND, true},
		{"", "MPI_Send", SEG_CLASS_SEND, true},
		{"mpi", "MPI_Send", SEG_CLASS_SEND, true},
		{"comm", "MPI_Send", SEG_CLASS_SEND, true},
		{"comm", "MPI_Buffer_attach", SEG_CLASS_OTHER, false},
		{"comm", "MPI_Test", SEG_CLASS_POLL, true},
		{"depth=1", "MPI_Send", SEG_CLASS_SEND, true},
		{"!MPI_Test*", "MPI_Testall", SEG_CLASS_POLL, false},
		{"!MPI_Test*", "MPI_Wait", SEG_CLASS_WAIT, true},
		{"MPI_*send", "MPI_Isend", SEG_CLASS_START, true},
		{"MPI_*send", "MPI_Isendrecv", SEG_CLASS_START, false},
		{"MPI_?send", "MPI_Isend", SEG_CLASS_START, true},
		{"MPI_?send", "MPI_Send", SEG_CLASS_SEND, false},
		{"MPI_Send,MPI_Recv", "MPI_Recv", SEG_CLASS_RECV, true},
		{"MPI_*,!MPI_Recv", "MPI_Recv", SEG_CLASS_RECV, false},
		{"lib=libsolver*", "MPI_Send", SEG_CLASS_SEND, true},
		{",,", "MPI_Send", SEG_CLASS_SEND, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trace_filter filter;

		trace_filter_parse(&filter, cases[i].filter);
		assert_int_equal(trace_filter_has_call(&filter, cases[i].name, cases[i].class_id),
				 cases[i].is_traced);
	}
}

static void test_functions(void **state)
{
	static const struct {
		const char *filter, *name, *library;
		bool is_traced;
	} cases[] = {
		{NULL, "solve", "/opt/app", true},
		{"mpi", "solve", "/opt/app", false},
		{"comm", "solve", "/opt/app", true},
		{"lib=libm*", "solve", "/opt/libmesh.so", true},
		{"lib=libm*", "solve", "/libmesh/app", false},
		{"!lib=libm*", "solve", "/opt/libmesh.so", false},
		{"lib=app,s*", "solve", "/opt/app", true},
		{"lib=app,s*", "work", "/opt/app", false},
		{"solve", NULL, "/opt/app", false},
		{"!solve", NULL, "/opt/app", true},
		{"lib=app", "solve", "", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trace_filter filter;

		trace_filter_parse(&filter, cases[i].filter);
		assert_int_equal(
			trace_filter_has_function(&filter, cases[i].name, cases[i].library),
			cases[i].is_traced);
	}
}

static void test_limits(void **state)
{
	struct trace_filter filter;
	char text[TRACE_FILTER_TEXT + 10];

	(void)state;
	trace_filter_parse(&filter, "depth=3");
	assert_int_equal(filter.max_depth, 3);
	trace_filter_parse(&filter, "depth=x");
	assert_int_equal(filter.max_depth, INT_MAX);
	/* Too much: nothing is left out. */
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	trace_filter_parse(&filter, text);
	assert_true(trace_filter_has_call(&filter, "MPI_Send", SEG_CLASS_SEND));
	for (int i = 0; i < 100; i++)
		memcpy(text + 3 * (size_t)i, "!y,", 3);
	text[300] = '\0';
	trace_filter_parse(&filter, text);
	assert_int_equal(filter.num_patterns, TRACE_FILTER_PATTERNS);
}

static void test_sizes(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		uint32_t max_body;
	} cases[] = {
		{NULL, 0, 0},
		{"", 0, 0},
		{"0", 0, 0},
		{"no", 0, 0},
		{"1", SEG_DEFAULT_TRACE, 0},
		{"16k", 16384, 0},
		{"16K,64", 16384, 64},
		{"2M,1", 2 << 20, 2},
		{"100000", 100000, 0},
		{"4g", SEG_MAX_TRACE, 0},
		{"99999999999999999999g", SEG_MAX_TRACE, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tracing tracing;

		assert_true(tracing_init(&tracing, cases[i].text, NULL));
		assert_int_equal(tracing.size, cases[i].size);
		assert_int_equal(tracing.max_body, cases[i].max_body);
	}
}

/* Not where it is, but that it is there. */
static void test_names(void **state)
{
	char name[8];

	(void)state;
	assert_false(elf_name_find("/proc/self/exe", 1, name, sizeof(name)));
	assert_false(elf_name_find("/nonexistent", 1, name, sizeof(name)));
	assert_false(elf_name_find("/etc/passwd", 1, name, sizeof(name)));
	assert_false(elf_name_find("/", 1, name, sizeof(name)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),  cmocka_unit_test(test_functions),
		cmocka_unit_test(test_limits), cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
