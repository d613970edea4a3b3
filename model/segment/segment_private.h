/* SPDX-License-Identifier: BSD-3-Clause
 * What the segment_*.c share. */
#ifndef PDB_MODEL_SEGMENT_PRIVATE_H
#define PDB_MODEL_SEGMENT_PRIVATE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/clean_text.h"
#include "model/segment/segment.h"

struct pdb_error;
struct stat;

/* A live process, as far as its segment has to agree with it. */
struct segment_owner {
	uid_t uid;      /* effective */
	pid_t own_pid;  /* in its own pid namespace */
	uint64_t start; /* field 22 of /proc/PID/stat */
	char state;
};

/* ERROR_GONE: there is no such process, or only a zombie is left of it. */
int segment_find_owner(pid_t pid, struct segment_owner *owner, struct pdb_error *err);
/* An fd of the directory of segments of the live process, as that sees it. */
int segment_open_dir(pid_t pid, struct pdb_error *err);
/* Open a file and check that it is one that only its owner can have written. uid: the owner that
 * it must have, if not root. */
int segment_open_checked(int dir, const char *name, uid_t uid, struct stat *st,
			 struct pdb_error *err);

/* Read `size` bytes at `offset` or fail: a short read is ERROR_FORMAT ("truncated"). */
int segment_pread(int fd, void *buffer, size_t size, uint64_t offset, struct pdb_error *err);
/* Read the header and check what does not change: magic, byte order, version, sizes, identity.
 * Its texts come back terminated and without control characters. */
int segment_read_header(int fd, struct seg_header *header, struct pdb_error *err);

/* Ticks of the segment's clock to ns of CLOCK_MONOTONIC. */
struct segment_clock {
	uint64_t now_ticks, now_ns; /* one moment in both; no time that comes out is after it */
	uint64_t ns_per_tick;       /* times 2^40 */
	uint64_t now_real_ns;
};

/* Set up *clock for "now". last_ticks: the latest event in the segment, the end of time for one
 * that was written on another host or before a reboot. */
void segment_clock_init(struct segment_clock *clock, const struct seg_header *header,
			uint64_t last_ticks);
uint64_t segment_clock_time(const struct segment_clock *clock, uint64_t ticks);
uint64_t segment_clock_duration(const struct segment_clock *clock, uint64_t ticks);

#endif
