/* SPDX-License-Identifier: BSD-3-Clause
 * How long it takes to compare the traces of many ranks, and two long traces.
 *
 *	trace_analysis_bench [RANKS [ENTRIES]]
 *
 * RANKS (1024) exchange with up to four neighbours in a square, in a good run and in a bad one,
 *where one of them receives before it sends. Two traces of ENTRIES (10,000) loops are compared. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/traces/clustering.h"
#include "analysis/traces/concept_lattice.h"
#include "analysis/traces/formal_context.h"
#include "analysis/traces/trace_attributes.h"
#include "analysis/traces/trace_diff.h"
#include "analysis/traces/trace_set.h"
#include "analysis/traces/trace_suspects.h"
#include "model/arena.h"
#include "model/error.h"
#include "model/xalloc.h"
#include "tests/fixtures/trace_program.h"
#include "tests/fixtures/trace_text.h"

enum { MOST_CONCEPTS = 100000, STEPS = 200 };

/* Of processor time: other programs do not count. */
static double milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void add_trace(struct trace_set *set, struct trace_maker *maker)
{
	struct trace *trace = trace_maker_copy(maker);

	trace_set_add(set, trace, NULL);
	trace_destroy(trace);
	trace_maker_deinit(maker);
}

/* Init, steps of exchanges and a collective, Finalize. */
static void add_rank(struct trace_set *set, uint32_t rank, uint32_t side, uint32_t steps,
		     bool is_faulty)
{
	const bool has[4] = {rank >= side, rank % side > 0, rank % side + 1 < side,
			     rank + side < side * side};
	struct trace_maker maker;

	trace_maker_init(&maker, 1 << 16, &(struct trace_writer_settings){.max_body = 0});
	trace_writer_feed(&maker.writer, 0);
	for (uint32_t step = 0; step < steps; step++) {
		bool swaps = is_faulty && step >= steps / 2;

		for (uint32_t to = 0; to < 4; to++) {
			if (!has[to])
				continue;
			trace_writer_feed(&maker.writer, 2 + 2 * to + swaps);
			trace_writer_feed(&maker.writer, 3 + 2 * to - swaps);
		}
		trace_writer_feed(&maker.writer, 10);
	}
	trace_writer_feed(&maker.writer, 1);
	add_trace(set, &maker);
}

static void bench_clustering(struct arena *arena, const struct formal_context *context,
			     double *distances)
{
	static const char *const names[] = {"single", "complete", "average", "Ward"};
	size_t num = context->num_rows;

	for (size_t i = 0; i < num * num; i++)
		distances[i] = 1 - distances[i];
	for (enum linkage linkage = LINKAGE_SINGLE; linkage <= LINKAGE_WARD; linkage++) {
		double begin = milliseconds();
		struct clustering *c = clustering_create(arena, context->num_rows, distances,
							 context->row_size, linkage);
		double made = milliseconds();

		clustering_compare(c, context->row_of, c, context->row_of, context->num_objects);
		printf("  %s %.1f + %.1f", names[linkage], made - begin, milliseconds() - made);
	}
	printf(" ms (clustering and comparison)\n");
}

static void bench_ranks(uint32_t num_ranks, const char *what, bool same_steps,
			enum attribute_frequency frequency)
{
	uint32_t side = (uint32_t)sqrt(num_ranks), faulty = side + 3;
	uint32_t num = side * side, *good = xcalloc(num, sizeof(*good));
	uint32_t *bad = xcalloc(num, sizeof(*bad));
	struct arena *arena = arena_create();
	struct trace_set *set = trace_set_create(arena);
	struct trace_similarity *similarity;
	const struct formal_context *context;
	struct concept_lattice *lattice;
	struct pdb_error err;
	struct suspect *suspects;
	double at[4];

	for (int run = 0; run < 2; run++) {
		for (uint32_t r = 0; r < num; r++) {
			(run ? bad : good)[r] = (uint32_t)run * num + r;
			add_rank(set, r, side, same_steps ? STEPS : STEPS + r,
				 run == 1 && r == faulty);
		}
	}
	at[0] = milliseconds();
	similarity = trace_similarity_create(
		arena, set, ATTRIBUTE_ENTRY | ATTRIBUTE_PAIR | ATTRIBUTE_LOOP, frequency);
	context = similarity->context;
	at[1] = milliseconds();
	lattice = concept_lattice_create(arena, context, MOST_CONCEPTS, &err);
	at[2] = milliseconds();
	suspects = suspects_create(arena, similarity, good, bad, num);
	at[3] = milliseconds();
	printf("%u ranks in 2 runs, %s: %u attributes, %u rows, %zu concepts, suspect %u (of %u)\n"
	       "  attributes and matrix %.1f, lattice %.1f, suspects %.1f, all %.1f ms\n",
	       num, what, context->num_attributes, context->num_rows,
	       lattice ? lattice->num_concepts : 0, suspects[0].index, faulty, at[1] - at[0],
	       at[2] - at[1], at[3] - at[2], at[3] - at[0]);
	bench_clustering(arena, context, similarity->values);
	arena_destroy(arena);
	free(good);
	free(bad);
}

/* Loops over two or three of so many symbols from `first` on; `percent` are not those that the same
 * seed has without. */
static void add_loops(struct trace_set *set, uint32_t num_loops, uint32_t first,
		      uint32_t num_symbols, uint32_t percent)
{
	struct trace_maker maker;
	uint64_t random = 11, others = 5;

	trace_maker_init(&maker, 16 << 20, &(struct trace_writer_settings){.max_body = 0});
	for (uint32_t i = 0; i < num_loops; i++) {
		uint32_t body[3], num = 2 + trace_program_random(&random, 2);
		uint32_t trips = 2 + trace_program_random(&random, 50);

		for (uint32_t e = 0; e < 3; e++)
			body[e] = first + trace_program_random(&random, num_symbols);
		if (trace_program_random(&others, 100) < percent)
			body[0] = first + trace_program_random(&others, num_symbols);
		for (uint32_t t = 0; t < trips; t++)
			for (uint32_t e = 0; e < num; e++)
				trace_writer_feed(&maker.writer, body[e]);
	}
	add_trace(set, &maker);
}

static void bench_diff(uint32_t num_entries, const char *what, uint32_t first, uint32_t percent)
{
	struct arena *arena = arena_create();
	struct trace_set *set = trace_set_create(arena);
	struct trace_diff *diff;
	size_t num[2], rows[TRACE_DIFF_RIGHT + 1] = {0};
	double begin;

	add_loops(set, num_entries, 0, 60, 0);
	add_loops(set, num_entries, first, 60, percent);
	for (int side = 0; side < 2; side++)
		trace_set_row(set, set->roots[side], &num[side]);
	begin = milliseconds();
	diff = trace_diff_create(arena, set, set->roots[0], set->roots[1]);
	for (size_t i = 0; i < diff->num; i++)
		rows[diff->rows[i].kind]++;
	printf("diff of %zu and %zu entries, %s: %.1f ms; rows: %zu same, %zu of other counts, "
	       "%zu loops that differ, %zu left, %zu right\n",
	       num[0], num[1], what, milliseconds() - begin, rows[TRACE_DIFF_SAME],
	       rows[TRACE_DIFF_COUNT], rows[TRACE_DIFF_BODY], rows[TRACE_DIFF_LEFT],
	       rows[TRACE_DIFF_RIGHT]);
	arena_destroy(arena);
}

int main(int argc, char **argv)
{
	uint32_t num_ranks = argc > 1 ? (uint32_t)atoi(argv[1]) : 1024;
	uint32_t num_entries = argc > 2 ? (uint32_t)atoi(argv[2]) : 10000;

	bench_ranks(num_ranks, "no frequencies", true, FREQUENCY_NONE);
	bench_ranks(num_ranks, "actual frequencies, all of them other ones", false,
		    FREQUENCY_ACTUAL);
	bench_diff(num_entries, "a tenth changed", 0, 10);
	bench_diff(num_entries, "all changed", 0, 100);
	bench_diff(num_entries, "nothing in common", 1000, 0);
	return 0;
}
