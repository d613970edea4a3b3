/* SPDX-License-Identifier: BSD-3-Clause
 * Which other thread of its process a thread waits for, or for which lock, and where that is. */
#include "analysis/evidence/thread_wait.h"
#include "model/job/blocked.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/text/json.h"
#include "render/text/text.h"
#include "render/view.h"
#include "render/words/label.h"
#include "render/words/label_private.h"

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

/* What was read of the lock that it waits for, NULL: none, or nothing. */
static const struct blocked *find_lock(const struct view *view, const struct sample *sample)
{
	const struct blocked *of = label_find_blocked(view, sample);

	return of && blocked_is_lock(of) ? of : NULL;
}

/* "mutex 'table'", "the lock of stdout"; of: as find_lock(). */
static const char *lock_text(const struct view *view, const struct blocked *of,
			     enum thread_wait_what what)
{
	static const char *const nouns[] = {
		[THREAD_WAIT_ON_NOTHING] = "a lock",
		[THREAD_WAIT_ON_MUTEX] = "a mutex",
		[THREAD_WAIT_ON_RWLOCK] = "a rwlock",
		[THREAD_WAIT_ON_CONDITION] = "a condition variable",
		[THREAD_WAIT_ON_SEMAPHORE] = "a semaphore",
		[THREAD_WAIT_ON_BARRIER] = "a barrier",
		[THREAD_WAIT_ON_STREAM] = "a lock of the C library",
		[THREAD_WAIT_ON_HEAP] = "the lock of the memory allocator",
		[THREAD_WAIT_ON_CRITICAL] = "an OpenMP critical section",
		[THREAD_WAIT_ON_OMP_LOCK] = "an OpenMP lock",
		[THREAD_WAIT_ON_GOMP_LOCK] = "an OpenMP lock or critical section",
		[THREAD_WAIT_ON_TEAM] = "others of its OpenMP team",
	};
	const char *noun = nouns[what];

	if (!of || !of->object || what == THREAD_WAIT_ON_HEAP || what == THREAD_WAIT_ON_TEAM)
		return noun;
	if (what == THREAD_WAIT_ON_STREAM)
		return text_of(view, "the lock of %s", of->object);
	/* One without a name is libgomp's own. */
	if ((what == THREAD_WAIT_ON_CRITICAL && *of->object == '\'') ||
	    strstr(of->object, "' in libgomp.so"))
		return noun;
	if (what == THREAD_WAIT_ON_CRITICAL || what == THREAD_WAIT_ON_OMP_LOCK ||
	    what == THREAD_WAIT_ON_GOMP_LOCK)
		return text_of(view, "OpenMP %s%s", *of->object == '\'' ? "lock " : "", of->object);
	return text_of(view, "%s %s", strchr(noun, ' ') + 1, of->object);
}

/* What was read is about what the functions on the stack say that it is. */
static bool is_about(enum sample_wait_kind kind, enum thread_wait_what what)
{
	switch (what) {
	case THREAD_WAIT_ON_MUTEX:
		return kind == SAMPLE_WAIT_MUTEX || kind == SAMPLE_WAIT_OWNED;
	case THREAD_WAIT_ON_RWLOCK:
		return kind == SAMPLE_WAIT_RWLOCK || kind == SAMPLE_WAIT_READERS;
	case THREAD_WAIT_ON_BARRIER:
		return kind == SAMPLE_WAIT_BARRIER;
	case THREAD_WAIT_ON_TEAM:
		return kind == SAMPLE_WAIT_OTHER;
	default:
		return false;
	}
}

/* "likely thread 4321 holds it, which is in update() at x.c:12"; NULL: nobody is known. */
static const char *likely_text(const struct view *view, const struct sample *sample,
			       const struct thread_wait *wait, bool has_numbers)
{
	const struct sample *likely = thread_wait_likely(view->job, sample, wait);

	if (!likely)
		return NULL;
	if (likely == sample)
		return "likely it holds that itself, where a signal's handler has interrupted it";
	return text_of(view, "likely %s holds it, which is in %s",
		       thread_text(view, sample, likely->tid, has_numbers),
		       label_stack(view, likely->path));
}

/* The same if no thread of the process is known that holds it: "on condition variable 'ready'
 * (pthread_cond_wait), which no thread holds"; NULL: it waits for no lock, or none was read. */
static const char *nobody_text(const struct view *view, const struct sample *sample,
			       const struct thread_wait *wait, bool has_numbers)
{
	const struct blocked *of = find_lock(view, sample);
	const char *what = lock_text(view, of, wait->what), *reason = NULL, *way = "for";
	const char *by = wait->function ? text_of(view, " (%s)", wait->function) : "";

	if (wait->what == THREAD_WAIT_ON_NOTHING || wait->kind == THREAD_WAIT_JOIN ||
	    (!of && wait->kind != THREAD_WAIT_NONE))
		return NULL;
	if (of && is_about(sample->wait.kind, wait->what))
		reason = label_with_ranks(view, sample->rank, of->reason);
	switch (wait->what) {
	case THREAD_WAIT_ON_CONDITION:
	case THREAD_WAIT_ON_SEMAPHORE:
		return text_of(view, "on %s%s, which no thread holds", what, by);
	case THREAD_WAIT_ON_BARRIER:
		way = "at";
		break;
	default:
		reason = reason ?: likely_text(view, sample, wait, has_numbers);
	}
	return text_of(view, "%s %s%s%s%s", way, what, by, reason ? ": " : "", reason ?: "");
}

/* "for thread 4321 to end (pthread_join)"; NULL: nothing is known. */
static const char *wait_text(const struct view *view, const struct sample *sample,
			     const struct thread_wait *wait, bool has_numbers)
{
	const char *by = wait->function ? text_of(view, " (%s)", wait->function) : "", *who, *what;
	const struct blocked *of;

	if (!wait->tid)
		return nobody_text(view, sample, wait, has_numbers);
	who = thread_text(view, sample, wait->tid, has_numbers);
	if (wait->kind == THREAD_WAIT_JOIN)
		return text_of(view, "for %s to end%s", who, by);
	of = find_lock(view, sample);
	what = lock_text(view, of, of ? wait->what : THREAD_WAIT_ON_NOTHING);
	if (wait->is_own)
		return text_of(view, "for %s that it holds itself%s", what, by);
	return text_of(view, "for %s that %s holds%s", what, who, by);
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

const char *label_lock(const struct view *view, const struct sample *sample)
{
	const struct blocked *of = sample ? find_lock(view, sample) : NULL;

	return lock_text(view, of,
			 of ? thread_wait_of(view->job, sample).what : THREAD_WAIT_ON_NOTHING);
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

/* Its members that a system call's have. */
static void json_lock(struct json *json, const struct view *view, const struct sample *sample)
{
	const struct thread_wait wait = thread_wait_of(view->job, sample);
	const struct blocked *of = sample->blocked;
	const char *reason = NULL;

	if (wait.is_own)
		reason = "it holds that itself";
	else if (wait.tid)
		reason = text_of(view, "%s holds it", thread_text(view, sample, wait.tid, true));
	else if (is_about(sample->wait.kind, wait.what))
		reason = label_with_ranks(view, sample->rank, of->reason);
	else
		reason = likely_text(view, sample, &wait, true);
	json_text(json, "object",
		  wait.what == THREAD_WAIT_ON_NOTHING ? of->object
						      : lock_text(view, of, wait.what));
	json_text(json, "place", NULL);
	json_text(json, "reason", reason);
}

void label_json_system_calls(struct json *json, const struct view *view,
			     const struct rankset *ranks)
{
	const struct samples *samples = view->job->samples;
	size_t written = 0;

	for (size_t i = 0; samples && i < samples->num_samples && written < MOST_IN_JSON; i++) {
		const struct sample *sample = &samples->samples[i];
		const struct blocked *of;

		if (!sample->is_main || !rankset_contains(ranks, sample->rank) ||
		    sample != samples_find(samples, sample->rank, 0))
			continue;
		of = label_find_blocked(view, sample);
		if (!of)
			continue;
		if (written++ == 0)
			json_array(json, "system_calls");
		json_object(json, NULL);
		json_int(json, "rank", sample->rank);
		json_text(json, "call", of->call);
		if (blocked_is_lock(of)) {
			json_lock(json, view, sample);
		} else {
			json_text(json, "object", label_blocked_object(view, sample->rank, of));
			json_text(json, "place", of->place);
			json_text(json, "reason", label_with_ranks(view, sample->rank, of->reason));
		}
		json_text(json, "kernel", of->kernel);
		json_text(json, "kernel_stack", of->stack);
		json_text(json, "around", of->around);
		json_end_object(json);
	}
	if (written)
		json_end_array(json);
}
