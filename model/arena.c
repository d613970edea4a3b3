/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>

#include "model/base.h"

/* What is larger than a quarter has a chunk of its own: all, where the address sanitizer looks. */
#ifdef __SANITIZE_ADDRESS__
#define CHUNK_SIZE 0
#else
#define CHUNK_SIZE 16384
#endif

struct chunk {
	struct chunk *next, **place; /* what points to it */
	size_t used, size;
	max_align_t bytes[];
};

struct kept {
	struct kept *next;
	void *object;
	void (*destroy)(void *);
};

struct arena {
	struct chunk *chunks; /* the first is the one that is being filled */
	struct kept *kept;    /* the latest first; they are in chunks */
};

struct arena *arena_create(void)
{
	return xcalloc(1, sizeof(struct arena));
}

static void destroy_kept(struct arena *arena)
{
	for (struct kept *kept = arena->kept; kept; kept = kept->next)
		kept->destroy(kept->object);
	arena->kept = NULL;
}

static void free_chunks(struct chunk **place)
{
	for (struct chunk *chunk = *place, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	*place = NULL;
}

void arena_destroy(struct arena *arena)
{
	if (!arena)
		return;
	destroy_kept(arena);
	free_chunks(&arena->chunks);
	free(arena);
}

void arena_clear(struct arena *arena)
{
	struct chunk *chunk = arena->chunks;

	destroy_kept(arena);
	if (!chunk || chunk->size != CHUNK_SIZE) {
		free_chunks(&arena->chunks);
		return;
	}
	free_chunks(&chunk->next);
	memset(chunk->bytes, 0, chunk->used);
	chunk->used = 0;
}

static void link_chunk(struct chunk *chunk, struct chunk **place)
{
	*place = chunk;
	chunk->place = place;
	if (chunk->next)
		chunk->next->place = &chunk->next;
}

/* One that is full at once goes behind the one that is being filled. */
static struct chunk *add_chunk(struct arena *arena, size_t size, bool is_full)
{
	struct chunk *chunk = xcalloc(1, sizeof(*chunk) + size);
	struct chunk **place = is_full && arena->chunks ? &arena->chunks->next : &arena->chunks;

	chunk->size = size;
	chunk->next = *place;
	link_chunk(chunk, place);
	return chunk;
}

static size_t rounded(size_t size)
{
	const size_t unit = sizeof(max_align_t);

	if (size > SIZE_MAX / 2)
		free(xmalloc(size)); /* ends the program */
	return (size + unit - 1) / unit * unit;
}

static bool has_own_chunk(size_t size)
{
	return size > CHUNK_SIZE / 4;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct chunk *chunk = arena->chunks;

	size = rounded(size);
	if (has_own_chunk(size))
		chunk = add_chunk(arena, size, true);
	else if (!chunk || chunk->size - chunk->used < size)
		chunk = add_chunk(arena, CHUNK_SIZE, false);
	void *memory = (char *)chunk->bytes + chunk->used;
	chunk->used += size;
	return memory;
}

void *arena_array(struct arena *arena, size_t number, size_t size)
{
	size_t all;

	return arena_alloc(arena, __builtin_mul_overflow(number, size, &all) ? SIZE_MAX : all);
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
	size_t size = strnlen(text, length);
	char *copy = arena_alloc(arena, size + 1);

	memcpy(copy, text, size);
	return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list ap, again;

	va_start(ap, format);
	va_copy(again, ap);
	int length = vsnprintf(NULL, 0, format, ap);
	char *text = arena_alloc(arena, length < 0 ? 1 : (size_t)length + 1);
	if (length > 0)
		vsnprintf(text, (size_t)length + 1, format, again);
	va_end(again);
	va_end(ap);
	return text;
}

void *arena_grow(struct arena *arena, void *array, size_t num, size_t *capacity,
		 size_t element_size)
{
	size_t before = rounded(*capacity * element_size), size;
	struct chunk *chunk;
	void *larger;

	if (num < *capacity)
		return array;
	*capacity = *capacity ? *capacity * 2 : 16;
	if (!has_own_chunk(before)) {
		larger = arena_array(arena, *capacity, element_size);
		if (num)
			memcpy(larger, array, num * element_size);
		return larger;
	}
	size = rounded(__builtin_mul_overflow(*capacity, element_size, &size) ? SIZE_MAX : size);
	chunk = (struct chunk *)((char *)array - offsetof(struct chunk, bytes));
	chunk = xreallocarray(chunk, sizeof(*chunk) + size, 1);
	chunk->used = chunk->size = size;
	link_chunk(chunk, chunk->place);
	return chunk->bytes;
}

void *arena_keep(struct arena *arena, void *object, void (*destroy)(void *))
{
	struct kept *kept;

	if (!object)
		return NULL;
	kept = arena_alloc(arena, sizeof(*kept));
	*kept = (struct kept){.next = arena->kept, .object = object, .destroy = destroy};
	arena->kept = kept;
	return object;
}
