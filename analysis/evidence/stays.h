/* SPDX-License-Identifier: BSD-3-Clause
 * How long is too long: compares the present stay of a lane of the job model with earlier stays in
 * this place, its own and those of all lanes of its role.
 *
 * The error rate. Of n + 1 stays the last is as likely as any other to be the unusual one, so with
 * probability 1 / (n + 1), whatever their distribution. A healthy stay may be long in two ways:
 *	LONGER	It resembles the longest before, M, but lasts longer. It exceeds M with probability
 *		1 / (n + 1), and r M with 1 / ((n + 1) r^2), if the tail is a power law of index 2.
 *		A heavier tail has no variance: few stays would make up most of a run.
 *	OTHER	It is unlike all n before, something done seldom, and M says nothing. It exceeds s
 *		with probability s0 / ((n + 1) s): a power law of index 1, the lightest without a
 *		mean. s0 is what a busy system adds to any stay.
 * A stay is too long for an error rate e if both probabilities are below e, and if it is some times
 * as long as M, however many stays there are. Stays of one step depend on each other. So n is the
 * number of the lane's own stays, plus one for each other lane whose stays are compared.
 *
 * What a lane's stay is compared with, the first that applies:
 *	PLACE	The lane has left its state before: its own stays there and those of others. If it
 *		has polled there and computes since then, of others only the pauses after polls.
 *	LOOP	It never has, but is in a loop: the time from one arrival to the next, and stays of
 *		others in the state; n counts the iterations that the ring has, too.
 *	OTHERS	Others have left the state, in no loop: their stays. A rank that does alone what
 *		others skip (a serial part) is no hang. So its own longest stay counts, too, in
 *		places where it has stayed much longer than all others.
 *	ELSEWHERE  Nobody has: its own longest stay on that side of calls, anywhere.
 *
 * A lane that has not communicated yet is starting, and one that has come to MPI_Finalize is
 * ending: their stays say nothing before edge_ns. */
#pragma once

#include "model/base.h"

struct progress;

enum stay_basis { STAY_BY_PLACE, STAY_BY_LOOP, STAY_BY_OTHERS, STAY_BY_ELSEWHERE };

struct stay_judgement {
	enum stay_basis basis;
	bool is_new;         /* the lane has never left this place before */
	bool is_edge;        /* it starts up or ends */
	uint64_t num;        /* n: that it is compared with; 0: nothing */
	uint64_t longest_ns; /* M, of them */
	uint64_t unusual_ns; /* a stay as long as this is named, */
	uint64_t hang_ns;    /* one as long as this is a hang, */
	uint64_t end_ns;     /* and for one as long as this a job may be ended */
};

struct stays;

/* In the arena; the job model and the progress, which may be NULL (loops are not known then), are
 * borrowed. */
struct stays *stays_create(struct arena *arena, const struct job_model *jm,
			   const struct progress *progress);

/* Of the lane's present place. What a look without details has not brought (others' stays in
 * places where they are not now) is missing. Never fails. */
struct stay_judgement stays_judge(const struct stays *stays, size_t lane);

/* The lane was awaited for so long, too, before it came to its place: a hang takes hang_ratio times
 * that. */
void stays_allow(struct stay_judgement *judgement, uint64_t awaited_ns);

/* The stay that is too long for an error rate, from n earlier stays and the longest of them. */
uint64_t stays_needed(uint64_t num, uint64_t longest_ns, double error, double least_ratio);
