/* SPDX-License-Identifier: BSD-3-Clause
 * How processes of ranks ended, by what this host still knows: the status of one that its parent
 * has not collected, the kernel's log, and the counts of their cgroup. */
#ifndef PDB_ATTACH_ENDING_H
#define PDB_ATTACH_ENDING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct endings;
struct job_end;

/* What there is beside living ranks of the job on this host, at least one. Takes a millisecond or
 * two. endings_destroy() frees it. */
struct endings *endings_create(const pid_t *living, size_t num);
void endings_destroy(struct endings *endings);

/* The end of a rank's process. start_ticks: 0 if not known. `executable`: NULL or "" if not known;
 * a process with another name than that, or than the living ones', is not the rank's. */
void endings_find(const struct endings *endings, pid_t pid, uint64_t start_ticks,
		  const char *executable, struct job_end *ret);

#endif
