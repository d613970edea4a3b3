/* SPDX-License-Identifier: BSD-3-Clause
 * Looks at the job's processes: two looks at each segment, stack samples in between. Keeps who the
 * processes are, so that a later process with the same pid is not taken for a rank. */
#ifndef PDB_SHELL_LOOK_H
#define PDB_SHELL_LOOK_H

#include <stdbool.h>
#include <stdint.h>

struct job;
struct looker;
struct maps;
struct pdb_error;
struct rankset;
struct sampler;

struct look_options {
	int milliseconds; /* between the two looks; at least 1000 where there is no recorder */
	int max_samples;  /* ranks that are stack-sampled, the lowest ones */
	bool all_threads; /* of each such rank */
};

/* For the ranks in job->proctable that are processes of this host. job and sampler are borrowed. */
struct looker *looker_create(struct job *job, struct sampler *sampler);
void looker_destroy(struct looker *looker); /* NULL is fine */

/* Look, and keep what was seen. *trouble_ret: why there are no stacks at all, NULL if there are;
 * the caller frees. On failure (ERROR_INTERRUPTED; ERROR_GONE: none of the processes is left)
 * nothing is kept. */
int looker_look(struct looker *looker, const struct look_options *options, char **trouble_ret,
		struct pdb_error *err);

/* Put what looker_look() kept into the job: its model, samples and holes are made anew, the tables
 * of modules, call paths and names grow. Analyses of the old model must have been destroyed. */
void looker_commit(struct looker *looker);

/* Sample the stacks of `ranks` and put the samples in the place of older ones of these ranks. Ranks
 * that are not processes of this host are passed over. */
int looker_sample(struct looker *looker, const struct rankset *ranks, bool all_threads,
		  struct pdb_error *err);

/* Is the rank's process still there, and the same as when the looker was made? */
bool looker_is_alive(const struct looker *looker, int rank);

#endif
