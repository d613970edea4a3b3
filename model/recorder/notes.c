/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/notes.h"

#include "model/recorder/comms.h"
#include "model/recorder/slow.h"

enum { HEADER = sizeof(struct seg_note) / sizeof(uint32_t) };

/* The ring gets its pages, all at once. */
static COLD bool make_ring(struct lane *l)
{
	uint64_t offset = l->writer->note_offset;
	struct slow s;

	if (l->has_no_notes || !slow_begin(&s))
		return false;
	l->has_no_notes = !writer_lane_allocate(l->writer, l->index, offset,
						SEG_NOTE_WORDS * sizeof(uint32_t));
	slow_end(&s);
	if (l->has_no_notes)
		return false;
	l->notes = (uint32_t *)((char *)l->seg + offset);
	l->seg->note_words = SEG_NOTE_WORDS;
	relaxed_set(&l->seg->note_end, SEG_NOTE_WORDS);
	atomic_store_explicit(&l->seg->note_offset, (uint32_t)offset, memory_order_release);
	return true;
}

uint32_t *notes_begin(struct lane *l, enum seg_note_kind kind, uint32_t comm, uint64_t number,
		      uint64_t unit, uint32_t num)
{
	struct seg_lane *seg = l->seg;
	uint32_t size = (HEADER + num + 1) & ~1u;

	if (num > SEG_MAX_NOTED || unit > UINT32_MAX || !comms_has(&comms_here, comm) ||
	    (unlikely(!l->notes) && !make_ring(l)))
		return NULL;
	uint64_t last = relaxed_get(&seg->note_last), at = relaxed_get(&seg->note_end);
	if (at % SEG_NOTE_WORDS + size > SEG_NOTE_WORDS)
		at += SEG_NOTE_WORDS - at % SEG_NOTE_WORDS;
	l->note = at;
	relaxed_set(&seg->note_end, at + size);
	atomic_thread_fence(memory_order_release);
	uint32_t *words = &l->notes[at % SEG_NOTE_WORDS];
	*(struct seg_note *)words = (struct seg_note){
		.number = number,
		.id = comms_here.entries[comm].id,
		.comm = comm,
		.back = last > 0 ? (uint32_t)(at - last) : 0,
		.kind = kind,
		.num = num,
		.unit = (uint32_t)unit,
	};
	return words + HEADER;
}
