/* SPDX-License-Identifier: BSD-3-Clause
 * A small MPI to make evidence with: programs in a short notation are carried out by its rules
 * until nobody can go on, and counted as the recorder counts. What it knows besides (which
 * messages were matched) is the truth that an analysis may not contradict.
 *
 * A program is calls separated by blanks. "{20 ...}" does them 20 times. Each call has a call
 * site of its own, by its place: "-" is no call but has a place, and after "=3" comes place 4.
 */
/* clang-format off */
/*	s1	MPI_Send to 1, tag 0		S1	the same, too long to be buffered
 *	z1	MPI_Ssend
 *	r1 r*	MPI_Recv from 1, any		p1 p*	MPI_Probe
 *	q1,2	MPI_Sendrecv to 1, from 2
 *	is1 iS1 iz1 ir1 ...	MPI_Isend, MPI_Issend, MPI_Irecv
 *	w	MPI_Waitall	v	MPI_Waitany	t	MPI_Testall for ever
 *	b	MPI_Barrier	ib	MPI_Ibarrier
 *	c1	MPI_Bcast, root 1		d1	MPI_Reduce
 *	a	MPI_Allreduce			n	MPI_Neighbor_allgather on a ring
 *	l1 L1	MPI_Win_lock at 1, shared or exclusive	u1	MPI_Win_unlock
 *	P1 T1 C1 W1	MPI_Win_post to, start to, complete to, wait for 1
 *	x	compute for ever		m	move
 *	f	MPI_Finalize			e	end without it
 * after which may come a tag ":7" or ":*" and a communicator "@1" of all ranks (0: the world). */
/* clang-format on */
#ifndef PDB_TESTS_UNIT_SMALL_MPI_H
#define PDB_TESTS_UNIT_SMALL_MPI_H

#include <ctype.h>

#include "tests/unit/simulation.h"

enum {
	SM_RANKS = 16,
	SM_COMMS = 4, /* in the notation; in a model 0 is the world, 1 SELF, then these */
	SM_ROWS = 64,
	SM_SLOTS = 32,
	SM_WORLD_ID = 77,
};

struct sm_message {
	int source, destination, comm, tag;
	bool is_long, is_matched;
};

struct sm_transfer {
	bool is_send;
	int comm, peer, tag; /* SEG_PEER_ANY, SEG_TAG_ANY */
	uint64_t ordinal;
	size_t row;
	int message; /* a send's own, or that a receive has got; -1 */
	bool is_posted, is_synchronous;
	unsigned order; /* in which receives were posted */
};

enum sm_request { SM_FREE, SM_TRANSFER, SM_COLLECTIVE };

struct sm_slot {
	enum sm_request kind;
	struct sm_transfer transfer;
	int comm;
	uint64_t number;
	uint32_t site;
};

struct sm_call {
	char kind;
	bool is_request;
	int peer, peer2, tag, comm;
	uint32_t site; /* number of the call in the program's text */
};

struct sm_lock {
	int target;
	bool is_held, is_exclusive;
};

struct sm_rank {
	struct sim_rank *sim;
	const char *at; /* in its program */
	struct {
		const char *begin;
		int left;
		uint32_t site;
	} loops[4];
	int depth;
	uint32_t site, poll_site;

	int steps;
	struct sm_call call; /* in progress */
	bool is_inside, is_done;
	struct sm_transfer transfers[2];
	struct model_ledger rows[SM_ROWS];
	size_t num_rows, max_tags; /* rows, from which on tags get none of their own */
	struct sm_slot slots[SM_SLOTS];
	uint64_t collectives[SM_COMMS];
	struct model_collective recent[SM_COMMS][SEG_RECENT];
	struct sm_call calls[SM_COMMS][SEG_RECENT]; /* the same ones */
	struct sm_lock lock;
};

struct sm_job {
	int size;
	struct sm_rank ranks[SM_RANKS];
	struct sm_message messages[4096];
	int num_messages;
	unsigned order;
	unsigned random; /* state; 0: in the order of ranks */
};

bool sm_is_complete(const struct sm_job *job, const struct sm_transfer *t);

/* Has the rank started it, and the same as the other one? */
bool sm_has_come(const struct sm_job *job, int rank, int self, int comm, uint64_t number);

/* Who has to have come before the rank goes on, in a binomial tree for those with a root. */
bool sm_needs_member(const struct sm_job *job, int self, char kind, int root, int other);

bool sm_is_collective(char kind);

/* Could it make a step? */
bool sm_can_step(const struct sm_job *job, int self);

/* Until nobody can go on, or for so many steps. */
void sm_run(struct sm_job *job, int max_steps);

/* programs[size] by rank. seed: 0: ranks go as far as they can in turn; else by chance. */
struct sm_job *sm_create(const char *const *programs, int size, unsigned seed);

/* Frees the models that nobody has taken, too. */
void sm_destroy(struct sm_job *job);

#endif
