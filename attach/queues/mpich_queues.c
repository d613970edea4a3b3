/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/process/maps.h"
#include "attach/process/memory.h"
#include "attach/queues/mpi_queues.h"
#include "attach/queues/ucx_queues.h"
#include "model/job/message_queues.h"

/* More than that is not read. */
#define MAX_VARIABLES (16 << 20) /* bytes */
#define MAX_COMMS 16384
#define MAX_OBJECTS (4 * MAX_COMMS) /* communicators, and objects that are none now */
#define MAX_RANKS (16 << 20)        /* of the job: what snapshots and shares have room for */

/* A tag of UCX, from its lowest bits on: the message's tag and other bits, the sender's rank in the
 * communicator, the communicator's number with what it is used for (its context). */
#define TAG_BITS UINT64_C(0x1fffffff)
#define ANY_TAG_BITS UINT64_C(0x0fffffff) /* a receive of any tag leaves them open */
#define SOURCE_BITS UINT64_C(0xffff00000000)
#define SOURCE_SHIFT 32
#define CONTEXT_SHIFT 48
#define CONTEXT_COLLECTIVE 1 /* the context's lowest bit: for collectives */

/* Objects are in arrays and begin with their handle, which tells the kind of object (here a
 * communicator), the array and the index in it: those that are always there, the first ones that
 * are made, and blocks of others. */
#define HANDLE_BUILTIN 0x44000000u
#define HANDLE_DIRECT 0x84000000u
#define HANDLE_BLOCK 0xc4000000u
#define HANDLE_BLOCK_SHIFT 12
#define MAX_BLOCKS (1 << 14)
#define MAX_IN_BLOCK (1 << HANDLE_BLOCK_SHIFT)
#define NUM_BUILTIN 2 /* MPI_COMM_WORLD, MPI_COMM_SELF */
#define MAX_DIRECT 64 /* versions that are known have 8 */
#define KIND_COMM 1   /* of the objects in a pool */

/* Of a communicator what all versions have at the same place. */
struct comm_object {
	uint32_t handle;
	uint32_t references; /* 0: not in use */
	uint8_t mutex[56];
	uint16_t send_context, receive_context; /* without what it is used for */
	int32_t remote_size, rank;
	uint64_t attributes;
	int32_t local_size;
	uint8_t others[24];
	char name[64]; /* its first bytes */
};

/* How ranks of the other side (of an intra-communicator: of its own) become processes: half of the
 * mode, which is odd for intra-communicators. */
enum map_way { MAP_DIRECT, MAP_OFFSET, MAP_STRIDE, MAP_BLOCKS, MAP_TABLE };

struct rank_map {
	int32_t mode;
	int32_t group; /* of processes: those that were started together; 0: its own */
	int32_t size;
	int32_t offset, stride, block;
	uint64_t unused;
	uint64_t processes; /* address of the table's int32_t */
};

/* Bytes of a communicator, and where its map is. */
static const struct layout {
	uint64_t size, map;
} layouts[] = {
	{0x368, 0x310}, /* 4.0 */
	{0x548, 0x4a0}, /* 4.2 */
};

/* MPIR_Object_alloc_t: where the communicators are. Before the first one is made, which a rank
 * alone on its node may never do, there are no objects: the array of the first ones is all zero. */
struct pool {
	uint64_t blocks; /* address of the blocks' addresses */
	uint32_t num_blocks, num_objects;
	uint32_t num_available, kind;
	uint64_t size;       /* of an object, bytes */
	uint64_t direct;     /* address of the array of the first ones */
	uint32_t num_direct; /* in it */
};

struct mpich_queues {
	struct memory memory;
	uint64_t start, end;    /* of the library's variables */
	struct ucx_place place; /* found together with the following */
	const struct layout *layout;
	uint64_t builtin, pool; /* addresses */
};

struct mpich_queues *mpich_queues_create(const struct memory *memory, const struct maps *maps)
{
	const struct maps_object *object = maps_find_object(maps, "libmpich.so");
	struct mpich_queues *queues, found = {.memory = *memory};

	if (!object || !maps_find_object(maps, "libucp.so") ||
	    !maps_find_variables(maps, object, &found.start, &found.end))
		return NULL;
	/* Memory of others may follow at once. */
	if (found.end - found.start > MAX_VARIABLES)
		found.end = found.start + MAX_VARIABLES;
	queues = xmalloc(sizeof(*queues));
	*queues = found;
	return queues;
}

/* ---- Finding ---- */

static bool get(const struct mpich_queues *q, uint64_t address, void *buffer, size_t size)
{
	return !memory_get(&q->memory, address, buffer, size);
}

/* Does an array of objects of that size begin at words[at]? */
static bool is_array(const uint64_t *words, size_t num, size_t at, uint32_t handle, uint64_t size)
{
	size_t next = at + size / sizeof(*words);

	return (uint32_t)words[at] == handle && next < num && (uint32_t)words[next] == handle + 1;
}

/* The address of the array; 0: there is none. */
static uint64_t find_array(const struct mpich_queues *q, const uint64_t *words, size_t num,
			   uint32_t handle)
{
	for (size_t i = 0; i < num; i++)
		if (is_array(words, num, i, handle, q->layout->size))
			return q->start + i * sizeof(*words);
	return 0;
}

/* The communicators, and the array of the first ones is among the library's variables? */
static bool is_pool(const struct mpich_queues *q, const struct pool *pool)
{
	return pool->size == q->layout->size && pool->kind == KIND_COMM && pool->num_direct > 0 &&
	       pool->num_direct <= MAX_DIRECT && pool->direct % sizeof(uint64_t) == 0 &&
	       pool->direct >= q->start && pool->direct < q->end &&
	       pool->num_direct * pool->size <= q->end - pool->direct;
}

static bool find_pool(struct mpich_queues *q, const uint64_t *words, size_t num)
{
	struct pool pool;

	for (size_t i = 0; i + sizeof(pool) / sizeof(*words) <= num; i++) {
		memcpy(&pool, &words[i], sizeof(pool));
		q->pool = q->start + i * sizeof(*words);
		if (is_pool(q, &pool))
			return true;
	}
	return false;
}

static bool find_comms(struct mpich_queues *q, const uint64_t *words, size_t num)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		q->layout = &layouts[i];
		q->builtin = find_array(q, words, num, HANDLE_BUILTIN);
		if (q->builtin && find_pool(q, words, num))
			return true;
	}
	return false;
}

static bool find(void *library, struct ucx_worker *ret)
{
	struct mpich_queues *q = library;
	size_t num = (q->end - q->start) / sizeof(uint64_t);
	uint64_t *words = xcalloc(num, sizeof(*words));
	bool is_found = get(q, q->start, words, num * sizeof(*words)) &&
			find_comms(q, words, num) &&
			ucx_worker_find(&q->memory, q->start, words, num, ret);

	free(words);
	return is_found;
}

/* ---- Communicators ---- */

struct comm {
	struct comm_object object;
	struct rank_map map;
};

struct reader {
	struct mpich_queues *q;
	struct arena *arena;
	struct comm *comms; /* by context */
	size_t num_comms, comms_capacity;
	size_t num_objects; /* that were looked at, each of which may be no communicator now */
};

/* False if it is not there, or not what it should be. One that is not in use is left out. */
static bool read_comm(struct reader *r, uint64_t address, uint32_t handle)
{
	struct comm comm;

	if (r->num_objects++ >= MAX_OBJECTS ||
	    !get(r->q, address, &comm.object, sizeof(comm.object)) || comm.object.handle != handle)
		return false;
	if (!comm.object.references)
		return true;
	if (r->num_comms >= MAX_COMMS ||
	    !get(r->q, address + r->q->layout->map, &comm.map, sizeof(comm.map)))
		return false;
	/* One that is just being made has no members yet. */
	if (comm.map.size <= 0 || comm.map.size > MAX_RANKS ||
	    comm.map.size != comm.object.remote_size)
		return true;
	*ARENA_PUSH(r->arena, r->comms, r->num_comms, r->comms_capacity) = comm;
	return true;
}

/* Up to the last one in use, which `most` tells, of these and those before; or to the first that is
 * none. False if there is none, or if these would be too many. */
static bool read_block(struct reader *r, uint64_t address, uint32_t block, size_t most)
{
	uint32_t handle = HANDLE_BLOCK | block << HANDLE_BLOCK_SHIFT, num = 0;

	while (r->num_comms < most && num < MAX_IN_BLOCK &&
	       read_comm(r, address + num * r->q->layout->size, handle + num))
		num++;
	return r->num_objects <= MAX_OBJECTS && (num > 0 || r->num_comms >= most);
}

SORTED_BY(compare_contexts, struct comm, object.receive_context)

static bool read_comms(struct reader *r)
{
	const struct mpich_queues *q = r->q;
	struct pool pool;
	uint64_t *blocks;

	if (!get(q, q->pool, &pool, sizeof(pool)) || !is_pool(q, &pool) ||
	    pool.num_blocks > MAX_BLOCKS || pool.num_available > pool.num_objects)
		return false;
	for (uint32_t i = 0; i < NUM_BUILTIN; i++)
		if (!read_comm(r, q->builtin + i * pool.size, HANDLE_BUILTIN + i))
			return false;
	for (uint32_t i = 0; pool.num_objects && i < pool.num_direct; i++)
		if (!read_comm(r, pool.direct + i * pool.size, HANDLE_DIRECT + i))
			return false;
	blocks = arena_array(r->arena, pool.num_blocks, sizeof(*blocks));
	if (pool.num_blocks && !get(q, pool.blocks, blocks, pool.num_blocks * sizeof(*blocks)))
		return false;
	for (uint32_t i = 0; i < pool.num_blocks; i++)
		if (!read_block(r, blocks[i], i,
				NUM_BUILTIN + pool.num_objects - pool.num_available))
			return false;
	sorted_make(r->comms, r->num_comms, sizeof(*r->comms), compare_contexts);
	return true;
}

static struct comm *find_comm(const struct reader *r, uint16_t context)
{
	const struct comm key = {.object.receive_context = context};

	return r->num_comms ? bsearch(&key, r->comms, r->num_comms, sizeof(key), compare_contexts)
			    : NULL;
}

/* The job's rank that has this one in the communicator; MESSAGE_OTHER_PEER: none, or not known. */
static int32_t rank_of(const struct reader *r, const struct comm *comm, int32_t in_comm)
{
	const struct rank_map *map = &comm->map;
	int64_t rank = -1;
	int32_t from_table;

	switch ((enum map_way)((uint32_t)map->mode / 2)) {
	case MAP_DIRECT:
		rank = in_comm;
		break;
	case MAP_OFFSET:
		rank = (int64_t)in_comm + map->offset;
		break;
	case MAP_STRIDE:
		rank = (int64_t)in_comm * map->stride + map->offset;
		break;
	case MAP_BLOCKS:
		if (map->block > 0)
			rank = (int64_t)(in_comm / map->block) * map->stride +
			       in_comm % map->block + map->offset;
		break;
	case MAP_TABLE:
		if (get(r->q, map->processes + (uint64_t)in_comm * sizeof(from_table), &from_table,
			sizeof(from_table)))
			rank = from_table;
		break;
	}
	return map->group == 0 && rank >= 0 && rank < MAX_RANKS ? (int32_t)rank
								: MESSAGE_OTHER_PEER;
}

/* ---- Messages ---- */

static bool take(const void *library, const struct ucx_tag *tag, struct ucx_message *ret)
{
	uint16_t context = (uint16_t)(tag->tag >> CONTEXT_SHIFT);
	const struct reader *r = library;
	const struct comm *comm = find_comm(r, context & ~CONTEXT_COLLECTIVE);
	int32_t source = (int32_t)((tag->tag & SOURCE_BITS) >> SOURCE_SHIFT);
	int32_t number = (int32_t)(tag->tag & TAG_BITS);

	if (!comm || source >= comm->map.size)
		return false;
	ret->source.comm = (size_t)(comm - r->comms);
	ret->source.in_comm = tag->mask & SOURCE_BITS ? source : MESSAGE_ANY_PEER;
	if (context & CONTEXT_COLLECTIVE)
		ret->tag = -1 - number;
	else
		ret->tag = tag->mask & ANY_TAG_BITS ? number : MESSAGE_ANY_TAG;
	return true;
}

static void describe(const void *library, size_t comm, struct queued_comm *ret)
{
	const struct comm *from = &((const struct reader *)library)->comms[comm];

	ret->size = (uint32_t)from->map.size;
	queued_comm_set_name(ret, from->object.name, sizeof(from->object.name));
}

static bool read_ranks(void *library, const struct ucx_member *members, size_t num, int32_t *ranks)
{
	const struct reader *r = library;

	for (size_t i = 0; i < num; i++)
		ranks[i] = rank_of(r, &r->comms[members[i].comm], members[i].in_comm);
	return true;
}

struct message_queues *mpich_queues_read(struct mpich_queues *queues)
{
	static const struct ucx_meaning meaning = {take, describe, read_ranks};
	struct reader r = {.q = queues, .arena = arena_create()};
	struct message_queues *ret = NULL;

	/* A new session of MPI may have a new worker. */
	if (ucx_place_is_known(&queues->place, &queues->memory, find, queues) && read_comms(&r))
		ret = ucx_queues_read(&queues->memory, &queues->place.worker, r.num_comms, &meaning,
				      &r, r.arena);
	arena_destroy(r.arena);
	return ret;
}
