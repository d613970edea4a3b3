/* SPDX-License-Identifier: BSD-3-Clause
 * What a sample of a main thread tells of the kernel (attach/blocked), within what it may cost. */
#pragma once

#include <sys/user.h>

#include "model/base.h"

struct blocked;

/* Of the samples that are taken together. */
struct sample_blocked_budget {
	int searches;                /* that may still be made, see attach/blocked/blocked.h */
	int limits;                  /* processes that may still be asked for limits */
	int64_t locks_ns;            /* that words of locks may still take */
	struct mount_probes *mounts; /* of the sampler, for all its samples */
};

void sample_blocked_init(struct sample_blocked_budget *budget);
void sample_blocked_deinit(struct sample_blocked_budget *budget);
void sample_blocked_begin(struct sample_blocked_budget *budget);

/* Before the thread is stopped, in this state of /proc/PID/stat. NULL as of blocked_read(). */
struct blocked *sample_blocked_before(struct sample_blocked_budget *budget, pid_t pid, char state);

/* After it was, with its registers then: add to *blocked what was not known before, and limits that
 * the process has reached. For threads outside MPI. */
void sample_blocked_after(struct sample_blocked_budget *budget, pid_t pid,
			  const struct user_regs_struct *regs, struct blocked **blocked);

/* At the end: whether the mount answers that it waits for. Waits up to MOUNT_PROBE_MS for that. */
void sample_blocked_end(struct sample_blocked_budget *budget, pid_t pid, struct blocked *blocked);
