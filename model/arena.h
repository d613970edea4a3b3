/* SPDX-License-Identifier: BSD-3-Clause
 * A scratch arena: memory of one answer, given back all at once by who makes it; what works on it
 * frees nothing. Running out of memory ends the program. Not for several threads at once. */
#ifndef PDB_MODEL_ARENA_H
#define PDB_MODEL_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_create(void);
/* Takes NULL. What arena_keep() was given is destroyed first, the latest before others. */
void arena_destroy(struct arena *arena);

/* Zeroed, for any type; valid until arena_destroy(). */
void *arena_alloc(struct arena *arena, size_t size);
/* The same for `number` elements of `size` bytes. */
void *arena_array(struct arena *arena, size_t number, size_t size);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_printf(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* As xgrow(), of an array that is NULL or comes from here. Elements beyond `num` are not zeroed. */
void *arena_grow(struct arena *arena, void *array, size_t num, size_t *capacity,
		 size_t element_size);

/* The arena owns this, too, and ends it by `destroy`. Returns `object`, which may be NULL. */
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

#endif
