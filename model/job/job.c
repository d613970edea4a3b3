/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/job/callpath.h"
#include "model/job/code.h"
#include "model/job/code_store.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/job/usage.h"

struct job *job_create(void)
{
	struct job *job = xcalloc(1, sizeof(*job));

	job->proctable = proctable_create();
	job->modules = modules_create();
	job->callpaths = callpaths_create();
	job->names = names_create(job->modules, job->callpaths, NULL, NULL);
	job->code = code_store_create();
	job->samples = samples_create();
	return job;
}

void job_destroy(struct job *job)
{
	if (!job)
		return;
	job_clear_holes(job);
	free(job->crashes);
	samples_destroy(job->samples);
	usage_destroy(job->usage);
	free(job->probes);
	job_model_destroy(job->model);
	code_store_destroy(job->code);
	names_destroy(job->names);
	callpaths_destroy(job->callpaths);
	modules_destroy(job->modules);
	proctable_destroy(job->proctable);
	free(job);
}

static void add_hole(struct job *job, const struct job_hole *hole)
{
	size_t at = job->num_holes;

	/* They mostly come in order. No capacity is kept: the allocator doubles on its own. */
	while (at > 0 && job->holes[at - 1].rank > hole->rank)
		at--;
	job->holes = xreallocarray(job->holes, job->num_holes + 1, sizeof(*job->holes));
	memmove(job->holes + at + 1, job->holes + at,
		(job->num_holes++ - at) * sizeof(*job->holes));
	job->holes[at] = *hole;
}

void job_add_hole(struct job *job, int rank, const char *why)
{
	add_hole(job, &(struct job_hole){.rank = rank, .why = xstrdup(why)});
}

void job_add_ended(struct job *job, int rank, const struct job_end *end)
{
	add_hole(job,
		 &(struct job_hole){.rank = rank, .why = xstrdup(JOB_HOLE_ENDED), .end = *end});
}

static const struct job_hole *find_hole(const struct job *job, int rank)
{
	size_t i = sorted_first_rank(rank, job->holes, job->num_holes, sizeof(*job->holes));

	return i < job->num_holes && job->holes[i].rank == rank ? &job->holes[i] : NULL;
}

const char *job_find_hole(const struct job *job, int rank)
{
	const struct job_hole *hole = find_hole(job, rank);

	return hole ? hole->why : NULL;
}

const struct job_end *job_find_end(const struct job *job, int rank)
{
	const struct job_hole *hole = find_hole(job, rank);

	return hole && (hole->end.how != JOB_END_UNKNOWN || hole->end.oom_kills) ? &hole->end
										 : NULL;
}

void job_add_crash(struct job *job, const struct job_crash *crash)
{
	job->crashes = xreallocarray(job->crashes, job->num_crashes + 1, sizeof(*job->crashes));
	job->crashes[job->num_crashes++] = *crash;
}

const struct job_crash *job_find_crash(const struct job *job, int rank)
{
	size_t i = sorted_first_rank(rank, job->crashes, job->num_crashes, sizeof(*job->crashes));

	return i < job->num_crashes && job->crashes[i].rank == rank ? &job->crashes[i] : NULL;
}

void job_clear_holes(struct job *job)
{
	for (size_t i = 0; i < job->num_holes; i++)
		free(job->holes[i].why);
	free(job->holes);
	job->holes = NULL;
	job->num_holes = 0;
}

void job_replace_samples(struct job *job, const struct rankset *ranks, struct samples *fresh)
{
	if (job->samples)
		samples_move(fresh, job->samples, ranks, false);
	if (job->keeps_replaced)
		fresh->replaced = job->samples;
	else
		samples_destroy(job->samples);
	job->samples = fresh;
	samples_sort(fresh);
}

void job_add_samples(struct job *job, const struct rankset *ranks, struct samples *later)
{
	struct samples *all = samples_create();
	struct rankset *nobody = rankset_create();

	samples_move(all, later, ranks, true);
	job_replace_samples(job, nobody, all);
	rankset_destroy(nobody);
}

/* old_num probes, of which each has a number below `num` or is not there any more. */
static void renumber_values(struct sample *sample, const size_t *numbers, size_t old_num,
			    size_t num)
{
	size_t kept = 0;

	for (size_t i = 0; i < sample->num_values; i++) {
		struct sample_value value = sample->values[i];

		if (value.probe >= old_num || numbers[value.probe] == num)
			continue;
		value.probe = (uint32_t)numbers[value.probe];
		sample->values[kept++] = value;
	}
	sample->num_values = kept;
}

void job_set_probes(struct job *job, const struct code_probe *probes, size_t num)
{
	size_t *numbers = xcalloc(job->num_probes, sizeof(*numbers));

	for (size_t i = 0; i < job->num_probes; i++)
		while (numbers[i] < num &&
		       !code_probe_is_same(&job->probes[i], &probes[numbers[i]]))
			numbers[i]++;
	for (size_t i = 0; i < job->samples->num_samples; i++)
		renumber_values(&job->samples->samples[i], numbers, job->num_probes, num);
	free(numbers);
	free(job->probes);
	job->probes = xcalloc(num, sizeof(*probes));
	if (num)
		memcpy(job->probes, probes, num * sizeof(*probes));
	job->num_probes = num;
}
