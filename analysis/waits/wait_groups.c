/* SPDX-License-Identifier: BSD-3-Clause
 * A record for each lane; equal records make a group. */
#include "analysis/progress/eqgroup.h"
#include "analysis/waits/wait_groups.h"
#include "analysis/waits/waitfor.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/rankset.h"
#include "model/sorted.h"

/* What makes lanes alike. */
struct record {
	uint32_t state, call;          /* job state; of a rank without a recorder by its stack */
	enum activity activity, usual; /* of the actor; of its group */
	uint32_t deadlock;             /* WAITFOR_NONE: none */
	bool is_apart;
	/* Of the first need: */
	uint32_t kind, comm, node;
	int32_t tag;
	uint32_t num_needs;

	const struct waitfor_need *need; /* that one; NULL: there is none */
	uint32_t actor;
	int rank;
};

enum { NO_KIND = UINT8_MAX };

static int compare_kinds(const struct record *a, const struct record *b)
{
	return SORTED_ORDER(a->state, b->state) ?: SORTED_ORDER(a->call, b->call)
	       ?: SORTED_ORDER(a->usual, b->usual) ?: SORTED_ORDER(a->activity, b->activity)
	       ?: SORTED_ORDER(a->deadlock, b->deadlock) ?: SORTED_ORDER(a->is_apart, b->is_apart)
	       ?: SORTED_ORDER(a->kind, b->kind) ?: SORTED_ORDER(a->comm, b->comm)
	       ?: SORTED_ORDER(a->tag, b->tag) ?: SORTED_ORDER(a->num_needs, b->num_needs)
	       ?: SORTED_ORDER(a->node, b->node);
}

static int compare_records(const void *a, const void *b)
{
	const struct record *one = a, *two = b;

	return compare_kinds(one, two) ?: SORTED_ORDER(one->actor, two->actor);
}

/* Certain deadlocks come first, and one that is likely may have some of their lanes, too. */
static uint32_t *find_deadlocks(const struct waitfor *waitfor, struct arena *arena)
{
	uint32_t *deadlocks = arena_array(arena, waitfor->num_actors, sizeof(*deadlocks));

	memset(deadlocks, 0xff, waitfor->num_actors * sizeof(*deadlocks));
	for (uint32_t d = 0; d < waitfor->num_deadlocks; d++)
		for (size_t i = 0; i < waitfor->deadlocks[d].num_actors; i++)
			if (deadlocks[waitfor->deadlocks[d].actors[i]] == WAITFOR_NONE)
				deadlocks[waitfor->deadlocks[d].actors[i]] = d;
	return deadlocks;
}

static void add_need(struct record *record, const struct waitfor *waitfor)
{
	const struct waitfor_need *need = NULL;

	record->kind = NO_KIND;
	while ((need = waitfor_next_need(waitfor, record->actor, need))) {
		if (need->is_weak || record->num_needs++ > 0)
			continue;
		record->need = need;
		record->kind = need->kind;
		record->comm = need->comm;
		record->node = need->node;
		record->tag = need->tag;
	}
}

static struct record *make_records(const struct waitfor *waitfor, const struct eqgroups *groups,
				   const struct rankset *ranks, const struct rankset *apart,
				   struct arena *arena, size_t *num_ret)
{
	struct record *records = arena_array(arena, waitfor->num_actors, sizeof(*records));
	uint32_t *deadlocks = find_deadlocks(waitfor, arena);
	size_t number = 0;

	for (uint32_t l = 0; l < waitfor->num_actors; l++) {
		const struct actor *actor = &waitfor->evidence->actors[l];
		const struct job_lane *lane = actor->lane;
		struct record *record = &records[number];

		if (!rankset_contains(ranks, actor->rank))
			continue;
		*record = (struct record){
			.state = lane ? lane->state : actor->stack->function,
			.call = lane ? 0 : actor->stack->call,
			.usual = lane ? groups->groups[groups->group_of[l]].activity
				      : actor->activity,
			.activity = actor->activity,
			.deadlock = deadlocks[l],
			.is_apart = rankset_contains(apart, actor->rank),
			.actor = l,
			.rank = actor->rank,
		};
		add_need(record, waitfor);
		number++;
	}
	*num_ret = number;
	return records;
}

/* Sort; how many kinds there are. */
static size_t sort_records(struct record *records, size_t number)
{
	size_t kinds = number > 0;

	sorted_make(records, number, sizeof(*records), compare_records);
	for (size_t i = 1; i < number; i++)
		kinds += compare_kinds(&records[i - 1], &records[i]) != 0;
	return kinds;
}

static void add_peers(struct wait_group *group, const struct waitfor *waitfor, uint32_t lane)
{
	const struct actor *actors = waitfor->evidence->actors;
	const struct waitfor_need *need = NULL;

	while ((need = waitfor_next_need(waitfor, lane, need))) {
		bool is_same = lane != group->actor && !need->is_weak &&
			       need->node == group->need->node && need->kind != WAITFOR_LOCK;

		/* Who needs the same has the same peers, but for himself where he is one. */
		if (!need->is_weak && !is_same)
			waitfor_add_peers(waitfor, need, group->peers);
		if (is_same && need->peer < 0 && need->kind == WAITFOR_MESSAGE &&
		    actors[lane].rank != actors[group->actor].rank)
			rankset_add(group->peers, actors[group->actor].rank);
	}
}

static void make_groups(struct wait_groups *result, const struct waitfor *waitfor,
			const struct record *records, size_t number, struct arena *arena)
{
	size_t capacity = 0;

	for (size_t i = 0; i < number; i++) {
		const struct record *record = &records[i];

		if (i == 0 || compare_kinds(&records[i - 1], record)) {
			*ARENA_PUSH(arena, result->groups, result->num_groups, capacity) =
				(struct wait_group){
					.ranks = rankset_in(arena, rankset_create()),
					.actor = record->actor,
					.need = record->need,
					.num_needs = record->num_needs,
					.peers = rankset_in(arena, rankset_create()),
					.is_deadlocked = record->deadlock != WAITFOR_NONE,
					.is_likely = record->deadlock != WAITFOR_NONE &&
						     waitfor->deadlocks[record->deadlock].is_likely,
					.is_apart = record->is_apart,
				};
		}
		rankset_add(result->groups[result->num_groups - 1].ranks, record->rank);
		add_peers(&result->groups[result->num_groups - 1], waitfor, record->actor);
	}
}

static int compare_groups(const void *a, const void *b)
{
	const struct wait_group *one = a, *two = b;

	return SORTED_ORDER(rankset_count(two->ranks), rankset_count(one->ranks))
		       ?: SORTED_ORDER(one->actor, two->actor);
}

static void make_edges(struct wait_groups *result, struct arena *arena)
{
	size_t capacity = 0;

	for (uint32_t from = 0; from < result->num_groups; from++)
		for (uint32_t to = 0; to < result->num_groups; to++)
			if (rankset_meets(result->groups[from].peers, result->groups[to].ranks))
				*ARENA_PUSH(arena, result->edges, result->num_edges, capacity) =
					(struct wait_edge){from, to};
}

struct wait_groups *wait_groups_create(const struct waitfor *waitfor, const struct eqgroups *groups,
				       const struct rankset *ranks, const struct rankset *apart,
				       size_t max_groups, struct arena *arena)
{
	struct wait_groups *result = arena_alloc(arena, sizeof(*result));
	struct arena *scratch = arena_create();
	size_t number;
	struct record *records = make_records(waitfor, groups, ranks, apart, scratch, &number);

	if (sort_records(records, number) > max_groups) {
		for (size_t i = 0; i < number; i++)
			if (records[i].kind != WAITFOR_MEMBERS)
				records[i].node = records[i].num_needs = 0;
		sort_records(records, number);
	}
	make_groups(result, waitfor, records, number, arena);
	arena_destroy(scratch);
	sorted_make(result->groups, result->num_groups, sizeof(*result->groups), compare_groups);
	make_edges(result, arena);
	return result;
}
