/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/job/model.h"
#include "model/job/model_pool.h"

struct model_pool *model_pool_create(void)
{
	struct model_pool *pool = xcalloc(1, sizeof(*pool));

	pool->arena = arena_create();
	return model_pool_use(pool);
}

struct model_pool *model_pool_use(struct model_pool *pool)
{
	pool->num_users++;
	return pool;
}

void model_pool_release(struct model_pool *pool)
{
	if (!pool || --pool->num_users > 0)
		return;
	arena_destroy(pool->arena);
	free(pool->comms);
	free(pool->members);
	free(pool);
}

uint32_t model_pool_add_comm(struct model_pool *pool, const struct model_comm *comm)
{
	pool->comms =
		xgrow(pool->comms, pool->num_comms, &pool->comms_capacity, sizeof(*pool->comms));
	pool->comms[pool->num_comms] = *comm;
	return (uint32_t)pool->num_comms++;
}

int32_t *model_pool_add_members(struct model_pool *pool, size_t num)
{
	while (pool->members_capacity < pool->num_members + num) {
		pool->members_capacity = pool->members_capacity * 2 + num;
		pool->members = xreallocarray(pool->members, pool->members_capacity,
					      sizeof(*pool->members));
	}
	pool->num_members += num;
	return pool->members + (pool->num_members - num);
}
