/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/xalloc.h"
#include "render/label.h"
#include "render/same.h"
#include "render/stack_places.h"
#include "render/text.h"
#include "render/view.h"

enum { MAX_PLACES = 4 };

/* The outermost function of MPI on the path, which is the one that was called; NULL outside MPI, or
 * in the handler of a signal. */
static const char *find_call(const struct job *job, uint32_t path)
{
	uint32_t found = CALLPATH_NONE;
	const char *function;

	for (; path != CALLPATH_NONE && !names_is_signal(job->names, path);
	     path = callpaths_get(job->callpaths, path)->parent)
		if (names_is_mpi(job->names, path))
			found = path;
	if (found == CALLPATH_NONE)
		return NULL;
	function = names_function(job->names, found)->function;
	/* The library's two names of it are one function. */
	return strncmp(function, "PMPI_", strlen("PMPI_")) == 0 ? function + 1 : function;
}

char *stack_path_place(const struct job *job, uint32_t path)
{
	const char *call = find_call(job, path);
	char *place = label_user_place(job, path, LABEL_FULL), *text;

	if (!call)
		return place;
	text = xasprintf("%s, %s", call, place);
	free(place);
	return text;
}

static const struct sample *find_sample(const struct job *job, int rank)
{
	const struct sample *sample = samples_find(job->samples, rank, 0);
	bool has_stack = sample && sample->status != SAMPLE_FAILED && sample->path != CALLPATH_NONE;

	return has_stack ? sample : NULL;
}

char *stack_place(const struct job *job, int rank)
{
	const struct sample *sample = find_sample(job, rank);

	return sample ? stack_path_place(job, sample->path) : NULL;
}

const char *stack_call(const struct job *job, int rank)
{
	const struct sample *sample = find_sample(job, rank);

	return sample ? find_call(job, sample->path) : NULL;
}

static void find_places(const struct view *view, const struct rankset *ranks, struct same *places)
{
	for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r)) {
		char *place = stack_place(view->job, r);

		if (!place)
			continue;
		same_add(places, place, r);
		free(place);
	}
	same_sort(places);
}

void stack_places_print(const struct view *view, const struct rankset *ranks)
{
	struct same places = {0};

	find_places(view, ranks, &places);
	for (size_t i = 0; i < places.num && i < MAX_PLACES; i++) {
		char *who = same_who(&places.entries[i]);

		text_wrap(view, 2, "%s: in %s", who, places.entries[i].text);
		free(who);
	}
	if (places.num > MAX_PLACES)
		text_wrap(view, 2, "and in %zu other places", places.num - MAX_PLACES);
	same_deinit(&places);
}
