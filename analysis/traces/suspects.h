/* SPDX-License-Identifier: BSD-3-Clause
 * Which ranks behave differently in two runs (DiffTrace): those whose similarity to the others has
 * changed most. A change of the whole program, which all ranks share, does not accuse any. */
#ifndef PDB_ANALYSIS_SUSPECTS_H
#define PDB_ANALYSIS_SUSPECTS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/traces/formal_context.h"

struct suspect {
	uint32_t index; /* of the pair of objects */
	double change;  /* mean, over the other pairs, of how much the similarity to them differs: 0
			   to 1 */
	double own;     /* 1 - similarity of what it did in one run to what it did in the other */
};

/* Pair i are the objects good[i] and bad[i] of one context with both runs, for example the same
 * rank in both. The most suspicious first: by change, then by own, then by index. `similarity` is
 * the context's. [num_pairs], the caller frees. */
struct suspect *suspects_create(const struct formal_context *context, const double *similarity,
				const uint32_t *good, const uint32_t *bad, size_t num_pairs);

#endif
