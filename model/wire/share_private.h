/* SPDX-License-Identifier: BSD-3-Clause
 * The columns of a share, for the files that fill, merge, store and read it. */
#pragma once

#include "model/blobs.h"
#include "model/decoder.h"
#include "model/wire/share.h"

#define SHARE_MAGIC "PDBSHARE" /* 8 bytes, then the version */
#define SHARE_VERSION 9

/* Stored in this order. "of each lane": a row has an item for each lane. */
enum share_column_id {
	SHARE_SHAPE,       /* tables of the segment: modules, frames, sites */
	SHARE_PROGRAM,     /* what is mostly the same in all ranks of a node */
	SHARE_PROCESS,     /* what is never the same: pid, clocks, costs */
	SHARE_LISTS,       /* lists of ranks, each once; comms refer to their place in the row */
	SHARE_COMMS,       /* communicators, without what only this rank knows */
	SHARE_COMM_RANKS,  /* this rank's rank in each of them */
	SHARE_COLLECTIVES, /* of each communicator: the last collectives started */
	SHARE_REQUESTS,
	SHARE_LANES,        /* of each lane: its present state and what goes with it */
	SHARE_TIMES,        /* of each lane: how long, how often */
	SHARE_TRANSITIONS,  /* of each lane: from and to */
	SHARE_COUNTS,       /* of each lane: how often each was made */
	SHARE_RING_STATES,  /* of each lane */
	SHARE_STAYS,        /* of each lane: the longest earlier stay to compare the present with */
	SHARE_OPERATIONS,   /* of each lane */
	SHARE_LEDGERS,      /* of each lane */
	SHARE_LOOKS,        /* of each lane: the second look */
	SHARE_SAMPLES,      /* of each sample: the stack and what goes with it */
	SHARE_SAMPLE_TIMES, /* of each sample: thread and times */
	SHARE_HOLES,        /* what is not known, and why */
	SHARE_RING_TIMES,   /* of each lane; SHARE_DETAILS from here on */
	SHARE_LONGEST,      /* of each lane: the longest stay in each state */
	SHARE_POLLS,        /* of each lane: polls in each state */
	SHARE_NAMES_COLUMN, /* items only: frames and their names */
	SHARE_VALUES,       /* of each sample: what probes have read */
	SHARE_CODE_COLUMN,  /* items only: functions of machine code */
	SHARE_TRACE_COLUMN, /* of each lane: its trace */
	SHARE_QUEUES,       /* of each sample: message queues; an empty item: none are known */
	/* What the rank used; of the lowest rank of a node its node, too. Older shares have none. */
	SHARE_USAGE,
	SHARE_VARIABLES, /* of each sample: its variables. Older shares have none */
	SHARE_NUM_COLUMNS
};

/* How an item of SHARE_TRACE_COLUMN begins: nothing follows, a trace, or a text why there is
 * none. */
enum { SHARE_TRACE_NONE, SHARE_TRACE_IS_THERE, SHARE_TRACE_NOTE };

/* Are items of the column practically never the same, so that nobody looks? */
static inline bool share_is_own(enum share_column_id id)
{
	return id == SHARE_PROCESS || id == SHARE_TIMES || id == SHARE_USAGE || id == SHARE_STAYS ||
	       id == SHARE_RING_TIMES || id == SHARE_SAMPLE_TIMES;
}

/* Ranks [first, last] have an item, the same one or each the one after that of the rank before. */
struct share_run {
	int first, last;
	uint32_t item : 31; /* of `first` */
	uint32_t step : 1;  /* 0: the same */
};

static inline uint32_t share_run_item(const struct share_run *run, int rank)
{
	return run->item + (run->step ? (uint32_t)(rank - run->first) : 0);
}

/* The n-th items of ranks. */
struct share_place {
	struct share_run *runs; /* ascending, apart */
	size_t num_runs, capacity;
};

/* The row of a rank is its items in places 0, 1, ... up to the last one where it has some. */
struct share_column {
	struct blobs items;
	struct share_place *places;
	size_t num_places, capacity;
};

struct share {
	unsigned int parts;
	bool has_model;         /* a recorder was there, even if no rank has a model */
	uint64_t taken_real_ns; /* the latest */
	double look_seconds;    /* the longest */
	uint64_t memory;        /* of the budget: what a job made of it may take */
	const char *teller;     /* NULL: "a node" */
	struct share_column columns[SHARE_NUM_COLUMNS];
};

#define SHARE_MAX_ITEMS ((1u << 31) - 1) /* of a column, and places */

/* What may be made of so many bytes: what they may, and a model and a stack for each rank of the
 * job, since a million that do the same take next to none. */
uint64_t share_budget(uint64_t bytes, int num_ranks);

/* The bytes before compression: append them, take them into an empty share. Ranks must be below
 * num_ranks. */
void share_put(const struct share *share, struct buffer *b);
void share_take(struct share *share, struct decoder *in, int num_ranks);

/* The number of an item of the column, added if need be. */
uint32_t share_column_add_item(struct share_column *column, enum share_column_id id,
			       const void *bytes, size_t size);

/* Give `rank`, above all others of the column, these items; none: nothing is done. */
void share_column_add(struct share_column *column, int rank, const uint32_t *items, size_t num);
/* The n-th place, made if need be with all before it. */
struct share_place *share_column_place(struct share_column *column, size_t n);
/* Add a run behind all others, joined with the last one where it can be. */
void share_place_add_run(struct share_place *place, const struct share_run *run);
/* How many ranks have items in the column. */
size_t share_column_num_ranks(const struct share_column *column);

/* MPI_COMM_SELF is another one in each rank, and has an id of its own in each, which nobody else
 * knows. Shares say that an id is that of the rank's MPI_COMM_SELF (entry 1), not which. Bits of a
 * communicator's first number, below its kind; and the id when it is read. */
enum { SHARE_ID_IS_SELF = 1, SHARE_PARENT_IS_SELF = 2 };
#define SHARE_SELF_ID UINT64_MAX
/* What is in place of a list of ranks; from SHARE_FIRST_LIST on: of the lists of the rank. */
enum { SHARE_NO_MEMBERS, SHARE_ALL_MEMBERS, SHARE_OWN_MEMBER, SHARE_FIRST_LIST };
enum { SHARE_COMM_LISTS = 4 }; /* of a communicator */

/* What distances are from: the own rank in a communicator, 0 where it is not known. */
int32_t share_peer_base(const struct model *model, uint32_t comm);
