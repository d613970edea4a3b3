/* SPDX-License-Identifier: BSD-3-Clause
 * How ranks were ended, and where. */
#include <stdlib.h>

#include "analysis/verdict/verdict.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/xalloc.h"
#include "render/label.h"
#include "render/same.h"
#include "render/text.h"
#include "render/view.h"

#define MAX_GROUPS 8

/* "SIGSEGV at address 0x10, in halo() at solver.c:141" */
static char *crash_text(const struct view *view, const struct job_crash *crash)
{
	const struct sample *sample = samples_find(view->job->samples, crash->rank, crash->tid);
	char *how = label_crash(crash), *where, *text;

	if (!sample || sample->path == CALLPATH_NONE)
		return how;
	where = label_user_place(view->job, sample->path, LABEL_FULL);
	text = sample->is_main ? xasprintf("%s, in %s", how, where)
			       : xasprintf("%s, in %s (thread %d)", how, where, (int)crash->tid);
	free(where);
	free(how);
	return text;
}

void view_crashes(const struct view *view, const struct rankset *ranks)
{
	const struct job *job = view->job;
	struct same crashes = {0};

	for (size_t i = 0; i < job->num_crashes; i++) {
		char *text;

		if (ranks && !rankset_contains(ranks, job->crashes[i].rank))
			continue;
		text = crash_text(view, &job->crashes[i]);
		same_add(&crashes, text, job->crashes[i].rank);
		free(text);
	}
	for (size_t i = 0; i < crashes.num && i < MAX_GROUPS; i++) {
		char *who = same_who(&crashes.entries[i]);

		text_wrap(view, 2, "%s: %s", who, crashes.entries[i].text);
		free(who);
	}
	if (crashes.num > MAX_GROUPS)
		text_wrap(view, 2, "and %zu more ranks in other ways; see \"info ranks\"",
			  same_count_from(&crashes, MAX_GROUPS));
	same_deinit(&crashes);
}

void view_crash_verdict(const struct view *view)
{
	const struct rankset *culprits = view->verdict->culprits;
	struct rankset *others = rankset_create();

	view_crashes(view, culprits);
	for (size_t i = 0; i < view->job->num_crashes; i++)
		rankset_add(others, view->job->crashes[i].rank);
	rankset_remove_set(others, culprits);
	if (!rankset_is_empty(others))
		text_wrap(view, 2, "others were ended, too:");
	view_crashes(view, others);
	rankset_destroy(others);
	text_wrap(view, 2, "next: \"bt %d\", \"bt\"", rankset_first(culprits));
}
