/* SPDX-License-Identifier: BSD-3-Clause
 * The verdict by the signals that ended ranks. */
#include <signal.h>

#include "analysis/verdict/verdict_private.h"
#include "model/job/job.h"
#include "model/job/rankset.h"

bool verdict_find_crashed(struct judge *j)
{
	struct rankset *faults = rankset_create(), *aborts = rankset_create();
	struct verdict *verdict = j->verdict;

	for (size_t i = 0; i < j->job->num_crashes; i++) {
		const struct job_crash *crash = &j->job->crashes[i];

		if (crash->is_fault)
			rankset_add(faults, crash->rank);
		else if (crash->signal == SIGABRT && !crash->is_sent)
			rankset_add(aborts, crash->rank);
	}
	rankset_add_set(verdict->culprits, rankset_is_empty(faults) ? aborts : faults);
	rankset_destroy(faults);
	rankset_destroy(aborts);
	if (rankset_is_empty(verdict->culprits))
		return false;
	verdict->kind = VERDICT_CRASHED;
	verdict->basis = VERDICT_BY_STACKS;
	verdict->is_hang = true;
	return true;
}
