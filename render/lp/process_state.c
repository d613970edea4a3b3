/* SPDX-License-Identifier: BSD-3-Clause
 * What the kernel says of the processes of ranks that hold the others up. */
#include <string.h>

#include "analysis/verdict/verdict.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/lp/lp.h"
#include "render/text/text.h"
#include "render/view.h"
#include "render/words/label.h"
#include "render/words/parts.h"

enum { MAX_CONTINUED = 8, MAX_LIMITS = 3 };

/* `"kill -CONT 71 72" on node7` for each host of these ranks; without the host if the job has only
 * one. */
static const char *continue_text(const struct view *view, const struct rankset *ranks)
{
	const struct proctable *table = view->job->proctable;
	struct rankset *left = parts_copy(view, ranks);
	struct text_list line = {.arena = view->arena};
	bool has_hosts = false;

	for (size_t i = 1; i < table->num_procs; i++)
		has_hosts |= strcmp(table->procs[i].host, table->procs[0].host) != 0;
	for (int first = rankset_first(left); first >= 0; first = rankset_first(left)) {
		const struct proc *of_host = proctable_find(table, first);
		struct text_list pids = {.arena = view->arena};

		for (int r = first; r >= 0; r = rankset_next(left, r)) {
			const struct proc *proc = proctable_find(table, r);

			if (proc && of_host && strcmp(proc->host, of_host->host) != 0)
				continue;
			rankset_remove(left, r);
			if (proc && proc->pid > 0)
				text_list_add(&pids, " ", text_of(view, "%d", (int)proc->pid));
		}
		if (pids.text)
			text_list_add(&line, " and ",
				      text_of(view, "\"kill -CONT %s\"%s%s", pids.text,
					      has_hosts ? " on " : "",
					      has_hosts ? of_host->host : ""));
	}
	return line.text ? line.text : "\"kill -CONT\"";
}

/* What the user can do; "" if nothing. Pids are left out if there are too many ranks to list. */
static const char *remedy_text(const struct view *view, char state, const struct rankset *ranks)
{
	if (state != 'T')
		return "";
	if (rankset_count(ranks) > MAX_CONTINUED)
		return "; \"kill -CONT\" continues them, \"info ranks\" shows the pids";
	return text_of(view, "; %s continues %s", continue_text(view, ranks),
		       parts_plural(ranks, "it", "them"));
}

void view_unstoppable(const struct view *view)
{
	const struct job *job = view->job;
	const struct samples *samples = job->samples;
	struct same waits = {.arena = view->arena};

	for (size_t i = 0; i < samples->num_samples; i++) {
		const struct sample *sample = &samples->samples[i];
		bool is_told = job->model && rankset_contains(job->model->ranks, sample->rank);
		const char *wait = NULL;

		if (sample->is_main && !is_told && sample->status == SAMPLE_FAILED &&
		    sample == samples_find(samples, sample->rank, 0))
			wait = label_blocked(view, sample);
		if (wait)
			same_add(&waits, wait, sample->rank);
	}
	same_sort(&waits);
	same_print(&waits, view, " without a stack: ", MAX_LIMITS);
}

static void print_limits(const struct view *view)
{
	const struct rankset *culprits = view->verdict->culprits;
	struct same limits = {.arena = view->arena};

	for (int r = rankset_first(culprits); r >= 0; r = rankset_next(culprits, r)) {
		const char *limit = samples_limit(view->job->samples, r);

		if (limit)
			same_add(&limits, limit, r);
	}
	same_print(&limits, view, ": ", MAX_LIMITS);
}

void view_process_states(const struct view *view)
{
	static const struct {
		char state;
		const char *text;
	} states[] = {
		{'T', "stopped by a signal"},
		{'t', "held by a debugger"},
		{'Z', "ended, its parent has not collected it"},
		{'X', "ended, its parent has not collected it"},
		{'D', "waiting inside the kernel, as for a disk or a network file system"},
	};
	const struct rankset *culprits = view->verdict->culprits;

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		struct rankset *ranks = parts_set(view);

		for (int r = rankset_first(culprits); r >= 0; r = rankset_next(culprits, r)) {
			const struct sample *sample = samples_find(view->job->samples, r, 0);

			if (sample && sample->state == states[i].state)
				rankset_add(ranks, r);
		}
		if (!rankset_is_empty(ranks))
			text_wrap(view, 2, "%s: process %s (state %c)%s", parts_who(view, ranks),
				  states[i].text, states[i].state,
				  remedy_text(view, states[i].state, ranks));
	}
	view_unstoppable(view);
	print_limits(view);
}
