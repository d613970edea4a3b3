/* SPDX-License-Identifier: BSD-3-Clause
 * A model: the checked copy of one rank's segment, by segment_read() or from a snapshot. Plain
 * data; ids are the segment's own. */
#pragma once

#include "model/base.h"
#include "model/segment/segment.h"

struct model_pool;
struct trace;

struct model_module {
	char *path;
	uint8_t build_id[32];
	uint8_t build_id_size;
};

struct model_site {
	uint32_t frame;   /* into frames, or SEG_NO_FRAME for site 0 */
	const char *name; /* of the MPI function; points into `strings` */
	/* enum seg_class, SEG_CLASS_OTHER for values this version does not know */
	uint16_t class_id;
	uint16_t language;
};

struct model_transition {
	uint32_t from, to; /* states */
	uint64_t count;
};

struct model_event {
	uint64_t ns;    /* on the clock of model.now_ns */
	uint32_t state; /* entered at that time */
};

/* A collective that was started, as in struct seg_collective. */
struct model_collective {
	uint64_t number, bytes;
	uint32_t site;
	int32_t root;
};

/* A communicator, window or file, as in struct seg_comm. What could not be read whole has id 0. */
struct model_comm {
	uint64_t id, parent_id;
	enum seg_comm_kind kind;
	uint32_t site, ordinal;
	int32_t rank;           /* -1: not known; see model_comm_rank() */
	uint32_t size, members; /* see model_members(), or SEG_ALL_MEMBERS, SEG_NO_MEMBERS */
	uint32_t remote_size, remote_members;
	uint32_t num_sources, sources;
	/* Of a graph, whom neighbourhood collectives send to; 0 in all members: not known. */
	uint32_t num_destinations, destinations;
	const char *name; /* NULL: none; points into `strings` */
	bool is_freed;
	uint64_t collectives;
	struct model_collective recent[SEG_RECENT]; /* latest first; number 0 ends them */
};

/* A slot. Waiting for a SEG_REQUEST_OTHER makes an operation incomplete. */
struct model_request {
	enum seg_request_kind kind; /* SEG_REQUEST_FREE: the slot is empty */
	uint32_t flags;             /* enum seg_request_flags */
	uint32_t comm;              /* into comms, or SEG_NO_COMM: peer and tag are not known */
	int32_t peer, tag;
	uint64_t ordinal, bytes;
	/* MODEL_NO_LANE: a thread that began after the lanes were copied */
	uint32_t site, lane;
	uint64_t since_ns;
};
#define MODEL_NO_LANE UINT32_MAX

struct model_transfer {
	uint32_t comm; /* into comms, or SEG_NO_COMM: peer and tag are not known */
	int32_t peer, tag;
	uint64_t ordinal, bytes;
};

/* The operation in progress or, of a lane outside MPI that polls, the last poll. */
struct model_operation {
	enum seg_operation_kind kind; /* SEG_OPERATION_OTHER: nothing is known */
	uint32_t flags;               /* enum seg_operation_flags */
	uint64_t number;
	struct model_transfer transfers[2]; /* see model_num_transfers() */
	uint32_t *waited; /* into requests, none of them free; only of the two kinds of waiting */
	size_t num_waited;
};

/* A row of a lane's ledger, as in struct seg_ledger. */
struct model_ledger {
	uint32_t comm;
	int32_t peer; /* see model_ledger_peer() */
	int32_t tag;
	uint32_t cancelled;
	bool is_distance; /* of the pool: the peer is that many ranks above the own one in comm */
	uint64_t sends, sends_done, receives, receives_done, taken;
};

/* What a thread noted of a collective, as in struct seg_note. */
struct model_note {
	uint64_t number;
	uint32_t comm; /* into comms */
	enum seg_note_kind kind;
	uint32_t unit;
	uint32_t first, num; /* of the lane's note_entries; UINT32_MAX: not known */
};

/* A segment's transitions, which are those into calls, and each site's return. */
enum { MODEL_MAX_NOTES = 64, MODEL_MAX_NOTED = 8192 }; /* of a lane */
enum { MODEL_MAX_TRANSITIONS = SEG_MAX_TRANSITIONS + SEG_MAX_SITES };

/* One thread that calls MPI. */
struct model_lane {
	bool is_main;
	bool has_ended;
	bool is_consistent; /* the rank stood still while this lane was copied */
	bool is_borrowing;  /* state_polls and ring are of the pool: it has no details */
	int32_t tid;
	uint32_t state;    /* present state; 1 (exit of "start") before the first call */
	uint64_t since_ns; /* when the present state was entered */
	uint64_t first_ns; /* when the lane was taken */
	uint64_t events;   /* transitions ever made */
	/* Once requests and communicators were copied, too; if equal, those are of this stay. */
	uint64_t last_events;

	uint32_t poll_site;    /* of the last failed poll since then; 0: none */
	bool in_poll;          /* inside a poll right now */
	uint64_t polls;        /* failed polls since since_ns */
	uint64_t last_poll_ns; /* 0: none */

	/* In the order first made; of the pool, if there is one. At most MODEL_MAX_TRANSITIONS. */
	struct model_transition *transitions;
	size_t num_transitions;
	uint64_t *longest_ns; /* [2 * num_sites] longest completed stays; NULL: only `longest` */
	struct model_stay {
		uint32_t state;
		uint64_t ns;
	} longest; /* see model_lane_longest() */
	/* [2 * num_sites] Enter states: failed polls ever. Exit states: the longest time, ns, from
	 * a failed poll to the next poll or call. */
	uint64_t *state_polls;
	struct model_event *ring; /* oldest first; the last one entered `state` */
	size_t num_ring;

	struct model_operation operation;
	struct model_ledger *ledger; /* in the order first used; of the pool, if there is one */
	size_t num_ledger;
	uint64_t dropped_ledger;  /* not 0: transfers that no row counts */
	struct model_note *notes; /* latest first, of the collectives that comms remember */
	size_t num_notes;
	uint32_t *note_entries;
	size_t num_note_entries; /* at most MODEL_MAX_NOTED */

	struct trace *trace; /* NULL: none; shared, see trace_share() */
	char *trace_note;    /* why there is none although there should be; else NULL */
};

/* What is mostly the same in all ranks of a node. */
struct model_program {
	char host[64], job[256], mpi_library[64], executable[256];
	/* What the recorder lost. */
	uint64_t dropped_strings, dropped_modules, dropped_frames, dropped_sites;
	uint64_t dropped_transitions, dropped_lanes;
	/* One more of comms if past ones are forgotten: what is missing may have been there. */
	uint64_t dropped_comms, dropped_members, dropped_requests;
};

struct model {
	int32_t rank, size;
	int32_t pid; /* as the segment says: in the rank's pid namespace */
	uint32_t uid;
	uint64_t pid_start;
	enum seg_life life;
	int32_t thread_level;          /* MPI_THREAD_*; -1: unknown */
	uint32_t number;               /* among those of a job model, in the order added */
	struct model_program *program; /* never NULL; of the pool, if there is one */
	uint64_t now_ns;               /* when the copy was made, host's CLOCK_MONOTONIC */
	uint64_t now_real_ns; /* the same moment in CLOCK_REALTIME: comparable between hosts */

	/* Not NULL: what is said to be of the pool is, and is not to be changed. The model and its
	 * lanes are, too, but are nobody else's. */
	struct model_pool *pool;
	struct model *lender; /* not NULL: its strings, modules, frames and sites are used */
	size_t num_borrowers; /* models that these tables are lent to */
	char *strings;        /* every name inside is terminated */
	size_t num_strings;   /* bytes */
	struct model_module *modules;
	size_t num_modules;
	struct seg_frame *frames; /* parents checked: below the own index or SEG_NO_FRAME */
	size_t num_frames;
	struct model_site *sites;
	size_t num_sites;
	/* 0: MPI_COMM_WORLD, 1: MPI_COMM_SELF; none before MPI_Init. To be read with model_comm(),
	 * model_comm_rank() and model_members(). */
	size_t num_comms;
	struct model_comm *comms;   /* NULL: they are of the pool */
	const uint32_t *pool_comms; /* [num_comms] numbers in the pool's comms */
	const int32_t *pool_ranks;  /* [num_comms], see model_comm_rank() */
	/* lists of world ranks and sources; no entry is below -1, none is checked against a size */
	int32_t *members;
	size_t num_members;
	struct model_request *requests; /* slots, used or free */
	size_t num_requests;
	struct model_lane *lanes;
	size_t num_lanes;

	/* What the recorder cost. */
	uint64_t full_unwinds, abandoned;
	uint64_t bytes; /* storage that the segment takes (st_blocks) */
};

/* How many of transfers[] an operation of this kind uses. */
int model_num_transfers(enum seg_operation_kind kind);

/* Is a thread inside collective `number` of comms[comm], by a call that does not return before? */
bool model_is_in_collective(const struct model *model, uint32_t comm, uint64_t number);
/* Is there a request of it that has been started and not completed? number 0: of any. */
bool model_has_begun_collective(const struct model *model, uint32_t comm, uint64_t number);

struct model *model_create(void);
/* In a pool, without a program yet. */
struct model *model_create_in(struct model_pool *pool);
/* NULL is fine. A model whose tables are lent lives on until the last borrower is destroyed. */
void model_destroy(struct model *model);

/* Are the times of the last transitions known, the longest stays and polls in each state? */
bool model_has_details(const struct model *model);
/* The lane's own ring, longest stays and polls by state. */
void model_lane_free_details(struct model_lane *lane);

/* Let `model`, which has none, use the strings, modules, frames and sites of `lender`. */
void model_borrow_tables(struct model *model, struct model *lender);

/* Communicator `index`; its `rank` is not to be read. Valid until the model or pool gets more. */
const struct model_comm *model_comm(const struct model *model, size_t index);

/* The own rank in it; -1: not known. */
int32_t model_comm_rank(const struct model *model, size_t index);

/* In place of a list of the own rank in the world: MPI_COMM_SELF is the same in all of a pool. */
#define MODEL_OWN_MEMBER (SEG_ALL_MEMBERS - 1)

/* The list that begins at `first`, which is neither SEG_ALL_MEMBERS nor SEG_NO_MEMBERS. Valid
 * until the model or its pool gets more. */
const int32_t *model_members(const struct model *model, uint32_t first);

/* The peer of a row: a rank in its communicator, not checked against the size, or enum seg_peer. */
int32_t model_ledger_peer(const struct model *model, const struct model_ledger *row);

/* What the present stay is to be compared with: the longest completed one in the state or, if it is
 * the first there, in any state of its side; the time between two polls counts, too. 0 ns: none. */
struct model_stay model_lane_longest(const struct model *model, const struct model_lane *lane);
/* The longest completed stay in a state, as far as it is known; 0: none. */
uint64_t model_lane_stay(const struct model_lane *lane, uint32_t state);

/* Check every count, index and time, but not of tables of a lender or pool: what segment_read()
 * promises. 0, or -1 with ERROR_FORMAT saying what is wrong. */
int model_validate(const struct model *model, struct pdb_error *err);
/* Is a communicator valid for this model, but for the own rank in it? */
bool model_has_valid_comm(const struct model *model, const struct model_comm *comm);
/* Does a valid trace fit this model: does it name only existing sites and functions? */
int model_validate_trace(const struct model *model, const struct trace *trace,
			 struct pdb_error *err);
