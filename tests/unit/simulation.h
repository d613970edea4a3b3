/* SPDX-License-Identifier: BSD-3-Clause
 * A recorder without MPI: models made in memory from the calls that a test says a rank has made.
 *
 *	struct sim_rank *rank = sim_rank_create(3);
 *	sim_call(rank, "MPI_Send", SIM_PATH(10, 25));	enter and leave
 *	sim_enter(rank, "MPI_Recv", SIM_PATH(10, 26));	and stay there
 *	sim_add(job, rank);				the model goes into job->model
 *
 * A path is offsets into the program, from main inwards; 0 ends it. */
#ifndef PDB_TESTS_UNIT_SIMULATION_H
#define PDB_TESTS_UNIT_SIMULATION_H

#include <stdlib.h>
#include <string.h>

#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/xalloc.h"

#define SIM_MAX_DEPTH 8
#define SIM_MAX_SITES 512
#define SIM_PATH(...) ((const uint32_t[SIM_MAX_DEPTH + 1]){__VA_ARGS__})

enum { SIM_MS = 1000000 };

struct sim_rank {
	int rank;
	struct model *model;
	size_t frames_capacity, sites_capacity, transitions_capacity, ring_capacity;
	size_t names_used;
	uint32_t site_frames[SIM_MAX_SITES];
	uint64_t step_ns; /* how long each state lasts */
	size_t max_ring;  /* of the last transitions, when added */
};

/* Names point into here, so that strings never move. */
enum { SIM_STRINGS = 16384 };

struct model_lane *sim_lane(struct sim_rank *sim);

void sim_add_thread(struct sim_rank *sim);

struct sim_rank *sim_rank_create(int rank);

uint32_t sim_site(struct sim_rank *sim, const char *name, const uint32_t *path);

void sim_enter(struct sim_rank *sim, const char *name, const uint32_t *path);

void sim_leave(struct sim_rank *sim);

void sim_call(struct sim_rank *sim, const char *name, const uint32_t *path);

/* Let time pass in the present state. */
void sim_stay(struct sim_rank *sim, uint64_t ms);

/* Keep only the end of each ring, as a recorder's ring does, and only the memory that is used. */
void sim_trim(struct sim_rank *sim);

/* The model goes over to the job; frees the rest. */
void sim_add(struct job *job, struct sim_rank *sim);

#endif
