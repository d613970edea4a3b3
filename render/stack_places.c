/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/label.h"
#include "render/same.h"
#include "render/stack_places.h"
#include "render/text.h"
#include "render/view.h"

enum { MAX_PLACES = 4 };

static const struct sample *find_sample(const struct job *job, int rank)
{
	const struct sample *sample = samples_find(job->samples, rank, 0);
	bool has_stack = sample && sample->status != SAMPLE_FAILED && sample->path != CALLPATH_NONE;

	return has_stack ? sample : NULL;
}

const char *stack_place(const struct view *view, int rank)
{
	const struct sample *sample = find_sample(view->job, rank);

	return sample ? label_stack(view, sample->path) : NULL;
}

const char *stack_call(const struct view *view, int rank)
{
	const struct sample *sample = find_sample(view->job, rank);

	return sample ? label_mpi_call(view, sample->path) : NULL;
}

void stack_places_print(const struct view *view, const struct rankset *ranks)
{
	struct same places = {.arena = view->arena};
	size_t left;

	for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r)) {
		const char *place = stack_place(view, r);

		if (place)
			same_add(&places, place, r);
	}
	same_sort(&places);
	left = same_print(&places, view, ": in ", MAX_PLACES);
	if (left)
		text_wrap(view, 2, "and in %zu other places", left);
}
