/* SPDX-License-Identifier: BSD-3-Clause
 * Reading the items of a share, for share_to_job.c (ranks), share_read_lane.c (their lanes) and
 * share_read_evidence.c. Items are not trusted: what is out of range makes the input bad; what
 * refers to something else is checked by model_validate() when the model is complete. */
#ifndef PDB_MODEL_SHARE_READ_H
#define PDB_MODEL_SHARE_READ_H

#include "model/share_private.h"
#include "model/snapshot_private.h"

struct model;
struct model_lane;

struct share_reader {
	const struct share *share;
	struct snapshot_input in;     /* the item at hand; the budget of all */
	size_t at[SHARE_NUM_COLUMNS]; /* the run at or behind the rank at hand */
	uint32_t only[SHARE_NUM_COLUMNS];
	struct model **shapes; /* [items of SHARE_SHAPE] or NULL: not read yet */
	/* Without details, lanes with equal items share what is made of them. NULL: they do not. */
	struct share_loan *rings;       /* [items of SHARE_RING_STATES] */
	struct share_loan *transitions; /* [items of SHARE_COUNTS] */
	struct share_loan *polls;       /* [items of SHARE_SHAPE] */
};

/* A table made of an item and lent by this model, to its borrowers only. */
struct share_loan {
	const struct model *lender; /* NULL: not made yet */
	void *table;
	size_t num;
	uint32_t with; /* transitions: the item of SHARE_TRANSITIONS */
};

/* The items that a column has of a rank; ranks are asked for in ascending order. Borrowed until the
 * next rank. */
const uint32_t *share_reader_row(struct share_reader *r, enum share_column_id id, int rank,
				 size_t *num_ret);
/* The number of items; more than `most` is bad. */
size_t share_reader_count(struct share_reader *r, enum share_column_id id, int rank, size_t most);
/* Make the rank's n-th item of a column the one at hand: its number. Bad if there is none, and 0.
 */
uint32_t share_reader_begin(struct share_reader *r, enum share_column_id id, int rank, size_t n);
/* The item must have been read to its end. */
void share_reader_end(struct share_reader *r);

/* A text of the item, with control characters replaced; the caller frees. */
char *share_reader_text(struct share_reader *r);
int32_t share_reader_peer(struct share_reader *r, const struct model *model, uint32_t comm);

/* Communicators with their lists, and requests. The model's tables are there. */
void share_read_evidence(struct share_reader *r, struct model *model, int rank);
void share_read_lane(struct share_reader *r, struct model *model, size_t number, int rank);
/* What SHARE_DETAILS adds. */
void share_read_lane_details(struct share_reader *r, struct model *model, size_t number, int rank);

#endif
