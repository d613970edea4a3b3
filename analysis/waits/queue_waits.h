/* SPDX-License-Identifier: BSD-3-Clause
 * Who waits for whom without a recorder: by the calls that the stacks are in and the messages
 * that the MPI libraries hold (model/job/message_queues.h). */
#ifndef PDB_ANALYSIS_QUEUE_WAITS_H
#define PDB_ANALYSIS_QUEUE_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct job;
struct rankset;
struct stack_facts;

enum queue_wait_kind {
	QUEUE_WAIT_MESSAGE,    /* for a message: the receive is posted, and nothing has met it */
	QUEUE_WAIT_RECEIVE,    /* for a receive: the message has arrived, and none has met it */
	QUEUE_WAIT_COLLECTIVE, /* for the library's own messages in a collective */
};

struct queue_wait {
	enum queue_wait_kind kind;
	int rank, peer; /* the job's: `rank` waits for `peer` */
	bool is_any;    /* any member will do; `peer` is one of them */
	int32_t tag;    /* MESSAGE_ANY_TAG, MESSAGE_TAG_NOT_KNOWN; of the library's own: below 0 */
	char comm[64];  /* its name; may be empty */
};

struct queue_arrival {
	bool is_own; /* the library's */
	int source, destination;
	int32_t tag;
	const char *comm; /* its name */
};

struct queue_waits {
	/* By rank. In MPI_Wait and its kin: all that was posted, though it may wait for some. */
	struct queue_wait *waits;
	size_t num_waits;
	/* A node for each rank and an edge for each wait, in the same order. Who waits for nobody,
	 * or also for somebody who is not known, is free. */
	struct wait_graph *graph;
	size_t num_ranks;
	/* That no receive has met; the program's before the library's, by source, destination. */
	struct queue_arrival *arrivals;
	size_t num_arrivals;
};

/* Has any rank told what its library holds? */
bool queue_waits_are_known(const struct job *job);

/* Of the latest samples; facts are of the same job. Ranks that are not inside MPI have no waits.
 * The job must outlive it; all is in the arena. */
struct queue_waits *queue_waits_create(const struct job *job, const struct stack_facts *facts,
				       struct arena *arena);

/* The wait of a rank that comes after this one, or the first after NULL; NULL: no more. */
const struct queue_wait *queue_waits_next(const struct queue_waits *waits, int rank,
					  const struct queue_wait *wait);
/* How many messages of `source`, its library's or program's, nobody received; *ret: the first. */
size_t queue_waits_unreceived_of(const struct queue_waits *waits, int source, bool are_own,
				 const struct queue_arrival **ret);
/* Is there a message of the program of `source` that `destination` has not come to receive? */
bool queue_waits_has_unreceived(const struct queue_waits *waits, int source, int destination);

/* Ranks in the same function, called from the same place, for the same ranks and kind of thing. */
struct queue_group {
	struct rankset *ranks;
	struct rankset *peers; /* all that they wait for; empty: that is not known */
	uint32_t function;     /* stack_fact.function */
	bool is_apart;
	/* the first wait of each of them, but for the peer, if there are peers */
	struct queue_wait example;
	/* the peers of waits as in the example, and of others; "any rank" apart */
	struct rankset *alike, *others;
	bool is_mixed; /* each of them waits for some of `alike` only */
};

struct queue_groups {
	struct queue_group *groups; /* of most ranks first */
	size_t num_groups;
};

/* Of these ranks, as far as their latest samples are inside MPI; those in `apart` are not mixed
 * with others. Beyond max_groups, who waits for one kind of thing is together. In the arena. */
struct queue_groups *queue_groups_create(const struct queue_waits *waits,
					 const struct stack_facts *facts,
					 const struct rankset *ranks, const struct rankset *apart,
					 size_t max_groups, struct arena *arena);

#endif
