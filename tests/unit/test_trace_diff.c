/* SPDX-License-Identifier: BSD-3-Clause
 * Longest common subsequences, and how traces differ. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/with_arena.h"
#include "unit.h"

#include "analysis/traces/lcs.h"
#include "analysis/traces/trace_diff.h"
#include "analysis/traces/trace_set.h"
#include "model/xalloc.h"
#include "tests/fixtures/trace_program.h"
#include "tests/fixtures/trace_text.h"

/* ---- Longest common subsequences ---- */

static const struct {
	const char *a, *b, *common; /* and where: the earliest */
	uint32_t at_a, at_b;
} strings[] = {
	{"", "", "", 0, 0},
	{"a", "", "", 0, 0},
	{"abc", "abc", "abc", 0, 0},
	{"abc", "xyz", "", 0, 0},
	{"xaaay", "a", "a", 1, 0},
	{"a", "xaaay", "a", 0, 1},
	{"abcabba", "cbabac", "caba", 2, 0},
};

static size_t keys_of(const char *text, uint64_t *keys)
{
	for (size_t i = 0; text[i]; i++)
		keys[i] = (uint64_t)text[i];
	return strlen(text);
}

static void test_lcs(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(strings); i++) {
		uint64_t a[16], b[16];
		struct lcs_match matches[16];
		size_t num_a = keys_of(strings[i].a, a), num_b = keys_of(strings[i].b, b);
		size_t num = lcs_find(a, num_a, b, num_b, matches);

		assert_int_equal(num, strlen(strings[i].common));
		for (size_t m = 0; m < num; m++) {
			assert_int_equal(a[matches[m].a], strings[i].common[m]);
			assert_int_equal(b[matches[m].b], strings[i].common[m]);
		}
		if (num > 0) {
			assert_int_equal(matches[0].a, strings[i].at_a);
			assert_int_equal(matches[0].b, strings[i].at_b);
		}
	}
}

/* The length by the recurrence. */
static size_t length_of(const uint64_t *a, size_t num_a, const uint64_t *b, size_t num_b)
{
	size_t *row = xcalloc(num_b + 1, sizeof(*row)), length;

	for (size_t i = 0; i < num_a; i++) {
		size_t diagonal = 0;

		for (size_t j = 0; j < num_b; j++) {
			size_t above = row[j + 1];

			row[j + 1] = a[i] == b[j] ? diagonal + 1 : above > row[j] ? above : row[j];
			diagonal = above;
		}
	}
	length = row[num_b];
	free(row);
	return length;
}

static void check_lcs(uint64_t *random, size_t num_a, size_t num_b, uint32_t num_keys)
{
	uint64_t *a = xcalloc(num_a + 1, sizeof(*a)), *b = xcalloc(num_b + 1, sizeof(*b));
	struct lcs_match *matches = xcalloc(num_a + num_b + 1, sizeof(*matches));
	size_t num;

	for (size_t i = 0; i < num_a; i++)
		a[i] = trace_program_random(random, num_keys);
	for (size_t i = 0; i < num_b; i++)
		b[i] = trace_program_random(random, num_keys);
	num = lcs_find(a, num_a, b, num_b, matches);
	for (size_t m = 0; m < num; m++) {
		assert_true(matches[m].a < num_a && matches[m].b < num_b);
		assert_int_equal(a[matches[m].a], b[matches[m].b]);
		assert_true(m == 0 ||
			    (matches[m].a > matches[m - 1].a && matches[m].b > matches[m - 1].b));
	}
	assert_int_equal(num, length_of(a, num_a, b, num_b));
	free(a);
	free(b);
	free(matches);
}

static void test_random_lcs(void **state)
{
	uint64_t random = 2;

	(void)state;
	for (int round = 0; round < 500; round++)
		check_lcs(&random, trace_program_random(&random, 150),
			  trace_program_random(&random, 150),
			  1 + trace_program_random(&random, 30));
}

/* Too large for one matrix: found by halves. */
static void test_large_lcs(void **state)
{
	enum { NUM = 40000 };
	uint64_t *a = xcalloc(NUM, sizeof(*a)), *b = xcalloc(NUM, sizeof(*b)), random = 3;
	struct lcs_match *matches = xcalloc(NUM, sizeof(*matches));
	size_t num_a = 0, num_b = 0;

	(void)state;
	/* A common sequence of different keys, and between them what is on one side only. */
	for (uint64_t key = 0; num_a + 2 < NUM && num_b + 2 < NUM; key++) {
		if (trace_program_random(&random, 2) == 0)
			a[num_a++] = 1000000 + key;
		if (trace_program_random(&random, 3) == 0)
			b[num_b++] = 2000000 + key;
		a[num_a++] = b[num_b++] = key;
	}
	random = lcs_find(a, num_a, b, num_b, matches);
	for (size_t m = 0; m < random; m++)
		assert_int_equal(a[matches[m].a], m);
	assert_int_equal(a[num_a - 1], random - 1);
	free(a);
	free(b);
	free(matches);
}

/* ---- Traces ---- */

/* "a =" on both sides, "a^3|5" not as often, "-a" left, "+a" right, "{ ... }^3|5" loops. */
static const struct {
	const char *left, *right, *diff;
} pairs[] = {
	{"", "", ""},
	{"abc", "abc", "a b c"},
	{"", "ab", "+a +b"},
	{"abd", "acd", "a -b +c d"},
	{"i[abc]^412z", "i[abc]^410z", "i L^412|410 z"},
	{"ia^5z", "ia^7z", "i a^5|7 z"},
	{"i[abc]^9z", "i[abc]^5acb[abc]^3z", "i L^5 a -b c +b L^3 z"},
	{"i[ab]^9z", "i[ac]^9z", "i { a -b +c }^9|9 z"},
	/* Another order. */
	{"i[sr]^9z", "i[rs]^9z", "i { -s r +s }^9|9 z"},
	/* Another count inside. */
	{"i[a[bc]^3d]^9z", "i[a[bc]^4d]^9z", "i { a L^3|4 d }^9|9 z"},
	{"i[a[bcd]^3e]^9z", "i[a[bdc]^3e]^7z", "i { a { b -c d +c }^3|3 e }^9|7 z"},
	/* Loops that do other things. */
	{"i[ab]^9z", "i[cd]^9z", "i -L^9 +L^9 z"},
	{"i[abcd]^9z", "i[abce]^9[xy]^2z", "i { a b c -d +e }^9|9 +L^2 z"},
	{"i[xy]^2[abcd]^9z", "i[abce]^9z", "i -L^2 { a b c -d +e }^9|9 z"},
	/* The second time the loops are those above. */
	{"i[ab]^9h[ab]^3z", "i[ac]^9h[ac]^3z", "i { a -b +c }^9|9 h { above }^3|3 z"},
	/* The rank that hangs: its trace ends in the middle. */
	{"i[abc]^412z", "i[abc]^100ab", "i L^100 a b -c -L^311 -z"},
	{"i[abc]^100ab", "i[abc]^412z", "i L^100 a b +c +L^311 +z"},
	{"i[abc]^101z", "i[abc]^100abz", "i L^100 a b -c z"},
	{"i[abc]^412z", "i[abc]^100ac[abc]^3ab", "i L^100 a -b -c { +c a b -c }^311|4 -z"},
	/* Keys of a symbol and of a loop with others that a weak hash once took for the same. */
	{"bz[abc]^9", "[cab]^4", "-b -z { +c a b -c }^9|4"},
	/* It leaves out something once; of what follows the writer has made other loops. */
	{"i[abc]^60z", "i[abc]^21ab[abc]^39z", "i L^60|21 +L^2 +L^38 +c z"},
	/* It leaves the loop for something else. */
	{"i[abc]^60z", "i[abc]^21xyz", "i L^60|21 +x +y z"},
	/* In an inner loop. */
	{"i[d[abc]^9e]^3z", "i[d[abc]^5ace]^3z", "i { d L^5 a -b c -L^3 e }^3|3 z"},
};

static void print_element(FILE *out, const struct trace_element *e)
{
	fputc(TRACE_IS_LOOP(e->symbol) ? 'L' : 'a' + (int)e->symbol, out);
	if (e->count > 1)
		fprintf(out, "^%u", e->count);
}

static void print_diff(FILE *out, const struct trace_diff *diff, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++) {
		const struct trace_diff_row *row = &diff->rows[i];

		fputs(i > begin ? " " : "", out);
		switch (row->kind) {
		case TRACE_DIFF_LEFT:
			assert_int_equal(row->right.symbol, TRACE_NONE);
			fputc('-', out);
			print_element(out, &row->left);
			break;
		case TRACE_DIFF_RIGHT:
			assert_int_equal(row->left.symbol, TRACE_NONE);
			fputc('+', out);
			print_element(out, &row->right);
			break;
		case TRACE_DIFF_SAME:
		case TRACE_DIFF_COUNT:
			assert_int_equal(row->left.symbol, row->right.symbol);
			assert_int_equal(row->left.count == row->right.count,
					 row->kind == TRACE_DIFF_SAME);
			print_element(out, &row->left);
			if (row->kind == TRACE_DIFF_COUNT)
				fprintf(out, "|%u", row->right.count);
			break;
		case TRACE_DIFF_BODY:
			fputs("{ ", out);
			if (row->inside == i + 1) {
				print_diff(out, diff, row->inside, row->inside + row->num_inside);
				i += row->num_inside;
			} else {
				assert_true(row->inside < i);
				fputs("above", out);
			}
			fprintf(out, " }^%u|%u", row->left.count, row->right.count);
			break;
		}
	}
}

static size_t add_text(struct trace_set *set, const char *events)
{
	struct trace *trace = trace_from_text(events);
	size_t index = trace_set_add(set, trace, NULL);

	trace_destroy(trace);
	return index;
}

static void test_diff(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(pairs); i++) {
		struct trace_set *set = trace_set_create(arena);
		struct trace_diff *diff;
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		add_text(set, pairs[i].left);
		add_text(set, pairs[i].right);
		diff = trace_diff_create(arena, set, set->roots[0], set->roots[1]);
		print_diff(out, diff, 0, diff->num);
		fclose(out);
		assert_string_equal(text, pairs[i].diff);
		free(text);
	}
}

/* Append the events of an element. */
static void expand(const struct trace_set *set, const struct trace_element *e, uint32_t **events,
		   size_t *num, size_t *capacity)
{
	size_t num_inside;
	const struct trace_element *row;

	for (uint32_t times = 0; times < e->count; times++) {
		if (!TRACE_IS_LOOP(e->symbol)) {
			*events = xgrow(*events, *num, capacity, sizeof(**events));
			(*events)[(*num)++] = e->symbol;
			continue;
		}
		row = trace_set_row(set, e->symbol, &num_inside);
		for (size_t i = 0; i < num_inside; i++)
			expand(set, &row[i], events, num, capacity);
	}
}

/* The rows at each depth are all events of both sides, in order. */
static void check_side(const struct trace_set *set, const struct trace_diff *diff, size_t at,
		       size_t end, uint32_t body, bool is_left)
{
	const struct trace_element whole = {TRACE_LOOP | body, 1};
	uint32_t *events = NULL, *expected = NULL;
	size_t num = 0, capacity = 0, num_expected = 0, expected_capacity = 0;

	while (at < end) {
		const struct trace_diff_row *r = &diff->rows[at++];
		const struct trace_element *e = is_left ? &r->left : &r->right;

		if (e->symbol != TRACE_NONE)
			expand(set, e, &events, &num, &capacity);
		if (r->kind == TRACE_DIFF_BODY) {
			check_side(set, diff, r->inside, r->inside + r->num_inside,
				   TRACE_BODY(e->symbol), is_left);
			if (r->inside == at)
				at += r->num_inside;
		}
	}
	expand(set, &whole, &expected, &num_expected, &expected_capacity);
	assert_int_equal(num, num_expected);
	if (num > 0)
		assert_memory_equal(events, expected, num * sizeof(*events));
	free(events);
	free(expected);
}

static void test_random_diff(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		const struct trace_program program = {.num_symbols = 12,
						      .most_depth = 4,
						      .most_trips = 6,
						      .percent_varies = seed % 3 * 20,
						      .percent_branch = seed % 5 * 5};
		enum { EVENTS = 2000 };
		uint32_t *events = trace_program_run(&program, seed, EVENTS);
		struct trace_set *set = trace_set_create(arena);
		struct trace_diff *diff;
		uint64_t random = seed + 1, left = 0, right = 0;

		for (int side = 0; side < 2; side++) {
			struct trace_maker maker;
			struct trace *trace;

			trace_maker_init(&maker, 1 << 20,
					 &(struct trace_writer_settings){.max_body = 0});
			/* Some events swapped on the other side. */
			for (int s = 0; s < 20 * side; s++) {
				uint32_t at = trace_program_random(&random, EVENTS - 1);
				uint32_t event = events[at];

				events[at] = events[at + 1];
				events[at + 1] = event;
			}
			for (size_t i = 0; i < EVENTS; i++)
				trace_writer_feed(&maker.writer, events[i]);
			trace = trace_maker_copy(&maker);
			trace_set_add(set, trace, NULL);
			trace_destroy(trace);
			trace_maker_deinit(&maker);
		}
		diff = trace_diff_create(arena, set, set->roots[0], set->roots[1]);
		check_side(set, diff, 0, diff->num, set->roots[0], true);
		check_side(set, diff, 0, diff->num, set->roots[1], false);
		for (int k = 0; k <= TRACE_DIFF_RIGHT; k++) {
			left += diff->events_left[k];
			right += diff->events_right[k];
		}
		assert_int_equal(left, EVENTS);
		assert_int_equal(right, EVENTS);
		assert_int_equal(diff->events_left[TRACE_DIFF_RIGHT], 0);
		diff = trace_diff_create(arena, set, set->roots[1], set->roots[1]);
		for (size_t i = 0; i < diff->num; i++)
			assert_int_equal(diff->rows[i].kind, TRACE_DIFF_SAME);
		free(events);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lcs),         cmocka_unit_test(test_random_lcs),
		cmocka_unit_test(test_large_lcs),   cmocka_unit_test(test_diff),
		cmocka_unit_test(test_random_diff),
	};

	return cmocka_run_group_tests(tests, begin_arena, end_arena);
}
