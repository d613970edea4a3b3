/* SPDX-License-Identifier: BSD-3-Clause
 * The facts that all rules use, and the rules in the order tried. */
#include "analysis/progress/eqgroup.h"
#include "analysis/stacks/temporal.h"
#include "analysis/verdict/verdict_private.h"

/* ---- Facts ---- */

/* Ranks without a recorder are compared with main threads. */
static uint32_t role_of(const struct judge *j, const struct actor *actor)
{
	if (actor->lane)
		return actor->lane->role;
	for (size_t i = 0; i < j->evidence->num_lanes; i++)
		if (j->actors[i].is_main)
			return j->actors[i].lane->role;
	return 0;
}

static void find_fact(struct judge *j, const struct stays *stays, size_t i)
{
	const struct actor *actor = &j->actors[i];
	struct actor_fact *fact = &j->facts[i];

	fact->stay_ns = actor->stay_ns;
	fact->role = role_of(j, actor);
	/* Of a rank without a recorder it is not known. */
	fact->usual = (struct stay_judgement){
		.basis = STAY_BY_ELSEWHERE,
		.is_new = true,
		.hang_ns = thresholds.new_ns,
		.end_ns = UINT64_MAX,
	};
	if (actor->activity == ACTIVITY_ENDED)
		return;
	fact->is_static = actor->activity != ACTIVITY_MOVES;
	fact->is_waiting = actor_is_waiting(actor);
	if (actor->lane && fact->is_static)
		fact->usual = stays_judge(stays, i);
	if (fact->is_waiting) {
		j->has_waiting[fact->role] = true;
		rankset_add(j->verdict->waiting, actor->rank);
	}
	if (!fact->is_static)
		rankset_add(j->verdict->moving, actor->rank);
}

/* Who came to its place only after all that wait had begun to do so has kept them waiting before,
 * too, and moved. So what it does alone takes its time, and may take some times as long. */
static void allow_for_phases(struct judge *j)
{
	size_t num_roles = j->jm ? j->jm->num_roles : 1;
	uint64_t *wait_ns = arena_array(j->arena, num_roles, sizeof(*wait_ns));

	memset(wait_ns, 0xff, num_roles * sizeof(*wait_ns));
	for (uint32_t i = 0; i < j->num_actors; i++)
		if (j->facts[i].is_waiting)
			verdict_shorten(j, i, &wait_ns[j->facts[i].role]);
	for (size_t i = 0; i < j->evidence->num_lanes; i++) {
		uint64_t shortest_ns = wait_ns[j->facts[i].role];

		if (j->actors[i].activity == ACTIVITY_COMPUTING && shortest_ns != UINT64_MAX &&
		    shortest_ns > j->facts[i].stay_ns)
			stays_allow(&j->facts[i].usual, shortest_ns - j->facts[i].stay_ns);
	}
}

/* Since when nobody has moved; 0: somebody does, or it is not known. */
static uint64_t find_quiet(const struct judge *j)
{
	uint64_t quiet_ns = UINT64_MAX;

	for (size_t i = 0; i < j->evidence->num_lanes; i++) {
		const struct job_lane *lane = j->actors[i].lane;

		if (j->actors[i].activity == ACTIVITY_ENDED)
			continue;
		if (lane->has_second_look && lane->has_moved)
			return 0;
		if (lane->stay_ns < quiet_ns)
			quiet_ns = lane->stay_ns;
	}
	return quiet_ns == UINT64_MAX ? 0 : quiet_ns;
}

static void find_order_groups(struct judge *j)
{
	size_t num = j->evidence->num_ranks;

	j->order_group = arena_array(j->arena, num, sizeof(*j->order_group));
	memset(j->order_group, 0xff, num * sizeof(*j->order_group));
	for (uint32_t g = 0; j->order && g < j->order->num_groups; g++) {
		const struct rankset *ranks = j->order->groups[g].ranks;

		for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r))
			if ((size_t)r < num)
				j->order_group[r] = g;
	}
}

static void find_facts(struct judge *j)
{
	struct verdict *verdict = j->verdict;
	const struct rankset *moving;
	struct stays *stays =
		j->jm ? stays_create(j->arena, j->jm, j->groups ? j->groups->progress : NULL)
		      : NULL;

	j->facts = arena_array(j->arena, j->num_actors, sizeof(*j->facts));
	j->is_candidate = arena_array(j->arena, j->num_actors, sizeof(*j->is_candidate));
	j->has_waiting = arena_array(j->arena, j->jm ? j->jm->num_roles : 1, sizeof(bool));
	for (size_t i = 0; i < j->num_actors; i++)
		find_fact(j, stays, i);
	allow_for_phases(j);
	rankset_remove_set(verdict->waiting, verdict->moving);
	if (j->jm)
		j->visitors = arena_array(j->arena, job_model_num_states(j->jm),
					  sizeof(struct rankset *));
	find_order_groups(j);
	/* By the variables of loops one moves that seemed to wait. */
	moving = verdict_find_moving(j);
	rankset_add_set(verdict->moving, moving);
	rankset_remove_set(verdict->waiting, moving);
	verdict->quiet_ns = find_quiet(j);
	verdict->is_uncounted = false;
	for (size_t i = j->evidence->num_lanes; i < j->num_actors; i++)
		verdict->is_uncounted |= !j->actors[i].stack->queues;
}

/* ---- Rules ---- */

bool verdict_is_nothing_known(struct judge *j)
{
	if (j->num_actors > 0)
		return false;
	j->verdict->kind = VERDICT_UNKNOWN;
	return true;
}

bool verdict_has_nobody_waiting(struct judge *j)
{
	return rankset_is_empty(j->verdict->waiting);
}

bool verdict_has_moving(struct judge *j)
{
	return !rankset_is_empty(j->verdict->moving);
}

static const struct rule {
	const char *name;
	bool (*apply)(struct judge *j);
} rules[] = {
#define RULE(name, function) {name, function},
#include "analysis/verdict/rules.def"
#undef RULE
};

static void find_certainty(struct judge *j)
{
	struct verdict *verdict = j->verdict;

	if (verdict->doubt && verdict->is_read && verdict->need)
		verdict_doubt(j, DOUBT_WHO_SENDS);
	if (verdict->doubt && verdict->witness.kind == WITNESS_SKIPPED)
		verdict_doubt(j, DOUBT_PLACES);
	switch (verdict->kind) {
	case VERDICT_NONE:
	case VERDICT_UNKNOWN:
	case VERDICT_LEAST:
	case VERDICT_UNDECIDED:
		verdict->certainty = VERDICT_POSSIBLE;
		break;
	default:
		verdict->certainty = verdict->doubt ? VERDICT_LIKELY : VERDICT_CERTAIN;
	}
}

static void judge(struct judge *j)
{
	struct verdict *verdict = j->verdict;

	verdict->basis = j->evidence->num_lanes ? VERDICT_BY_MODELS : VERDICT_BY_STACKS;
	find_facts(j);
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]) && !verdict->rule; i++)
		if (rules[i].apply(j))
			verdict->rule = rules[i].name;
	if (verdict->kind == VERDICT_NONE) {
		verdict->stay_ns = verdict->longest_before_ns = 0;
		verdict->needed_ns = verdict->end_ns = 0;
		verdict->is_new_state = false;
		verdict_find_awaited(j);
		verdict->is_hang = false;
	}
	find_certainty(j);
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
		.compared = rankset_in(arena, rankset_create()),
	};
	return verdict;
}

bool verdict_wants_order(const struct evidence *evidence)
{
	bool has_waiting = false;

	/* With a recorder in all ranks there is a better one. */
	if (evidence->num_lanes == evidence->num_actors)
		return false;
	for (size_t i = 0; i < evidence->num_actors; i++) {
		if (evidence->actors[i].activity == ACTIVITY_MOVES ||
		    evidence->actors[i].stack->is_stopped)
			return false;
		has_waiting |= actor_is_waiting(&evidence->actors[i]);
	}
	return has_waiting && rankset_is_empty(evidence->ended);
}

struct verdict *verdict_create(const struct verdict_input *input)
{
	struct arena *scratch = arena_create();
	struct judge j = {
		.arena = scratch,
		.job = input->evidence->job,
		.evidence = input->evidence,
		.actors = input->evidence->actors,
		.num_actors = input->evidence->num_actors,
		.jm = input->evidence->job->model,
		.groups = input->groups,
		.graph = input->graph,
		.waitfor = input->waitfor,
		.order = input->order,
		.age_ns = input->age_ns,
		.verdict = make_verdict(),
	};

	judge(&j);
	arena_destroy(scratch);
	return j.verdict;
}

int verdict_longer_look(const struct verdict *verdict)
{
	if (verdict->is_hang)
		return 0;
	if (verdict->kind == VERDICT_COMPUTATION && verdict->basis == VERDICT_BY_STACKS)
		return thresholds.computed_ms;
	return verdict->is_read ? thresholds.arrived_ms : 0;
}

bool verdict_may_be_slow(const struct verdict *verdict)
{
	return verdict->kind == VERDICT_COMPUTATION && !verdict->is_hang &&
	       (verdict->stay_ns < thresholds.new_ns || !rankset_is_empty(verdict->moving));
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
