/* SPDX-License-Identifier: BSD-3-Clause
 * Message queues of MPICH over UCX, put together by hand: what their tags mean, and in which
 * order they are. Damaged ones: test_mpich_damaged.c; real ones: tests/attach/queues.sh. */
#include "tests/unit/mpich_world.h"

static void test_none(void **state)
{
	static const struct {
		const char *maps;
		bool is_there;
	} cases[] = {
		{"", false},
		{MPICH_MAPS, false},
		{UCX_MAPS, false},
		{MPICH_MAPS UCX_MAPS, true},
		/* No variables, more than is read, the library for Fortran. */
		{"1000-2000 r-xp 00000000 fe:00 7 /lib/libmpich.so.12\n" UCX_MAPS, false},
		{"1000-2000 r-xp 00000000 fe:00 7 /lib/libmpich.so.12\n"
		 "2000-2002000 rw-p 00001000 fe:00 7 /lib/libmpich.so.12\n" UCX_MAPS,
		 true},
		{"1000-2000 r-xp 00000000 fe:00 7 /lib/libmpichfort.so.12\n"
		 "2000-3000 rw-p 00001000 fe:00 7 /lib/libmpichfort.so.12\n" UCX_MAPS,
		 false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct mpich_queues *queues = create_from(cases[i].maps);

		if (!queues == cases[i].is_there)
			fail_msg("case %zu", i);
		free(queues);
	}
}

/* ---- Finding ---- */

/* A rank that has no communicators but those that are always there, until it makes others. */
static void test_builtin(void **state)
{
	(void)state;
	for (size_t v = 0; v < NUM_OF(versions); v++) {
		uint64_t end = VARIABLES + sizeof(world.variables), size = versions[v].comm_size;
		struct mpich_queues *queues = create();
		struct message_queues *read;

		make_world(&versions[v]);
		leave_builtin();
		post(TAG(0x00, 7, 5), EXACT);
		arrive(TAG(0x40, 3, 9));
		read = mpich_queues_read(queues);
		assert_non_null(read);
		assert_int_equal(read->num_receives, 1);
		assert_int_equal(read->receives[0].peer, 7);
		assert_int_equal(read->num_unexpected, 0);
		message_queues_destroy(read);
		make_comms();
		read = mpich_queues_read(queues);
		assert_non_null(read);
		assert_int_equal(read->num_receives, 1);
		assert_int_equal(read->num_unexpected, 1);
		message_queues_destroy(read);
		free(queues);
		/* Those that it will make must be among its variables. */
		leave_builtin();
		world.variables[POOL + 4] = end - 3 * size;
		read = read_world();
		assert_non_null(read);
		message_queues_destroy(read);
		world.variables[POOL + 4] += 8;
		assert_null(read_world());
		/* Objects of the same size, but of another kind, are of something else. */
		make_world(&versions[v]);
		memcpy(&world.variables[POOL - 10], &world.variables[POOL], 6 * sizeof(uint64_t));
		world.variables[POOL - 8] = halves(0, 2);
		read = read_world();
		assert_non_null(read);
		message_queues_destroy(read);
	}
}

static bool is_read(struct mpich_queues *queues)
{
	struct message_queues *read = mpich_queues_read(queues);

	message_queues_destroy(read);
	return read != NULL;
}

/* Where there is nothing to be found is ever less searched. */
static void test_search(void **state)
{
	struct mpich_queues *queues = create();

	(void)state;
	make_world(&versions[0]);
	for (int round = 0; round < 2; round++) {
		world.variables[WORKER_VARIABLE] = 0;
		for (int i = 1; i < 64; i++) {
			if (i == 20)
				world.variables[WORKER_VARIABLE] = WORKER;
			num_reads = 0;
			if (is_read(queues) != (i >= 32))
				fail_msg("take %d of round %d", i, round);
			if (i < 32 && (i & (i - 1)))
				assert_int_equal(num_reads, 0);
			else
				assert_in_range(num_reads, 2, 1000);
		}
	}
	free(queues);
}

/* A new session has another worker, while what is left of the old one looks as before. */
static void test_new_worker(void **state)
{
	uint64_t all = MANY + ALL_MESSAGES * sizeof(uint64_t);
	struct mpich_queues *queues = create();
	struct message_queues *read;

	(void)state;
	make_world(&versions[1]);
	many = calloc(NUM_OF(world.worker), sizeof(*many));
	assert_non_null(many);
	num_many = NUM_OF(world.worker);
	memcpy(many, world.worker, sizeof(world.worker));
	many[WILDCARD + 1] = MANY + WILDCARD * sizeof(uint64_t);
	many[ALL_MESSAGES] = many[ALL_MESSAGES + 1] = all;
	post(TAG(0x00, 0, 0), ANY);
	read = mpich_queues_read(queues);
	assert_non_null(read);
	assert_int_equal(read->num_receives, 1);
	message_queues_destroy(read);
	world.variables[WORKER_VARIABLE] = MANY;
	read = mpich_queues_read(queues);
	assert_non_null(read);
	assert_int_equal(read->num_receives, 0);
	message_queues_destroy(read);
	free(queues);
	num_many = 0;
	free(many);
}

/* ---- Tags ---- */

static const struct tag_case {
	uint64_t tag, mask;
	int32_t comm; /* one of made_comms; -1: left out */
	int32_t peer, read_tag;
} tag_cases[] = {
	{TAG(0x00, 0, 0), EXACT, COMM_WORLD, 0, 0},
	{TAG(0x00, 7, 5), EXACT, COMM_WORLD, 7, 5},
	{TAG(0x00, 7, 0x0fffffff), EXACT, COMM_WORLD, 7, 0x0fffffff},
	{TAG(0x00, 7, 5), ALL_BITS, COMM_WORLD, 7, 5},
	{TAG(0x00, 0, 5), ANY_SOURCE, COMM_WORLD, MESSAGE_ANY_PEER, 5},
	{TAG(0x00, 6, 0), ANY_TAG, COMM_WORLD, 6, MESSAGE_ANY_TAG},
	{TAG(0x00, 0, 0), ANY, COMM_WORLD, MESSAGE_ANY_PEER, MESSAGE_ANY_TAG},
	{TAG(0x10, 0, 9), EXACT, COMM_SELF, 3, 9},
	{TAG(0x40, 3, 9), EXACT, HALO, 7, 9},
	{TAG(0x20, 1, 9), EXACT, COLUMNS, 3, 9},
	{TAG(0x50, 0, 9), EXACT, TABLED, 7, 9},
	{TAG(0x60, 1, 9), EXACT, SPAWNED, MESSAGE_OTHER_PEER, 9},
	{TAG(0x80, 64, 9), EXACT, FARTHEST, 64, 9},
	/* Bits that are no part of the tag, such as those of a synchronous message. */
	{TAG(0x40, 3, 0xe0000009), EXACT, HALO, 7, 9},
	/* Of collectives. */
	{TAG(0x01, 2, 0), EXACT, COMM_WORLD, 2, -1},
	{TAG(0x41, 2, 12), EXACT, HALO, 6, -13},
	{TAG(0x01, 2, 0x1fffffff), EXACT, COMM_WORLD, 2, -0x20000000},
	/* Nobody knows such a communicator, or such a rank in it. */
	{TAG(0x30, 0, 9), EXACT, -1, 0, 0},
	{TAG(0x02, 0, 9), EXACT, -1, 0, 0},
	{TAG(0xffff, 0, 9), EXACT, -1, 0, 0},
	{TAG(0x00, 8, 9), EXACT, -1, 0, 0},
	{TAG(0x40, 0xffff, 9), EXACT, -1, 0, 0},
};

static void assert_case(const struct message_queues *read, bool is_message,
			const struct tag_case *expected)
{
	const struct queued_message *of = is_message ? read->unexpected : read->receives;
	size_t num = is_message ? read->num_unexpected : read->num_receives;
	const struct made_comm *comm;

	assert_int_equal(read->num_receives + read->num_unexpected, expected->comm >= 0);
	assert_int_equal(read->num_comms, expected->comm >= 0);
	if (expected->comm < 0)
		return;
	comm = &made_comms[expected->comm];
	assert_int_equal(num, 1);
	assert_int_equal(of->comm, 0);
	assert_int_equal(of->peer, expected->peer);
	assert_int_equal(of->tag, expected->read_tag);
	assert_int_equal(read->comms[0].size, comm->size);
	assert_string_equal(read->comms[0].name, expected->comm == HALO ? "halo?" : comm->name);
}

static void test_tags(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * NUM_OF(versions) * NUM_OF(tag_cases); i++) {
		const struct tag_case *expected = &tag_cases[i / (2 * NUM_OF(versions))];
		struct message_queues *read;
		bool is_message = i % 2;

		if (is_message && expected->mask != EXACT)
			continue;
		make_world(&versions[i / 2 % NUM_OF(versions)]);
		if (is_message)
			arrive(expected->tag);
		else
			post(expected->tag, expected->mask);
		read = read_world();
		if (!read)
			fail_msg("%s: tag %llx", version->name, (unsigned long long)expected->tag);
		assert_case(read, is_message, expected);
		assert_int_equal(read->num_posted, FIRST_NUMBER + !is_message);
		message_queues_destroy(read);
	}
}

#define NONE MESSAGE_OTHER_PEER

/* How the ranks of a communicator become those of the job. */
static void test_rank_maps(void **state)
{
	static const struct {
		uint32_t mode, group;
		int32_t offset, stride, block;
		uint64_t table;
		int32_t ranks[4];
	} cases[] = {
		{0, 0, 9, 9, 9, TABLE, {0, 1, 2, 3}},
		{1, 0, 9, 9, 9, TABLE, {0, 1, 2, 3}},
		{2, 0, 5, 9, 9, TABLE, {5, 6, 7, 8}},
		{3, 0, -2, 9, 9, TABLE, {NONE, NONE, 0, 1}},
		{4, 0, 1, 3, 9, TABLE, {1, 4, 7, 10}},
		{5, 0, 7, -2, 9, TABLE, {7, 5, 3, 1}},
		{5, 0, 0, INT32_MAX, 9, TABLE, {0, NONE, NONE, NONE}},
		{6, 0, 1, 4, 2, TABLE, {1, 2, 5, 6}},
		{7, 0, 0, 8, 3, TABLE, {0, 1, 2, 8}},
		{7, 0, 0, 8, 0, TABLE, {NONE, NONE, NONE, NONE}},
		{7, 0, 0, 8, -1, TABLE, {NONE, NONE, NONE, NONE}},
		{8, 0, 0, 0, 0, TABLE, {7, 0, NONE, 5}},
		{9, 0, 0, 0, 0, TABLE + 8, {NONE, 5, NONE, NONE}}, /* it ends there */
		{9, 0, 0, 0, 0, 0, {NONE, NONE, NONE, NONE}},
		{10, 0, 0, 0, 0, TABLE, {NONE, NONE, NONE, NONE}},
		{UINT32_MAX, 0, 0, 0, 0, TABLE, {NONE, NONE, NONE, NONE}},
		{1, 1, 0, 0, 0, TABLE, {NONE, NONE, NONE, NONE}},
		{9, 2, 0, 0, 0, TABLE, {NONE, NONE, NONE, NONE}},
	};

	(void)state;
	for (size_t i = 0; i < 4 * NUM_OF(versions) * NUM_OF(cases); i++) {
		size_t n = i / (4 * NUM_OF(versions)), source = i % 4;
		struct message_queues *read;
		uint64_t *map;

		make_world(&versions[i / 4 % NUM_OF(versions)]);
		map = map_of(HALO);
		map[0] = halves(cases[n].mode, cases[n].group);
		map[1] = halves(4, (uint32_t)cases[n].offset);
		map[2] = halves((uint32_t)cases[n].stride, (uint32_t)cases[n].block);
		map[4] = cases[n].table;
		arrive(TAG(0x40, source, 1));
		read = read_world();
		assert_non_null(read);
		assert_int_equal(read->num_unexpected, 1);
		if (read->unexpected[0].peer != cases[n].ranks[source])
			fail_msg("case %zu: %zu is %d", n, source, read->unexpected[0].peer);
		message_queues_destroy(read);
	}
}

/* ---- What comes first ---- */

static void assert_order(const struct queued_message *messages, size_t num,
			 const struct queued_message *expected, size_t num_expected)
{
	assert_int_equal(num, num_expected);
	for (size_t i = 0; i < num; i++)
		if (messages[i].comm != expected[i].comm || messages[i].peer != expected[i].peer ||
		    messages[i].tag != expected[i].tag)
			fail_msg("%zu: peer %d, tag %d, communicator %u", i, messages[i].peer,
				 messages[i].tag, messages[i].comm);
}

/* By communicator and peer, then as posted or arrived, whatever queue a receive is in. */
static void test_order(void **state)
{
	static const struct queued_message receives[] = {
		{MESSAGE_ANY_PEER, 1, 0}, {2, 8, 0}, {2, 3, 0}, {2, 5, 0}, {6, 1, 0}, {3, 1, 1},
	};
	static const struct queued_message unexpected[] = {
		{2, -5, 0},
		{MESSAGE_OTHER_PEER, 7, 2},
		{MESSAGE_OTHER_PEER, 6, 2},
	};
	/* Not more than 64 members of whom the one of any source may be; each by its rank. */
	static const int32_t pairs[] = {0, 1, 2, 3, 4, 5, 6, 7, NONE, 0, 5, 7};
	struct message_queues *read;

	(void)state;
	make_world(&versions[1]);
	post(TAG(0x20, 1, 1), EXACT);
	post(TAG(0x00, 6, 1), EXACT);
	post(TAG(0x00, 2, 8), ALL_BITS);
	post(TAG(0x00, 2, 3), EXACT);
	post(TAG(0x00, 2, 5), ALL_BITS);
	post(TAG(0x00, 0, 1), ANY_SOURCE);
	arrive(TAG(0x60, 1, 7));
	arrive(TAG(0x60, 0, 6));
	arrive(TAG(0x01, 2, 4));
	read = read_world();
	assert_non_null(read);
	assert_order(read->receives, read->num_receives, receives, NUM_OF(receives));
	assert_order(read->unexpected, read->num_unexpected, unexpected, NUM_OF(unexpected));
	assert_int_equal(read->num_comms, 3);
	assert_int_equal(read->comms[1].size, made_comms[COLUMNS].size);
	assert_string_equal(read->comms[2].name, "spawned");
	assert_int_equal(read->num_pairs, 8);
	message_queues_destroy(read);
	post(TAG(0x80, 0, 1), ANY_SOURCE);
	post(TAG(0x50, 0, 1), ANY_SOURCE);
	read = read_world();
	assert_non_null(read);
	assert_int_equal(read->num_pairs, NUM_OF(pairs));
	for (size_t i = 0; i < NUM_OF(pairs); i++) {
		assert_int_equal(read->pairs[i].peer, pairs[i]);
		assert_string_equal(read->comms[read->pairs[i].comm].name,
				    i < 8 ? "MPI_COMM_WORLD" : "in a table");
	}
	message_queues_destroy(read);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),   cmocka_unit_test(test_builtin),
		cmocka_unit_test(test_search), cmocka_unit_test(test_new_worker),
		cmocka_unit_test(test_tags),   cmocka_unit_test(test_rank_maps),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
