/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by job_model.c and job_roles.c. */
#pragma once

#include <uthash.h>

#include "model/job/job_model.h"
#include "model/job/pair_map.h"

/* A transition as last seen in a lane, at the same position of its table. */
struct known_transition {
	uint32_t from, to; /* local states */
	uint32_t index;    /* in jm->transitions */
};

/* The mapping that all ranks with equal tables share. */
struct shape {
	const struct model *model; /* the first rank with these tables */
	uint32_t *site_map;        /* [model->num_sites] local site -> job site */
	uint32_t *module_map;      /* [model->num_modules] -> id in jm->modules */
	/* [model->num_sites] The path up to the outermost frame of the program's own code, else
	 * the outermost frame; CALLPATH_NONE without frames. */
	uint32_t *starts;
	uint32_t number;  /* in job_model_private.shapes */
	uint32_t program; /* id in jm->modules of the executable, or MODULE_NONE */
	int example_pid;
	struct known_transition *known;
	size_t num_known, known_capacity;
	uint32_t next; /* index of the next shape with the same hash, or PAIR_NONE */
};

/* Ranks [first, last] have made a transition `count` times; first -1: those of class `last`. */
struct run {
	uint64_t count;
	int first, last;
};

/* Ranks whose only lane has one table of a pool, with one shape: added once for all. */
struct rank_class {
	const struct model_transition *transitions;
	const struct shape *shape;
	struct rankset *ranks;
};

/* The counts of one transition while ranks are added. */
struct tally {
	struct run *runs;
	size_t num_runs, runs_capacity;
	/* The rank being added, or -2 - the class; -1: none. Its counts are summed up. */
	int rank;
	uint64_t count;
};

/* The name of an MPI function; sites borrow the text. */
struct function_name {
	UT_hash_handle hh;
	uint32_t number;
	char text[];
};

/* A rank as it was added. */
struct job_rank {
	int rank;
	uint32_t shape;
	struct model *model; /* owned */
};

/* What a lane is compared by, before roles have numbers. */
struct lane_key {
	bool is_main;
	uint32_t id; /* main: module of the program; else a path in `starts`, up to the unions */
};

struct job_model_private {
	struct arena *arena;    /* of shapes, names, classes and counts */
	struct job_rank *ranks; /* in the order added */
	size_t num_ranks, ranks_capacity;
	struct shape **shapes; /* pointers, so that lanes can point into shapes */
	size_t shapes_capacity;
	struct shape *last_shape;
	struct pair_map shape_of;        /* hash of the tables -> first shape */
	struct pair_map shape_of_lender; /* address of whom the tables are borrowed from -> shape */
	struct pair_map site_of;         /* (path, number of the name) -> job site */
	struct pair_map transition_of;   /* (from, to) -> transition */
	struct function_name *names;     /* of MPI functions, each once */
	struct rank_class *classes;
	size_t num_classes, classes_capacity;
	struct pair_map class_of; /* of table and shape, hashed -> class */
	struct tally *tallies;    /* by transition */
	size_t tallies_capacity;
	struct lane_key *keys; /* by lane, in the order added */
	size_t keys_capacity;
	int first_rank; /* added, or -1 */
	/* Union-find over paths: the start frames that lanes have in common. */
	uint32_t *leaders;
	size_t num_leaders;
};

/* Remember what lane `number` of the rank is to be compared by. */
void job_roles_add_lane(struct job_model *jm, const struct shape *shape,
			const struct model_lane *lane);
/* Sort lanes and give them roles. */
void job_roles_finish(struct job_model *jm);
