/* SPDX-License-Identifier: BSD-3-Clause
 * A formal context (Ganter and Wille): which objects have which attributes, and how similar the
 * objects are. Objects with the same attributes share a row, so that equal ranks are worked out
 * once. All of it lives in the arena. */
#ifndef PDB_ANALYSIS_FORMAL_CONTEXT_H
#define PDB_ANALYSIS_FORMAL_CONTEXT_H

#include "model/std.h"

struct arena;

struct formal_context {
	uint32_t num_objects, num_attributes, num_rows;
	size_t num_words;     /* of a row */
	const uint64_t *rows; /* [num_rows * num_words] bit a % 64 of word a / 64: attribute a */
	uint32_t *row_of;     /* [num_objects] rows in the order of their first objects */
	uint32_t *row_size;   /* [num_rows] objects with that row */
};

/* Object o has the attributes numbers[ends[o - 1]] up to before numbers[ends[o]]; ends[-1] is 0. */
struct formal_context *formal_context_create(struct arena *arena, uint32_t num_objects,
					     uint32_t num_attributes, const uint32_t *numbers,
					     const size_t *ends);

/* Jaccard similarity of each row to each: [num_rows * num_rows] of the number of attributes that
 * both have by that of those that any of both has; 1 of two without any. */
double *formal_context_similarity(struct arena *arena, const struct formal_context *context);

#endif
