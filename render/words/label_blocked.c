/* SPDX-License-Identifier: BSD-3-Clause
 * What threads wait for in the kernel. */

#include "model/job/blocked.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/text/json.h"
#include "render/text/text.h"
#include "render/view.h"
#include "render/words/label.h"
#include "render/words/label_private.h"

enum { MOST_IN_JSON = 256 };

/* MPI libraries wait for messages in such calls, too; what holds up the kernel is worth a word. */
const struct blocked *label_find_blocked(const struct view *view, const struct sample *sample)
{
	const struct blocked *of =
		samples_blocked(view->job->samples, view->job->callpaths, sample);
	bool is_in_mpi = of && sample->path != CALLPATH_NONE && label_mpi_call(view, sample->path);

	if (is_in_mpi && !of->kernel)
		return NULL;
	/* Of a lock only what this look has seen. */
	if (of && blocked_is_lock(of) && of != sample->blocked)
		return sample->blocked && sample->blocked->call ? sample->blocked : NULL;
	return of;
}

static const char *call_text(const struct view *view, const struct blocked *of)
{
	if (!strcmp(of->call, BLOCKED_PAGE_FAULT))
		return "waits in a page fault, as for a file or for swapped memory";
	if (!strcmp(of->call, BLOCKED_NO_CALL))
		return "waits in the kernel, in no system call";
	return text_of(view, "sleeps in %s()", of->call);
}

/* ---- Ranks in place of their processes ---- */

/* The rank of this job that is process `pid` on the host of `rank`; -1: none is. */
static int find_rank(const struct view *view, int rank, long pid)
{
	const struct proctable *table = view->job->proctable;
	const struct proc *self = proctable_find(table, rank);

	for (size_t i = 0; self && i < table->num_procs; i++)
		if (table->procs[i].pid == pid && !table->procs[i].has_ended &&
		    !strcmp(table->procs[i].host, self->host))
			return table->procs[i].rank;
	return -1;
}

static bool ends_with(const char *text, size_t length, const char *end)
{
	size_t size = strlen(end);

	return length >= size && !memcmp(text + length - size, end, size);
}

/* "process 812 (lmp)" becomes "rank 2 (process 812, lmp)"; so do those of a list "processes 812
 * (lmp) and 813 (sh)", in which the others become "process 813 (sh)". */
const char *label_with_ranks(const struct view *view, int rank, const char *text)
{
	const char *result = "", *at = text, *from = text;
	bool is_list = false;

	while (text && *at) {
		bool is_first = ends_with(text, (size_t)(at - text), "process ");
		bool begins = ends_with(text, (size_t)(at - text), "processes ");
		size_t length = strspn(at, "0123456789");
		size_t head = is_first ? strlen("process ") : begins ? strlen("processes ") : 0;
		int other;

		is_list |= begins;
		if (!length || strncmp(at + length, " (", 2) != 0 ||
		    !(is_first || begins ||
		      (is_list && (ends_with(text, (size_t)(at - text), ", ") ||
				   ends_with(text, (size_t)(at - text), " and "))))) {
			at += length ? length : 1;
			continue;
		}
		other = find_rank(view, rank, strtol(at, NULL, 10));
		result = text_of(view, "%s%.*s", result, (int)(at - head - from), from);
		result = other >= 0 ? text_of(view, "%srank %d (process %.*s, ", result, other,
					      (int)length, at)
				    : text_of(view, "%sprocess %.*s (", result, (int)length, at);
		at += length + 2;
		from = at;
	}
	return text ? text_of(view, "%s%s", result, from) : NULL;
}

/* A path is no list of processes. */
const char *label_blocked_object(const struct view *view, int rank, const struct blocked *of)
{
	return of->object && *of->object == 'p' ? label_with_ranks(view, rank, of->object)
						: of->object;
}

const char *label_blocked(const struct view *view, const struct sample *sample)
{
	const struct blocked *of = label_find_blocked(view, sample);
	const char *kernel, *object, *reason;

	if (!of)
		return NULL;
	object = label_blocked_object(view, sample->rank, of);
	/* Of a lock it holds only together with the stack. */
	reason = blocked_is_lock(of) ? NULL : label_with_ranks(view, sample->rank, of->reason);
	kernel = of->stack ?: of->kernel;
	return text_of(view, "%s%s%s%s%s%s%s%s%s%s%s%s", call_text(view, of), object ? ", " : "",
		       object ?: "", of->place ? " (" : "", of->place ?: "", of->place ? ")" : "",
		       reason ? ": " : "", reason ?: "", kernel ? "; in the kernel's " : "",
		       kernel ?: "", of->around ? "; " : "", of->around ?: "");
}

const char *label_blocked_short(const struct view *view, const struct sample *sample)
{
	const struct blocked *of = label_find_blocked(view, sample);

	if (!of)
		return NULL;
	return strchr(of->call, ' ') ? of->call : text_of(view, "%s()", of->call);
}

const char *label_process(const struct view *view, int rank)
{
	const struct sample *sample = samples_find(view->job->samples, rank, 0);
	const struct job_end *end = job_find_end(view->job, rank);
	const char *limit = samples_limit(view->job->samples, rank);
	const char *hole = job_find_hole(view->job, rank);

	if (hole && !strcmp(hole, JOB_HOLE_ENDED))
		return text_of(view, "process %s", label_end(view->arena, end));
	return limit ? limit : sample ? label_blocked(view, sample) : NULL;
}

void label_json_limits(struct json *json, const struct view *view, const struct rankset *ranks)
{
	size_t written = 0;

	for (int r = rankset_first(ranks); r >= 0 && written < MOST_IN_JSON;
	     r = rankset_next(ranks, r)) {
		const char *limit = samples_limit(view->job->samples, r);

		if (!limit)
			continue;
		if (written++ == 0)
			json_array(json, "limits");
		json_object(json, NULL);
		json_int(json, "rank", r);
		json_text(json, "limit", limit);
		json_end_object(json);
	}
	if (written)
		json_end_array(json);
}
