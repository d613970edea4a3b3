/* SPDX-License-Identifier: BSD-3-Clause
 * What share_fill.c and share_fill_lane.c have in common. */
#ifndef PDB_MODEL_SHARE_FILL_H
#define PDB_MODEL_SHARE_FILL_H

#include "model/buffer.h"
#include "model/wire/share_private.h"

struct job;
struct job_lane;
struct model;
struct rankset;

struct share_filler {
	struct share *share;
	const struct job *job;
	const struct rankset *ranks; /* NULL: all */
	unsigned int parts;
	struct buffer item; /* being put together */
	/* The row that is being put together, of the rank and column at hand. */
	uint32_t *row;
	size_t num_row, row_capacity;
	/* Of the rank at hand: where each different list of ranks begins. */
	struct list {
		uint32_t first, num;
	} * lists;
	size_t num_lists, lists_capacity;
};

/* The item at hand is complete: add it to the row of this column. */
void share_filler_end_item(struct share_filler *f, enum share_column_id id);
/* The row is complete: it is that of `rank`. */
void share_filler_end_row(struct share_filler *f, enum share_column_id id, int rank);
/* The peer of a message, to the item at hand; comm: SEG_NO_COMM for one that is the same for all.
 */
void share_filler_put_peer(struct share_filler *f, const struct model *model, uint32_t comm,
			   int32_t peer);

/* A column of which each lane has an item; `lanes` are those of the model, for SHARE_LOOKS. */
void share_fill_lanes(struct share_filler *f, const struct model *model,
		      const struct job_lane *lanes, enum share_column_id id, int rank);

#endif
