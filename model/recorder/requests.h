/* SPDX-License-Identifier: BSD-3-Clause
 * Requests of this process that complete later: from a key (made of MPI's handle) to a slot of the
 * segment's requests. Slots are used again. Nothing here knows MPI.
 *
 * If threads may call MPI at the same time (MPI_THREAD_MULTIPLE), callers hold the lock. Its owner
 * is a lane: if a thread was thrown out of it (a signal handler's longjmp), the thread's next call
 * takes it over.
 *
 * MPI may give a handle out again before the call that completed its request is counted. So another
 * thread may add a request with that handle. The first request's slot is an orphan then, which no
 * key leads to; whoever listed it before the call has a reference. */
#pragma once

#include "model/recorder/base.h"
#include "model/recorder/writer.h"

#define REQUESTS_NONE UINT32_MAX

enum {
	REQUESTS_BUCKETS = 1 << 12,
	REQUESTS_ORPHANS = 64, /* kept at most; older ones were completed in a way not seen */
};

/* Handles of different kinds may have equal values. */
enum requests_space { REQUESTS_REQUEST, REQUESTS_MESSAGE, REQUESTS_LOCK, REQUESTS_TOKEN };

/* Keys of no slot: a null handle; one of all requests that are complete when they are made. */
enum { REQUESTS_KEY_NULL = 0, REQUESTS_KEY_COMPLETE = 3 };

static inline uint64_t requests_key(enum requests_space space, uint64_t handle)
{
	return handle << 2 | space;
}

/* What a slot says. */
struct request {
	enum seg_request_kind kind;
	uint32_t flags; /* enum seg_request_flags */
	uint32_t comm;
	int32_t peer, tag;
	uint64_t ordinal, bytes;
	uint32_t site;
	uint32_t lane;
	uint64_t ticks;
	uint32_t row; /* of the ledger of `lane`; LEDGER_NO_ROW: not counted. Not in the segment. */
};

static inline bool request_takes_any(const struct request *request)
{
	return request->kind == SEG_REQUEST_RECV &&
	       (request->peer == SEG_PEER_ANY || request->tag == SEG_TAG_ANY);
}

/* What the segment does not tell of a slot, and what completing it needs, in half a cache line. */
struct requests_own {
	uint64_t key;  /* REQUESTS_KEY_NULL: none, as that of a second half or an orphan */
	uint32_t next; /* slot in the same bucket, or free */
	uint32_t half; /* the other slot of a request that sends and receives */
	_Atomic uint32_t serial; /* how many times it was freed */
	uint32_t row, lane;      /* of the ledger that counts it; LEDGER_NO_ROW: none does */
	uint8_t kind;            /* enum seg_request_kind; the segment says it while it is used */
	_Atomic uint8_t flags;   /* enum seg_request_flags */
	bool takes_any;          /* a receive with a wildcard */
};
_Static_assert(sizeof(struct requests_own) == 32, "half a cache line");

/* A slot that was in use when somebody listed it. */
struct requests_ref {
	uint32_t slot; /* or REQUESTS_NONE */
	uint32_t serial;
};

struct requests {
	struct seg_request *slots; /* of the segment */
	struct requests_own *own;  /* SEG_MAX_REQUESTS of them */
	uint32_t *buckets;         /* slot + 1 of the first one; 0: none */
	struct seg_table *table;
	uint32_t free;                                 /* first of the list of free slots */
	uint64_t changes;                              /* made so far to any of this */
	bool is_full;                                  /* no more slots: not asked again */
	bool is_shared;                                /* threads may call at the same time */
	uint32_t exclusive_locks;                      /* of windows; at most so many are held */
	struct requests_ref orphans[REQUESTS_ORPHANS]; /* number i is at i % REQUESTS_ORPHANS */
	uint32_t num_orphans;
	_Atomic uint32_t owner; /* lane + 1 of the holder of the lock; 0: free */
	struct writer *writer;
};

/* False when there is no memory. */
bool requests_init(struct requests *r, struct writer *w);

static inline uint32_t *requests_bucket(const struct requests *r, uint64_t key)
{
	return &r->buckets[key * 0x9e3779b97f4a7c15u >> 52]; /* 12 bits: REQUESTS_BUCKETS */
}

/* The slot of a key, or REQUESTS_NONE. */
static inline uint32_t requests_find(const struct requests *r, uint64_t key)
{
	uint32_t slot = *requests_bucket(r, key) - 1;

	while (slot != REQUESTS_NONE && r->own[slot].key != key)
		slot = r->own[slot].next;
	return slot;
}

static inline struct requests_ref requests_ref(const struct requests *r, uint32_t slot)
{
	struct requests_ref ref = {.slot = slot};

	if (slot != REQUESTS_NONE)
		ref.serial = relaxed_get(&r->own[slot].serial);
	return ref;
}

/* The slot that was meant, or REQUESTS_NONE: it is used for something else by now, or free. */
static inline uint32_t requests_slot(const struct requests *r, struct requests_ref ref)
{
	if (ref.slot == REQUESTS_NONE || ref.serial != relaxed_get(&r->own[ref.slot].serial))
		return REQUESTS_NONE;
	return ref.slot;
}

/* Publish some more free slots, in a slow section; false when there is no room, for good. */
bool requests_grow(struct requests *r);

/* The first free slot; there is one. */
static inline uint32_t requests_pop(struct requests *r)
{
	uint32_t slot = r->free;

	r->free = r->own[slot].next;
	return slot;
}

/* A request comes to be in three steps, so that little is left to do when MPI has made it. A free
 * slot is taken, or REQUESTS_NONE without room. It is filled in, without a lock: readers do not
 * look at what is free. It is used. */
static inline uint32_t requests_take(struct requests *r)
{
	if (unlikely(r->free == REQUESTS_NONE) && !requests_grow(r))
		return REQUESTS_NONE;
	return requests_pop(r);
}

static inline void requests_fill(struct requests *r, uint32_t slot, const struct request *request)
{
	struct seg_request *to = &r->slots[slot];
	struct requests_own *own = &r->own[slot];

	own->half = REQUESTS_NONE;
	own->row = request->row;
	own->lane = request->lane;
	own->kind = request->kind;
	own->takes_any = request_takes_any(request);
	relaxed_set(&own->flags, request->flags);
	relaxed_set(&to->flags, request->flags);
	relaxed_set(&to->comm, request->comm);
	relaxed_set(&to->peer, request->peer);
	relaxed_set(&to->tag, request->tag);
	relaxed_set(&to->ordinal, request->ordinal);
	relaxed_set(&to->bytes, request->bytes);
	relaxed_set(&to->site, request->site);
	relaxed_set(&to->lane, request->lane);
}

/* From free to used, or back. Sequence number and kind are one word of memory, so this is a whole
 * section of the sequence lock (see struct seg_current). */
static inline void requests_set_kind(struct requests *r, uint32_t slot, enum seg_request_kind kind)
{
	typedef uint64_t __attribute__((may_alias)) word;
	struct seg_request *to = &r->slots[slot];
	uint32_t seq = (relaxed_get(&to->seq) | 1) + 1;

	_Static_assert(offsetof(struct seg_request, seq) == 0 &&
			       offsetof(struct seg_request, kind) == 4 &&
			       sizeof(struct seg_request) % 8 == 0 &&
			       __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
		       "halves of the word");
	r->changes++;
	__atomic_store_n((word *)to, (uint64_t)kind << 32 | seq, __ATOMIC_RELEASE);
}

/* MPI has given the handle out again: what had it is complete, as another thread may yet say. */
void requests_key_comes_again(struct requests *r, uint32_t slot);

/* A slot that was filled in is used, first of its bucket. */
static inline void requests_link(struct requests *r, uint32_t *first, uint64_t key, uint32_t slot,
				 uint64_t ticks)
{
	struct requests_own *own = &r->own[slot];

	relaxed_set(&r->slots[slot].ticks, ticks);
	requests_set_kind(r, slot, own->kind);
	own->key = key;
	own->next = *first - 1;
	*first = slot + 1;
}

/* Used under this key; what had the key before is gone, or an orphan. */
static inline void requests_use(struct requests *r, uint64_t key, uint32_t slot, uint64_t ticks)
{
	uint32_t former = requests_find(r, key);

	if (unlikely(former != REQUESTS_NONE))
		requests_key_comes_again(r, former);
	requests_link(r, requests_bucket(r, key), key, slot, ticks);
}

/* The same of two slots (a request that sends and receives) or of REQUESTS_NONE: counted as
 * dropped, and the other slot is free. */
void requests_use_all(struct requests *r, uint64_t key, const uint32_t *slots, uint32_t num,
		      uint64_t ticks);

/* All three. Its slot, or REQUESTS_NONE. */
static inline uint32_t requests_add(struct requests *r, uint64_t key, const struct request *request)
{
	uint32_t slot = requests_take(r);

	if (likely(slot != REQUESTS_NONE)) {
		requests_fill(r, slot, request);
		requests_use(r, key, slot, request->ticks);
	} else {
		requests_use_all(r, key, &slot, 1, request->ticks);
	}
	return slot;
}

/* No key leads to it any more. */
static ALWAYS_INLINE void requests_unlink(struct requests *r, uint32_t slot)
{
	struct requests_own *own = &r->own[slot];
	uint32_t *first = requests_bucket(r, own->key);

	if (likely(*first - 1 == slot)) {
		*first = own->next + 1;
	} else {
		uint32_t at = *first - 1;
		while (r->own[at].next != slot)
			at = r->own[at].next;
		r->own[at].next = own->next;
	}
	own->key = REQUESTS_KEY_NULL;
}

/* The slot is free, and its other half. */
static ALWAYS_INLINE void requests_release(struct requests *r, uint32_t slot)
{
	struct requests_own *own = &r->own[slot];
	uint32_t serial = relaxed_get(&own->serial) + 1;

	requests_set_kind(r, slot, SEG_REQUEST_FREE);
	/* Before anything that the next one stores to it. */
	atomic_thread_fence(memory_order_release);
	relaxed_set(&own->serial, serial);
	own->next = r->free;
	r->free = slot;
}

static ALWAYS_INLINE void requests_remove(struct requests *r, uint32_t slot)
{
	uint32_t half = r->own[slot].half;

	if (likely(r->own[slot].key != REQUESTS_KEY_NULL))
		requests_unlink(r, slot);
	requests_release(r, slot);
	if (unlikely(half != REQUESTS_NONE))
		requests_release(r, half);
}

/* What has the one key has the other from now on. */
void requests_rename(struct requests *r, uint32_t slot, uint64_t key);

static inline uint32_t requests_flags(const struct requests *r, uint32_t slot)
{
	return relaxed_get(&r->own[slot].flags);
}

static inline void requests_set_flags(struct requests *r, uint32_t slot, uint32_t flags)
{
	r->changes++;
	relaxed_set(&r->own[slot].flags, flags);
	atomic_store_explicit(&r->slots[slot].flags, flags, memory_order_release);
}

/* Whoever is reading the slot now starts over. */
static inline void requests_touch(struct requests *r, uint32_t slot)
{
	requests_set_kind(r, slot, r->own[slot].kind);
}

/* A persistent request is about to be started: its number, and the lane and row that count it. */
static inline void requests_count(struct requests *r, uint32_t slot, uint64_t ordinal,
				  uint32_t lane, uint32_t row)
{
	struct requests_own *own = &r->own[slot];

	requests_touch(r, slot);
	atomic_thread_fence(memory_order_release);
	relaxed_set(&r->slots[slot].ordinal, ordinal);
	relaxed_set(&r->slots[slot].lane, lane);
	own->row = row;
	own->lane = lane;
}

/* It was started. Until now readers did not look at what has changed. */
static inline void requests_activate(struct requests *r, uint32_t slot, uint64_t ticks)
{
	relaxed_set(&r->slots[slot].ticks, ticks);
	requests_touch(r, slot);
	requests_set_flags(r, slot, requests_flags(r, slot) | SEG_REQUEST_ACTIVE);
}

void requests_wait_for_lock(struct requests *r, uint32_t owner);

static inline void requests_lock(struct requests *r, uint32_t lane)
{
	if (unlikely(r->is_shared))
		requests_wait_for_lock(r, lane + 1);
}

static inline void requests_unlock(struct requests *r)
{
	if (unlikely(r->is_shared))
		atomic_store_explicit(&r->owner, 0, memory_order_release);
}
