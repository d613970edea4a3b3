/* SPDX-License-Identifier: BSD-3-Clause
 * Traces in one set, and their attributes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/with_arena.h"
#include "unit.h"

#include "analysis/traces/trace_attributes.h"
#include "analysis/traces/trace_set.h"
#include "model/trace/trace.h"
#include "tests/fixtures/trace_text.h"

static void print_symbol(FILE *out, const struct trace_set *set, uint32_t symbol);

static void print_row(FILE *out, const struct trace_set *set, uint32_t body)
{
	size_t num;
	const struct trace_element *row = trace_set_row(set, body, &num);

	for (size_t i = 0; i < num; i++) {
		fputs(i > 0 ? " " : "", out);
		print_symbol(out, set, row[i].symbol);
		if (row[i].count > 1)
			fprintf(out, "^%u", row[i].count);
	}
}

static void print_symbol(FILE *out, const struct trace_set *set, uint32_t symbol)
{
	if (!TRACE_IS_LOOP(symbol)) {
		fputc('a' + (int)symbol, out);
		return;
	}
	fputs("[ ", out);
	print_row(out, set, TRACE_BODY(symbol));
	fputs(" ]", out);
}

static size_t add_text(struct trace_set *set, const char *events, const uint32_t *symbols)
{
	struct trace *trace = trace_from_text(events);
	size_t index = trace_set_add(set, trace, symbols);

	trace_destroy(trace);
	return index;
}

/* ---- One set ---- */

#define NONE TRACE_NONE

static const struct {
	const char *events;
	uint32_t symbols[6];
	const char *trace;
} mapped[] = {
	{"x[ab]^3y", {0}, "x [ a b ]^3 y"},
	{"a[bc]^3d", {3, 2, 1, 0}, "d [ c b ]^3 a"},
	/* What has become equal is one element, and a loop over one is none. */
	{"a[bcd]^3e", {0, 1, 1, 3, 4}, "a [ b^2 d ]^3 e"},
	{"a[bcb^2]^3c", {0, 1, 1}, "a b^13"},
	{"a[[bc]^3d]^5e", {0, 1, 1, 1, 4}, "a b^35 e"},
	/* What is left out. */
	{"a[bcd]^3e", {0, NONE, 2, NONE, 4}, "a c^3 e"},
	{"a[[bc]^3d]^5e", {0, NONE, NONE, 3, 4}, "a d^5 e"},
	{"a[[bc]^3d]^5e", {0, 1, 2, NONE, 4}, "a [ b c ]^15 e"},
	{"a[bc]^3a", {0, NONE, NONE}, "a^2"},
	{"[bc]^3", {0, NONE, NONE}, ""},
	{"", {0}, ""},
};

static void test_set(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(mapped); i++) {
		struct trace_set *set = trace_set_create(arena);
		const uint32_t *symbols = i == 0 || i == 10 ? NULL : mapped[i].symbols;
		size_t index = add_text(set, mapped[i].events, symbols), size;
		char *text = NULL;
		FILE *out = open_memstream(&text, &size);

		print_row(out, set, set->roots[index]);
		fclose(out);
		assert_string_equal(text, mapped[i].trace);
		free(text);
	}
}

/* Equal traces and loops have one number, whatever else came before them in their own traces. */
static void test_equal(void **state)
{
	static const uint32_t swapped[] = {1, 0, 2, 3};
	struct trace_set *set = trace_set_create(arena);
	size_t num_bodies;

	(void)state;
	add_text(set, "[ab]^3c[[ab]^2d]^5c", NULL);
	num_bodies = set->num_bodies;
	add_text(set, "[ab]^3c[[ab]^2d]^5c", NULL);
	add_text(set, "[ba]^3c[[ba]^2d]^5c", swapped);
	assert_int_equal(set->num_bodies, num_bodies);
	assert_int_equal(set->roots[1], set->roots[0]);
	assert_int_equal(set->roots[2], set->roots[0]);
	add_text(set, "[cd]^3[ab]^2d", NULL);
	assert_int_equal(set->num_bodies, num_bodies + 2);
}

/* ---- Attributes ---- */

enum {
	ENTRIES = ATTRIBUTE_ENTRY,
	PAIRS = ATTRIBUTE_PAIR,
	LOOPS = ATTRIBUTE_LOOP,
	ENDS = ATTRIBUTE_END
};

static const struct {
	const char *events;
	unsigned int kinds;
	enum attribute_frequency frequency;
	const char *attributes;
} counted[] = {
	{"ab", ENTRIES, FREQUENCY_NONE, "a b"},
	{"abab", ENTRIES, FREQUENCY_ACTUAL, "a*2 b*2"},
	{"a[b^2c]^30d", ENTRIES, FREQUENCY_ACTUAL, "a*1 b*60 c*30 d*1"},
	{"a[b^2c]^30d", ENTRIES, FREQUENCY_LOG10, "a*0 b*1 c*1 d*0"},
	{"a[[b^2c]^30d]^40a", ENTRIES, FREQUENCY_LOG10, "a*0 b*3 c*3 d*1"},
	{"a", PAIRS, FREQUENCY_ACTUAL, ""},
	{"a^3", PAIRS, FREQUENCY_ACTUAL, "aa*2"},
	{"ababa", PAIRS, FREQUENCY_ACTUAL, "ab*2 ba*2"},
	{"x[a^3[bc]^2]^5y", PAIRS, FREQUENCY_ACTUAL, "aa*10 ab*5 bc*10 ca*4 cb*5 cy*1 xa*1"},
	{"x[a^3[bc]^2]^5y", PAIRS, FREQUENCY_NONE, "aa ab bc ca cb cy xa"},
	/* The last iteration has five: it is not one of the outer loop's. */
	{"x[a[bc]^2]^5[bc]^3y", LOOPS, FREQUENCY_ACTUAL, "[ b c ]*13 [ a [ b c ]^2 ]*4"},
	{"x[a[bc]^2]^5y", LOOPS | ENTRIES, FREQUENCY_LOG10,
	 "a*0 b*1 c*1 x*0 y*0 [ b c ]*1 [ a [ b c ]^2 ]*0"},
	{"", LOOPS | ENTRIES | PAIRS | ENDS, FREQUENCY_ACTUAL, ""},
	{"a[bc]^30", ENDS, FREQUENCY_ACTUAL, "c*1"},
	{"a[b[cd]^2]^3e", ENDS | ENTRIES, FREQUENCY_NONE, "a b c d e e"},
};

static void print_attribute(FILE *out, const struct trace_set *set, const struct trace_attribute *a,
			    enum attribute_frequency frequency)
{
	print_symbol(out, set, a->symbol);
	if (a->kind == ATTRIBUTE_PAIR)
		print_symbol(out, set, a->next);
	if (frequency != FREQUENCY_NONE)
		fprintf(out, "*%llu", (unsigned long long)a->frequency);
	else
		assert_int_equal(a->frequency, 0);
}

static void test_attributes(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(counted); i++) {
		struct trace_set *set = trace_set_create(arena);
		struct trace_attributes *attributes;
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		/* Before and behind another one. */
		add_text(set, "[ab]^3[qr]^5[bc]^4", NULL);
		add_text(set, counted[i].events, NULL);
		add_text(set, "[ab]^3[qr]^5[bc]^4", NULL);
		attributes =
			trace_attributes_create(arena, set, counted[i].kinds, counted[i].frequency);
		assert_int_equal(attributes->num_traces, 3);
		for (size_t n = attributes->ends[0]; n < attributes->ends[1]; n++) {
			fputs(n > attributes->ends[0] ? " " : "", out);
			print_attribute(out, set, &attributes->attributes[attributes->numbers[n]],
					counted[i].frequency);
		}
		fclose(out);
		assert_string_equal(text, counted[i].attributes);
		assert_int_equal(attributes->ends[2] - attributes->ends[1], attributes->ends[0]);
		assert_memory_equal(&attributes->numbers[attributes->ends[1]], attributes->numbers,
				    attributes->ends[0] * sizeof(*attributes->numbers));
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_attributes),
	};

	return cmocka_run_group_tests(tests, begin_arena, end_arena);
}
