/* SPDX-License-Identifier: BSD-3-Clause
 * How processes of ranks ended, as far as this host still knows: the exit status that a parent has
 * not collected, the kernel's log, and the counts of their cgroup. */
#pragma once

#include "model/base.h"

struct endings;
struct job_end;

/* Collect what this host knows, with the help of living ranks of the job on it, at least one. Takes
 * a millisecond or two. endings_destroy() frees it. */
struct endings *endings_create(const pid_t *living, size_t num);
void endings_destroy(struct endings *endings);

/* Find how a rank's process ended. start_ticks: 0 if not known. `executable`: NULL or "" if not
 * known. A process is not the rank's if its name is another than this one, or than the living
 * ones'. */
void endings_find(const struct endings *endings, pid_t pid, uint64_t start_ticks,
		  const char *executable, struct job_end *ret);
