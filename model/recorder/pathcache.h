/* SPDX-License-Identifier: BSD-3-Clause
 * The checked cache of call paths, one for each thread. An entry is found by function, return
 * address and stack pointer of the MPI call. It is believed only if every stack slot in which the
 * full unwind found a return address still holds that value; a sum of them all tells. Then the path
 * is the same: each live call keeps its return address in its own slot. A slot that was left and
 * not reused does no harm unless *all* up to main and the stack pointer agree.
 *
 * Layers of a library are called at one stack pointer on many ways (same slots, other values),
 * which are all kept. Of one bucket the newest PATHCACHE_WAYS are tried.
 *
 * Unloaded code is noticed at the next full unwind, which forgets everything. Until then an entry
 * is wrong if another library came to the same address and made a call with the same stack pointer
 * and the same return address in every slot. */
#pragma once

#include <assert.h>

#include "model/recorder/base.h"
#include "model/segment/segment.h"

struct recorder_function;

enum {
	PATHCACHE_BUCKETS = 4096,
	PATHCACHE_ARENA = 4 << 20, /* bytes: 65,000 paths of 20 frames; it is emptied when full */
	PATHCACHE_STEP = 4,
	PATHCACHE_WAYS = 64,
};

struct path_slot {
	const uintptr_t *at; /* NULL: not known */
	uintptr_t value;
};

/* Of a deeper stack the innermost and the outermost PATH_HALF frames are kept, so that deep
 * recursion makes few call paths; beyond PATH_MAX_STEPS only the innermost. */
enum { PATH_HALF = 128, PATH_MAX_FRAMES = 2 * PATH_HALF, PATH_MAX_STEPS = 1 << 14 };

struct call_path {
	uint32_t num_frames; /* return addresses in slots[].value, innermost first */
	uint32_t elided_at;  /* frames were left out before this one; 0: nowhere */
	bool cacheable;      /* every return address is in a slot of this stack */
	struct path_slot slots[PATH_MAX_FRAMES];
};

/* As few cache lines as can be, for the same reason as in struct lane_hint: 20 frames are in the
 * first. */
struct path_entry {
	uint64_t sum;      /* path_sum() when the path was found */
	uint64_t cfa : 48; /* of a thread's stack; larger ones never fit */
	uint64_t site : 16;
	uint32_t tag;      /* path_tag() */
	uint16_t older;    /* one of the same bucket: line of the arena; 0: none */
	uint8_t num_steps; /* of PATHCACHE_STEP slots; at least one. The last slot repeats */
	bool is_wide;      /* the slots are int32_t, since one is too far for 16 bits */
	/* Words from the call's stack pointer to each slot, from the innermost outwards. That of
	 * the call's own return address is negative. */
	int16_t slots[];
} __attribute__((aligned(64)));
static_assert(offsetof(struct path_entry, slots) == 24, "20 slots in the first cache line");
static_assert(PATHCACHE_ARENA / sizeof(struct path_entry) <= 1 << 16, "a line in 16 bits");
static_assert(SEG_MAX_SITES <= 1 << 16, "a site in 16 bits");
static_assert(PATH_MAX_FRAMES / PATHCACHE_STEP <= UINT8_MAX, "steps in 8 bits");

struct pathcache {
	uint16_t *buckets;        /* [PATHCACHE_BUCKETS] line of the newest entry; 0: none */
	struct path_entry *arena; /* lines: an empty one, then entries; emptied as a whole */
	uint32_t used;            /* lines */
	uint64_t generation;      /* of the loaded objects when it was last emptied */
};

/* False when there is no memory. */
bool pathcache_init(struct pathcache *c);
void pathcache_deinit(struct pathcache *c);

/* Remember the path of a call, which is cacheable and has a frame. NULL when there is no room;
 * after a flush there is. */
const struct path_entry *pathcache_add(struct pathcache *c,
				       const struct recorder_function *function, uintptr_t ra,
				       uintptr_t cfa, uint32_t site, const struct call_path *path);

/* A name for an entry in fewer bytes; 0: of none. What it then names is no call's. */
static inline uint16_t pathcache_line(const struct pathcache *c, const struct path_entry *e)
{
	return e ? e - c->arena : 0;
}

static inline const struct path_entry *pathcache_at(const struct pathcache *c, uint16_t line)
{
	return &c->arena[line];
}

/* Forget everything: entries, and lines, must not be used any more. */
void pathcache_flush(struct pathcache *c);

static inline uint32_t pathcache_place(uintptr_t ra, uintptr_t cfa)
{
	uint64_t x = (ra ^ cfa << 12) * 0x9e3779b97f4a7c15u;
	return x >> 52; /* 12 bits: PATHCACHE_BUCKETS */
}

/* What tells calls of one path and stack pointer apart. All functions are in one library, so the
 * lower halves do; the return address is one of the path. */
static inline uint32_t path_tag(const struct recorder_function *function, uintptr_t ra)
{
	return (uint32_t)((uintptr_t)function ^ ra);
}

/* Is it an entry of such a call? Whether it holds for this one, its slots must tell. */
static inline bool path_entry_fits(const struct path_entry *e,
				   const struct recorder_function *function, uintptr_t ra,
				   uintptr_t cfa)
{
	return e->cfa == cfa && e->tag == path_tag(function, ra);
}

/* Odd numbers at random; the last ones are of one word where the last slot repeats. */
#define PATH_FACTOR_0 0xd1b54a32d192ed03u
#define PATH_FACTOR_1 0x8cb92ba72f3d8dd7u
#define PATH_FACTOR_2 0xabc98388fb8fac03u
#define PATH_FACTOR_3 0xbea225f9eb34556du
#define PATH_FACTOR_STEP 0x9e6c63d0676a9a99u
static_assert((PATH_FACTOR_2 + PATH_FACTOR_3) % (1 << 8) &&
		      (PATH_FACTOR_1 + PATH_FACTOR_2 + PATH_FACTOR_3) % (1 << 8) &&
		      (PATH_FACTOR_0 + PATH_FACTOR_1 + PATH_FACTOR_2 + PATH_FACTOR_3) % (1 << 8),
	      "addresses have fewer than 56 bits, so that a change of one is never lost");

/* The next four return addresses into the sum of those before them. Sums of paths that differ in
 * one address are never the same, those of others by a chance of some 2^-56 (hashing by
 * multiplication and polynomials: Carter and Wegman, Universal classes of hash functions, 1979).
 * So what was in the slots need not be kept. */
static inline uint64_t path_sum_step(uint64_t sum, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return sum * PATH_FACTOR_STEP + a * PATH_FACTOR_0 + b * PATH_FACTOR_1 + c * PATH_FACTOR_2 +
	       d * PATH_FACTOR_3;
}

typedef uintptr_t __attribute__((may_alias)) path_word;

/* Of what is in the entry's slots now. */
static ALWAYS_INLINE uint64_t path_sum(const struct path_entry *e)
{
	const path_word *stack = (const path_word *)(uintptr_t)e->cfa;
	const int16_t *slot = e->slots, *end = slot + e->num_steps * PATHCACHE_STEP;
	uint64_t sum = 0;

	do {
		sum = path_sum_step(sum, stack[slot[0]], stack[slot[1]], stack[slot[2]],
				    stack[slot[3]]);
		slot += PATHCACHE_STEP;
	} while (slot < end);
	return sum;
}

/* The same of an entry whose slots are wide. */
uint64_t path_sum_wide(const struct path_entry *e);

static ALWAYS_INLINE bool path_entry_holds(const struct path_entry *e)
{
	if (unlikely(e->is_wide))
		return path_sum_wide(e) == e->sum;
	return path_sum(e) == e->sum;
}

/* It will be asked for soon. Of long paths, the first 52 frames. */
static ALWAYS_INLINE void path_entry_prefetch(const struct path_entry *e)
{
	__builtin_prefetch(e);
	__builtin_prefetch((const void *)((uintptr_t)e + 64));
}

/* The entry of a call, valid until pathcache_flush(); NULL: not known. */
const struct path_entry *pathcache_find(const struct pathcache *c,
					const struct recorder_function *function, uintptr_t ra,
					uintptr_t cfa);
