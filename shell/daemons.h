/* SPDX-License-Identifier: BSD-3-Clause
 * Starts pdb's daemons on the nodes of a job that has ranks on other hosts, and asks them.
 *
 * Errors of all questions: ERROR_GONE: no process of the job is left. ERROR_INTERRUPTED: Ctrl-C.
 * After any other error the daemons are lost or damaged; only daemons_stop() may then be called. */
#pragma once

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
struct sampler_cost;

struct daemons {
	struct job *job;
	const struct launcher_kind *kind;
	const struct launcher_hosts *hosts; /* empty: the hosts of the process table */
	struct link_listener *listener;
	struct link *link; /* also carries channels */
	struct daemon_launch launch;
	struct pmix_daemons spawned;
	int num_hosts;        /* hosts with a daemon */
	const char **avoided; /* hosts left out, as they do not answer; NULL-terminated */
	size_t num_avoided;
	uint64_t reached_ns; /* when `avoided` was found */
	bool is_lost;        /* the daemons can no longer be told to end */
	uint32_t next_channel;
	/* How long the three parts of the start took. launch_ns: until a launcher was told to start
	 * the daemons; the job's own launcher: until it has started them. connect_ns: until the
	 * first daemon is connected; it loads libraries and calls MPI_Init. tell_ns: until all
	 * daemons know the job, by their first messages. */
	uint64_t launch_ns, connect_ns, tell_ns;
	unsigned num_owed; /* answers still to come, those nobody waits for included */
	struct job answer; /* between look and commit: model, samples, holes; tables of `job` */
};

/* Does the job have ranks on other hosts? */
bool daemons_are_needed(const struct proctable *table);

/* Start a daemon on each node of the job and tell them about the job. job, launcher and hosts are
 * borrowed. Nodes are `hosts`, or those of the process table if there are none. Where the launcher
 * allows it, a second attempt leaves out nodes that do not answer on the network; so does the first
 * one with is_again (earlier daemons were lost). daemons_stop() frees. NULL: ERROR_INTERRUPTED:
 * Ctrl-C; ERROR_PERMISSION: another user's launcher, nothing was started; others. */
struct daemons *daemons_start(struct job *job, const struct launcher_info *launcher,
			      const struct launcher_hosts *hosts, bool is_again,
			      struct pdb_error *err);
/* End the daemons and free. They also end when this process ends. NULL is fine. */
void daemons_stop(struct daemons *daemons);

/* Does a node answer that did not? Then new daemons would be on more nodes. */
bool daemons_can_reach_more(struct daemons *daemons);
/* Has the host no daemon because it did not answer when daemons were started? */
bool daemons_is_avoided(const struct daemons *daemons, const char *host);

/* Let the daemons look for ranks that the process table lacks. Adds these and tells all daemons.
 * Only with hosts. Returns how many ranks were added. -1: ERROR_NOT_FOUND: there is no rank at all;
 * others. */
int daemons_find_ranks(struct daemons *daemons, struct pdb_error *err);

/* Look at all ranks and keep the answer. Ranks that no daemon answered for become holes with their
 * host's name. -1 and *err: nothing is kept. */
int daemons_look(struct daemons *daemons, const struct node_look_options *options,
		 struct pdb_error *err);
/* Put the kept answer into the job, as node_commit() does. */
void daemons_commit(struct daemons *daemons);
/* Drop the answer of a look that was not committed, if any. */
void daemons_forget_answer(struct daemons *daemons);

/* Sample the stacks of `ranks`; the samples replace older ones. `code` (may be NULL) asks for
 * values, names and functions besides. -1 and *err. */
int daemons_sample(struct daemons *daemons, const struct rankset *ranks,
		   const struct node_sampling *sampling, const struct code_question *code,
		   struct pdb_error *err);

/* Get parts (SHARE_DETAILS, SHARE_TRACES) of `ranks` into the job's model, as of the last look,
 * which must have been committed. -1 and *err. */
int daemons_get_more(struct daemons *daemons, const struct rankset *ranks, unsigned int parts,
		     struct pdb_error *err);

/* Add the cost of sampling on the daemons' nodes so far. -1 and *err. */
int daemons_add_cost(struct daemons *daemons, struct sampler_cost *cost, struct pdb_error *err);

/* Ask all daemons a question (pdbd.h). *ret is the merged answer; link_frame_deinit() frees it. The
 * answer does not list daemons that are missing in it. extra_ms: how many ms longer than usual the
 * answer may take. -1 and *err. */
int daemons_ask(struct daemons *daemons, uint32_t kind, const void *payload, size_t length,
		int extra_ms, struct link_frame *ret, struct pdb_error *err);

/* Take two unused channel numbers; returns the first. */
uint32_t daemons_take_channels(struct daemons *daemons);
/* Serve the channels until the limit. Returns 0, or -1: ERROR_TIMEOUT, ERROR_INTERRUPTED
 * (cancel_fd), others. */
int daemons_wait(struct daemons *daemons, const struct link_limit *limit, struct pdb_error *err);
