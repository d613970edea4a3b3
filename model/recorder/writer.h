/* SPDX-License-Identifier: BSD-3-Clause
 * The writer's end of the segment file. Callers hold the recorder's lock and save errno. No file
 * descriptor stays open, since a program may close all of them at any time. */
#pragma once

#include <sys/types.h>

#include "model/recorder/base.h"
#include "model/segment/segment.h"

struct writer {
	struct seg_header *header; /* NULL: no segment */
	size_t mapped;             /* bytes of header and tables, from file offset 0 */
	uint32_t ring;             /* entries of each lane's ring */
	uint64_t trace;            /* bytes of the arena of each lane's trace; 0: none */
	uint64_t note_offset;      /* of the ring of notes, in each lane; without storage */
	bool exhausted;            /* no more room: the file no longer grows */
	dev_t device;
	ino_t inode;
	char path[768];
};

/* Who this process is in its job, as the launcher says in the environment; so that a rank that
 * hangs in MPI_Init has a segment as well. */
struct writer_identity {
	int rank; /* -1: unknown */
	int size; /* 0: unknown */
	char job[256];
	int keeper; /* as in struct seg_header */
};

void identity_from_environment(struct writer_identity *ret);

/* Is this the first rank of its job on this node, or does nobody say that it is not? */
bool identity_is_first_here(void);

/* Make the segment; -1 with a reason in why[]: nothing is left behind. A file of that name, of this
 * user and an earlier program of the same pid, is replaced. */
int writer_create(struct writer *w, const char *dir, const struct writer_identity *identity,
		  uint32_t ring, uint64_t trace, char *why, size_t why_size);

/* The first entry of a table of the header. */
static inline void *writer_entries(const struct writer *w, enum seg_table_id table)
{
	return (char *)w->header + w->header->tables[table].offset;
}

/* Next entry of a table of the header, or `count` in a row (strings), not yet visible; *ret: its
 * index. NULL when full or out of space: counted as dropped. */
void *writer_next(struct writer *w, enum seg_table_id table, uint32_t count, uint32_t *ret);

void writer_publish(struct writer *w, enum seg_table_id table, uint32_t count);

/* Add a string; its offset, or 0 (the empty string) when there is no room. */
uint32_t writer_string(struct writer *w, const char *text);

/* Map lane `index` (the next one), with room for its ring and first states. NULL on failure. */
struct seg_lane *writer_lane(struct writer *w, uint32_t index);

/* Give the lane's table room for `entries`. False when full or out of space. */
bool writer_lane_reserve(struct writer *w, struct seg_lane *lane, uint32_t index,
			 enum seg_lane_id table, uint32_t entries);

/* Bytes of a lane that no table has get storage. False when out of space; tables may still grow. */
bool writer_lane_allocate(struct writer *w, uint32_t index, uint64_t offset, uint64_t length);

/* Store a second moment of the clock pair. */
void writer_stamp(struct writer *w);

/* Unlink the file if it is still ours. The mapping stays: other threads may still write to it. */
void writer_remove(struct writer *w);
