/* SPDX-License-Identifier: BSD-3-Clause
 * Life of the recorder in a process, and what all its threads share. Functions keep errno. None
 * reports a failure to the program. */
#pragma once

#include <pthread.h>

#include "model/recorder/comms.h"
#include "model/recorder/intern.h"
#include "model/recorder/lane.h"
#include "model/recorder/tracer.h"

enum process_stage {
	PROCESS_ASLEEP, /* no MPI call yet */
	PROCESS_ON,
	PROCESS_OFF, /* not wanted, not possible, ended, or a forked child: for good */
};

extern struct process {
	_Atomic int stage;
	struct writer writer;
	struct objects objects;
	struct intern intern;
	struct requests requests;
	struct tracing tracing;
	pthread_key_t key;       /* its destructor marks the lane of a thread that ends */
	struct lane *lanes;      /* all, the last one first */
	struct lane *free_lanes; /* of ended threads, the last one first */
	struct call_path *paths; /* of the last two unwinds, too big for small stacks */
	unsigned num_unwinds;
	const struct lane *unwound; /* whose stack the last is of; NULL: not to be used again */
	int sessions;               /* open MPI sessions */
	bool had_sessions, had_init;
	bool knows_world; /* since MPI_Init */
} process __attribute__((visibility("hidden")));

extern __thread struct process_self {
	struct lane *lane; /* NULL: none yet */
	bool no_lane;      /* there was no room for one: do not ask again */
} process_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* ---- A call ---- */

/* The thread has no lane yet: one if it can get it, or NULL. */
struct lane *process_attach(enum seg_life life);

/* Code that was unloaded may have left its addresses to other code. In a slow section. */
void process_forget_unloaded(struct lane *lane);

/* Nothing more can be recorded. What is there stays, and the segment says so. In a slow section. */
void process_stop(void);

/* ---- Init, finalize, abort ---- */

/* Questions to MPI, by wrap_mpi.c; each returns false where there is no answer. */
struct process_mpi {
	bool (*world)(int *rank, int *size);
	bool (*thread_level)(int *level);
	int multiple; /* MPI_THREAD_MULTIPLE */
	bool (*version)(char *text, size_t size);
	/* Keys of MPI_COMM_WORLD, MPI_COMM_SELF and the null handles, in C and Fortran, to
	 * indexes. */
	void (*predefined)(void (*map)(uint64_t key, uint32_t index));
};

/* Before MPI_Init the segment is made; after MPI_Finalize it is removed or left for its keeper. All
 * may be called twice. */
void process_before_init(void);
void process_after_init(const struct process_mpi *mpi);
void process_before_finalize(void);
void process_after_finalize(void);
void process_before_abort(void);

/* A session was opened (+1) or closed (-1). */
void process_session(int change);

/* ---- Communicators, windows, files ---- */

/* The entry of a handle that nobody has announced: a new one without id. */
uint32_t process_adopt(uint64_t key, enum seg_comm_kind kind);

/* The handle means this entry from now on; SEG_NO_COMM: nothing. */
void process_map(uint64_t key, uint32_t index);

/* As comms_add() (lists are copied), comms_unmap(), comms_freed(), comms_name(). */
void process_made(const struct comms_new *made);
void process_unmap(uint32_t index);
void process_freed(uint32_t index);
void process_name(uint32_t index, const char *text, size_t length);
