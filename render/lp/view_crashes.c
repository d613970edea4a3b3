/* SPDX-License-Identifier: BSD-3-Clause
 * Missing ranks: how and where they ended, or why nothing is known about them. */
#include <string.h>

#include "analysis/verdict/verdict.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/words/parts.h"

#define MAX_GROUPS 8

/* "SIGSEGV at address 0x10, in halo() at solver.c:141" */
static const char *crash_text(const struct view *view, const struct job_crash *crash)
{
	const struct sample *sample = samples_find(view->job->samples, crash->rank, crash->tid);
	const char *how = label_crash(view->arena, crash), *where;

	if (!sample || sample->path == CALLPATH_NONE)
		return how;
	where = label_user_place(view, sample->path, LABEL_FULL);
	return sample->is_main
		       ? text_of(view, "%s, in %s", how, where)
		       : text_of(view, "%s, in %s (thread %d)", how, where, (int)crash->tid);
}

void view_crashes(const struct view *view, const struct rankset *ranks)
{
	const struct job *job = view->job;
	struct same crashes = {.arena = view->arena};

	for (size_t i = 0; i < job->num_crashes; i++) {
		const struct job_crash *crash = &job->crashes[i];

		if (!ranks || rankset_contains(ranks, crash->rank))
			same_add(&crashes, crash_text(view, crash), crash->rank);
	}
	if (same_print(&crashes, view, ": ", MAX_GROUPS))
		text_wrap(view, 2, "and %zu more ranks in other ways; see \"info ranks\"",
			  same_count_from(&crashes, MAX_GROUPS));
}

void view_crash_verdict(const struct view *view)
{
	const struct rankset *culprits = view->verdict->culprits;
	struct rankset *others = parts_set(view);

	view_crashes(view, culprits);
	for (size_t i = 0; i < view->job->num_crashes; i++)
		rankset_add(others, view->job->crashes[i].rank);
	rankset_remove_set(others, culprits);
	if (!rankset_is_empty(others))
		text_wrap(view, 2, "others ended, too:");
	view_crashes(view, others);
	text_wrap(view, 2, "next: \"bt %d\", \"bt\"", rankset_first(culprits));
}

void view_holes(const struct view *view)
{
	struct same reasons = {.arena = view->arena};

	for (size_t i = 0; i < view->job->num_holes; i++)
		same_add(&reasons, view->job->holes[i].why, view->job->holes[i].rank);
	for (size_t i = 0; i < reasons.num; i++) {
		int num = rankset_count(reasons.entries[i].ranks);

		if (num == parts_num_ranks(view) && !strcmp(reasons.entries[i].text, "no recorder"))
			text_wrap(view, 0, "No rank has the recorder%s.",
				  view->verdict->kind == VERDICT_UNKNOWN
					  ? ""
					  : ": start the next job with \"pdb run -- mpirun ...\"");
		else
			text_wrap(view, 0, "Not known: %s (%d of %d): %s.",
				  label_who(view->arena, reasons.entries[i].ranks, 40), num,
				  parts_num_ranks(view), reasons.entries[i].text);
	}
}
