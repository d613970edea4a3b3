/* SPDX-License-Identifier: BSD-3-Clause
 * Who holds the others up. The verdict never claims more than was seen.
 *
 * rules.def has the rules in the order tried. Each file has those for one kind of fact:
 *	rules		what ranks do
 *	deadlock	who waits for whom, with slips, skipped, senders and ends
 *	arrival		messages that were sent and have not arrived
 *	mismatch	calls that do not match
 *	novel		steps that are new
 *	departed	steps that leave a course, by departure and call_contexts
 * ahead is the relation "is ahead of"; candidates names who is meant. */
#pragma once

#include "analysis/progress/eqgroup.h"
#include "analysis/verdict/departure.h"
#include "analysis/waits/waitfor.h"

struct temporal_result;

enum verdict_kind {
	VERDICT_NONE,        /* nobody is blocked, or what is waited for moves */
	VERDICT_COMPUTATION, /* culprits are outside MPI and do not move while others wait inside */
	VERDICT_STOPPED,     /* the culprits' processes are stopped, zombies or uninterruptible */
	VERDICT_LEFT,        /* the culprits have left MPI or vanished while others wait */
	VERDICT_LEAST,       /* all static ranks are inside MPI: these are least in the order */
	VERDICT_UNDECIDED,   /* all are static and inside, and the order cannot pick */
	VERDICT_UNKNOWN,     /* too little is known (no models and no stacks) */
	VERDICT_DEADLOCK,    /* ranks wait for each other */
	VERDICT_MISMATCH,    /* members call different collectives */
	VERDICT_LOST,    /* a message that is waited for was not sent, or not as it is received */
	VERDICT_LIBRARY, /* inside MPI though nothing is missing: both ends, without picking one */
	VERDICT_CRASHED, /* the culprits' processes were ended by a fault, or by abort() */
};

enum verdict_basis { VERDICT_BY_MODELS, VERDICT_BY_STACKS };

/* What shows who has gone wrong, or what has. */
enum verdict_witness_kind {
	WITNESS_NONE,
	WITNESS_LOST,  /* a culprit has not sent what the need is for, */
	WITNESS_SLIP,  /* and has sent `lost` instead, which nobody receives */
	WITNESS_AHEAD, /* the need's actor is the culprit: whom it is for has not come that far */
	WITNESS_APART, /* it is for a culprit, in a collective, and that one is in another call */
	WITNESS_GROUP, /* the actor is the culprit: it accesses a rank that never posted to it */
	WITNESS_UNSTARTED, /* a culprit has a request for it that it has not started */
	/* Its receive is as none before, and `lost` that may be meant for it lies there: one of the
	 * culprits is its actor, the other the sender of that. */
	WITNESS_RECEIVER,
	/* It is for a message that was sent and has not arrived. The culprits are both ends of all
	 * such messages, and are not to blame. */
	WITNESS_NOT_ARRIVED,
	/* `rank` took the `transition` once, and nobody else did, from where it is usual to go on
	 * otherwise. */
	WITNESS_NOVEL,
	WITNESS_DEPARTED, /* `rank` went on otherwise than it did before */
	WITNESS_SKIPPED,  /* the culprits seem to have left out the `collective` */
};

struct verdict_witness {
	enum verdict_witness_kind kind;
	int rank;
	union {
		const struct waitfor_lost *lost;
		uint32_t transition; /* of the job model */
		uint32_t collective; /* in waitfor->collectives */
		struct {
			struct departure
				departure; /* its calls are enter states of the job model */
			size_t num_later;  /* others that are concerned did so after it */
		};
	};
};

/* Why the culprits are no more than likely. Of several reasons the first of these is told. */
enum verdict_doubt {
	DOUBT_NONE,
	DOUBT_ON_ITS_WAY,    /* the message may still arrive */
	DOUBT_NOT_SHOWN,     /* the MPI libraries do not show that it was sent */
	DOUBT_FIRST_POST,    /* the other rank may have left out its first post */
	DOUBT_LATER_START,   /* the request may be one to start later, */
	DOUBT_LATER_RECEIVE, /* or the message one to receive later */
	DOUBT_WHO_SENDS,     /* it is read which messages are missing, not who should send them */
	DOUBT_POLLING,       /* ranks that poll may go on */
	DOUBT_DEPARTURE,     /* an unusual call need not be the cause */
	DOUBT_ORDER,         /* the sender was found by the order of calls alone, */
	DOUBT_PLACES,        /* or who left out a collective, by that and by places */
	DOUBT_EARLIER,       /* an earlier collective may have been left out, */
	DOUBT_SHIFTED,       /* which would explain both it and where others wait */
	DOUBT_UNCOUNTED,     /* a message that cannot be counted may be on its way */
	DOUBT_THREAD,        /* a thread without MPI calls so far may help */
	NUM_DOUBTS,
};

enum verdict_certainty { VERDICT_POSSIBLE, VERDICT_LIKELY, VERDICT_CERTAIN };

struct verdict {
	struct arena *arena; /* it is all in here */
	enum verdict_kind kind;
	const char *rule; /* the name of that which said so, in rules.def; NULL: none did */
	enum verdict_basis basis;
	struct rankset *culprits; /* empty for NONE and UNKNOWN; candidates for UNDECIDED */
	uint32_t *culprit_groups; /* indexes in eqgroups, least progressed first */
	size_t num_culprit_groups;
	struct rankset *waiting; /* static and inside MPI (or polling), culprits apart */
	struct rankset *moving;  /* made a transition between the looks or just before */
	bool is_hang;            /* a hang or crash, confident enough for exit status 1 */
	bool is_final; /* what is waited for never comes, though the cause may be a guess */
	enum verdict_certainty certainty; /* of the culprits: are they the cause? */
	enum verdict_doubt doubt;
	/* How sure: the culprits' shortest present stay, and the longest earlier one that it was
	 * compared with. */
	uint64_t stay_ns, longest_before_ns;
	uint64_t needed_ns;  /* by stays: a hang if these are as long as this, */
	uint64_t end_ns;     /* and long enough to end a job for it; 0: not by stays */
	bool is_uncounted;   /* by stacks: not all messages could be counted; ranks may move */
	bool is_read;        /* by what MPI libraries hold of messages, at least in part */
	bool is_new_state;   /* no culprit ever left this state before */
	bool is_approximate; /* a comparison used cumulative counts of an inner loop */
	uint64_t quiet_ns;   /* since the last transition of any rank */
	/* The job starts up or ends, as all who wait do so in MPI_Init, or in MPI_Finalize. NONE:
	 * that may just take long; COMPUTATION: the culprits have not come to MPI_Init. */
	bool is_edge;

	const struct waitfor_deadlock *deadlock; /* UNKNOWN: of which nobody can be named */
	const struct waitfor_mismatch *mismatch;
	const struct waitfor_need *need; /* that is not met; NULL: the verdict goes by none */
	struct verdict_witness witness;
	/* UNKNOWN by stacks, all inside MPI: those that are not in the call that more than half are
	 * in; empty if there is none. No culprits: who waits for a message that was not sent is
	 * apart as much as who has left something out. */
	struct rankset *apart;
	/* The order of stacks has chosen the culprits, the least progressed of these ranks. */
	bool is_by_order;
	struct rankset *compared;
	/* NONE: the ranks that all waits end at, if these move or are outside MPI. stay_ns and
	 * longest_before_ns are of those that do not move, though they are no culprits. */
	struct rankset *awaited;
};

/* A rank is static if it made no transition between the looks, or with one look none for 200 ms.
 *
 * Nobody is accused for a stay that is usual in its place. A stay is a hang only if it is longer
 * than one in a thousand (evidence/stays.h). A rank that computes while others move is not named
 * before that; then a hang takes 10 s and a hundred times the longest stay. While a job starts or
 * ends nobody is accused before a minute. Deadlocks, mismatches and lost messages are certain by
 * the counts: they are reported, and are a hang, from 500 ms on, also while others move.
 *
 * A rank without a recorder is judged by its stacks alone: how long it was elsewhere is not known.
 * So a hang takes 3 s of samples that agree, and counted messages of all ranks. While others move it
 * is named only if most wait, and is no hang. It is not named
 * if all that wait and have a recorder have waited as long before. */
struct verdict_input {
	const struct evidence *evidence;
	/* NULL without a recorder. */
	const struct eqgroups *groups;
	const struct progress_graph *graph;
	const struct waitfor *waitfor;
	const struct temporal_result *order; /* see verdict_wants_order(); NULL: not known */
	uint64_t age_ns;                     /* how long the job has run; 0: not known */
};

/* Never fails. All is borrowed; the result refers to what waitfor holds. */
struct verdict *verdict_create(const struct verdict_input *input);

/* Is the temporal order of the latest stack samples worth its time? */
bool verdict_wants_order(const struct evidence *evidence);

/* How many milliseconds a look must take to tell more; 0: a longer one tells nothing. A message may
 * be on its way between ranks that seem to wait for each other, and not all MPI libraries count
 * these. For a rank without a recorder that computes it is not known how long it has done so. */
int verdict_longer_look(const struct verdict *verdict);

/* Do the culprits compute, and is a hang not to be told from a long step, as it took too short a
 * time, or others move? */
bool verdict_may_be_slow(const struct verdict *verdict);

/* May it be reported as a hang if something else says that there is one? A rank is named, and not
 * for computing while others move, unless that is a hang by itself. */
bool verdict_may_be_hang(const struct verdict *verdict);

void verdict_destroy(struct verdict *verdict);
