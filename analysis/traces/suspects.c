/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/traces/suspects.h"

#include <math.h>
#include <stdlib.h>

#include "model/xalloc.h"

/* Of sums of the same numbers in another order this much is the same. */
static double rounded(double value)
{
	return round(value * 1e9) / 1e9;
}

static int compare_suspects(const void *a, const void *b)
{
	const struct suspect *x = a, *y = b;

	if (x->change != y->change)
		return x->change > y->change ? -1 : 1;
	if (x->own != y->own)
		return x->own > y->own ? -1 : 1;
	return x->index == y->index ? 0 : x->index < y->index ? -1 : 1;
}

struct suspect *suspects_create(const struct formal_context *context, const double *similarity,
				const uint32_t *good, const uint32_t *bad, size_t num_pairs)
{
	struct suspect *suspects = xcalloc(num_pairs + 1, sizeof(*suspects));
	size_t num_rows = context->num_rows;

	for (size_t i = 0; i < num_pairs; i++) {
		size_t good_row = context->row_of[good[i]], bad_row = context->row_of[bad[i]];
		double sum = 0;

		for (size_t j = 0; j < num_pairs; j++)
			sum += fabs(similarity[good_row * num_rows + context->row_of[good[j]]] -
				    similarity[bad_row * num_rows + context->row_of[bad[j]]]);
		suspects[i] = (struct suspect){
			.index = (uint32_t)i,
			.change = num_pairs > 1 ? rounded(sum / (double)(num_pairs - 1)) : 0,
			.own = 1 - similarity[good_row * num_rows + bad_row],
		};
	}
	qsort(suspects, num_pairs, sizeof(*suspects), compare_suspects);
	return suspects;
}
