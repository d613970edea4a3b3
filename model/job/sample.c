/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/job/blocked.h"
#include "model/job/callpath.h"
#include "model/job/message_queues.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/job/variables.h"

struct samples *samples_create(void)
{
	return xcalloc(1, sizeof(struct samples));
}

static void destroy_one(struct samples *samples)
{
	for (size_t i = 0; i < samples->num_samples; i++) {
		free(samples->samples[i].note);
		free(samples->samples[i].values);
		message_queues_destroy(samples->samples[i].queues);
		blocked_destroy(samples->samples[i].blocked);
		variables_destroy(samples->samples[i].variables);
	}
	free(samples->samples);
	free(samples);
}

void samples_destroy(struct samples *samples)
{
	while (samples) {
		struct samples *replaced = samples->replaced;

		destroy_one(samples);
		samples = replaced;
	}
}

struct sample *samples_add(struct samples *samples, const struct sample *sample)
{
	struct sample *copy = XPUSH(samples->samples, samples->num_samples, samples->capacity);

	*copy = *sample;
	return copy;
}

struct sample *samples_add_failed(struct samples *samples, int rank, pid_t pid, const char *why)
{
	const struct sample failed = {
		.rank = rank,
		.tid = pid,
		.is_main = true,
		.status = SAMPLE_FAILED,
		.path = CALLPATH_NONE,
		.state = '?',
		.note = xstrdup(why),
	};

	return samples_add(samples, &failed);
}

void samples_move(struct samples *to, struct samples *from, const struct rankset *ranks,
		  bool are_in)
{
	for (size_t i = 0; i < from->num_samples; i++) {
		struct sample *sample = &from->samples[i];

		if (ranks && rankset_contains(ranks, sample->rank) != are_in)
			continue;
		samples_add(to, sample);
		sample->note = NULL;
		sample->values = NULL;
		sample->num_values = 0;
		sample->queues = NULL;
		sample->blocked = NULL;
		sample->variables = NULL;
	}
}

const struct sample *samples_find(const struct samples *samples, int rank, pid_t tid)
{
	const struct sample *all = samples->samples, *found = NULL;
	size_t num = samples->num_samples, i = sorted_first_rank(rank, all, num, sizeof(*all));

	for (; i < num && all[i].rank == rank; i++) {
		const struct sample *sample = &all[i];

		if (tid ? sample->tid != tid : !sample->is_main)
			continue;
		if (!found || sample->when_ns >= found->when_ns)
			found = sample;
	}
	return found;
}

/* By what has called the innermost frame: a thread that goes back to its call is a byte or two
 * before it for a while. */
static bool is_same_place(const struct callpaths *callpaths, uint32_t a, uint32_t b)
{
	if (a == CALLPATH_NONE || b == CALLPATH_NONE)
		return a == b;
	return callpaths_get(callpaths, a)->parent == callpaths_get(callpaths, b)->parent;
}

const struct blocked *samples_blocked(const struct samples *samples,
				      const struct callpaths *callpaths,
				      const struct sample *sample)
{
	const struct sample *all = samples->samples, *found = NULL;
	size_t num = samples->num_samples,
	       i = sorted_first_rank(sample->rank, all, num, sizeof(*all));

	for (; i < num && all[i].rank == sample->rank; i++)
		if (all[i].blocked && all[i].blocked->call && all[i].tid == sample->tid &&
		    is_same_place(callpaths, all[i].path, sample->path) &&
		    (!found || all[i].when_ns >= found->when_ns))
			found = &all[i];
	return found ? found->blocked : NULL;
}

const char *samples_limit(const struct samples *samples, int rank)
{
	const struct sample *all = samples->samples;
	size_t i = sorted_first_rank(rank, all, samples->num_samples, sizeof(*all));
	const struct sample *found = NULL;

	for (; i < samples->num_samples && all[i].rank == rank; i++)
		if (all[i].is_main && (!found || all[i].when_ns >= found->when_ns))
			found = &all[i];
	return found && found->blocked ? found->blocked->limit : NULL;
}

/* How many values of the frame at `depth` there are from *next on, which goes beyond them. */
static size_t take_depth(const struct sample *sample, uint32_t depth, size_t *next)
{
	size_t begin = *next;

	while (*next < sample->num_values && sample->values[*next].depth == depth)
		(*next)++;
	return *next - begin;
}

/* Of each frame to `depth` what tells more, and what `old` has of those inside. */
static void adopt_values(struct sample *old, const struct sample *fresh, uint32_t depth)
{
	struct sample_value *values = xcalloc(old->num_values + fresh->num_values, sizeof(*values));
	size_t num = 0, next_old = 0, next_fresh = 0;

	for (uint32_t d = 0; d <= depth; d++) {
		size_t num_old = take_depth(old, d, &next_old);
		size_t num_fresh = take_depth(fresh, d, &next_fresh);

		if (num_fresh > num_old)
			memcpy(values + num, fresh->values + next_fresh - num_fresh,
			       num_fresh * sizeof(*values));
		else if (num_old)
			memcpy(values + num, old->values + next_old - num_old,
			       num_old * sizeof(*values));
		num += num_fresh > num_old ? num_fresh : num_old;
	}
	for (; next_old < old->num_values; next_old++)
		values[num++] = old->values[next_old];
	free(old->values);
	old->values = values;
	old->num_values = num;
}

void samples_adopt_values(struct samples *samples, const struct samples *from,
			  const struct callpaths *callpaths)
{
	for (size_t i = 0; i < from->num_samples; i++) {
		const struct sample *fresh = &from->samples[i];

		if (!fresh->num_values || !fresh->is_main ||
		    fresh != samples_find(from, fresh->rank, 0))
			continue;
		struct sample *old = (struct sample *)samples_find(samples, fresh->rank, 0);
		if (!old || old->path == CALLPATH_NONE || fresh->path == CALLPATH_NONE)
			continue;
		uint32_t common = callpaths_common(callpaths, old->path, fresh->path);
		if (common != CALLPATH_NONE)
			adopt_values(old, fresh, callpaths_get(callpaths, common)->depth);
	}
}

SORTED_BY_ORDER(by_rank_and_thread, struct sample,
	  SORTED_ORDER(x->rank, y->rank) ?: y->is_main - x->is_main ?: SORTED_ORDER(x->tid, y->tid)
	  ?: SORTED_ORDER(x->when_ns, y->when_ns))

void samples_sort(struct samples *samples)
{
	sorted_make(samples->samples, samples->num_samples, sizeof(*samples->samples),
		    by_rank_and_thread);
}

char *sample_tracer(const struct sample *sample)
{
	/* The words of procfs_check_tracer(). */
	static const char before[] = "already traced by ";
	const char *who = sample->note ? strstr(sample->note, before) : NULL;

	if (!who)
		return NULL;
	who += strlen(before);
	return xasprintf("%.*s", (int)strcspn(who, ";"), who);
}
