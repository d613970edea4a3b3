/* SPDX-License-Identifier: BSD-3-Clause
 * A formal context (Ganter and Wille): which objects have which attributes. Objects with the same
 * attributes are one row of it, so that what many ranks do is worked out once. And how similar the
 * objects are. */
#ifndef PDB_ANALYSIS_FORMAL_CONTEXT_H
#define PDB_ANALYSIS_FORMAL_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct formal_context {
	uint32_t num_objects, num_attributes, num_rows;
	size_t num_words;   /* of a row */
	uint64_t *rows;     /* [num_rows * num_words] bit a % 64 of word a / 64: attribute a */
	uint32_t *row_of;   /* [num_objects] rows in the order of their first objects */
	uint32_t *row_size; /* [num_rows] objects with that row */
};

/* Object o has the attributes numbers[ends[o - 1]] to numbers[ends[o]] (excluded), with ends[-1] 0,
 * each below num_attributes. */
struct formal_context *formal_context_create(uint32_t num_objects, uint32_t num_attributes,
					     const uint32_t *numbers, const size_t *ends);
void formal_context_destroy(struct formal_context *context);

bool formal_context_has(const struct formal_context *context, uint32_t object, uint32_t attribute);

/* Jaccard similarity of each row to each: [num_rows * num_rows] of the number of attributes that
 * both have by that of those that any of both has; 1 of two without any. The caller frees. */
double *formal_context_similarity(const struct formal_context *context);

#endif
