/* SPDX-License-Identifier: BSD-3-Clause
 * pdb's daemons on the nodes of a job that has ranks on other hosts, and what they are asked. */
#ifndef PDB_SHELL_DAEMONS_H
#define PDB_SHELL_DAEMONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_question;
struct job;
struct launcher_hosts;
struct launcher_info;
struct link_frame;
struct link_limit;
struct node_look_options;
struct node_sampling;
struct pdb_error;
struct proctable;
struct rankset;
struct sampler_cost;

/* Has the job ranks on other hosts? */
bool daemons_are_needed(const struct proctable *table);

/* Start a daemon on each node of the job and tell them of it; job, launcher and hosts are borrowed.
 * Nodes are `hosts`, or without any those of the process table. If they do not come, or is_again
 * (others were lost), without the nodes that do not answer on the network, where the launcher
 * allows that. Ctrl-C ends the waiting (ERROR_INTERRUPTED). Other errors say why there are none:
 * ERROR_PERMISSION: the launcher is not this user's own, and nothing was started. */
struct daemons *daemons_start(struct job *job, const struct launcher_info *launcher,
			      const struct launcher_hosts *hosts, bool is_again,
			      struct pdb_error *err);
/* They end, as they do when this process ends. NULL is fine. */
void daemons_stop(struct daemons *daemons);

/* A node that did not answer does now: daemons that are started now are on more nodes. */
bool daemons_can_reach_more(struct daemons *daemons);

/* Have them look for ranks that are not in the job's process table yet, put these into it, and tell
 * all daemons. Only with hosts. Returns how many were found. Errors: as daemons_look();
 * ERROR_NOT_FOUND: there is none at all. */
int daemons_find_ranks(struct daemons *daemons, struct pdb_error *err);

/* How many hosts have one. */
int daemons_count(const struct daemons *daemons);

/* How long their start took, in ns, one part after the other. */
struct daemons_start_times {
	/* until a launcher has been told, the job's own, that it has started them */
	uint64_t launch_ns;
	uint64_t connect_ns; /* until the first is connected: (the launcher,) libraries, MPI_Init */
	/* until all have heard of the job, by the first messages between them */
	uint64_t tell_ns;
};
struct daemons_start_times daemons_get_start_times(const struct daemons *daemons);

/* Look at all ranks and keep the answer. Ranks of which nobody has told become holes with their
 * host's name. On failure nothing is kept. ERROR_GONE: no process of the job is left;
 * ERROR_INTERRUPTED; after all others (the daemons are gone, or damaged) only daemons_stop(). */
int daemons_look(struct daemons *daemons, const struct node_look_options *options,
		 struct pdb_error *err);

/* Put what was kept into the job, as node_commit() does. */
void daemons_commit(struct daemons *daemons);

/* Sample the stacks of `ranks` and put the samples in the place of older ones; with the values,
 * names and functions that `code` (may be NULL) asks for. Errors: as daemons_look(). */
int daemons_sample(struct daemons *daemons, const struct rankset *ranks,
		   const struct node_sampling *sampling, const struct code_question *code,
		   struct pdb_error *err);

/* Get the traces of `ranks` as of the last look, which must have been committed, into the job's
 * model. Errors: as daemons_look(). */
int daemons_get_traces(struct daemons *daemons, const struct rankset *ranks, struct pdb_error *err);

/* Add what sampling has cost on their nodes so far. Errors: as daemons_look(). */
int daemons_add_cost(struct daemons *daemons, struct sampler_cost *cost, struct pdb_error *err);

/* Ask all of them something (pdbd.h). *ret is the merged answer, freed with link_frame_deinit(): who
 * is missing in it is told by what is not told. extra_ms: how much longer than others it may take.
 * Errors: as daemons_look(). */
int daemons_ask(struct daemons *daemons, uint32_t kind, const void *payload, size_t length,
		int extra_ms, struct link_frame *ret, struct pdb_error *err);

/* The connection, for channels over it, and the first of two numbers for channels that have not
 * been used. */
struct link *daemons_link(struct daemons *daemons);
uint32_t daemons_take_channels(struct daemons *daemons);

/* Serve the channels until the limit. Returns -1: ERROR_TIMEOUT, ERROR_INTERRUPTED (the limit's
 * cancel_fd); after all others only daemons_stop(). */
int daemons_wait(struct daemons *daemons, const struct link_limit *limit, struct pdb_error *err);

#endif
