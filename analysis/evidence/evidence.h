/* SPDX-License-Identifier: BSD-3-Clause
 * What is known of each actor of a job, from all sources.
 *
 * An actor is a thread that calls MPI: a lane of the job model if the rank has a recorder, else the
 * main thread of the rank, as its stack samples show it. A job in which only some ranks have a
 * recorder is the normal case. Sources add to each other: the main thread of a recorded rank also
 * has a stack and message queues. */
#ifndef PDB_ANALYSIS_EVIDENCE_H
#define PDB_ANALYSIS_EVIDENCE_H

#include "analysis/evidence/stack_facts.h"
#include "analysis/progress/eqgroup.h"

struct actor {
	int rank;
	bool is_main;
	/* ACTIVITY_MOVES: it made a transition between the looks, or just before; by stacks, its
	 * samples are not all in one call. ACTIVITY_ENDED: MPI_Abort has been called, too. */
	enum activity activity;
	bool is_torn; /* it went on while it was copied: its counts are of different moments */
	/* In its present state by the recorder; else the time over which its samples agree. */
	uint64_t stay_ns;
	/* Of the rank's main thread, also of other threads of it; all zero: there is no sample. */
	const struct stack_fact *stack;
	const struct job_lane *lane; /* in the job model; NULL: there is no recorder */
};

/* The actors of one rank: num 0: nothing is known of it. */
struct rank_actors {
	uint32_t first, num;
};

struct evidence {
	struct arena *arena; /* it is all in here */
	const struct job *job;
	/* Actor i is lane i of the job model; then ranks without a model that have a stack. */
	struct actor *actors;
	size_t num_actors, num_lanes;
	struct rank_actors *ranks; /* [num_ranks] */
	size_t num_ranks;          /* all that anything refers to */
	struct stack_facts *stacks;
	struct rankset *ended; /* whose processes are gone */
	bool has_queues;       /* some MPI library has told what it holds of messages */
};

/* The job is borrowed and must outlive it. Never fails. */
struct evidence *evidence_create(const struct job *job);
void evidence_destroy(struct evidence *evidence); /* NULL is fine */

/* Is it in MPI_Finalize? */
bool actor_is_finalizing(const struct actor *actor, const struct job *job);

/* Is it inside MPI or polling, without progress? */
static inline bool actor_is_waiting(const struct actor *actor)
{
	return actor->activity == ACTIVITY_IN_MPI || actor->activity == ACTIVITY_POLLING;
}

#endif
