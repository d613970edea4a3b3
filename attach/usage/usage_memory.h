/* SPDX-License-Identifier: BSD-3-Clause
 * On which NUMA nodes a process has its memory, by a sample of its pages. It takes one call of the
 * kernel, which holds the process's memory lock for 16 pages at a time. numa_maps holds it for
 * all of them. */
#pragma once

#include "model/base.h"

struct maps;
struct rankset;
struct usage_rank;

enum { USAGE_MAX_PAGES = 256, USAGE_MAX_NUMA_NODES = 1024 };

/* NUMA nodes that have memory and processors. Nodes with memory alone may be its fast kind, so
 * nothing is said of them. */
struct usage_numa {
	struct rankset **processors; /* [num], by the node's number; NULL: it has not both */
	int num;
};

/* Of a folder like /sys/devices/system/node. NULL: there are not two of them. The caller destroys
 * it. */
struct usage_numa *usage_numa_read(const char *folder);
void usage_numa_destroy(struct usage_numa *numa); /* NULL is fine */
/* That of a processor; -1: none. */
int usage_numa_of(const struct usage_numa *numa, int processor);

/* Addresses of pages, evenly over all memory that only the process can write. Returns how many. */
size_t usage_memory_choose(const struct maps *maps, uint64_t page_size,
			   uint64_t addresses[USAGE_MAX_PAGES]);

/* The node of each page, below 0: it has no memory now. -1 with errno set: not allowed, or no such
 * process. */
int usage_memory_ask(pid_t pid, const uint64_t *addresses, size_t num, int *nodes);

/* Set the members of the rank that count pages, of a process on node `own`. */
void usage_memory_count(const struct usage_numa *numa, int own, const int *nodes, size_t num,
			struct usage_rank *rank);

/* All of that for a process; where it is not possible, the members stay 0. */
void usage_memory_take(const struct usage_numa *numa, pid_t pid, int own, struct usage_rank *rank);
