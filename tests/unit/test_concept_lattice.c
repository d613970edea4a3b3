/* SPDX-License-Identifier: BSD-3-Clause
 * Formal contexts, their lattices, similarity, and suspects. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/with_arena.h"
#include "unit.h"

#include "analysis/traces/concept_lattice.h"
#include "analysis/traces/formal_context.h"
#include "analysis/traces/trace_attributes.h"
#include "analysis/traces/trace_set.h"
#include "analysis/traces/trace_suspects.h"
#include "model/xalloc.h"
#include "tests/fixtures/trace_program.h"
#include "tests/fixtures/trace_text.h"

/* Objects with attributes named by letters. */
static struct formal_context *context_from_text(const char *const *objects, uint32_t num_attributes)
{
	uint32_t numbers[256], num = 0;
	size_t ends[64], at = 0;

	for (; objects[num]; num++) {
		for (const char *c = objects[num]; *c; c++)
			numbers[at++] = (uint32_t)(*c - 'a');
		ends[num] = at;
	}
	return formal_context_create(arena, num, num_attributes, numbers, ends);
}

/* "extent:intent^parents" of each concept, with numbers of rows, letters, numbers of concepts. */
static char *lattice_to_text(const struct concept_lattice *lattice)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < lattice->num_concepts; i++) {
		const struct concept *c = &lattice->concepts[i];

		fputs(i > 0 ? " " : "", out);
		for (size_t e = 0; e < c->num_extent; e++)
			fprintf(out, "%u", c->extent[e]);
		fputc(':', out);
		for (uint32_t a = 0; a < lattice->context->num_attributes; a++)
			if (c->intent[a / 64] >> a % 64 & 1)
				fputc('a' + (int)a, out);
		for (size_t p = 0; p < c->num_parents; p++)
			fprintf(out, "^%u", c->parents[p]);
	}
	fclose(out);
	return text;
}

/* ---- The program with one receiver (Taheri et al., "DiffTrace") ---- */

/* MPI_Init, MPI_Comm_size, MPI_Comm_rank, MPI_Send, MPI_Recv, MPI_Finalize: a to f. Ranks 1 to 3
 * send to rank 0. */
static const char *const one_receiver[] = {"abceeef", "abcdf", "abcdf", "abcdf", NULL};

static struct trace_similarity *similarity_of_traces(const char *const *traces, unsigned int kinds,
						     enum attribute_frequency frequency)
{
	struct trace_set *set = trace_set_create(arena);

	for (; *traces; traces++) {
		struct trace *trace = trace_from_text(*traces);

		trace_set_add(set, trace, NULL);
		trace_destroy(trace);
	}
	return trace_similarity_create(arena, set, kinds, frequency);
}

static bool has(const struct formal_context *context, uint32_t object, uint32_t attribute)
{
	const uint64_t *row = &context->rows[context->row_of[object] * context->num_words];

	return row[attribute / 64] >> attribute % 64 & 1;
}

static void test_one_receiver(void **state)
{
	/* Its table I: which rank calls which function. */
	static const char *const table[] = {"xxx.xx", "xxxx.x", "xxxx.x", "xxxx.x"};
	struct formal_context *context =
		similarity_of_traces(one_receiver, ATTRIBUTE_ENTRY, FREQUENCY_NONE)->context;
	struct concept_lattice *lattice;
	double *similarity;
	char *text;

	(void)state;
	assert_int_equal(context->num_objects, 4);
	assert_int_equal(context->num_attributes, 6);
	for (uint32_t o = 0; o < 4; o++)
		for (uint32_t a = 0; a < 6; a++)
			assert_int_equal(has(context, o, a), table[o][a] == 'x');
	/* Ranks 1 to 3 are one row. */
	assert_int_equal(context->num_rows, 2);
	assert_int_equal(context->row_size[1], 3);
	/* Its figure 2: all ranks with what all call, rank 0, ranks 1 to 3, and none with all. */
	lattice = concept_lattice_create(arena, context, 100, NULL);
	text = lattice_to_text(lattice);
	assert_string_equal(text, "01:abcf 1:abcdf^0 0:abcef^0 :abcdef^1^2");
	free(text);
	/* Its figure 3, the reduced labels: Send at ranks 1 to 3, Recv at rank 0, the others on
	 * top. */
	assert_int_equal(lattice->concept_of_row[0], 2);
	assert_int_equal(lattice->concept_of_row[1], 1);
	for (uint32_t a = 0; a < 6; a++)
		assert_int_equal(lattice->concept_of_attribute[a], a == 3 ? 1 : a == 4 ? 2 : 0);
	/* Its figure 4: of six attributes rank 0 has four in common with each other rank. */
	similarity = formal_context_similarity(arena, context);
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t j = 0; j < 4; j++)
			assert_true(fabs(similarity[context->row_of[i] * 2 + context->row_of[j]] -
					 ((i == 0) == (j == 0) ? 1 : 4.0 / 6)) < 1e-12);
}

/* ---- Lattices ---- */

static const struct {
	const char *objects[5];
	uint32_t num_attributes;
	const char *lattice;
} lattices[] = {
	{{NULL}, 2, ":ab"},
	{{""}, 0, "0:"},
	{{""}, 2, "0: :ab^0"},
	{{"ab"}, 2, "0:ab"},
	{{"ab", "ab", "ab"}, 2, "0:ab"},
	{{"a", "ab", "abc"}, 3, "012:a 12:ab^0 2:abc^1"},
	{{"a", "b", "c"}, 3, "012: 0:a^0 1:b^0 2:c^0 :abc^1^2^3"},
	/* All subsets but the whole: a cube. */
	{{"ab", "ac", "bc"}, 3, "012: 01:a^0 02:b^0 12:c^0 0:ab^1^2 1:ac^1^3 2:bc^2^3 :abc^4^5^6"},
};

static void test_lattices(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(lattices); i++) {
		struct formal_context *context =
			context_from_text(lattices[i].objects, lattices[i].num_attributes);
		struct concept_lattice *lattice = concept_lattice_create(arena, context, 100, NULL);
		char *text = lattice_to_text(lattice);

		assert_string_equal(text, lattices[i].lattice);
		free(text);
	}
}

/* 2^20 concepts: refused, not computed. */
static void test_too_many_concepts(void **state)
{
	uint32_t numbers[20 * 19];
	size_t ends[20], at = 0;
	struct formal_context *context;
	struct pdb_error err;

	(void)state;
	for (uint32_t o = 0; o < 20; o++) {
		for (uint32_t a = 0; a < 20; a++)
			if (a != o)
				numbers[at++] = a;
		ends[o] = at;
	}
	context = formal_context_create(arena, 20, 20, numbers, ends);
	assert_null(concept_lattice_create(arena, context, 1000, &err));
	assert_error(&err, ERROR_UNSUPPORTED, "more than 1000 concepts");
}

/* The intents are what the sets of rows have in common, each once. */
static void check_concepts(const struct concept_lattice *lattice, uint64_t all)
{
	const struct formal_context *context = lattice->context;
	size_t num_found = 0;

	for (uint32_t rows = 0; rows < 1u << context->num_rows; rows++) {
		uint64_t intent = all;
		uint32_t extent = 0;

		for (uint32_t r = 0; r < context->num_rows; r++)
			if (rows >> r & 1)
				intent &= context->rows[r];
		for (uint32_t r = 0; r < context->num_rows; r++)
			if ((intent & ~context->rows[r]) == 0)
				extent |= 1u << r;
		if (extent != rows)
			continue;
		num_found++;
		for (size_t c = 0; c < lattice->num_concepts; c++) {
			const struct concept *concept = &lattice->concepts[c];

			if (concept->intent[0] != intent)
				continue;
			for (size_t e = 0; e < concept->num_extent; e++)
				rows &= ~(1u << concept->extent[e]);
			assert_int_equal(rows, 0);
			rows = extent;
			extent = 0;
		}
		assert_int_equal(rows == 0 ? 0 : extent, 0);
	}
	assert_int_equal(lattice->num_concepts, num_found);
}

/* Parents are above, and nothing is between. */
static void check_order(const struct concept_lattice *lattice)
{
	const struct concept *cs = lattice->concepts;

	for (size_t c = 0; c < lattice->num_concepts; c++) {
		for (size_t d = 0; d < lattice->num_concepts; d++) {
			bool is_parent = false, is_above = d != c;

			if (cs[d].intent[0] & ~cs[c].intent[0])
				is_above = false;
			for (size_t e = 0; is_above && e < lattice->num_concepts; e++)
				if (e != c && e != d && !(cs[d].intent[0] & ~cs[e].intent[0]) &&
				    !(cs[e].intent[0] & ~cs[c].intent[0]))
					is_above = false;
			for (size_t p = 0; p < cs[c].num_parents; p++)
				is_parent |= cs[c].parents[p] == d;
			assert_int_equal(is_parent, is_above);
		}
	}
}

static void test_random_lattices(void **state)
{
	uint64_t random = 8;

	(void)state;
	for (int round = 0; round < 300; round++) {
		uint32_t num_objects = trace_program_random(&random, 9), numbers[9 * 10];
		uint32_t num_attributes = trace_program_random(&random, 10), percent;
		size_t ends[9], at = 0;
		struct formal_context *context;
		struct concept_lattice *lattice;

		percent = 20 + trace_program_random(&random, 70);
		for (uint32_t o = 0; o < num_objects; o++) {
			for (uint32_t a = 0; a < num_attributes; a++)
				if (trace_program_random(&random, 100) < percent)
					numbers[at++] = a;
			ends[o] = at;
		}
		context = formal_context_create(arena, num_objects, num_attributes, numbers, ends);
		lattice = concept_lattice_create(arena, context, 1000, NULL);
		check_concepts(lattice, ((uint64_t)1 << num_attributes) - 1);
		check_order(lattice);
		for (uint32_t r = 0; r < context->num_rows; r++)
			assert_int_equal(lattice->concepts[lattice->concept_of_row[r]].intent[0],
					 context->rows[r]);
	}
}

/* ---- Similarity and suspects ---- */

static void test_similarity(void **state)
{
	static const char *const objects[] = {"abcd", "ab", "", "ef", "abcd", "cdef", NULL};
	static const double expected[6][6] = {
		{1, 0.5, 0, 0, 1, 2.0 / 6}, {0.5, 1, 0, 0, 0.5, 0},
		{0, 0, 1, 0, 0, 0},         {0, 0, 0, 1, 0, 0.5},
		{1, 0.5, 0, 0, 1, 2.0 / 6}, {2.0 / 6, 0, 0, 0.5, 2.0 / 6, 1},
	};
	struct formal_context *context = context_from_text(objects, 6);
	double *similarity = formal_context_similarity(arena, context);

	(void)state;
	assert_int_equal(context->num_rows, 5);
	for (uint32_t i = 0; i < 6; i++)
		for (uint32_t j = 0; j < 6; j++)
			assert_true(fabs(similarity[context->row_of[i] * 5 + context->row_of[j]] -
					 expected[i][j]) < 1e-12);
}

static const struct {
	const char *what, *traces[9]; /* of the good run, then of the bad one */
	uint32_t num;
	const char *order; /* and 0 from where nothing has changed */
} runs[] = {
	{"nothing has changed",
	 {"i[abc]^9f", "i[abc]^9f", "i[abc]^9f", "i[abc]^9f", "i[abc]^9f", "i[abc]^9f"},
	 3,
	 "/012"},
	{"rank 2 receives before it sends",
	 {"i[src]^9f", "i[src]^9f", "i[src]^9f", "i[src]^9f", "i[src]^5srcrcf", "i[src]^5srcrcf",
	  "i[src]^4[rsc]^2r", "i[src]^5srcrcf"},
	 4,
	 "2013/"},
	{"all have changed, but rank 0 in another way",
	 {"i[ab]^9f", "i[ab]^9f", "i[ab]^9f", "i[ac]^9f", "i[abd]^9f", "i[abd]^9f"},
	 3,
	 "012/"},
	{"of two ranks one has changed",
	 {"i[ab]^9f", "i[ab]^9f", "i[ab]^9f", "i[ac]^9f"},
	 2,
	 "10/"},
};

static void test_suspects(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(runs); i++) {
		struct trace_similarity *similarity = similarity_of_traces(
			runs[i].traces, ATTRIBUTE_ENTRY | ATTRIBUTE_PAIR, FREQUENCY_NONE);
		uint32_t good[4], bad[4];
		struct suspect *suspects;
		char text[16] = "", *at = text;

		for (uint32_t r = 0; r < runs[i].num; r++) {
			good[r] = r;
			bad[r] = runs[i].num + r;
		}
		suspects = suspects_create(arena, similarity, good, bad, runs[i].num);
		for (uint32_t s = 0; s <= runs[i].num; s++) {
			if ((s == runs[i].num || suspects[s].change == 0) && !strchr(text, '/'))
				*at++ = '/';
			if (s < runs[i].num)
				*at++ = (char)('0' + suspects[s].index);
			assert_true(s == runs[i].num ||
				    (suspects[s].change >= 0 && suspects[s].change <= 1));
		}
		assert_string_equal(text, runs[i].order);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_receiver),      cmocka_unit_test(test_lattices),
		cmocka_unit_test(test_too_many_concepts), cmocka_unit_test(test_random_lattices),
		cmocka_unit_test(test_similarity),        cmocka_unit_test(test_suspects),
	};

	return cmocka_run_group_tests(tests, begin_arena, end_arena);
}
