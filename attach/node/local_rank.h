/* SPDX-License-Identifier: BSD-3-Clause
 * A rank that is a process of this host, and its segment in the two looks of node.h. */
#pragma once

#include "model/base.h"
#include "model/job/job.h"

struct job_lane;
struct proc;
struct segment_look;

struct local_rank {
	int rank;
	pid_t pid;
	uint64_t start_ticks; /* 0: not known */
	bool has_ended;       /* before the first look */

	int fd;       /* the segment while looking; -1: none */
	bool is_left; /* it is what an ended process has left */
	int kept;     /* a segment with a trace, from a look that keeps it on; -1: none */
	struct segment_look *looks;
	int num_looks;
	uint64_t cpu_ticks;  /* that the process had used at the first look */
	bool *lanes_starved; /* [num_looks] at the second look, see attach/node/starved.h */
	struct pdb_error trouble;
	struct job_end end; /* if that is the trouble */
	struct model *model;
};

void local_rank_init(struct local_rank *local, const struct proc *proc);
void local_rank_deinit(struct local_rank *local);

/* Is the process still there, and the same? */
bool local_rank_is_alive(const struct local_rank *local);

/* Keep this segment for the last look, in place of one kept before. -1: nothing happens. */
void local_rank_keep(struct local_rank *local, int fd);

/* Take the first look, if there is a segment. Else the trouble is why there is none. The last look
 * uses a kept segment, whose process has ended. */
void local_rank_look(struct local_rank *local, bool is_last);
/* The same with what an ended process has left, beside the living process of another rank. */
void local_rank_look_left(struct local_rank *local, pid_t living);
/* The second look: read the model. Of an ended process the trouble stays. */
void local_rank_read(struct local_rank *local);
/* How the lane has moved between the looks. */
void local_rank_set_moves(const struct local_rank *local, struct job_lane *lane);
/* Back to before the first look. */
void local_rank_forget(struct local_rank *local);

/* Why nothing is known of the rank, which has not ended. Equal troubles have equal words in all
 * ranks, so that ranks can be counted by them. */
const char *local_rank_hole(const struct local_rank *local);
