/* SPDX-License-Identifier: BSD-3-Clause
 * The verdict by the signals that ended ranks. */
#include <signal.h>

#include "analysis/verdict/verdict_private.h"
#include "model/job/job.h"
#include "model/job/rankset.h"

bool verdict_find_crashed(struct judge *j)
{
	struct rankset *aborts = rankset_in(j->arena, rankset_create());
	struct verdict *verdict = j->verdict;

	for (size_t i = 0; i < j->job->num_crashes; i++) {
		const struct job_crash *crash = &j->job->crashes[i];

		if (crash->is_fault)
			rankset_add(verdict->culprits, crash->rank);
		else if (crash->signal == SIGABRT && !crash->is_sent)
			rankset_add(aborts, crash->rank);
	}
	if (rankset_is_empty(verdict->culprits))
		rankset_add_set(verdict->culprits, aborts);
	if (rankset_is_empty(verdict->culprits))
		return false;
	verdict->kind = VERDICT_CRASHED;
	verdict->basis = VERDICT_BY_STACKS;
	verdict->is_hang = true;
	return true;
}
