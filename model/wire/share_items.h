/* SPDX-License-Identifier: BSD-3-Clause
 * What the items of a share hold, field by field. One function names the fields of an item for
 * writing (share_fill.c) and for reading (share_to_job.c and what that calls). Input is not
 * trusted: a value out of range marks the decoder bad; model_validate() checks references when the
 * model is complete. */
#pragma once

#include "model/codec.h"
#include "model/segment/segment.h"
#include "model/wire/share_private.h"

struct job_hole;
struct job_lane;
struct model_comm;
struct model_lane;
struct model_program;
struct name;
struct sample_value;

/* What an item of SHARE_PROGRAM holds. */
struct share_program {
	struct model_program *program; /* NULL: not read yet */
	int32_t size, thread_level;
	uint32_t uid;
	enum seg_life life;
};

/* A frame of any rank. */
struct share_frame {
	uint64_t offset;
	uint32_t module, is_return;
};

/* ---- share_items.c ---- */

void share_item_shape(struct codec *c, struct model *model);
void share_item_program(struct codec *c, struct share_program *of);
void share_item_process(struct codec *c, struct model *model, int rank);
/* Of the ids those of MPI_COMM_SELF are SHARE_SELF_ID. lists: of members, remote members, sources,
 * destinations; the last is as it was where there are none. */
void share_item_comm(struct codec *c, const struct model *model, struct model_comm *comm,
		     uint32_t lists[SHARE_COMM_LISTS]);
/* Behind their number. */
void share_item_members(struct codec *c, int32_t *members, size_t num);
/* One rank of the item. */
void share_item_comm_rank(struct codec *c, int32_t *rank);
void share_item_collectives(struct codec *c, struct model_comm *comm);
void share_item_requests(struct codec *c, struct model *model);

/* Without rank and times. */
void share_item_stack(struct codec *c, struct job *job, struct sample *sample);
void share_item_sample_times(struct codec *c, struct sample *sample);
/* One of the item; *depth: of the one before it. */
void share_item_value(struct codec *c, struct sample_value *value, uint32_t *depth);
/* The frame, and then each of its names, the innermost first. */
void share_item_hole(struct codec *c, struct job_hole *hole);
void share_item_frame(struct codec *c, struct job *job, struct share_frame *frame);
void share_item_name(struct codec *c, struct name *name, bool *has_caller);

/* ---- share_lane_items.c ---- */

/* Of a lane with its tables, by column; NULL: it is no such item. */
typedef void (*share_lane_item)(struct codec *c, const struct model *model,
				struct model_lane *lane);
share_lane_item share_lane_item_of(enum share_column_id id);
void share_item_look(struct codec *c, struct job_lane *lane);
