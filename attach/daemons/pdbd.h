/* SPDX-License-Identifier: BSD-3-Clause
 * The protocol of pdb and its daemons. pdbd is a program for each MPI, started once on each node of
 * the job, as one MPI job of its own. pdbd-openmpi and pdbd-mpich are guards; they start the
 * daemons themselves from the file beside them. */
#pragma once

#include <stdint.h>

/* How the daemon's file is called: like the guard's, with this behind. */
#define PDBD_WORKER "-worker"

/* Kinds of frames from pdb, and of the merged answers to them. */
enum pdbd_kind {
	/* Here is the job (proc_bytes.h). Answer: how many of its processes live, a uint32_t. */
	PDBD_JOB = 1,
	/* The same without the job. Rank 0 asks itself, too: when none lives the daemons end. */
	PDBD_LIVING = 2,
	/* End. Not answered. */
	PDBD_QUIT = 3,
	/* Look at the ranks: a struct pdbd_look. Answer: a share; nothing if there is no job. */
	PDBD_LOOK = 4,
	/* Sample stacks: a struct pdbd_look, whose milliseconds are from the first sample to the
	 * last, a set of ranks (proc_bytes_put_ranks()), and, if there is more, a question about
	 * machine code (model/wire/code_bytes.h). Answer: a share without models. */
	PDBD_SAMPLE = 5,
	/* From rank 0, every OVERLAY_PULSE_MS while an answer is made: wait on. No payload. */
	PDBD_ALIVE = 6,
	/* Find the ranks of a job that is known by a mark only (launcher_scan_mark()): a struct
	 * pdbd_scan, then the mark. Answer: daemon_job.h. */
	PDBD_SCAN = 7,
	/* Put gdb on a rank; pdb has opened the channels: a struct gdb_order (gdb_order.h). Answer,
	 * of the daemon that has the rank: a struct gdb_started, and behind it why not. */
	PDBD_GDB = 8,
	/* How that gdb fares: a struct gdb_state_question. Answer: a struct gdb_state. */
	PDBD_GDB_STATE = 9,
	/* What sampling has cost so far. Answer: a struct sampler_cost of each daemon. */
	PDBD_COST = 10,
	/* Who is inside MPI: the number of the job's ranks, a uint32_t, then the set of those whose
	 * stacks are to tell if they have no recorder. Answer: a digest (watch_digest.h). */
	PDBD_WATCH = 11,
	/* More of some ranks as of the last look: a struct pdbd_look, then the set of ranks.
	 * Answer: a share of its parts, SHARE_DETAILS and SHARE_TRACES. */
	PDBD_MORE = 12,
};

struct pdbd_scan {
	uint32_t user; /* whose processes */
};

/* How to look. The nodes of a job have one byte order. */
struct pdbd_look {
	uint32_t num_ranks;    /* of the job; first, as in other questions */
	uint32_t milliseconds; /* as in struct node_look_options, as the next six */
	uint32_t max_samples;  /* on each node */
	uint32_t all_threads;
	uint32_t all_evidence;
	/* also: the daemons wait some seconds for the last look when ranks have ended */
	uint32_t keeps;
	uint32_t is_last;
	uint32_t measures;
	uint32_t parts;     /* enum share_parts */
	uint32_t times;     /* PDBD_SAMPLE: samples of each thread, */
	uint32_t variables; /* and also the variables of Python frames */
};
