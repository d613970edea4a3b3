/* SPDX-License-Identifier: BSD-3-Clause
 * The job model: the union of the ranks' models. States are unified by call path and MPI function;
 * each transition has a table count -> ranks. Ranks with equal tables share one mapping. */
#pragma once

#include "model/base.h"
#include "model/segment/segment.h" /* SEG_STATE_*, enum seg_class: the same state ids */

struct trace;

/* Site 0 is "start", as in a segment; its states are 0 and 1. */
struct job_site {
	uint32_t path;    /* in the job's callpaths; CALLPATH_NONE for site 0 */
	const char *name; /* "MPI_Send"; owned by the job model */
	enum seg_class class_id;
	enum seg_language language;
};

/* Complete after job_model_finish(). */
struct job_count {
	uint64_t count;
	struct rankset *ranks; /* those with just this count (of any of their threads) */
};

/* Numbered as first seen: by rank in the order added, then in the order first made. */
struct job_transition {
	uint32_t from, to;        /* job states */
	struct job_count *counts; /* ascending by count */
	size_t num_counts;
	size_t counts_capacity;
};

/* A thread that calls MPI, as an actor of the job. */
struct job_lane {
	int rank;
	int lane; /* index in model->lanes */
	/* Lanes are compared within one role: main threads of one executable; other threads with
	 * one start function (the outermost program frames that they share) and, of several of one
	 * rank, the same ordinal. From 0, the main thread of the first rank added. */
	uint32_t role;
	/* The first lane known to have the same transitions, ring, state, sites and role: it has
	 * been where this one has been, as often. Its own index: none. */
	uint32_t like;
	const struct model *model;     /* owned by the job model */
	const struct model_lane *data; /* into model */
	const uint32_t *site_map;      /* [model->num_sites] local site -> job site */
	uint32_t state;                /* present job state */
	/* From the second look, if there was one. */
	bool has_second_look;
	bool has_moved;   /* made a transition between the looks */
	bool has_polled;  /* polled without success between the looks */
	uint64_t moves;   /* transitions made between them */
	uint64_t stay_ns; /* how long in its state, at the time of the copy */
};

struct job_model {
	struct modules *modules;     /* borrowed */
	struct callpaths *callpaths; /* borrowed */
	struct job_site *sites;
	size_t num_sites, sites_capacity;
	struct job_transition *transitions;
	size_t num_transitions, transitions_capacity;
	struct job_lane *lanes; /* by rank, then lane, after job_model_finish() */
	size_t num_lanes, lanes_capacity;
	struct rankset *ranks; /* that have a model here */
	size_t num_shapes;     /* different sets of tables among the ranks */
	uint32_t num_roles;
	struct job_model_private *private;
};

/* The tables are borrowed and must outlive the job model. */
struct job_model *job_model_create(struct modules *modules, struct callpaths *callpaths);
void job_model_destroy(struct job_model *jm); /* NULL is fine; destroys the models too */

/* Take over `model` as that of the job's `rank`, which need not be what it claims. example_pid: a
 * process in which its modules can be opened, or 0. */
void job_model_add(struct job_model *jm, int rank, struct model *model, int example_pid);
/* After the last rank, once: complete the tables of the transitions, sort lanes, number roles. */
void job_model_finish(struct job_model *jm);

/* Job state of a local state of this lane. */
static inline uint32_t job_lane_state(const struct job_lane *lane, uint32_t local)
{
	return lane->site_map[SEG_STATE_SITE(local)] * 2 + (local & 1);
}

static inline size_t job_model_num_states(const struct job_model *jm)
{
	return jm->num_sites * 2;
}

/* The transition's index, or SIZE_MAX. */
size_t job_model_find_transition(const struct job_model *jm, uint32_t from, uint32_t to);

/* Give lane `lane` a trace of its model (taken over), or none and the reason why not (copied). */
void job_model_set_trace(struct job_model *jm, size_t lane, struct trace *trace, const char *note);
/* Exchange the ring, the longest stays and polls by state of lane `lane` and of `details`. */
void job_model_swap_details(struct job_model *jm, size_t lane, struct model_lane *details);

/* The ranks that have a model, in the order in which they were added. */
size_t job_model_num_ranks(const struct job_model *jm);
struct model *job_model_rank(const struct job_model *jm, size_t index, int *rank_ret);

/* After job_model_finish(): the index of a rank's first lane; *num_ret: how many it has, or 0. */
size_t job_model_lanes(const struct job_model *jm, int rank, size_t *num_ret);
