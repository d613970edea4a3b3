/* SPDX-License-Identifier: BSD-3-Clause
 * The rules, in the order tried:
 *   stopped      a static rank whose process is stopped or gone
 *   mismatch     ranks that call different things as one collective
 *   deadlock     ranks that wait for each other; a message that was not sent, or not as it is
 *                received; a rank in MPI_Finalize that others still wait for
 *   computation  a rank outside MPI, static for longer than ever before, others waiting inside:
 *                it holds them up even when it is not the least progressed (pipelines)
 *   left         a rank that has left MPI, or whose process is gone
 *   helpless     a deadlock that a thread without MPI calls so far might end, and nobody moves
 *   library      all are static and inside, and waits end where nothing is missing
 *   polling      ranks that wait for each other as long as they poll, one having left something out
 *   unsettled    all are static and inside, perhaps without messages of anybody on their way: who
 *                could be meant to send them, and has gone past that
 *   least        all are static and inside: the minimal groups of the order
 * and no verdict where something that others may wait for moves, or does what it always does. */
#include "analysis/progress/eqgroup.h"
#include "analysis/verdict/verdict_private.h"

static void find_facts(struct judge *j)
{
	struct verdict *verdict = j->verdict;
	struct stays *stays = stays_create(j->arena, j->jm, j->groups->progress);
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
		if (fact->is_static)
			fact->usual = stays_judge(stays, i);
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

	j->lanes = arena_array(j->arena, j->jm->num_lanes, sizeof(*j->lanes));
	j->is_candidate = arena_array(j->arena, j->jm->num_lanes, sizeof(*j->is_candidate));
	j->has_waiting = arena_array(j->arena, j->jm->num_roles, sizeof(*j->has_waiting));
	find_facts(j);
	judge_in_order(j);
	if (verdict->kind == VERDICT_NONE) {
		verdict->stay_ns = verdict->longest_before_ns = 0;
		verdict->needed_ns = verdict->end_ns = 0;
		verdict->is_new_state = false;
		verdict_find_awaited(j);
		verdict->is_hang = false;
	}
}

static struct verdict *make_verdict(void)
{
	struct arena *arena = arena_create();
	struct verdict *verdict = arena_alloc(arena, sizeof(*verdict));

	*verdict = (struct verdict){
		.arena = arena,
		.culprits = rankset_in(arena, rankset_create()),
		.waiting = rankset_in(arena, rankset_create()),
		.moving = rankset_in(arena, rankset_create()),
		.awaited = rankset_in(arena, rankset_create()),
		.apart = rankset_in(arena, rankset_create()),
		.candidates = rankset_in(arena, rankset_create()),
		.which = WAITFOR_NONE,
		.lane = WAITFOR_NONE,
		.need = WAITFOR_NONE,
		.novel = UINT32_MAX,
		.novel_rank = -1,
		.skipped = WAITFOR_NONE,
	};
	return verdict;
}

struct verdict *verdict_create(const struct job *job, const struct eqgroups *groups,
			       const struct progress_graph *graph, const struct waitfor *waitfor)
{
	struct arena *scratch = arena_create();
	struct judge j = {
		.arena = scratch,
		.job = job,
		.jm = job->model,
		.groups = groups,
		.graph = graph,
		.waitfor = waitfor,
		.stacks = stack_facts_create(job, scratch),
		.verdict = make_verdict(),
	};

	if (verdict_find_crashed(&j))
		; /* nobody waits any more */
	else if (j.jm && groups && graph && j.jm->num_lanes > 0)
		judge_by_models(&j);
	else
		verdict_judge_by_stacks(&j);
	arena_destroy(scratch);
	return j.verdict;
}

bool verdict_may_be_hang(const struct verdict *verdict)
{
	if (verdict->kind == VERDICT_COMPUTATION)
		return verdict->is_hang || rankset_is_empty(verdict->moving);
	return verdict->kind != VERDICT_NONE && verdict->kind != VERDICT_UNKNOWN;
}

void verdict_destroy(struct verdict *verdict)
{
	if (verdict)
		arena_destroy(verdict->arena);
}
