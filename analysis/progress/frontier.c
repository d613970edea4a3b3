/* SPDX-License-Identifier: BSD-3-Clause
 * Is an actor that went from a loop to a state that nobody left again still in the loop?
 *
 * The state from which a rank never comes back looks as if it came after the loop. If ranks make
 * equally many iterations, then a rank that is in a later iteration of the loop than this one
 * shows that the loop is not over: the state lies within it. Without such a rank it may be either,
 * and the order says only what holds for both. The same if several ranks went there from different
 * iterations, as happens after a loop whose length depends on the rank. */
#include "analysis/progress/progress_private.h"
#include "model/job/job_model.h"
#include "model/arena.h"
#include "model/sorted.h"

/* The loops of an actor with their counts, for sorting. */
struct chain {
	const struct iteration *iterations;
	uint32_t num, role;
};

static int compare_chains(const void *a, const void *b)
{
	const struct chain *x = a, *y = b;

	if (x->role != y->role)
		return SORTED_ORDER(x->role, y->role);
	for (uint32_t i = 0; i < x->num && i < y->num; i++) {
		const struct iteration *p = &x->iterations[i], *q = &y->iterations[i];

		if (p->loop != q->loop || p->count != q->count)
			return SORTED_ORDER(p->loop, q->loop) ?: SORTED_ORDER(p->count, q->count);
	}
	return SORTED_ORDER(x->num, y->num);
}

/* Is somebody in a later iteration of loop number `last`, in the same iteration of those around? */
static bool is_overtaken(const struct chain *chains, size_t num_chains, const struct chain *key,
			 uint32_t last)
{
	struct iteration most[JOB_LOOPS_MAX_DEPTH];
	const struct chain end = {most, last + 1, key->role};
	const struct chain *furthest;
	size_t low;

	memcpy(most, key->iterations, (last + 1) * sizeof(*most));
	most[last].count = UINT64_MAX;
	low = sorted_first(&end, chains, num_chains, sizeof(*chains), compare_chains);
	if (low == 0)
		return false;
	furthest = &chains[low - 1];
	if (furthest->role != key->role || furthest->num <= last)
		return false;
	for (uint32_t i = 0; i <= last; i++) {
		if (furthest->iterations[i].loop != key->iterations[i].loop)
			return false;
		if (i < last && furthest->iterations[i].count != key->iterations[i].count)
			return false;
	}
	return furthest->iterations[last].count > key->iterations[last].count;
}

static uint32_t count_embedded(const struct progress_private *p, const struct chain *chains,
			       size_t num_chains, const struct chain *key, uint32_t most)
{
	uint32_t num = 0;

	for (uint32_t i = 0; i < most; i++) {
		if (!p->jl->loops[key->iterations[i].loop].is_comparable)
			break;
		if (is_overtaken(chains, num_chains, key, i))
			num = i + 1;
	}
	return num;
}

static void join_crowd(const struct progress_private *p, struct crowd *crowd,
		       const struct position *position)
{
	const struct iteration *mine = &p->iterations[position->first_frontier];
	const struct iteration *lowest = &p->iterations[crowd->lowest];
	uint32_t num = 0;

	if (crowd->num++ == 0) {
		crowd->lowest = position->first_frontier;
		crowd->num_equal = position->num_frontier;
		return;
	}
	while (num < crowd->num_equal && num < position->num_frontier &&
	       mine[num].loop == lowest[num].loop && mine[num].count == lowest[num].count)
		num++;
	crowd->num_equal = num;
	if (mine[0].count < lowest[0].count)
		crowd->lowest = position->first_frontier;
}

void progress_embed_frontier(struct progress_private *p, const struct job_model *jm)
{
	struct chain *chains;
	size_t num_chains = 0, num_frontier = 0;

	for (size_t i = 0; i < jm->num_lanes; i++)
		num_frontier += p->positions[i].num_frontier > 0;
	if (num_frontier == 0)
		return;
	chains = arena_array(p->scratch, jm->num_lanes, sizeof(*chains));
	p->crowds = arena_array(p->arena, p->num_roots, sizeof(*p->crowds));
	for (size_t i = 0; i < jm->num_lanes; i++) {
		const struct position *position = &p->positions[i];

		if (position->num_frontier > 0)
			join_crowd(p, &p->crowds[p->tail_root[jm->lanes[i].state]], position);
		if (position->num_loops > 0 && jm->lanes[i].like == i)
			chains[num_chains++] =
				(struct chain){&p->iterations[position->first], position->num_loops,
					       jm->lanes[i].role};
	}
	qsort(chains, num_chains, sizeof(*chains), compare_chains);
	for (size_t i = 0; i < jm->num_lanes; i++) {
		struct position *position = &p->positions[i];
		const struct crowd *crowd = &p->crowds[p->tail_root[jm->lanes[i].state]];
		struct chain key = {&p->iterations[position->first_frontier],
				    position->num_frontier, jm->lanes[i].role};

		if (jm->lanes[i].like != i)
			position->num_embedded = p->positions[jm->lanes[i].like].num_embedded;
		else if (position->num_frontier > 0)
			position->num_embedded =
				count_embedded(p, chains, num_chains, &key, crowd->num_equal);
	}
}
