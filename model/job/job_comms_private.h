/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by job_comms.c, which finds them, job_comms_order.c, which sorts them, and
 * job_comms_views.c, which answers for them. */
#pragma once

#include "model/hash.h"
#include "model/job/job_comms.h"
#include "model/job/job_model_private.h"
#include "model/job/model.h"

struct world {
	int *ranks; /* [size] of the job, by world rank; -1: not known */
	size_t size;
	bool is_uniform; /* job's rank minus world rank is `offset` for all that are known */
	int offset;
};

struct list {
	int *ranks;
	size_t size, num_known;
	bool is_shared;     /* with the world */
	uint32_t filled_by; /* world that filled it last */
};

/* A communicator while it is put together. */
struct draft {
	struct job_comm comm;
	uint64_t parent_id;
	uint32_t world; /* of the first that has it */
	struct list lists[2];
	int last_rank; /* that has it */
	bool is_world;
	bool is_bad; /* ranks contradict each other */
	uint32_t level;
};

/* What a local communicator is, besides (index << 1 | side). */
enum {
	LOCAL_NONE = UINT32_MAX,
	LOCAL_SELF = UINT32_MAX - 1,
	LOCAL_UNKNOWN = UINT32_MAX - 2, /* nobody has looked */
	LOCAL_SPECIAL = LOCAL_UNKNOWN,  /* those from here on are no indexes */
};

/* A rank and what its comms are. */
struct job_comms_member {
	int rank;
	uint32_t world;
	const struct job_rank *of;
	uint32_t *locals; /* [num_comms]; NULL: what is known of those of the pool */
};

/* What a communicator of the models' pool is to members of one world. */
struct known_comm {
	uint32_t local;
	bool is_seated; /* somebody has found its side */
};

struct job_comms_private {
	struct arena *arena; /* of all but runs, and what is there while it is put together */
	struct job_comms_member *members; /* by rank */
	size_t num_members;
	uint32_t *member_of; /* [num_members] by number of the model */
	/* Of members without own locals, all of one world; NULL: there are none. */
	const struct model_pool *pool;
	uint32_t pool_world;
	struct known_comm *known; /* [pool->num_comms] */
	struct world *worlds;
	size_t num_worlds, worlds_capacity;
	uint64_t num_entries; /* of lists and worlds; so many may be */
	uint64_t most_entries;
	uint64_t num_steps; /* entries that were looked at, in turn */

	/* While it is put together. */
	const struct job_model *jm;
	struct draft *drafts;
	size_t num_drafts, drafts_capacity;
	struct pair_map draft_of; /* key -> draft */
	struct pair_map self_of;  /* id of one rank's communicator -> the last such member */
};

/* What entry `index` of a member's comms is. */
static inline uint32_t job_comms_local(const struct job_comms_private *p,
				       const struct job_comms_member *member, size_t index)
{
	return member->locals ? member->locals[index]
			      : p->known[member->of->model->pool_comms[index]].local;
}

/* Ids need not differ between worlds; what has members of several worlds is one thing in all. */
static inline uint64_t job_comms_key(const struct job_comms_private *p, uint32_t world, uint64_t id)
{
	return p->num_worlds == 1 ? id : hash_word(world + 1, id);
}

/* Sort the drafts, and make the communicators of those that are good. */
void job_comms_finish(struct job_comms *comms);

/* Add the view of a member, above all that are there. */
void job_comm_add_view(struct job_comm *comm, uint32_t member, uint32_t local, uint32_t side);
