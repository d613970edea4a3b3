/* SPDX-License-Identifier: BSD-3-Clause
 * The notes of a segment's lanes: what threads told of their last collectives. One that is being
 * written over, or is not of the communicator that has the entry now, is left out; so is what comes
 * before it. */

#include "model/job/model.h"
#include "model/segment/segment_private.h"

enum { HEADER = sizeof(struct seg_note) / sizeof(uint32_t) };

int reader_read_notes(struct reader *r, uint64_t base, struct raw_lane *raw)
{
	uint64_t words = raw->head.note_words, offset = raw->head.note_offset;

	raw->notes = NULL;
	if (offset == 0 || raw->head.note_last == 0)
		return 0;
	if (words == 0 || words > SEG_NOTE_WORDS || (words & (words - 1)) ||
	    offset > r->header.lane_size ||
	    words * sizeof(*raw->notes) > r->header.lane_size - offset)
		return READER_CORRUPT(r, "%llu words of notes", (unsigned long long)words);
	if (reader_spend(r, words * sizeof(*raw->notes)) < 0)
		return -1;
	raw->notes = arena_array(raw->arena, words, sizeof(*raw->notes));
	if (segment_pread(r->fd, raw->notes, words * sizeof(*raw->notes), base + offset, r->err) <
	    0)
		return -1;
	atomic_thread_fence(memory_order_acquire);
	return segment_pread(r->fd, &raw->note_end, sizeof(raw->note_end),
			     base + offsetof(struct seg_lane, note_end), r->err);
}

/* The whole note at a position; false: it is not there any more, or is none. */
static bool find_note(const struct raw_lane *raw, uint64_t at, struct seg_note *note)
{
	uint64_t words = raw->head.note_words, end = raw->note_end, from = at % words;

	if (at % 2 || at > end || end - at < HEADER || end - at > words || from + HEADER > words)
		return false;
	memcpy(note, &raw->notes[from], sizeof(*note));
	return note->num <= SEG_MAX_NOTED && note->num <= words - from - HEADER &&
	       note->num <= end - at - HEADER && note->kind > 0 && note->kind < SEG_NUM_NOTES;
}

/* Is it of a collective that its communicator remembers? */
static bool is_wanted(const struct model *model, const struct seg_note *note)
{
	const struct model_comm *comm;

	if (note->comm >= model->num_comms || note->num == 0)
		return false;
	comm = &model->comms[note->comm];
	if (comm->id == 0 || comm->id != note->id)
		return false;
	return note->kind == SEG_NOTE_LEADER ||
	       (note->number <= comm->collectives && comm->collectives - note->number < SEG_RECENT);
}

static void add_note(struct model_lane *lane, const struct seg_note *note, const uint32_t *entries)
{
	lane->notes[lane->num_notes++] = (struct model_note){
		.number = note->number,
		.comm = note->comm,
		.kind = note->kind,
		.unit = note->unit,
		.first = (uint32_t)lane->num_note_entries,
		.num = note->num,
	};
	for (uint32_t i = 0; i < note->num; i++)
		lane->note_entries[lane->num_note_entries++] =
			entries[i] > INT32_MAX ? UINT32_MAX : entries[i];
}

int reader_finish_notes(struct reader *r, size_t number)
{
	struct model_lane *lane = &r->model->lanes[number];
	const struct raw_lane *raw = &r->raw[number];
	uint64_t at = raw->head.note_last;
	struct seg_note note;

	if (!raw->notes)
		return 0;
	if (reader_spend(r, MODEL_MAX_NOTES * sizeof(*lane->notes) +
				    MODEL_MAX_NOTED * sizeof(*lane->note_entries)) < 0)
		return -1;
	lane->notes = xcalloc(MODEL_MAX_NOTES, sizeof(*lane->notes));
	lane->note_entries = xcalloc(MODEL_MAX_NOTED, sizeof(*lane->note_entries));
	while (lane->num_notes < MODEL_MAX_NOTES && find_note(raw, at, &note)) {
		if (is_wanted(r->model, &note)) {
			if (note.num > MODEL_MAX_NOTED - lane->num_note_entries)
				break;
			add_note(lane, &note, &raw->notes[at % raw->head.note_words + HEADER]);
		}
		if (note.back < HEADER || note.back > at)
			break;
		at -= note.back;
	}
	lane->note_entries = xreallocarray(lane->note_entries, lane->num_note_entries + 1,
					   sizeof(*lane->note_entries));
	return 0;
}
