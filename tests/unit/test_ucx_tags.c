/* SPDX-License-Identifier: BSD-3-Clause
 * Receives and messages of UCX, put together by hand: what is read of them, and that what is
 * damaged, endless or not there is refused and does no harm. Real ones: tests/attach/queues.sh. */
#include "attach/queues/ucx_queues.h"
#include "model/arena.h"
#include "tests/unit/mpich_world.h"

#define MAX_TAGS 10000 /* more than that is not read */

static const struct ucx_worker worker = {WORKER, WORKER + WILDCARD * sizeof(uint64_t),
					 VARIABLES + WORKER_VARIABLE * sizeof(uint64_t)};

/* Of the last reading. */
static struct arena *arena;

static struct ucx_tags *read_tags(void)
{
	arena_destroy(arena);
	arena = arena_create();
	return ucx_tags_read(&world_memory, &worker, arena);
}

static void assert_refused(void)
{
	assert_null(read_tags());
}

static bool find(struct ucx_worker *ret)
{
	return ucx_worker_find(&world_memory, VARIABLES, world.variables, NUM_VARIABLES, ret);
}

/* Each changes one thing, so that there is no worker. */
static const struct damage not_found[] = {
	{&world.variables[WORKER_VARIABLE], 0},
	{&world.variables[WORKER_VARIABLE], WORKER + 4},
	{&world.variables[WORKER_VARIABLE], MANY},
	{&world.variables[WORKER_VARIABLE + 1], 0},
	{&world.variables[WORKER_VARIABLE + 1], WORKER},
	{&world.worker[3], 0},
	{&world.worker[WILDCARD + 1], 0},
	{&world.worker[WILDCARD + 1], WORKER + 1},
	{&world.worker[TABLE_OF_RECEIVES], 0},
	{&world.worker[TABLE_OF_RECEIVES], QUEUES + 4},
	{&world.worker[TABLE_OF_RECEIVES], QUEUES + 24 * 8},
	{&world.worker[TABLE_OF_RECEIVES], RINGS},
	{&world.worker[TABLE_OF_MESSAGES], 0},
	{&world.worker[TABLE_OF_MESSAGES], MANY},
	{&world.worker[TABLE_OF_MESSAGES], QUEUES},
	{&world.worker[ALL_MESSAGES], 0},
	{&world.worker[ALL_MESSAGES + 1], 15},
};

static void test_find(void **state)
{
	/* Words between worker and context; of a worker, where the context is. */
	static const struct {
		int beside;
		size_t in_worker;
		bool is_found;
	} places[] = {
		{1, 0, true},  {-1, 5, true},  {8, 63, true},  {-8, 3, true},
		{9, 3, false}, {-9, 3, false}, {1, 64, false},
	};
	struct ucx_worker found;

	(void)state;
	for (size_t i = 0; i < NUM_OF(places); i++) {
		make_world(&versions[0]);
		world.variables[WORKER_VARIABLE + 1] = world.worker[3] = 0;
		world.variables[WORKER_VARIABLE + places[i].beside] = CONTEXT;
		world.worker[places[i].in_worker] = CONTEXT;
		if (find(&found) != places[i].is_found)
			fail_msg("place %zu", i);
		if (!places[i].is_found)
			continue;
		assert_int_equal(found.address, worker.address);
		assert_int_equal(found.matching, worker.matching);
		assert_int_equal(found.variable, worker.variable);
		assert_true(ucx_worker_is_current(&world_memory, &found));
		world.variables[WORKER_VARIABLE] += 8;
		assert_false(ucx_worker_is_current(&world_memory, &found));
		found.variable = MANY;
		assert_false(ucx_worker_is_current(&world_memory, &found));
	}
	for (size_t i = 0; i < NUM_OF(not_found); i++) {
		make_world(&versions[0]);
		*not_found[i].word = not_found[i].value;
		if (find(&found))
			fail_msg("damage %zu is believed", i);
	}
	make_world(&versions[0]);
	assert_false(ucx_worker_find(&world_memory, VARIABLES, world.variables, 0, &found));
	post(1, 0);
	assert_true(find(&found));
}

/* Most buckets are empty, or they are none. */
static void test_tables(void **state)
{
	struct ucx_worker found;

	(void)state;
	for (int what = 0; what < 2; what++) {
		make_world(&versions[0]);
		for (size_t i = 0; i < NUM_BUCKETS / 2 + 10; i++) {
			uint64_t *bucket = what ? world.rings[i] : world.queues[i];

			if (i == NUM_BUCKETS / 2 - 10)
				assert_true(find(&found));
			bucket[1] += 24;
		}
		assert_false(find(&found));
	}
}

#define MAX_WORKERS 100000 /* more are not looked at */
#define MAX_TABLES 1000

/* What looks like workers is not looked at without end. */
static void test_much(void **state)
{
	size_t num = MAX_WORKERS + 10, page = 8192;
	uint64_t *words = calloc(num, sizeof(*words));
	struct ucx_worker found;

	(void)state;
	assert_non_null(words);
	/* So many addresses of nothing before the worker. */
	for (size_t before = MAX_WORKERS - 1; before <= MAX_WORKERS; before++) {
		make_world(&versions[0]);
		for (size_t i = 0; i < num; i++)
			words[i] = MANY;
		words[before] = WORKER;
		words[before + 1] = CONTEXT;
		assert_int_equal(ucx_worker_find(&world_memory, VARIABLES, words, num, &found),
				 before < MAX_WORKERS);
		assert_in_range(num_reads, MAX_WORKERS, MAX_WORKERS + 2);
	}
	/* A page full of its own address: in any place of it there may be tables, and context. */
	num_many = page;
	many = calloc(page, sizeof(*many));
	assert_non_null(many);
	for (size_t i = 0; i < num; i++)
		words[i] = MANY;
	for (size_t i = 0; i < page; i++)
		many[i] = MANY;
	num_reads = 0;
	assert_false(ucx_worker_find(&world_memory, VARIABLES, words, num, &found));
	assert_in_range(num_reads, 2 * MAX_TABLES, 2 * MAX_TABLES + 10);
	num_many = 0;
	free(many);
	free(words);
}

static void test_read(void **state)
{
	/* As they are posted; as they are read: first those that leave bits open, then by
	 * bucket. */
	static const struct ucx_tag posted[] = {
		{0x0000000200000009, ALL_BITS, FIRST_NUMBER},
		{0x0040000300000007, 0xffffffff1fffffff, FIRST_NUMBER + 1},
		{7, 0, FIRST_NUMBER + 2},
		{0x0000000200000009, ALL_BITS, FIRST_NUMBER + 3},
		{0x0000000300000003, ALL_BITS, FIRST_NUMBER + 4},
		{0x00000001000003fc, ALL_BITS, FIRST_NUMBER + 5}, /* the bucket behind 1021 - 1 */
		{0x00000003000003fc, ALL_BITS, FIRST_NUMBER + 6}, /* the last of all */
	};
	static const size_t order[] = {1, 2, 4, 0, 3, 5, 6};
	static const uint64_t arrived[] = {5, 0x00000003000003fc, 5, UINT64_MAX, 5 + 1021, 0};

	(void)state;
	for (size_t v = 0; v < NUM_OF(versions); v++) {
		struct ucx_tags *tags;

		make_world(&versions[v]);
		for (size_t i = 0; i < NUM_OF(posted); i++)
			post(posted[i].tag, posted[i].mask);
		for (size_t i = 0; i < NUM_OF(arrived); i++)
			arrive(arrived[i]);
		tags = read_tags();
		assert_non_null(tags);
		assert_int_equal(tags->num_posted, FIRST_NUMBER + NUM_OF(posted));
		assert_int_equal(tags->num_receives, NUM_OF(posted));
		for (size_t i = 0; i < NUM_OF(posted); i++)
			assert_memory_equal(&tags->receives[i], &posted[order[i]], sizeof(*posted));
		assert_int_equal(tags->num_messages, NUM_OF(arrived));
		for (size_t i = 0; i < NUM_OF(arrived); i++) {
			assert_int_equal(tags->messages[i].tag, arrived[i]);
			assert_int_equal(tags->messages[i].mask, ALL_BITS);
			assert_int_equal(tags->messages[i].number, i);
		}
	}
}

#define WILD(i) (RECEIVE_ELEMENT + world.receives[i])
#define ADDRESS_OF_RECEIVE(i) (RECEIVES + ((i)*RECEIVE_WORDS + RECEIVE_ELEMENT) * sizeof(uint64_t))
#define ADDRESS_OF_MESSAGE(i) (MESSAGES + (i) * sizeof(world.messages[0]))

/* The first two receives leave bits open, the next two are of one bucket, and so are the three
 * messages; all as UCX 1.18 has them. */
static void make_busy_world(void)
{
	make_world(&versions[1]);
	post(1, 1);
	post(2, 2);
	post(9, ALL_BITS);
	post(9, ALL_BITS);
	arrive(4);
	arrive(4);
	arrive(4);
}

static const struct damage damages[] = {
	{&world.worker[WILDCARD], 0},
	{&world.worker[WILDCARD], ADDRESS_OF_RECEIVE(2)}, /* does not come to the last one */
	{&world.worker[WILDCARD + 1], 0},
	{&world.worker[WILDCARD + 1], MANY},
	{&world.worker[TABLE_OF_RECEIVES], MANY},
	{&world.worker[TABLE_OF_RECEIVES], UINT64_MAX - 7},
	{&world.worker[NEXT_NUMBER], FIRST_NUMBER + 3},
	{&world.worker[NEXT_NUMBER], 0},
	{&world.worker[ALL_MESSAGES], ADDRESS_OF_MESSAGE(1) + 16},
	{&world.worker[ALL_MESSAGES + 1], ADDRESS_OF_MESSAGE(1) + 16},
	{&world.worker[ALL_MESSAGES + 1], MANY},
	{&world.worker[ALL_MESSAGES + 1], 3},
	{&world.worker[TABLE_OF_MESSAGES], RINGS + 16},
	/* Receives: their worker, mask, number, next one. */
	{WILD(0) - 8, 0},
	{WILD(1) - 8, WORKER + 8},
	{WILD(3) - 8, QUEUES},
	{WILD(2) + 3, ALL_BITS - 1},
	{WILD(2) + 2, 10},
	{WILD(1) + 4, FIRST_NUMBER + 4},
	{WILD(3) + 4, UINT64_MAX},
	{WILD(0), 0},
	{WILD(0), MANY},
	{WILD(0), ADDRESS_OF_RECEIVE(0)}, /* without end */
	{WILD(2), ADDRESS_OF_RECEIVE(2)},
	{WILD(2), ADDRESS_OF_RECEIVE(0)},
	/* Buckets. */
	{&world.queues[9][0], ADDRESS_OF_RECEIVE(0)},
	{&world.queues[9][1], 0},
	{&world.queues[1023][1], ADDRESS_OF_RECEIVE(3)},
	/* Messages: links of the ring of their bucket, of all, and the tag. */
	{&world.messages[0][0], RINGS + 5 * 16},
	{&world.messages[2][1], RINGS + 5 * 16},
	{&world.messages[2][1], RINGS + 1023 * 16},
	{&world.messages[0][2], ADDRESS_OF_MESSAGE(0) + 16},
	{&world.messages[1][2], 0},
	{&world.messages[2][2], ADDRESS_OF_MESSAGE(0) + 16},
	{&world.messages[0][3], MANY},
	{&world.messages[0][3], ADDRESS_OF_MESSAGE(2) + 16},
	{&world.messages[1][3], ADDRESS_OF_MESSAGE(0) + 16}, /* without end */
	{&world.messages[2][3], ADDRESS_OF_MESSAGE(0) + 16},
	{&world.messages[0][6], 5},
	{&world.messages[2][6], UINT64_MAX},
};

static void test_damaged(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(damages); i++) {
		struct ucx_tags *tags;

		make_busy_world();
		tags = read_tags();
		assert_non_null(tags);
		num_reads = 0;
		*damages[i].word = damages[i].value;
		tags = read_tags();
		if (tags)
			fail_msg("damage %zu is believed", i);
		/* Twice a number of reads for each that might be there. */
		assert_in_range(num_reads, 1, 10 * MAX_TAGS);
	}
	/* Of the other version than that of the first. */
	make_busy_world();
	version = &versions[0];
	post(2, 2);
	assert_refused();
}

/* As many as are read, and one more, each at a place of its own. */
static void test_many(void **state)
{
	struct ucx_tags *tags;

	(void)state;
	num_many = (MAX_TAGS + 1) * RECEIVE_WORDS;
	many = calloc(num_many, sizeof(*many));
	assert_non_null(many);
	for (int what = 0; what < 2; what++) {
		make_world(&versions[0]);
		for (size_t i = 0; i <= MAX_TAGS; i++) {
			uint64_t at = MANY + i * RECEIVE_WORDS * sizeof(*many);

			if (i == MAX_TAGS) {
				tags = read_tags();
				assert_non_null(tags);
				assert_int_equal(what ? tags->num_messages : tags->num_receives, i);
			}
			if (what)
				push_message(at, i % 7);
			else
				push_receive(at, worker.matching, i, 0);
		}
		assert_refused();
	}
	num_many = 0;
	free(many);
}

/* What changes while it is read is read once more, but not for ever. */
static void test_changing(void **state)
{
	struct ucx_tags *tags;

	(void)state;
	make_busy_world();
	num_changes = 1;
	tags = read_tags();
	assert_non_null(tags);
	assert_int_equal(tags->num_posted, FIRST_NUMBER + 4 + 1);
	num_changes = SIZE_MAX;
	assert_refused();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),     cmocka_unit_test(test_tables),
		cmocka_unit_test(test_much),     cmocka_unit_test(test_read),
		cmocka_unit_test(test_damaged),  cmocka_unit_test(test_many),
		cmocka_unit_test(test_changing),
	};

	int result = cmocka_run_group_tests(tests, NULL, NULL);

	arena_destroy(arena);
	return result;
}
