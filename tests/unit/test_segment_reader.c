/* SPDX-License-Identifier: BSD-3-Clause
 * A segment becomes a model; looks at it; and all that while a writer is at work. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/job/model.h"
#include "model/segment/segment_reader.h"
#include "model/xalloc.h"
#include "tests/unit/segment_sample.h"

static void assert_sample(const struct model *model, uint64_t start)
{
	const struct model_lane *lane = &model->lanes[0];

	assert_int_equal(model->rank, 3);
	assert_int_equal(model->size, 8);
	assert_int_equal(model->pid, getpid());
	assert_int_equal(model->life, SEG_LIFE_RUNNING);
	assert_string_equal(model->program->job, "test-job@1");
	assert_int_equal(model->num_modules, 2);
	assert_string_equal(model->modules[1].path, "/bin/app");
	assert_int_equal(model->modules[1].build_id_size, 20);
	assert_int_equal(model->num_frames, 7);
	assert_int_equal(model->frames[3].module, SEG_NO_FRAME);
	assert_int_equal(model->frames[6].parent, 3);
	assert_int_equal(model->frames[6].offset, 0x1320);
	assert_int_equal(model->num_sites, 5);
	assert_int_equal(model->sites[0].frame, SEG_NO_FRAME);
	assert_string_equal(model->sites[0].name, "start");
	assert_string_equal(model->sites[RECV].name, "MPI_Recv");
	assert_int_equal(model->sites[RECV].class_id, SEG_CLASS_RECV);
	assert_int_equal(model->num_lanes, 2);

	assert_true(lane->is_main && lane->is_consistent && !lane->has_ended);
	assert_int_equal(lane->tid, 4031);
	assert_int_equal(lane->state, SEG_STATE_ENTER(RECV));
	assert_int_equal(lane->events, 403);
	assert_int_equal(lane->since_ns, start + 1000 + 2 + 100 * 14 + 500);
	assert_int_equal(lane->first_ns, start);
	assert_int_equal(lane->num_transitions, 8);
	assert_int_equal(lane->transitions[3].from, SEG_STATE_ENTER(SEND));
	assert_int_equal(lane->transitions[3].to, SEG_STATE_EXIT(SEND));
	assert_int_equal(lane->transitions[3].count, 100);
	/* called by two ways, 101 times; the last one has not returned */
	assert_int_equal(lane->transitions[5].from, SEG_STATE_ENTER(RECV));
	assert_int_equal(lane->transitions[5].to, SEG_STATE_EXIT(RECV));
	assert_int_equal(lane->transitions[5].count, 100);
	assert_int_equal(lane->longest_ns[SEG_STATE_EXIT(SEND)], 11);
	assert_int_equal(lane->num_ring, 64);
	assert_int_equal(lane->ring[63].state, lane->state);
	assert_int_equal(lane->ring[63].ns, lane->since_ns);
	assert_int_equal(lane->ring[62].state, SEG_STATE_EXIT(RECV));
	assert_int_equal(lane->ring[62].ns, lane->since_ns - 501);

	lane = &model->lanes[1];
	assert_false(lane->is_main);
	assert_int_equal(lane->num_ring, 4);
	assert_int_equal(lane->ring[0].state, SEG_STATE_ENTER(SEND));
	assert_int_equal(lane->ring[0].ns, start + 2000);
	assert_int_equal(lane->poll_site, TEST);
	assert_int_equal(lane->polls, 12345);
	assert_int_equal(lane->last_poll_ns, start + 3000000);
	assert_int_equal(lane->state_polls[SEG_STATE_ENTER(TEST)], 12345);
}

static void test_read(void **state)
{
	static const uint32_t extras[] = {0, 8, 4096 - 40};

	(void)state;
	for (size_t i = 0; i < NUM_OF(extras); i++) {
		struct segment_writer *w = make_sample();
		uint64_t before = clock_ns(), after;
		struct model *model;

		/* Entries of a later version are larger. */
		w->extra = extras[i];
		model = segment_writer_model(w);
		assert_sample(model, w->start);
		after = clock_ns();
		assert_in_range(model->now_ns, before, after);
		model_destroy(model);
		segment_writer_destroy(w);
	}
	model_destroy(NULL);
}

static void test_lives(void **state)
{
	struct segment_writer *w = make_sample();

	(void)state;
	for (enum seg_life life = SEG_LIFE_STARTING; life <= SEG_LIFE_STOPPED; life++) {
		struct model *model;

		w->header.life = life;
		model = segment_writer_model(w);
		assert_int_equal(model->life, life);
		model_destroy(model);
	}
	segment_writer_destroy(w);
}

static void test_no_lane(void **state)
{
	struct segment_writer *w = segment_writer_create(-1, 0);
	struct model *model = segment_writer_model(w);

	(void)state;
	assert_int_equal(model->rank, -1);
	assert_int_equal(model->num_lanes, 0);
	assert_int_equal(model->num_sites, 1);
	model_destroy(model);
	segment_writer_destroy(w);
}

static void test_lane_before_first_call(void **state)
{
	struct segment_writer *w = segment_writer_create(0, 1);
	struct model *model;

	(void)state;
	segment_writer_lane(w, true, 1);
	segment_writer_lane(w, false, 2);
	w->lanes[1].head.use = SEG_LANE_FREE;
	w->lanes[1].head.current.state = 0;
	model = segment_writer_model(w);
	assert_int_equal(model->lanes[0].state, SEG_STATE_EXIT(0));
	assert_int_equal(model->lanes[0].num_ring, 0);
	assert_false(model->lanes[0].has_ended);
	assert_int_equal(model->lanes[1].state, SEG_STATE_EXIT(0));
	assert_true(model->lanes[1].has_ended);
	model_destroy(model);
	segment_writer_destroy(w);
}

/* A thread that takes an ended lane over begins anew; the ring still holds the old one's events. */
static void test_lane_taken_over(void **state)
{
	struct segment_writer *w = make_sample();
	struct seg_lane *head = &w->lanes[0].head;
	struct model *model;

	(void)state;
	head->first_ticks = w->start + 1000000;
	head->current.since = head->first_ticks;
	head->current.state = SEG_STATE_EXIT(0);
	model = segment_writer_model(w);
	assert_true(model->lanes[0].is_consistent);
	assert_int_equal(model->lanes[0].num_ring, 0);
	assert_int_equal(model->lanes[0].num_transitions, 8);
	model_destroy(model);
	segment_writer_go(w, 0, SEG_STATE_ENTER(SEND), 1000001);
	model = segment_writer_model(w);
	assert_int_equal(model->lanes[0].num_ring, 1);
	assert_int_equal(model->lanes[0].ring[0].state, SEG_STATE_ENTER(SEND));
	model_destroy(model);
	segment_writer_destroy(w);
}

/* A writer that was killed in the middle leaves an odd sequence number. */
static void test_locked_for_ever(void **state)
{
	struct segment_writer *w = make_sample();
	struct model *model;

	(void)state;
	w->lanes[0].head.current.seq |= 1;
	model = segment_writer_model(w);
	assert_false(model->lanes[0].is_consistent);
	assert_true(model->lanes[1].is_consistent);
	assert_int_equal(model->lanes[0].state, SEG_STATE_ENTER(RECV));
	/* The oldest entry may have been half overwritten. */
	assert_int_equal(model->lanes[0].num_ring, 63);
	model_destroy(model);
	segment_writer_destroy(w);
}

/* ---- Looks, and a writer at work ---- */

static void test_look(void **state)
{
	struct segment_writer *w = make_sample();
	struct segment_look looks[2] = {0};
	struct pdb_error err = {0};
	uint8_t *bytes;
	size_t size = segment_writer_bytes(w, &bytes);
	int fd = segment_bytes_fd(bytes, size);

	(void)state;
	assert_int_equal(segment_look(fd, looks, 2, &err), 2);
	assert_int_equal(looks[0].events, 403);
	assert_int_equal(looks[0].state, SEG_STATE_ENTER(RECV));
	assert_int_equal(looks[1].polls, 12345);
	looks[1].polls = 1;
	assert_int_equal(segment_look(fd, looks, 1, &err), 2);
	assert_int_equal(looks[1].polls, 1);
	assert_int_equal(segment_look(fd, NULL, 0, &err), 2);
	close(fd);
	fd = segment_bytes_fd(bytes, 100);
	assert_int_equal(segment_look(fd, looks, 2, &err), -1);
	assert_error(&err, ERROR_FORMAT, "truncated");
	close(fd);
	free(bytes);
	segment_writer_destroy(w);
}

/* As many ways into calls as a segment can hold, and each call's return. */
static void test_all_transitions(void **state)
{
	enum { SITES = 4096, WAYS = SEG_MAX_TRANSITIONS / SITES };
	struct segment_writer *w = segment_writer_create(0, 1);
	uint32_t lane = segment_writer_lane(w, true, 4031);
	struct segment_writer_lane *to = &w->lanes[lane];
	struct model *model;
	uint32_t site = 0;

	(void)state;
	while (site < SITES)
		site = segment_writer_site(w, SEG_NO_FRAME, "MPI_Send", SEG_CLASS_SEND);
	to->num_transitions = SEG_MAX_TRANSITIONS;
	to->transitions = xcalloc(to->num_transitions, sizeof(*to->transitions));
	for (uint32_t i = 0; i < SEG_MAX_TRANSITIONS; i++)
		to->transitions[i] = (struct seg_transition){.from = SEG_STATE_EXIT(1 + i % WAYS),
							     .to = SEG_STATE_ENTER(1 + i / WAYS),
							     .count = 1};
	model = segment_writer_model(w);
	assert_int_equal(model->lanes[0].num_transitions, SEG_MAX_TRANSITIONS + SITES);
	assert_int_equal(model->lanes[0].transitions[1].count, WAYS);
	model_destroy(model);
	segment_writer_destroy(w);
}

struct busy_writer {
	struct places places;
	_Atomic bool stop;
};

/* Send and receive in turns, with the same order of stores as the recorder has. */
static void *write_busily(void *cookie)
{
	struct busy_writer *busy = cookie;
	struct seg_current *current = &busy->places.lane->current;
	struct seg_transition *made = busy->places.transitions;
	uint64_t events = current->events, ticks = current->since;
	uint32_t seq = current->seq, from = current->state;

	while (!busy->stop) {
		uint32_t to = from & 1 ? SEG_STATE_ENTER(SEG_STATE_SITE(from) == SEND ? RECV : SEND)
				       : (from | 1);
		struct seg_event *event = &busy->places.ring[events & 63];

		atomic_store_explicit(&current->seq, ++seq, memory_order_relaxed);
		atomic_thread_fence(memory_order_release);
		while (!SEG_STATE_IS_EXIT(to) && (made->from != from || made->to != to))
			made = made == busy->places.transitions + 4 ? busy->places.transitions
								    : made + 1;
		if (!SEG_STATE_IS_EXIT(to))
			made->count++;
		event->ticks = ++ticks;
		event->state = to;
		current->state = from = to;
		current->since = ticks;
		current->events = ++events;
		atomic_store_explicit(&current->seq, ++seq, memory_order_release);
		/* Rest now and then, in a call and out of it, so that both kinds of copy happen. */
		if (events % 4095 == 0)
			usleep(100);
	}
	return NULL;
}

static void check_busy_lane(const struct model_lane *lane)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < lane->num_transitions; i++)
		sum += lane->transitions[i].count;
	if (lane->is_consistent) {
		assert_int_equal(sum, lane->events);
		assert_int_equal(lane->num_ring, 64);
		assert_int_equal(lane->ring[63].ns, lane->since_ns);
	}
	for (size_t i = 1; i < lane->num_ring; i++) {
		assert_int_equal(lane->ring[i].ns, lane->ring[i - 1].ns + 1);
		assert_int_equal(lane->ring[i].state & 1, !(lane->ring[i - 1].state & 1));
	}
}

static void test_busy(void **state)
{
	struct segment_writer *w = make_sample();
	struct busy_writer busy = {0};
	pthread_t thread;
	uint8_t *bytes, *map;
	size_t size;
	int fd, num_consistent = 0;

	(void)state;
	/* The whole ring is of this loop, one ns after the other. */
	segment_writer_go(w, 0, SEG_STATE_EXIT(RECV), 10000);
	for (uint64_t i = 0, ns = 20000; i < 40; i++)
		ns = segment_writer_call(w, 0, RECV, 1, segment_writer_call(w, 0, SEND, 1, ns));
	w->header.start_ticks = w->header.start_mono_ns = w->start;
	size = segment_writer_bytes(w, &bytes);
	fd = segment_bytes_fd(bytes, size);
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(map != MAP_FAILED);
	busy.places = find_places(map, size);
	assert_int_equal(pthread_create(&thread, NULL, write_busily, &busy), 0);
	for (int round = 0; round < 2000; round++) {
		struct pdb_error err = {0};
		struct model *model;

		if (segment_read(fd, &model, &err) < 0)
			fail_msg("%s", err.text);
		num_consistent += model->lanes[0].is_consistent;
		check_busy_lane(&model->lanes[0]);
		model_destroy(model);
	}
	busy.stop = true;
	pthread_join(thread, NULL);
	assert_true(num_consistent > 0);
	munmap(map, size);
	close(fd);
	free(bytes);
	segment_writer_destroy(w);
}

/* A one-sided call that only looks is a poll, until it has to wait. */
static void test_blocked_look(void **state)
{
	static const struct {
		enum seg_class class_id;
		bool is_in, is_late, is_blocked;
	} cases[] = {
		{SEG_CLASS_RMA_SYNC, true, false, true},   {SEG_CLASS_RMA, true, false, true},
		{SEG_CLASS_RMA_SYNC, false, false, false}, {SEG_CLASS_POLL, true, false, false},
		{SEG_CLASS_RMA_SYNC, true, true, false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct segment_writer *w = make_sample();
		struct seg_current *current = &w->lanes[1].head.current;
		uint32_t site = segment_writer_site(w, 0, "MPI_Win_lock", cases[i].class_id);
		struct timespec now;
		struct model *model;

		clock_gettime(CLOCK_MONOTONIC, &now);
		segment_writer_poll(w, 1, site, 1, 4000000);
		current->in_poll = cases[i].is_in;
		if (cases[i].is_late)
			current->poll_ticks =
				(uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
		model = segment_writer_model(w);
		const struct model_lane *lane = &model->lanes[1];
		assert_int_equal(lane->state == SEG_STATE_ENTER(site), cases[i].is_blocked);
		assert_int_equal(lane->poll_site, cases[i].is_blocked ? 0 : site);
		assert_int_equal(lane->polls, cases[i].is_blocked ? 0 : 12346);
		assert_int_equal(lane->in_poll, cases[i].is_in && !cases[i].is_blocked);
		assert_int_equal(lane->num_ring, 4);
		assert_int_equal(lane->ring[3].state, lane->state);
		if (cases[i].is_blocked)
			assert_int_equal(lane->since_ns, w->start + 4000000);
		model_destroy(model);
		segment_writer_destroy(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_lives),
		cmocka_unit_test(test_blocked_look),
		cmocka_unit_test(test_no_lane),
		cmocka_unit_test(test_lane_before_first_call),
		cmocka_unit_test(test_lane_taken_over),
		cmocka_unit_test(test_locked_for_ever),
		cmocka_unit_test(test_look),
		cmocka_unit_test(test_all_transitions),
		cmocka_unit_test(test_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
