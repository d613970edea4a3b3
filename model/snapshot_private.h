/* SPDX-License-Identifier: BSD-3-Clause
 * The snapshot format, for its writer and its reader. docs/snapshot-format.md tells it in words. */
#ifndef PDB_MODEL_SNAPSHOT_PRIVATE_H
#define PDB_MODEL_SNAPSHOT_PRIVATE_H

#include <stdint.h>

#define SNAPSHOT_MAGIC "PDBSNAP\n" /* 8 bytes, then the version */
#define SNAPSHOT_VERSION 1

/* Sections stand in this order, except that STRINGS come before whatever uses them first, and a
 * SHAPE before its first MODEL. Stored in files: append only. */
enum snapshot_section {
	SNAPSHOT_STRINGS = 1, /* adds to the table of strings */
	SNAPSHOT_JOB,
	SNAPSHOT_PROCTABLE,
	SNAPSHOT_MODULES,
	SNAPSHOT_CALLPATHS,
	SNAPSHOT_NAMES,
	SNAPSHOT_SHAPE, /* tables that models share */
	SNAPSHOT_MODEL, /* one rank */
	SNAPSHOT_LOOKS, /* the second look at the lanes */
	SNAPSHOT_SAMPLES,
	SNAPSHOT_HOLES,
	SNAPSHOT_END,
};

enum snapshot_lane_flags {
	SNAPSHOT_LANE_MAIN = 1,
	SNAPSHOT_LANE_ENDED = 2,
	SNAPSHOT_LANE_CONSISTENT = 4,
	SNAPSHOT_LANE_IN_POLL = 8,
};

enum snapshot_look_flags {
	SNAPSHOT_LOOK_TAKEN = 1,
	SNAPSHOT_LOOK_MOVED = 2,
	SNAPSHOT_LOOK_POLLED = 4,
};

enum {
	SNAPSHOT_HEADER_SIZE = 12,	  /* magic, version */
	SNAPSHOT_SECTION_HEADER_SIZE = 9, /* id (1 byte), size (8 bytes, little endian) */
	SNAPSHOT_MAX_RANKS = 16 << 20,
	/* Ring entries of all lanes together; the writer keeps the latest of each lane. */
	SNAPSHOT_MAX_RING_TOTAL = 64 << 20,
};

#define SNAPSHOT_MAX_SECTION ((uint64_t)1 << 30)
/* What a reader decompresses, and what it allocates, at most. */
#define SNAPSHOT_MAX_BYTES ((uint64_t)16 << 30)
#define SNAPSHOT_MAX_MEMORY ((uint64_t)8 << 30)

#endif
