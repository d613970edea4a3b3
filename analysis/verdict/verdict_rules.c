/* SPDX-License-Identifier: BSD-3-Clause
 * The rules that go by what ranks do, without knowing what they wait for. */
#include <signal.h>

#include "analysis/evidence/thread_wait.h"
#include "analysis/stacks/temporal.h"
#include "analysis/verdict/verdict_private.h"
#include "model/job/callpath.h"
#include "model/job/proctable.h"
#include "model/job/sample.h"

bool verdict_find_crashed(struct judge *j)
{
	struct rankset *aborts = rankset_in(j->arena, rankset_create());
	struct verdict *verdict = j->verdict;

	for (size_t i = 0; i < j->job->num_crashes; i++) {
		const struct job_crash *crash = &j->job->crashes[i];

		if (crash->is_fault)
			rankset_add(verdict->culprits, crash->rank);
		else if (crash->signal == SIGABRT && !crash->is_sent)
			rankset_add(aborts, crash->rank);
	}
	if (rankset_is_empty(verdict->culprits))
		rankset_add_set(verdict->culprits, aborts);
	if (rankset_is_empty(verdict->culprits))
		return false;
	verdict->kind = VERDICT_CRASHED;
	verdict->basis = VERDICT_BY_STACKS;
	verdict->is_hang = verdict->is_final = true;
	return true;
}

/* Without a recorder it is not known for how long. But if nobody else does anything, who stands
 * still is what the others wait for. */
static bool are_all_others_waiting(const struct judge *j)
{
	for (size_t i = 0; i < j->num_actors; i++)
		if (!j->is_candidate[i] && !j->facts[i].is_waiting)
			return false;
	return !rankset_is_empty(j->verdict->waiting);
}

bool verdict_find_stopped(struct judge *j)
{
	bool is_certain = true, is_traced = false;

	for (size_t i = 0; i < j->num_actors; i++) {
		const struct stack_fact *fact = j->actors[i].stack;

		j->is_candidate[i] = j->facts[i].is_static &&
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
		j->verdict->is_hang = j->verdict->stay_ns >= thresholds.hang_ns;
	/* When all are stopped it was somebody's will. */
	if (rankset_is_empty(j->verdict->waiting))
		j->verdict->is_hang = false;
	j->verdict->is_final =
		is_certain && !is_traced &&
		(j->evidence->num_lanes ? j->verdict->is_hang : are_all_others_waiting(j));
	return true;
}

static const struct sample *sample_of(const struct judge *j, size_t i)
{
	const struct actor *actor = &j->actors[i];

	return actor->is_main ? actor->stack->latest
			      : samples_find(j->job->samples, actor->rank, actor->lane->data->tid);
}

/* The code that a signal's handler has interrupted holds the lock that the handler wants. However
 * short that is ago, none of the two ever goes on. Without a handler another thread might release
 * what it does not hold, as some programs do. */
static bool is_locked_by_itself(const struct judge *j, size_t i)
{
	const struct thread_wait wait = thread_wait_of(j->job, sample_of(j, i));

	return wait.is_own && !wait.is_timed && wait.interrupted != CALLPATH_NONE;
}

bool verdict_find_own_lock(struct judge *j)
{
	if (!rankset_is_empty(j->verdict->moving))
		return false;
	for (size_t i = 0; i < j->num_actors; i++)
		j->is_candidate[i] = j->facts[i].is_static &&
				     j->actors[i].activity == ACTIVITY_COMPUTING &&
				     is_locked_by_itself(j, i);
	if (verdict_count_candidates(j) == 0)
		return false;
	verdict_weigh(j);
	verdict_name_culprits(j, VERDICT_COMPUTATION);
	j->verdict->is_hang = j->verdict->is_final = true;
	return true;
}

/* Has the rank another lane of this kind? */
static bool has_sibling(const struct judge *j, size_t lane,
			bool (*is_kind)(const struct judge *j, size_t lane))
{
	const struct rank_actors *of = &j->evidence->ranks[j->actors[lane].rank];

	for (size_t i = of->first; i < of->first + of->num; i++)
		if (i != lane && is_kind(j, i))
			return true;
	return false;
}

static bool is_waiting(const struct judge *j, size_t lane)
{
	return j->facts[lane].is_waiting;
}

static bool is_alive(const struct judge *j, size_t lane)
{
	return j->actors[lane].activity != ACTIVITY_ENDED;
}

static bool is_other_candidate(const struct judge *j, size_t lane)
{
	return j->is_candidate[lane];
}

static bool is_static_outside(const struct judge *j, size_t lane)
{
	return j->actors[lane].activity == ACTIVITY_COMPUTING;
}

static bool waits_for_threads(const struct judge *j, size_t i)
{
	const struct actor *actor = &j->actors[i];
	enum thread_wait_lead lead;

	if (actor->is_main)
		return stack_facts_waits_for_threads(j->evidence->stacks, j->job, actor->rank);
	lead = thread_wait_leads(j->job, sample_of(j, i));
	return lead == THREAD_WAIT_LEADS_TO_MPI || lead == THREAD_WAIT_LEADS_ON;
}

/* If all threads wait so, nobody is left who could end that. */
static bool does_something_else(const struct judge *j, size_t lane)
{
	return is_alive(j, lane) && !(is_static_outside(j, lane) && waits_for_threads(j, lane));
}

/* Outside MPI, but waiting for threads of the same rank that call MPI. */
static bool waits_for_own_threads(const struct judge *j, size_t i)
{
	return has_sibling(j, i, does_something_else) && waits_for_threads(j, i);
}

/* Lanes outside MPI whose like wait inside; of_role false: whose like are all outside. */
static void find_outside(struct judge *j, bool of_role)
{
	for (size_t i = 0; i < j->num_actors; i++)
		j->is_candidate[i] = is_static_outside(j, i) && !waits_for_own_threads(j, i) &&
				     (of_role ? j->has_waiting[j->facts[i].role]
					      : !has_sibling(j, i, is_waiting));
}

static bool may_be_parent(const struct judge *j, size_t lane)
{
	return j->actors[lane].is_main &&
	       (has_sibling(j, lane, is_waiting) || has_sibling(j, lane, is_other_candidate));
}

/* A main thread may wait for its other threads, without a stack to tell: others go first. */
static void drop_parents(struct judge *j)
{
	size_t num_others = 0;

	for (size_t i = 0; i < j->num_actors; i++)
		num_others += j->is_candidate[i] && !may_be_parent(j, i);
	for (size_t i = 0; num_others > 0 && i < j->num_actors; i++)
		if (j->is_candidate[i] && may_be_parent(j, i))
			j->is_candidate[i] = false;
}

/* Could all who wait get on by what other ranks than those of the candidates have still to send? */
static bool can_do_without(const struct judge *j)
{
	bool *is_held = arena_array(j->arena, j->num_actors, sizeof(*is_held));

	for (size_t i = 0; i < j->num_actors; i++)
		is_held[i] = j->is_candidate[i] || has_sibling(j, i, is_other_candidate);
	return j->waitfor && waitfor_can_do_without(j->waitfor, is_held);
}

/* A hang even though others move, as those who are given work one by one may for long? A step may
 * well take ten times as long as all that the program has done there before. */
static bool is_hang_beside_moving(const struct verdict *verdict)
{
	return verdict->stay_ns >= thresholds.moving_ns &&
	       verdict->stay_ns / thresholds.moving_ratio >= verdict->longest_before_ns;
}

/* ---- The order of stacks ---- */

/* Groups with candidates that no other such group is before. */
struct least {
	struct rankset *ranks;
	size_t num_groups;
	bool is_known; /* all iterations that they are in */
};

static bool is_least(const struct temporal_result *order, const bool *is_in, size_t group)
{
	for (size_t i = 0; i < order->num_groups; i++)
		if (is_in[i] && temporal_order_of(order, i, group, NULL) == TEMPORAL_BEFORE)
			return false;
	return true;
}

static struct least find_least(const struct judge *j)
{
	const struct temporal_result *order = j->order;
	struct least least = {.ranks = rankset_in(j->arena, rankset_create()), .is_known = true};
	bool *is_in = arena_array(j->arena, order->num_groups, sizeof(*is_in));

	for (size_t i = 0; i < j->num_actors; i++) {
		uint32_t group = j->order_group[j->actors[i].rank];

		if (j->is_candidate[i] && group != UINT32_MAX)
			is_in[group] = true;
	}
	for (size_t i = 0; i < order->num_groups; i++) {
		if (!is_in[i] || !is_least(order, is_in, i))
			continue;
		rankset_add_set(least.ranks, order->groups[i].ranks);
		least.num_groups++;
		least.is_known &= temporal_is_known(order, i);
	}
	return least;
}

/* Those of the candidates; how many they are. */
static int add_ranks(const struct judge *j, struct rankset *ranks)
{
	for (size_t i = 0; i < j->num_actors; i++)
		if (j->is_candidate[i])
			rankset_add(ranks, j->actors[i].rank);
	return rankset_count(ranks);
}

/* Of the candidates keep those that are first in the order of stacks; false: it tells nothing of
 * them, or not enough. */
static bool keep_first_by_stacks(struct judge *j, struct least *ret)
{
	struct rankset *compared = j->verdict->compared;
	int num_before = add_ranks(j, compared);

	if (!j->order)
		return false;
	*ret = find_least(j);
	if (rankset_is_empty(ret->ranks) || rankset_count(ret->ranks) == num_before)
		return false;
	for (size_t i = 0; i < j->num_actors; i++)
		j->is_candidate[i] &= rankset_contains(ret->ranks, j->actors[i].rank);
	return true;
}

static bool has_unrecorded(const struct judge *j)
{
	for (size_t i = j->evidence->num_lanes; i < j->num_actors; i++)
		if (j->is_candidate[i])
			return true;
	return false;
}

/* How long a rank without a recorder usually stays is not known. But have all that wait, and have a
 * recorder, waited as long before? */
static bool are_waits_usual(const struct judge *j)
{
	size_t num = 0;

	for (size_t i = 0; i < j->evidence->num_lanes; i++) {
		if (!j->facts[i].is_waiting)
			continue;
		if (verdict_is_unusual(j, i))
			return false;
		num++;
	}
	return num > 0;
}

/* Outside MPI, half of the ranks or more are no exception, unless the order tells some apart. */
static bool are_few(struct judge *j)
{
	struct least least;

	if (2 * verdict_count_candidates(j) < j->num_actors || !has_unrecorded(j))
		return true;
	if (!keep_first_by_stacks(j, &least) || 2 * verdict_count_candidates(j) >= j->num_actors)
		return false;
	j->verdict->is_by_order = true;
	return true;
}

/* ---- Start and end ---- */

static bool is_in(const struct judge *j, size_t i, enum seg_class class_id)
{
	const struct actor *actor = &j->actors[i];

	if (class_id == SEG_CLASS_FINALIZE)
		return actor_is_finalizing(actor, j->job);
	return actor->lane ? j->jm->sites[SEG_STATE_SITE(actor->lane->state)].class_id == class_id
			   : actor->stack->is_initializing;
}

/* Do all who wait do so in calls of this class? */
static bool do_all_wait_in(const struct judge *j, enum seg_class class_id)
{
	for (size_t i = 0; i < j->num_actors; i++)
		if (j->facts[i].is_waiting && !is_in(j, i, class_id))
			return false;
	return true;
}

/* All others are in MPI_Init, and for so long: these have not come there. */
static bool find_late(struct judge *j, uint64_t stay_ns)
{
	struct verdict *verdict = j->verdict;
	struct rankset *late = rankset_in(j->arena, proctable_ranks(j->job->proctable));

	rankset_remove_set(late, verdict->waiting);
	rankset_remove_set(late, verdict->moving);
	for (size_t i = 0; i < j->num_actors; i++)
		j->is_candidate[i] = rankset_contains(late, j->actors[i].rank);
	if (rankset_is_empty(late))
		return false;
	verdict_name_culprits(j, VERDICT_COMPUTATION);
	rankset_add_set(verdict->culprits, late);
	verdict->stay_ns = stay_ns;
	verdict->is_hang = verdict->is_new_state = verdict->is_edge = true;
	return true;
}

bool verdict_find_edge(struct judge *j)
{
	bool is_start = do_all_wait_in(j, SEG_CLASS_INIT);
	uint64_t stay_ns = j->verdict->quiet_ns;

	if (!is_start && !do_all_wait_in(j, SEG_CLASS_FINALIZE))
		return false;
	/* By stacks: it has been starting for as long as it has run. */
	if (is_start && j->evidence->num_lanes == 0 && rankset_is_empty(j->verdict->moving))
		stay_ns = j->age_ns;
	if (stay_ns >= thresholds.edge_ns)
		return is_start && find_late(j, stay_ns);
	j->verdict->is_edge = true;
	return true;
}

/* ---- Outside MPI ---- */

static bool do_most_wait(const struct judge *j)
{
	return 2 * (size_t)rankset_count(j->verdict->waiting) > j->evidence->num_ranks;
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
	for (size_t i = 0; i < j->num_actors; i++)
		j->is_candidate[i] &= verdict_is_unusual(j, i);
	if (has_unrecorded(j))
		verdict_keep_awaited(j);
	if (verdict_count_candidates(j) == 0 || !are_few(j) ||
	    (has_unrecorded(j) && are_waits_usual(j)))
		return num_outside > 0;
	is_common = verdict_count_candidates(j) * 2 > j->num_actors;
	verdict_keep_awaited(j);
	verdict_keep_least(j);
	verdict_weigh(j);
	/* When most ranks are where they never were before, that is the course of the program. */
	if ((is_common && j->verdict->is_new_state) || (j->verdict->is_hang && can_do_without(j)))
		j->verdict->is_hang = false;
	are_moving = !rankset_is_empty(j->verdict->moving);
	/* Without a recorder it is not known whether they have been inside MPI meanwhile. So it is
	 * no certain hang then, and is told only if most wait. */
	if (!are_moving || (has_unrecorded(j) ? do_most_wait(j) : j->verdict->is_hang))
		verdict_name_culprits(j, VERDICT_COMPUTATION);
	j->verdict->is_hang &=
		!are_moving || (!has_unrecorded(j) && is_hang_beside_moving(j->verdict));
	return true;
}

bool verdict_find_left(struct judge *j)
{
	bool is_ended;

	for (size_t i = 0; i < j->num_actors; i++) {
		const struct job_lane *lane = j->actors[i].lane;

		j->is_candidate[i] = lane && j->actors[i].is_main &&
				     (lane->model->life == SEG_LIFE_FINALIZED ||
				      lane->model->life == SEG_LIFE_ABORTED);
	}
	/* Of a process that is gone there is no model and no stack. */
	rankset_add_set(j->verdict->culprits, j->evidence->ended);
	is_ended = !rankset_is_empty(j->verdict->culprits);
	if (verdict_count_candidates(j) == 0 && !is_ended)
		return false;
	verdict_weigh(j);
	verdict_name_culprits(j, VERDICT_LEFT);
	/* It does not come back; but all may wait for the program's end, as slow as that is. */
	if (is_ended) {
		j->verdict->is_hang = j->verdict->quiet_ns >= thresholds.new_ns;
		/* How long nobody has moved is not known without a recorder. */
		j->verdict->is_final = j->verdict->is_hang || j->evidence->num_lanes == 0;
	}
	return true;
}

static size_t count_groups(const struct judge *j)
{
	bool *is_in = arena_array(j->arena, j->groups->num_groups, sizeof(*is_in));
	size_t num = 0;

	for (size_t i = 0; i < j->evidence->num_lanes; i++) {
		bool *is_known = &is_in[j->groups->group_of[i]];

		num += j->is_candidate[i] && !*is_known;
		*is_known |= j->is_candidate[i];
	}
	return num;
}

/* Of the candidates keep the one that took a step that is new to the job, if it is one. */
static bool keep_novel(struct judge *j)
{
	size_t num_lanes = j->num_actors, num = 0;
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

/* Of ranks that have no recorder. */
static bool find_least_by_stacks(struct judge *j)
{
	struct verdict *verdict = j->verdict;
	struct least least;

	if (!keep_first_by_stacks(j, &least) || least.num_groups > thresholds.least_groups) {
		verdict->kind = VERDICT_UNKNOWN;
		verdict->basis = VERDICT_BY_STACKS;
		verdict_find_apart(j, verdict->waiting, verdict->apart);
		return true;
	}
	verdict_weigh(j);
	verdict_name_culprits(j, least.num_groups == 1 ? VERDICT_LEAST : VERDICT_UNDECIDED);
	verdict->is_by_order = true;
	verdict->is_hang &= least.is_known;
	return true;
}

bool verdict_find_least(struct judge *j)
{
	size_t num_waiting, num_groups;
	bool is_novel;

	for (size_t i = 0; i < j->num_actors; i++)
		j->is_candidate[i] = j->facts[i].is_waiting;
	num_waiting = verdict_count_candidates(j);
	verdict_keep_ends(j);
	is_novel = keep_novel(j);
	if (!is_novel && has_unrecorded(j))
		return find_least_by_stacks(j);
	if (!is_novel && verdict_count_candidates(j) < num_waiting)
		verdict_keep_least(j);
	else if (!is_novel)
		for (size_t i = 0; i < j->evidence->num_lanes; i++)
			j->is_candidate[i] &= j->graph->is_least[j->groups->group_of[i]];
	for (size_t i = 0; i < j->num_actors; i++)
		if (j->is_candidate[i] && !verdict_is_unusual(j, i))
			return true;
	verdict_weigh(j);
	if (verdict_count_candidates(j) == 0)
		return true;
	num_groups = count_groups(j);
	verdict_name_culprits(j, VERDICT_LEAST);
	if (num_groups > thresholds.least_groups || rankset_is_empty(j->verdict->waiting))
		j->verdict->kind = VERDICT_UNDECIDED;
	return true;
}
