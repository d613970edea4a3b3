/* SPDX-License-Identifier: BSD-3-Clause
 * What the models of many ranks have in common, stored once. Models that use a pool are in it and
 * point into it; it lives until the last of them is freed. */
#pragma once

#include "model/base.h"

struct model_comm;

struct model_pool {
	size_t num_users;
	/* Communicators, as ranks with the same view of them have them; `rank` is not used. */
	struct model_comm *comms;
	size_t num_comms, comms_capacity;
	/* Lists of world ranks, which model_comm.members and the like are indexes into. */
	int32_t *members;
	size_t num_members, members_capacity;
	struct arena *arena; /* of all else */
};

/* One user: whoever makes it. */
struct model_pool *model_pool_create(void);
/* One user more; the pool. */
struct model_pool *model_pool_use(struct model_pool *pool);
/* One user less; the last one frees it. NULL is fine. */
void model_pool_release(struct model_pool *pool);

/* Add a communicator: its number. Those there are may move. */
uint32_t model_pool_add_comm(struct model_pool *pool, const struct model_comm *comm);
/* Room for `num` more members, at num_members, which grows by as many. Those there are may move. */
int32_t *model_pool_add_members(struct model_pool *pool, size_t num);
