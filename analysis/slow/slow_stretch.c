/* SPDX-License-Identifier: BSD-3-Clause
 * Where a rank loses its time: between which calls, and in which of the program's functions. */
#include "analysis/evidence/stack_facts.h"
#include "analysis/slow/slow_private.h"
#include "model/arena.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/names.h"
#include "model/job/sample.h"
#include "model/sorted.h"

/* Of a transition out of a call: the rank's own time, and that of the others. */
struct stretch_sums {
	double own_ns, own_count, others_ns, others_count, most_ns;
	double lane_ns; /* of the lane that is being gone through */
	uint32_t num_others;
};

/* Add the times outside MPI of a lane that began within [begin, end), to lane_ns. How many there
 * were. */
static double add_lane(const struct job_model *jm, const struct slow_steps *steps, uint32_t rank,
		       uint64_t begin, uint64_t end, struct stretch_sums *sums, double *counts)
{
	const struct job_lane *lane = steps->lanes[rank];
	const struct model_lane *data = lane->data;
	double num = 0;

	for (size_t i = 0; i + 1 < data->num_ring; i++) {
		const struct model_event *event = &data->ring[i];
		size_t transition;

		if (event->ns < begin || event->ns >= end || !slow_is_outside(steps, rank, i))
			continue;
		transition = job_model_find_transition(jm, job_lane_state(lane, event->state),
						       job_lane_state(lane, event[1].state));
		if (transition == SIZE_MAX)
			continue;
		num++;
		counts[transition]++;
		if (event[1].ns > event->ns)
			sums[transition].lane_ns += (double)(event[1].ns - event->ns);
	}
	return num;
}

static void end_lane(const struct job_model *jm, struct stretch_sums *sums, double *counts,
		     bool is_own)
{
	for (size_t t = 0; t < jm->num_transitions; t++) {
		struct stretch_sums *sum = &sums[t];

		if (is_own) {
			sum->own_ns = sum->lane_ns;
			sum->own_count = counts[t];
		} else {
			sum->others_ns += sum->lane_ns;
			sum->others_count += counts[t];
			sum->num_others += counts[t] > 0;
			sum->most_ns = sum->lane_ns > sum->most_ns ? sum->lane_ns : sum->most_ns;
		}
		sum->lane_ns = 0;
		counts[t] = 0;
	}
}

/* The rank's own time in the stretch in a step, before it became slow. */
static double time_before(const struct job_model *jm, const struct slow_steps *steps,
			  uint32_t index, const struct slow_rank *rank, size_t worst,
			  struct stretch_sums *sums, double *counts)
{
	uint32_t change = (uint32_t)(rank->since_iteration - steps->first);
	double after_ns = 0, before_ns = 0;

	for (uint32_t k = 0; k < steps->num_steps; k++)
		*(k < change ? &before_ns : &after_ns) += slow_time_of(steps, index, k)->all;
	uint64_t end = steps->span[index][1];
	uint64_t since = end > after_ns ? end - (uint64_t)after_ns : 0;

	add_lane(jm, steps, index, since > before_ns ? since - (uint64_t)before_ns : 0, since, sums,
		 counts);
	return sums[worst].lane_ns / change;
}

void slow_stretch_find(struct arena *arena, const struct job *job, const struct slow_steps *steps,
		       uint32_t index, struct slow_rank *rank)
{
	const struct job_model *jm = job->model;
	struct stretch_sums *sums = arena_array(arena, jm->num_transitions + 1, sizeof(*sums));
	double *counts = arena_array(arena, jm->num_transitions + 1, sizeof(*counts));
	double num_steps = steps->num_steps - steps->now, others = steps->num_ranks - 1, most = 0;
	size_t worst = SIZE_MAX;

	for (uint32_t i = 0; i < steps->num_ranks; i++) {
		double num =
			add_lane(jm, steps, i, steps->span[i][0], steps->span[i][1], sums, counts);

		if (i == index)
			rank->calls = num / num_steps;
		else
			rank->others_calls += num / num_steps / others;
		end_lane(jm, sums, counts, i == index);
	}
	for (size_t t = 0; t < jm->num_transitions; t++) {
		double loss = sums[t].own_ns - sums[t].others_ns / others;

		if (loss > most) {
			most = loss;
			worst = t;
		}
	}
	if (worst == SIZE_MAX)
		return;
	rank->has_stretch = true;
	rank->stretch = (struct slow_stretch){
		.from = jm->transitions[worst].from,
		.to = jm->transitions[worst].to,
		.own_ns = sums[worst].own_ns / num_steps,
		.others_ns = sums[worst].others_ns / others / num_steps,
		.most_ns = sums[worst].most_ns / num_steps,
		.own_count = sums[worst].own_count / num_steps,
		.others_count = sums[worst].others_count / others / num_steps,
		.num_others = sums[worst].num_others,
	};
	if (rank->since_iteration)
		rank->stretch.before_ns = time_before(jm, steps, index, rank, worst, sums, counts);
}

struct slow_samples slow_samples_outside(struct arena *arena, const struct job *job,
					 const struct stack_fact *fact, int rank)
{
	struct slow_samples found = {
		.samples = arena_array(arena, 64, sizeof(struct sample *)),
		.user = arena_array(arena, 64, sizeof(*found.user)),
	};

	const struct sample *all = job->samples->samples;
	size_t num = job->samples->num_samples;

	for (size_t i = sorted_first_rank(rank, all, num, sizeof(*all));
	     i < num && all[i].rank == rank && found.num_all < 64; i++) {
		const struct sample *sample = &all[i];

		if (!sample->is_main || sample->path == CALLPATH_NONE)
			continue;
		if (fact->outside >> found.num_all++ & 1) {
			found.samples[found.num] = sample;
			found.user[found.num++] = names_user_frame(job->names, sample->path);
		}
	}
	return found;
}
