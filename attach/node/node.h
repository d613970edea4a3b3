/* SPDX-License-Identifier: BSD-3-Clause
 * A node's part of a look at a job: two looks at the segment of each of its ranks, with stack
 * samples in between. If all ranks are on pdb's own node, pdb does this itself, else its daemons
 * do. A node remembers the processes: a later one with the same pid is no rank. */
#pragma once

#include "model/base.h"

struct node;
struct sampler;

struct node_look_options {
	int milliseconds; /* between the two looks; at least 1000 where there is no recorder */
	int max_samples;  /* ranks that are stack-sampled, the lowest ones */
	bool all_threads; /* of each such rank */
	/* Also take, before and beside the segments, all that a look without a recorder would. */
	bool all_evidence;
	bool keeps;   /* segments with traces stay open, so that a last look finds them */
	bool is_last; /* ranks have ended: what was kept of them answers */
	/* Also read between the two looks what ranks use (model/job/usage.h), and take more stacks
	 * of all of them, for `slow`. */
	bool measures;
	/* Sleep until then (CLOCK_MONOTONIC); false: the look is to be given up, now. */
	bool (*sleep_until)(uint64_t until_ns);
	/* Called between the samples of a job without a recorder, or with all evidence, with the
	 * last ones: it tells the sampler what to read in the next. NULL: nothing. */
	void (*prepare)(void *context, const struct samples *samples);
	void *context;
};

struct node_sampling {
	bool all_threads;
	int times;        /* samples of each thread: 1 or more */
	int milliseconds; /* from the first to the last */
	/* As in struct node_look_options. */
	bool (*sleep_until)(uint64_t until_ns);
};

/* For the ranks in job->proctable that are processes of this host. job and sampler are borrowed. */
struct node *node_create(struct job *job, struct sampler *sampler);
void node_destroy(struct node *node); /* NULL is fine */

/* The segment of a rank that has ended, for the last look: the node's from now on. */
void node_keep(struct node *node, int rank, int fd);

/* Look, and keep what was seen. On failure nothing is kept (ERROR_INTERRUPTED; ERROR_GONE: no
 * process is left). *trouble_ret: why there are no stacks at all; NULL if there are some. The
 * caller frees it. */
int node_look(struct node *node, const struct node_look_options *options, char **trouble_ret,
	      struct pdb_error *err);

/* Put what node_look() kept into the job. Its model, samples and holes are new. Its tables of
 * modules, call paths and names grow. The holes are those of this node's processes. The analyses of
 * the old model must have been destroyed. */
void node_commit(struct node *node);

/* Sample the stacks of those of `ranks` that are on this host. The samples replace older ones. If a
 * stack cannot be followed to its beginning, it is tried twice more. If sampling is given up after
 * the first time, the samples so far count. */
int node_sample(struct node *node, const struct rankset *ranks,
		const struct node_sampling *sampling, struct pdb_error *err);

/* Allow this process `needed` open files and a few more, if the system permits. */
void node_raise_file_limit(size_t needed);

/* Is the rank's process still there, and the same as when the node was made? */
bool node_is_alive(const struct node *node, int rank);
