/* SPDX-License-Identifier: BSD-3-Clause
 * Who waits for whom: the AND/OR wait-for graph of a job, what follows from it, and what is wrong
 * with calls that do not match.
 *
 * Needs come from the recorder's counts (ledgers) and from message queues of MPI libraries
 * (waitfor_queues). wait_graph finds who may go on and who wait for each other; wait_groups is for
 * display. collective_groups and message_pairs show the counts themselves, side by side.
 *
 * Nodes are numbered in ranges, in this order:
 *	actors		node i is actors[i] of the evidence: a thread of a rank that calls MPI
 *	ranks		one for each rank of the job: met by any of its actors (OR)
 *	collectives	one for each that somebody waits in: the members that have not started it.
 *			A barrier of n ranks has n + 1 edges and not n * n.
 *	any		one for each communicator of a receive with a wildcard: any member (OR)
 *	locks		one for each that somebody waits for: those who hold it
 * A need is an edge from a lane to a node that is no lane, or to a thread of its own process.
 *
 * Released, as a least fixpoint: a lane that moves, computes outside MPI or of which nothing is
 * known, and one whose needs (all, or one of them) are released. What is not released will never go
 * on: it is stuck. A rank that has left MPI is not released, since nothing comes from it any more.
 * All that is doubtful counts as released, so that what is called stuck is certain: after Hilbrich
 * et al., "MPI runtime error detection with MUST" (2012), on AND/OR wait-for graphs.
 *
 * A lane that polls may do something else next, so it is released. `is_likely_stuck` says what
 * holds if it goes on polling for the same. */
#pragma once

#include "analysis/evidence/evidence.h"

struct job_comms;

#define WAITFOR_NONE UINT32_MAX

enum waitfor_kind {
	WAITFOR_MESSAGE, /* a receive or probe: the message was not sent */
	WAITFOR_RECEIVE, /* a send: the receive was not posted */
	WAITFOR_MEMBERS, /* a collective: members have not started it */
	WAITFOR_LOCK,    /* a window's lock, held by `peer` */
	/* what MPI_Win_post, MPI_Win_complete, MPI_Intercomm_create or MPI_Comm_create_group tell;
	 * `tag` (enum seg_tag) says which */
	WAITFOR_TOKEN,
	WAITFOR_TRANSFER, /* matched at both ends and not finished; always weak */
	WAITFOR_PART,     /* the library's own message of `peer` in a collective */
	/* outside MPI: the thread of the rank that is to end (`tag` 0), to release a lock (1) that
	 * it likely holds (3), or to do what one waits for that is the only other thread (2) */
	WAITFOR_THREAD,
	/* It polls a window of `peer` (-1: not one alone), which any other member may change; never
	 * certain. `number`: polls since its last other step */
	WAITFOR_LOOK,
};

/* One thing that a lane waits for. Certain: by the counts of ranks that stand still it is not met.
 * Weak: by the counts it is met, and only its transfer is left; or it is a guess. Neither: it may be
 * met or not, such as a non-blocking send that the library may have buffered, or a peer that
 * moves. */
struct waitfor_need {
	uint32_t actor; /* whose it is */
	uint8_t kind;   /* enum waitfor_kind */
	bool is_certain, is_weak;
	bool is_read; /* in what the MPI library holds of messages, and not counted */
	/* The other end has counted it as sent, but this end's MPI library holds the receive for it
	 * as one that nothing has met */
	bool is_sent;
	int32_t peer; /* the job's rank; -1: any member, or the members of a collective */
	/* Of a message; SEG_TAG_ANY: any; WAITFOR_NO_TAG: not known. Of a lock: 1 if exclusive */
	int32_t tag;
	uint32_t comm;         /* index in job_comms; SEG_NO_COMM: only its name is known */
	const char *comm_name; /* of one that was read; may be empty; NULL: see comm */
	uint32_t node;         /* what it leads to */
	uint32_t site; /* job site of the call that started it: the lane's own, or the request's */
	uint32_t request; /* index in model->requests, WAITFOR_NONE: the call itself */
	/* Of a message: it is number `number` of those with this peer, tag and communicator, and
	 * the other end has sent, or posted receives for, `given` of them; with a wildcard 0 and 0.
	 * Of a collective: its number, and how many members have not started it. Of a lock: the
	 * target's rank in the job, and how many hold it. WAITFOR_NOT_KNOWN where that is so. */
	uint64_t number, given;
	uint64_t bytes;
};
#define WAITFOR_NOT_KNOWN UINT64_MAX
#define WAITFOR_NO_TAG (INT32_MIN + 1)

/* Why a lane inside MPI has no needs, or why they are not all. */
enum waitfor_gap {
	WAITFOR_COMPLETE,    /* they are all there is: without needs it is stuck in the library */
	WAITFOR_NOT_COVERED, /* a function that is not recorded */
	WAITFOR_NO_COMM,     /* a communicator whose identity is not known */
	WAITFOR_OVERFLOW,    /* the ledger, or the requests it waits for, had no room */
	WAITFOR_UNSETTLED,   /* the counts do not tell: other receives may get the message, ... */
	WAITFOR_NO_MODEL,    /* it waits for a rank without a model */
	WAITFOR_UNREADABLE,  /* the lane was written to while it was copied */
	WAITFOR_NOT_TOLD,    /* no recorder, and its MPI library does not tell */
};

struct waitfor_actor {
	uint8_t gap;   /* enum waitfor_gap */
	bool is_or;    /* one of the needs is enough */
	bool is_stuck; /* will never go on */
	bool is_likely_stuck;
	uint32_t first_need, num_needs; /* in waitfor.needs */
};

/* A collective that somebody waits in. */
struct waitfor_collective {
	uint32_t comm;        /* index in job_comms */
	uint64_t number;      /* on it */
	const char *function; /* as called by the first that waits in it */
	uint32_t mismatch;    /* index in waitfor.mismatches, or WAITFOR_NONE */
	int owner;            /* of a neighbourhood collective: the rank it is seen from; else -1 */
	uint32_t num_missing; /* members that have not started it */
	uint32_t num_unknown; /* members for which that is not known, other jobs' too */
	bool needs_all;       /* nobody goes on before all members have come */
};

enum waitfor_difference {
	WAITFOR_OTHER_FUNCTION, /* MPI_Finalize among them: a rank leaves early */
	WAITFOR_OTHER_ROOT,
	WAITFOR_OTHER_BYTES,
	WAITFOR_ERROR,         /* members have left it with an error */
	WAITFOR_OTHER_GRAPH,   /* neighbours that do not know each other as such: pairs */
	WAITFOR_OTHER_COUNTS,  /* what one gives another is not what that takes from it: pairs */
	WAITFOR_OTHER_LEADERS, /* tags of the leaders in MPI_Intercomm_create: as pairs[0] */
};

/* What one member gives another, and what that takes from it. Of counts: bytes. Of a graph: how
 * often the giver has it among its destinations, and the taker that among its sources. Of tags: the
 * tag of each. */
struct waitfor_pair {
	int giver, taker; /* the job's ranks */
	uint64_t given, taken;
};

/* Members that agree. */
struct waitfor_party {
	struct rankset *ranks;
	const char *function; /* "MPI_Bcast" */
	int32_t root;         /* in the communicator, or SEG_PEER_NONE, ... */
	uint64_t bytes;       /* or SEG_NO_BYTES */
	uint32_t site;        /* job site of the call of the first of them */
	bool is_waiting;      /* one of them at least is still in it, or has its request */
	uint32_t error;       /* enum seg_error that its call has returned; 0: none */
};

/* Members of a communicator that do different things as their collective number `number`. Only of
 * ranks that stand still, and only where somebody waits. */
struct waitfor_mismatch {
	enum waitfor_difference what; /* the first of these that differs */
	bool has_all;                 /* all members have started it */
	uint32_t comm;
	uint64_t number;
	/* The smallest first, ties by first rank. Of pairs only those that do not fit: who is in
	 * all of them is a party of its own. */
	struct waitfor_party *parties;
	size_t num_parties;
	struct waitfor_pair *pairs; /* those where nothing is given to who waits for it first */
	size_t num_pairs;           /* at most WAITFOR_MAX_PAIRS */
};
enum { WAITFOR_MAX_PAIRS = 64 };

/* Messages that were sent, and that no receive posted so far gets. */
struct waitfor_unreceived {
	int source, destination; /* the job's ranks */
	uint32_t comm;
	int32_t tag;
	uint64_t sent, received; /* of this source, destination and tag; the first is the greater */
	bool is_new; /* the destination never received one like it, nor are tags numbers */
};

/* A message that has arrived and that no receive has met, as the MPI library holds it. */
struct waitfor_arrival {
	bool is_own; /* the library's, of a collective */
	int source, destination;
	int32_t tag;
	const char *comm; /* its name */
};

enum waitfor_slip {
	WAITFOR_OTHER_TAG,         /* sent with another tag than it is received with */
	WAITFOR_OTHER_COMM,        /* in another communicator */
	WAITFOR_OTHER_DESTINATION, /* to another rank */
	WAITFOR_OTHER_SOURCE,      /* by another rank than it is received from */
};

/* A message that is waited for, and one that nobody receives which may be meant for it. */
struct waitfor_lost {
	enum waitfor_slip slip;
	const struct waitfor_need *need;
	uint32_t message; /* index in waitfor.unreceived */
};

/* An actor of a chain or cycle. It waits for the next step's by `need`. */
struct waitfor_step {
	uint32_t actor; /* WAITFOR_NONE: a rank about which nothing is known */
	int rank;
	const struct waitfor_need *need; /* NULL: the end */
};

/* Lanes that all wait for each other and for nothing else: none will ever go on. */
struct waitfor_deadlock {
	struct rankset *ranks;
	uint32_t *actors; /* ascending */
	size_t num_actors;
	struct waitfor_step *cycle; /* one of the shortest; the last waits for the first */
	size_t num_cycle;
	bool is_likely;         /* only if those that poll go on polling */
	bool is_sure;           /* no message is on its way to them, by all that was read */
	struct rankset *behind; /* stuck ranks that wait for these, directly or not */
};

/* What a chain ends at. */
enum waitfor_end {
	WAITFOR_END_CYCLE,   /* back at one of its own lanes: stuck, or likely so */
	WAITFOR_END_OUTSIDE, /* computes */
	WAITFOR_END_MOVES,
	WAITFOR_END_LEFT,     /* has left MPI, is in MPI_Finalize, or its process has ended */
	WAITFOR_END_LIBRARY,  /* inside MPI though its needs are met */
	WAITFOR_END_UNKNOWN,  /* no model, or no usable evidence: waitfor_lane.gap says why */
	WAITFOR_END_MISMATCH, /* in a collective whose members do not agree */
	WAITFOR_NUM_ENDS
};

/* From one rank along its needs to what it waits for in the end. */
struct waitfor_chain {
	struct waitfor_step *steps; /* the first is of the rank asked for */
	size_t num_steps;
	enum waitfor_end end;
	size_t cycle_from; /* END_CYCLE: the last step waits for this one */
	/* All ranks that it waits for in the end, also beside this chain, by what they do. */
	struct rankset *ends[WAITFOR_NUM_ENDS];
};

struct waitfor {
	const struct job *job; /* borrowed, as are the next two */
	const struct evidence *evidence;
	const struct job_comms *comms;
	struct waitfor_actor *actors; /* [evidence->num_actors] */
	size_t num_actors;
	struct waitfor_need *needs; /* by lane */
	size_t num_needs;
	struct waitfor_collective *collectives; /* by communicator, then number */
	size_t num_collectives;
	struct waitfor_mismatch *mismatches; /* by communicator, then number */
	size_t num_mismatches;
	struct waitfor_deadlock *deadlocks; /* certain ones first, then the largest */
	size_t num_deadlocks;
	/* By destination, source, comm, tag; of who is stuck or waits in vain, some thousand. */
	struct waitfor_unreceived *unreceived;
	size_t num_unreceived;
	struct waitfor_lost *losts; /* by lane and need; the likeliest slip of each first */
	size_t num_losts;
	/* The program's before the library's, by source, then destination. */
	struct waitfor_arrival *arrivals;
	size_t num_arrivals;
	struct waitfor_private *private;
};

/* comms are the job's; NULL: no rank has a recorder. Both are borrowed and must outlive the result.
 * Never fails: what is not known is released. Linear in what the evidence holds. */
struct waitfor *waitfor_create(const struct evidence *evidence, const struct job_comms *comms);
void waitfor_destroy(struct waitfor *waitfor); /* NULL is fine */

/* ---- Asking it: what is returned is in the arena that is given ---- */

/* The index in collectives of a node, or WAITFOR_NONE. */
uint32_t waitfor_collective_of(const struct waitfor *waitfor, uint32_t node);

/* The lanes of a rank, none of one without a model:
 *	for (uint32_t l = waitfor_first_actor(w, rank); waitfor_is_actor_of(w, l, rank); l++) */
uint32_t waitfor_num_actors(const struct waitfor *waitfor, int rank);
uint32_t waitfor_first_actor(const struct waitfor *waitfor, int rank);
bool waitfor_is_actor_of(const struct waitfor *waitfor, uint32_t lane, int rank);

/* The need of a lane that comes after this one, or the first after NULL; NULL: no more. */
static inline const struct waitfor_need *
waitfor_next_need(const struct waitfor *waitfor, uint32_t lane, const struct waitfor_need *need)
{
	const struct waitfor_actor *of = &waitfor->actors[lane];
	size_t next = need ? (size_t)(need - waitfor->needs) + 1 : of->first_need;

	return next < of->first_need + of->num_needs ? &waitfor->needs[next] : NULL;
}

/* The same of all actors of a deadlock, one after the other. */
const struct waitfor_need *waitfor_next_need_of(const struct waitfor *waitfor,
						const struct waitfor_deadlock *deadlock,
						const struct waitfor_need *need);
/* The kinds of the actor's needs: 1U << enum waitfor_kind of each. */
unsigned waitfor_kinds_of(const struct waitfor *waitfor, uint32_t lane);
/* Does the actor wait for more than transfers? */
bool waitfor_has_strong_need(const struct waitfor *waitfor, uint32_t lane);

/* What does not fit of the collective that a lane is in, though it waits for nobody; WAITFOR_NONE:
 * nothing is known of it. */
uint32_t waitfor_mismatch_of(const struct waitfor *waitfor, uint32_t lane);

/* Add the members of a collective that have not started it. */
void waitfor_add_missing(const struct waitfor *waitfor, uint32_t collective, struct rankset *ranks);

/* The rank that a need is for; -1: several may meet it. */
int waitfor_peer(const struct waitfor *waitfor, const struct waitfor_need *need);

/* Add whom a need is for: peer, missing members, all members but oneself, or lock holders. */
void waitfor_add_peers(const struct waitfor *waitfor, const struct waitfor_need *need,
		       struct rankset *ranks);

/* Nodes that one of `ranks` meets, alone or with others of a group. */
bool *waitfor_find_met(const struct waitfor *waitfor, const struct rankset *ranks,
		       struct arena *arena);

struct waitfor_updates {
	struct rankset *fewer; /* in the arena */
	const char *function;  /* the one that all count; NULL: several */
	uint64_t least, usual; /* calls of one of `fewer`, and of each of most others */
};

/* Of a need to have a window changed (WAITFOR_LOOK): those of its members that have called what
 * changes windows less often than more than half of them. False: nobody. */
bool waitfor_find_updates(const struct waitfor *waitfor, const struct waitfor_need *need,
			  struct arena *arena, struct waitfor_updates *ret);

/* Who may be meant to send the message or token that a need is for: the peer; with a wildcard,
 * those who have sent such ones before and do not wait for the same. *are_past_ret: they are past
 * that, since messages of theirs with other numbers are on their way. */
struct rankset *waitfor_find_givers(const struct waitfor *waitfor, const struct waitfor_need *need,
				    bool *are_past_ret, struct arena *arena);

/* A persistent request that is made and not started now, and would meet a need. */
struct waitfor_unstarted {
	int rank;         /* whose it is: not the one that waits */
	uint32_t site;    /* job site of the call that made it */
	bool was_started; /* before */
	/* Another of the rank's persistent requests, started as often as this one so far, has been
	 * started once more, and has ended. */
	bool is_left_out;
};

/* What would be the message or the receive that a need is for, which is certain or by the counts
 * not met, if its rank, which stands still, had started it. False: there is none. */
bool waitfor_find_unstarted(const struct waitfor *waitfor, const struct waitfor_need *need,
			    struct waitfor_unstarted *ret);

/* The shortest way from a rank to the nearest end of its waits; ends that explain something before
 * ends where nothing is known. NULL: the rank has no model. */
struct waitfor_chain *waitfor_find_chain(const struct waitfor *waitfor, int rank,
					 struct arena *arena);

/* Whom others wait for: [num_lanes]. ends: room for WAITFOR_NUM_ENDS sets as in a chain, of all. */
bool *waitfor_find_awaited(const struct waitfor *waitfor, struct rankset **ends,
			   struct arena *arena);

/* Could all who wait go on though these lanes ([num_lanes]) never do, by others that are outside
 * MPI or move? Those that poll are taken to go on polling. False also where nobody waits, or it is
 * not known what somebody waits for. */
bool waitfor_can_do_without(const struct waitfor *waitfor, const bool *is_lane_held);

/* Ranks that stuck ones wait for and that have left MPI, are in MPI_Finalize or have ended. */
struct rankset *waitfor_find_gone(const struct waitfor *waitfor, struct arena *arena);

/* How many messages of `source`, the library's own or the program's, no receive has met; *ret: the
 * first. */
size_t waitfor_arrivals_of(const struct waitfor *waitfor, int source, bool are_own,
			   const struct waitfor_arrival **ret);

/* What the MPI libraries at both ends count of the messages of one rank to another. */
enum waitfor_way {
	WAITFOR_WAY_NOT_KNOWN, /* they do not count them, or one end moves */
	WAITFOR_WAY_EMPTY,     /* all that were sent have arrived */
	WAITFOR_ON_ITS_WAY,    /* not all */
};
enum waitfor_way waitfor_way_between(const struct waitfor *waitfor, int from, int to);

/* Has anybody received a message in this communicator with this tag? */
bool waitfor_was_received(const struct waitfor *waitfor, uint32_t comm, int32_t tag);

/* Messages of ranks that stand still, in this communicator with this tag, that have not arrived,
 * though receives may be posted for them; else as waitfor.unreceived. The caller frees. */
struct waitfor_unreceived *waitfor_find_pending(const struct waitfor *waitfor, uint32_t comm,
						int32_t tag, size_t *num_ret);
