/* SPDX-License-Identifier: BSD-3-Clause
 * A thread's lane: its present state, transitions, ring, statistics. Only the thread that holds
 * the lane calls these. Private copies of what the lane publishes make the fast path a row of
 * stores. */
#ifndef PDB_RECORDER_LANE_H
#define PDB_RECORDER_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/recorder/idhash.h"
#include "model/recorder/pathcache.h"
#include "model/recorder/ticks.h"
#include "model/recorder/writer.h"

/* The last transition out of a state: nearly always the next one as well. */
struct lane_hint {
	uint32_t to; /* 0: none; state 0 is never entered */
	uint32_t transition;
};

struct lane {
	struct seg_lane *seg;
	struct seg_event *ring;
	struct seg_state *states;
	struct seg_transition *transitions;
	struct lane_hint *hints;
	uint32_t ring_mask;
	/* Copies of what `seg` says that must hold whoever writes to the file: they are indexes. */
	uint32_t state;
	uint32_t poll_site; /* of the last poll since `state` was entered; 0: none */
	uint64_t poll_ticks;
	struct pathcache cache;

	uint32_t states_ready; /* states below this one have pages */
	uint32_t index;
	bool (*grow)(struct lane *l, uint32_t transitions); /* room for so many, under the lock */
	struct idhash edges; /* (from, to) -> transition */
	uintptr_t stack_low, stack_high;
	struct lane *next_free;
};

/* Make lane `index`, mapped and empty. NULL when there is no room or memory. `grow` is called,
 * without the recorder's lock, when the transitions need more room; it takes the lock and calls
 * lane_reserve_transitions(). */
struct lane *lane_create(struct writer *w, uint32_t index,
			 bool (*grow)(struct lane *l, uint32_t transitions));

/* Room for so many transitions in the segment. The caller holds the recorder's lock. */
bool lane_reserve_transitions(struct lane *l, struct writer *w, uint32_t transitions);

/* The calling thread takes the lane: state "start". */
void lane_take(struct lane *l, int tid, bool is_main);

/* Before the first lane_enter() of a site in this lane. False when there is no room. */
bool lane_prepare_site(struct lane *l, struct writer *w, uint32_t site);

/* The call enters. */
void lane_enter(struct lane *l, uint32_t site);

/* The call returned, or was left at some time before now. */
void lane_leave(struct lane *l);

/* A poll enters; its outcome will tell whether that was an event. */
void lane_enter_poll(struct lane *l, uint32_t site);
void lane_leave_poll(struct lane *l, bool failed);

/* ---- The fast path: here to be inlined ------------------------------------------------------ */

/* A word that only this thread writes. */
static inline void lane_add(_Atomic uint64_t *word, uint64_t n)
{
	atomic_store_explicit(word, atomic_load_explicit(word, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

/* The sequence lock of struct seg_current: a section begins with an odd number and ends with the
 * next even one. A section that the thread was thrown out of (a signal handler's longjmp) is
 * closed by the next one. */
static inline uint32_t lane_section_begin(struct lane *l)
{
	uint32_t seq = atomic_load_explicit(&l->seg->current.seq, memory_order_relaxed) | 1;

	atomic_store_explicit(&l->seg->current.seq, seq, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	return seq;
}

static inline void lane_section_end(struct lane *l, uint32_t seq)
{
	atomic_store_explicit(&l->seg->current.seq, seq + 1, memory_order_release);
}

/* One event: into `to` at `now`, counted in `t` (NULL: no room). Within a section. */
static inline __attribute__((always_inline)) void
lane_event(struct lane *l, struct seg_transition *t, uint32_t to, uint64_t now)
{
	struct seg_current *current = &l->seg->current;
	uint64_t events = atomic_load_explicit(&current->events, memory_order_relaxed);

	if (__builtin_expect(t != NULL, 1))
		lane_add(&t->count, 1);
	struct seg_state *stats = &l->states[l->state];
	uint64_t stay = now - atomic_load_explicit(&current->since, memory_order_relaxed);
	if (stay > atomic_load_explicit(&stats->longest, memory_order_relaxed))
		atomic_store_explicit(&stats->longest, stay, memory_order_relaxed);
	struct seg_event *slot = &l->ring[events & l->ring_mask];
	atomic_store_explicit(&slot->ticks, now, memory_order_relaxed);
	atomic_store_explicit(&slot->state, to, memory_order_relaxed);
	l->state = to;
	atomic_store_explicit(&current->state, to, memory_order_relaxed);
	atomic_store_explicit(&current->since, now, memory_order_relaxed);
	atomic_store_explicit(&current->events, events + 1, memory_order_relaxed);
	if (__builtin_expect(l->poll_site, 0)) {
		l->poll_site = 0;
		atomic_store_explicit(&current->poll_site, 0, memory_order_relaxed);
		atomic_store_explicit(&current->in_poll, 0, memory_order_relaxed);
		atomic_store_explicit(&current->polls, 0, memory_order_relaxed);
	}
}

/* The event, if the hint knows its transition. False: nothing done. */
static inline __attribute__((always_inline)) bool lane_fast_event(struct lane *l, uint32_t to,
								  uint64_t now)
{
	struct lane_hint hint = l->hints[l->state];

	if (__builtin_expect(hint.to != to, 0))
		return false;
	uint32_t seq = lane_section_begin(l);
	lane_event(l, &l->transitions[hint.transition], to, now);
	lane_section_end(l, seq);
	return true;
}

#endif
