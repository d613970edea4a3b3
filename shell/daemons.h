/* SPDX-License-Identifier: BSD-3-Clause
 * pdb's daemons on the nodes of a job that has ranks on other hosts, and what they are asked.
 *
 * Errors of all questions: ERROR_GONE no process of the job is left; ERROR_INTERRUPTED; after any
 * other the daemons are gone or damaged, and daemons_stop() is all that may be called. */
#ifndef PDB_SHELL_DAEMONS_H
#define PDB_SHELL_DAEMONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/daemons/daemon_launch.h"
#include "model/job/job.h"
#include "pmix/tool.h"

struct code_question;
struct launcher_hosts;
struct launcher_info;
struct link_frame;
struct link_limit;
struct node_look_options;
struct node_sampling;
struct rankset;
struct sampler_cost;

struct daemons {
	struct job *job;
	const struct launcher_kind *kind;
	const struct launcher_hosts *hosts; /* none: those of the process table */
	struct link_listener *listener;
	struct link *link; /* also for channels over it */
	struct daemon_launch launch;
	struct pmix_daemons spawned;
	int num_hosts;        /* that have a daemon */
	const char **avoided; /* hosts without a daemon, as they do not answer; ends with NULL */
	size_t num_avoided;
	uint64_t reached_ns; /* when that was found */
	bool is_lost;        /* they cannot be told to end */
	uint32_t next_channel;
	/* How long their start took, one part after the other: until a launcher has been told, the
	 * job's own, that it has started them; until the first is connected, after libraries and
	 * MPI_Init; until all have heard of the job, by the first messages between them. */
	uint64_t launch_ns, connect_ns, tell_ns;
	unsigned num_owed; /* answers that are still to come, those nobody waits for included */
	struct job answer; /* between look and commit: model, samples, holes; tables of `job` */
};

/* Has the job ranks on other hosts? */
bool daemons_are_needed(const struct proctable *table);

/* Start a daemon on each node of the job and tell them of it; job, launcher and hosts are
 * borrowed. Nodes are `hosts`, or without any those of the process table. If they do not come,
 * or is_again (others were lost), without the nodes that do not answer on the network, where the
 * launcher allows that. NULL: ERROR_INTERRUPTED (Ctrl-C); ERROR_PERMISSION: not this user's
 * launcher, nothing was started; others. */
struct daemons *daemons_start(struct job *job, const struct launcher_info *launcher,
			      const struct launcher_hosts *hosts, bool is_again,
			      struct pdb_error *err);
/* They end, as they do when this process ends. NULL is fine. */
void daemons_stop(struct daemons *daemons);

/* A node that did not answer does now: daemons that are started now are on more nodes. */
bool daemons_can_reach_more(struct daemons *daemons);
/* Has the host no daemon, as it did not answer when they were started? */
bool daemons_is_avoided(const struct daemons *daemons, const char *host);

/* Have them look for ranks that the process table lacks, add these and tell all daemons. Only
 * with hosts. Returns how many. ERROR_NOT_FOUND: there is no rank at all. */
int daemons_find_ranks(struct daemons *daemons, struct pdb_error *err);

/* Look at all ranks and keep the answer. Ranks of which nobody has told become holes with their
 * host's name. On failure nothing is kept. */
int daemons_look(struct daemons *daemons, const struct node_look_options *options,
		 struct pdb_error *err);
/* Put what was kept into the job, as node_commit() does. */
void daemons_commit(struct daemons *daemons);
/* Drop the answer of a look that was not committed, if any. */
void daemons_forget_answer(struct daemons *daemons);

/* Sample the stacks of `ranks` and put the samples in the place of older ones; with the values,
 * names and functions that `code` (may be NULL) asks for. */
int daemons_sample(struct daemons *daemons, const struct rankset *ranks,
		   const struct node_sampling *sampling, const struct code_question *code,
		   struct pdb_error *err);

/* Get details and traces (parts: SHARE_DETAILS, SHARE_TRACES) of `ranks` as of the last look, which
 * was committed, into the job's model. */
int daemons_get_more(struct daemons *daemons, const struct rankset *ranks, unsigned int parts,
		     struct pdb_error *err);

/* Add what sampling has cost on their nodes so far. */
int daemons_add_cost(struct daemons *daemons, struct sampler_cost *cost, struct pdb_error *err);

/* Ask all of them something (pdbd.h). *ret is the merged answer, freed with link_frame_deinit():
 * who is missing in it is told by what is not told. extra_ms: how much longer than others it may
 * take. */
int daemons_ask(struct daemons *daemons, uint32_t kind, const void *payload, size_t length,
		int extra_ms, struct link_frame *ret, struct pdb_error *err);

/* The first of two numbers for channels that have not been used. */
uint32_t daemons_take_channels(struct daemons *daemons);
/* Serve the channels until the limit. -1: ERROR_TIMEOUT, ERROR_INTERRUPTED (cancel_fd), others. */
int daemons_wait(struct daemons *daemons, const struct link_limit *limit, struct pdb_error *err);

#endif
