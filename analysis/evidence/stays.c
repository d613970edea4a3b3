/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "analysis/evidence/stays.h"
#include "analysis/progress/eqgroup.h"
#include "analysis/progress/progress.h"
#include "analysis/thresholds.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/pair_map.h"

/* Completed stays of all lanes of a role in a state. */
struct place_stays {
	uint64_t longest_ns, second_ns; /* of the lane with the longest, and of all others */
	size_t longest_lane;
	uint64_t longest_gap_ns; /* from a failed poll to what came next, of any */
	uint64_t num_left;       /* lanes that have left it, as far as is known, */
	uint64_t num_polled;     /* and those of them that have polled there */
};

struct stays {
	struct arena *arena;
	const struct job_model *jm;
	const struct progress *progress;
	struct pair_map *index_of; /* of a role and state in places */
	struct place_stays *places;
	size_t num_places, capacity;
	bool *is_run; /* [loops] see find_running() */
	bool is_edge; /* all who are inside MPI are in MPI_Init, or all in MPI_Finalize */
};

/* ---- Start and end ---- */

static enum seg_class class_of(const struct job_model *jm, uint32_t state)
{
	return jm->sites[SEG_STATE_SITE(state)].class_id;
}

/* Calls that a program makes while it begins: that of communicators is a part of that. */
static bool is_of_start(enum seg_class class_id)
{
	return class_id == SEG_CLASS_OTHER || class_id == SEG_CLASS_INIT ||
	       class_id == SEG_CLASS_COMM;
}

/* Has the lane completed no call that communicates, and is it in none but MPI_Init? */
static bool is_starting(const struct job_model *jm, size_t lane)
{
	const struct job_lane *at = &jm->lanes[lane];
	enum seg_class class_id = class_of(jm, at->state);

	if (SEG_STATE_IS_EXIT(at->state) ? !is_of_start(class_id) : class_id != SEG_CLASS_INIT)
		return false;
	for (size_t t = 0; t < at->data->num_transitions; t++) {
		uint32_t from = job_lane_state(at, at->data->transitions[t].from);

		if (!is_of_start(class_of(jm, from)))
			return false;
	}
	return true;
}

/* Has it come to MPI_Finalize? */
static bool has_come_to_end(const struct job_model *jm, size_t lane)
{
	return jm->lanes[lane].model->life >= SEG_LIFE_FINALIZING ||
	       class_of(jm, jm->lanes[lane].state) == SEG_CLASS_FINALIZE;
}

static bool are_all_at_edge(const struct job_model *jm)
{
	size_t num_inside = 0, num_init = 0, num_finalize = 0;

	for (size_t i = 0; i < jm->num_lanes; i++) {
		const struct job_lane *lane = &jm->lanes[i];
		bool is_ending = has_come_to_end(jm, i);

		if (SEG_STATE_IS_EXIT(lane->state) && !is_ending)
			continue;
		num_inside++;
		num_finalize += is_ending;
		num_init += class_of(jm, lane->state) == SEG_CLASS_INIT;
	}
	return num_inside > 0 && (num_init == num_inside || num_finalize == num_inside);
}

/* ---- Stays in a state ---- */

static struct place_stays *add_place(struct stays *stays, uint64_t key)
{
	struct place_stays *place =
		ARENA_PUSH(stays->arena, stays->places, stays->num_places, stays->capacity);

	*place = (struct place_stays){.longest_lane = SIZE_MAX};
	pair_map_add(stays->index_of, key, (uint32_t)(stays->num_places - 1));
	return place;
}

/* A stay that no poll was in has no gap. */
static void add_stay(struct stays *stays, size_t lane, uint32_t local, uint64_t ns, uint64_t gap_ns)
{
	const struct job_lane *at = &stays->jm->lanes[lane];
	uint64_t key = pair_key(at->role, job_lane_state(at, local));
	uint32_t index;
	struct place_stays *place;

	if (ns == 0)
		return;
	index = pair_map_get(stays->index_of, key);
	place = index == PAIR_NONE ? add_place(stays, key) : &stays->places[index];
	place->num_left++;
	if (ns > place->longest_ns) {
		place->second_ns = place->longest_ns;
		place->longest_ns = ns;
		place->longest_lane = lane;
	} else if (ns > place->second_ns) {
		place->second_ns = ns;
	}
	place->num_polled += gap_ns > 0;
	if (gap_ns > place->longest_gap_ns)
		place->longest_gap_ns = gap_ns;
}

/* A look without details brings of each lane the stay that its own present one is compared with. */
static void add_stays(struct stays *stays)
{
	for (size_t i = 0; i < stays->jm->num_lanes; i++) {
		const struct job_lane *lane = &stays->jm->lanes[i];
		const struct model_lane *data = lane->data;

		if (!data->longest_ns)
			add_stay(stays, i, data->longest.state, data->longest.ns, data->longest.ns);
		for (uint32_t s = 0; data->longest_ns && s < 2 * lane->model->num_sites; s++)
			add_stay(stays, i, s, data->longest_ns[s],
				 SEG_STATE_IS_EXIT(s) ? data->state_polls[s] : 0);
	}
}

static const struct place_stays *get_stays(const struct stays *stays, uint32_t role, uint32_t state)
{
	static const struct place_stays none = {.longest_lane = SIZE_MAX};
	uint32_t index = pair_map_get(stays->index_of, pair_key(role, state));

	return index == PAIR_NONE ? &none : &stays->places[index];
}

static uint64_t others_longest(const struct place_stays *place, size_t lane)
{
	return place->longest_lane == lane ? place->second_ns : place->longest_ns;
}

static uint64_t count_left(const struct job_lane *lane, uint32_t local)
{
	uint64_t num = 0;

	for (size_t t = 0; t < lane->data->num_transitions; t++)
		if (lane->data->transitions[t].from == local)
			num += lane->data->transitions[t].count;
	return num;
}

/* What its own present stay is compared with; the time between two polls counts, too. */
static uint64_t own_longest(const struct job_lane *lane)
{
	const struct model_lane *data = lane->data;
	uint64_t ns = model_lane_stay(data, data->state);

	if (data->longest_ns && data->polls > 0 && SEG_STATE_IS_EXIT(data->state) &&
	    data->state_polls[data->state] > ns)
		ns = data->state_polls[data->state];
	return ns;
}

/* The longest in any state of this side where the lane has stayed much longer than all others. */
static uint64_t longest_alone(const struct stays *stays, size_t lane)
{
	const struct job_lane *at = &stays->jm->lanes[lane];
	uint64_t longest_ns = 0;

	for (uint32_t s = at->data->state & 1; at->data->longest_ns && s < 2 * at->model->num_sites;
	     s += 2) {
		uint64_t ns = at->data->longest_ns[s], others_ns;

		if (ns <= longest_ns || ns < thresholds.noise_ns * thresholds.alone_ratio)
			continue;
		others_ns = others_longest(get_stays(stays, at->role, job_lane_state(at, s)), lane);
		if ((double)ns >= thresholds.alone_ratio * (double)others_ns)
			longest_ns = ns;
	}
	return longest_ns;
}

/* ---- Iterations ---- */

/* Of each loop: is any lane in it now, as known by its place? */
static bool *find_running(const struct stays *stays)
{
	const struct progress *progress = stays->progress;
	bool *is_run = arena_array(stays->arena, progress->num_loops, sizeof(*is_run));

	for (size_t i = 0; i < stays->jm->num_lanes; i++)
		for (size_t k = 0; k < progress->places[i].num_iterations; k++)
			is_run[progress->places[i].iterations[k].loop] = true;
	return is_run;
}

/* The longest time from one arrival at the head to the next, as far as the ring goes back, and of
 * how many. */
static uint64_t longest_iteration(const struct job_lane *lane, uint32_t header, uint64_t *num_ret)
{
	uint64_t before_ns = 0, longest_ns = 0;
	bool has_one = false;

	*num_ret = 0;

	for (size_t i = 0; i < lane->data->num_ring; i++) {
		const struct model_event *event = &lane->data->ring[i];

		if (job_lane_state(lane, event->state) != header)
			continue;
		if (has_one && event->ns - before_ns > longest_ns)
			longest_ns = event->ns - before_ns;
		*num_ret += has_one;
		before_ns = event->ns;
		has_one = true;
	}
	return longest_ns;
}

/* Of the innermost loop that the lane is in and that has had enough iterations, or that it has left
 * though others have not: the longest that is known, and of how many. False: there is none. */
static bool find_loop(const struct stays *stays, size_t lane, uint64_t *num_ret,
		      uint64_t *longest_ret)
{
	const struct job_lane *at = &stays->jm->lanes[lane];
	const struct place *place = stays->progress ? &stays->progress->places[lane] : NULL;
	const struct iteration *iterations;
	size_t num;

	if (!place)
		return false;
	iterations = place->num_iterations ? place->iterations : place->frontier;
	num = place->num_iterations ? place->num_iterations : place->num_frontier;
	while (num-- > 0) {
		const struct iteration *in = &iterations[num];

		if (in->total < thresholds.few_iterations ||
		    (place->num_iterations == 0 && !stays->is_run[in->loop]))
			continue;
		*longest_ret =
			longest_iteration(at, stays->progress->loops[in->loop].header, num_ret);
		if (*num_ret == 0) /* the ring is too short: so long on average, at most */
			*longest_ret = (at->data->since_ns - at->data->first_ns) / in->total;
		return true;
	}
	return false;
}

/* ---- Judging ---- */

struct stays *stays_create(struct arena *arena, const struct job_model *jm,
			   const struct progress *progress)
{
	struct stays *stays = arena_alloc(arena, sizeof(*stays));

	*stays = (struct stays){
		.arena = arena,
		.jm = jm,
		.progress = progress,
		.index_of = pair_map_in(arena),
		.is_edge = are_all_at_edge(jm),
	};
	if (progress)
		stays->is_run = find_running(stays);
	add_stays(stays);
	return stays;
}

static uint64_t to_ns(double ns)
{
	return ns < 0x1p63 ? (uint64_t)ns : UINT64_MAX;
}

uint64_t stays_needed(uint64_t num, uint64_t longest_ns, double error, double least_ratio)
{
	double odds = 1 / (error * ((double)num + 1));
	double longer_ns = fmax(sqrt(odds), least_ratio) * (double)longest_ns;
	double unlike_ns = odds * (double)thresholds.noise_ns;

	return to_ns(fmax(longer_ns, unlike_ns));
}

static uint64_t longer(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* By n stays of at most longest_ns. */
static struct stay_judgement judge_by(enum stay_basis basis, uint64_t num, uint64_t longest_ns)
{
	return (struct stay_judgement){
		.basis = basis,
		.num = num,
		.longest_ns = longest_ns,
		.unusual_ns = stays_needed(num, longest_ns, thresholds.unusual_error,
					   thresholds.unusual_ratio),
		.hang_ns =
			stays_needed(num, longest_ns, thresholds.hang_error, thresholds.hang_ratio),
		.end_ns =
			stays_needed(num, longest_ns, thresholds.end_error, thresholds.hang_ratio),
	};
}

static void require(struct stay_judgement *judgement, uint64_t unusual_ns, double hang_ns)
{
	judgement->unusual_ns = longer(judgement->unusual_ns, unusual_ns);
	judgement->hang_ns = longer(judgement->hang_ns, to_ns(hang_ns));
	judgement->end_ns = longer(judgement->end_ns, judgement->hang_ns);
}

void stays_allow(struct stay_judgement *judgement, uint64_t awaited_ns)
{
	require(judgement, 0, thresholds.hang_ratio * (double)awaited_ns);
}

/* By what a lane that has never left its place did elsewhere: a longer stay than that is
 * unusual. */
static void require_elsewhere(struct stay_judgement *judgement, uint64_t longest_ns)
{
	require(judgement, longest_ns + 1, thresholds.elsewhere_ratio * (double)longest_ns);
}

static struct stay_judgement judge_by_others(const struct stays *stays, size_t lane,
					     const struct place_stays *place)
{
	struct stay_judgement judgement =
		judge_by(STAY_BY_OTHERS, place->num_left, place->longest_ns);
	uint64_t alone_ns = longest_alone(stays, lane);

	if (alone_ns > 0)
		require_elsewhere(&judgement, alone_ns);
	return judgement;
}

static struct stay_judgement judge_by_elsewhere(const struct job_lane *lane)
{
	struct stay_judgement judgement = {
		.basis = STAY_BY_ELSEWHERE,
		.longest_ns = model_lane_longest(lane->model, lane->data).ns,
		.end_ns = UINT64_MAX,
	};

	require_elsewhere(&judgement, judgement.longest_ns);
	return judgement;
}

/* Of those that there is something to compare with, by the one that knows it to be less usual. */
static struct stay_judgement judge_new(const struct stays *stays, size_t lane)
{
	const struct job_lane *at = &stays->jm->lanes[lane];
	const struct place_stays *place = get_stays(stays, at->role, at->state);
	struct stay_judgement by_loop, judgement;
	uint64_t num_iterations, iteration_ns;
	bool has_loop = find_loop(stays, lane, &num_iterations, &iteration_ns);

	judgement =
		place->num_left > 0 ? judge_by_others(stays, lane, place) : judge_by_elsewhere(at);
	if (has_loop) {
		by_loop = judge_by(STAY_BY_LOOP, place->num_left + num_iterations,
				   longer(place->longest_ns, iteration_ns));
		if (place->num_left == 0 || by_loop.hang_ns < judgement.hang_ns)
			judgement = by_loop;
	}
	require(&judgement, 0, (double)thresholds.new_ns);
	judgement.is_new = true;
	return judgement;
}

/* Outside, having polled there in this stay. */
static bool has_polled(const struct job_lane *at)
{
	return SEG_STATE_IS_EXIT(at->state) && at->data->polls > 0 &&
	       activity_of_lane(at) == ACTIVITY_COMPUTING;
}

static uint64_t less_itself(uint64_t num)
{
	return num > 0 ? num - 1 : 0;
}

/* Who waits inside a call does so for others: how long these once took says nothing of this one.
 * The same holds for those that polled here, if this one has and does so no more: its stay is since
 * then. What says nothing is not counted, either. */
static struct stay_judgement judge_known(const struct stays *stays, size_t lane, uint64_t num)
{
	const struct job_lane *at = &stays->jm->lanes[lane];
	const struct place_stays *place = get_stays(stays, at->role, at->state);
	uint64_t longest_ns = own_longest(at);

	if (!SEG_STATE_IS_EXIT(at->state))
		return judge_by(STAY_BY_PLACE, num, longest_ns);
	if (has_polled(at))
		return judge_by(STAY_BY_PLACE, num + less_itself(place->num_polled),
				longer(longest_ns, place->longest_gap_ns));
	return judge_by(STAY_BY_PLACE, num + less_itself(place->num_left),
			longer(longest_ns, place->longest_ns));
}

struct stay_judgement stays_judge(const struct stays *stays, size_t lane)
{
	const struct job_lane *at = &stays->jm->lanes[lane];
	uint64_t num = count_left(at, at->data->state);
	struct stay_judgement judgement =
		num > 0 ? judge_known(stays, lane, num) : judge_new(stays, lane);

	/* Between two polls it may just have no processor, as others spin as well. */
	if (has_polled(at))
		require(&judgement, 0, (double)thresholds.new_ns);
	judgement.is_edge = stays->is_edge || is_starting(stays->jm, lane);
	require(&judgement, thresholds.accuse_ns, (double)thresholds.hang_ns);
	judgement.end_ns = longer(judgement.end_ns, thresholds.end_ns);
	if (judgement.is_edge)
		require(&judgement, thresholds.edge_ns, (double)thresholds.edge_ns);
	return judgement;
}
