/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "model/sample.h"
#include "model/xalloc.h"

struct samples *samples_create(void)
{
	return xcalloc(1, sizeof(struct samples));
}

void samples_destroy(struct samples *samples)
{
	if (!samples)
		return;
	for (size_t i = 0; i < samples->num_samples; i++)
		free(samples->samples[i].note);
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

const struct sample *samples_find(const struct samples *samples, int rank, pid_t tid)
{
	const struct sample *found = NULL;

	for (size_t i = 0; i < samples->num_samples; i++) {
		const struct sample *sample = &samples->samples[i];

		if (sample->rank != rank || (tid ? sample->tid != tid : !sample->is_main))
			continue;
		if (!found || sample->when_ns >= found->when_ns)
			found = sample;
	}
	return found;
}
