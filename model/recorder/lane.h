/* SPDX-License-Identifier: BSD-3-Clause
 * A thread's lane: its present state, transitions, ring, statistics. Only the thread that holds
 * the lane calls these. Private copies of what the lane publishes make the fast path a row of
 * stores. */
#ifndef PDB_RECORDER_LANE_H
#define PDB_RECORDER_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/recorder/idhash.h"
#include "model/recorder/p2p_state.h"
#include "model/recorder/pathcache.h"
#include "model/recorder/ticks.h"
#include "model/recorder/writer.h"

struct tracer;

/* A transition out of a state. */
struct lane_way {
	uint32_t to; /* 0: none; state 0 is never entered */
	struct seg_transition *transition;
	const struct path_entry *entry; /* of the call that enters `to`; NULL: not known */
	struct lane_hint *hint;         /* of `to` */
};

/* The last one is nearly always the next one as well. At the end of a loop it is not: then it is the
 * one that was last before. */
struct lane_hint {
	struct lane_way last, former;
} __attribute__((aligned(64))); /* a cache line */

static inline void lane_hint_swap(struct lane_hint *hint)
{
	struct lane_way last = hint->last;

	hint->last = hint->former;
	hint->former = last;
}

struct lane {
	/* Of the present state; while polls are counted, a hint that knows no transition. These
	 * copies of what the segment says hold whoever writes to the file. */
	struct lane_hint *hint;
	struct seg_state *stats;
	struct seg_current *current;
	struct seg_transition *transitions;
	struct seg_event *ring;
	uint64_t ring_mask;
	struct lane_hint *hints; /* of each state */
	struct seg_state *states;

	struct seg_lane *seg;
	struct tracer *tracer; /* NULL: no trace */
	struct lane_hint poll_hint;
	uintptr_t call_cfa; /* stack pointer of the call in progress; 0: none */
	uint32_t site;	    /* of that call */
	const struct path_entry *entry; /* of its path, or NULL */
	uint32_t poll_site; /* of the last poll since the state was entered; 0: none */
	uint64_t poll_ticks;
	struct pathcache cache;

	uint32_t states_ready; /* states below this one have pages */
	uint32_t index;
	/* Room for so many entries, under the lock. */
	bool (*grow)(struct lane *l, enum seg_lane_id table, uint32_t entries);
	struct idhash edges; /* (from, to) -> transition */
	struct seg_ledger *ledger;
	struct idhash rows; /* (communicator, peer, tag) -> row of the ledger */
	struct ledger_next *next_rows;
	uint32_t row;              /* of the ledger, that was asked for last */
	uint32_t refused;	   /* bit of each table that got no more room: not asked again */
	struct requests *requests; /* of the process */
	struct p2p p2p;
	uintptr_t stack_low, stack_high;
	struct lane *next_free;
	struct lane *next; /* made before it */
};

static inline uint32_t lane_state(const struct lane *l)
{
	return l->stats - l->states;
}

/* Make lane `index`, mapped and empty. NULL when there is no room or memory. `grow` is called,
 * without the recorder's lock, when a table needs more room; it takes the lock and calls
 * lane_reserve(). */
struct lane *lane_create(struct writer *w, uint32_t index,
			 bool (*grow)(struct lane *l, enum seg_lane_id table, uint32_t entries));

/* Room for so many entries in the segment. The caller holds the recorder's lock. */
bool lane_reserve(struct lane *l, struct writer *w, enum seg_lane_id table, uint32_t entries);

/* Is there room for so many entries, now or after asking for it? */
bool lane_has_room(struct lane *l, enum seg_lane_id table, uint32_t entries);

/* The calling thread takes the lane: state "start". */
void lane_take(struct lane *l, int tid, bool is_main);

/* Before the first lane_enter() of a site in this lane. False when there is no room. */
bool lane_prepare_site(struct lane *l, struct writer *w, uint32_t site);

/* The entry of a call's path, or NULL: not known. lane_remember() adds one, NULL when it cannot;
 * lane_forget() is for when code was unloaded. */
const struct path_entry *lane_remember(struct lane *l, const struct recorder_function *function,
				       uintptr_t ra, uintptr_t cfa, uint32_t site,
				       const struct path_slot *slots, uint32_t num_slots);
void lane_forget(struct lane *l);

/* The call enters. `entry` is what will be expected after the same state; may be NULL. */
void lane_enter(struct lane *l, uint32_t site, const struct path_entry *entry);

/* The call returned, or was left at some time before now. */
void lane_leave(struct lane *l);

/* A poll enters; its outcome will tell whether that was an event. */
void lane_enter_poll(struct lane *l, uint32_t site);
void lane_leave_poll(struct lane *l, bool failed);

/* ---- The fast path: here to be inlined ------------------------------------------------------ */

/* A word that only this thread writes: its new value. */
static inline uint64_t lane_add(_Atomic uint64_t *word, uint64_t n)
{
	uint64_t sum = atomic_load_explicit(word, memory_order_relaxed) + n;

	atomic_store_explicit(word, sum, memory_order_relaxed);
	return sum;
}

/* The sequence lock of struct seg_current: a section begins with an odd number and ends with the
 * next even one. A section that the thread was thrown out of (a signal handler's longjmp) is
 * closed by the next one. */
static inline uint32_t lane_section_begin(struct seg_current *current)
{
	uint32_t seq = atomic_load_explicit(&current->seq, memory_order_relaxed) | 1;

	atomic_store_explicit(&current->seq, seq, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	return seq;
}

static inline void lane_section_end(struct seg_current *current, uint32_t seq)
{
	atomic_store_explicit(&current->seq, seq + 1, memory_order_release);
}

/* One event: into `to`, of which that is the hint, at `now`. Within a section. */
static inline __attribute__((always_inline)) void lane_event(struct lane *l,
							     struct seg_current *current,
							     uint32_t to, struct lane_hint *hint,
							     uint64_t now)
{
	struct seg_state *stats = l->stats;
	uint64_t stay = now - atomic_load_explicit(&current->since, memory_order_relaxed);
	uint64_t events = atomic_load_explicit(&current->events, memory_order_relaxed);
	struct seg_event *slot = &l->ring[events & l->ring_mask];

	l->hint = hint;
	l->stats = &l->states[to];
	atomic_store_explicit(&slot->ticks, now, memory_order_relaxed);
	atomic_store_explicit(&slot->state, to, memory_order_relaxed);
	atomic_store_explicit(&current->state, to, memory_order_relaxed);
	atomic_store_explicit(&current->since, now, memory_order_relaxed);
	atomic_store_explicit(&current->events, events + 1, memory_order_relaxed);
	if (__builtin_expect(stay > atomic_load_explicit(&stats->longest, memory_order_relaxed), 0))
		atomic_store_explicit(&stats->longest, stay, memory_order_relaxed);
}

/* Does the hint know the transition? */
static inline __attribute__((always_inline)) bool lane_expects(const struct lane *l, uint32_t to)
{
	return l->hint->last.to == to;
}

/* The event that the lane expects. */
static inline __attribute__((always_inline)) void lane_expected_event(struct lane *l, uint64_t now)
{
	const struct lane_way *way = &l->hint->last;
	struct seg_current *current = l->current;
	uint32_t seq = lane_section_begin(current);

	lane_add(&way->transition->count, 1);
	lane_event(l, current, way->to, way->hint, now);
	lane_section_end(current, seq);
}

#endif
