/* SPDX-License-Identifier: BSD-3-Clause
 * The job as its daemons are told of it: a line for each host, "HOST RANK:PID RANK:PID ...". */
#ifndef PDB_ATTACH_DAEMON_JOB_H
#define PDB_ATTACH_DAEMON_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proctable;

/* The caller frees. */
char *daemon_job_encode(const struct proctable *table);

struct daemon_rank {
	int rank;
	pid_t pid;
	uint64_t start_ticks; /* 0: there is no such process */
};

/* The ranks of the hosts that is_here() says yes to. What is no such line is passed over. Returns
 * how many; the caller frees *ret. Start times are not set. */
size_t daemon_job_decode(const char *text, size_t length, bool (*is_here)(const char *host),
			 struct daemon_rank **ret);

/* Remember when the processes were started, so that later ones with their pids are not theirs. */
void daemon_job_note_start(struct daemon_rank *ranks, size_t num);

/* How many of them have not ended. */
size_t daemon_job_count_living(const struct daemon_rank *ranks, size_t num);

#endif
