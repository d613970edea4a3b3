/* SPDX-License-Identifier: BSD-3-Clause
 * Reading the items of a share: share_reader.c finds them, share_to_job.c makes a job of them, with
 * share_read_rank.c and share_read_comms.c for its ranks, share_read_stacks.c for samples and
 * names. */
#pragma once

#include "model/job/pair_map.h"
#include "model/job/sample.h"
#include "model/wire/share_items.h"

struct model_pool;

/* A table of the pool, made of an item once and used by all ranks that have it. */
struct share_loan {
	void *table; /* NULL: not made yet */
	size_t num;
	/* What ranks must have to use it: so many states (transitions, rings) or communicators
	 * (ledgers) or more. Of ranks in a communicator: their number. */
	uint32_t num_needed;
	uint64_t dropped; /* rows of a ledger */
};

/* A communicator of the pool and what it was made of. */
struct share_comm {
	uint32_t item, collectives;        /* item of its column */
	uint32_t lists[SHARE_COMM_LISTS];  /* items of SHARE_LISTS; UINT32_MAX: none */
	uint32_t places[SHARE_COMM_LISTS]; /* which of the rank's row each of them is */
	uint32_t num_sites;                /* that its ranks must have at least */
	const char *strings; /* that its ranks must have; NULL: any, since it has no name */
	uint32_t next;       /* with the same item and collectives, or PAIR_NONE */
};

/* A list of ranks in the pool. */
struct share_list {
	uint32_t first, num;
	bool is_read;
};

/* An item of SHARE_SAMPLES, without rank and times. */
struct share_stack {
	bool is_read;
	struct sample sample;
};

struct share_reader {
	const struct share *share;
	struct decoder in;        /* the item at hand; the budget of all */
	struct codec own, pooled; /* from it: with tables of the caller, or of the pool */
	struct arena *arena;      /* of all that is forgotten when the share has been read */
	/* By column and place: the run at or behind the rank at hand. */
	size_t *at[SHARE_NUM_COLUMNS];
	uint32_t *rows[SHARE_NUM_COLUMNS]; /* what share_reader_row() has found */
	uint32_t *numbers;     /* of the communicators of the rank at hand, in the pool */
	struct model **shapes; /* [items of SHARE_SHAPE] or NULL: not read yet */
	/* By item of the column. */
	struct model_pool *pool;
	struct share_program *programs;
	struct share_list *lists;
	struct share_loan *comm_ranks;
	struct share_loan *ledgers;
	struct share_loan *rings; /* and polls: of ranks without details */
	struct share_loan *polls; /* by item of SHARE_SHAPE */
	/* By items of SHARE_TRANSITIONS and SHARE_COUNTS. */
	struct pair_map transition_of;
	struct share_loan *transitions;
	size_t num_transitions, transitions_capacity;
	/* By items of SHARE_COMMS and SHARE_COLLECTIVES. */
	struct pair_map comm_of;
	struct share_comm *comms; /* numbered as the pool's */
	size_t comms_capacity;
	size_t num_models;          /* read so far */
	struct share_stack *stacks; /* [items of SHARE_SAMPLES] */
	/* The communicators of the rank before, which is mostly in the same ones. */
	const uint32_t *last_comms;
	size_t num_last_comms;
};

void share_reader_init(struct share_reader *r, const struct share *share);
void share_reader_deinit(struct share_reader *r);
/* "what a node tells of WHAT is corrupt", or "claims far more ..."; or that it was interrupted.
 * Returns -1. */
int share_reader_refuse(const struct share_reader *r, const char *what, struct pdb_error *err);
int share_reader_refuse_rank(const struct share_reader *r, int rank, struct pdb_error *err);

/* Zeroed, for each item of a column. */
void *share_reader_by_item(struct share_reader *r, enum share_column_id id, size_t size);
/* The items that a column has of a rank; ranks are asked for in ascending order. Borrowed until the
 * next rank. */
const uint32_t *share_reader_row(struct share_reader *r, enum share_column_id id, int rank,
				 size_t *num_ret);
/* The number of items; more than `most` is bad. */
size_t share_reader_count(struct share_reader *r, enum share_column_id id, int rank, size_t most);
/* The number of the rank's n-th item of a column, without reading it. Bad if there is none, and 0.
 */
uint32_t share_reader_item(struct share_reader *r, enum share_column_id id, int rank, size_t n);
/* Make an item of a column the one at hand; or the rank's n-th, whose number it returns. */
void share_reader_begin_item(struct share_reader *r, enum share_column_id id, uint32_t item);
uint32_t share_reader_begin(struct share_reader *r, enum share_column_id id, int rank, size_t n);
/* The item must have been read to its end. */
void share_reader_end(struct share_reader *r);

/* A rank's model, which is to be validated, without traces. r->in.is_bad: it is not whole. */
struct model *share_read_model(struct share_reader *r, int rank);
/* The communicators of a model that has its tables. */
void share_read_comms(struct share_reader *r, struct model *model, int rank);
/* Are there details of a rank's n-th lane? They are read into a lane that has none, or is empty. */
bool share_has_details(struct share_reader *r, size_t number, int rank);
void share_read_details(struct share_reader *r, const struct model *model, struct model_lane *lane,
			size_t number, int rank);
/* Traces to the lanes of a finished job model (NULL: none). */
int share_read_traces(struct share_reader *r, struct job_model *jm, struct pdb_error *err);

/* One sample of a rank: 0. */
int share_read_sample(struct share_reader *r, struct job *job, int rank, size_t number,
		      struct pdb_error *err);
int share_read_names(struct share_reader *r, struct job *job, struct pdb_error *err);
