/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/evidence.h"
#include "analysis/evidence/stack_facts.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waits/waitfor.h"
#include "model/job/job.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "render/view.h"
#include "render/words/role.h"

static const struct role culprit = {"culprit", "Culprit: ", "<- culprit", "is a culprit"};
static const struct role least = {"least progressed", "Least progressed: ", "<- least progressed",
				  "is the least progressed"};

/* Does the verdict name all ranks that wait for each other, as nothing tells one of them apart? A
 * rank that waits for itself is alone to blame. */
static bool is_even(const struct verdict *verdict)
{
	return verdict->witness.kind == WITNESS_NONE && rankset_count(verdict->culprits) > 1 &&
	       rankset_equal(verdict->deadlock->ranks, verdict->culprits);
}

/* A process of which a core is left does not go on. */
static bool may_be_slow(const struct view *view)
{
	return verdict_may_be_slow(view->verdict) && !view->is_known_hang &&
	       view->job->proctable->source != PROCTABLE_CORES;
}

const struct role *role_of(const struct view *view)
{
	static const struct role nobody = {.name = "none", .title = "No certain hang"};
	static const struct role not_known = {.name = "not known",
					      .title = "Not known: which rank holds up the others"};
	static const struct role undecided = {"undecided", "Least progressed: undecided among ",
					      "<- least progressed?",
					      "may be the least progressed"};
	static const struct role deadlock = {"deadlock", "Deadlock: ", "<- deadlock",
					     "is a part of the deadlock"};
	static const struct role crashed = {"crashed", "Crashed: ", "<- crashed", "has crashed"};

	static const struct role slow = {"slow or hung", "Slow or hung: ", "<- slow or hung",
					 "is slow or hangs"};
	static const struct role between = {"lost between",
					    "Message lost between: ", "<- message lost between",
					    "is an end of a message that was lost"};

	if (view->verdict->witness.kind == WITNESS_NOT_ARRIVED)
		return &between;
	switch (view->verdict->kind) {
	case VERDICT_NONE:
		return &nobody;
	case VERDICT_UNKNOWN:
		return &not_known;
	case VERDICT_LEAST:
		return &least;
	case VERDICT_UNDECIDED:
		return &undecided;
	case VERDICT_CRASHED:
		return &crashed;
	case VERDICT_DEADLOCK:
		return is_even(view->verdict) ? &deadlock : &culprit;
	case VERDICT_COMPUTATION:
		if (may_be_slow(view))
			return &slow;
		/* fall through */
	default:
		return view->verdict->is_by_order ? &least : &culprit;
	}
}
