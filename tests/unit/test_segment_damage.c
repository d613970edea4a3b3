/* SPDX-License-Identifier: BSD-3-Clause
 * Segments that are corrupt: refused, or read without what is. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/interrupt.h"
#include "model/segment/segment_watch.h"
#include "tests/unit/segment_damage.h"
#include "tests/unit/segment_sample.h"

/* Each case is a statement that spoils the bytes, by name and by what the message has to hold. */
#define CORRUPTIONS(X)                                                                             \
	X(no_magic, memset(p->header->magic, 0, 8), ERROR_FORMAT, "not complete")                  \
	X(magic, p->header->magic[7] = 'x', ERROR_FORMAT, "magic is wrong")                        \
	X(version, p->header->version++, ERROR_VERSION, "version 3")                               \
	X(byte_order, p->header->byte_order = 0x04030201, ERROR_FORMAT, "byte order")              \
	X(header_size, p->header->header_size = 8, ERROR_FORMAT, "wrong size")                     \
	X(lane_size, p->header->lane_size = 8, ERROR_FORMAT, "wrong size")                         \
	X(lane_size_huge, p->header->lane_size = UINT64_MAX, ERROR_FORMAT, "truncated")            \
	X(lane_offset, p->header->lane_offset = p->size, ERROR_FORMAT, "truncated")                \
	X(lane_offset_wraps, p->header->lane_offset = UINT64_MAX - 100, ERROR_FORMAT, "truncated") \
	X(many_lanes, p->header->num_lanes = 4097, ERROR_FORMAT, "4097 lanes")                     \
	X(more_lanes, p->header->num_lanes = 4, ERROR_FORMAT, "truncated")                         \
	X(pid, p->header->pid = 0, ERROR_FORMAT, "identity")                                       \
	X(rank, p->header->rank = -2, ERROR_FORMAT, "identity")                                    \
	X(size, p->header->size = -1, ERROR_FORMAT, "identity")                                    \
	X(life, p->header->life = SEG_LIFE_STOPPED + 1, ERROR_FORMAT, "life")                      \
	X(life_zero, p->header->life = 0, ERROR_FORMAT, "life")                                    \
	X(clock, p->header->clock = 9, ERROR_FORMAT, "clock")                                      \
	X(strings_count, p->tables[SEG_TABLE_STRINGS].count = UINT32_MAX, ERROR_FORMAT, "strings") \
	X(strings_capacity, p->tables[SEG_TABLE_STRINGS].capacity = UINT32_MAX, ERROR_FORMAT,      \
	  "strings")                                                                               \
	X(strings_entry, p->tables[SEG_TABLE_STRINGS].entry_size = 2, ERROR_FORMAT, "2 bytes")     \
	X(strings_offset, p->tables[SEG_TABLE_STRINGS].offset = p->size, ERROR_FORMAT,             \
	  "strings beyond")                                                                        \
	X(modules_offset, p->tables[SEG_TABLE_MODULES].offset = UINT64_MAX - 8, ERROR_FORMAT,      \
	  "modules beyond")                                                                        \
	X(modules_count, p->tables[SEG_TABLE_MODULES].count = 3, ERROR_FORMAT, "3 of 2 modules")   \
	X(frames_count, p->tables[SEG_TABLE_FRAMES].count = 1u << 31, ERROR_FORMAT, "frames")      \
	X(frames_many,                                                                             \
	  p->tables[SEG_TABLE_FRAMES].count = p->tables[SEG_TABLE_FRAMES].capacity =               \
		  SEG_MAX_FRAMES,                                                                  \
	  ERROR_FORMAT, "frames beyond")                                                           \
	X(sites_entry, p->tables[SEG_TABLE_SITES].entry_size = 15, ERROR_FORMAT, "15 bytes")       \
	X(sites_entry_huge, p->tables[SEG_TABLE_SITES].entry_size = 5000, ERROR_FORMAT,            \
	  "5000 bytes")                                                                            \
	X(no_site, p->tables[SEG_TABLE_SITES].count = 0, ERROR_FORMAT, "no site 0")                \
	X(site_0_frame, p->sites[0].frame = 0, ERROR_FORMAT, "no site 0")                          \
	X(module_path, p->modules[1].path = 4000, ERROR_FORMAT, "module 1")                        \
	X(module_build_id, p->modules[0].build_id_size = 33, ERROR_FORMAT, "module 0")             \
	X(frame_own_parent, p->frames[2].parent = 2, ERROR_FORMAT, "frame 2")                      \
	X(frame_later_parent, p->frames[1].parent = 5, ERROR_FORMAT, "frame 1")                    \
	X(frame_module, p->frames[4].module = 2, ERROR_FORMAT, "frame 4")                          \
	X(site_frame, p->sites[1].frame = 7, ERROR_FORMAT, "site 1")                               \
	X(site_name, p->sites[2].name = UINT32_MAX, ERROR_FORMAT, "site 2")                        \
	X(lane_use, p->lane->use = 3, ERROR_FORMAT, "state of lane 0")                             \
	X(lane_state, p->lane->current.state = 10, ERROR_FORMAT, "state of lane 0")                \
	X(lane_poll_site, p->lane->current.poll_site = 5, ERROR_FORMAT, "state of lane 0")         \
	X(transitions_count, p->lane_tables[SEG_LANE_TRANSITIONS].count = 1000, ERROR_FORMAT,      \
	  "lane 0: the segment is corrupt: 1000 of 5 transitions")                                 \
	X(transitions_offset, p->lane_tables[SEG_LANE_TRANSITIONS].offset = p->header->lane_size,  \
	  ERROR_FORMAT, "transitions beyond")                                                      \
	X(ring_capacity, p->lane_tables[SEG_LANE_RING].capacity = 63, ERROR_FORMAT,                \
	  "ring of 63 entries")                                                                    \
	X(ring_zero, p->lane_tables[SEG_LANE_RING].capacity = 0, ERROR_FORMAT,                     \
	  "ring of 0 entries")                                                                     \
	X(ring_huge, p->lane_tables[SEG_LANE_RING].capacity = 1u << 31, ERROR_FORMAT, "ring")      \
	X(ring_larger, p->lane_tables[SEG_LANE_RING].capacity = 128, ERROR_FORMAT,                 \
	  "ring entries beyond")                                                                   \
	X(states_offset, p->lane_tables[SEG_LANE_STATES].offset = UINT64_MAX, ERROR_FORMAT,        \
	  "states beyond")

#define SPOIL(name, statement, code, part)                                                         \
	static void spoil_##name(struct places *p)                                                 \
	{                                                                                          \
		statement;                                                                         \
	}
CORRUPTIONS(SPOIL)

static void test_corrupt(void **state)
{
#define ENTRY(name, statement, code, part) {#name, spoil_##name, code, part},
	static const struct {
		const char *name;
		void (*spoil)(struct places *p);
		enum error_code code;
		const char *part;
	} table[] = {CORRUPTIONS(ENTRY)};
	struct segment_writer *w = make_sample();

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct pdb_error err = {0};
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
	struct pdb_error err = {0};
	struct model *model;

	(void)state;
	p.transitions[1].to = 10;
	p.transitions[2].from = UINT32_MAX;
	p.transitions[3].to = UINT32_MAX - 1;
	p.transitions[4].count = 0;
	p.ring[(403 - 10) % 64].state = 10;
	p.sites[SEND].class_id = 999;
	p.sites[RECV].language = 7;
	/* Text that would move a terminal's cursor; and no end. */
	memcpy(p.strings + p.sites[RECV].name, "MPI\033[2J", 7);
	memset(p.header->host, 'h', sizeof(p.header->host));
	p.strings[p.tables[SEG_TABLE_STRINGS].count - 1] = 'x';
	assert_int_equal(read_bytes(bytes, size, &model, &err), 0);
	assert_int_equal(model->lanes[0].num_transitions, 3);
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

	(void)state;
	assert_needs_all(w, 512);
	segment_writer_destroy(w);
}

/* 4096 lanes that share one ring of a mebi-entry in a sparse file must not eat the memory. */
static void test_budget(void **state)
{
	struct segment_writer *w = make_sample();
	struct pdb_error err = {0};
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
	assert_int_equal(ftruncate(fd, (off_t)(p.header->lane_offset + 4096 * p.header->lane_size)),
			 0);
	assert_int_equal(segment_read(fd, &model, &err), -1);
	assert_error(&err, ERROR_FORMAT, "far more than its file has stored");
	close(fd);
	free(bytes);
	segment_writer_destroy(w);
}

/* A table that is a hole has no more in it than any other hole, however long it claims to be; so
 * it is with the lane's transitions, each of which would be copied twice, and with its trace. */
static void test_holes(void **state)
{
	enum { LANE = 64 << 20, NUM_LANES = 64 };
	struct segment_writer *w = make_sample();
	struct pdb_error err = {0};
	struct segment_watch *watch;
	struct segment_stays stays;
	struct segment_pulse pulse;
	struct model *model = NULL;
	uint8_t *bytes;
	size_t size = segment_writer_bytes(w, &bytes);
	struct places p = find_places(bytes, size);
	struct seg_lane lane = *p.lane;
	int fd;

	(void)state;
	p.header->num_lanes = NUM_LANES;
	p.header->lane_size = LANE;
	lane.tables[SEG_LANE_TRANSITIONS] = (struct seg_table){
		.offset = LANE / 2,
		.entry_size = sizeof(struct seg_transition),
		.capacity = SEG_MAX_TRANSITIONS,
		.count = SEG_MAX_TRANSITIONS,
	};
	fd = segment_bytes_fd(bytes, size);
	for (uint64_t i = 0; i < NUM_LANES; i++)
		assert_int_equal(
			pwrite(fd, &lane, sizeof(lane), (off_t)(p.header->lane_offset + i * LANE)),
			sizeof(lane));
	assert_int_equal(ftruncate(fd, (off_t)(p.header->lane_offset + (uint64_t)NUM_LANES * LANE)),
			 0);
	assert_int_equal(segment_read(fd, &model, &err), -1);
	assert_error(&err, ERROR_FORMAT, "far more than its file has stored");
	watch = segment_watch_create(dup(fd), &err);
	assert_non_null(watch);
	if (segment_watch_read(watch, &pulse, &err) == 0)
		assert_int_equal(segment_watch_stays(watch, pulse.place, &stays, &err), -1);
	assert_error(&err, ERROR_FORMAT, "far more than its file has stored");
	segment_watch_destroy(watch);
	close(fd);
	free(bytes);
	segment_writer_destroy(w);
}

/* It is no damage, but the end. */
static void test_interrupted(void **state)
{
	struct segment_writer *w = make_sample();
	struct pdb_error err = {0};
	struct model *model = NULL;
	uint8_t *bytes;
	size_t size = segment_writer_bytes(w, &bytes);
	int fd = segment_bytes_fd(bytes, size);

	(void)state;
	interrupt_wanted = 1;
	assert_int_equal(segment_read(fd, &model, &err), -1);
	assert_int_equal(err.code, ERROR_INTERRUPTED);
	interrupt_wanted = 0;
	assert_int_equal(segment_read(fd, &model, &err), 0);
	model_destroy(model);
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
		memcpy(copy, bytes, size);
		for (int n = 1 + (int)(random() % 3); n > 0; n--) {
			/* Half of them where the sizes and offsets are. */
			size_t at = (size_t)random() % (random() % 2 ? size : 1024);

			damage(copy, size, at);
		}
		taken += is_taken(copy, size);
	}
	assert_in_range(taken, 100, 3900);
	free(copy);
	free(bytes);
	segment_writer_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corrupt),
		cmocka_unit_test(test_repaired),
		cmocka_unit_test(test_ring_and_state_differ),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_holes),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_mutated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
