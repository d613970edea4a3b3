/* SPDX-License-Identifier: BSD-3-Clause
 * Words: a *world* is an MPI_COMM_WORLD, one for each launcher's name of a job that ranks give; a
 * *list* holds the job's ranks of one group of a communicator, in order. A list is filled once from
 * each world's point of view. Each member has then to find itself at its rank in it, which checks
 * the lists of all ranks against each other without reading them. */

#include "model/hash.h"
#include "model/job/callpath.h"
#include "model/job/job_comms_private.h"
#include "model/job/model_pool.h"
#include "model/job/rankset.h"

/* Entries of all lists together that are not shared, by how many ranks were found, and how many are
 * looked at in turn: what is corrupt may claim more. Jobs have some ten lists, which each world
 * fills once; of one rank that was found among a million the world's is known. */
static const uint64_t min_entries = 1 << 21, entries_each = 64, entries_comm = 8,
		      max_entries = 1 << 26;
static const uint64_t max_steps = 1 << 28;

static bool may_allocate(struct job_comms_private *p, uint64_t entries)
{
	if (entries > p->most_entries - p->num_entries)
		return false;
	p->num_entries += entries;
	return true;
}

static bool may_step(struct job_comms_private *p, uint64_t steps)
{
	if (steps > max_steps - p->num_steps)
		return false;
	p->num_steps += steps;
	return true;
}

static int *make_list(struct job_comms_private *p, size_t size)
{
	int *ranks = arena_array(p->arena, size, sizeof(*ranks));

	for (size_t i = 0; i < size; i++)
		ranks[i] = -1;
	return ranks;
}

static void make_worlds(struct job_comms_private *p)
{
	struct pair_map world_of = {0};

	for (size_t i = 0; i < p->num_members; i++) {
		const struct model *model = p->members[i].of->model;
		uint64_t key = hash_bytes(model->program->job, strlen(model->program->job));
		uint32_t found = pair_map_get(&world_of, key);
		size_t size = model->size > 0 ? (size_t)model->size : 0;

		if (found == PAIR_NONE) {
			found = (uint32_t)p->num_worlds;
			pair_map_add(&world_of, key, found);
			*ARENA_PUSH(p->arena, p->worlds, p->num_worlds, p->worlds_capacity) =
				(struct world){.is_uniform = true};
		}
		p->members[i].world = found;
		if (size > p->worlds[found].size)
			p->worlds[found].size = size;
	}
	free(world_of.slots);
	for (size_t i = 0; i < p->num_worlds; i++) {
		struct world *world = &p->worlds[i];

		if (!may_allocate(p, world->size))
			world->size = 0;
		world->ranks = make_list(p, world->size);
	}
}

/* The ranks that have a model; of the others, where they would be. */
static void fill_worlds(struct job_comms_private *p)
{
	bool *is_used = arena_array(p->arena, p->num_worlds, sizeof(*is_used));

	for (size_t i = 0; i < p->num_members; i++) {
		const struct job_comms_member *member = &p->members[i];
		struct world *world = &p->worlds[member->world];
		int world_rank = member->of->model->rank;

		if (world_rank < 0 || (size_t)world_rank >= world->size)
			continue;
		if (!is_used[member->world])
			world->offset = member->rank - world_rank;
		is_used[member->world] = true;
		/* Two that claim one rank: nothing is sure then. */
		if (world->ranks[world_rank] >= 0 || member->rank - world_rank != world->offset)
			world->is_uniform = false;
		world->ranks[world_rank] = member->rank;
	}
	for (size_t i = 0; i < p->num_worlds; i++) {
		struct world *world = &p->worlds[i];

		for (size_t w = 0; world->is_uniform && is_used[i] && w < world->size; w++) {
			int64_t rank = (int64_t)w + world->offset;

			if (world->ranks[w] < 0 && rank >= 0 && rank <= INT32_MAX &&
			    !rankset_contains(p->jm->ranks, (int)rank))
				world->ranks[w] = (int)rank;
		}
	}
}

static int world_to_job(const struct world *world, int64_t world_rank)
{
	return world_rank >= 0 && (uint64_t)world_rank < world->size ? world->ranks[world_rank]
								     : -1;
}

/* ---- What a member's comms are ---- */

static void give_locals(struct job_comms_private *p, struct job_comms_member *member, bool is_known)
{
	size_t num = member->of->model->num_comms;
	uint32_t *locals = arena_array(p->arena, num, sizeof(*locals));

	for (size_t i = 0; i < num; i++)
		locals[i] = is_known ? job_comms_local(p, member, i) : LOCAL_UNKNOWN;
	member->locals = locals;
}

/* Members that share it agree, or one gets its own. */
static void set_local(struct job_comms_private *p, struct job_comms_member *member, size_t index,
		      uint32_t local, bool is_seated)
{
	struct known_comm *known;

	if (!member->locals) {
		known = &p->known[member->of->model->pool_comms[index]];
		if (known->local == LOCAL_UNKNOWN || (is_seated && !known->is_seated))
			*known = (struct known_comm){local, is_seated};
		if (known->local == local)
			return;
		give_locals(p, member, true);
	}
	member->locals[index] = local;
}

/* Members of one pool and world mostly share what their comms are. */
static void begin_locals(struct job_comms_private *p)
{
	for (size_t i = 0; i < p->num_members; i++) {
		struct job_comms_member *member = &p->members[i];
		const struct model *model = member->of->model;

		if (!p->pool && model->pool_comms) {
			p->pool = model->pool;
			p->pool_world = member->world;
		}
		if (!model->pool_comms || model->pool != p->pool || member->world != p->pool_world)
			give_locals(p, member, false);
	}
	if (!p->pool)
		return;
	p->known = arena_array(p->arena, p->pool->num_comms, sizeof(*p->known));
	for (size_t i = 0; i < p->pool->num_comms; i++)
		p->known[i] = (struct known_comm){.local = LOCAL_UNKNOWN};
}

/* ---- Which communicators there are ---- */

/* MPI_COMM_SELF is entry 1; what one rank makes from it has it as parent and has one member. */
static bool is_self(struct job_comms_private *p, uint32_t member, const struct model_comm *comm,
		    size_t index)
{
	bool is_one = index == 1 ? comm->kind == SEG_COMM_INTRA
				 : comm->size == 1 && comm->remote_size == 0 &&
					   pair_map_get(&p->self_of, comm->parent_id) == member;

	if (is_one && comm->id)
		pair_map_set(&p->self_of, comm->id, member);
	return is_one;
}

static bool has_strangers(struct job_comms_private *p, const struct model *model, uint32_t first,
			  uint32_t num)
{
	if (first == SEG_ALL_MEMBERS || first == SEG_NO_MEMBERS)
		return false;
	/* Too many to look at: it is refused as soon as it is to be filled. */
	if (!may_step(p, num))
		return true;
	for (uint32_t i = 0; i < num; i++)
		if (model_members(model, first)[i] < 0)
			return true;
	return false;
}

static uint64_t draft_key(struct job_comms_private *p, const struct job_comms_member *member,
			  const struct model_comm *comm)
{
	const struct model *model = member->of->model;

	if (p->num_worlds > 1 && (has_strangers(p, model, comm->members, comm->size) ||
				  has_strangers(p, model, comm->remote_members, comm->remote_size)))
		return comm->id;
	return job_comms_key(p, member->world, comm->id);
}

static struct draft *find_draft(struct job_comms_private *p, const struct job_comms_member *member,
				const struct model_comm *comm)
{
	uint64_t key = draft_key(p, member, comm);
	uint32_t found = pair_map_get(&p->draft_of, key);

	if (found != PAIR_NONE)
		return &p->drafts[found];
	pair_map_add(&p->draft_of, key, (uint32_t)p->num_drafts);
	struct draft *draft = XPUSH(p->drafts, p->num_drafts, p->drafts_capacity);
	*draft = (struct draft){
		.comm =
			{
				.id = comm->id,
				.kind = comm->kind,
				.ordinal = comm->ordinal,
				.parent = SEG_NO_COMM,
				.path = CALLPATH_NONE,
				.sizes = {comm->size,
					  comm->kind == SEG_COMM_INTER ? comm->remote_size : 0},
			},
		.world = member->world,
		.last_rank = -1,
	};
	for (int side = 0; side < 2; side++)
		draft->lists[side] =
			(struct list){.size = draft->comm.sizes[side], .filled_by = UINT32_MAX};
	return draft;
}

static bool has_sizes(const struct job_comm *comm, const struct model_comm *seen)
{
	if (comm->kind != seen->kind)
		return false;
	if (comm->kind != SEG_COMM_INTER)
		return comm->sizes[0] == seen->size;
	return (comm->sizes[0] == seen->size && comm->sizes[1] == seen->remote_size) ||
	       (comm->sizes[1] == seen->size && comm->sizes[0] == seen->remote_size);
}

/* What the member at hand says, as far as nobody has said it before. */
static void add_words(struct draft *draft, const struct job_model *jm, const struct job_rank *of,
		      const struct model_comm *seen)
{
	struct job_comm *comm = &draft->comm;
	const struct shape *shape = jm->private->shapes[of->shape];

	if (!draft->parent_id)
		draft->parent_id = seen->parent_id;
	if (!comm->name)
		comm->name = seen->name;
	if (!comm->made_by && seen->site != 0) {
		const struct job_site *site = &jm->sites[shape->site_map[seen->site]];

		comm->path = site->path;
		comm->made_by = site->name;
	}
}

static void add_local(struct job_comms_private *p, uint32_t number, size_t index)
{
	struct job_comms_member *member = &p->members[number];
	const struct model_comm *comm = model_comm(member->of->model, index);
	uint32_t local = job_comms_local(p, member, index);
	bool is_own = is_self(p, number, comm, index);
	struct draft *draft;

	if (is_own || comm->id == 0) {
		set_local(p, member, index, is_own ? LOCAL_SELF : LOCAL_NONE, false);
		return;
	}
	/* What another rank has said in the same words needs no second look. */
	if (local >= LOCAL_SPECIAL) {
		draft = find_draft(p, member, comm);
		draft->is_bad |= !has_sizes(&draft->comm, comm);
		add_words(draft, p->jm, member->of, comm);
		local = (uint32_t)(draft - p->drafts) << 1;
	}
	set_local(p, member, index, local, false);
	draft = &p->drafts[local >> 1];
	draft->is_bad |= draft->last_rank == member->rank;
	draft->last_rank = member->rank;
	if (index == 0) {
		draft->is_world = true;
		draft->comm.name = "MPI_COMM_WORLD";
	}
}

static void add_locals(struct job_comms_private *p)
{
	begin_locals(p);
	for (uint32_t i = 0; i < p->num_members; i++)
		for (size_t c = 0; c < p->members[i].of->model->num_comms; c++)
			add_local(p, i, c);
	free(p->self_of.slots);
}

/* ---- Who is in them ---- */

/* What a member of world `number` says of a group. False: it contradicts, or there is no room. */
static bool fill_list(struct job_comms_private *p, struct list *list, uint32_t number,
		      const struct model *model, uint32_t first)
{
	const struct world *world = &p->worlds[number];
	const int32_t *members = NULL;

	if (!list->ranks && first == SEG_ALL_MEMBERS && list->size <= world->size) {
		list->ranks = world->ranks;
		list->is_shared = true;
	}
	if (!list->ranks) {
		if (!may_allocate(p, list->size))
			return false;
		list->ranks = make_list(p, list->size);
	}
	if (list->is_shared || list->filled_by == number || list->num_known == list->size ||
	    first == SEG_NO_MEMBERS)
		return true;
	if (!may_step(p, list->size))
		return false;
	list->filled_by = number;
	if (first != SEG_ALL_MEMBERS)
		members = model_members(model, first);
	for (size_t i = 0; i < list->size; i++) {
		int rank = world_to_job(world, members ? members[i] : (int64_t)i);

		if (rank >= 0 && list->ranks[i] >= 0 && list->ranks[i] != rank)
			return false;
		if (rank >= 0 && list->ranks[i] < 0) {
			list->ranks[i] = rank;
			list->num_known++;
		}
	}
	return true;
}

/* The member is number `at` of the group. False: somebody else is. */
static bool put_self(struct list *list, int at, int rank)
{
	if (list->ranks[at] < 0 && !list->is_shared) {
		list->ranks[at] = rank;
		list->num_known++;
	}
	return list->ranks[at] == rank;
}

/* The group of an intercommunicator that has the member at its rank, or else could; -1: unclear. */
static int find_side(const struct draft *draft, const struct model_comm *comm, int own, int rank)
{
	bool may_be[2];

	if (draft->comm.kind != SEG_COMM_INTER || draft->comm.num_views == 0)
		return 0;
	for (int side = 0; side < 2; side++) {
		const struct list *list = &draft->lists[side];

		may_be[side] = comm->size == list->size &&
			       comm->remote_size == draft->lists[!side].size &&
			       (size_t)own < list->size && list->ranks[own] < 0;
		if ((size_t)own < list->size && list->ranks[own] == rank)
			return side;
	}
	return may_be[0] == may_be[1] ? -1 : may_be[1];
}

/* Find the member's place in the groups. */
static void seat(struct job_comms_private *p, uint32_t number, size_t index)
{
	struct job_comms_member *member = &p->members[number];
	uint32_t local = job_comms_local(p, member, index);
	const struct model *model = member->of->model;
	const struct model_comm *comm = model_comm(model, index);
	int32_t own = model_comm_rank(model, index);

	if (local >= LOCAL_SPECIAL)
		return;
	struct draft *draft = &p->drafts[local >> 1];
	if (draft->is_bad)
		return;
	int side = find_side(draft, comm, own, member->rank);
	if (side < 0 || own < 0 || draft->lists[side].size != comm->size ||
	    !fill_list(p, &draft->lists[side], member->world, model, comm->members) ||
	    (comm->kind == SEG_COMM_INTER &&
	     !fill_list(p, &draft->lists[!side], member->world, model, comm->remote_members)) ||
	    !put_self(&draft->lists[side], own, member->rank)) {
		draft->is_bad = true;
		return;
	}
	set_local(p, member, index, (local & ~1u) | (uint32_t)side, true);
	job_comm_add_view(&draft->comm, number, (uint32_t)index, (uint32_t)side);
}

static void list_members(struct job_comms_private *p)
{
	const struct job_model_private *ranks = p->jm->private;
	bool is_sorted = true;

	p->num_members = ranks->num_ranks;
	p->members = arena_array(p->arena, p->num_members, sizeof(*p->members));
	for (size_t i = 0; i < p->num_members; i++) {
		p->members[i] = (struct job_comms_member){
			.rank = ranks->ranks[i].rank,
			.of = &ranks->ranks[i],
		};
		is_sorted &= i == 0 || p->members[i - 1].rank <= p->members[i].rank;
	}
	p->most_entries = min_entries;
	for (size_t i = 0; i < p->num_members && p->most_entries < max_entries; i++)
		p->most_entries += entries_each + entries_comm * p->members[i].of->model->num_comms;
	p->member_of = arena_array(p->arena, p->num_members, sizeof(*p->member_of));
	if (!is_sorted)
		qsort(p->members, p->num_members, sizeof(*p->members), sorted_compare_int);
	for (size_t i = 0; i < p->num_members; i++)
		p->member_of[p->members[i].of->model->number] = (uint32_t)i;
}

struct job_comms *job_comms_create(const struct job_model *jm)
{
	struct arena *arena = arena_create();
	struct job_comms *comms = arena_alloc(arena, sizeof(*comms));
	struct job_comms_private *p = arena_alloc(arena, sizeof(*p));

	comms->private = p;
	p->arena = arena;
	p->jm = jm;
	list_members(p);
	make_worlds(p);
	fill_worlds(p);
	add_locals(p);
	for (uint32_t i = 0; i < p->num_members; i++)
		for (size_t c = 0; c < p->members[i].of->model->num_comms; c++)
			seat(p, i, c);
	job_comms_finish(comms);
	return comms;
}

void job_comms_destroy(struct job_comms *comms)
{
	if (!comms)
		return;
	for (size_t i = 0; i < comms->num_comms; i++)
		free(comms->comms[i].runs);
	arena_destroy(comms->private->arena);
}
