/* SPDX-License-Identifier: BSD-3-Clause
 * What the wrappers call. A wrapper asks recorder_begin() before the MPI function and, if that gave
 * it a lane, calls recorder_enter(), and recorder_leave() after the function. All keep errno, none
 * fails towards the program. */
#ifndef PDB_RECORDER_RECORDER_H
#define PDB_RECORDER_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/recorder/comms.h"
#include "model/recorder/lane.h"
#include "model/segment/segment.h"

/* One exported wrapper. */
struct recorder_function {
	void *go;             /* where a call of the exported symbol goes, see jump.h */
	const char *name;     /* MPI_Send */
	uint16_t class_id;    /* enum seg_class */
	uint16_t language;    /* enum seg_language */
	uint32_t name_offset; /* of the name in the segment's strings; 0: not there yet */
	void *next;           /* what the wrapper calls */
};

/* What the wrappers look up without a lock; changed through the functions below only. */
extern struct comms recorder_comms;

/* Questions to MPI; each returns false where there is no answer. */
struct recorder_mpi {
	bool (*world)(int *rank, int *size);
	bool (*thread_level)(int *level);
	int multiple; /* MPI_THREAD_MULTIPLE */
	bool (*version)(char *text, size_t size);
	/* Keys of MPI_COMM_WORLD, MPI_COMM_SELF and the null handles, in C and Fortran, to
	 * indexes. */
	void (*predefined)(void (*map)(uint64_t key, uint32_t index));
};

/* A call begins: `ra` is its return address and `cfa` the stack pointer at it. NULL when it is not
 * recorded: inside another call (Fortran on top of C, a callback), or recording is off. Else the
 * thread's lane: evidence of the call is written now, then recorder_enter() makes the event. */
struct lane *recorder_begin(struct recorder_function *function, uintptr_t ra, uintptr_t cfa);
void recorder_enter(struct lane *lane);

/* The lane, if a call may be left out that waits for nobody and does nothing. NULL for one of
 * RECORDER_SKIPS in a row, or a program that makes no others, until another rank has changed
 * something, would look as if it did not call MPI at all; where threads may be in MPI at the
 * same time, as it is not known then what a call has to wait for; and for what recorder_begin()
 * has to look at, as calls inside another. */
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

/* The function has returned. False when there is nothing to record any more: in a child that was
 * forked by a callback, or when the call had been given up. Else evidence may be written, and
 * recorder_leave() makes the event. */
static inline bool recorder_returned(const struct lane *lane)
{
	return likely(lane->call_cfa != 0);
}

void recorder_leave(struct lane *lane);

/* The same for a poll. */
void recorder_enter_poll(struct lane *lane);
void recorder_leave_poll(struct lane *lane, bool failed);

/* Around MPI_Init and MPI_Init_thread; the segment is made before. May be called twice. */
void recorder_before_init(void);
void recorder_after_init(const struct recorder_mpi *mpi);

/* Around MPI_Finalize; after it the segment is removed or left for its keeper. May be called
 * twice. */
void recorder_before_finalize(void);
void recorder_after_finalize(void);

void recorder_before_abort(void);

/* The entry of a handle that nobody has announced: a new one without id. */
uint32_t recorder_adopt(uint64_t key, enum seg_comm_kind kind);

/* The handle means this entry from now on; SEG_NO_COMM: nothing. */
void recorder_map(uint64_t key, uint32_t index);

/* A communicator, window or file was made; its lists are copied. */
void recorder_made(const struct comms_new *made);

/* It is about to be freed, and its handles mean nothing any more: another thread may get one of
 * them for something new before recorder_freed() is called. */
void recorder_unmap(uint32_t index);

/* It was freed, and its handles mean nothing any more. */
void recorder_freed(uint32_t index);

/* The program gave it a name. */
void recorder_name(uint32_t index, const char *text, size_t length);

/* A function of the program was entered or returns (enum seg_trace_kind): for the trace, where
 * there is one. depth: of such functions in each other, this one among them. */
void recorder_user_function(uintptr_t address, enum seg_trace_kind kind, int depth);

/* A session was opened (+1) or closed (-1). */
void recorder_session(int change);

#endif
