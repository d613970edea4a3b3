/* SPDX-License-Identifier: BSD-3-Clause
 * The rules that go by what ranks do, without knowing what they wait for. */
#include "analysis/verdict/verdict_private.h"
#include "model/job/proctable.h"

bool verdict_find_stopped(struct judge *j)
{
	bool is_certain = true, is_traced = false;

	for (size_t i = 0; i < j->jm->num_lanes; i++) {
		const struct stack_fact *fact = stack_facts_get(j->stacks, j->jm->lanes[i].rank);

		j->is_candidate[i] = j->lanes[i].is_static &&
				     (fact->is_stopped ||
				      (fact->is_uninterruptible && verdict_is_unusual(j, i)));
		is_certain &= !j->is_candidate[i] || fact->is_stopped;
		is_traced |= j->is_candidate[i] && fact->is_traced;
	}
	if (verdict_count_candidates(j) == 0)
		return false;
	verdict_weigh(j);
	verdict_name_culprits(j, VERDICT_STOPPED);
	/* A stopped process does not go on by itself, however long its stays were before. */
	if (is_certain)
		j->verdict->is_hang = j->verdict->stay_ns >= VERDICT_HANG_NS;
	/* When all are stopped it was somebody's will. */
	if (rankset_is_empty(j->verdict->waiting))
		j->verdict->is_hang = false;
	j->verdict->is_final = is_certain && !is_traced && j->verdict->is_hang;
	return true;
}

/* Has the rank another lane of this kind? */
static bool has_sibling(const struct judge *j, size_t lane,
			bool (*is_kind)(const struct judge *j, size_t lane))
{
	size_t num, first = job_model_lanes(j->jm, j->jm->lanes[lane].rank, &num);

	for (size_t i = first; i < first + num; i++)
		if (i != lane && is_kind(j, i))
			return true;
	return false;
}

static bool is_waiting(const struct judge *j, size_t lane)
{
	return j->lanes[lane].is_waiting;
}

static bool is_alive(const struct judge *j, size_t lane)
{
	return j->lanes[lane].activity != ACTIVITY_ENDED;
}

static bool is_other_candidate(const struct judge *j, size_t lane)
{
	return j->is_candidate[lane];
}

static bool is_static_outside(const struct judge *j, size_t lane)
{
	return j->lanes[lane].is_static && j->lanes[lane].activity == ACTIVITY_COMPUTING;
}

/* Outside MPI, but waiting for threads of the same rank that call MPI. */
static bool waits_for_own_threads(const struct judge *j, size_t i)
{
	const struct job_lane *lane = &j->jm->lanes[i];

	return lane->data->is_main && has_sibling(j, i, is_alive) &&
	       stack_facts_waits_for_threads(j->stacks, j->job, lane->rank);
}

/* Lanes outside MPI whose like wait inside; of_role false: whose like are all outside. */
static void find_outside(struct judge *j, bool of_role)
{
	for (size_t i = 0; i < j->jm->num_lanes; i++)
		j->is_candidate[i] = is_static_outside(j, i) && !waits_for_own_threads(j, i) &&
				     (of_role ? j->has_waiting[j->jm->lanes[i].role]
					      : !has_sibling(j, i, is_waiting));
}

static bool may_be_parent(const struct judge *j, size_t lane)
{
	return j->jm->lanes[lane].data->is_main &&
	       (has_sibling(j, lane, is_waiting) || has_sibling(j, lane, is_other_candidate));
}

/* A main thread may wait for its other threads, without a stack to tell: others go first. */
static void drop_parents(struct judge *j)
{
	size_t num_others = 0;

	for (size_t i = 0; i < j->jm->num_lanes; i++)
		num_others += j->is_candidate[i] && !may_be_parent(j, i);
	for (size_t i = 0; num_others > 0 && i < j->jm->num_lanes; i++)
		if (j->is_candidate[i] && may_be_parent(j, i))
			j->is_candidate[i] = false;
}

/* Could all who wait get on by what other ranks than those of the candidates have still to send? */
static bool can_do_without(const struct judge *j)
{
	bool *is_held = arena_array(j->arena, j->jm->num_lanes, sizeof(*is_held));

	for (size_t i = 0; i < j->jm->num_lanes; i++)
		is_held[i] = j->is_candidate[i] || has_sibling(j, i, is_other_candidate);
	return j->waitfor && waitfor_can_do_without(j->waitfor, is_held);
}

/* A hang even though others move, as those who are given work one by one may for long? A step may
 * well take ten times as long as all that the program has done there before. */
static bool is_hang_beside_moving(const struct verdict *verdict)
{
	return verdict->stay_ns >= VERDICT_HANG_MOVING_NS &&
	       verdict->stay_ns / VERDICT_HANG_MOVING_RATIO >= verdict->longest_before_ns;
}

bool verdict_find_computing(struct judge *j)
{
	size_t num_outside;
	bool is_common, are_moving;

	find_outside(j, true);
	if (verdict_count_candidates(j) == 0)
		find_outside(j, false);
	num_outside = verdict_count_candidates(j);
	drop_parents(j);
	for (size_t i = 0; i < j->jm->num_lanes; i++)
		j->is_candidate[i] &= verdict_is_unusual(j, i);
	if (verdict_count_candidates(j) == 0)
		return num_outside > 0;
	is_common = verdict_count_candidates(j) * 2 > j->jm->num_lanes;
	verdict_keep_awaited(j);
	verdict_keep_least(j);
	verdict_weigh(j);
	/* When most ranks are where they never were before, that is the course of the program. */
	if ((is_common && j->verdict->is_new_state) || (j->verdict->is_hang && can_do_without(j)))
		j->verdict->is_hang = false;
	are_moving = !rankset_is_empty(j->verdict->moving);
	if (!are_moving || j->verdict->is_hang)
		verdict_name_culprits(j, VERDICT_COMPUTATION);
	j->verdict->is_hang &= !are_moving || is_hang_beside_moving(j->verdict);
	return true;
}

/* Do all who wait do so in calls of this class? */
static bool do_all_wait_in(const struct judge *j, enum seg_class class_id)
{
	for (size_t i = 0; i < j->jm->num_lanes; i++) {
		uint32_t site = SEG_STATE_SITE(j->jm->lanes[i].state);

		if (j->lanes[i].is_waiting && j->jm->sites[site].class_id != class_id)
			return false;
	}
	return true;
}

/* Nobody is accused yet: starting and ending take as long as file systems and launchers do. */
static bool is_too_early(struct judge *j, enum seg_class class_id)
{
	if (j->verdict->quiet_ns >= stay_limits.edge_ns || !do_all_wait_in(j, class_id))
		return false;
	j->verdict->is_edge = true;
	return true;
}

/* All others wait in MPI_Init, and for long: these have not come there. */
static bool find_late(struct judge *j)
{
	struct verdict *verdict = j->verdict;
	struct rankset *late = proctable_ranks(j->job->proctable);

	if (do_all_wait_in(j, SEG_CLASS_INIT)) {
		rankset_remove_set(late, j->jm->ranks);
		rankset_add_set(verdict->culprits, late);
	}
	rankset_destroy(late);
	if (rankset_is_empty(verdict->culprits))
		return false;
	verdict->kind = VERDICT_COMPUTATION;
	verdict->stay_ns = verdict->quiet_ns;
	verdict->is_hang = verdict->is_new_state = true;
	return true;
}

bool verdict_find_unrecorded(struct judge *j)
{
	struct verdict *verdict = j->verdict;

	if (is_too_early(j, SEG_CLASS_INIT) || find_late(j))
		return true;
	for (size_t r = 0; r < j->stacks->num_ranks; r++) {
		const struct stack_fact *fact = &j->stacks->ranks[r];

		if (!rankset_contains(j->jm->ranks, (int)r) && fact->num_samples > 0 &&
		    fact->num_outside == fact->num_samples)
			rankset_add(verdict->culprits, (int)r);
	}
	if (rankset_is_empty(verdict->culprits))
		return false;
	verdict->kind = VERDICT_COMPUTATION;
	verdict->basis = VERDICT_BY_STACKS;
	return true;
}

bool verdict_find_left(struct judge *j)
{
	bool is_ended;

	if (is_too_early(j, SEG_CLASS_FINALIZE))
		return true;
	for (size_t i = 0; i < j->jm->num_lanes; i++) {
		const struct job_lane *lane = &j->jm->lanes[i];

		j->is_candidate[i] =
			lane->data->is_main && (lane->model->life == SEG_LIFE_FINALIZED ||
						lane->model->life == SEG_LIFE_ABORTED);
	}
	verdict_add_ended(j);
	is_ended = !rankset_is_empty(j->verdict->culprits);
	if (verdict_count_candidates(j) == 0 && !is_ended)
		return false;
	verdict_weigh(j);
	verdict_name_culprits(j, VERDICT_LEFT);
	/* It does not come back; but all may wait for the program's end, as slow as that is. */
	if (is_ended)
		j->verdict->is_hang = j->verdict->is_final =
			j->verdict->quiet_ns >= VERDICT_HANG_NEW_NS;
	return true;
}

static size_t count_groups(const struct judge *j)
{
	bool *is_in = arena_array(j->arena, j->groups->num_groups, sizeof(*is_in));
	size_t num = 0;

	for (size_t i = 0; i < j->jm->num_lanes; i++) {
		bool *is_known = &is_in[j->groups->group_of[i]];

		num += j->is_candidate[i] && !*is_known;
		*is_known |= j->is_candidate[i];
	}
	return num;
}

/* Of the candidates keep the one that took a step that is new to the job, if it is one. */
static bool keep_novel(struct judge *j)
{
	size_t num_lanes = j->jm->num_lanes, num = 0;
	uint32_t *lanes = arena_array(j->arena, num_lanes, sizeof(*lanes)), transition, actor;

	for (size_t i = 0; i < num_lanes; i++)
		if (j->is_candidate[i])
			lanes[num++] = (uint32_t)i;
	actor = verdict_find_novel(j, lanes, num, &transition);
	if (actor == WAITFOR_NONE)
		return false;
	for (size_t i = 0; i < num_lanes; i++)
		j->is_candidate[i] = i == actor;
	verdict_set_novel(j, actor, transition);
	return true;
}

void verdict_find_least(struct judge *j)
{
	size_t num_waiting, num_groups;

	for (size_t i = 0; i < j->jm->num_lanes; i++)
		j->is_candidate[i] = j->lanes[i].is_waiting;
	num_waiting = verdict_count_candidates(j);
	verdict_keep_ends(j);
	if (keep_novel(j))
		;
	else if (verdict_count_candidates(j) < num_waiting)
		verdict_keep_least(j);
	else
		for (size_t i = 0; i < j->jm->num_lanes; i++)
			j->is_candidate[i] &= j->graph->is_least[j->groups->group_of[i]];
	for (size_t i = 0; i < j->jm->num_lanes; i++)
		if (j->is_candidate[i] && !verdict_is_unusual(j, i))
			return;
	verdict_weigh(j);
	if (verdict_count_candidates(j) == 0)
		return;
	num_groups = count_groups(j);
	verdict_name_culprits(j, VERDICT_LEAST);
	if (num_groups > VERDICT_MAX_LEAST_GROUPS || rankset_is_empty(j->verdict->waiting))
		j->verdict->kind = VERDICT_UNDECIDED;
}
