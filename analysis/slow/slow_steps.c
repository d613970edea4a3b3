/* SPDX-License-Identifier: BSD-3-Clause
 * Steps of ranks: iterations, slices of time, or samples. */
#include <math.h>

#include "analysis/evidence/stack_facts.h"
#include "analysis/progress/loop_nest.h"
#include "analysis/progress/progress.h"
#include "analysis/slow/slow_private.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"

#define SECOND_NS UINT64_C(1000000000)
enum { SLICES = 25, FEW_STEPS = 8 };
/* Of each ring, for a glance: 20 us a rank. */
enum { GLANCE_EVENTS = 2048 };

static const char too_few_ranks[] = "fewer than two ranks can be compared";
const char slow_too_little[] = "too little was seen of them yet";

/* ---- Lanes ---- */

/* Its ring has times. */
static bool has_times(const struct job_lane *lane)
{
	return lane->data->is_main && !lane->data->has_ended && !lane->data->is_borrowing &&
	       lane->data->num_ring > 0;
}

/* The role that most main threads have. */
static uint32_t common_role(struct arena *arena, const struct job_model *jm)
{
	uint32_t *num = arena_array(arena, jm->num_roles + 1, sizeof(*num)), best = 0;

	for (size_t i = 0; i < jm->num_lanes; i++)
		if (has_times(&jm->lanes[i]) && ++num[jm->lanes[i].role] > num[best])
			best = jm->lanes[i].role;
	return best;
}

static void find_lanes(struct arena *arena, const struct job_model *jm, struct slow_steps *steps)
{
	uint32_t role = common_role(arena, jm);
	int *ranks = arena_array(arena, jm->num_lanes + 1, sizeof(*ranks));

	steps->lanes = arena_array(arena, jm->num_lanes + 1, sizeof(struct job_lane *));
	for (size_t i = 0; i < jm->num_lanes; i++) {
		const struct job_lane *lane = &jm->lanes[i];

		if (!has_times(lane))
			continue;
		steps->num_timed++;
		if (lane->role != role)
			continue;
		ranks[steps->num_ranks] = lane->rank;
		steps->lanes[steps->num_ranks++] = lane;
	}
	steps->ranks = ranks;
}

/* How long the event's state lasted; the clock of another core may be a little behind. */
static uint64_t stay_ns(const struct job_lane *lane, size_t event)
{
	const struct model_event *ring = lane->data->ring;
	uint64_t end = event + 1 < lane->data->num_ring ? ring[event + 1].ns : lane->model->now_ns;

	return end > ring[event].ns ? end - ring[event].ns : 0;
}

/* Pauses between failed polls are short, but for one that computes and asks now and then. One that
 * waits by polls and gets no processor has long ones, too. So stacks must agree. */
bool slow_is_outside(const struct slow_steps *steps, uint32_t rank, size_t event)
{
	const struct job_lane *lane = steps->lanes[rank];
	uint32_t state = lane->data->ring[event].state;
	uint64_t pause = lane->data->state_polls ? lane->data->state_polls[state] : 0;

	return SEG_STATE_IS_EXIT(state) &&
	       (!pause || (steps->is_seen_outside[rank] && pause >= stay_ns(lane, event) / 2));
}

/* Is it outside MPI in half of its samples or more? */
static void find_seen_outside(struct arena *arena, const struct stack_facts *stacks,
			      struct slow_steps *steps)
{
	steps->is_seen_outside =
		arena_array(arena, steps->num_ranks + 1, sizeof(*steps->is_seen_outside));
	for (uint32_t i = 0; stacks && i < steps->num_ranks; i++) {
		const struct stack_fact *fact = stack_facts_get(stacks, steps->ranks[i]);

		steps->is_seen_outside[i] = fact->num_samples >= (int)slow_limits.least_samples &&
					    !fact->is_polling &&
					    2 * fact->num_outside >= fact->num_samples;
	}
}

/* ---- Iterations ---- */

/* Arrivals at the header of a loop: those in the ring, and how many were made ever. */
struct arrivals {
	size_t in_ring;
	uint64_t total;
};

/* The first event of a ring that counts. */
static size_t begin_of(const struct slow_steps *steps, const struct job_lane *lane)
{
	size_t num = lane->data->num_ring;

	return steps->max_events && num > steps->max_events ? num - steps->max_events : 0;
}

static bool is_at(const struct job_lane *lane, uint32_t local, uint32_t state)
{
	return job_lane_state(lane, local) == state;
}

static struct arrivals count_arrivals(const struct slow_steps *steps, const struct job_lane *lane,
				      uint32_t header)
{
	const struct model_lane *data = lane->data;
	struct arrivals found = {0};

	for (size_t i = begin_of(steps, lane); i < data->num_ring; i++)
		found.in_ring += is_at(lane, data->ring[i].state, header);
	for (size_t i = 0; i < data->num_transitions; i++)
		if (is_at(lane, data->transitions[i].to, header))
			found.total += data->transitions[i].count;
	return found;
}

/* The iterations, complete ones, that the rings of all ranks have: [first, last]. */
static bool find_common(const struct slow_steps *steps, uint32_t header, uint64_t *first_ret,
			uint64_t *last_ret)
{
	*first_ret = 1;
	*last_ret = UINT64_MAX;
	for (uint32_t i = 0; i < steps->num_ranks; i++) {
		struct arrivals found = count_arrivals(steps, steps->lanes[i], header);
		uint64_t first = found.total - found.in_ring + 1, last = found.total - 1;

		/* One that moved while it was copied may have one more in its ring. */
		if (found.in_ring < 2 || found.total < found.in_ring)
			return false;
		*first_ret = first > *first_ret ? first : *first_ret;
		*last_ret = last < *last_ret ? last : *last_ret;
	}
	return *last_ret != UINT64_MAX && *last_ret >= *first_ret &&
	       *last_ret - *first_ret + 1 >= slow_limits.least_steps;
}

static void fill_iterations(struct slow_steps *steps, uint32_t rank, uint32_t header)
{
	const struct job_lane *lane = steps->lanes[rank];
	const struct model_lane *data = lane->data;
	struct arrivals found = count_arrivals(steps, lane, header);
	uint64_t number = found.total - found.in_ring, last = steps->first + steps->num_steps;
	struct slow_time *times = &steps->times[(size_t)rank * steps->num_steps];

	for (size_t i = begin_of(steps, lane); i < data->num_ring && number <= last; i++) {
		float stay;

		number += is_at(lane, data->ring[i].state, header);
		if (number < steps->first)
			continue;
		if (number == steps->first + steps->now && !steps->span[rank][0])
			steps->span[rank][0] = data->ring[i].ns;
		if (number >= last) {
			steps->span[rank][1] = data->ring[i].ns;
			return;
		}
		stay = (float)stay_ns(lane, i);
		times[number - steps->first].all += stay;
		times[number - steps->first].outside += slow_is_outside(steps, rank, i) ? stay : 0;
	}
}

/* Judge the iterations of the look, and a few at least. */
static uint32_t find_now(const struct slow_steps *steps, double look_ns)
{
	uint32_t now = steps->num_steps;
	double known = 0;

	while (now > 0 && (known < look_ns || steps->num_steps - now < FEW_STEPS))
		known += slow_time_of(steps, 0, --now)->all;
	return now;
}

static double look_ns(const struct job *job)
{
	return (job->look_seconds > 1 ? job->look_seconds : 1) * (double)SECOND_NS;
}

/* So that the times of a million ranks fit into memory, too. */
static uint64_t max_steps(const struct slow_steps *steps)
{
	uint64_t fit = SLOW_MAX_TIMES / steps->num_ranks;

	return fit > SLOW_MAX_STEPS ? SLOW_MAX_STEPS : fit < SLOW_MIN_STEPS ? SLOW_MIN_STEPS : fit;
}

static bool take_iterations(struct arena *arena, const struct job *job,
			    const struct progress *progress, struct slow_steps *steps)
{
	uint64_t first = 0, last = 0;
	uint32_t loop = 0, header;

	while (loop < progress->num_loops &&
	       (progress->loops[loop].role != steps->lanes[0]->role ||
		!find_common(steps, progress->loops[loop].header, &first, &last)))
		loop++;
	if (loop == progress->num_loops)
		return false;
	header = progress->loops[loop].header;
	if (last - first + 1 > max_steps(steps))
		first = last - max_steps(steps) + 1;
	steps->source = SLOW_BY_ITERATIONS;
	steps->loop = loop;
	steps->first = first;
	steps->num_steps = (uint32_t)(last - first + 1);
	steps->times = arena_array(arena, (size_t)steps->num_ranks * steps->num_steps,
				   sizeof(*steps->times));
	fill_iterations(steps, 0, header);
	steps->now = find_now(steps, look_ns(job));
	for (uint32_t i = 0; i < steps->num_ranks; i++) {
		struct slow_time *times = &steps->times[(size_t)i * steps->num_steps];

		for (uint32_t k = 0; k < steps->num_steps; k++)
			times[k] = (struct slow_time){0};
		steps->span[i][0] = 0;
		fill_iterations(steps, i, header);
	}
	return true;
}

/* ---- Slices ---- */

/* Add what is outside of [begin, end) to the slices, the first of which is at `from`. */
static void add_outside(struct slow_time *times, double from, double slice, double begin,
			double end)
{
	int first = begin > from ? (int)fmin((begin - from) / slice, SLICES) : 0;

	for (int k = first; k < SLICES && from + k * slice < end; k++) {
		double left = from + k * slice, right = left + slice;
		double a = begin > left ? begin : left, b = end < right ? end : right;

		if (b > a)
			times[k].outside += (float)(b - a);
	}
}

/* Of so long before the copy as all rings know. */
static double known_ns(const struct job *job, const struct slow_steps *steps)
{
	double known = look_ns(job);

	for (uint32_t i = 0; i < steps->num_ranks; i++) {
		const struct job_lane *lane = steps->lanes[i];
		double own = (double)(lane->model->now_ns - lane->data->ring[0].ns);

		known = lane->model->now_ns < lane->data->ring[0].ns ? 0
			: own < known                                ? own
								     : known;
	}
	return known;
}

static bool take_slices(struct arena *arena, const struct job *job, struct slow_steps *steps)
{
	double known = known_ns(job, steps), slice = known / SLICES;

	if (slice < 1)
		return false;
	steps->source = SLOW_BY_SLICES;
	steps->first = 0;
	steps->num_steps = SLICES;
	steps->times = arena_array(arena, (size_t)steps->num_ranks * SLICES, sizeof(*steps->times));
	steps->num_stays = arena_array(arena, steps->num_ranks, sizeof(*steps->num_stays));
	for (uint32_t i = 0; i < steps->num_ranks; i++) {
		const struct job_lane *lane = steps->lanes[i];
		struct slow_time *times = &steps->times[(size_t)i * SLICES];

		for (int k = 0; k < SLICES; k++)
			times[k].all = (float)slice;
		steps->span[i][0] = lane->model->now_ns - (uint64_t)known;
		steps->span[i][1] = lane->model->now_ns;
		for (size_t e = 0; e < lane->data->num_ring; e++)
			if (slow_is_outside(steps, i, e)) {
				steps->num_stays[i] += lane->data->ring[e].ns >= steps->span[i][0];
				add_outside(times, 0, slice,
					    (double)(int64_t)(lane->data->ring[e].ns -
							      steps->span[i][0]),
					    (double)(int64_t)(lane->data->ring[e].ns -
							      steps->span[i][0] +
							      stay_ns(lane, e)));
			}
	}
	return true;
}

/* ---- Samples ---- */

struct slow_steps *slow_steps_by_samples(struct arena *arena, const struct stack_facts *stacks)
{
	struct slow_steps *steps = arena_alloc(arena, sizeof(*steps));
	int *ranks = arena_array(arena, stacks->num_ranks + 1, sizeof(*ranks));
	uint32_t num = 64;

	steps->loop = LOOP_NONE;
	steps->ranks = ranks;
	for (size_t r = 0; r < stacks->num_ranks; r++) {
		const struct stack_fact *fact = &stacks->ranks[r];

		if (fact->num_samples < (int)slow_limits.least_samples || fact->is_finalizing ||
		    fact->is_initializing)
			continue;
		ranks[steps->num_ranks++] = (int)r;
		num = (uint32_t)fact->num_samples < num ? (uint32_t)fact->num_samples : num;
	}
	if (steps->num_ranks < 2) {
		steps->why = too_few_ranks;
		return steps;
	}
	steps->source = SLOW_BY_SAMPLES;
	steps->num_steps = num;
	steps->times = arena_array(arena, (size_t)steps->num_ranks * num, sizeof(*steps->times));
	for (uint32_t i = 0; i < steps->num_ranks; i++) {
		const struct stack_fact *fact = &stacks->ranks[ranks[i]];

		for (uint32_t k = 0; k < num; k++)
			steps->times[(size_t)i * num + k] = (struct slow_time){
				.outside = !fact->is_polling && (fact->outside >> k & 1),
				.all = 1,
			};
	}
	return steps;
}

/* ---- Iterations or slices ---- */

struct slow_steps *slow_steps_by_times(struct arena *arena, const struct job *job,
				       const struct progress *progress,
				       const struct stack_facts *stacks, bool is_glance)
{
	struct slow_steps *steps = arena_alloc(arena, sizeof(*steps));

	steps->loop = LOOP_NONE;
	steps->max_events = is_glance ? GLANCE_EVENTS : 0;
	if (job->model && progress)
		find_lanes(arena, job->model, steps);
	if (steps->num_ranks < 2) {
		steps->why = too_few_ranks;
		return steps;
	}
	find_seen_outside(arena, stacks, steps);
	steps->span = arena_array(arena, steps->num_ranks, sizeof(*steps->span));
	if (!take_iterations(arena, job, progress, steps) &&
	    (is_glance || !take_slices(arena, job, steps)))
		steps->why = slow_too_little;
	return steps;
}
