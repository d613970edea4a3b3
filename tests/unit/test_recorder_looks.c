/* SPDX-License-Identifier: BSD-3-Clause
 * One-sided calls that only look: which of them are polls, and what is recorded around them. */
#include "model/recorder/looks.h"

#include <errno.h>
#include <sys/mman.h>

#include "model/recorder/operation.h"
#include "model/recorder/recorder.h"
#include "tests/unit/recorder_lanes.h"

enum { STEP = 1, GET, OTHER, FLUSH, LOCK, WINDOW = 3 };

static int answer, compared;

static uint64_t count_of(const struct lane *l, uint32_t from, uint32_t to)
{
	uint32_t num = l->seg->tables[SEG_LANE_TRANSITIONS].count;

	for (uint32_t i = 0; i < num; i++)
		if (l->transitions[i].from == from && l->transitions[i].to == to)
			return l->transitions[i].count;
	return 0;
}

static void step(struct lane *l, uint32_t site)
{
	l->site = site;
	l->entry = NULL;
	l->now = ticks_now();
	recorder_enter(l);
	recorder_leave(l);
}

/* As the wrapper of a call that may only look; `given` is its answer when it returns. */
static void look_with(struct lane *l, uint32_t site, struct look look, int given)
{
	l->site = site;
	l->entry = NULL;
	l->now = ticks_now();
	if (!looks_are_due(l)) {
		operation_local(l);
		recorder_enter(l);
		answer = given;
		recorder_leave(l);
		return;
	}
	looks_begin(l, &look);
	operation_local(l);
	recorder_enter_look(l);
	answer = given;
	recorder_leave_look(l);
}

static void get(struct lane *l, int32_t target, int given)
{
	look_with(l, GET,
		  (struct look){.kind = LOOK_ASKS,
				.window = WINDOW,
				.target = target,
				.answer = &answer,
				.bytes = sizeof(answer)},
		  given);
}

static void flush(struct lane *l, int32_t target)
{
	look_with(l, FLUSH, (struct look){.kind = LOOK_SYNC, .window = WINDOW, .target = target},
		  answer);
}

static void rounds(struct lane *l, int num)
{
	for (int i = 0; i < num; i++) {
		get(l, 0, 5);
		flush(l, 0);
	}
}

static void test_rounds_are_polls(void **state)
{
	struct lane *l = *state;
	struct seg_current *current = &l->seg->current;
	struct seg_operation *operation = &l->seg->operation;

	step(l, STEP);
	rounds(l, 60);
	uint64_t events = current->events, since = current->since, polls = current->polls;
	assert_true(events < 300);
	assert_true(polls > 0);
	rounds(l, 1000);
	assert_int_equal(current->events, events);
	assert_int_equal(current->since, since);
	assert_int_equal(current->polls, polls + 2000);
	/* Always at the end of a round. */
	assert_int_equal(current->state, SEG_STATE_EXIT(FLUSH));
	assert_int_equal(current->poll_site, FLUSH);
	assert_int_equal(current->in_poll, 0);
	assert_int_equal(operation->kind, SEG_OPERATION_LOOK);
	assert_int_equal(operation->event, events);
	assert_int_equal(operation->transfers[0].comm, WINDOW);
	assert_int_equal(operation->transfers[0].peer, 0);
	/* The next step comes from the last look. */
	step(l, STEP);
	assert_int_equal(current->events, events + 2);
	assert_int_equal(current->polls, 0);
	assert_int_equal(count_of(l, SEG_STATE_EXIT(FLUSH), SEG_STATE_ENTER(STEP)), 1);
	/* And all begins anew. */
	rounds(l, 1);
	assert_int_equal(current->events, events + 6);
}

static void test_step_within_round(void **state)
{
	struct lane *l = *state;

	step(l, STEP);
	rounds(l, 100);
	get(l, 0, 5);
	uint64_t events = l->seg->current.events;
	step(l, STEP);
	/* The events of the look that had left the recorded state behind, then the step's own. */
	assert_int_equal(l->seg->current.events, events + 4);
	assert_int_equal(count_of(l, SEG_STATE_EXIT(GET), SEG_STATE_ENTER(STEP)), 1);
	assert_int_equal(count_of(l, SEG_STATE_EXIT(FLUSH), SEG_STATE_ENTER(STEP)), 0);
	for (uint64_t e = events - 8; e < events + 4; e++)
		assert_int_equal(SEG_STATE_IS_EXIT(l->ring[e % 64].state), e % 2);
}

static void test_new_answer_is_an_event(void **state)
{
	struct lane *l = *state;
	struct seg_current *current = &l->seg->current;

	rounds(l, 100);
	uint64_t events = current->events;
	get(l, 0, 6);
	assert_int_equal(current->events, events);
	flush(l, 0);
	/* Both calls of the round, and the polling is over. */
	assert_int_equal(current->events, events + 4);
	assert_int_equal(current->state, SEG_STATE_EXIT(FLUSH));
	assert_int_equal(current->polls, 0);
	for (int i = 0; i < 1000; i++) {
		get(l, 0, i);
		flush(l, 0);
	}
	assert_int_equal(current->events, events + 4 + 4000);
}

static void test_other_calls_are_events(void **state)
{
	struct lane *l = *state;
	struct seg_current *current = &l->seg->current;

	/* A step in each round. */
	for (int i = 0; i < 500; i++) {
		rounds(l, 1);
		step(l, STEP);
	}
	assert_int_equal(current->events, 3000);
	/* One that changes something, once it is looked at. */
	for (int i = 0; i < 500; i++)
		look_with(l, OTHER, (struct look){.kind = LOOK_STEP, .window = WINDOW}, 0);
	assert_int_equal(current->events, 4000);
	/* More different ones than are remembered. */
	for (int i = 0; i < 5000; i++)
		get(l, i % (LOOKS_MAX + 1), 5);
	assert_int_equal(current->events, 14000);
	/* More than an answer's bytes. */
	for (int i = 0; i < 500; i++)
		look_with(l, GET,
			  (struct look){.kind = LOOK_ASKS,
					.window = WINDOW,
					.answer = &answer,
					.bytes = LOOKS_BYTES + 1},
			  0);
	assert_int_equal(current->events, 15000);
	assert_int_equal(current->polls, 0);
}

static void test_new_look_ends_polling(void **state)
{
	struct lane *l = *state;

	rounds(l, 100);
	uint64_t events = l->seg->current.events;
	look_with(l, LOCK, (struct look){.kind = LOOK_OTHER, .window = WINDOW}, answer);
	assert_int_equal(l->seg->current.events, events + 2);
	assert_int_equal(l->seg->current.state, SEG_STATE_EXIT(LOCK));
	assert_int_equal(count_of(l, SEG_STATE_EXIT(FLUSH), SEG_STATE_ENTER(LOCK)), 1);
}

/* Windows of several ranks, with a failed MPI_Iprobe in between, are one round. */
static void test_several_targets(void **state)
{
	struct lane *l = *state;

	for (int i = 0; i < 1000; i++) {
		get(l, i % 5, 5);
		flush(l, i % 5);
		lane_enter_poll(l, OTHER, ticks_now());
		lane_leave_poll(l, true);
	}
	assert_true(l->seg->current.events < 300);
	assert_true(l->seg->current.polls > 2000);
	assert_int_equal(l->seg->current.state, SEG_STATE_EXIT(FLUSH));
}

static void swap(struct lane *l, enum look_kind kind, int given)
{
	look_with(l, OTHER,
		  (struct look){.kind = kind,
				.what = kind,
				.window = WINDOW,
				.answer = &answer,
				.other = &compared,
				.bytes = sizeof(answer)},
		  given);
	flush(l, 0);
}

static void test_spin_locks(void **state)
{
	struct lane *l = *state;
	struct seg_current *current = &l->seg->current;

	/* Compared with 0, somebody has it: 1. */
	compared = 0;
	for (int i = 0; i < 500; i++)
		swap(l, LOOK_SWAPS, 1);
	assert_true(current->events < 300);
	uint64_t events = current->events;
	/* Had at last, and again and again: that changes it. */
	for (int i = 0; i < 500; i++)
		swap(l, LOOK_SWAPS, 0);
	assert_int_equal(current->events, events + 2000);
	/* 1 is stored where 1 is. That is noticed after a rest: what came before were no polls. */
	compared = 1;
	events = current->events;
	for (int i = 0; i < 1500; i++)
		swap(l, LOOK_REPLACES, 1);
	assert_true(current->events < events + 2 * LOOKS_REST + 300);
	events = current->events;
	for (int i = 0; i < 500; i++)
		swap(l, LOOK_REPLACES, 0);
	assert_int_equal(current->events, events + 2000);
}

/* A buffer that cannot be read, as of a device, does no harm, and may have got anything. */
static void test_unreadable_answer(void **state)
{
	struct lane *l = *state;
	void *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(nowhere != MAP_FAILED);
	errno = 77;
	for (int i = 0; i < 500; i++) {
		look_with(l, GET,
			  (struct look){.kind = LOOK_ASKS,
					.window = WINDOW,
					.answer = nowhere,
					.bytes = sizeof(answer)},
			  0);
		flush(l, 0);
	}
	assert_int_equal(errno, 77);
	assert_int_equal(l->seg->current.events, 2000);
	munmap(nowhere, 4096);
}

/* An answer that nothing has completed is never read: its buffer may be gone, as after an error. */
static void test_buffer_gone(void **state)
{
	struct lane *l = *state;
	uint64_t *buffer =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct look asks = {
		.kind = LOOK_ASKS, .window = WINDOW, .answer = buffer, .bytes = sizeof(*buffer)};

	assert_true(buffer != MAP_FAILED);
	for (int i = 0; i < 200; i++) {
		look_with(l, GET, asks, 0);
		flush(l, 0);
	}
	look_with(l, GET, asks, 0);
	munmap(buffer, 4096);
	look_with(l, GET, asks, 0);
	flush(l, 0);
}

static void test_next_thread(void **state)
{
	struct lane *l = *state;

	rounds(l, 100);
	lane_take(l, 99, false);
	uint64_t events = l->seg->current.events;
	rounds(l, 5);
	assert_int_equal(l->seg->current.events, events + 20);
	assert_int_equal(count_of(l, SEG_STATE_EXIT(0), SEG_STATE_ENTER(GET)), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rounds_are_polls, setup, teardown),
		cmocka_unit_test_setup_teardown(test_step_within_round, setup, teardown),
		cmocka_unit_test_setup_teardown(test_new_answer_is_an_event, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_calls_are_events, setup, teardown),
		cmocka_unit_test_setup_teardown(test_new_look_ends_polling, setup, teardown),
		cmocka_unit_test_setup_teardown(test_several_targets, setup, teardown),
		cmocka_unit_test_setup_teardown(test_spin_locks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unreadable_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_buffer_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_next_thread, setup, teardown),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
