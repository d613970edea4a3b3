/* SPDX-License-Identifier: BSD-3-Clause
 * Who holds the others up, and since when. */
#include <math.h>

#include "analysis/evidence/stack_facts.h"
#include "analysis/progress/loop_nest.h"
#include "analysis/slow/slow_private.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"

/* The last of many ranks that vary a little is late each time. */
static const double least_turns = 0.2;

/* Over steps [from, to). */
struct sums {
	double outside, all; /* of the rank */
	double others_outside, others_all;
	double mean, error; /* of what it is outside longer than the others in a step */
	uint32_t num_longer;
};

/* Outside time of all ranks in a step, and the most of one. */
struct step_total {
	double outside, all, most;
};

static struct step_total total_of(const struct slow_steps *steps, uint32_t step)
{
	struct step_total total = {0};

	for (uint32_t i = 0; i < steps->num_ranks; i++) {
		const struct slow_time *time = slow_time_of(steps, i, step);

		total.outside += time->outside;
		total.all += time->all;
		total.most = fmax(total.most, time->outside);
	}
	return total;
}

static double difference(const struct slow_steps *steps, const struct step_total *totals,
			 uint32_t rank, uint32_t step)
{
	double own = slow_time_of(steps, rank, step)->outside;

	return own - (totals[step].outside - own) / (steps->num_ranks - 1);
}

static struct sums sum_up(const struct slow_steps *steps, const struct step_total *totals,
			  uint32_t rank, uint32_t from, uint32_t to)
{
	double num = to - from, others = steps->num_ranks - 1, squares = 0;
	struct sums sums = {0};

	for (uint32_t k = from; k < to; k++) {
		const struct slow_time *time = slow_time_of(steps, rank, k);
		double longer = difference(steps, totals, rank, k);

		sums.outside += time->outside;
		sums.all += time->all;
		sums.others_outside += (totals[k].outside - time->outside) / others;
		sums.others_all += (totals[k].all - time->all) / others;
		sums.mean += longer / num;
		squares += longer * longer / num;
		sums.num_longer += longer > 0;
	}
	sums.error = sqrt(fmax(0, squares - sums.mean * sums.mean) / fmax(1, num - 1));
	return sums;
}

static uint32_t least_steps(const struct slow_steps *steps)
{
	return steps->source == SLOW_BY_ITERATIONS ? slow_limits.least_steps
						   : slow_limits.least_samples;
}

/* Share of all time. The others may go over to the next step earlier, so that theirs is shorter. */
static double loss_of(const struct sums *sums, uint32_t num)
{
	return fmin(1, sums->mean * num / ((sums->all + sums->others_all) / 2));
}

/* Do the others wait that much longer inside MPI, and is it no chance? */
static bool holds_up(const struct sums *sums, uint32_t num)
{
	double waits = (sums->others_all - sums->others_outside) - (sums->all - sums->outside);

	return loss_of(sums, num) >= slow_limits.least_loss && waits >= sums->mean * num / 2 &&
	       sums->mean >= slow_limits.least_errors * sums->error;
}

/* The step from which on it was slower than before: where the sum of differences from their mean
 * is lowest. 0: it always was. */
static uint32_t find_change(const struct slow_steps *steps, const struct step_total *totals,
			    uint32_t rank)
{
	struct sums all = sum_up(steps, totals, rank, 0, steps->num_steps);
	double sum = 0, lowest = 0, before, after;
	uint32_t change = 0, least = least_steps(steps);

	for (uint32_t k = 0; k < steps->num_steps; k++) {
		sum += difference(steps, totals, rank, k) - all.mean;
		if (sum < lowest) {
			lowest = sum;
			change = k + 1;
		}
	}
	if (change < least || steps->num_steps - change < least)
		return 0;
	before = sum_up(steps, totals, rank, 0, change).mean;
	after = sum_up(steps, totals, rank, change, steps->num_steps).mean;
	return before < slow_limits.was_faster * after ? change : 0;
}

/* Outside MPI, where it was seen most often. */
static const struct sample *find_sample(struct arena *arena, const struct job *job,
					const struct stack_fact *fact, int rank)
{
	const struct sample *best = NULL;
	uint32_t most = 0;
	struct slow_samples samples = slow_samples_outside(arena, job, fact, rank);

	for (uint32_t i = 0; i < samples.num; i++) {
		uint32_t num = 0;

		for (uint32_t k = 0; k < samples.num; k++)
			num += samples.user[k] == samples.user[i];
		if (num > most) {
			most = num;
			best = samples.samples[i];
		}
	}
	return best;
}

static struct slow_rank make_rank(const struct slow_steps *steps, const struct step_total *totals,
				  uint32_t index)
{
	uint32_t num = steps->num_steps - steps->now;
	struct sums sums = sum_up(steps, totals, index, steps->now, steps->num_steps);

	return (struct slow_rank){
		.rank = steps->ranks[index],
		.loss = loss_of(&sums, num),
		.outside = sums.outside / sums.all,
		.others = sums.others_outside / sums.others_all,
		.num_longer = sums.num_longer,
	};
}

static uint32_t index_of(const struct slow_steps *steps, int rank)
{
	return (uint32_t)sorted_first_rank(rank, steps->ranks, steps->num_ranks,
					   sizeof(*steps->ranks));
}

static void find_since(const struct slow_steps *steps, const struct step_total *totals,
		       struct slow_rank *rank)
{
	uint32_t index = index_of(steps, rank->rank);
	uint32_t change =
		steps->source == SLOW_BY_ITERATIONS ? find_change(steps, totals, index) : 0;

	if (!change)
		return;
	rank->since_iteration = steps->first + change;
	for (uint32_t k = change; k < steps->num_steps; k++)
		rank->since_ns += slow_time_of(steps, index, k)->all;
}

/* Where it loses its time. */
static void find_where(struct arena *arena, const struct job *job, const struct slow_steps *steps,
		       const struct stack_facts *stacks, struct slow_rank *rank)
{
	if (stacks)
		rank->sample =
			find_sample(arena, job, stack_facts_get(stacks, rank->rank), rank->rank);
	if (steps->source != SLOW_BY_SAMPLES)
		slow_stretch_find(arena, job, steps, index_of(steps, rank->rank), rank);
}

static int compare_loss(const void *a, const void *b)
{
	const struct slow_rank *x = a, *y = b;

	return x->loss != y->loss ? (x->loss < y->loss ? 1 : -1)
				  : (x->rank > y->rank) - (x->rank < y->rank);
}

static void find_ranks(struct arena *arena, const struct slow_steps *steps,
		       const struct step_total *totals, struct slow *slow)
{
	uint32_t num = steps->num_steps - steps->now;
	bool *is_slow = arena_array(arena, steps->num_ranks, sizeof(*is_slow));
	double worst = 0;

	slow->ranks = arena_array(arena, steps->num_ranks, sizeof(*slow->ranks));
	for (uint32_t i = 0; i < steps->num_ranks; i++) {
		struct sums sums = sum_up(steps, totals, i, steps->now, steps->num_steps);

		is_slow[i] = holds_up(&sums, num);
		/* It may have been in few long stays all the time. */
		if (is_slow[i] && steps->num_stays &&
		    steps->num_stays[i] < 2 * slow_limits.least_steps) {
			slow->why = slow_too_little;
			return;
		}
		if (is_slow[i])
			worst = fmax(worst, sums.mean);
	}
	for (uint32_t i = 0; i < steps->num_ranks; i++)
		if (is_slow[i] && sum_up(steps, totals, i, steps->now, steps->num_steps).mean >=
					  slow_limits.like_worst * worst)
			slow->ranks[slow->num_slow++] = make_rank(steps, totals, i);
	qsort(slow->ranks, slow->num_slow, sizeof(*slow->ranks), compare_loss);
	for (size_t i = 0; i < slow->num_slow && i < SLOW_MAX_TOLD; i++)
		find_since(steps, totals, &slow->ranks[i]);
}

static enum slow_kind find_kind(const struct slow *slow)
{
	if (slow->num_slow)
		return SLOW_RANKS;
	if (slow->source != SLOW_BY_ITERATIONS)
		return SLOW_BALANCED;
	if (slow->turns >= least_turns)
		return SLOW_TURNS;
	/* It may be one of those that they wait for. */
	if (!rankset_is_empty(slow->left_out))
		return SLOW_BALANCED;
	return slow->inside - slow->turns >= slow_limits.least_inside ? SLOW_MPI : SLOW_BALANCED;
}

static struct rankset *find_left_out(struct arena *arena, const struct job *job,
				     const struct slow_steps *steps)
{
	struct rankset *ranks = rankset_in(arena, rankset_create());

	if (job->proctable->size > 0)
		rankset_add_range(ranks, 0, job->proctable->size - 1);
	for (uint32_t i = 0; i < steps->num_ranks; i++)
		rankset_remove(ranks, steps->ranks[i]);
	for (size_t i = 0; i < job->num_holes; i++)
		if (strcmp(job->holes[i].why, JOB_HOLE_ENDED) == 0)
			rankset_remove(ranks, job->holes[i].rank);
	return ranks;
}

static struct slow *judge(struct arena *arena, const struct job *job,
			  const struct slow_steps *steps)
{
	struct slow *slow = arena_alloc(arena, sizeof(*slow));
	struct step_total *totals = arena_array(arena, steps->num_steps + 1, sizeof(*totals));
	double outside = 0, all = 0, most = 0;

	*slow = (struct slow){.source = steps->source,
			      .why = steps->why,
			      .loop = steps->loop,
			      .num_ranks = steps->num_ranks,
			      .is_measured = job->usage != NULL};
	if (steps->why)
		return slow;
	slow->left_out = find_left_out(arena, job, steps);
	slow->num_steps = steps->num_steps - steps->now;
	slow->first_step = steps->first + steps->now;
	slow->last_step = steps->first + steps->num_steps - 1;
	for (uint32_t k = 0; k < steps->num_steps; k++) {
		totals[k] = total_of(steps, k);
		if (k < steps->now)
			continue;
		outside += totals[k].outside / steps->num_ranks;
		all += totals[k].all / steps->num_ranks;
		most += totals[k].most;
	}
	if (all <= 0 || slow->num_steps < least_steps(steps)) {
		slow->why = slow_too_little;
		return slow;
	}
	slow->span_ns = all;
	slow->inside = 1 - outside / all;
	/* Ranks that do not wait for each other in each step lose nothing by it. */
	slow->turns = fmin((most - outside) / all, slow->inside);
	find_ranks(arena, steps, totals, slow);
	if (!slow->why)
		slow->kind = find_kind(slow);
	return slow;
}

/* Have the iterations ended, as in a hang? */
static void find_quiet(const struct job *job, const struct slow_steps *steps, struct slow *slow)
{
	double longest = job->look_seconds > 1 ? job->look_seconds * 1e9 : 1e9;

	if (slow->kind == SLOW_NOT_KNOWN || slow->source != SLOW_BY_ITERATIONS)
		return;
	slow->quiet_ns = INFINITY;
	for (uint32_t i = 0; i < steps->num_ranks; i++) {
		uint64_t now = steps->lanes[i]->model->now_ns, end = steps->span[i][1];

		slow->quiet_ns = fmin(slow->quiet_ns, now > end ? (double)(now - end) : 0);
	}
	for (uint32_t k = steps->now; k < steps->num_steps; k++)
		longest = fmax(longest, 2.0 * slow_time_of(steps, 0, k)->all);
	slow->is_quiet = slow->quiet_ns > longest;
}

struct slow *slow_find(struct arena *arena, const struct job *job, const struct progress *progress,
		       const struct stack_facts *stacks)
{
	struct slow_steps *steps = slow_steps_by_times(arena, job, progress, stacks, false);
	struct slow *slow = judge(arena, job, steps);

	/* The slow one may be among those without times, of whom stacks tell. */
	if (slow->kind != SLOW_RANKS && stacks) {
		struct slow_steps *seen = slow_steps_by_samples(arena, stacks);

		if (seen->num_ranks > steps->num_timed) {
			steps = seen;
			slow = judge(arena, job, steps);
		}
	}
	for (size_t i = 0; i < slow->num_slow && i < SLOW_MAX_TOLD; i++)
		find_where(arena, job, steps, stacks, &slow->ranks[i]);
	find_quiet(job, steps, slow);
	/* Counted after these iterations. */
	if (slow->is_quiet)
		slow->is_measured = false;
	if (slow->kind != SLOW_NOT_KNOWN && slow->is_measured)
		slow_reasons_find(arena, job, steps, stacks, slow);
	return slow;
}

struct slow *slow_glance(struct arena *arena, const struct job *job,
			 const struct progress *progress)
{
	struct slow_steps *steps = slow_steps_by_times(arena, job, progress, NULL, true);
	struct slow *slow = judge(arena, job, steps);

	find_quiet(job, steps, slow);
	return slow->kind == SLOW_RANKS && !slow->is_quiet &&
			       slow->ranks[0].loss >= slow_limits.clear_loss
		       ? slow
		       : NULL;
}
