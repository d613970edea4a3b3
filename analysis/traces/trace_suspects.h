/* SPDX-License-Identifier: BSD-3-Clause
 * Which ranks behave differently in a bad run, as in DiffTrace: by several kinds of attributes,
 * each with and without frequency, combined in one ranking. */
#ifndef PDB_ANALYSIS_TRACE_SUSPECTS_H
#define PDB_ANALYSIS_TRACE_SUSPECTS_H

#include "analysis/traces/trace_runs.h"
#include "analysis/traces/trace_similarity.h"

/* Traces of the set; run 0 is the good one. A thread of the bad run is compared with the same
 * thread of the same rank, or if the runs do not have the same ranks with the most similar one. */
struct trace_pair {
	uint32_t good, bad;
};

/* What all ranks share accuses none: what counts is how similarity to the others has changed. */
struct suspect {
	uint32_t index; /* of the pair of traces */
	double change;  /* mean of how much the similarity to the other pairs differs: 0 to 1 */
	double own;     /* 1 - similarity of what it did in one run to what it did in the other */
};

/* Pair i are the traces good[i] and bad[i] of one set. Returns [num_pairs] of the arena, the most
 * suspicious first: by change, then by own, then by index. */
struct suspect *suspects_create(struct arena *arena, const struct trace_similarity *similarity,
				const uint32_t *good, const uint32_t *bad, size_t num_pairs);

/* The traces by one kind of attributes. */
struct trace_aspect {
	enum attribute_kind kind;
	enum attribute_frequency frequency;
	double bscore;            /* of both runs' clusterings; 1: the same; of ends NAN */
	struct suspect *suspects; /* [num_pairs] the most suspicious first */
	bool is_silent;           /* nothing has changed in it */
};

/* A pair with its share of what has changed, from 0 to 1: the mean over all aspects that are not
 * silent, in each of which the most suspicious has 1. */
struct trace_suspect {
	uint32_t pair;
	double score;
	double own;           /* mean of how little it is like its good one, ends apart */
	uint32_t times_first; /* aspects, not silent, in which nobody is more suspicious */
};

struct trace_suspects {
	struct trace_pair *pairs; /* by the bad run's threads */
	size_t num_pairs;
	struct trace_aspect *aspects;
	size_t num_aspects, num_silent;
	bool are_namesakes;            /* pairs are of the same ranks */
	struct trace_suspect *ranking; /* [num_pairs] by score, then own, then pair */
};

/* How traces end is looked at in the bad run alone, without frequencies: where a good run was
 * looked at is by chance, and of a run that hangs the ranks that wait for one that does not come
 * are mostly together.
 *
 * What to look at: `kinds` and `frequencies` (1 << enum attribute_frequency) each as a set of bits,
 * every one with every one. NULL if a run has no traces. It lives in the arena. */
struct trace_suspects *trace_suspects_create(struct arena *arena, const struct trace_runs *runs,
					     unsigned int kinds, unsigned int frequencies,
					     enum linkage linkage);

#endif
