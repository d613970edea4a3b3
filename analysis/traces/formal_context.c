/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/traces/formal_context.h"
#include "model/arena.h"
#include "model/blobs.h"

struct formal_context *formal_context_create(struct arena *arena, uint32_t num_objects,
					     uint32_t num_attributes, const uint32_t *numbers,
					     const size_t *ends)
{
	struct formal_context *context = arena_alloc(arena, sizeof(*context));
	struct blobs *rows = blobs_in(arena);
	size_t at = 0, size;
	uint64_t *row;

	context->num_objects = num_objects;
	context->num_attributes = num_attributes;
	context->num_words = num_attributes / 64 + 1;
	context->row_of = arena_array(arena, num_objects, sizeof(*context->row_of));
	context->row_size = arena_array(arena, num_objects, sizeof(*context->row_size));
	size = context->num_words * sizeof(*row);
	row = arena_alloc(arena, size);
	for (uint32_t o = 0; o < num_objects; o++) {
		memset(row, 0, size);
		for (; at < ends[o]; at++)
			row[numbers[at] / 64] |= (uint64_t)1 << numbers[at] % 64;
		context->row_of[o] = blobs_intern(rows, row, size);
		context->row_size[context->row_of[o]]++;
	}
	context->num_rows = (uint32_t)rows->num;
	context->rows = (const void *)rows->bytes;
	return context;
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

double *formal_context_similarity(struct arena *arena, const struct formal_context *context)
{
	size_t num = context->num_rows, words = context->num_words;
	double *similarity = arena_array(arena, num * num, sizeof(*similarity));
	uint64_t *sizes = arena_array(arena, num, sizeof(*sizes));

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
	return similarity;
}
