/* SPDX-License-Identifier: BSD-3-Clause
 * A segment of two threads that have called MPI, and where things are in its bytes. */
#ifndef PDB_TESTS_UNIT_SEGMENT_SAMPLE_H
#define PDB_TESTS_UNIT_SEGMENT_SAMPLE_H

#include <time.h>

#include "tests/fixtures/segment_writer.h"
#include "tests/unit/unit.h"

/* Sites of the sample; site 0 is "start". */
enum { INIT = 1, SEND, RECV, TEST };

static inline uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Rank 3 of 8: init, 100 times send and receive, in a receive now; a second thread that polls. */
static inline struct segment_writer *make_sample(void)
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
	segment_writer_site(w, segment_writer_frame(w, jit, app, 0x1320), "MPI_Test",
			    SEG_CLASS_POLL);
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

static inline struct places find_places(uint8_t *bytes, size_t size)
{
	struct places p = {.header = (void *)bytes, .size = size};

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

#endif
