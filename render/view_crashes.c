/* SPDX-License-Identifier: BSD-3-Clause
 * How ranks were ended, and where. */
#include <stdlib.h>
#include <string.h>

#include "model/callpath.h"
#include "model/job.h"
#include "model/rankset.h"
#include "model/sample.h"
#include "model/xalloc.h"
#include "render/label.h"
#include "render/text.h"
#include "render/view.h"

#define MAX_GROUPS 8

/* Ranks that were ended alike in one place. */
struct group {
	char *text;
	struct rankset *ranks;
};

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
	struct group groups[MAX_GROUPS];
	size_t num = 0, num_others = 0;

	for (size_t i = 0; i < job->num_crashes; i++) {
		char *text;
		size_t g = 0;

		if (ranks && !rankset_contains(ranks, job->crashes[i].rank))
			continue;
		text = crash_text(view, &job->crashes[i]);
		while (g < num && strcmp(groups[g].text, text) != 0)
			g++;
		if (g == MAX_GROUPS) {
			num_others++;
			free(text);
			continue;
		}
		if (g == num)
			groups[num++] = (struct group){xstrdup(text), rankset_create()};
		rankset_add(groups[g].ranks, job->crashes[i].rank);
		free(text);
	}
	for (size_t g = 0; g < num; g++) {
		char *who = label_who(groups[g].ranks, 30);

		text_wrap(view, 2, "%s: %s", who, groups[g].text);
		free(who);
		free(groups[g].text);
		rankset_destroy(groups[g].ranks);
	}
	if (num_others)
		text_wrap(view, 2, "and %zu more ranks in other ways; see \"info ranks\"",
			  num_others);
}
