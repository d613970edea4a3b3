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
	uint32_t seq;
	uint32_t state;
	uint32_t poll_site; /* of the last poll since `state` was entered; 0: none */
	uint64_t since;
	uint64_t events;
	uint64_t polls;
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

/* A poll enters; the outcome says later whether it was an event. */
void lane_enter_poll(struct lane *l, uint32_t site);
void lane_leave_poll(struct lane *l, bool failed);

#endif
