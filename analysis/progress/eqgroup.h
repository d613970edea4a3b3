/* SPDX-License-Identifier: BSD-3-Clause
 * What each actor does. Equivalence groups: actors of one role with one state and one iteration
 * vector. The progress dependency graph over these groups. */
#ifndef PDB_ANALYSIS_EQGROUP_H
#define PDB_ANALYSIS_EQGROUP_H

#include "analysis/progress/progress.h"

/* What an actor does, as far as model, second look and stack sample tell. */
enum activity {
	ACTIVITY_IN_MPI,    /* inside a call that communicates */
	ACTIVITY_POLLING,   /* between unsuccessful polls: counts as inside MPI */
	ACTIVITY_COMPUTING, /* outside MPI */
	ACTIVITY_ENDED,     /* the thread or the rank has left MPI (finalized, thread ended) */
	/* Of an actor of analysis/evidence/: it makes progress, and only that counts. */
	ACTIVITY_MOVES,
};

struct job_lane;

enum activity activity_of_lane(const struct job_lane *lane);
/* Has it made no transition between the looks, or with one look none for 200 ms? */
bool activity_is_static(const struct job_lane *lane);
/* How long it has done what it does now: of one that computes since its last poll, if it has polled
 * in its state, and else since its last transition. */
uint64_t activity_stay_ns(const struct job_lane *lane);

struct eqgroup {
	struct rankset *ranks;
	uint32_t role, state;
	enum activity activity;
	uint32_t *actors; /* indexes in job_model.lanes, ascending */
	size_t num_actors, actors_capacity;
	const struct place *place;         /* of actors[0] */
	bool has_moved;                    /* any actor made a transition between the looks */
	uint64_t stay_min_ns, stay_max_ns; /* shortest and longest present stay */
};

struct eqgroups {
	const struct progress *progress; /* borrowed */
	struct eqgroup *groups;          /* largest first, ties by first rank */
	size_t num_groups;
	uint32_t *group_of; /* [jm->num_lanes] */
};

/* It lives as long as the progress. */
struct eqgroups *eqgroups_create(const struct progress *progress);

/* From a more progressed group to a less progressed one. */
struct progress_edge {
	uint32_t from, to;
	uint32_t loop; /* that decided, or LOOP_NONE: order within an iteration or without loops */
};

struct progress_graph {
	const struct eqgroups *groups; /* borrowed */
	struct progress_edge *edges;   /* transitively reduced; by from, then to */
	size_t num_edges;
	bool *is_least; /* [groups] no group of its role is less progressed */
};

/* It lives as long as the progress. */
struct progress_graph *progress_graph_create(const struct progress *progress,
					     const struct eqgroups *groups);

#endif
