/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "model/arena.h"
#include "model/job/model.h"
#include "model/job/model_pool.h"
#include "model/xalloc.h"
#include "tests/unit/unit.h"

static void test_tables(void **state)
{
	struct model_pool *pool = model_pool_create();

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		struct model_comm comm = {.id = i + 1};
		int32_t *members;

		assert_int_equal(model_pool_add_comm(pool, &comm), i);
		members = model_pool_add_members(pool, i);
		for (uint32_t k = 0; k < i; k++)
			members[k] = (int32_t)i;
	}
	assert_int_equal(pool->num_comms, 100);
	assert_int_equal(pool->comms[99].id, 100);
	assert_int_equal(pool->num_members, 99 * 100 / 2);
	assert_int_equal(pool->members[0], 1);
	assert_int_equal(pool->members[pool->num_members - 1], 99);
	model_pool_release(pool);
}

/* It lives as long as one of its users. */
static void test_users(void **state)
{
	struct model_pool *pool = model_pool_create();
	struct model *first = model_create_in(pool), *second = model_create_in(pool);
	struct model_program *program = arena_alloc(pool->arena, sizeof(*program));

	(void)state;
	strcpy(program->host, "node1");
	assert_int_equal(pool->num_users, 3);
	first->program = second->program = program;
	model_pool_release(pool);
	model_destroy(first);
	assert_string_equal(second->program->host, "node1");
	model_destroy(second);
}

/* What is said in ranks above the own one. */
static void test_peers(void **state)
{
	struct model_pool *pool = model_pool_create();
	struct model *model = model_create_in(pool);
	uint32_t numbers[] = {0, 1};
	int32_t ranks[] = {0, 3};
	static const struct {
		struct model_ledger row;
		int32_t peer;
	} cases[] = {
		{{.comm = 0, .peer = 2, .is_distance = true}, 12},
		{{.comm = 0, .peer = -10, .is_distance = true}, 0},
		{{.comm = 0, .peer = -11, .is_distance = true}, SEG_PEER_NONE},
		{{.comm = 1, .peer = 2, .is_distance = true}, 5},
		{{.comm = SEG_NO_COMM, .peer = 2, .is_distance = true}, 2},
		{{.comm = 1, .peer = 2}, 2},
		{{.comm = 1, .peer = SEG_PEER_ANY}, SEG_PEER_ANY},
	};

	(void)state;
	model_pool_add_comm(pool, &(struct model_comm){.size = 20, .members = SEG_ALL_MEMBERS});
	model_pool_add_comm(pool, &(struct model_comm){.size = 8, .members = MODEL_OWN_MEMBER});
	model->rank = 10;
	model->num_comms = 2;
	model->pool_comms = numbers;
	model->pool_ranks = ranks;
	assert_int_equal(model_comm_rank(model, 0), 10);
	assert_int_equal(model_comm_rank(model, 1), 3);
	assert_int_equal(model_comm(model, 1)->size, 8);
	assert_int_equal(model_members(model, MODEL_OWN_MEMBER)[0], 10);
	for (size_t i = 0; i < NUM_OF(cases); i++)
		assert_int_equal(model_ledger_peer(model, &cases[i].row), cases[i].peer);
	model_destroy(model);
	model_pool_release(pool);
}

static void test_stays(void **state)
{
	struct model model = {.num_sites = 3};
	uint64_t stays[] = {0, 7, 5, 0, 9, 8};
	struct model_lane lane = {.longest_ns = stays};
	static const struct {
		uint32_t state, of;
		uint64_t ns;
	} cases[] = {{0, 4, 9}, {1, 1, 7}, {2, 2, 5}, {3, 5, 8}, {4, 4, 9}};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct model_stay longest;

		lane.state = cases[i].state;
		longest = model_lane_longest(&model, &lane);
		assert_int_equal(longest.ns, cases[i].ns);
		assert_int_equal(longest.state, cases[i].of);
		assert_int_equal(model_lane_stay(&lane, lane.state), stays[lane.state]);
	}
	/* When only one is known. */
	lane = (struct model_lane){.state = 2, .longest = {.state = 4, .ns = 9}};
	assert_int_equal(model_lane_longest(&model, &lane).ns, 9);
	assert_int_equal(model_lane_longest(&model, &lane).state, 4);
	assert_int_equal(model_lane_stay(&lane, 4), 9);
	assert_int_equal(model_lane_stay(&lane, 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_users),
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
