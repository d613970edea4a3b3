/* SPDX-License-Identifier: BSD-3-Clause
 * The checked cache of call paths, one for each thread. An entry is found by the function, the
 * return address of the MPI call and the stack pointer there, and is believed only if every stack
 * slot in which the full unwind found a return address still holds that value. Then the call path
 * is the same: each live call between keeps its return address in its own slot, and a slot that
 * was left and not reused does no harm unless *all* slots up to main and the stack pointer agree.
 * A hit costs some nanoseconds; everything else takes the full unwind.
 *
 * Layers of a library are called at one stack pointer by many ways (same slots, other values), which
 * are all kept; of one bucket the newest PATHCACHE_WAYS are looked at.
 *
 * That code was unloaded is noticed at the next full unwind only, and then everything is forgotten.
 * Until then an entry could hold wrongly if another library came to the same address and, through
 * it, a call with the same stack pointer and the same return address in every slot. The same library
 * loaded again at the same place is no such case: its path is the same. */
#ifndef PDB_RECORDER_PATHCACHE_H
#define PDB_RECORDER_PATHCACHE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/segment.h"

struct recorder_function;

enum {
	PATHCACHE_BUCKETS = 4096,
	PATHCACHE_ARENA = 4 << 20, /* bytes: 20,000 paths of 20 frames; it is emptied when full */
	PATHCACHE_STEP = 4,
	PATHCACHE_WAYS = 64,
};

struct path_slot {
	const uintptr_t *at; /* NULL: not known */
	uintptr_t value;
};

/* Of a deeper stack the innermost and the outermost PATH_HALF frames are kept, so that deep
 * recursion makes a bounded number of call paths; after PATH_MAX_STEPS the search for the
 * outermost ends and only the innermost are kept. */
enum { PATH_HALF = 128, PATH_MAX_FRAMES = 2 * PATH_HALF, PATH_MAX_STEPS = 1 << 14 };

struct call_path {
	uint32_t num_frames; /* return addresses in slots[].value, innermost first */
	uint32_t elided_at;  /* frames were left out before this one; 0: nowhere */
	bool cacheable;	     /* every return address is in a slot of this stack */
	struct path_slot slots[PATH_MAX_FRAMES];
};

/* A slot as it is remembered: a call compares up to some dozens, which are best in few cache lines.
 * That the lower half of an address is enough: other code at a distance of just 4 GiB would have to
 * have been called with all other slots the same. */
struct path_word {
	int32_t offset;	/* from the call's stack pointer; its own return address is below that */
	uint32_t value;	 /* lower half */
};
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the lower half comes first");

/* As few cache lines as can be, for the same reason as in struct lane_hint. */
struct path_entry {
	const struct recorder_function *function;
	uintptr_t ra, cfa;
	uint32_t older; /* one of the same bucket: where in the arena; 0: none */
	uint16_t site;
	uint16_t num_words; /* at least one, and a multiple of PATHCACHE_STEP: the last one repeats */
	struct path_word words[];
} __attribute__((aligned(64)));
static_assert(offsetof(struct path_entry, words) == 32, "half a cache line");
static_assert(SEG_MAX_SITES <= 1 << 16, "a site in 16 bits");

struct pathcache {
	uint32_t *buckets; /* PATHCACHE_BUCKETS of them: where in the arena the newest entry is; 0: none */
	char *arena;	   /* behind one empty line: entries, one after the other; emptied as a whole */
	uint32_t used;
	uint64_t generation; /* of the loaded objects when it was last emptied */
};

/* False when there is no memory. */
bool pathcache_init(struct pathcache *c);
void pathcache_deinit(struct pathcache *c);

/* Remember the path of a call, which is cacheable and has a frame. NULL when there is no room; after
 * a flush there is. */
const struct path_entry *pathcache_add(struct pathcache *c,
				       const struct recorder_function *function, uintptr_t ra,
				       uintptr_t cfa, uint32_t site, const struct call_path *path);

/* Forget everything. */
void pathcache_flush(struct pathcache *c);

static inline uint32_t pathcache_place(uintptr_t ra, uintptr_t cfa)
{
	uint64_t x = (ra ^ cfa << 12) * 0x9e3779b97f4a7c15u;
	return x >> 52; /* 12 bits: PATHCACHE_BUCKETS */
}

/* Is it an entry of such a call? Whether it holds for this one, its slots must tell. */
static inline bool path_entry_fits(const struct path_entry *e,
				   const struct recorder_function *function, uintptr_t ra,
				   uintptr_t cfa)
{
	return e->ra == ra && e->cfa == cfa && e->function == function;
}

static inline __attribute__((always_inline)) bool path_word_holds(const char *cfa,
								    const struct path_word *word)
{
	typedef uint32_t __attribute__((may_alias)) half;

	return *(const half *)(cfa + word->offset) == word->value;
}

static inline __attribute__((always_inline)) bool path_entry_holds(const struct path_entry *e)
{
	const struct path_word *word = e->words, *end = word + e->num_words;
	const char *cfa = (const char *)e->cfa;

	/* Unrolled: these loads are most of what a hit costs. */
	do {
		if (!path_word_holds(cfa, &word[0]) || !path_word_holds(cfa, &word[1]) ||
		    !path_word_holds(cfa, &word[2]) || !path_word_holds(cfa, &word[3]))
			return false;
		word += PATHCACHE_STEP;
	} while (word < end);
	return true;
}

/* It will be asked for soon; may be NULL. Of long paths, the first 20 frames. */
static inline __attribute__((always_inline)) void path_entry_prefetch(const struct path_entry *e)
{
	uintptr_t line = (uintptr_t)e;

	__builtin_prefetch((const void *)line);
	__builtin_prefetch((const void *)(line + 64));
	__builtin_prefetch((const void *)(line + 128));
}

/* The entry of a call, valid until pathcache_flush(); NULL: not known. */
const struct path_entry *pathcache_find(const struct pathcache *c,
					const struct recorder_function *function, uintptr_t ra,
					uintptr_t cfa);

#endif
