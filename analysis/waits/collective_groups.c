/* SPDX-License-Identifier: BSD-3-Clause
 * A record for each collective that a member remembers; equal records make a group. */
#include "analysis/waits/collective_groups.h"
#include "model/job/callpath.h"
#include "model/job/job_comms.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/rankset.h"

/* One collective of one rank. */
struct record {
	struct collective_group group; /* without ranks */
	int rank;
};

static enum collective_stage stage_of(const struct job_comm_view *view, uint64_t number)
{
	if (number && model_is_in_collective(view->model, view->local, number))
		return COLLECTIVE_IN;
	return number && model_has_begun_collective(view->model, view->local, number)
		       ? COLLECTIVE_BEGUN
		       : COLLECTIVE_AFTER;
}

/* Records of a member, SEG_RECENT at most; how many. */
static size_t add_view(struct record *records, const struct job_model *jm,
		       const struct job_comm_view *view)
{
	static const struct job_site none = {.path = CALLPATH_NONE};
	size_t num_lanes, num = 0;
	const struct job_lane *lanes = jm->lanes + job_model_lanes(jm, view->rank, &num_lanes);

	for (; num < SEG_RECENT && num_lanes; num++) {
		const struct model_collective *recent = &job_comm_seen(view)->recent[num];
		bool is_any = recent->number > 0;
		const struct job_site *site =
			is_any ? &jm->sites[lanes[0].site_map[recent->site]] : &none;

		if (num > 0 && !is_any)
			break;
		records[num] = (struct record){
			.rank = view->rank,
			.group = {.number = recent->number,
				  .function = site->name,
				  .path = site->path,
				  .root = is_any ? recent->root : SEG_PEER_NONE,
				  .bytes = is_any ? recent->bytes : SEG_NO_BYTES,
				  .stage = stage_of(view, recent->number),
				  .is_last = num == 0},
		};
	}
	return num;
}

static int compare_functions(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

/* 0: one group. Latest numbers first. */
static int compare_kinds(const struct collective_group *a, const struct collective_group *b)
{
	return SORTED_ORDER(b->number, a->number) ?: compare_functions(a->function, b->function)
	       ?: SORTED_ORDER(a->root, b->root) ?: SORTED_ORDER(a->bytes, b->bytes)
	       ?: SORTED_ORDER(a->path, b->path) ?: SORTED_ORDER(a->stage, b->stage)
	       ?: SORTED_ORDER(b->is_last, a->is_last);
}

static int compare_records(const void *a, const void *b)
{
	const struct record *one = a, *two = b;

	return compare_kinds(&one->group, &two->group) ?: SORTED_ORDER(one->rank, two->rank);
}

static void make_groups(struct collective_groups *result, struct record *records, size_t number,
			struct arena *arena)
{
	size_t capacity = 0;

	sorted_make(records, number, sizeof(*records), compare_records);
	for (size_t i = 0; i < number; i++) {
		if (i == 0 || compare_kinds(&records[i].group, &records[i - 1].group)) {
			records[i].group.ranks = rankset_in(arena, rankset_create());
			*ARENA_PUSH(arena, result->groups, result->num_groups, capacity) =
				records[i].group;
		}
		rankset_add(result->groups[result->num_groups - 1].ranks, records[i].rank);
	}
}

static bool is_alike(const struct collective_group *a, const struct collective_group *b,
		     enum collective_difference what)
{
	switch (what) {
	case COLLECTIVE_OTHER_FUNCTION:
		return !compare_functions(a->function, b->function);
	case COLLECTIVE_OTHER_ROOT:
		return a->root == b->root;
	case COLLECTIVE_OTHER_BYTES:
		return a->bytes == b->bytes || a->bytes == SEG_NO_BYTES || b->bytes == SEG_NO_BYTES;
	}
	return true;
}

/* Mark those of `groups`, all of one number, that are not like most. Where no kind has most ranks
 * all are marked. Groups with a difference already have no say. */
static void mark(struct collective_group *groups, size_t number, enum collective_difference what)
{
	const struct collective_group *most = NULL;
	bool is_tie = false;
	int best = 0;

	for (size_t i = 0; i < number; i++) {
		int ranks = 0;

		if (groups[i].differences)
			continue;
		for (size_t j = 0; j < number; j++)
			if (!groups[j].differences && is_alike(&groups[i], &groups[j], what))
				ranks += rankset_count(groups[j].ranks);
		if (ranks == best && most)
			is_tie |= !is_alike(most, &groups[i], what);
		if (ranks > best) {
			best = ranks;
			most = &groups[i];
			is_tie = false;
		}
	}
	for (size_t i = 0; i < number; i++)
		if (!groups[i].differences && (is_tie || !is_alike(most, &groups[i], what)))
			groups[i].differences = what;
}

/* The groups of one number. */
static void compare_groups(struct collective_groups *result, struct collective_group *groups,
			   size_t number, bool has_roots)
{
	unsigned differences = 0;

	if (groups->number) {
		mark(groups, number, COLLECTIVE_OTHER_FUNCTION);
		if (has_roots)
			mark(groups, number, COLLECTIVE_OTHER_ROOT);
		mark(groups, number, COLLECTIVE_OTHER_BYTES);
	}
	for (size_t i = 0; i < number; i++)
		differences |= groups[i].differences;
	for (size_t i = 0; i < number; i++)
		groups[i].is_majority = differences && !groups[i].differences;
	result->is_differing |= differences != 0;
}

/* Those further than this number are not listed, unless the number shows a difference. */
static void drop_past(struct collective_groups *result)
{
	size_t kept = 0;

	for (size_t i = 0; i < result->num_groups; i++) {
		struct collective_group *group = &result->groups[i];

		if (group->is_last || group->differences || group->is_majority)
			result->groups[kept++] = *group;
	}
	result->num_groups = kept;
}

/* A neighbourhood's collective needs the neighbours only. */
static bool needs_all(const struct collective_group *group)
{
	return strncmp(group->function, "MPI_Neighbor", strlen("MPI_Neighbor")) != 0 &&
	       strncmp(group->function, "MPI_Ineighbor", strlen("MPI_Ineighbor")) != 0;
}

static void find_awaited(struct collective_groups *result)
{
	uint64_t needed = 0;

	for (size_t i = 0; i < result->num_groups; i++) {
		const struct collective_group *group = &result->groups[i];

		if (group->stage == COLLECTIVE_AFTER)
			continue;
		result->is_active = true;
		if (group->number > needed && needs_all(group))
			needed = group->number;
	}
	for (size_t i = 0; i < result->num_groups; i++)
		result->groups[i].is_awaited =
			result->groups[i].is_last && result->groups[i].number < needed;
}

static int compare_groups_for_people(const void *a, const void *b)
{
	const struct collective_group *one = a, *two = b;

	return SORTED_ORDER(two->number, one->number)
	       ?: SORTED_ORDER(rankset_count(two->ranks), rankset_count(one->ranks))
	       ?: SORTED_ORDER(rankset_first(one->ranks), rankset_first(two->ranks))
	       ?: compare_kinds(one, two);
}

static struct rankset *find_unknown(const struct job_comm *comm, struct arena *arena)
{
	struct rankset *unknown = rankset_in(arena, rankset_create());

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < comm->sizes[side]; i++)
			if (comm->groups[side][i] >= 0 &&
			    !job_comm_view_of(comm, comm->groups[side][i]).model)
				rankset_add(unknown, comm->groups[side][i]);
	return unknown;
}

struct collective_groups *collective_groups_create(const struct job_model *jm,
						   const struct job_comms *comms, uint32_t comm,
						   struct arena *arena)
{
	struct collective_groups *result = arena_alloc(arena, sizeof(*result));
	const struct job_comm *of = &comms->comms[comm];
	struct arena *scratch = arena_create();
	struct record *records = arena_array(scratch, of->num_views * SEG_RECENT, sizeof(*records));
	size_t number = 0, next;

	for (size_t i = 0; i < of->num_views; i++) {
		struct job_comm_view view = job_comm_view(of, i);

		number += add_view(records + number, jm, &view);
	}
	make_groups(result, records, number, arena);
	arena_destroy(scratch);
	result->unknown = find_unknown(of, arena);
	result->least = UINT64_MAX;
	for (size_t i = 0; i < result->num_groups; i++) {
		const struct collective_group *group = &result->groups[i];

		if (group->is_last && group->number > result->largest)
			result->largest = group->number;
		if (group->is_last && group->number < result->least)
			result->least = group->number;
	}
	for (size_t i = 0; i < result->num_groups; i = next) {
		for (next = i + 1; next < result->num_groups &&
				   result->groups[next].number == result->groups[i].number;)
			next++;
		/* The root's side of an intercommunicator calls it MPI_ROOT. */
		compare_groups(result, &result->groups[i], next - i, of->kind != SEG_COMM_INTER);
	}
	find_awaited(result);
	drop_past(result);
	sorted_make(result->groups, result->num_groups, sizeof(*result->groups),
		    compare_groups_for_people);
	return result;
}
