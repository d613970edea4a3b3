/* SPDX-License-Identifier: BSD-3-Clause
 * Notes of collectives (struct seg_note): values that differ between members and must be compared
 * with theirs. Only the lane's thread writes them.
 *	uint32_t *entries = notes_begin(lane, SEG_NOTE_GIVES, comm, number, unit, num);
 *	if (entries) {
 *		...
 *		notes_end(lane);
 *	}
 */
#pragma once

#include "model/recorder/lane.h"

/* A note of that collective, which is of a communicator that there is. Room for `num` entries,
 * which are to be filled in; NULL: no room, or too many. */
uint32_t *notes_begin(struct lane *l, enum seg_note_kind kind, uint32_t comm, uint64_t number,
		      uint64_t unit, uint32_t num);
/* It is complete. */
static inline void notes_end(struct lane *l)
{
	atomic_store_explicit(&l->seg->note_last, l->note, memory_order_release);
}

/* A number as an entry; UINT32_MAX: not known, or too large. */
static inline uint32_t notes_entry(int64_t value)
{
	return value < 0 || value >= INT32_MAX ? UINT32_MAX : (uint32_t)value;
}
