/* SPDX-License-Identifier: BSD-3-Clause
 * The memory of a process with MPICH over UCX, put together by hand at addresses of its own: the
 * variables of the library, a worker of UCX with its queues, receives, messages, and
 * communicators. */
#ifndef PDB_TESTS_UNIT_MPICH_WORLD_H
#define PDB_TESTS_UNIT_MPICH_WORLD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attach/process/maps.h"
#include "attach/process/memory.h"
#include "attach/queues/mpi_queues.h"
#include "model/job/message_queues.h"
#include "tests/unit/unit.h"

#define WORDS(bytes) ((bytes) / 8)
#define ALL_BITS UINT64_MAX

/* Addresses; between them nothing can be read. */
#define VARIABLES UINT64_C(0x7f0000001000)
#define WORKER UINT64_C(0x7f1000000000)
#define CONTEXT UINT64_C(0x7f2000000000)
#define QUEUES UINT64_C(0x7f3000000000)
#define RINGS UINT64_C(0x7f4000000000)
#define RECEIVES UINT64_C(0x7f5000000000)
#define MESSAGES UINT64_C(0x7f6000000000)
#define BLOCKS UINT64_C(0x7f7000000000)
#define BLOCK_LIST UINT64_C(0x7f8000000000)
#define TABLE UINT64_C(0x7f9000000000)
#define MANY UINT64_C(0x7fa000000000)

enum {
	NUM_BUCKETS = 1024,
	RECEIVE_WORDS = 64,
	RECEIVE_ELEMENT = 16, /* word of a receive that is its element of a queue */
	MESSAGE_WORDS = 8,
	MAX_OF_EACH = 16, /* receives, messages */
	BLOCK_WORDS = 1024,
	FIRST_NUMBER = 5, /* of a receive: others were met */
	/* Words of the variables. */
	BUILTIN = WORDS(0x200),
	DIRECT = WORDS(0x1400),
	POOL = WORDS(0x3000),
	WORKER_VARIABLE = WORDS(0x3800),
	NUM_VARIABLES = WORDS(0x4000),
	/* Words of the worker: the queue of receives that leave bits open, what follows it. */
	WILDCARD = 150,
	TABLE_OF_RECEIVES = WILDCARD + 3,
	NEXT_NUMBER,
	SOFTWARE,
	ALL_MESSAGES,
	TABLE_OF_MESSAGES = ALL_MESSAGES + 2,
};

/* The versions of Debian 12 and Debian 13. */
struct mpich_version {
	const char *name;
	size_t comm_size, comm_map; /* bytes */
	int worker, tag;            /* words of a receive from its element on */
};

static const struct mpich_version versions[] = {
	{"MPICH 4.0, UCX 1.13", 0x368, 0x310, 11, 21},
	{"MPICH 4.2, UCX 1.18", 0x548, 0x4a0, -8, 2},
};

static struct world {
	uint64_t variables[NUM_VARIABLES];
	uint64_t worker[400], context[8];
	uint64_t queues[NUM_BUCKETS][3], rings[NUM_BUCKETS][2];
	uint64_t receives[MAX_OF_EACH][RECEIVE_WORDS];
	uint64_t messages[MAX_OF_EACH][MESSAGE_WORDS];
	uint64_t blocks[2][BLOCK_WORDS]; /* of communicators */
	uint64_t block_list[2];
	uint64_t table[2]; /* four processes of a communicator, each half a word */
} world;

static const struct mpich_version *version; /* of the world */
static size_t num_receives, num_messages;   /* in it */
static uint64_t *many;                      /* words at MANY */
static size_t num_many;

/* What comes of its being read. */
static size_t num_reads;
static size_t num_changes; /* so often a receive comes in while the queues are read */

static const struct region {
	uint64_t address;
	void *bytes;
	size_t size;
} regions[] = {
	{VARIABLES, world.variables, sizeof(world.variables)},
	{WORKER, world.worker, sizeof(world.worker)},
	{CONTEXT, world.context, sizeof(world.context)},
	{QUEUES, world.queues, sizeof(world.queues)},
	{RINGS, world.rings, sizeof(world.rings)},
	{RECEIVES, world.receives, sizeof(world.receives)},
	{MESSAGES, world.messages, sizeof(world.messages)},
	{BLOCKS, world.blocks, sizeof(world.blocks)},
	{BLOCK_LIST, world.block_list, sizeof(world.block_list)},
	{TABLE, world.table, sizeof(world.table)},
};

/* The bytes that the world has there; NULL: not so many. */
static inline void *bytes_at(uint64_t address, size_t size)
{
	uint64_t many_size = num_many * sizeof(*many);

	for (size_t i = 0; i < NUM_OF(regions); i++) {
		uint64_t offset = address - regions[i].address;

		if (offset <= regions[i].size && size <= regions[i].size - offset)
			return (char *)regions[i].bytes + offset;
	}
	if (address - MANY <= many_size && size <= many_size - (address - MANY))
		return (char *)many + (address - MANY);
	return NULL;
}

static inline int read_bytes(void *context, uint64_t address, void *buffer, size_t size)
{
	const void *bytes = bytes_at(address, size);

	(void)context;
	num_reads++;
	if (!bytes)
		return -1;
	memcpy(buffer, bytes, size);
	if (address == WORKER + WILDCARD * sizeof(uint64_t) && num_changes) {
		world.worker[NEXT_NUMBER]++;
		num_changes--;
	}
	return 0;
}

/* Something in the world that is not as it should be. */
struct damage {
	uint64_t *word;
	uint64_t value;
};

static const struct memory world_memory = {.read = read_bytes};

static inline uint64_t halves(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

/* The word at an address, which the world has. */
static inline uint64_t *word_at(uint64_t address)
{
	return bytes_at(address, sizeof(uint64_t));
}

/* ---- UCX ---- */

static inline size_t bucket_of(uint64_t tag)
{
	return ((uint32_t)tag % 1021) ^ ((uint32_t)(tag >> 32) % 1021);
}

/* Put a receive, whose first word is at that address, behind the others of a queue. */
static inline void push_receive(uint64_t at, uint64_t queue, uint64_t tag, uint64_t mask)
{
	uint64_t element = at + RECEIVE_ELEMENT * sizeof(uint64_t);
	uint64_t *words = word_at(element);

	words[version->worker] = WORKER;
	words[version->tag] = tag;
	words[version->tag + 1] = mask;
	words[version->tag + 2] = world.worker[NEXT_NUMBER]++;
	*word_at(*word_at(queue + 8)) = element;
	*word_at(queue + 8) = element;
}

static inline void post(uint64_t tag, uint64_t mask)
{
	uint64_t queue = mask == ALL_BITS ? QUEUES + bucket_of(tag) * sizeof(world.queues[0])
					  : WORKER + WILDCARD * sizeof(uint64_t);

	push_receive(RECEIVES + num_receives++ * sizeof(world.receives[0]), queue, tag, mask);
}

static inline void push_link(uint64_t head, uint64_t at)
{
	uint64_t last = *word_at(head);

	*word_at(last + 8) = at;
	*word_at(at) = last;
	*word_at(at + 8) = head;
	*word_at(head) = at;
}

static inline void push_message(uint64_t at, uint64_t tag)
{
	push_link(RINGS + bucket_of(tag) * sizeof(world.rings[0]), at);
	push_link(WORKER + ALL_MESSAGES * sizeof(uint64_t), at + 16);
	*word_at(at + 48) = tag;
}

static inline void arrive(uint64_t tag)
{
	push_message(MESSAGES + num_messages++ * sizeof(world.messages[0]), tag);
}

/* A worker without receives and messages, and the library's variables that lead to it. */
static inline void make_worker(void)
{
	uint64_t all = WORKER + ALL_MESSAGES * sizeof(uint64_t);

	world.variables[WORKER_VARIABLE] = WORKER;
	world.variables[WORKER_VARIABLE + 1] = CONTEXT;
	/* Something else, with an address in it. */
	world.variables[WORKER_VARIABLE - 20] = CONTEXT;
	world.worker[3] = CONTEXT;
	world.worker[WILDCARD + 1] = WORKER + WILDCARD * sizeof(uint64_t);
	world.worker[TABLE_OF_RECEIVES] = QUEUES;
	world.worker[NEXT_NUMBER] = FIRST_NUMBER;
	world.worker[ALL_MESSAGES] = world.worker[ALL_MESSAGES + 1] = all;
	world.worker[TABLE_OF_MESSAGES] = RINGS;
	for (size_t i = 0; i < NUM_BUCKETS; i++) {
		world.queues[i][1] = QUEUES + i * sizeof(world.queues[0]);
		world.rings[i][0] = world.rings[i][1] = RINGS + i * sizeof(world.rings[0]);
	}
}

/* ---- MPICH ---- */

/* What it makes of tags: its context, the sender's rank, its own tag; what a receive may leave
 * open. */
#define TAG(context, source, tag)                                                                  \
	((uint64_t)(context) << 48 | (uint64_t)(source) << 32 | (uint64_t)(tag))
#define EXACT UINT64_C(0xffffffff1fffffff)
#define ANY_SOURCE UINT64_C(0xffff00001fffffff)
#define ANY_TAG UINT64_C(0xfffffffff0000000)
#define ANY (ANY_SOURCE & ANY_TAG)

/* The arrays of communicators. */
enum { IN_BUILTIN, IN_DIRECT, IN_BLOCK, IN_NEXT_BLOCK, NUM_ARRAYS };

static const struct comm_array {
	uint64_t *words;
	uint32_t handle; /* of the first one */
	uint32_t num;
} comm_arrays[NUM_ARRAYS] = {
	{world.variables + BUILTIN, 0x44000000, 2},
	{world.variables + DIRECT, 0x84000000, 3},
	{world.blocks[0], 0xc4000000, 3},
	{world.blocks[1], 0xc4001000, 2},
};

/* Those that are in use; their ranks are those of the job from `offset` on. */
enum { COMM_WORLD, COMM_SELF, HALO, COLUMNS, TABLED, SPAWNED, FARTHEST };

static const struct made_comm {
	int array;
	uint32_t index;
	uint16_t context;
	const char *name;
	int32_t group, size, offset;
} made_comms[] = {
	[COMM_WORLD] = {IN_BUILTIN, 0, 0x00, "MPI_COMM_WORLD", 0, 8, 0},
	[COMM_SELF] = {IN_BUILTIN, 1, 0x10, "MPI_COMM_SELF", 0, 1, 3},
	[HALO] = {IN_DIRECT, 0, 0x40, "halo\n", 0, 4, 4},
	[COLUMNS] = {IN_DIRECT, 2, 0x20, "", 0, 2, 2},
	[TABLED] = {IN_BLOCK, 0, 0x50, "in a table", 0, 4, 0},
	[SPAWNED] = {IN_BLOCK, 2, 0x60, "spawned", 1, 2, 0},
	[FARTHEST] = {IN_NEXT_BLOCK, 1, 0x80, "", 0, 65, 0},
};

static inline uint64_t *comm_words(int array, uint32_t index)
{
	return comm_arrays[array].words + index * WORDS(version->comm_size);
}

/* Of one of made_comms: mode, group, size, offset, stride, block as halves of words. */
static inline uint64_t *map_of(int comm)
{
	return comm_words(made_comms[comm].array, made_comms[comm].index) +
	       WORDS(version->comm_map);
}

static inline void make_comm(int i)
{
	const struct made_comm *comm = &made_comms[i];
	uint64_t *words = comm_words(comm->array, comm->index), *map = map_of(i);

	words[0] = halves(comm_arrays[comm->array].handle + comm->index, 1);
	words[8] = comm->context | (uint64_t)comm->context << 16 | halves(0, (uint32_t)comm->size);
	words[11] = (uint32_t)comm->size;
	strcpy((char *)words + 116, comm->name);
	map[0] = halves(i == TABLED ? 9 : 3, (uint32_t)comm->group);
	map[1] = halves((uint32_t)comm->size, (uint32_t)comm->offset);
	map[4] = i == TABLED ? TABLE : 0;
}

static inline void make_comms(void)
{
	static const int32_t table[] = {7, 0, -1, 5};
	uint32_t num_objects = 0;

	for (int array = 0; array < NUM_ARRAYS; array++) {
		for (uint32_t i = 0; i < comm_arrays[array].num; i++)
			comm_words(array, i)[0] = comm_arrays[array].handle + i;
		num_objects += array == IN_BUILTIN ? 0 : comm_arrays[array].num;
	}
	/* A number that looks like an array but is none. */
	world.variables[1] = comm_arrays[IN_DIRECT].handle;
	for (int i = 0; i < (int)NUM_OF(made_comms); i++)
		make_comm(i);
	memcpy(world.table, table, sizeof(table));
	world.block_list[0] = BLOCKS;
	world.block_list[1] = BLOCKS + sizeof(world.blocks[0]);
	world.variables[POOL] = BLOCK_LIST;
	world.variables[POOL + 1] = halves(2, num_objects);
	world.variables[POOL + 2] = halves(num_objects + 2 - NUM_OF(made_comms), 1);
	world.variables[POOL + 3] = version->comm_size;
	world.variables[POOL + 4] = VARIABLES + DIRECT * sizeof(uint64_t);
	world.variables[POOL + 5] = comm_arrays[IN_DIRECT].num;
}

/* As long as the library has made no communicator: it has those that are always there, and no
 * objects. */
static inline void leave_builtin(void)
{
	for (int array = IN_DIRECT; array < NUM_ARRAYS; array++)
		memset(comm_words(array, 0), 0, comm_arrays[array].num * version->comm_size);
	world.variables[POOL] = world.variables[POOL + 1] = 0;
	world.variables[POOL + 2] = halves(0, 1);
}

/* Without receives and messages. */
static inline void make_world(const struct mpich_version *of)
{
	memset(&world, 0, sizeof(world));
	version = of;
	num_receives = num_messages = num_reads = num_changes = 0;
	make_worker();
	make_comms();
}

/* ---- Reading ---- */

#define MPICH_MAPS                                                                                 \
	"7f0000000000-7f0000001000 r-xp 00000000 fe:00 7 /lib/libmpich.so.12.1.6\n"                \
	"7f0000001000-7f0000002000 rw-p 00001000 fe:00 7 /lib/libmpich.so.12.1.6\n"                \
	"7f0000002000-7f0000005000 rw-p 00000000 00:00 0\n"
#define UCX_MAPS "7f0000006000-7f0000007000 r-xp 00000000 fe:00 8 /lib/libucp.so.0.0.0\n"

static inline struct mpich_queues *create_from(const char *text)
{
	char *copy = strdup(text);
	struct maps *maps = maps_parse(copy);
	struct mpich_queues *queues = mpich_queues_create(&world_memory, maps);

	maps_destroy(maps);
	free(copy);
	return queues;
}

static inline struct mpich_queues *create(void)
{
	struct mpich_queues *queues = create_from(MPICH_MAPS UCX_MAPS);

	assert_non_null(queues);
	return queues;
}

/* By somebody who sees the process for the first time. */
static inline struct message_queues *read_world(void)
{
	struct mpich_queues *queues = create();
	struct message_queues *read = mpich_queues_read(queues);

	free(queues);
	return read;
}

#endif
