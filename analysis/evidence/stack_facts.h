/* SPDX-License-Identifier: BSD-3-Clause
 * What stack samples show of main threads: inside MPI, stopped, or waiting for other threads. */
#ifndef PDB_ANALYSIS_STACK_FACTS_H
#define PDB_ANALYSIS_STACK_FACTS_H

#include "model/std.h"

struct arena;
struct job;

struct stack_fact {
	int num_samples;  /* of the main thread, with frames */
	int num_outside;  /* of these, how many have no frame of MPI, */
	uint64_t outside; /* of the first 64: bit i is set if sample i is such a one */
	int num_polling;  /* and how many are in MPI_Test, MPI_Iprobe and their kin */
	/* How many are outside, but where one of these is called, or a call that may only look into
	 * a window; and the frame that calls the last of them. */
	int num_between;
	uint32_t poller;
	uint64_t first_ns, span_ns; /* when the first of them was, and how long after it the last */
	uint32_t function; /* the outermost of MPI in the last of them, CALLPATH_NONE if none */
	uint32_t call; /* the frame that calls MPI in the last; CALLPATH_NONE: none, or a poll */
	/* Not all are in one call of MPI, nor all outside or polling; or messages went on. */
	bool has_moved;
	bool is_finalizing;   /* the last of them is in MPI_Finalize, */
	bool is_initializing; /* or in MPI_Init */
	/* Seen in several calls of one function that may only look into a window (or between). */
	bool is_looking;
	bool is_polling; /* mostly in polls or such calls, and else outside: a loop that waits */
	const struct message_queues *queues; /* of the last of them that has any, or NULL */
	const struct sample *latest; /* of the main thread, with or without frames; NULL: none */
	bool is_stopped;             /* stopped, traced, a zombie or dead in all its samples */
	bool is_traced; /* a debugger has stopped it, by the latest: it may go on any time */
	bool is_uninterruptible; /* in all its samples */
	/* Of the thread inside MPI that the main one, outside by the latest, waits for, maybe by
	 * way of others, as was read. Then the rank is inside MPI there: all of the above goes by
	 * that thread. NULL: it waits for none, or that is not known. */
	const struct sample *awaited;
};

struct stack_facts {
	struct stack_fact *ranks; /* [num_ranks] by rank */
	size_t num_ranks;
};

/* In the arena. */
struct stack_facts *stack_facts_create(const struct job *job, struct arena *arena);

/* Never NULL: all zero for a rank without samples. */
const struct stack_fact *stack_facts_get(const struct stack_facts *facts, int rank);

/* Of where the rank is: the latest, or of the thread that is waited for. */
static inline const struct sample *stack_fact_place(const struct stack_fact *fact)
{
	return fact->awaited ? fact->awaited : fact->latest;
}

/* Does the main thread wait for others (join, lock, condition variable, OpenMP barrier) that are,
 * or may be, inside MPI? By what was read of whom it waits for, else by names. */
bool stack_facts_waits_for_threads(const struct stack_facts *facts, const struct job *job,
				   int rank);

#endif
