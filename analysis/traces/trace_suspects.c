/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "analysis/traces/trace_suspects.h"
#include "analysis/traces/trace_similarity.h"
#include "model/arena.h"
#include "model/sorted.h"

enum { NUM_KINDS = 4, NUM_FREQUENCIES = FREQUENCY_LOG10 + 1 };

static bool is_namesake(const struct trace_thread *a, const struct trace_thread *b)
{
	return a->lane->rank == b->lane->rank && a->thread == b->thread;
}

/* Threads are by run, so those of the good run come first. */
static size_t count_good(const struct trace_runs *runs)
{
	size_t num = 0;

	while (num < runs->num_threads && runs->threads[num].run == 0)
		num++;
	return num;
}

static bool have_same_threads(const struct trace_runs *runs, size_t num_good)
{
	if (runs->num_threads != 2 * num_good)
		return false;
	for (size_t i = 0; i < num_good; i++)
		if (!is_namesake(&runs->threads[i], &runs->threads[num_good + i]))
			return false;
	return true;
}

/* By what is done at all and what after what; of equals its namesake, else the first. */
static uint32_t find_most_similar(const struct trace_runs *runs,
				  const struct trace_similarity *similarity, size_t num_good,
				  size_t bad)
{
	uint32_t best = 0;
	double most = -1;

	for (uint32_t i = 0; i < num_good; i++) {
		double value = trace_similarity_of(similarity, i, bad);

		if (value > most ||
		    (value == most && is_namesake(&runs->threads[i], &runs->threads[bad]))) {
			most = value;
			best = i;
		}
	}
	return best;
}

static void make_pairs(struct arena *arena, struct trace_suspects *suspects,
		       const struct trace_runs *runs, size_t num_good)
{
	struct trace_similarity *similarity = NULL;

	suspects->are_namesakes = have_same_threads(runs, num_good);
	if (!suspects->are_namesakes)
		similarity = trace_similarity_create(
			arena, runs->set, ATTRIBUTE_ENTRY | ATTRIBUTE_PAIR, FREQUENCY_NONE);
	for (size_t bad = num_good; bad < runs->num_threads; bad++)
		suspects->pairs[suspects->num_pairs++] = (struct trace_pair){
			.good = suspects->are_namesakes
					? (uint32_t)(bad - num_good)
					: find_most_similar(runs, similarity, num_good, bad),
			.bad = (uint32_t)bad,
		};
}

/* Of sums of the same numbers in another order this much is the same. */
static double rounded(double value)
{
	return round(value * 1e9) / 1e9;
}

static int compare_suspects(const void *a, const void *b)
{
	const struct suspect *x = a, *y = b;

	return SORTED_ORDER(y->change, x->change) ?: SORTED_ORDER(y->own, x->own)
						  ?: SORTED_ORDER(x->index, y->index);
}

struct suspect *suspects_create(struct arena *arena, const struct trace_similarity *similarity,
				const uint32_t *good, const uint32_t *bad, size_t num_pairs)
{
	struct suspect *suspects = arena_array(arena, num_pairs, sizeof(*suspects));

	for (size_t i = 0; i < num_pairs; i++) {
		double sum = 0;

		for (size_t j = 0; j < num_pairs; j++)
			sum += fabs(trace_similarity_of(similarity, good[i], good[j]) -
				    trace_similarity_of(similarity, bad[i], bad[j]));
		suspects[i] = (struct suspect){
			.index = (uint32_t)i,
			.change = num_pairs > 1 ? rounded(sum / (double)(num_pairs - 1)) : 0,
			.own = 1 - trace_similarity_of(similarity, good[i], bad[i]),
		};
	}
	qsort(suspects, num_pairs, sizeof(*suspects), compare_suspects);
	return suspects;
}

static double compare_clusterings(struct arena *arena, const struct trace_similarity *similarity,
				  const uint32_t *good, const uint32_t *bad, size_t num,
				  enum linkage linkage)
{
	struct trace_clusters *a = trace_clusters_create(arena, similarity, good, num, linkage);
	struct trace_clusters *b = trace_clusters_create(arena, similarity, bad, num, linkage);

	return clustering_compare(a->clustering, a->leaves, b->clustering, b->leaves,
				  (uint32_t)num);
}

static struct trace_aspect look(struct arena *arena, const struct trace_suspects *suspects,
				const struct trace_runs *runs, enum attribute_kind kind,
				enum attribute_frequency frequency, enum linkage linkage)
{
	struct trace_aspect aspect = {.kind = kind, .frequency = frequency};
	/* Matrices are large, and there are several aspects. */
	struct arena *scratch SCOPED(arena) = arena_create();
	struct trace_similarity *similarity =
		trace_similarity_create(scratch, runs->set, kind, frequency);
	size_t num = suspects->num_pairs;
	uint32_t *good = arena_array(scratch, num, sizeof(*good));
	uint32_t *bad = arena_array(scratch, num, sizeof(*bad));

	for (size_t i = 0; i < num; i++) {
		/* As if all had ended in one place. */
		good[i] = suspects->pairs[kind == ATTRIBUTE_END ? 0 : i].good;
		bad[i] = suspects->pairs[i].bad;
	}
	aspect.bscore = kind == ATTRIBUTE_END
				? NAN
				: compare_clusterings(scratch, similarity, good, bad, num, linkage);
	aspect.suspects = suspects_create(arena, similarity, good, bad, num);
	for (size_t i = 0; i < num && kind == ATTRIBUTE_END; i++)
		aspect.suspects[i].own = 0;
	aspect.is_silent = aspect.suspects[0].change == 0;
	return aspect;
}

static int compare_ranking(const void *a, const void *b)
{
	const struct trace_suspect *x = a, *y = b;

	return SORTED_ORDER(y->score, x->score) ?: SORTED_ORDER(y->own, x->own)
						?: SORTED_ORDER(x->pair, y->pair);
}

static void add_aspect(struct trace_suspects *s, const struct trace_aspect *aspect)
{
	double most = aspect->suspects[0].change;

	s->num_silent += aspect->is_silent;
	for (size_t i = 0; i < s->num_pairs; i++) {
		const struct suspect *suspect = &aspect->suspects[i];
		struct trace_suspect *in = &s->ranking[suspect->index];

		in->own += suspect->own;
		if (aspect->is_silent)
			continue;
		in->score += suspect->change / most;
		in->times_first += suspect->change == most;
	}
}

static void rank(struct arena *arena, struct trace_suspects *s)
{
	size_t num_own = 0;

	s->ranking = arena_array(arena, s->num_pairs, sizeof(*s->ranking));
	for (size_t i = 0; i < s->num_pairs; i++)
		s->ranking[i].pair = (uint32_t)i;
	for (size_t a = 0; a < s->num_aspects; a++) {
		add_aspect(s, &s->aspects[a]);
		num_own += s->aspects[a].kind != ATTRIBUTE_END;
	}
	for (size_t i = 0; i < s->num_pairs; i++) {
		struct trace_suspect *in = &s->ranking[i];

		if (s->num_aspects > s->num_silent)
			in->score /= (double)(s->num_aspects - s->num_silent);
		in->score = rounded(in->score);
		in->own = num_own > 0 ? rounded(in->own / (double)num_own) : 0;
	}
	qsort(s->ranking, s->num_pairs, sizeof(*s->ranking), compare_ranking);
}

struct trace_suspects *trace_suspects_create(struct arena *arena, const struct trace_runs *runs,
					     unsigned int kinds, unsigned int frequencies,
					     enum linkage linkage)
{
	static const enum attribute_kind all[] = {ATTRIBUTE_ENTRY, ATTRIBUTE_PAIR, ATTRIBUTE_LOOP,
						  ATTRIBUTE_END};
	size_t num_good = count_good(runs);
	struct trace_suspects *suspects;

	if (num_good == 0 || num_good == runs->num_threads)
		return NULL;
	suspects = arena_alloc(arena, sizeof(*suspects));
	suspects->pairs =
		arena_array(arena, runs->num_threads - num_good, sizeof(*suspects->pairs));
	make_pairs(arena, suspects, runs, num_good);
	suspects->aspects =
		arena_array(arena, NUM_KINDS * NUM_FREQUENCIES, sizeof(*suspects->aspects));
	for (size_t k = 0; k < NUM_KINDS; k++)
		for (unsigned int f = 0; f < NUM_FREQUENCIES; f++)
			if (kinds & all[k] && frequencies & 1u << f &&
			    (all[k] != ATTRIBUTE_END || f == FREQUENCY_NONE))
				suspects->aspects[suspects->num_aspects++] =
					look(arena, suspects, runs, all[k], f, linkage);
	rank(arena, suspects);
	return suspects;
}
