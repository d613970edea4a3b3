/* SPDX-License-Identifier: BSD-3-Clause
 * What the files of the segment's reader share: segment_copy.c reads and bounds,
 * segment_read_lane.c, segment_read_tables.c and segment_read_evidence.c copy the parts,
 * segment_reader.c the whole.
 *
 * Each part is copied as it is while the rank runs, and finished later, when all that it may refer
 * to has been copied too. So the order of the copies is that of references, backwards: lanes,
 * requests, comms, members, sites, frames, modules, strings. */
#ifndef PDB_MODEL_SEGMENT_READER_PRIVATE_H
#define PDB_MODEL_SEGMENT_READER_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/segment/segment.h"
#include "model/segment/segment_private.h"

struct arena;
struct model;
struct model_lane;
struct pdb_error;

enum {
	READER_LANE_ATTEMPTS = 5,   /* to copy a lane while it stands still */
	READER_LOCK_ATTEMPTS = 200, /* to get a sequence lock, */
	READER_LOCK_NAPS = 20,      /* and then more, a millisecond apart */
};

/* What a lane holds besides its model_lane while that still has ticks in place of times. */
struct raw_lane {
	struct seg_lane head;
	struct arena *arena; /* of the tables, but `waited` */
	struct seg_current current;
	struct seg_state *states;
	size_t num_states;
	struct seg_operation operation;
	bool has_operation; /* it could be copied whole */
	uint32_t *waited;
	size_t num_waited;
	struct seg_ledger *ledger;
	size_t num_ledger;
};

struct reader {
	int fd;
	uint64_t file_size;
	uint64_t budget; /* bytes left */
	int retries;     /* of sequence locks, left; and naps of a millisecond between them */
	int naps;
	struct seg_header header;
	struct model *model;
	struct raw_lane *raw; /* [model->num_lanes] */
	struct seg_request *requests;
	struct seg_comm *comms;
	size_t num_requests, num_comms;
	bool *has_request, *has_comm; /* they could be copied whole */
	struct pdb_error *err;
};

/* ---- segment_copy.c: all return -1 and r->err on failure ---- */

/* By the header, which was read before: the number of lanes, all of them inside the file, whose size
 * is taken after it. Both only grow, the size first. Sets the budget. */
int reader_begin(struct reader *r, size_t *num_ret);
/* Charge the budget of this segment. */
int reader_spend(struct reader *r, uint64_t bytes);
/* "the segment is corrupt: WHAT INDEX" */
int reader_bad_entry(struct reader *r, const char *what, size_t index);

/* Do `count` entries of a lane's table lie within the lane? */
int reader_check_lane_table(struct reader *r, const struct seg_lane *head, enum seg_lane_id id,
			    uint64_t count);
/* Copy entries [first, first + count) of a checked table of the lane that is at `base` of the file.
 */
int reader_copy_lane_entries(struct reader *r, uint64_t base, const struct seg_lane *head,
			     enum seg_lane_id id, uint64_t first, uint64_t count, void *to);

/* The first entries of a lane's table, checked and charged; NULL on failure. */
void *reader_copy_lane_table(struct reader *r, uint64_t base, struct raw_lane *raw,
			     enum seg_lane_id id, uint64_t count);

/* Take the descriptor of a table of the header again: its count covers what was copied before. */
int reader_take_count(struct reader *r, enum seg_table_id id);
/* All entries of a table of the header, in a new array with a zero entry at its end; NULL on
 * failure. */
void *reader_copy_table(struct reader *r, enum seg_table_id id, size_t *num_ret);
/* The same of one whose entries are each under a sequence lock. *is_whole_ret: of each entry, whether
 * its lock could be had; the caller frees. */
void *reader_copy_locked(struct reader *r, enum seg_table_id id, size_t *num_ret,
			 bool **is_whole_ret);
/* One entry, which is never changed once something refers to it. */
int reader_copy_entry(struct reader *r, enum seg_table_id id, uint32_t index, void *to);

/* Bytes of the file that agree while a sequence lock among them is not taken. */
struct reader_locked {
	uint64_t at;
	size_t size, seq_at; /* the lock, in these bytes */
	void *to;
	/* What else is under the lock, copied behind the bytes; NULL: nothing. */
	int (*more)(struct reader *r, void *of);
	void *of;
};
/* Copy them until they agree, a bounded number of times. What is there is taken all the same, for a
 * writer that died or was stopped in the midst of it. */
int reader_copy_under_lock(struct reader *r, const struct reader_locked *what, bool *is_whole);

/* ---- Parts ---- */

uint64_t reader_lane_base(const struct reader *r, size_t lane);
/* Take what a lane is doing; *is_whole: the sequence lock could be had. */
int reader_read_current(struct reader *r, uint64_t base, struct seg_current *ret, bool *is_whole);
int reader_read_lane(struct reader *r, size_t number);
/* Ticks to times; all tables have been read. */
int reader_finish_lane(struct reader *r, size_t number, const struct segment_clock *clock);

/* A lane's trace, if it has one: after the lane, before the tables; and again behind these, to
 * check what it names. */
void reader_read_trace(struct reader *r, size_t number);
void reader_finish_trace(struct reader *r, size_t number);

int reader_read_tables(struct reader *r);

/* Of one lane, as part of its copy: raw->head and raw->current are there. */
int reader_read_lane_evidence(struct reader *r, uint64_t base, struct raw_lane *raw);
/* Requests and comms as they are; after the lanes, before the tables. */
int reader_read_evidence(struct reader *r);
/* Members, comms, requests and the lanes' operations and ledgers into the model. */
int reader_finish_evidence(struct reader *r, const struct segment_clock *clock);

#endif
