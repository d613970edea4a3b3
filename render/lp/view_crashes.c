/* SPDX-License-Identifier: BSD-3-Clause
 * Ranks that are missing: how they were ended and where, or why nothing is known of them. */
#include <string.h>

#include <uthash.h>

#include "analysis/verdict/verdict.h"
#include "model/arena.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/text/text.h"
#include "render/view.h"
#include "render/words/label.h"
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
		const char *text;

		if (ranks && !rankset_contains(ranks, job->crashes[i].rank))
			continue;
		text = crash_text(view, &job->crashes[i]);
		same_add(&crashes, text, job->crashes[i].rank);
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
		text_wrap(view, 2, "others were ended, too:");
	view_crashes(view, others);
	text_wrap(view, 2, "next: \"bt %d\", \"bt\"", rankset_first(culprits));
}

/* The ranks with one reason. */
struct reason {
	UT_hash_handle hh;
	const char *why;
	struct rankset *ranks;
};

void view_holes(const struct view *view)
{
	const struct job *job = view->job;
	struct reason *reasons = NULL, *reason, *next;

	for (size_t i = 0; i < job->num_holes; i++) {
		const char *why = job->holes[i].why;

		HASH_FIND_STR(reasons, why, reason);
		if (!reason) {
			reason = arena_alloc(view->arena, sizeof(*reason));
			reason->why = why;
			reason->ranks = parts_set(view);
			HASH_ADD_KEYPTR(hh, reasons, why, strlen(why), reason);
		}
		rankset_add(reason->ranks, job->holes[i].rank);
	}
	HASH_ITER(hh, reasons, reason, next)
	text_wrap(view, 0, "Not known: %s (%d of %d): %s.",
		  label_who(view->arena, reason->ranks, 40), rankset_count(reason->ranks),
		  parts_num_ranks(view), reason->why);
	HASH_CLEAR(hh, reasons);
}
