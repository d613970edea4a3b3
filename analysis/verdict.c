/* SPDX-License-Identifier: BSD-3-Clause
 * The rules, in the order tried:
 *   stopped      a static rank whose process is stopped or gone
 *   computation  a rank outside MPI, static for longer than ever before, others waiting inside:
 *                it holds them up even when it is not the least progressed (pipelines)
 *   left         a rank that has left MPI, or whose process is gone
 *   least        all are static and inside: the minimal groups of the order
 * and no verdict where something that others may wait for moves, or does what it always does. */
#include <stdlib.h>
#include <string.h>

#include "analysis/activity.h"
#include "analysis/stack_facts.h"
#include "analysis/verdict.h"
#include "model/job.h"
#include "model/job_model.h"
#include "model/model.h"
#include "model/rankset.h"
#include "model/sample.h"
#include "model/xalloc.h"

static const uint64_t ms = 1000000;

/* With one look, a rank without a transition for this long is called static. */
#define STATIC_NS (200 * ms)
/* Nobody is accused for less: such pauses are everywhere. */
#define ACCUSE_NS (500 * ms)
/* A hang: this much longer than the longest stay before, and in any case longer than this; a place
 * where it never was before may be a long phase that comes once. */
#define HANG_RATIO 10
#define HANG_NS (1000 * ms)
#define HANG_NEW_NS (3000 * ms)
/* More groups of least progress than this: the order has not picked anybody. */
#define MAX_LEAST_GROUPS 3

struct lane_fact {
	enum activity activity;
	bool is_static;
	bool is_waiting; /* static inside MPI, or polling */
	uint64_t longest_ns;
	bool is_new; /* longest_ns is that of other states: it never left this one before */
};

struct judge {
	const struct job *job;
	const struct job_model *jm;
	const struct eqgroups *groups;
	const struct progress_graph *graph;
	const struct waitfor *waitfor;
	struct stack_facts *stacks;
	struct lane_fact *lanes;
	bool *has_waiting; /* [roles] */
	bool *is_candidate; /* [lanes] */
	struct verdict *verdict;
};

/* ---- Facts about lanes ------------------------------------------------------------------------ */

static bool is_static(const struct job_lane *lane)
{
	return lane->has_second_look ? !lane->has_moved : lane->stay_ns >= STATIC_NS;
}

static void find_longest(const struct job_lane *lane, struct lane_fact *fact)
{
	uint32_t state = lane->data->state;

	fact->longest_ns = lane->data->longest_ns[state];
	fact->is_new = fact->longest_ns == 0;
	for (size_t s = state & 1; fact->is_new && s < 2 * lane->model->num_sites; s += 2)
		if (lane->data->longest_ns[s] > fact->longest_ns)
			fact->longest_ns = lane->data->longest_ns[s];
}

static void find_facts(struct judge *j)
{
	struct verdict *verdict = j->verdict;
	bool is_quiet = true;

	verdict->quiet_ns = UINT64_MAX;
	for (size_t i = 0; i < j->jm->num_lanes; i++) {
		const struct job_lane *lane = &j->jm->lanes[i];
		struct lane_fact *fact = &j->lanes[i];

		fact->activity = activity_of_lane(lane);
		if (fact->activity == ACTIVITY_ENDED)
			continue;
		fact->is_static = is_static(lane);
		fact->is_waiting = fact->is_static && fact->activity != ACTIVITY_COMPUTING;
		find_longest(lane, fact);
		if (fact->is_waiting) {
			j->has_waiting[lane->role] = true;
			rankset_add(verdict->waiting, lane->rank);
		}
		if (!fact->is_static)
			rankset_add(verdict->moving, lane->rank);
		is_quiet &= !(lane->has_second_look && lane->has_moved);
		if (lane->stay_ns < verdict->quiet_ns)
			verdict->quiet_ns = lane->stay_ns;
	}
	if (!is_quiet || verdict->quiet_ns == UINT64_MAX)
		verdict->quiet_ns = 0;
	rankset_remove_set(verdict->waiting, verdict->moving);
}

/* ---- How sure --------------------------------------------------------------------------------- */

static bool is_unusual(const struct judge *j, size_t lane)
{
	uint64_t stay = j->jm->lanes[lane].stay_ns;

	return stay >= ACCUSE_NS && stay > j->lanes[lane].longest_ns;
}

static bool is_hang(uint64_t stay_ns, uint64_t longest_ns, bool is_new)
{
	return stay_ns >= (is_new ? HANG_NEW_NS : HANG_NS) && stay_ns / HANG_RATIO >= longest_ns;
}

/* The shortest present stay of the candidates against the longest earlier one of any of them. */
static void weigh(struct judge *j)
{
	struct verdict *verdict = j->verdict;

	verdict->stay_ns = UINT64_MAX;
	verdict->longest_before_ns = 0;
	verdict->is_new_state = true;
	for (size_t i = 0; i < j->jm->num_lanes; i++) {
		if (!j->is_candidate[i])
			continue;
		if (j->jm->lanes[i].stay_ns < verdict->stay_ns)
			verdict->stay_ns = j->jm->lanes[i].stay_ns;
		if (j->lanes[i].longest_ns > verdict->longest_before_ns)
			verdict->longest_before_ns = j->lanes[i].longest_ns;
		verdict->is_new_state &= j->lanes[i].is_new;
	}
	if (verdict->stay_ns == UINT64_MAX)
		verdict->stay_ns = 0;
	verdict->is_hang = is_hang(verdict->stay_ns, verdict->longest_before_ns,
				   verdict->is_new_state);
}

/* ---- Candidates and groups -------------------------------------------------------------------- */

static size_t count_candidates(const struct judge *j)
{
	size_t num = 0;

	for (size_t i = 0; i < j->jm->num_lanes; i++)
		num += j->is_candidate[i];
	return num;
}

/* Groups from which edges lead to a candidate group have somebody behind them. */
static void mark_beyond(const struct judge *j, const bool *is_in, bool *is_beyond)
{
	bool has_changed = true;

	/* Edges lead from more to less progressed: few rounds, whatever their order. */
	while (has_changed) {
		has_changed = false;
		for (size_t e = 0; e < j->graph->num_edges; e++) {
			const struct progress_edge *edge = &j->graph->edges[e];

			if (is_beyond[edge->from] || (!is_in[edge->to] && !is_beyond[edge->to]))
				continue;
			is_beyond[edge->from] = true;
			has_changed = true;
		}
	}
}

/* Of the candidates keep those in groups that have no other candidates behind them. */
static void keep_least(struct judge *j)
{
	size_t num = j->groups->num_groups;
	bool *is_in = xcalloc(num, sizeof(*is_in));
	bool *is_beyond = xcalloc(num, sizeof(*is_beyond));

	for (size_t i = 0; i < j->jm->num_lanes; i++)
		is_in[j->groups->group_of[i]] |= j->is_candidate[i];
	mark_beyond(j, is_in, is_beyond);
	for (size_t i = 0; i < j->jm->num_lanes; i++)
		j->is_candidate[i] &= !is_beyond[j->groups->group_of[i]];
	free(is_beyond);
	free(is_in);
}

static bool uses_totals(const struct place *place)
{
	for (size_t i = 0; i < place->num_iterations; i++)
		if (place->iterations[i].is_approximate)
			return true;
	return false;
}

static void name_culprits(struct judge *j, enum verdict_kind kind)
{
	struct verdict *verdict = j->verdict;
	const struct eqgroups *groups = j->groups;
	bool *is_in = xcalloc(groups->num_groups, sizeof(*is_in));

	verdict->kind = kind;
	for (size_t i = 0; i < j->jm->num_lanes; i++) {
		if (!j->is_candidate[i])
			continue;
		rankset_add(verdict->culprits, j->jm->lanes[i].rank);
		is_in[groups->group_of[i]] = true;
	}
	verdict->culprit_groups = xcalloc(groups->num_groups, sizeof(uint32_t));
	for (int least = 1; least >= 0; least--)
		for (uint32_t g = 0; g < groups->num_groups; g++)
			if (is_in[g] && j->graph->is_least[g] == (bool)least) {
				verdict->culprit_groups[verdict->num_culprit_groups++] = g;
				verdict->is_approximate |= uses_totals(groups->groups[g].place);
			}
	rankset_remove_set(verdict->waiting, verdict->culprits);
	free(is_in);
}

/* ---- The rules -------------------------------------------------------------------------------- */

static bool find_stopped(struct judge *j)
{
	bool is_certain = true;

	for (size_t i = 0; i < j->jm->num_lanes; i++) {
		const struct stack_fact *fact =
			stack_facts_get(j->stacks, j->jm->lanes[i].rank);

		j->is_candidate[i] =
			j->lanes[i].is_static &&
			(fact->is_stopped || (fact->is_uninterruptible && is_unusual(j, i)));
		is_certain &= !j->is_candidate[i] || fact->is_stopped;
	}
	if (count_candidates(j) == 0)
		return false;
	weigh(j);
	name_culprits(j, VERDICT_STOPPED);
	/* A stopped process does not go on by itself, however long its stays were before. */
	if (is_certain)
		j->verdict->is_hang = j->verdict->stay_ns >= HANG_NS;
	/* When all are stopped it was somebody's will. */
	if (rankset_is_empty(j->verdict->waiting))
		j->verdict->is_hang = false;
	return true;
}

/* Has the rank another lane of this kind? */
static bool has_sibling(const struct judge *j, size_t lane,
			bool (*is_kind)(const struct judge *j, size_t lane))
{
	const struct job_lane *lanes = j->jm->lanes;
	size_t i = lane;

	while (i > 0 && lanes[i - 1].rank == lanes[lane].rank)
		i--;
	for (; i < j->jm->num_lanes && lanes[i].rank == lanes[lane].rank; i++)
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
				     (of_role ? j->has_waiting[j->jm->lanes[i].role] :
						!has_sibling(j, i, is_waiting));
}

static bool may_be_parent(const struct judge *j, size_t lane)
{
	return j->jm->lanes[lane].data->is_main && (has_sibling(j, lane, is_waiting) ||
						    has_sibling(j, lane, is_other_candidate));
}

/* A main thread may wait for the other threads of its rank, where there is no stack to tell: it is
 * meant only if there is no better candidate. */
static void drop_parents(struct judge *j)
{
	size_t num_others = 0;

	for (size_t i = 0; i < j->jm->num_lanes; i++)
		num_others += j->is_candidate[i] && !may_be_parent(j, i);
	for (size_t i = 0; num_others > 0 && i < j->jm->num_lanes; i++)
		if (j->is_candidate[i] && may_be_parent(j, i))
			j->is_candidate[i] = false;
}

/* True if there was somebody outside, whether accused or not. */
static bool find_computing(struct judge *j)
{
	size_t num_outside;
	bool is_common;

	find_outside(j, true);
	if (count_candidates(j) == 0)
		find_outside(j, false);
	num_outside = count_candidates(j);
	drop_parents(j);
	for (size_t i = 0; i < j->jm->num_lanes; i++)
		j->is_candidate[i] &= is_unusual(j, i);
	if (count_candidates(j) == 0)
		return num_outside > 0;
	is_common = count_candidates(j) * 2 > j->jm->num_lanes;
	keep_least(j);
	weigh(j);
	/* When most ranks are where they never were before, that is the course of the program. */
	if (is_common && j->verdict->is_new_state)
		j->verdict->is_hang = false;
	/* While others move, it takes more to say that this one does not. */
	if (j->verdict->is_hang || rankset_is_empty(j->verdict->moving))
		name_culprits(j, VERDICT_COMPUTATION);
	return true;
}

/* Ranks without a model, by their stacks. */
static bool find_unrecorded(struct judge *j)
{
	struct verdict *verdict = j->verdict;

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

/* Of a process that is gone there is no model and no stack. */
static void add_ended(struct judge *j)
{
	for (size_t i = 0; i < j->job->num_holes; i++)
		if (strcmp(j->job->holes[i].why, JOB_HOLE_ENDED) == 0)
			rankset_add(j->verdict->culprits, j->job->holes[i].rank);
}

static bool find_left(struct judge *j)
{
	bool is_ended;

	for (size_t i = 0; i < j->jm->num_lanes; i++) {
		const struct job_lane *lane = &j->jm->lanes[i];

		j->is_candidate[i] = lane->data->is_main &&
				     (lane->model->life == SEG_LIFE_FINALIZED ||
				      lane->model->life == SEG_LIFE_ABORTED);
	}
	add_ended(j);
	is_ended = !rankset_is_empty(j->verdict->culprits);
	if (count_candidates(j) == 0 && !is_ended)
		return false;
	weigh(j);
	name_culprits(j, VERDICT_LEFT);
	/* It does not come back; but what all wait for may be the end of the program, as slow as
	 * that may be. */
	if (is_ended)
		j->verdict->is_hang = j->verdict->quiet_ns >= HANG_NEW_NS;
	return true;
}

/* All are static and inside. */
static void find_least(struct judge *j)
{
	size_t num_groups = 0;

	for (size_t i = 0; i < j->jm->num_lanes; i++)
		j->is_candidate[i] = j->lanes[i].is_waiting &&
				     j->graph->is_least[j->groups->group_of[i]];
	for (size_t i = 0; i < j->jm->num_lanes; i++)
		if (j->is_candidate[i] && !is_unusual(j, i))
			return;
	weigh(j);
	if (count_candidates(j) == 0)
		return;
	for (size_t g = 0; g < j->groups->num_groups; g++)
		num_groups += j->graph->is_least[g];
	name_culprits(j, VERDICT_LEAST);
	if (num_groups > MAX_LEAST_GROUPS || rankset_is_empty(j->verdict->waiting))
		j->verdict->kind = VERDICT_UNDECIDED;
}

static void judge_by_models(struct judge *j)
{
	struct verdict *verdict = j->verdict;

	j->lanes = xcalloc(j->jm->num_lanes, sizeof(*j->lanes));
	j->is_candidate = xcalloc(j->jm->num_lanes, sizeof(*j->is_candidate));
	j->has_waiting = xcalloc(j->jm->num_roles, sizeof(*j->has_waiting));
	find_facts(j);
	if (!find_stopped(j) && !rankset_is_empty(verdict->waiting) && !find_computing(j) &&
	    rankset_is_empty(verdict->moving) && !find_unrecorded(j) && !find_left(j))
		find_least(j);
	if (verdict->kind == VERDICT_NONE) {
		verdict->is_hang = false;
		verdict->stay_ns = verdict->longest_before_ns = 0;
		verdict->is_new_state = false;
	}
	free(j->has_waiting);
	free(j->is_candidate);
	free(j->lanes);
}

/* ---- By stacks alone -------------------------------------------------------------------------- */

static void judge_by_stacks(struct judge *j)
{
	struct verdict *verdict = j->verdict;
	struct rankset *stopped = rankset_create();
	size_t num = 0, num_outside = 0;
	uint64_t shortest_ns = UINT64_MAX;
	bool is_quiet;

	verdict->basis = VERDICT_BY_STACKS;
	for (size_t r = 0; r < j->stacks->num_ranks; r++) {
		const struct stack_fact *fact = &j->stacks->ranks[r];

		if (fact->latest && fact->is_stopped)
			rankset_add(stopped, (int)r);
		if (fact->num_samples == 0)
			continue;
		num++;
		if (fact->span_ns < shortest_ns)
			shortest_ns = fact->span_ns;
		if (fact->num_outside == fact->num_samples) {
			num_outside++;
			rankset_add(verdict->culprits, (int)r);
		} else if (fact->num_outside == 0 && !fact->has_moved) {
			rankset_add(verdict->waiting, (int)r);
		} else {
			rankset_add(verdict->moving, (int)r);
		}
	}
	if (!rankset_is_empty(stopped)) {
		rankset_remove_set(verdict->waiting, stopped);
		rankset_destroy(verdict->culprits);
		verdict->culprits = stopped;
		verdict->kind = VERDICT_STOPPED;
		return;
	}
	rankset_destroy(stopped);
	is_quiet = rankset_is_empty(verdict->moving);
	if (num_outside > 0 && num_outside * 2 < num && is_quiet) {
		verdict->kind = VERDICT_COMPUTATION;
		verdict->stay_ns = shortest_ns;
		verdict->is_hang = shortest_ns >= HANG_NEW_NS;
		return;
	}
	verdict->kind = num_outside > 0 || !is_quiet ? VERDICT_NONE : VERDICT_UNKNOWN;
	rankset_destroy(verdict->culprits);
	verdict->culprits = rankset_create();
	if (verdict->kind != VERDICT_UNKNOWN || rankset_is_empty(verdict->waiting))
		return;
	add_ended(j);
	if (!rankset_is_empty(verdict->culprits))
		verdict->kind = VERDICT_LEFT;
}

struct verdict *verdict_create(const struct job *job, const struct eqgroups *groups,
			       const struct progress_graph *graph, const struct waitfor *waitfor)
{
	struct judge j = {
		.job = job,
		.jm = job->model,
		.groups = groups,
		.graph = graph,
		.waitfor = waitfor,
		.stacks = stack_facts_create(job),
		.verdict = xcalloc(1, sizeof(struct verdict)),
	};

	j.verdict->culprits = rankset_create();
	j.verdict->waiting = rankset_create();
	j.verdict->moving = rankset_create();
	j.verdict->awaited = rankset_create();
	j.verdict->which = j.verdict->lane = j.verdict->need = WAITFOR_NONE;
	j.verdict->novel = UINT32_MAX;
	j.verdict->novel_rank = -1;
	if (j.jm && groups && graph && j.jm->num_lanes > 0)
		judge_by_models(&j);
	else
		judge_by_stacks(&j);
	stack_facts_destroy(j.stacks);
	return j.verdict;
}

void verdict_destroy(struct verdict *verdict)
{
	if (!verdict)
		return;
	rankset_destroy(verdict->culprits);
	rankset_destroy(verdict->waiting);
	rankset_destroy(verdict->moving);
	rankset_destroy(verdict->awaited);
	free(verdict->culprit_groups);
	free(verdict);
}
