/* SPDX-License-Identifier: BSD-3-Clause
 * Message queues of MPICH over UCX that are damaged: they are refused, or what is wrong of them
 * is left out, and they do no harm. Whole ones: test_mpich_queues.c. */
#include "tests/unit/mpich_world.h"

/* Each communicator of MPICH 4.2 at a place that does not change. */
#define WORDS_42 WORDS(0x548)
#define BUILTIN_COMM(i) (world.variables + BUILTIN + (i)*WORDS_42)
#define DIRECT_COMM(i) (world.variables + DIRECT + (i)*WORDS_42)
#define MAP_42 WORDS(0x4a0)

/* Each changes one thing, so that nothing is believed any more. */
static const struct damage damages[] = {
	{BUILTIN_COMM(0), 0},
	{BUILTIN_COMM(0), 0x84000000},
	{BUILTIN_COMM(1), 0x44000002},
	{DIRECT_COMM(0), 0x84000001},
	{DIRECT_COMM(1), 0},
	{DIRECT_COMM(2), 0x84000003},
	{&world.variables[POOL], 0},
	{&world.variables[POOL], MANY},
	{&world.variables[POOL + 1], 3 | UINT64_C(8) << 32}, /* one block behind the last */
	{&world.variables[POOL + 1], UINT32_MAX | UINT64_C(8) << 32},
	{&world.variables[POOL + 1], (1 << 14) | UINT64_C(8) << 32},
	{&world.variables[POOL + 1], 2}, /* no objects, of which some are not in use */
	{&world.variables[POOL + 2], 9 | UINT64_C(1) << 32},
	{&world.variables[POOL + 2], 3}, /* objects of another kind */
	{&world.variables[POOL + 2], 3 | UINT64_C(2) << 32},
	{&world.variables[POOL + 3], 0},
	{&world.variables[POOL + 3], 0x368},
	{&world.variables[POOL + 3], 0x540},
	{&world.variables[POOL + 4], 0},
	{&world.variables[POOL + 4], VARIABLES + BUILTIN * 8},
	{&world.variables[POOL + 4], VARIABLES + DIRECT * 8 + 4},
	{&world.variables[POOL + 4], VARIABLES - 8},
	{&world.variables[POOL + 4], VARIABLES + NUM_VARIABLES * 8},
	{&world.variables[POOL + 4], BLOCKS},
	{&world.variables[POOL + 5], 0},
	{&world.variables[POOL + 5], 4},
	{&world.variables[POOL + 5], 16385},
	{&world.variables[POOL + 5], UINT32_MAX},
	{&world.block_list[0], 0},
	{&world.block_list[0], BLOCKS + WORDS_42 * 8},
	{&world.block_list[1], BLOCKS},
	{&world.block_list[1], UINT64_MAX - 7},
	{world.blocks[0], 0},
	{world.blocks[1], 0xc4000000},
	{&world.worker[TABLE_OF_RECEIVES], 0},
	{&world.worker[NEXT_NUMBER], 0},
};

static void make_busy_world(void)
{
	make_world(&versions[1]);
	post(TAG(0x40, 1, 1), EXACT);
	post(TAG(0x00, 1, 1), ANY);
	post(TAG(0x80, 1, 1), ALL_BITS);
	arrive(TAG(0x40, 1, 1));
	arrive(TAG(0x50, 1, 1));
}

static void test_damaged(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * NUM_OF(damages); i++) {
		struct mpich_queues *queues = create();
		struct message_queues *read;

		make_busy_world();
		/* Where all was well before, or not. */
		if (i % 2)
			message_queues_destroy(mpich_queues_read(queues));
		*damages[i / 2].word = damages[i / 2].value;
		read = mpich_queues_read(queues);
		if (read)
			fail_msg("damage %zu is believed", i / 2);
		/* A moment later all is well. */
		make_busy_world();
		read = mpich_queues_read(queues);
		assert_non_null(read);
		assert_int_equal(read->num_receives, 3);
		assert_int_equal(read->num_unexpected, 2);
		message_queues_destroy(read);
		free(queues);
	}
	make_busy_world();
	world.variables[WORKER_VARIABLE] = 0;
	assert_null(read_world());
}

/* A communicator that is no more, just being made or absurd is left out, and only that one. */
static void test_left_out(void **state)
{
	static const struct damage left_out[] = {
		{DIRECT_COMM(0), 0x84000000},
		{DIRECT_COMM(0) + 8, 0},
		{DIRECT_COMM(0) + 8, 0x400040 | UINT64_C(5) << 32},
		{DIRECT_COMM(0) + 8, 0x440040 | UINT64_C(4) << 32},
		{DIRECT_COMM(0) + MAP_42 + 1, 0},
		{DIRECT_COMM(0) + MAP_42 + 1, 0x80000000},
		{DIRECT_COMM(0) + MAP_42 + 1, 0x7fffffff},
		{DIRECT_COMM(0) + MAP_42 + 1, 1}, /* the rank is not in there */
	};
	struct message_queues *read;

	(void)state;
	for (size_t i = 0; i < NUM_OF(left_out); i++) {
		make_busy_world();
		*left_out[i].word = left_out[i].value;
		read = read_world();
		if (!read || read->num_receives != 2 || read->num_unexpected != 1)
			fail_msg("case %zu", i);
		message_queues_destroy(read);
	}
	/* As many as a rank may have of the job, but not more. */
	for (uint32_t size = 16 << 20; size <= (16 << 20) + 1; size++) {
		make_busy_world();
		DIRECT_COMM(0)[8] = halves(0x400040, size);
		DIRECT_COMM(0)[MAP_42 + 1] = halves(size, 4);
		read = read_world();
		assert_non_null(read);
		assert_int_equal(read->num_unexpected, size == 16 << 20 ? 2 : 1);
		message_queues_destroy(read);
	}
	/* Blocks in which none is in use are not looked at. */
	make_busy_world();
	*comm_words(IN_NEXT_BLOCK, 1) = comm_arrays[IN_NEXT_BLOCK].handle + 1;
	world.variables[POOL + 2] += 1;
	world.block_list[1] = 0;
	read = read_world();
	assert_non_null(read);
	assert_int_equal(read->num_receives, 2);
	message_queues_destroy(read);
}

#define MANY_BLOCKS 16
#define IN_BLOCK_40 4096
#define WORDS_40 WORDS(0x368)

/* Blocks full of objects that are none now, each behind that of the block before it; the last
 * one has so many. */
static void make_many_objects(uint32_t in_last)
{
	uint64_t *list = many + IN_BLOCK_40 * WORDS_40 + 64;

	make_world(&versions[0]);
	for (uint32_t block = 0; block < MANY_BLOCKS; block++) {
		for (uint32_t i = 0; i < IN_BLOCK_40; i++)
			many[i * WORDS_40 + block] = 0xc4000000 | block << 12 | i;
		list[block] = MANY + block * sizeof(*many);
	}
	if (in_last < IN_BLOCK_40)
		many[in_last * WORDS_40 + MANY_BLOCKS - 1] = 0;
	world.variables[POOL] = MANY + (uint64_t)(list - many) * sizeof(*many);
	world.variables[POOL + 1] = halves(MANY_BLOCKS, UINT32_MAX - NUM_OF(made_comms));
	world.variables[POOL + 2] = halves(0, 1);
}

/* Also what is left out is read, but not without end. */
static void test_many_objects(void **state)
{
	/* With what is behind the last one. */
	const uint32_t most = MANY_BLOCKS * IN_BLOCK_40 - comm_arrays[IN_BUILTIN].num -
			      comm_arrays[IN_DIRECT].num - 1;

	(void)state;
	num_many = IN_BLOCK_40 * WORDS_40 + 128;
	many = calloc(num_many, sizeof(*many));
	assert_non_null(many);
	for (uint32_t more = 0; more < 2; more++) {
		struct message_queues *read;

		make_many_objects(most % IN_BLOCK_40 + more);
		read = read_world();
		if ((read == NULL) != (more > 0))
			fail_msg("%u more", more);
		assert_in_range(num_reads, MANY_BLOCKS * IN_BLOCK_40,
				MANY_BLOCKS * IN_BLOCK_40 + 1000);
		message_queues_destroy(read);
	}
	num_many = 0;
	free(many);
}

/* Any words in any of the regions, many of them addresses of something else. */
static void test_random(void **state)
{
	size_t num_read = 0;

	(void)state;
	srand(1);
	for (int round = 0; round < 5000; round++) {
		struct mpich_queues *queues = create();
		struct message_queues *read;

		make_busy_world();
		if (round % 2)
			message_queues_destroy(mpich_queues_read(queues));
		for (int i = rand() % 4; i >= 0; i--) {
			const struct region *region = &regions[(size_t)rand() % NUM_OF(regions)];
			const struct region *other = &regions[(size_t)rand() % NUM_OF(regions)];
			size_t at = (size_t)rand() % WORDS(region->size);
			size_t to = (size_t)rand() % WORDS(other->size);
			const uint64_t values[] = {0,
						   1,
						   UINT64_MAX,
						   (uint64_t)rand(),
						   other->address + 8 * to,
						   ((uint64_t *)other->bytes)[to],
						   ((uint64_t *)region->bytes)[at] ^
							   UINT64_C(1) << rand() % 64};

			((uint64_t *)region->bytes)[at] = values[(size_t)rand() % NUM_OF(values)];
		}
		num_reads = 0;
		read = mpich_queues_read(queues);
		assert_in_range(num_reads, 1, 200000);
		for (size_t i = 0; read && i < read->num_receives; i++)
			assert_true(read->receives[i].comm < read->num_comms);
		for (size_t i = 0; read && i < read->num_unexpected; i++)
			assert_true(read->unexpected[i].comm < read->num_comms);
		num_read += read != NULL;
		message_queues_destroy(read);
		free(queues);
	}
	/* Neither is the test one of nothing. */
	assert_in_range(num_read, 500, 4500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_many_objects),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
