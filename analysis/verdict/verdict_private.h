/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by the rules of the verdict. */
#ifndef PDB_ANALYSIS_VERDICT_PRIVATE_H
#define PDB_ANALYSIS_VERDICT_PRIVATE_H

#include "analysis/verdict/verdict.h"
#include "analysis/evidence/stack_facts.h"
#include "analysis/evidence/stays.h"
#include "analysis/thresholds.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/rankset.h"
#include "model/sorted.h"

/* What is asked of an actor, beside what the evidence says of it. */
struct actor_fact {
	bool is_static;  /* it has not ended, and does not move */
	bool is_waiting; /* inside MPI, or polling */
	uint64_t stay_ns;
	struct stay_judgement usual; /* of one that is static */
	uint32_t role;
};

struct judge {
	struct arena *arena; /* scratch */
	const struct job *job;
	const struct evidence *evidence;
	const struct actor *actors;
	size_t num_actors;
	const struct job_model *jm; /* NULL: no rank has a recorder, as are the next two */
	const struct eqgroups *groups;
	const struct progress_graph *graph;
	const struct waitfor *waitfor;
	const struct temporal_result *order; /* of stacks; NULL: not known */
	uint64_t age_ns;                     /* of the job; 0: not known */
	uint32_t *order_group;               /* [ranks of the evidence] in it; UINT32_MAX: none */
	struct rankset **visitors; /* [job states] ranks that were ever there; NULL: not asked */
	struct actor_fact *facts;  /* [num_actors] */
	bool *has_waiting;         /* [roles] */
	bool *is_candidate;        /* [num_actors] */
	struct verdict_courses *courses; /* what lanes called, compared; NULL: not asked for */
	struct verdict_steps *steps;     /* all transitions, added up; the same */
	struct verdict *verdict;
};

/* ---- Rules: each sets the verdict and returns true, or leaves it as it was ---- */

#define RULE(name, function) bool function(struct judge *j);
#include "analysis/verdict/rules.def"
#undef RULE

/* ---- Who of a deadlock has gone wrong: each names ranks and returns true, or nobody ---- */

/* Ranks that wait for each other. */
struct stuck {
	const struct waitfor_deadlock *deadlock;
	uint64_t stay_ns;
};

typedef bool deadlock_rule(struct judge *j, const struct stuck *stuck, int how);

/* A message that was sent has not arrived: the rest follows from it. verdict_arrival.c */
deadlock_rule verdict_find_not_arrived_of;
/* Messages that nobody receives may be those that are waited for. how: close ones, which are wrong
 * in one thing alone, between the ranks that are meant; or all others. verdict_slips.c */
deadlock_rule verdict_find_slip;
/* A message lies there that may be the one waited for, and the receive is one as there was none
 * before: its receiver is wrong, or its sender has left out another one. */
deadlock_rule verdict_find_receiver;
/* Ranks have not started a persistent request that would meet the need, though they have done one
 * more round of another one. */
deadlock_rule verdict_find_unstarted;
/* A rank starts an access to one that never posted to it, while another one that posted to it waits
 * for it: its group is wrong. */
deadlock_rule verdict_find_wrong_group;
/* Ranks have gone past a collective in which others wait. how: only by their own messages or calls.
 * verdict_skipped.c */
deadlock_rule verdict_find_skipped;
/* By what MPI libraries hold of messages somebody has left something out. verdict_read.c */
deadlock_rule verdict_find_read;

/* ---- verdict_candidates.c ---- */

/* Has the actor stayed for longer than is usual in its place (stays_judge())? */
bool verdict_is_unusual(const struct judge *j, size_t lane);
/* How long the candidates stay, what that is compared with, and whether it is a hang of each. */
void verdict_weigh(struct judge *j);
/* *stay_ns becomes the lane's stay if that is shorter. */
void verdict_shorten(const struct judge *j, uint32_t lane, uint64_t *stay_ns);
size_t verdict_count_candidates(const struct judge *j);
/* Of the candidates keep these lanes, if there are any of them. */
void verdict_keep_if_any(struct judge *j, const bool *is_kept);
/* Of the candidates keep those in groups that have no other candidates behind them. */
void verdict_keep_least(struct judge *j);
/* The candidates are the culprits. */
void verdict_name_culprits(struct judge *j, enum verdict_kind kind);
/* The ranks are the culprits: their threads inside MPI, and main threads. */
void verdict_accuse(struct judge *j, const struct rankset *ranks, enum verdict_kind kind,
		    uint64_t stay_ns);
/* The same of a deadlock, and of a message that is needed. */
void verdict_accuse_stuck(struct judge *j, const struct stuck *stuck, const struct rankset *ranks);
void verdict_lose(struct judge *j, uint64_t stay_ns, const struct rankset *ranks,
		  const struct waitfor_need *need, enum verdict_witness_kind witness);
/* For this reason it is no more than likely. */
void verdict_doubt(struct judge *j, enum verdict_doubt doubt);

/* ---- verdict_read.c ---- */

/* Add those of the ranks that are not in the call that more than half of them are in. */
void verdict_find_apart(const struct judge *j, const struct rankset *ranks, struct rankset *apart);

/* ---- verdict_ahead.c ---- */

/* What tells that one is further than another. */
enum ahead {
	AHEAD_NOT,
	AHEAD_BY_ORDER,   /* of progress, or of stacks */
	AHEAD_BY_MESSAGE, /* it has sent its part of an exchange that the other has not come to */
};

/* Is actor a further than actor b? */
enum ahead verdict_ahead(const struct judge *j, uint32_t a, uint32_t b);
/* Has `peer` not come to the place where the two exchange messages, since it has not received what
 * the actor has sent there? A message proves that only if both send one: a rank that asks a
 * question also sends one and waits for the answer. So the message has the tag that is waited for,
 * or the peer was itself where the actor waits. */
bool verdict_is_before_exchange(const struct judge *j, uint32_t l, int peer, uint32_t comm);
/* Main threads that got on between their samples, by the loops' variables in them. */
struct rankset *verdict_find_moving(const struct judge *j);

/* ---- verdict_ends.c ---- */

/* Keep the candidates that waits end at, if there are any. */
void verdict_keep_ends(struct judge *j);
/* Keep the candidates that somebody waits for, if there are any. */
void verdict_keep_awaited(struct judge *j);
/* No verdict: do all wait for ranks that move or compute, and how long have these computed? */
void verdict_find_awaited(struct judge *j);

/* ---- verdict_mismatch.c ---- */

/* Candidates are held up in a collective that all have come to, and others, further on the same
 * communicator, do not agree on a size: one of them has left out a collective. */
bool verdict_find_shifted(struct judge *j);

/* ---- verdict_novel.c ---- */

/* The lane, or WAITFOR_NONE, that lately took a transition that nobody else ever took, from where
 * it is usual to go on otherwise; of several the one that stands where it has led since. */
uint32_t verdict_find_novel(struct judge *j, const uint32_t *lanes, size_t num,
			    uint32_t *transition_ret);
/* The verdict goes by it. */
void verdict_set_novel(struct judge *j, uint32_t actor, uint32_t transition);

/* ---- verdict_departed.c ---- */

/* Weak evidence is good only where something else speaks for it, too. */
enum departed_evidence { DEPARTED_STRONG, DEPARTED_WEAK };

/* The first lane among lanes[num] that has left its course (departure_find(), by the calls of all
 * lanes or by its own), by a step that others do not take as seldom; *num_later_ret did so later.
 * WAITFOR_NONE: none, or it is not known of all, or not who was first, or they are too many. */
uint32_t verdict_find_departed(struct judge *j, const uint32_t *lanes, size_t num,
			       enum departed_evidence evidence, struct departure *ret,
			       size_t *num_later_ret);
/* Was this departure earlier than the actor's step, which it took only once? */
bool verdict_is_departure_before(const struct judge *j, uint32_t departed,
				 const struct departure *departure, uint32_t actor,
				 uint32_t transition);
/* The verdict goes by it, so that it is no more than likely. */
void verdict_set_departed(struct judge *j, uint32_t actor, const struct departure *departure,
			  size_t num_later);

/* ---- verdict_senders.c ---- */

enum verdict_senders {
	VERDICT_SENDERS_ALL,
	VERDICT_SENDERS_ANY,         /* only of what receives from anybody wait for */
	VERDICT_SENDERS_UNSETTLED,   /* the same, also where it has perhaps been sent */
	VERDICT_SENDERS_BY_MESSAGES, /* of these, only who has sent what comes later */
};

/* Ranks of the deadlock that have sent what comes later, or are further by the order, and not what
 * others of it wait for, of which one need is returned. NULL: none, or too many. */
struct rankset *verdict_find_senders(const struct judge *j, const struct waitfor_deadlock *deadlock,
				     enum verdict_senders which,
				     const struct waitfor_need **need_ret);
/* Has the peer of a need for a receive gone past that? In the same iteration it is at a later
 * place, or by its numbers of receives and of collectives. */
bool verdict_has_left_out_receive(const struct judge *j, const struct waitfor_deadlock *deadlock,
				  const struct waitfor_need *need);
/* Is a thread of the rank that is in the deadlock further than this lane? */
bool verdict_is_further(const struct judge *j, const struct waitfor_deadlock *deadlock, int rank,
			uint32_t lane);
bool verdict_has_lane(const struct waitfor_deadlock *deadlock, uint32_t lane);

#endif
