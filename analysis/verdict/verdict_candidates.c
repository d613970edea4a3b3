/* SPDX-License-Identifier: BSD-3-Clause
 * Who may be the culprits, how sure that is, and naming them. */
#include "analysis/verdict/verdict_private.h"

bool verdict_is_unusual(const struct judge *j, size_t lane)
{
	/* Of a rank without a recorder it is not known what is usual. */
	return !j->actors[lane].lane || j->facts[lane].stay_ns >= j->facts[lane].usual.unusual_ns;
}

void verdict_weigh(struct judge *j)
{
	struct verdict *verdict = j->verdict;

	verdict->stay_ns = UINT64_MAX;
	verdict->longest_before_ns = verdict->needed_ns = verdict->end_ns = 0;
	verdict->is_new_state = verdict->is_hang = true;
	for (size_t i = 0; i < j->num_actors; i++) {
		const struct actor_fact *fact = &j->facts[i];

		if (!j->is_candidate[i])
			continue;
		if (fact->stay_ns < verdict->stay_ns)
			verdict->stay_ns = fact->stay_ns;
		if (fact->usual.longest_ns > verdict->longest_before_ns)
			verdict->longest_before_ns = fact->usual.longest_ns;
		if (fact->usual.hang_ns > verdict->needed_ns)
			verdict->needed_ns = fact->usual.hang_ns;
		if (fact->usual.end_ns > verdict->end_ns)
			verdict->end_ns = fact->usual.end_ns;
		verdict->is_new_state &= fact->usual.is_new;
		verdict->is_hang &= fact->stay_ns >= fact->usual.hang_ns;
	}
	if (verdict->stay_ns == UINT64_MAX) {
		verdict->stay_ns = 0;
		verdict->is_hang = false;
	}
	verdict->is_hang &= !verdict->is_uncounted;
}

void verdict_shorten(const struct judge *j, uint32_t lane, uint64_t *stay_ns)
{
	const struct actor *actor = &j->actors[lane];
	uint64_t own = actor->lane ? actor->lane->stay_ns : actor->stay_ns;

	if (own < *stay_ns)
		*stay_ns = own;
}

size_t verdict_count_candidates(const struct judge *j)
{
	size_t num = 0;

	for (size_t i = 0; i < j->num_actors; i++)
		num += j->is_candidate[i];
	return num;
}

void verdict_keep_if_any(struct judge *j, const bool *is_kept)
{
	bool has_any = false;

	for (size_t i = 0; i < j->num_actors; i++)
		has_any |= is_kept[i] && j->is_candidate[i];
	for (size_t i = 0; has_any && i < j->num_actors; i++)
		j->is_candidate[i] &= is_kept[i];
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

void verdict_keep_least(struct judge *j)
{
	size_t num = j->groups ? j->groups->num_groups : 0;
	bool *is_in = arena_array(j->arena, num, sizeof(*is_in));
	bool *is_beyond = arena_array(j->arena, num, sizeof(*is_beyond));

	for (size_t i = 0; i < j->evidence->num_lanes; i++)
		is_in[j->groups->group_of[i]] |= j->is_candidate[i];
	if (num > 0)
		mark_beyond(j, is_in, is_beyond);
	for (size_t i = 0; i < j->evidence->num_lanes; i++)
		j->is_candidate[i] &= !is_beyond[j->groups->group_of[i]];
}

static bool uses_totals(const struct place *place)
{
	for (size_t i = 0; i < place->num_iterations; i++)
		if (place->iterations[i].is_approximate)
			return true;
	return false;
}

/* The groups of the candidates, least progressed first. */
static void find_groups(struct judge *j)
{
	struct verdict *verdict = j->verdict;
	const struct eqgroups *groups = j->groups;
	bool *is_in;

	if (!groups)
		return;
	is_in = arena_array(j->arena, groups->num_groups, sizeof(*is_in));
	for (size_t i = 0; i < j->evidence->num_lanes; i++)
		is_in[groups->group_of[i]] |= j->is_candidate[i];
	verdict->culprit_groups = arena_array(verdict->arena, groups->num_groups, sizeof(uint32_t));
	for (int least = 1; least >= 0; least--)
		for (uint32_t g = 0; g < groups->num_groups; g++)
			if (is_in[g] && j->graph->is_least[g] == (bool)least) {
				verdict->culprit_groups[verdict->num_culprit_groups++] = g;
				verdict->is_approximate |= uses_totals(groups->groups[g].place);
			}
}

void verdict_name_culprits(struct judge *j, enum verdict_kind kind)
{
	struct verdict *verdict = j->verdict;
	bool has_lane = false;

	verdict->kind = kind;
	for (size_t i = 0; i < j->num_actors; i++) {
		if (!j->is_candidate[i])
			continue;
		rankset_add(verdict->culprits, j->actors[i].rank);
		has_lane |= j->actors[i].lane != NULL;
	}
	verdict->basis = has_lane ? VERDICT_BY_MODELS : VERDICT_BY_STACKS;
	find_groups(j);
	rankset_remove_set(verdict->waiting, verdict->culprits);
}

void verdict_accuse(struct judge *j, const struct rankset *ranks, enum verdict_kind kind,
		    uint64_t stay_ns)
{
	for (size_t i = 0; i < j->num_actors; i++)
		j->is_candidate[i] = rankset_contains(ranks, j->actors[i].rank) &&
				     (j->facts[i].is_waiting || j->actors[i].is_main);
	verdict_weigh(j);
	verdict_name_culprits(j, kind);
	j->verdict->stay_ns = stay_ns;
	j->verdict->is_hang = j->verdict->is_final = true;
}

void verdict_accuse_stuck(struct judge *j, const struct stuck *stuck, const struct rankset *ranks)
{
	verdict_accuse(j, ranks, VERDICT_DEADLOCK, stuck->stay_ns);
	j->verdict->deadlock = stuck->deadlock;
}

void verdict_lose(struct judge *j, uint64_t stay_ns, const struct rankset *ranks,
		  const struct waitfor_need *need, enum verdict_witness_kind witness)
{
	verdict_accuse(j, ranks, VERDICT_LOST, stay_ns);
	j->verdict->need = need;
	j->verdict->witness.kind = witness;
}

void verdict_doubt(struct judge *j, enum verdict_doubt doubt)
{
	if (j->verdict->doubt == DOUBT_NONE || doubt < j->verdict->doubt)
		j->verdict->doubt = doubt;
}
