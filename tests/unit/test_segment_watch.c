/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/segment/segment_watch.h"
#include "tests/fixtures/segment_writer.h"
#include "tests/unit/unit.h"

#define MS UINT64_C(1000000)

/* A rank that sends and receives from main(), some times. */
struct rank {
	struct segment_writer *writer;
	uint32_t send, receive, lane;
};

/* frames_first: in another rank the same places may have got their numbers in another order. */
static struct rank make_rank(bool frames_first)
{
	struct rank rank = {.writer = segment_writer_create(0, 4)};
	struct segment_writer *w = rank.writer;
	uint32_t app, other, frame;

	if (frames_first) {
		other = segment_writer_module(w, "/lib/other.so");
		segment_writer_frame(w, SEG_NO_FRAME, other, 0x77);
	}
	app = segment_writer_module(w, "/bin/app");
	frame = segment_writer_frame(w, SEG_NO_FRAME, app, 0x1100);
	if (frames_first) {
		rank.receive = segment_writer_site(w, segment_writer_frame(w, frame, app, 0x2200),
						   "MPI_Recv", SEG_CLASS_RECV);
		rank.send = segment_writer_site(w, frame, "MPI_Send", SEG_CLASS_SEND);
	} else {
		rank.send = segment_writer_site(w, frame, "MPI_Send", SEG_CLASS_SEND);
		rank.receive = segment_writer_site(w, segment_writer_frame(w, frame, app, 0x2200),
						   "MPI_Recv", SEG_CLASS_RECV);
	}
	rank.lane = segment_writer_lane(w, true, 4031);
	return rank;
}

static struct segment_pulse read_rank(const struct rank *rank)
{
	struct segment_pulse pulse;
	struct segment_watch *watch;
	struct pdb_error err;
	uint8_t *bytes;
	size_t size = segment_writer_bytes(rank->writer, &bytes);

	watch = segment_watch_create(segment_bytes_fd(bytes, size), &err);
	assert_non_null(watch);
	assert_int_equal(segment_watch_read(watch, &pulse, &err), 0);
	/* What is kept from the first time gives the same answer. */
	struct segment_pulse again;
	assert_int_equal(segment_watch_read(watch, &again, &err), 0);
	assert_memory_equal(&again, &pulse, sizeof(pulse));
	segment_watch_destroy(watch);
	free(bytes);
	return pulse;
}

static void test_states(void **state)
{
	struct rank rank = make_rank(false);
	struct segment_writer *w = rank.writer;
	struct segment_pulse outside, inside, polling;

	(void)state;
	segment_writer_go(w, rank.lane, SEG_STATE_ENTER(rank.send), 1 * MS);
	segment_writer_go(w, rank.lane, SEG_STATE_EXIT(rank.send), 3 * MS);
	segment_writer_go(w, rank.lane, SEG_STATE_ENTER(rank.send), 10 * MS);
	segment_writer_go(w, rank.lane, SEG_STATE_EXIT(rank.send), 11 * MS);
	outside = read_rank(&rank);
	assert_false(outside.is_inside);
	assert_int_equal(outside.events, 4);
	assert_int_equal(outside.class_id, SEG_CLASS_SEND);
	assert_int_equal(outside.tid, 4031);
	assert_int_equal(outside.stays.num, 1);
	assert_int_equal(outside.stays.longest_ns, 7 * MS);
	assert_int_equal(outside.since_ns, w->start + 11 * MS);
	segment_writer_poll(w, rank.lane, rank.receive, 5, 12 * MS);
	polling = read_rank(&rank);
	assert_int_equal(polling.polls, 5);
	assert_int_equal(polling.events, 4);
	assert_int_equal(polling.since_ns, w->start + 11 * MS);
	assert_int_equal(outside.polled_ns, 0);
	assert_int_equal(polling.polled_ns, w->start + 12 * MS);
	/* What lies between two polls is like a stay. */
	segment_writer_poll(w, rank.lane, rank.receive, 1, 20 * MS);
	polling = read_rank(&rank);
	assert_int_equal(polling.stays.num, 1);
	assert_int_equal(polling.stays.longest_ns, 8 * MS);
	segment_writer_go(w, rank.lane, SEG_STATE_ENTER(rank.receive), 21 * MS);
	inside = read_rank(&rank);
	assert_true(inside.is_inside);
	assert_int_equal(inside.stays.num, 0);
	assert_int_equal(inside.class_id, SEG_CLASS_RECV);
	assert_true(inside.place != outside.place);
	segment_writer_destroy(w);
}

/* A place is the same number in all ranks, and its two sides are two places. */
static void test_places(void **state)
{
	struct rank a = make_rank(false), b = make_rank(true);
	uint64_t sides[2];

	(void)state;
	for (int side = 0; side < 2; side++) {
		uint64_t ns = (side + 1) * MS;

		segment_writer_go(a.writer, a.lane, SEG_STATE_ENTER(a.receive) + side, ns);
		segment_writer_go(b.writer, b.lane, SEG_STATE_ENTER(b.receive) + side, ns);
		sides[side] = read_rank(&a).place;
		assert_true(sides[side] == read_rank(&b).place);
	}
	assert_true(sides[0] != sides[1]);
	segment_writer_go(b.writer, b.lane, SEG_STATE_ENTER(b.send), 5 * MS);
	assert_true(read_rank(&b).place != sides[0]);
	segment_writer_destroy(a.writer);
	segment_writer_destroy(b.writer);
}

/* Of other ranks' places: all threads' stays that are over. */
static void test_stays_of_place(void **state)
{
	struct rank a = make_rank(false), b = make_rank(true);
	uint32_t worker = segment_writer_lane(b.writer, false, 4032);
	uint64_t place;
	struct segment_stays stays;
	struct segment_watch *watch;
	struct pdb_error err;
	uint8_t *bytes;
	size_t size;

	(void)state;
	segment_writer_go(a.writer, a.lane, SEG_STATE_ENTER(a.receive), 1 * MS);
	segment_writer_go(a.writer, a.lane, SEG_STATE_EXIT(a.receive), 2 * MS);
	place = read_rank(&a).place;
	for (int i = 0; i < 3; i++) {
		segment_writer_go(b.writer, b.lane, SEG_STATE_ENTER(b.receive), (20 * i + 1) * MS);
		segment_writer_go(b.writer, b.lane, SEG_STATE_EXIT(b.receive), (20 * i + 2) * MS);
	}
	segment_writer_go(b.writer, worker, SEG_STATE_ENTER(b.receive), 0);
	segment_writer_go(b.writer, worker, SEG_STATE_EXIT(b.receive), 1 * MS);
	segment_writer_go(b.writer, worker, SEG_STATE_ENTER(b.send), 50 * MS);
	size = segment_writer_bytes(b.writer, &bytes);
	watch = segment_watch_create(segment_bytes_fd(bytes, size), &err);
	assert_non_null(watch);
	assert_int_equal(segment_watch_stays(watch, place, &stays, &err), 0);
	assert_int_equal(stays.num, 3); /* two of one thread, which is there again, and one */
	assert_int_equal(stays.longest_ns, 49 * MS);
	/* Who is in the call has not come to what is after it; who is after it has ended all
	 * stays in it. */
	free(bytes);
	segment_watch_destroy(watch);
	segment_writer_go(b.writer, worker, SEG_STATE_ENTER(b.receive), 200 * MS);
	size = segment_writer_bytes(b.writer, &bytes);
	watch = segment_watch_create(segment_bytes_fd(bytes, size), &err);
	assert_int_equal(segment_watch_stays(watch, place, &stays, &err), 0);
	assert_int_equal(stays.num, 3);
	segment_writer_go(a.writer, a.lane, SEG_STATE_ENTER(a.receive), 3 * MS);
	place = read_rank(&a).place;
	assert_int_equal(segment_watch_stays(watch, place, &stays, &err), 0);
	/* three, and one of the other thread, which is in the next */
	assert_int_equal(stays.num, 4);
	assert_int_equal(segment_watch_stays(watch, 12345, &stays, &err), 0);
	assert_int_equal(stays.num, 0);
	assert_int_equal(stays.longest_ns, 0);
	segment_watch_destroy(watch);
	free(bytes);
	segment_writer_destroy(a.writer);
	segment_writer_destroy(b.writer);
}

/* The thread that made the last transition tells where the rank is. */
static void test_threads(void **state)
{
	struct rank rank = make_rank(false);
	struct segment_writer *w = rank.writer;
	uint32_t worker = segment_writer_lane(w, false, 4032);
	struct segment_pulse pulse;

	(void)state;
	segment_writer_go(w, rank.lane, SEG_STATE_ENTER(rank.receive), 1 * MS);
	segment_writer_go(w, worker, SEG_STATE_ENTER(rank.send), 2 * MS);
	segment_writer_go(w, worker, SEG_STATE_EXIT(rank.send), 3 * MS);
	pulse = read_rank(&rank);
	assert_false(pulse.is_inside);
	assert_int_equal(pulse.tid, 4032);
	assert_int_equal(pulse.events, 3);
	segment_writer_go(w, rank.lane, SEG_STATE_EXIT(rank.receive), 4 * MS);
	segment_writer_go(w, rank.lane, SEG_STATE_ENTER(rank.receive), 5 * MS);
	pulse = read_rank(&rank);
	assert_true(pulse.is_inside);
	assert_int_equal(pulse.tid, 4031);
	segment_writer_destroy(w);
}

/* Whatever is in it, a segment is read or refused; every byte of the header and of the first lane
 * in turn. */
static void test_damage(void **state)
{
	struct rank rank = make_rank(false);
	struct segment_writer *w = rank.writer;
	size_t size, num_refused = 0;
	uint8_t *bytes;

	(void)state;
	segment_writer_go(w, rank.lane, SEG_STATE_ENTER(rank.receive), 1 * MS);
	size = segment_writer_bytes(w, &bytes);
	for (size_t i = 0; i < size; i += i < 4096 ? 1 : 3) {
		struct segment_stays stays;
		struct segment_pulse pulse;
		struct segment_watch *watch;
		uint8_t was = bytes[i];

		bytes[i] ^= 0xff;
		watch = segment_watch_create(segment_bytes_fd(bytes, size), NULL);
		num_refused += !watch || segment_watch_read(watch, &pulse, NULL) < 0 ||
			       segment_watch_stays(watch, 1, &stays, NULL) < 0;
		segment_watch_destroy(watch);
		bytes[i] = was;
	}
	assert_true(num_refused > 20);
	assert_null(segment_watch_create(segment_bytes_fd(bytes, 100), NULL));
	free(bytes);
	segment_writer_destroy(w);
}

/* Numbers that the tables claim to have room for, and no segment has. */
static void test_absurd_numbers(void **state)
{
	static const enum seg_table_id tables[] = {SEG_TABLE_SITES, SEG_TABLE_FRAMES,
						   SEG_TABLE_MODULES};

	(void)state;
	for (size_t i = 0; i < NUM_OF(tables); i++) {
		struct rank rank = make_rank(false);
		struct segment_watch *watch;
		struct segment_pulse pulse;
		struct seg_header *header;
		struct pdb_error err;
		uint8_t *bytes;
		size_t size;

		if (tables[i] == SEG_TABLE_FRAMES)
			rank.writer->sites[rank.send].frame = SEG_MAX_FRAMES;
		if (tables[i] == SEG_TABLE_MODULES)
			rank.writer->frames[0].module = SEG_MAX_MODULES;
		segment_writer_go(rank.writer, rank.lane,
				  tables[i] == SEG_TABLE_SITES ? SEG_STATE_ENTER(SEG_MAX_SITES)
							       : SEG_STATE_ENTER(rank.send),
				  1000);
		size = segment_writer_bytes(rank.writer, &bytes);
		/* There is something at each of these places. */
		bytes = realloc(bytes, size + (16 << 20));
		memset(bytes + size, 0, 16 << 20);
		header = (struct seg_header *)bytes;
		header->tables[tables[i]].capacity = UINT32_MAX;
		watch = segment_watch_create(segment_bytes_fd(bytes, size + (16 << 20)), &err);
		assert_non_null(watch);
		assert_int_equal(segment_watch_read(watch, &pulse, &err), -1);
		assert_int_equal(err.code, ERROR_FORMAT);
		segment_watch_destroy(watch);
		segment_writer_destroy(rank.writer);
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),         cmocka_unit_test(test_places),
		cmocka_unit_test(test_stays_of_place), cmocka_unit_test(test_threads),
		cmocka_unit_test(test_damage),         cmocka_unit_test(test_absurd_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
