/* SPDX-License-Identifier: BSD-3-Clause
 * Missing ranks: how and where they ended, or why nothing is known about them. */
#include <string.h>

#include "analysis/verdict/verdict.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/words/parts.h"

#define MAX_GROUPS 8
#define MAX_ENDS 3

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

void view_ended(const struct view *view, const struct rankset *ended)
{
	struct same ends = {.arena = view->arena};

	for (int r = rankset_first(ended); r >= 0; r = rankset_next(ended, r))
		same_add(&ends, label_end(view->arena, job_find_end(view->job, r)), r);
	same_sort(&ends);
	for (size_t i = 0; i < ends.num && i < MAX_ENDS; i++)
		text_wrap(view, 2, "%s: process %s%s", parts_who(view, ends.entries[i].ranks),
			  ends.entries[i].text,
			  strcmp(ends.entries[i].text, label_end(view->arena, NULL))
				  ? "; the others wait"
				  : " while the others wait");
	if (ends.num > MAX_ENDS)
		text_wrap(view, 2, "and others in other ways; see \"info ranks\"");
}

/* Of a rank that has ended its recorder may tell what it did before. */
static bool is_known(const struct job *job, const struct job_hole *hole)
{
	return job->model && strcmp(hole->why, JOB_HOLE_ENDED) == 0 &&
	       rankset_contains(job->model->ranks, hole->rank);
}

void view_holes(const struct view *view)
{
	struct same reasons = {.arena = view->arena};

	for (size_t i = 0; i < view->job->num_holes; i++) {
		const struct job_hole *hole = &view->job->holes[i];

		if (is_known(view->job, hole))
			continue;
		same_add(&reasons,
			 strcmp(hole->why, JOB_HOLE_ENDED) ||
					 rankset_contains(view->verdict->culprits, hole->rank)
				 ? hole->why
				 : text_of(view, "process %s",
					   label_end(view->arena,
						     job_find_end(view->job, hole->rank))),
			 hole->rank);
	}
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
