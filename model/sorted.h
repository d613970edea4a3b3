/* SPDX-License-Identifier: BSD-3-Clause
 * Sorting and binary search: the first of several equal elements, or where one would be. Inline, so
 * that the comparison is, too. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* For qsort(): below 0 if a comes first, 0 if they are equal. By several keys:
 * SORTED_ORDER(x->size, y->size) ?: SORTED_ORDER(x->name, y->name). */
#define SORTED_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Defines such a function, ascending by one to six members:
 * SORTED_BY(compare_files, struct file, size, name). */
#define SORTED_BY(function, type, ...)                                                             \
	static int function(const void *a, const void *b)                                          \
	{                                                                                          \
		const type *x = a, *y = b;                                                         \
                                                                                                   \
		return SORTED_SEVENTH(__VA_ARGS__, SORTED_BY6, SORTED_BY5, SORTED_BY4, SORTED_BY3, \
				      SORTED_BY2, SORTED_BY1, )(__VA_ARGS__);                      \
	}
#define SORTED_SEVENTH(a, b, c, d, e, f, seventh, ...) seventh
#define SORTED_BY1(member) SORTED_ORDER(x->member, y->member)
#define SORTED_BY2(member, ...) SORTED_BY1(member) ?: SORTED_BY1(__VA_ARGS__)
#define SORTED_BY3(member, ...) SORTED_BY1(member) ?: SORTED_BY2(__VA_ARGS__)
#define SORTED_BY4(member, ...) SORTED_BY1(member) ?: SORTED_BY3(__VA_ARGS__)
#define SORTED_BY5(member, ...) SORTED_BY1(member) ?: SORTED_BY4(__VA_ARGS__)
#define SORTED_BY6(member, ...) SORTED_BY1(member) ?: SORTED_BY5(__VA_ARGS__)
/* The same by an expression of elements `x` and `y`. */
#define SORTED_BY_ORDER(name_, type_, order_)                                                      \
	static int name_(const void *a_, const void *b_)                                           \
	{                                                                                          \
		const type_ *x = a_, *y = b_;                                                      \
		return order_;                                                                     \
	}

/* The index of the first of `num` elements of `size` bytes that is not before the key, `num` if all
 * are. compare(key, element) is above 0 if the element is before the key; those come first. */
static inline size_t sorted_first(const void *key, const void *base, size_t num, size_t size,
				  int (*compare)(const void *key, const void *element))
{
	size_t low = 0, high = num;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(key, (const char *)base + middle * size) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* As qsort(), also where there is no array. */
static inline void sorted_make(void *base, size_t num, size_t size,
			       int (*compare)(const void *a, const void *b))
{
	if (num > 0)
		qsort(base, num, size, compare);
}

/* Of equal elements side by side only the first is kept. Returns how many are left. */
static inline size_t sorted_unique(void *base, size_t num, size_t size,
				   int (*compare)(const void *a, const void *b))
{
	char *elements = base;
	size_t kept = 0;

	for (size_t i = 0; i < num; i++)
		if (kept == 0 || compare(elements + (kept - 1) * size, elements + i * size) != 0)
			memmove(elements + kept++ * size, elements + i * size, size);
	return kept;
}

static inline size_t sorted_make_unique(void *base, size_t num, size_t size,
					int (*compare)(const void *a, const void *b))
{
	sorted_make(base, num, size, compare);
	return sorted_unique(base, num, size, compare);
}

/* Of elements that begin with an int, as those of ranks do. */
static inline int sorted_compare_int(const void *a, const void *b)
{
	return SORTED_ORDER(*(const int *)a, *(const int *)b);
}

/* sorted_first() of elements that begin with a rank. */
static inline size_t sorted_first_rank(int rank, const void *base, size_t num, size_t size)
{
	return sorted_first(&rank, base, num, size, sorted_compare_int);
}

static inline int sorted_compare_u32(const void *a, const void *b)
{
	return SORTED_ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}
