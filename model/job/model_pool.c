/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "model/job/model.h"
#include "model/job/model_pool.h"
#include "model/xalloc.h"

/* Tables of lanes are mostly some KB, rows of communicators some bytes. */
enum { BLOCK_SIZE = 64 << 10, ALIGNMENT = 16 };

struct model_pool *model_pool_create(void)
{
	struct model_pool *pool = xcalloc(1, sizeof(*pool));

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
	for (size_t i = 0; i < pool->num_blocks; i++)
		free(pool->blocks[i]);
	free(pool->blocks);
	free(pool->comms);
	free(pool->members);
	free(pool);
}

static void *add_block(struct model_pool *pool, size_t num, size_t size)
{
	pool->blocks = xgrow(pool->blocks, pool->num_blocks, &pool->blocks_capacity,
			     sizeof(*pool->blocks));
	return pool->blocks[pool->num_blocks++] = xcalloc(num, size);
}

void *model_pool_take(struct model_pool *pool, size_t num, size_t size)
{
	size_t bytes;
	void *taken;

	if (size && num > BLOCK_SIZE / 4 / size)
		return add_block(pool, num, size);
	bytes = (num * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (!pool->free || bytes > pool->num_free) {
		pool->free = add_block(pool, BLOCK_SIZE, 1);
		pool->num_free = BLOCK_SIZE;
	}
	taken = pool->free;
	pool->free += bytes;
	pool->num_free -= bytes;
	return taken;
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
