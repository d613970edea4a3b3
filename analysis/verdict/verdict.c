/* SPDX-License-Identifier: BSD-3-Clause
 * The rules, in the order tried:
 *   stopped      a static rank whose process is stopped or gone
 *   mismatch     ranks that call different things as one collective
 *   deadlock     ranks that wait for each other; a message that was never sent, or otherwise than it
 *                is received; a rank in MPI_Finalize that others still wait for
 *   computation  a rank outside MPI, static for longer than ever before, others waiting inside:
 *                it holds them up even when it is not the least progressed (pipelines)
 *   left         a rank that has left MPI, or whose process is gone
 *   helpless     a deadlock that a thread without MPI calls so far might end, and nobody moves
 *   library      all are static and inside, and waits end where nothing is missing
 *   polling      ranks that wait for each other as long as they poll, and one has left out what
 *                others wait for
 *   unsettled    all are static and inside, and it is not known whether messages of anybody are on
 *                their way: who could be meant to send them, and has gone past that
 *   least        all are static and inside: the minimal groups of the order
 * and no verdict where something that others may wait for moves, or does what it always does. */
#include <stdlib.h>
#include <string.h>

#include "analysis/progress/activity.h"
#include "analysis/verdict/verdict_private.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"

/* ---- Facts about lanes ---- */

static void find_longest(const struct job_lane *lane, struct lane_fact *fact)
{
	struct model_stay longest = model_lane_longest(lane->model, lane->data);

	fact->longest_ns = longest.ns;
	fact->is_new = longest.ns == 0 || longest.state != lane->data->state;
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
		fact->stay_ns = activity_stay_ns(lane);
		if (fact->activity == ACTIVITY_ENDED)
			continue;
		fact->is_static = activity_is_static(lane);
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

/* ---- How sure ---- */

bool verdict_is_unusual(const struct judge *j, size_t lane)
{
	const struct lane_fact *fact = &j->lanes[lane];

	return fact->stay_ns >= VERDICT_ACCUSE_NS && fact->stay_ns > fact->longest_ns;
}

static bool is_hang(uint64_t stay_ns, uint64_t longest_ns, bool is_new)
{
	return stay_ns >= (is_new ? VERDICT_HANG_NEW_NS : VERDICT_HANG_NS) &&
	       stay_ns / VERDICT_HANG_RATIO >= longest_ns;
}

/* The shortest present stay of the candidates against the longest earlier one of any of them. */
void verdict_weigh(struct judge *j)
{
	struct verdict *verdict = j->verdict;

	verdict->stay_ns = UINT64_MAX;
	verdict->longest_before_ns = 0;
	verdict->is_new_state = true;
	for (size_t i = 0; i < j->jm->num_lanes; i++) {
		if (!j->is_candidate[i])
			continue;
		if (j->lanes[i].stay_ns < verdict->stay_ns)
			verdict->stay_ns = j->lanes[i].stay_ns;
		if (j->lanes[i].longest_ns > verdict->longest_before_ns)
			verdict->longest_before_ns = j->lanes[i].longest_ns;
		verdict->is_new_state &= j->lanes[i].is_new;
	}
	if (verdict->stay_ns == UINT64_MAX)
		verdict->stay_ns = 0;
	verdict->is_hang =
		is_hang(verdict->stay_ns, verdict->longest_before_ns, verdict->is_new_state);
}

/* ---- Candidates and groups ---- */

size_t verdict_count_candidates(const struct judge *j)
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
void verdict_keep_least(struct judge *j)
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

void verdict_name_culprits(struct judge *j, enum verdict_kind kind)
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

/* ---- The whole ---- */

static void judge_in_order(struct judge *j)
{
	const struct verdict *verdict = j->verdict;

	if (verdict_find_stopped(j) || rankset_is_empty(verdict->waiting))
		return;
	if (verdict_find_mismatch(j) || verdict_find_deadlock(j) || verdict_find_computing(j))
		return;
	if (!rankset_is_empty(verdict->moving) || verdict_find_unrecorded(j) ||
	    verdict_find_left(j))
		return;
	if (!verdict_find_helpless(j) && !verdict_find_library(j) && !verdict_find_polling(j) &&
	    !verdict_find_unsettled(j))
		verdict_find_least(j);
}

static void judge_by_models(struct judge *j)
{
	struct verdict *verdict = j->verdict;

	j->lanes = xcalloc(j->jm->num_lanes, sizeof(*j->lanes));
	j->is_candidate = xcalloc(j->jm->num_lanes, sizeof(*j->is_candidate));
	j->has_waiting = xcalloc(j->jm->num_roles, sizeof(*j->has_waiting));
	find_facts(j);
	judge_in_order(j);
	if (verdict->kind == VERDICT_NONE) {
		verdict->stay_ns = verdict->longest_before_ns = 0;
		verdict->is_new_state = false;
		verdict_find_awaited(j);
		verdict->is_hang = false;
	}
	free(j->has_waiting);
	free(j->is_candidate);
	free(j->lanes);
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
	j.verdict->apart = rankset_create();
	j.verdict->candidates = rankset_create();
	j.verdict->which = j.verdict->lane = j.verdict->need = WAITFOR_NONE;
	j.verdict->novel = UINT32_MAX;
	j.verdict->novel_rank = -1;
	j.verdict->skipped = WAITFOR_NONE;
	if (verdict_find_crashed(&j))
		; /* nobody waits any more */
	else if (j.jm && groups && graph && j.jm->num_lanes > 0)
		judge_by_models(&j);
	else
		verdict_judge_by_stacks(&j);
	verdict_forget_courses(&j);
	stack_facts_destroy(j.stacks);
	return j.verdict;
}

bool verdict_may_be_hang(const struct verdict *verdict)
{
	switch (verdict->kind) {
	case VERDICT_NONE:
	case VERDICT_UNKNOWN:
		return false;
	case VERDICT_COMPUTATION:
		return verdict->is_hang || rankset_is_empty(verdict->moving);
	default:
		return true;
	}
}

void verdict_destroy(struct verdict *verdict)
{
	if (!verdict)
		return;
	rankset_destroy(verdict->culprits);
	rankset_destroy(verdict->waiting);
	rankset_destroy(verdict->moving);
	rankset_destroy(verdict->awaited);
	rankset_destroy(verdict->apart);
	rankset_destroy(verdict->candidates);
	verdict_drop_queue_cause(verdict);
	free(verdict->culprit_groups);
	free(verdict);
}
