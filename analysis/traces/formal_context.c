/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/traces/formal_context.h"

#include <stdlib.h>
#include <string.h>

#include "model/hash.h"
#include "model/xalloc.h"

/* The row equal to the one behind all rows, which becomes one of them if it is new. */
static uint32_t unite_row(struct formal_context *context, uint32_t *slots, size_t num_slots)
{
	size_t size = context->num_words * sizeof(uint64_t);
	const uint64_t *row = &context->rows[context->num_rows * context->num_words];
	size_t at = hash_bytes(row, size) & (num_slots - 1);

	for (; slots[at]; at = (at + 1) & (num_slots - 1))
		if (memcmp(&context->rows[(slots[at] - 1) * context->num_words], row, size) == 0)
			return slots[at] - 1;
	slots[at] = ++context->num_rows;
	return slots[at] - 1;
}

struct formal_context *formal_context_create(uint32_t num_objects, uint32_t num_attributes,
					     const uint32_t *numbers, const size_t *ends)
{
	struct formal_context *context = xcalloc(1, sizeof(*context));
	size_t num_slots = 16, at = 0;
	uint32_t *slots;

	context->num_objects = num_objects;
	context->num_attributes = num_attributes;
	context->num_words = num_attributes / 64 + 1;
	context->rows = xcalloc(num_objects + 1, context->num_words * sizeof(uint64_t));
	context->row_of = xcalloc(num_objects + 1, sizeof(*context->row_of));
	context->row_size = xcalloc(num_objects + 1, sizeof(*context->row_size));
	while (num_slots < 2 * (size_t)num_objects)
		num_slots *= 2;
	slots = xcalloc(num_slots, sizeof(*slots));
	for (uint32_t o = 0; o < num_objects; o++) {
		uint64_t *row = &context->rows[context->num_rows * context->num_words];

		memset(row, 0, context->num_words * sizeof(*row));
		for (; at < ends[o]; at++)
			row[numbers[at] / 64] |= (uint64_t)1 << numbers[at] % 64;
		context->row_of[o] = unite_row(context, slots, num_slots);
		context->row_size[context->row_of[o]]++;
	}
	free(slots);
	return context;
}

void formal_context_destroy(struct formal_context *context)
{
	if (!context)
		return;
	free(context->rows);
	free(context->row_of);
	free(context->row_size);
	free(context);
}

bool formal_context_has(const struct formal_context *context, uint32_t object, uint32_t attribute)
{
	const uint64_t *row = &context->rows[context->row_of[object] * context->num_words];

	return row[attribute / 64] >> attribute % 64 & 1;
}

/* The attributes in both rows; most words of large contexts are 0. */
static uint64_t count_both(const uint64_t *a, const uint64_t *b, size_t num_words)
{
	uint64_t both = 0;

	for (size_t w = 0; w < num_words; w++)
		if (a[w] & b[w])
			both += (uint64_t)__builtin_popcountll(a[w] & b[w]);
	return both;
}

double *formal_context_similarity(const struct formal_context *context)
{
	size_t num = context->num_rows, words = context->num_words;
	double *similarity = xcalloc(num * num + 1, sizeof(*similarity));
	uint64_t *sizes = xcalloc(num + 1, sizeof(*sizes));

	for (size_t i = 0; i < num; i++) {
		const uint64_t *row = &context->rows[i * words];

		sizes[i] = count_both(row, row, words);
		similarity[i * num + i] = 1;
		for (size_t j = 0; j < i; j++) {
			uint64_t both = count_both(row, &context->rows[j * words], words);

			/* Two rows differ, so one has an attribute. */
			similarity[i * num + j] = similarity[j * num + i] =
				(double)both / (double)(sizes[i] + sizes[j] - both);
		}
	}
	free(sizes);
	return similarity;
}
