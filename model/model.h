/* SPDX-License-Identifier: BSD-3-Clause
 * A model: the private, checked copy of one rank's segment. Plain data; ids are the segment's own
 * (local to this rank). Made by segment_read() or from a snapshot. */
#ifndef PDB_MODEL_MODEL_H
#define PDB_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/segment.h"

struct model_module {
	char *path;
	uint8_t build_id[32];
	uint8_t build_id_size;
};

struct model_site {
	uint32_t frame;	   /* into frames, or SEG_NO_FRAME for site 0 */
	const char *name;  /* of the MPI function; points into `strings` */
	uint16_t class_id; /* enum seg_class, SEG_CLASS_OTHER for values this version does not know */
	uint16_t language;
};

struct model_transition {
	uint32_t from, to; /* states */
	uint64_t count;
};

struct model_event {
	uint64_t ns;	/* on the clock of model.now_ns */
	uint32_t state; /* entered at that time */
};

/* One thread that calls MPI. */
struct model_lane {
	bool is_main;
	bool has_ended;
	bool is_consistent; /* the rank stood still while this lane was copied */
	int32_t tid;
	uint32_t state;	   /* present state; 1 (exit of "start") before the first call */
	uint64_t since_ns; /* when the present state was entered */
	uint64_t first_ns; /* when the lane was taken */
	uint64_t events;   /* transitions ever made */

	uint32_t poll_site;    /* of the last failed poll since then; 0: none */
	bool in_poll;	       /* inside a poll right now */
	uint64_t polls;	       /* failed polls since since_ns */
	uint64_t last_poll_ns; /* 0: none */

	struct model_transition *transitions; /* in the order first made */
	size_t num_transitions;
	uint64_t *longest_ns; /* [2 * num_sites]: longest completed stay of each state */
	uint64_t *state_polls; /* [2 * num_sites]: failed polls ever, on enter states of polls */
	struct model_event *ring; /* oldest first; the last one entered `state` */
	size_t num_ring;
};

struct model {
	int32_t rank, size;
	int32_t pid; /* as the segment says: in the rank's pid namespace */
	uint64_t pid_start;
	uint32_t uid;
	enum seg_life life;
	int32_t thread_level; /* MPI_THREAD_*; -1: unknown */
	char host[64], job[256], mpi_library[64], executable[256];
	uint64_t now_ns;      /* when the copy was made, host's CLOCK_MONOTONIC */
	uint64_t now_real_ns; /* the same moment in CLOCK_REALTIME: comparable between hosts */

	char *strings; /* every name inside is terminated */
	size_t num_strings; /* bytes */
	struct model_module *modules;
	size_t num_modules;
	struct seg_frame *frames; /* parents checked: below the own index or SEG_NO_FRAME */
	size_t num_frames;
	struct model_site *sites;
	size_t num_sites;
	struct model_lane *lanes;
	size_t num_lanes;

	/* What the recorder lost, and what it cost. */
	uint64_t dropped_strings, dropped_modules, dropped_frames, dropped_sites;
	uint64_t dropped_transitions, dropped_lanes;
	uint64_t full_unwinds, abandoned;
	uint64_t bytes; /* storage that the segment takes (st_blocks) */
};

struct model *model_create(void);
void model_destroy(struct model *model); /* NULL is fine */

struct pdb_error;

/* Check every count, index and time of a model: what segment_read() promises of its result, and
 * what a model from elsewhere has to hold. 0, or -1 with ERROR_FORMAT saying what is wrong. */
int model_validate(const struct model *model, struct pdb_error *err);

#endif
