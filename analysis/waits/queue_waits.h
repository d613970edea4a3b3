/* SPDX-License-Identifier: BSD-3-Clause
 * Who waits for whom without a recorder: by the calls that the stacks are in and the messages
 * that the MPI libraries hold (model/job/message_queues.h). */
#ifndef PDB_ANALYSIS_QUEUE_WAITS_H
#define PDB_ANALYSIS_QUEUE_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct graph;
struct job;
struct rankset;
struct stack_facts;

enum queue_wait_kind {
	QUEUE_WAIT_MESSAGE, /* for a message: the receive is posted, and nothing has met it */
	/* for a receive: the message has arrived, and no receive has met it */
	QUEUE_WAIT_RECEIVE,
	QUEUE_WAIT_COLLECTIVE, /* for the library's own messages in a collective */
};

struct queue_wait {
	enum queue_wait_kind kind;
	int rank, peer; /* the job's: `rank` waits for `peer` */
	bool is_any;    /* any member will do; `peer` is one of them */
	int32_t tag;    /* MESSAGE_ANY_TAG, MESSAGE_TAG_NOT_KNOWN; of the library's own: below 0 */
	char comm[64];  /* its name; may be empty */
};

struct queue_waits {
	/* By rank. Those of a rank in MPI_Wait and its kin are all that it has posted, of which
	 * it may wait for some only. */
	struct queue_wait *waits;
	size_t num_waits;
	/* [num_ranks + 1] the waits of rank r are waits[first[r]] to waits[first[r + 1] - 1] */
	size_t *first;
	size_t num_ranks;
	bool *is_open; /* [num_ranks]: it waits for somebody who is not known, too */
	/* Messages that have arrived and that no receive has met, collectives' apart, by source,
	 * then destination. */
	struct queue_unreceived {
		int source, destination;
	} * unreceived;
	size_t num_unreceived;
};

/* Has any rank told what its library holds? */
bool queue_waits_are_known(const struct job *job);

/* Of the latest samples; facts are of the same job. Ranks that are not inside MPI have no waits.
 * Keeps nothing of either. */
struct queue_waits *queue_waits_create(const struct job *job, const struct stack_facts *facts);
void queue_waits_destroy(struct queue_waits *waits); /* NULL is fine */

size_t queue_waits_of(const struct queue_waits *waits, int rank, const struct queue_wait **ret);
/* The messages of `source` that nobody has received: their number, *ret points to the first of
 * them. */
size_t queue_waits_unreceived_of(const struct queue_waits *waits, int source,
				 const struct queue_unreceived **ret);
/* Is there a message of `source` that `destination` has not received? Then that one has not come
 * to where it does. */
bool queue_waits_has_unreceived(const struct queue_waits *waits, int source, int destination);
/* An edge from each rank to those it waits for. The caller destroys it. */
struct graph *queue_waits_graph(struct arena *arena, const struct queue_waits *waits);

/* ---- Those who wait alike ----
 * In the same function, called from the same place, for the same ranks and the same kind of
 * thing. */

struct queue_group {
	struct rankset *ranks;
	struct rankset *peers; /* all that they wait for; empty: that is not known */
	/* the first wait of each of them, but for the peer, if there are peers */
	struct queue_wait example;
	struct rankset *alike; /* the peers of waits as in the example, "any rank" apart */
	bool is_mixed;         /* each of them waits for some of `alike` only */
	bool has_others;       /* some of them wait for something else, too */
};

struct queue_groups {
	struct queue_group *groups; /* of most ranks first */
	size_t num_groups;
};

/* Of these ranks, as far as they were inside MPI in their latest samples; those in `apart` are
 * not in a group with others. If these are more than max_groups, ranks that wait for one kind of
 * thing are together, whoever they wait for. */
struct queue_groups *queue_groups_create(const struct queue_waits *waits,
					 const struct stack_facts *facts,
					 const struct rankset *ranks, const struct rankset *apart,
					 size_t max_groups);
void queue_groups_destroy(struct queue_groups *groups); /* NULL is fine */

#endif
