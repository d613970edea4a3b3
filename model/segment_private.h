/* SPDX-License-Identifier: BSD-3-Clause
 * What segment_open.c, segment_reader.c and segment_clock.c share. */
#ifndef PDB_MODEL_SEGMENT_PRIVATE_H
#define PDB_MODEL_SEGMENT_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include "model/segment.h"

struct pdb_error;

/* Read `size` bytes at `offset` or fail: a short read is ERROR_FORMAT ("truncated"). */
int segment_pread(int fd, void *buffer, size_t size, uint64_t offset, struct pdb_error *err);
/* Read the header and check what does not change: magic, byte order, version, sizes, identity.
 * Its texts come back terminated and without control characters. */
int segment_read_header(int fd, struct seg_header *header, struct pdb_error *err);
/* Replace what a terminal could take as a command, so that names can be printed as they are. */
void segment_clean_text(char *text, size_t size);

/* Ticks of the segment's clock to ns of CLOCK_MONOTONIC. */
struct segment_clock {
	uint64_t now_ticks, now_ns; /* one moment in both; no time that comes out is after it */
	uint64_t ns_per_tick;	    /* times 2^40 */
	uint64_t now_real_ns;
};

/* Set up *clock for "now". last_ticks: the latest event in the segment, the end of time for one
 * that was written on another host or before a reboot. */
void segment_clock_init(struct segment_clock *clock, const struct seg_header *header,
			uint64_t last_ticks);
uint64_t segment_clock_time(const struct segment_clock *clock, uint64_t ticks);
uint64_t segment_clock_duration(const struct segment_clock *clock, uint64_t ticks);

#endif
