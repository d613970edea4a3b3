/* SPDX-License-Identifier: BSD-3-Clause
 * The recorder is preloaded into the ranks of a job and writes a segment in each. In this folder:
 *
 *	recorder, process                 the way of a call; start, end, what all threads share
 *	lane, tracer                      a thread's events, and its trace
 *	unwind, pathcache, objects, intern  from the stack to a site of the segment
 *	looks                             one-sided calls that only look are polls
 *	operation, p2p, requests, ledger, tokens  what a call needs of other ranks
 *	comms, handles, commid            communicators, windows and files
 *	notes                             what members of a collective say of each other
 *	mpi_calls.def, wrappers.gawk, wrap_*  what knows MPI; compiled for each MPI
 *	jump, next, loaded                whether it is that MPI, and who comes behind
 *	writer, idhash, slow, ticks, base  what the others are made of
 *
 * Here is what the wrappers call. A wrapper asks recorder_begin() before the MPI function and, if
 * that gave it a lane, calls recorder_enter(), and recorder_leave() after the function. All keep
 * errno, none fails towards the program. */
#pragma once

#include "model/recorder/lane.h"

/* One exported wrapper. */
struct recorder_function {
	void *go;             /* where a call of the exported symbol goes, see jump.h */
	const char *name;     /* MPI_Send */
	uint16_t class_id;    /* enum seg_class */
	uint16_t language;    /* enum seg_language */
	uint32_t name_offset; /* of the name in the segment's strings; 0: not there yet */
	void *next;           /* what the wrapper calls; stored before anybody came to it */
};

/* A call begins: `ra` is its return address and `cfa` the stack pointer at it. NULL when it is not
 * recorded: inside another call (Fortran on top of C, a callback), or recording is off. Else the
 * thread's lane: evidence of the call is written now, then recorder_enter() makes the event. */
struct lane *recorder_begin(struct recorder_function *function, uintptr_t ra, uintptr_t cfa);
void recorder_enter(struct lane *lane);

/* The lane, if a call may be left out that waits for nobody and does nothing. NULL: for one of
 * RECORDER_SKIPS in a row, or a program that only polls so would seem not to call MPI; where
 * threads may be in MPI at the same time, so that nobody knows what is pending; and inside another
 * call. */
enum { RECORDER_SKIPS = 64 };
struct lane *recorder_may_skip(void);

/* Around a call that is left out: those inside it are, too. */
static inline void recorder_skip(struct lane *lane, uintptr_t cfa)
{
	lane->is_skipping = true;
	lane->call_cfa = cfa;
	atomic_signal_fence(memory_order_seq_cst);
}

static inline void recorder_skipped(struct lane *lane)
{
	atomic_signal_fence(memory_order_seq_cst);
	lane->call_cfa = 0;
	lane->is_skipping = false;
}

/* The function has returned. False: nothing to record any more (in a child that a callback forked,
 * or the call was given up). Else evidence may be written, then recorder_leave() makes the
 * event. */
static inline bool recorder_returned(const struct lane *lane)
{
	return likely(lane->call_cfa != 0);
}

void recorder_leave(struct lane *lane);

/* The same for a poll. */
void recorder_enter_poll(struct lane *lane);
void recorder_leave_poll(struct lane *lane, bool failed);

/* The same for a call that looks_are_due() for and that looks_begin() was told of: a poll or
 * not. */
void recorder_enter_look(struct lane *lane);
void recorder_leave_look(struct lane *lane);
