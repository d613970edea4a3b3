/* SPDX-License-Identifier: BSD-3-Clause
 * Communicators as the recorder keeps them: handles, ids that several ranks find alone, lists of
 * members, numbers of collectives. */
#include "model/recorder/comms.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unit.h"

enum { RANKS = 6 };

static char dir[] = "/tmp/pdb-test-comms-XXXXXX";

/* What one process of a world of RANKS has. */
struct process {
	struct writer writer;
	struct comms comms;
};
static struct process *processes[RANKS];

static int setup(void **state)
{
	char why[512];

	(void)state;
	for (int rank = 0; rank < RANKS; rank++) {
		struct process *p = processes[rank] = calloc(1, sizeof(*p));
		struct writer_identity identity = {.rank = rank, .job = "comms"};
		if (!p || writer_create(&p->writer, dir, &identity, 64, 0, why, sizeof(why)) != 0)
			return -1;
		comms_predefine(&p->comms, &p->writer, rank, RANKS);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (int rank = 0; rank < RANKS; rank++) {
		writer_remove(&processes[rank]->writer);
		idhash_clear(&processes[rank]->comms.lists);
		idhash_clear(&processes[rank]->comms.ids);
		pages_unmap(processes[rank]->writer.header, processes[rank]->writer.mapped);
		free(processes[rank]);
	}
	return 0;
}

static const struct seg_comm *entry(int rank, uint32_t index)
{
	assert_true(index < processes[rank]->comms.num);
	return &processes[rank]->comms.entries[index];
}

static const int32_t *stored(int rank, uint32_t first)
{
	const struct seg_header *h = processes[rank]->writer.header;

	assert_true(first < h->tables[SEG_TABLE_MEMBERS].count);
	return (const int32_t *)((const char *)h + h->tables[SEG_TABLE_MEMBERS].offset) + first;
}

static uint32_t num_stored(int rank)
{
	return processes[rank]->writer.header->tables[SEG_TABLE_MEMBERS].count;
}

static uint32_t add(int rank, const struct comms_new *n)
{
	return comms_add(&processes[rank]->comms, &processes[rank]->writer, n);
}

/* By a call that is collective over `parent`, with this group, in this rank. */
static uint32_t make(int rank, uint32_t parent, uint64_t handle, uint32_t size,
		     const int32_t *members)
{
	return add(rank, &(struct comms_new){
				 .origin = COMMID_COLLECTIVE,
				 .key = comms_key(COMMS_C, handle),
				 .parent = parent,
				 .ordinal = comms_child(&processes[rank]->comms, parent),
				 .size = size,
				 .members = members,
			 });
}

/* ---- Handles ---- */

static void test_handles(void **state)
{
	struct comms *c = &processes[0]->comms;
	const uint64_t key = comms_key(COMMS_C, 0x7ffff7dd1000), none = comms_key(COMMS_C, 0);
	const uint64_t fortran = comms_key(COMMS_FORTRAN, 3);

	(void)state;
	assert_int_equal(comms_find(c, key), HANDLES_UNKNOWN);
	assert_int_equal(comms_find(c, none), HANDLES_UNKNOWN);
	assert_true(comms_map(c, none, SEG_NO_COMM));
	assert_int_equal(comms_find(c, none), SEG_NO_COMM);
	/* An index of no entry is none. */
	assert_true(comms_map(c, key, 2));
	assert_int_equal(comms_find(c, key), SEG_NO_COMM);

	uint32_t index = make(0, 0, 0x1000, 1, (int32_t[]){0});
	assert_int_equal(index, 2);
	assert_int_equal(comms_find(c, comms_key(COMMS_C, 0x1000)), index);
	assert_int_equal(comms_find(c, comms_key(COMMS_WINDOW_C, 0x1000)), HANDLES_UNKNOWN);
	assert_true(comms_map(c, fortran, index));
	assert_int_equal(comms_find(c, fortran), index);
	assert_int_equal(comms_find(c, comms_key(COMMS_FILE_FORTRAN, 3)), HANDLES_UNKNOWN);

	/* Freed, its handles are unknown; then one of them is that of another. */
	comms_unmap(c, index);
	comms_freed(c, index);
	assert_int_equal(entry(0, index)->is_freed, 1);
	assert_int_equal(comms_find(c, fortran), HANDLES_UNKNOWN);
	uint32_t other = make(0, 0, 0x1000, 1, (int32_t[]){0});
	assert_int_equal(other, 3);
	assert_int_equal(comms_find(c, comms_key(COMMS_C, 0x1000)), other);
	assert_int_equal(comms_find(c, fortran), HANDLES_UNKNOWN);

	/* Freed though nobody said so. */
	uint32_t third = make(0, 0, 0x1000, 1, (int32_t[]){0});
	assert_int_equal(entry(0, other)->is_freed, 1);
	assert_int_equal(comms_find(c, comms_key(COMMS_C, 0x1000)), third);
}

static void test_adopt(void **state)
{
	struct process *p = processes[0];
	const uint64_t key = comms_key(COMMS_WINDOW_C, 0x2000);

	(void)state;
	uint32_t index = comms_adopt(&p->comms, &p->writer, key, SEG_COMM_WINDOW);
	assert_int_equal(index, 2);
	assert_int_equal(comms_adopt(&p->comms, &p->writer, key, SEG_COMM_WINDOW), index);
	assert_int_equal(entry(0, index)->id, 0);
	assert_int_equal(entry(0, index)->kind, SEG_COMM_WINDOW);
	assert_int_equal(entry(0, index)->members, SEG_NO_MEMBERS);
	/* What is made from it has no id either. */
	assert_int_equal(entry(0, make(0, index, 0x3000, 1, (int32_t[]){0}))->id, 0);
}

/* Handles that find no room make no entries, however often they are asked for. */
static void test_no_room_for_handles(void **state)
{
	struct process *p = processes[0];
	uint64_t handle = 1;

	(void)state;
	while (comms_map(&p->comms, comms_key(COMMS_C, handle * 0x70), 0))
		handle++;
	for (int i = 0; i < 3; i++)
		assert_int_equal(comms_adopt(&p->comms, &p->writer,
					     comms_key(COMMS_C, handle * 0x70), SEG_COMM_INTRA),
				 SEG_NO_COMM);
	assert_int_equal(p->writer.header->tables[SEG_TABLE_COMMS].count, 2);
	assert_int_equal(comms_find(&p->comms, comms_key(COMMS_C, 0x70)), 0);
}

static void test_no_room(void **state)
{
	struct process *p = processes[0];

	(void)state;
	p->writer.header->tables[SEG_TABLE_COMMS].capacity = 3;
	assert_int_equal(make(0, 0, 0x1000, 1, (int32_t[]){0}), 2);
	assert_int_equal(make(0, 0, 0x2000, 1, (int32_t[]){0}), SEG_NO_COMM);
	assert_int_equal(comms_find(&p->comms, comms_key(COMMS_C, 0x2000)), SEG_NO_COMM);
	assert_int_equal(
		comms_adopt(&p->comms, &p->writer, comms_key(COMMS_C, 0x3000), SEG_COMM_INTRA),
		SEG_NO_COMM);
	assert_int_equal(comms_find(&p->comms, comms_key(COMMS_C, 0x3000)), SEG_NO_COMM);
	assert_int_equal(comms_start(&p->comms, SEG_NO_COMM, 1, 0, 0), 0);
	assert_int_equal(p->writer.header->tables[SEG_TABLE_COMMS].dropped, 2);
}

/* ---- Ids ---- */

static void test_predefined(void **state)
{
	(void)state;
	for (int rank = 0; rank < RANKS; rank++) {
		assert_int_equal(entry(rank, 0)->id, entry(0, 0)->id);
		assert_int_not_equal(entry(rank, 0)->id, 0);
		assert_int_equal(entry(rank, 0)->rank, rank);
		assert_int_equal(entry(rank, 0)->size, RANKS);
		assert_int_equal(entry(rank, 0)->members, SEG_ALL_MEMBERS);
		assert_int_equal(entry(rank, 1)->size, 1);
		assert_int_equal(stored(rank, entry(rank, 1)->members)[0], rank);
		for (int other = 0; other < rank; other++)
			assert_int_not_equal(entry(rank, 1)->id, entry(other, 1)->id);
	}
	/* Twice does nothing. */
	comms_predefine(&processes[0]->comms, &processes[0]->writer, 0, RANKS);
	assert_int_equal(processes[0]->comms.num, 2);
}

/* As docs/segment-format.md says: another reader, another writer can find the same. */
static void test_format(void **state)
{
	(void)state;
	assert_int_equal(commid_step(0, 0), 0xe220a8397b1dcdafu);
	assert_int_equal(commid_of_members((int32_t[]){0}, 1), commid_step(commid_step(0, 1), 0));
	assert_int_equal(commid_of_members((int32_t[]){-1}, 1),
			 commid_step(commid_step(0, 1), UINT64_MAX));
	uint64_t h = commid_step(
		commid_step(commid_step(commid_step(commid_step(0, 3), 11), 12), 13), 14);
	assert_int_equal(commid(COMMID_COLLECTIVE, 11, 12, 13, 14), h);
}

/* Halves of the world, twice; then a row of what the halves' members do in different orders. */
static void test_collective_ids(void **state)
{
	const int32_t halves[2][3] = {{0, 2, 4}, {1, 3, 5}};
	uint32_t first[RANKS], second[RANKS], inner[RANKS];

	(void)state;
	for (int rank = 0; rank < RANKS; rank++) {
		first[rank] = make(rank, 0, 0x1000, 3, halves[rank % 2]);
		if (rank % 2)
			inner[rank] = make(rank, first[rank], 0x2000, 3, halves[rank % 2]);
		second[rank] = make(rank, 0, 0x3000, 3, halves[rank % 2]);
		if (rank % 2 == 0)
			inner[rank] = make(rank, first[rank], 0x2000, 3, halves[rank % 2]);
	}
	for (int rank = 0; rank < RANKS; rank++) {
		assert_int_equal(entry(rank, first[rank])->id,
				 entry(rank % 2, first[rank % 2])->id);
		assert_int_equal(entry(rank, second[rank])->id,
				 entry(rank % 2, second[rank % 2])->id);
		assert_int_equal(entry(rank, inner[rank])->id,
				 entry(rank % 2, inner[rank % 2])->id);
		assert_int_equal(entry(rank, first[rank])->ordinal, 1);
		assert_int_equal(entry(rank, second[rank])->ordinal, 2);
		assert_int_equal(entry(rank, inner[rank])->ordinal, 1);
		assert_int_equal(entry(rank, inner[rank])->parent_id, entry(rank, first[rank])->id);
	}
	const uint64_t ids[] = {
		entry(0, 0)->id,         entry(0, 1)->id,        entry(0, first[0])->id,
		entry(0, second[0])->id, entry(0, inner[0])->id, entry(1, first[1])->id,
		entry(1, second[1])->id, entry(1, inner[1])->id,
	};
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(ids[i], ids[j]);
}

/* A rank that gets nothing (MPI_UNDEFINED) has counted all the same. */
static void test_left_out(void **state)
{
	(void)state;
	make(0, 0, 0x1000, 1, (int32_t[]){0});
	comms_child(&processes[1]->comms, 0);
	uint32_t in0 = make(0, 0, 0x2000, 2, (int32_t[]){0, 1});
	uint32_t in1 = make(1, 0, 0x2000, 2, (int32_t[]){0, 1});
	assert_int_equal(entry(0, in0)->id, entry(1, in1)->id);
}

static uint32_t make_group(int rank, uint64_t tag, uint32_t size, const int32_t *members)
{
	return add(rank, &(struct comms_new){
				 .origin = COMMID_GROUP,
				 .key = comms_key(COMMS_C, 0x1000 + 16 * tag),
				 .parent = 0,
				 .extra = tag,
				 .size = size,
				 .members = members,
			 });
}

/* Not collective over the parent: what others have made in between does not count. */
static void test_group_ids(void **state)
{
	const int32_t pair[] = {0, 1}, trio[] = {0, 1, 2};

	(void)state;
	uint32_t a0 = make_group(0, 5, 2, pair), b0 = make_group(0, 5, 3, trio);
	uint32_t c0 = make_group(0, 5, 2, pair), d0 = make_group(0, 6, 2, pair);
	uint32_t b1 = make_group(1, 5, 3, trio), a1 = make_group(1, 5, 2, pair);
	uint32_t d1 = make_group(1, 6, 2, pair), c1 = make_group(1, 5, 2, pair);
	uint32_t b2 = make_group(2, 5, 3, trio);

	assert_int_equal(entry(0, a0)->id, entry(1, a1)->id);
	assert_int_equal(entry(0, b0)->id, entry(1, b1)->id);
	assert_int_equal(entry(0, b0)->id, entry(2, b2)->id);
	assert_int_equal(entry(0, c0)->id, entry(1, c1)->id);
	assert_int_equal(entry(0, d0)->id, entry(1, d1)->id);
	assert_int_equal(entry(0, a0)->ordinal, 1);
	assert_int_equal(entry(0, c0)->ordinal, 2);
	const uint64_t ids[] = {entry(0, a0)->id, entry(0, b0)->id, entry(0, c0)->id,
				entry(0, d0)->id};
	for (size_t i = 0; i < 4; i++)
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(ids[i], ids[j]);
	/* Nor does it count as a child of the parent. */
	assert_int_equal(entry(0, make(0, 0, 0x9000, 2, pair))->ordinal, 1);
}

/* The two sides have no parent in common, and each is the other's remote group. */
static void test_inter_ids(void **state)
{
	const int32_t low[] = {0, 1}, high[] = {2, 3, 4};
	uint32_t index[5];

	(void)state;
	for (int rank = 0; rank < 5; rank++) {
		bool is_low = rank < 2;
		uint32_t local =
			is_low ? make(rank, 0, 0x1000, 2, low) : make(rank, 0, 0x1000, 3, high);
		index[rank] = add(rank, &(struct comms_new){
						.kind = SEG_COMM_INTER,
						.origin = COMMID_LEADERS,
						.key = comms_key(COMMS_C, 0x2000),
						.parent = local,
						.extra = 99,
						.size = is_low ? 2 : 3,
						.members = is_low ? low : high,
						.remote_size = is_low ? 3 : 2,
						.remote = is_low ? high : low,
					});
		assert_int_equal(entry(rank, index[rank])->id, entry(0, index[0])->id);
		assert_int_equal(entry(rank, index[rank])->parent_id, entry(rank, local)->id);
		assert_int_equal(entry(rank, index[rank])->kind, SEG_COMM_INTER);
	}
	assert_int_not_equal(entry(0, index[0])->id, 0);
	assert_memory_equal(stored(0, entry(0, index[0])->remote_members), high, sizeof(high));
	assert_memory_equal(stored(2, entry(2, index[2])->remote_members), low, sizeof(low));
	assert_memory_equal(stored(2, entry(2, index[2])->members), high, sizeof(high));

	/* A duplicate of it, then both groups in one. */
	uint64_t ids[5];
	for (int rank = 0; rank < 5; rank++) {
		struct comms *c = &processes[rank]->comms;
		uint32_t dup = add(rank, &(struct comms_new){
						 .kind = SEG_COMM_INTER,
						 .origin = COMMID_COLLECTIVE,
						 .key = comms_key(COMMS_C, 0x3000),
						 .parent = index[rank],
						 .ordinal = comms_child(c, index[rank]),
						 .like_parent = true,
					 });
		assert_int_equal(entry(rank, dup)->remote_members,
				 entry(rank, index[rank])->remote_members);
		uint32_t all = make(rank, dup, 0x4000, 5, (int32_t[]){0, 1, 2, 3, 4});
		ids[rank] = entry(rank, all)->id;
		assert_int_equal(ids[rank], ids[0]);
	}
	assert_int_not_equal(ids[0], 0);
}

/* Processes of another world have no ranks that both sides know. */
static void test_other_world(void **state)
{
	(void)state;
	uint32_t index = add(0, &(struct comms_new){
					.kind = SEG_COMM_INTER,
					.origin = COMMID_COLLECTIVE,
					.key = comms_key(COMMS_C, 0x1000),
					.parent = 0,
					.ordinal = comms_child(&processes[0]->comms, 0),
					.size = 2,
					.members = (int32_t[]){0, 1},
					.remote_size = 2,
					.remote = (int32_t[]){-1, -1},
				});
	assert_int_equal(entry(0, index)->id, 0);
	assert_int_equal(stored(0, entry(0, index)->remote_members)[1], -1);
	assert_int_equal(entry(0, index)->parent_id, entry(0, 0)->id);
}

/* ---- Lists ---- */

static void test_lists(void **state)
{
	const int32_t world[] = {0, 1, 2, 3, 4, 5}, turned[] = {5, 4, 3, 2, 1, 0}, two[] = {0, 1};
	uint32_t before = num_stored(0);

	(void)state;
	assert_int_equal(entry(0, make(0, 0, 0x1000, RANKS, world))->members, SEG_ALL_MEMBERS);
	assert_int_equal(num_stored(0), before);
	uint32_t a = entry(0, make(0, 0, 0x2000, RANKS, turned))->members;
	assert_int_equal(num_stored(0), before + RANKS);
	assert_memory_equal(stored(0, a), turned, sizeof(turned));
	assert_int_equal(entry(0, make(0, 0, 0x3000, RANKS, turned))->members, a);
	assert_int_equal(num_stored(0), before + RANKS);
	/* The first two of the world are not the world. */
	uint32_t b = entry(0, make(0, 0, 0x4000, 2, two))->members;
	assert_memory_equal(stored(0, b), two, sizeof(two));
	/* Not known. */
	uint32_t unknown = make(0, 0, 0x5000, 3, NULL);
	assert_int_equal(entry(0, unknown)->members, SEG_NO_MEMBERS);
	assert_int_equal(entry(0, unknown)->size, 3);
	assert_int_equal(entry(0, unknown)->id, 0);
}

static void test_topology(void **state)
{
	const int32_t sources[] = {4, 1, 1};
	struct comms *c = &processes[0]->comms;

	(void)state;
	uint32_t grid = add(0, &(struct comms_new){
				       .origin = COMMID_COLLECTIVE,
				       .key = comms_key(COMMS_C, 0x1000),
				       .parent = 0,
				       .ordinal = comms_child(c, 0),
				       .rank = 2,
				       .size = 2,
				       .members = (int32_t[]){3, 0},
				       .num_sources = 3,
				       .sources = sources,
			       });
	assert_int_equal(entry(0, grid)->num_sources, 3);
	assert_memory_equal(stored(0, entry(0, grid)->sources), sources, sizeof(sources));
	for (int topology = 0; topology < 2; topology++) {
		uint32_t copy = add(0, &(struct comms_new){
					       .kind = topology ? SEG_COMM_INTRA : SEG_COMM_WINDOW,
					       .origin = COMMID_COLLECTIVE,
					       .key = comms_key(COMMS_C, 0x2000),
					       .parent = grid,
					       .ordinal = comms_child(c, grid),
					       .like_parent = true,
					       .has_topology_of_parent = topology,
				       });
		assert_int_equal(entry(0, copy)->rank, 2);
		assert_int_equal(entry(0, copy)->size, 2);
		assert_int_equal(entry(0, copy)->members, entry(0, grid)->members);
		assert_int_equal(entry(0, copy)->num_sources, topology ? 3 : 0);
	}
}

/* ---- Names and collectives ---- */

static void test_names(void **state)
{
	struct process *p = processes[0];
	const char *strings =
		(const char *)p->writer.header + p->writer.header->tables[SEG_TABLE_STRINGS].offset;
	char text[200];

	(void)state;
	assert_int_equal(entry(0, 0)->name, 0);
	comms_name(&p->comms, &p->writer, 0, "halo    ", 4);
	uint32_t first = entry(0, 0)->name;
	comms_name(&p->comms, &p->writer, 0, "halo", 4);
	assert_int_equal(entry(0, 0)->name, first);
	assert_string_equal(strings + entry(0, 0)->name, "halo");
	memset(text, 'x', sizeof(text));
	comms_name(&p->comms, &p->writer, 0, text, sizeof(text));
	assert_int_equal(strlen(strings + entry(0, 0)->name), 127);
	/* A program that renames it again and again fills nothing. */
	for (int i = 0; i < 100; i++)
		comms_name(&p->comms, &p->writer, 0, i % 2 ? "again" : "and", i % 2 ? 5 : 3);
	uint32_t used = p->writer.header->tables[SEG_TABLE_STRINGS].count;
	comms_name(&p->comms, &p->writer, 0, "again", 5);
	assert_int_equal(p->writer.header->tables[SEG_TABLE_STRINGS].count, used);
	comms_name(&p->comms, &p->writer, SEG_NO_COMM, "nothing", 7);
}

static void test_collectives(void **state)
{
	struct comms *c = &processes[0]->comms;

	(void)state;
	for (uint64_t n = 1; n <= SEG_RECENT + 3; n++)
		assert_int_equal(comms_start(c, 0, 100 + n, n % 2 ? 3 : SEG_PEER_NONE, 8 * n), n);
	assert_int_equal(comms_start(c, 1, 7, SEG_PEER_ROOT, SEG_NO_BYTES), 1);
	const struct seg_comm *world = entry(0, 0);
	assert_int_equal(world->collectives, SEG_RECENT + 3);
	assert_int_equal(world->seq % 2, 0);
	for (uint64_t n = 4; n <= SEG_RECENT + 3; n++) {
		const struct seg_collective *recent = &world->recent[n % SEG_RECENT];
		assert_int_equal(recent->number, n);
		assert_int_equal(recent->bytes, 8 * n);
		assert_int_equal(recent->site, 100 + n);
		assert_int_equal(recent->root, n % 2 ? 3 : SEG_PEER_NONE);
	}
	assert_int_equal(entry(0, 1)->recent[1].root, SEG_PEER_ROOT);
	assert_int_equal(entry(0, 1)->recent[1].bytes, SEG_NO_BYTES);
	assert_int_equal(entry(0, 1)->recent[0].number, 0);
}

/* ---- What one-sided calls leave to a flush ---- */

static void test_pending(void **state)
{
	enum step { LEAVE, FLUSH, FREE };
	/* After each step: what is pending of the window, and of how many windows something is. */
	static const struct {
		uint32_t window;
		enum step step;
		uint32_t bits, pending, num;
	} steps[] = {
		{2, LEAVE, COMMS_LOCAL, COMMS_LOCAL, 1},
		{2, LEAVE, COMMS_ALL, COMMS_ALL, 1},
		{2, FLUSH, COMMS_LOCAL, COMMS_REMOTE, 1},
		{2, FLUSH, COMMS_LOCAL, COMMS_REMOTE, 1},
		{3, FLUSH, COMMS_ALL, 0, 1},
		{3, LEAVE, COMMS_LOCAL, COMMS_LOCAL, 2},
		{3, FLUSH, COMMS_LOCAL, 0, 1},
		{2, FLUSH, COMMS_ALL, 0, 0},
		{2, FLUSH, COMMS_ALL, 0, 0},
		/* It is gone, and with it what was left to do. */
		{2, LEAVE, COMMS_ALL, COMMS_ALL, 1},
		{2, FREE, 0, 0, 0},
		/* Of all that found no room nothing is known to be done. */
		{SEG_NO_COMM, FLUSH, COMMS_ALL, 0, 0},
		{SEG_NO_COMM, LEAVE, COMMS_ALL, COMMS_ALL, 1},
		{SEG_NO_COMM, FLUSH, COMMS_ALL, COMMS_ALL, 1},
		{3, FLUSH, COMMS_ALL, 0, 1},
	};
	struct comms *c = &processes[0]->comms;

	(void)state;
	assert_int_equal(make(0, 0, 16, 2, (int32_t[]){1, 0}), 2);
	assert_int_equal(make(0, 0, 32, 2, (int32_t[]){1, 0}), 3);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		uint32_t window = steps[i].window;
		if (steps[i].step == LEAVE)
			comms_leave_pending(c, window, steps[i].bits);
		else if (steps[i].step == FLUSH)
			comms_flush(c, window, steps[i].bits);
		else
			comms_freed(c, window);
		assert_int_equal(comms_pending_of(c, window), steps[i].pending);
		assert_int_equal(c->num_pending, steps[i].num);
		assert_int_equal(comms_has_pending(c), steps[i].num > 0);
	}
}

/* ---- Entries that are used again ---- */

/* As the recorder does: made from MPI_COMM_WORLD. */
static uint32_t make_again(int rank, uint64_t handle)
{
	comms_recycle(&processes[rank]->comms, &processes[rank]->writer);
	return make(rank, 0, handle, 2, (int32_t[]){1, 0});
}

static void free_comm(int rank, uint32_t index)
{
	comms_unmap(&processes[rank]->comms, index);
	comms_freed(&processes[rank]->comms, index);
}

static uint32_t num_reused(int rank)
{
	return processes[rank]->writer.header->reused_comms;
}

/* A program that makes and frees communicators without end: no more entries, ids as ever. */
static void test_reused(void **state)
{
	(void)state;
	uint32_t kept = make_again(0, 16);
	uint64_t kept_id = entry(0, kept)->id;
	for (int i = 1; i < 3 * COMMS_MANY; i++) {
		uint32_t index = make_again(0, 16 + 16 * (i % 7 + 1));
		assert_true(index < COMMS_MANY);
		assert_true(index != kept);
		assert_int_equal(entry(0, index)->ordinal, i + 1);
		assert_int_equal(entry(0, index)->is_freed, 0);
		assert_int_equal(entry(0, index)->collectives, 0);
		assert_int_equal(entry(0, index)->seq % 2, 0);
		comms_start(&processes[0]->comms, index, 5, 0, 8);
		assert_int_equal(entry(0, index)->recent[1].number, 1);
		free_comm(0, index);
	}
	assert_int_equal(processes[0]->comms.num, COMMS_MANY);
	assert_int_equal(processes[0]->writer.header->tables[SEG_TABLE_COMMS].count, COMMS_MANY);
	assert_int_equal(num_reused(0), 3 * COMMS_MANY - (COMMS_MANY - 2));
	assert_true(entry(0, kept)->id == kept_id);
	assert_int_equal(comms_find(&processes[0]->comms, comms_key(COMMS_C, 16)), kept);
	/* Another rank, which has not freed any, finds the same id. */
	uint32_t index = make_again(0, 16 + 16), there = 0;
	for (int i = 0; i < 3 * COMMS_MANY + 1; i++)
		there = make_again(1, 0x10000 + 16 * i);
	assert_int_equal(num_reused(1), 0);
	assert_int_equal(entry(1, there)->ordinal, entry(0, index)->ordinal);
	assert_true(entry(1, there)->id == entry(0, index)->id);
}

/* In the order in which they were freed; not while a request is about it. */
static void test_reused_in_order(void **state)
{
	struct process *p = processes[0];
	struct seg_request *request;
	uint32_t index, slot;

	(void)state;
	for (index = 2; index < COMMS_MANY; index++)
		make_again(0, 16 * index);
	assert_int_equal(make_again(0, 16 * COMMS_MANY), COMMS_MANY);
	free_comm(0, 100);
	free_comm(0, 30);
	free_comm(0, 31);
	request = writer_next(&p->writer, SEG_TABLE_REQUESTS, 1, &slot);
	assert_non_null(request);
	writer_publish(&p->writer, SEG_TABLE_REQUESTS, 1);
	request->kind = SEG_REQUEST_RECV;
	request->comm = 100;
	/* One that is about none of them. */
	struct seg_request *other = writer_next(&p->writer, SEG_TABLE_REQUESTS, 1, &slot);
	writer_publish(&p->writer, SEG_TABLE_REQUESTS, 1);
	other->kind = SEG_REQUEST_OTHER;
	other->comm = SEG_NO_COMM;
	assert_int_equal(comms_recycle(&p->comms, &p->writer), 30);
	assert_true(entry(0, 30)->id == 0);
	/* Asked twice, as where what was to be made could not be known. */
	assert_int_equal(comms_recycle(&p->comms, &p->writer), 30);
	assert_int_equal(make_again(0, 0x100000), 30);
	assert_int_equal(make_again(0, 0x100010), 31);
	request->kind = SEG_REQUEST_FREE;
	assert_int_equal(make_again(0, 0x100020), 100);
	assert_int_equal(make_again(0, 0x100030), COMMS_MANY + 1);
	assert_int_equal(num_reused(0), 3);
}

/* Of those that are told apart by how many equal ones there were, the first is where that is
 * counted. */
static void test_reused_groups(void **state)
{
	const int32_t pair[] = {0, 1};

	(void)state;
	uint32_t first = make_group(0, 5, 2, pair);
	free_comm(0, first);
	for (int i = 0; i < COMMS_MANY; i++)
		make_again(0, 0x100000 + 16 * i);
	for (int i = 2; i < 10; i++) {
		comms_recycle(&processes[0]->comms, &processes[0]->writer);
		uint32_t next = make_group(0, 5, 2, pair);
		assert_true(next != first);
		assert_int_equal(entry(0, next)->ordinal, i);
		free_comm(0, next);
	}
	assert_int_equal(num_reused(0), 7);
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

#define COMMS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		COMMS_TEST(test_handles),         COMMS_TEST(test_no_room_for_handles),
		COMMS_TEST(test_adopt),           COMMS_TEST(test_no_room),
		COMMS_TEST(test_predefined),      COMMS_TEST(test_collective_ids),
		COMMS_TEST(test_left_out),        COMMS_TEST(test_group_ids),
		COMMS_TEST(test_inter_ids),       COMMS_TEST(test_other_world),
		COMMS_TEST(test_lists),           COMMS_TEST(test_topology),
		COMMS_TEST(test_names),           COMMS_TEST(test_collectives),
		COMMS_TEST(test_pending),         COMMS_TEST(test_reused),
		COMMS_TEST(test_reused_in_order), COMMS_TEST(test_reused_groups),
		cmocka_unit_test(test_format),
	};

	if (!mkdtemp(dir))
		return 1;
	return cmocka_run_group_tests(tests, NULL, remove_dir);
}
