/* SPDX-License-Identifier: BSD-3-Clause
 * A hung job made by hand, with all results that the views print: a solver in iteration 412 of
 *
 *	main()  main.c:12
 *	  run()  solver.c:120   for (step ...)
 *	    halo()  solver.c:125 MPI_Isend, solver.c:131 MPI_Waitall
 *	    compute_forces()  force.c:88            <- one rank is here and does not come back
 *	    exchange()  solver.c:141 MPI_Allgather
 *
 * The rank `culprit` computes, its neighbours wait for its messages in MPI_Waitall, all others in
 * MPI_Allgather. */
#ifndef PDB_TESTS_HUNG_JOB_H
#define PDB_TESTS_HUNG_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/progress/eqgroup.h"
#include "analysis/progress/loop_nest.h"
#include "analysis/progress/progress.h"
#include "analysis/stacks/calltree.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waits/waitfor.h"
#include "model/arena.h"
#include "model/error.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/xalloc.h"
#include "render/view.h"

#define SECOND UINT64_C(1000000000)

enum { SITE_START, SITE_ISEND, SITE_WAITALL, SITE_ALLGATHER, SITE_IRECV, SITE_SPLIT, NUM_SITES };
enum {
	FRAME_MAIN,
	FRAME_STEP,
	FRAME_ISEND,
	FRAME_WAITALL,
	FRAME_REDUCE,
	FRAME_ALLGATHER,
	FRAME_IRECV,
	FRAME_SPLIT,
	NUM_FRAMES
};

struct hung_options {
	int size, culprit;
	bool is_cxx;      /* long C++ names and no line numbers */
	bool is_nested;   /* a loop around MPI_Waitall inside the time step loop, approximate counts
			   */
	bool is_frontier; /* the culprit's state lies in no loop */
	bool is_moving;   /* the culprit and one neighbour move */
	bool is_scattered; /* those in MPI_Allgather are in an iteration of their own each */
	bool is_everybody; /* and all of these are accused */
};

struct hung {
	struct hung_options options;
	struct job job;
	struct progress progress;
	struct eqgroups groups;
	struct progress_graph graph;
	struct verdict verdict;
	struct job_comms *comms;
	struct evidence *evidence;
	struct waitfor *waitfor; /* for tests that want it in the view */
	struct calltree tree;
	struct answer answer; /* of the view */
	struct view view;
	char *text; /* what was printed */
	size_t length;
};

/* The node of a frame of the models in the job's call paths. */
uint32_t hung_frame(struct hung *hung, int frame);

void hung_job(struct hung *hung);

struct hung *hung_create(struct hung_options options);

/* What is asked of a rank. */
void hung_ask(struct hung *hung, int rank, void (*show)(const struct view *view));

/* All that was printed since the last call; valid until the next one. */
const char *hung_text(struct hung *hung);

void hung_destroy(struct hung *hung);

#endif
