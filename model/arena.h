/* SPDX-License-Identifier: BSD-3-Clause
 * A scratch arena: the memory of one answer, freed all at once by its owner. Code that uses it
 * frees nothing. Running out of memory ends the program. Not for several threads at once. */
#pragma once

#include <stddef.h>

#include "model/scope.h"

struct arena;

struct arena *arena_create(void);
/* Takes NULL. What arena_keep() was given is destroyed first, the latest before others. */
void arena_destroy(struct arena *arena);
SCOPE_DEFINE(arena)
/* Free all that is in it, to use it again. */
void arena_clear(struct arena *arena);

/* Zeroed, for any type; valid until arena_destroy(). */
void *arena_alloc(struct arena *arena, size_t size);
/* The same for `number` elements of `size` bytes. */
void *arena_array(struct arena *arena, size_t number, size_t size);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_printf(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Make room for one more element in the growing array `array` of `num` elements, as xgrow(): it may
 * move, and nothing may point into it. It is NULL or comes from here; elements beyond `num` are not
 * zeroed. */
void *arena_grow(struct arena *arena, void *array, size_t num, size_t *capacity,
		 size_t element_size);

/* Append: the new last element of such an array, not zeroed. Counts it in `num`. */
#define ARENA_PUSH(arena, array, num, capacity)                                                    \
	((array) = arena_grow((arena), (array), (num), &(capacity), sizeof(*(array))),             \
	 &(array)[(num)++])

/* The arena owns this, too, and ends it by `destroy`: free() for what was allocated elsewhere.
 * Returns `object`, which may be NULL. */
void *arena_keep(struct arena *arena, void *object, void (*destroy)(void *));

/* Defines NAME_in(arena, object): the same for a struct NAME, which NAME_destroy() ends. */
#define ARENA_DEFINE_IN(name)                                                                      \
	static inline void name##_end(void *object)                                                \
	{                                                                                          \
		name##_destroy((struct name *)object);                                             \
	}                                                                                          \
	static inline struct name *name##_in(struct arena *arena, struct name *object)             \
	{                                                                                          \
		return (struct name *)arena_keep(arena, object, name##_end);                       \
	}
