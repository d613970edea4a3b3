/* SPDX-License-Identifier: BSD-3-Clause
 * Allocation that ends the program if memory runs out. That is safe: the kernel lets seized ranks
 * run on when their tracer dies. Never in the recorder. */
#pragma once

#include <stddef.h>

#include "model/scope.h"

void *xmalloc(size_t size);
void *xcalloc(size_t number, size_t size);
void *xreallocarray(void *old, size_t number, size_t size);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t length);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Room for one more than `num` elements: doubles *capacity when reached. Returns the array. */
void *xgrow(void *array, size_t num, size_t *capacity, size_t element_size);

/* Room for `wanted` elements; those from *num on, if there are so few, are zeroed. Returns the
 * array; *num: how many it has. */
void *xgrow_to(void *array, size_t *num, size_t wanted, size_t element_size);

/* Append: the new last element of such an array, not zeroed. Counts it in `num`. */
#define XPUSH(array, num, capacity)                                                                \
	((array) = xgrow((array), (num), &(capacity), sizeof(*(array))), &(array)[(num)++])
