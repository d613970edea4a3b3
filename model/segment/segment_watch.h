/* SPDX-License-Identifier: BSD-3-Clause
 * What a rank is doing, read from its segment again and again, in a few reads of some words. What
 * does not change is read once. */
#pragma once

#include "model/base.h"

struct segment_watch;

/* Completed stays in a place. */
struct segment_stays {
	uint64_t num, longest_ns;
};

struct segment_pulse {
	uint32_t life;   /* enum seg_life (model/segment/segment.h) */
	uint64_t events; /* transitions made so far, by all threads that call MPI */
	uint64_t polls;  /* failed polls since the last transition, of all threads */

	/* Of the thread that made the last transition: the state that it is in since then. */
	uint64_t since_ns;  /* CLOCK_MONOTONIC */
	uint64_t polled_ns; /* when it entered the last poll since then; 0: none */
	bool is_inside;     /* of an MPI call, or of a poll */
	uint16_t class_id;  /* of the call that it is in or came from: enum seg_class */
	pid_t tid;
	uint64_t place; /* the state, by call path, MPI function and side: the same in all ranks */
	struct segment_stays stays; /* of this thread there, before */
};

/* Of an open segment, whose fd belongs to the watch from then on, also on failure. */
struct segment_watch *segment_watch_create(int fd, struct pdb_error *err);
void segment_watch_destroy(struct segment_watch *watch); /* NULL is fine */

/* -1: the segment is damaged or cut off. A thread that is just writing is read as before, as after,
 * or as a mixture if it has died or been stopped in the midst of it. */
int segment_watch_read(struct segment_watch *watch, struct segment_pulse *ret,
		       struct pdb_error *err);

/* Those of all the rank's threads in a place, of this rank or another. Costs a read for each frame
 * of sites that are new since the last time. -1: the segment is damaged. */
int segment_watch_stays(struct segment_watch *watch, uint64_t place, struct segment_stays *ret,
			struct pdb_error *err);

/* The stays of both. */
void segment_stays_add(struct segment_stays *stays, const struct segment_stays *more);
