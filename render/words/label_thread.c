/* SPDX-License-Identifier: BSD-3-Clause
 * Which other thread of its process a thread waits for, and where that is; or in which system call
 * it sleeps. */
#include "analysis/evidence/thread_wait.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/text/json.h"
#include "render/text/text.h"
#include "render/view.h"
#include "render/words/label.h"

enum { MAX_STEPS = 8, MOST_IN_JSON = 256 };

/* "the main thread", "thread 4321", "another thread" */
static const char *thread_text(const struct view *view, const struct sample *of, pid_t tid,
			       bool has_numbers)
{
	const struct sample *main = samples_find(view->job->samples, of->rank, 0);

	if (main && main->tid == tid)
		return "the main thread";
	return has_numbers ? text_of(view, "thread %d", (int)tid) : "another thread";
}

/* "for thread 4321 to end (pthread_join)"; NULL: the thread is not known. */
static const char *wait_text(const struct view *view, const struct sample *sample,
			     const struct thread_wait *wait, bool has_numbers)
{
	const char *by = wait->function ? text_of(view, " (%s)", wait->function) : "", *who;

	if (!wait->tid)
		return NULL;
	who = thread_text(view, sample, wait->tid, has_numbers);
	if (wait->kind == THREAD_WAIT_JOIN)
		return text_of(view, "for %s to end%s", who, by);
	if (wait->is_own)
		return text_of(view, "for a lock that it holds itself%s", by);
	return text_of(view, "for a lock that %s holds%s", who, by);
}

const char *label_thread_wait(const struct view *view, const struct sample *sample,
			      bool has_numbers)
{
	struct thread_wait wait = thread_wait_of(view->job, sample);
	const struct sample *way[MAX_STEPS];
	const char *text = wait_text(view, sample, &wait, has_numbers), *next;
	size_t num;
	enum thread_wait_end end;

	if (!text)
		return label_blocked(view, sample);
	text = text_of(view, "waits %s", text);
	end = thread_wait_follow(view->job, sample, way, MAX_STEPS, &num);
	for (size_t i = 1; i < num; i++) {
		wait = thread_wait_of(view->job, way[i]);
		/* Inside MPI the call itself says what it waits for. */
		next = end == THREAD_WAIT_END_IN_MPI && i + 1 == num
			       ? NULL
			       : wait_text(view, way[i], &wait, has_numbers);
		text = next ? text_of(view, "%s, which waits %s", text, next)
			    : text_of(view, "%s, which is in %s", text,
				      label_stack(view, way[i]->path));
	}
	if (end == THREAD_WAIT_END_CIRCLE && !wait.is_own)
		text = text_of(view, "%s: they wait for each other", text);
	return text;
}

const char *label_thread_function(const struct view *view, const struct sample *sample)
{
	return thread_wait_of(view->job, sample).function;
}

void label_json_thread_waits(struct json *json, const struct view *view,
			     const struct rankset *ranks)
{
	static const char *const kinds[] = {
		[THREAD_WAIT_JOIN] = "join",           [THREAD_WAIT_LOCK] = "lock",
		[THREAD_WAIT_CONDITION] = "condition", [THREAD_WAIT_REGION] = "region",
		[THREAD_WAIT_FUTEX] = "futex",
	};
	const struct samples *samples = view->job->samples;
	size_t written = 0;

	for (size_t i = 0; samples && i < samples->num_samples && written < MOST_IN_JSON; i++) {
		const struct sample *sample = &samples->samples[i];
		struct thread_wait wait;

		if (sample->wait.kind == SAMPLE_WAIT_NONE ||
		    !rankset_contains(ranks, sample->rank) ||
		    sample != samples_find(samples, sample->rank, sample->tid))
			continue;
		wait = thread_wait_of(view->job, sample);
		if (wait.kind == THREAD_WAIT_NONE)
			continue;
		if (written++ == 0)
			json_array(json, "thread_waits");
		json_object(json, NULL);
		json_int(json, "rank", sample->rank);
		json_int(json, "thread", sample->tid);
		json_bool(json, "main", sample->is_main);
		json_text(json, "kind", kinds[wait.kind]);
		if (wait.tid)
			json_int(json, "for", wait.tid);
		json_text(json, "function", wait.function);
		json_text(json, "where", label_user_place(view, sample->path, LABEL_FULL));
		json_end_object(json);
	}
	if (written)
		json_end_array(json);
}
