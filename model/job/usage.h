/* SPDX-License-Identifier: BSD-3-Clause
 * What the kernel counted for ranks and their nodes between two readings of /proc: how long each
 * had a processor, and what kept it from one. All of it is differences, over interval_ns. */
#pragma once

#include "model/base.h"

enum { USAGE_MAX_OTHERS = 16, USAGE_MAX_PROCESSORS = 1 << 16 };

/* The main thread of a rank, if nothing else is said. */
struct usage_rank {
	int rank;
	int node_rank; /* the lowest rank of its node that was read: see usage_node() */
	uint64_t interval_ns;
	bool has_queue;             /* the kernel tells the next two */
	uint64_t ran_ns, queued_ns; /* had a processor; was ready and had none */
	uint64_t process_ns;        /* processor time of all threads, in steps of a clock tick */
	uint64_t major_faults;      /* of all threads */
	uint64_t block_ns;          /* waited for disks; 0 where the kernel does not count it */
	struct rankset *allowed;    /* processors that it may use; empty: not known */
	uint64_t khz;               /* of its processor, mean of both readings; 0: not known */
	/* The group of processes that limits it, of its own and those around it; NULL: none does.
	 * Of so many periods the group used up its quota in `throttled`. */
	char *group;
	uint64_t periods, throttled;
	uint64_t quota_percent; /* of one processor: 150 is one and a half; 0: not known */
	/* A sample of its memory: so many pages, and how many of these are on other NUMA nodes than
	 * own_node, where it was at both readings; the most on far_node. num_pages 0: not
	 * looked at, as where its host has one node, or other threads of its process ran. */
	uint32_t num_pages, num_far, own_node, far_node;
};

/* Another process that used a processor for at least 5 % of the interval. */
struct usage_process {
	pid_t pid;
	char name[32];
	uint64_t ran_ns;
	struct rankset *processors; /* that its threads were seen on */
};

struct usage_node {
	int rank; /* its lowest rank that was read */
	uint64_t interval_ns;
	uint32_t num_processors;
	uint64_t steal_ns;   /* taken by the hypervisor from all processors together */
	uint64_t swapped_in; /* pages */
	struct usage_process others[USAGE_MAX_OTHERS]; /* by processor time, the most first */
	size_t num_others;
};

struct usage {
	struct usage_rank *ranks; /* by rank */
	size_t num_ranks, ranks_capacity;
	struct usage_node *nodes; /* by rank */
	size_t num_nodes, nodes_capacity;
};

struct usage *usage_create(void);
void usage_destroy(struct usage *usage); /* NULL is fine */

/* Append, in the order of ranks; what the element owns is the usage's from now on. */
void usage_add_rank(struct usage *usage, const struct usage_rank *rank);
void usage_add_node(struct usage *usage, const struct usage_node *node);
void usage_rank_deinit(struct usage_rank *rank);
void usage_node_deinit(struct usage_node *node);

/* NULL: it was not read. */
const struct usage_rank *usage_find(const struct usage *usage, int rank);
const struct usage_node *usage_node(const struct usage *usage, const struct usage_rank *rank);
