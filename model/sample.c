/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "model/sample.h"
#include "model/sorted.h"
#include "model/xalloc.h"

struct samples *samples_create(void)
{
	return xcalloc(1, sizeof(struct samples));
}

void samples_destroy(struct samples *samples)
{
	if (!samples)
		return;
	for (size_t i = 0; i < samples->num_samples; i++) {
		free(samples->samples[i].note);
		free(samples->samples[i].values);
	}
	free(samples->samples);
	free(samples);
}

struct sample *samples_add(struct samples *samples, const struct sample *sample)
{
	struct sample *copy;

	samples->samples = xgrow(samples->samples, samples->num_samples, &samples->capacity,
				 sizeof(*samples->samples));
	copy = &samples->samples[samples->num_samples++];
	*copy = *sample;
	return copy;
}

static int compare_rank(const void *key, const void *element)
{
	int rank = *(const int *)key;
	const struct sample *sample = element;

	return (rank > sample->rank) - (rank < sample->rank);
}

/* The first sample of a rank, or where it would be: they are sorted. */
static size_t first_of_rank(const struct samples *samples, int rank)
{
	return sorted_first(&rank, samples->samples, samples->num_samples,
			    sizeof(*samples->samples), compare_rank);
}

const struct sample *samples_find(const struct samples *samples, int rank, pid_t tid)
{
	const struct sample *found = NULL;

	for (size_t i = first_of_rank(samples, rank); i < samples->num_samples; i++) {
		const struct sample *sample = &samples->samples[i];

		if (sample->rank != rank)
			break;
		if (tid ? sample->tid != tid : !sample->is_main)
			continue;
		if (!found || sample->when_ns >= found->when_ns)
			found = sample;
	}
	return found;
}

/* samples_find() of the main thread, to be changed. */
static struct sample *find_main(struct samples *samples, int rank)
{
	const struct sample *found = samples_find(samples, rank, 0);

	return found ? &samples->samples[found - samples->samples] : NULL;
}

void samples_adopt_values(struct samples *samples, struct samples *from)
{
	for (size_t i = 0; i < from->num_samples; i++) {
		struct sample *fresh = &from->samples[i], *old;

		if (!fresh->is_main || fresh != find_main(from, fresh->rank))
			continue;
		old = find_main(samples, fresh->rank);
		if (!old || old->path != fresh->path)
			continue;
		free(old->values);
		old->values = fresh->values;
		old->num_values = fresh->num_values;
		fresh->values = NULL;
		fresh->num_values = 0;
	}
}

static int by_rank_and_thread(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->is_main != y->is_main)
		return x->is_main ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->when_ns < y->when_ns ? -1 : x->when_ns > y->when_ns;
}

void samples_sort(struct samples *samples)
{
	if (samples->num_samples)
		qsort(samples->samples, samples->num_samples, sizeof(*samples->samples),
		      by_rank_and_thread);
}
