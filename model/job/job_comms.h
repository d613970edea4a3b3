/* SPDX-License-Identifier: BSD-3-Clause
 * The communicators, windows and files of a job, unified by their ids within each MPI_COMM_WORLD.
 * Those with members of several worlds are unified by their ids alone. */
#pragma once

#include "model/base.h"
#include "model/segment/segment.h" /* enum seg_comm_kind, enum seg_peer */

struct model_comm;

/* What one rank knows of it. */
struct job_comm_view {
	int rank;            /* of the job */
	uint32_t side : 1;   /* of an intercommunicator: which of the groups is its own; else 0 */
	uint32_t local : 31; /* index in the model's communicators */
	const struct model *model; /* NULL: no such view */
};

/* Views of ranks to which it is the same: of every step-th of the job's models. */
struct job_comm_run {
	uint32_t first, step, num; /* models in order of their ranks */
	uint32_t before;           /* views in the runs before */
	uint32_t side : 1, local : 31;
};

struct job_comm {
	uint64_t id;
	enum seg_comm_kind kind;
	uint32_t parent;     /* index, or SEG_NO_COMM: predefined, or the parent is not known */
	uint32_t ordinal;    /* which of those made from the parent; from 1 */
	const char *name;    /* "MPI_COMM_WORLD", or as the program said; NULL: none */
	uint32_t path;       /* call path that made it, in the job's callpaths; CALLPATH_NONE */
	const char *made_by; /* "MPI_Comm_split"; NULL: predefined or not known */
	/* The job's ranks in order of their rank in it; -1: not of this job, or not known. Group 1:
	 * of intercommunicators only, whose group 0 is that of the lowest rank. May be shared. */
	const int *groups[2];
	size_t sizes[2];
	/* What members that have a model know of it, by rank; never empty. See job_comm_view(). */
	size_t num_views;
	struct job_comm_run *runs;
	size_t num_runs;
	const struct job_comms_member *members; /* what runs count */
	size_t num_members;
};

struct job_comms {
	struct job_comm *comms; /* parents before children; MPI_COMM_WORLD first, if it is known */
	size_t num_comms;
	struct job_comms_private *private;
};

/* After job_model_finish(); jm must outlive the result. Left out are communicators without id (0),
 * those that ranks contradict each other about (size, kind, who is which rank), and MPI_COMM_SELF
 * with what one rank alone made from it. Linear in what the models hold of them. */
struct job_comms *job_comms_create(const struct job_model *jm);
void job_comms_destroy(struct job_comms *comms); /* NULL is fine */

/* The index of entry `local` of a model's comms, or SEG_NO_COMM. */
uint32_t job_comms_find(const struct job_comms *comms, const struct model *model, uint32_t local);

/* The job's rank of `peer` as `model` gives it (of an intercommunicator in the remote group); -1:
 * SEG_PEER_*, what is not known, and communicators that are left out. */
int job_comms_peer(const struct job_comms *comms, const struct model *model, uint32_t local,
		   int32_t peer);

/* What the view's rank knows of it, see model_comm(). */
const struct model_comm *job_comm_seen(const struct job_comm_view *view);

/* View number i, below num_views; in order of ranks. */
struct job_comm_view job_comm_view(const struct job_comm *comm, size_t i);
/* The view of a rank; without a model: it is no member, or has none. */
struct job_comm_view job_comm_view_of(const struct job_comm *comm, int rank);
