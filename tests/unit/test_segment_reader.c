/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "model/model.h"
#include "model/segment_reader.h"
#include "tests/fixtures/segment_writer.h"
#include "tests/unit/unit.h"

/* Sites of the sample; site 0 is "start". */
enum { INIT = 1, SEND, RECV, TEST };

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Rank 3 of 8: init, 100 times send and receive, in a receive now; a second thread that polls. */
static struct segment_writer *make_sample(void)
{
	struct segment_writer *w = segment_writer_create(3, 8);
	uint32_t libc = segment_writer_module(w, "/lib/libc.so.6");
	uint32_t app = segment_writer_module(w, "/bin/app");
	uint32_t start = segment_writer_frame(w, SEG_NO_FRAME, libc, 0x271ca);
	uint32_t init = segment_writer_frame(w, start, app, 0x1100);
	uint32_t solve = segment_writer_frame(w, start, app, 0x1200);
	uint32_t jit = segment_writer_frame(w, solve, SEG_NO_FRAME, 0x7f0000001000);
	uint64_t ns = 1000;
	uint32_t lane;

	segment_writer_site(w, init, "MPI_Init", SEG_CLASS_INIT);
	segment_writer_site(w, segment_writer_frame(w, solve, app, 0x1300), "MPI_Send",
			    SEG_CLASS_SEND);
	segment_writer_site(w, segment_writer_frame(w, solve, app, 0x1310), "MPI_Recv",
			    SEG_CLASS_RECV);
	segment_writer_site(w, segment_writer_frame(w, jit, app, 0x1320), "MPI_Test", SEG_CLASS_POLL);
	lane = segment_writer_lane(w, true, 4031);
	ns = segment_writer_call(w, lane, INIT, 1, ns);
	for (int i = 0; i < 100; i++) {
		ns = segment_writer_call(w, lane, SEND, 1, ns);
		ns = segment_writer_call(w, lane, RECV, 1, ns + 10);
	}
	segment_writer_go(w, lane, SEG_STATE_ENTER(RECV), ns + 500);
	lane = segment_writer_lane(w, false, 4032);
	segment_writer_call(w, lane, SEND, 2, 2000);
	segment_writer_poll(w, lane, TEST, 12345, 3000000);
	return w;
}

static int read_bytes(const uint8_t *bytes, size_t size, struct model **model,
		      struct pdb_error *err)
{
	int fd = segment_bytes_fd(bytes, size);
	int status = segment_read(fd, model, err);

	close(fd);
	return status;
}

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
	static const uint32_t extras[] = { 0, 8, 4096 - 40 };

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

/* ---- Time ------------------------------------------------------------------------------------ */

static void test_foreign_clock(void **state)
{
	static const struct {
		const char *what;
		uint32_t clock;
		uint64_t start_ticks, start_ns, later_ticks, later_ns;
		uint64_t event_ticks, now_ns, since_ns;
	} table[] = {
		{ "not booted for so long", SEG_CLOCK_MONOTONIC, 1ull << 60, 1ull << 60,
		  (1ull << 60) + 500, (1ull << 60) + 500, (1ull << 60) + 400, (1ull << 60) + 500,
		  (1ull << 60) + 400 },
		{ "events after the later moment", SEG_CLOCK_MONOTONIC, 1ull << 60, 1ull << 60,
		  1ull << 60, 1ull << 60, (1ull << 60) + 700, (1ull << 60) + 700,
		  (1ull << 60) + 700 },
		{ "a counter of 2 GHz, of the future", SEG_CLOCK_TSC, 1ull << 62, 1ull << 50,
		  (1ull << 62) + 2000000, (1ull << 50) + 1000000, (1ull << 62) + 1000000,
		  (1ull << 50) + 1000000, (1ull << 50) + 500000 },
		{ "no rate", SEG_CLOCK_CNTVCT, 1ull << 62, 1ull << 60, 1ull << 62, 1ull << 60,
		  (1ull << 62) + 5, (1ull << 60) + 5, (1ull << 60) + 5 },
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct segment_writer *w = make_sample();
		struct seg_header *h = &w->header;
		struct model *model;

		h->clock = table[i].clock;
		h->start_ticks = table[i].start_ticks;
		h->start_mono_ns = table[i].start_ns;
		h->later_ticks = table[i].later_ticks;
		h->later_mono_ns = table[i].later_ns;
		h->start_real_ns = 7;
		w->num_lanes = 1;
		w->lanes[0].head.current.since = table[i].event_ticks;
		model = segment_writer_model(w);
		if (model->now_ns != table[i].now_ns || model->lanes[0].since_ns != table[i].since_ns)
			fail_msg("%s: now %llu since %llu", table[i].what,
				 (unsigned long long)model->now_ns,
				 (unsigned long long)model->lanes[0].since_ns);
		assert_int_equal(model->now_real_ns, 7 + table[i].now_ns - table[i].start_ns);
		model_destroy(model);
		w->num_lanes = 2;
		segment_writer_destroy(w);
	}
}

#if defined(__x86_64__)
#include <x86intrin.h>

/* The counter of this machine, over the time since it was started. The later moment was taken
 * inexactly, or on another machine. */
static void test_own_counter(void **state)
{
	static const struct {
		int64_t later_off_ns;
		bool is_own;
	} table[] = { { 0, true }, { 40000000, true }, { -30000000, true }, { 3600000000000, false } };
	struct segment_writer *w = make_sample();
	struct seg_header *h = &w->header;
	uint64_t ticks, ns;

	(void)state;
	h->clock = SEG_CLOCK_TSC;
	h->start_mono_ns = clock_ns();
	h->start_ticks = __rdtsc();
	do {
		ns = clock_ns();
		ticks = __rdtsc();
	} while (ns < h->start_mono_ns + 50000000);
	/* Corrupt: in the future. */
	w->lanes[1].head.current.since = UINT64_MAX;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		uint64_t off = (uint64_t)table[i].later_off_ns;
		struct model *model;

		h->later_ticks = ticks;
		h->later_mono_ns = ns + off;
		w->lanes[0].head.current.since = ticks;
		while (clock_ns() < ns + 60000000)
			;
		model = segment_writer_model(w);
		if (table[i].is_own) {
			/* Within what a preemption of this program could be. */
			assert_in_range(model->lanes[0].since_ns, ns - 20000000, ns + 20000000);
			assert_true(model->now_ns >= ns + 60000000);
		} else {
			assert_true(model->now_ns >= h->later_mono_ns);
		}
		assert_int_equal(model->lanes[1].since_ns, model->now_ns);
		model_destroy(model);
	}
	segment_writer_destroy(w);
}
#endif

/* ---- Corruption ------------------------------------------------------------------------------ */

struct places {
	struct seg_header *header;
	struct seg_table *tables;
	struct seg_module *modules;
	struct seg_frame *frames;
	struct seg_site *sites;
	struct seg_lane *lane;
	struct seg_table *lane_tables;
	struct seg_transition *transitions;
	struct seg_event *ring;
	char *strings;
	size_t size;
};

static struct places find_places(uint8_t *bytes, size_t size)
{
	struct places p = { .header = (void *)bytes, .size = size };

	p.tables = p.header->tables;
	p.strings = (void *)(bytes + p.tables[SEG_TABLE_STRINGS].offset);
	p.modules = (void *)(bytes + p.tables[SEG_TABLE_MODULES].offset);
	p.frames = (void *)(bytes + p.tables[SEG_TABLE_FRAMES].offset);
	p.sites = (void *)(bytes + p.tables[SEG_TABLE_SITES].offset);
	p.lane = (void *)(bytes + p.header->lane_offset);
	p.lane_tables = p.lane->tables;
	p.transitions = (void *)((uint8_t *)p.lane + p.lane_tables[SEG_LANE_TRANSITIONS].offset);
	p.ring = (void *)((uint8_t *)p.lane + p.lane_tables[SEG_LANE_RING].offset);
	return p;
}

/* Each case is a statement that spoils the bytes, by name and by what the message has to hold. */
#define CORRUPTIONS(X) \
	X(no_magic, memset(p->header->magic, 0, 8), ERROR_FORMAT, "not complete") \
	X(magic, p->header->magic[7] = 'x', ERROR_FORMAT, "magic is wrong") \
	X(version, p->header->version++, ERROR_VERSION, "version 3") \
	X(byte_order, p->header->byte_order = 0x04030201, ERROR_FORMAT, "byte order") \
	X(header_size, p->header->header_size = 8, ERROR_FORMAT, "wrong size") \
	X(lane_size, p->header->lane_size = 8, ERROR_FORMAT, "wrong size") \
	X(lane_size_huge, p->header->lane_size = UINT64_MAX, ERROR_FORMAT, "truncated") \
	X(lane_offset, p->header->lane_offset = p->size, ERROR_FORMAT, "truncated") \
	X(lane_offset_wraps, p->header->lane_offset = UINT64_MAX - 100, ERROR_FORMAT, "truncated") \
	X(many_lanes, p->header->num_lanes = 4097, ERROR_FORMAT, "4097 lanes") \
	X(more_lanes, p->header->num_lanes = 4, ERROR_FORMAT, "truncated") \
	X(pid, p->header->pid = 0, ERROR_FORMAT, "identity") \
	X(rank, p->header->rank = -2, ERROR_FORMAT, "identity") \
	X(size, p->header->size = -1, ERROR_FORMAT, "identity") \
	X(life, p->header->life = SEG_LIFE_STOPPED + 1, ERROR_FORMAT, "life") \
	X(life_zero, p->header->life = 0, ERROR_FORMAT, "life") \
	X(clock, p->header->clock = 9, ERROR_FORMAT, "clock") \
	X(strings_count, p->tables[SEG_TABLE_STRINGS].count = UINT32_MAX, ERROR_FORMAT, "strings") \
	X(strings_capacity, p->tables[SEG_TABLE_STRINGS].capacity = UINT32_MAX, ERROR_FORMAT, \
	  "strings") \
	X(strings_entry, p->tables[SEG_TABLE_STRINGS].entry_size = 2, ERROR_FORMAT, "2 bytes") \
	X(strings_offset, p->tables[SEG_TABLE_STRINGS].offset = p->size, ERROR_FORMAT, \
	  "strings beyond") \
	X(modules_offset, p->tables[SEG_TABLE_MODULES].offset = UINT64_MAX - 8, ERROR_FORMAT, \
	  "modules beyond") \
	X(modules_count, p->tables[SEG_TABLE_MODULES].count = 3, ERROR_FORMAT, "3 of 2 modules") \
	X(frames_count, p->tables[SEG_TABLE_FRAMES].count = 1u << 31, ERROR_FORMAT, "frames") \
	X(frames_many, \
	  p->tables[SEG_TABLE_FRAMES].count = p->tables[SEG_TABLE_FRAMES].capacity = SEG_MAX_FRAMES, \
	  ERROR_FORMAT, "frames beyond") \
	X(sites_entry, p->tables[SEG_TABLE_SITES].entry_size = 15, ERROR_FORMAT, "15 bytes") \
	X(sites_entry_huge, p->tables[SEG_TABLE_SITES].entry_size = 5000, ERROR_FORMAT, \
	  "5000 bytes") \
	X(no_site, p->tables[SEG_TABLE_SITES].count = 0, ERROR_FORMAT, "no site 0") \
	X(site_0_frame, p->sites[0].frame = 0, ERROR_FORMAT, "no site 0") \
	X(module_path, p->modules[1].path = 4000, ERROR_FORMAT, "module 1") \
	X(module_build_id, p->modules[0].build_id_size = 33, ERROR_FORMAT, "module 0") \
	X(frame_own_parent, p->frames[2].parent = 2, ERROR_FORMAT, "frame 2") \
	X(frame_later_parent, p->frames[1].parent = 5, ERROR_FORMAT, "frame 1") \
	X(frame_module, p->frames[4].module = 2, ERROR_FORMAT, "frame 4") \
	X(site_frame, p->sites[1].frame = 7, ERROR_FORMAT, "site 1") \
	X(site_name, p->sites[2].name = UINT32_MAX, ERROR_FORMAT, "site 2") \
	X(lane_use, p->lane->use = 3, ERROR_FORMAT, "state of lane 0") \
	X(lane_state, p->lane->current.state = 10, ERROR_FORMAT, "state of lane 0") \
	X(lane_poll_site, p->lane->current.poll_site = 5, ERROR_FORMAT, "state of lane 0") \
	X(transitions_count, p->lane_tables[SEG_LANE_TRANSITIONS].count = 1000, ERROR_FORMAT, \
	  "lane 0: the segment is corrupt: 1000 of 8 transitions") \
	X(transitions_offset, p->lane_tables[SEG_LANE_TRANSITIONS].offset = p->header->lane_size, \
	  ERROR_FORMAT, "transitions beyond") \
	X(ring_capacity, p->lane_tables[SEG_LANE_RING].capacity = 63, ERROR_FORMAT, \
	  "ring of 63 entries") \
	X(ring_zero, p->lane_tables[SEG_LANE_RING].capacity = 0, ERROR_FORMAT, \
	  "ring of 0 entries") \
	X(ring_huge, p->lane_tables[SEG_LANE_RING].capacity = 1u << 31, ERROR_FORMAT, "ring") \
	X(ring_larger, p->lane_tables[SEG_LANE_RING].capacity = 128, ERROR_FORMAT, \
	  "ring entries beyond") \
	X(states_offset, p->lane_tables[SEG_LANE_STATES].offset = UINT64_MAX, ERROR_FORMAT, \
	  "states beyond")

#define SPOIL(name, statement, code, part) \
	static void spoil_##name(struct places *p) \
	{ \
		statement; \
	}
CORRUPTIONS(SPOIL)

static void test_corrupt(void **state)
{
#define ENTRY(name, statement, code, part) { #name, spoil_##name, code, part },
	static const struct {
		const char *name;
		void (*spoil)(struct places *p);
		enum error_code code;
		const char *part;
	} table[] = { CORRUPTIONS(ENTRY) };
	struct segment_writer *w = make_sample();

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct pdb_error err = { 0 };
		struct model *model = NULL;
		uint8_t *bytes;
		size_t size = segment_writer_bytes(w, &bytes);
		struct places places = find_places(bytes, size);

		table[i].spoil(&places);
		if (read_bytes(bytes, size, &model, &err) == 0)
			fail_msg("%s was taken", table[i].name);
		assert_null(model);
		assert_error(&err, table[i].code, table[i].part);
		free(bytes);
	}
	segment_writer_destroy(w);
}

/* Damage that costs a part of the model and no more. */
static void test_repaired(void **state)
{
	struct segment_writer *w = make_sample();
	uint8_t *bytes;
	size_t size = segment_writer_bytes(w, &bytes);
	struct places p = find_places(bytes, size);
	struct pdb_error err = { 0 };
	struct model *model;

	(void)state;
	p.transitions[1].to = 10;
	p.transitions[2].from = UINT32_MAX;
	p.transitions[4].count = 0;
	p.ring[(403 - 10) % 64].state = 10;
	p.sites[SEND].class_id = 999;
	p.sites[RECV].language = 7;
	/* Text that would move a terminal's cursor; and no end. */
	memcpy(p.strings + p.sites[RECV].name, "MPI\033[2J", 7);
	memset(p.header->host, 'h', sizeof(p.header->host));
	p.strings[p.tables[SEG_TABLE_STRINGS].count - 1] = 'x';
	assert_int_equal(read_bytes(bytes, size, &model, &err), 0);
	assert_int_equal(model->lanes[0].num_transitions, 5);
	assert_int_equal(model->lanes[0].num_ring, 9);
	assert_int_equal(model->sites[SEND].class_id, SEG_CLASS_OTHER);
	assert_int_equal(model->sites[RECV].language, SEG_LANGUAGE_C);
	assert_string_equal(model->sites[RECV].name, "MPI?[2Jv");
	assert_int_equal(strlen(model->program->host), 63);
	assert_string_equal(model->sites[TEST].name, "MPI_Testx");
	model_destroy(model);
	free(bytes);
	segment_writer_destroy(w);
}

/* A last ring entry that is not the present state: the ring is not used. */
static void test_ring_and_state_differ(void **state)
{
	struct segment_writer *w = make_sample();
	struct model *model;

	(void)state;
	w->lanes[0].head.current.state = SEG_STATE_ENTER(SEND);
	model = segment_writer_model(w);
	assert_int_equal(model->lanes[0].num_ring, 0);
	assert_false(model->lanes[0].is_consistent);
	model_destroy(model);
	segment_writer_destroy(w);
}

static void test_truncated(void **state)
{
	struct segment_writer *w = make_sample();
	uint8_t *bytes;
	size_t size = segment_writer_bytes(w, &bytes);

	(void)state;
	for (size_t cut = 0; cut < size; cut += 512) {
		struct pdb_error err = { 0 };
		struct model *model = NULL;

		if (read_bytes(bytes, cut, &model, &err) == 0)
			fail_msg("%zu of %zu bytes were taken", cut, size);
		assert_int_equal(err.code, ERROR_FORMAT);
	}
	free(bytes);
	segment_writer_destroy(w);
}

/* 4096 lanes that share one ring of a mebi-entry in a sparse file must not eat the memory. */
static void test_budget(void **state)
{
	struct segment_writer *w = make_sample();
	struct pdb_error err = { 0 };
	struct model *model = NULL;
	uint8_t *bytes;
	size_t size = segment_writer_bytes(w, &bytes);
	struct places p = find_places(bytes, size);
	struct seg_lane lane = *p.lane;
	int fd;

	(void)state;
	p.header->num_lanes = 4096;
	p.header->lane_size = 64 << 20;
	lane.tables[SEG_LANE_RING].capacity = SEG_MAX_RING;
	lane.current.events = 1ull << 40;
	fd = segment_bytes_fd(bytes, size);
	for (uint64_t i = 0; i < 4096; i++) {
		uint64_t at = p.header->lane_offset + i * p.header->lane_size;

		assert_int_equal(pwrite(fd, &lane, sizeof(lane), (off_t)at), sizeof(lane));
	}
	assert_int_equal(ftruncate(fd, (off_t)(p.header->lane_offset + 4096 * p.header->lane_size)), 0);
	assert_int_equal(segment_read(fd, &model, &err), -1);
	assert_error(&err, ERROR_FORMAT, "too much data");
	close(fd);
	free(bytes);
	segment_writer_destroy(w);
}

/* Random damage: a valid model or a refusal, and never an access outside (run under ASan too). */
static void test_mutated(void **state)
{
	struct segment_writer *w = make_sample();
	uint8_t *bytes, *copy;
	size_t size = segment_writer_bytes(w, &bytes);
	int taken = 0;

	(void)state;
	copy = malloc(size);
	srandom(7);
	for (int round = 0; round < 4000; round++) {
		struct pdb_error err = { 0 };
		struct model *model;

		memcpy(copy, bytes, size);
		for (int n = 1 + (int)(random() % 3); n > 0; n--) {
			/* Half of them where the sizes and offsets are. */
			size_t at = (size_t)random() % (random() % 2 ? size : 1024);

			if (random() % 2)
				copy[at] = (uint8_t)random();
			else
				memset(copy + at, random() % 2 ? 0xff : 0, size - at < 4 ? size - at : 4);
		}
		if (read_bytes(copy, size, &model, &err) == 0) {
			assert_int_equal(model_validate(model, &err), 0);
			model_destroy(model);
			taken++;
		} else {
			assert_true(err.code == ERROR_FORMAT || err.code == ERROR_VERSION);
		}
	}
	assert_in_range(taken, 100, 3900);
	free(copy);
	free(bytes);
	segment_writer_destroy(w);
}

/* ---- Looks, and a writer at work ------------------------------------------------------------- */

static void test_look(void **state)
{
	struct segment_writer *w = make_sample();
	struct segment_look looks[2] = { 0 };
	struct pdb_error err = { 0 };
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
		uint32_t to = from & 1 ? SEG_STATE_ENTER(SEG_STATE_SITE(from) == SEND ? RECV : SEND) :
					 (from | 1);
		struct seg_event *event = &busy->places.ring[events & 63];

		atomic_store_explicit(&current->seq, ++seq, memory_order_relaxed);
		atomic_thread_fence(memory_order_release);
		while (made->from != from || made->to != to)
			made = made == busy->places.transitions + 6 ? busy->places.transitions : made + 1;
		made->count++;
		event->ticks = ++ticks;
		event->state = to;
		current->state = from = to;
		current->since = ticks;
		current->events = ++events;
		atomic_store_explicit(&current->seq, ++seq, memory_order_release);
		/* Rest now and then, so that both kinds of copy happen. */
		if (events % 4096 == 0)
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
	struct busy_writer busy = { 0 };
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
		struct pdb_error err = { 0 };
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_lives),
		cmocka_unit_test(test_no_lane),
		cmocka_unit_test(test_lane_before_first_call),
		cmocka_unit_test(test_lane_taken_over),
		cmocka_unit_test(test_locked_for_ever),
		cmocka_unit_test(test_foreign_clock),
#if defined(__x86_64__)
		cmocka_unit_test(test_own_counter),
#endif
		cmocka_unit_test(test_corrupt),
		cmocka_unit_test(test_repaired),
		cmocka_unit_test(test_ring_and_state_differ),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_mutated),
		cmocka_unit_test(test_look),
		cmocka_unit_test(test_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
