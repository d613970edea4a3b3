/* SPDX-License-Identifier: BSD-3-Clause
 * What job_comms.c, which finds the communicators, and job_comms_views.c, which answers for them,
 * share. */
#ifndef PDB_MODEL_JOB_COMMS_PRIVATE_H
#define PDB_MODEL_JOB_COMMS_PRIVATE_H

#include "model/job/job_comms.h"
#include "model/job/job_model_private.h"
#include "model/job/model.h"

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
	/* Of members without locals of their own, which are all of one world. NULL: there are none.
	 */
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
	struct pair_map
		self_of; /* id of a communicator of one rank alone -> the last such member */
};

/* What entry `index` of a member's comms is. */
static inline uint32_t job_comms_local(const struct job_comms_private *p,
				       const struct job_comms_member *member, size_t index)
{
	return member->locals ? member->locals[index]
			      : p->known[member->of->model->pool_comms[index]].local;
}

/* Add the view of a member, above all that are there. */
void job_comm_add_view(struct job_comm *comm, uint32_t member, uint32_t local, uint32_t side);

#endif
