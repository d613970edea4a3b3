/* SPDX-License-Identifier: BSD-3-Clause
 * Notes of collectives: what a reader of the ring finds, however often it has been gone round. */
#include "model/recorder/notes.h"

#include "model/recorder/comms.h"
#include "tests/unit/recorder_lanes.h"

enum { HEADER = sizeof(struct seg_note) / sizeof(uint32_t) };

static int setup_comms(void **state)
{
	if (setup(state) != 0)
		return -1;
	memset(&comms_here, 0, sizeof(comms_here));
	comms_predefine(&comms_here, &fix.writer, 1, 4);
	return 0;
}

static const struct seg_note *note_at(const struct lane *l, uint64_t at)
{
	const uint32_t *ring = (const uint32_t *)((const char *)l->seg + l->seg->note_offset);

	return (const struct seg_note *)&ring[at % SEG_NOTE_WORDS];
}

static const uint32_t *entries_of(const struct seg_note *note)
{
	return (const uint32_t *)(note + 1);
}

static void add_note(struct lane *l, uint64_t number, uint32_t num)
{
	uint32_t *entries = notes_begin(l, SEG_NOTE_GIVES, 0, number, 8, num);

	assert_non_null(entries);
	for (uint32_t i = 0; i < num; i++)
		entries[i] = (uint32_t)number + i;
	notes_end(l);
}

static void test_first(void **state)
{
	struct lane *l = *state;
	const struct seg_note *note;

	assert_int_equal(l->seg->note_offset, 0);
	assert_int_equal(l->seg->note_last, 0);
	add_note(l, 7, 3);
	assert_int_equal(l->seg->note_words, SEG_NOTE_WORDS);
	note = note_at(l, l->seg->note_last);
	assert_int_equal(note->number, 7);
	assert_int_equal(note->id, comms_here.entries[0].id);
	assert_int_equal(note->comm, 0);
	assert_int_equal(note->back, 0);
	assert_int_equal(note->kind, SEG_NOTE_GIVES);
	assert_int_equal(note->num, 3);
	assert_int_equal(note->unit, 8);
	assert_int_equal(entries_of(note)[2], 9);
	assert_int_equal(l->seg->note_end, l->seg->note_last + HEADER + 4);
	assert_int_equal(fix.lanes[1]->seg->note_offset, 0);
}

/* Back from the last one: all numbers in turn, as far as they are whole. */
static void test_round(void **state)
{
	struct lane *l = *state;

	for (uint64_t n = 1; n <= 5000; n++) {
		uint64_t at, number = n;

		add_note(l, n, (uint32_t)(n * 37 % 900 + 1));
		for (at = l->seg->note_last; at + SEG_NOTE_WORDS >= l->seg->note_end;) {
			const struct seg_note *note = note_at(l, at);

			assert_int_equal(at % 2, 0);
			assert_int_equal(note->number, number);
			assert_in_range(note->num, 1,
					SEG_NOTE_WORDS - at % SEG_NOTE_WORDS - HEADER);
			assert_int_equal(entries_of(note)[note->num - 1], number + note->num - 1);
			if (note->back == 0)
				break;
			at -= note->back;
			number--;
		}
		assert_true(n < 8 || number + 4 <= n);
	}
}

static void test_refused(void **state)
{
	struct lane *l = *state;

	assert_null(notes_begin(l, SEG_NOTE_GIVES, SEG_NO_COMM, 1, 8, 1));
	assert_null(notes_begin(l, SEG_NOTE_GIVES, 0, 1, 1ull << 32, 1));
	assert_null(notes_begin(l, SEG_NOTE_GIVES, 0, 1, 8, SEG_MAX_NOTED + 1));
	assert_int_equal(l->seg->note_offset, 0);
	add_note(l, 1, SEG_MAX_NOTED);
	/* Begun, and left by a longjmp: the last one is still the one before. */
	assert_non_null(notes_begin(l, SEG_NOTE_GIVES, 0, 2, 8, 1));
	assert_int_equal(note_at(l, l->seg->note_last)->number, 1);
	add_note(l, 3, 1);
	assert_int_equal(note_at(l, l->seg->note_last)->number, 3);
	assert_int_equal(
		note_at(l, l->seg->note_last - note_at(l, l->seg->note_last)->back)->number, 1);
}

static void test_no_room(void **state)
{
	struct lane *l = *state;

	fix.writer.exhausted = true;
	assert_null(notes_begin(l, SEG_NOTE_GIVES, 0, 1, 8, 1));
	fix.writer.exhausted = false;
	assert_null(notes_begin(l, SEG_NOTE_GIVES, 0, 1, 8, 1));
	assert_int_equal(l->seg->note_offset, 0);
}

static void test_entries(void **state)
{
	(void)state;
	assert_int_equal(notes_entry(0), 0);
	assert_int_equal(notes_entry(-1), UINT32_MAX);
	assert_int_equal(notes_entry(INT32_MAX - 1), INT32_MAX - 1);
	assert_int_equal(notes_entry(INT32_MAX), UINT32_MAX);
	assert_int_equal(notes_entry(INT64_MAX), UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_first, setup_comms, teardown),
		cmocka_unit_test_setup_teardown(test_round, setup_comms, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup_comms, teardown),
		cmocka_unit_test_setup_teardown(test_no_room, setup_comms, teardown),
		cmocka_unit_test(test_entries),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
