/* SPDX-License-Identifier: BSD-3-Clause
 * Tokens and locks: what the ledger, the requests and the operation say of them. */
#include "model/recorder/tokens.h"

#include "tests/unit/recorder_lanes.h"

static int setup_site(void **state)
{
	if (setup(state) != 0)
		return -1;
	fix.lanes[0]->site = 9;
	return 0;
}

static const struct seg_ledger *row_of(struct lane *l, uint32_t comm, int32_t peer, int32_t tag)
{
	return &l->ledger[ledger_row(l, comm, peer, tag)];
}

/* The slot that the operation waits for, number i. */
static const struct seg_request *waited(const struct lane *l, uint32_t i)
{
	const uint32_t *slots =
		(const uint32_t *)((const char *)l->seg + l->seg->tables[SEG_LANE_WAITED].offset);

	assert_true(i < l->seg->operation.num_waited);
	return &fix.requests.slots[slots[i]];
}

static void test_tokens(void **state)
{
	struct lane *l = *state;

	for (uint64_t n = 1; n <= 3; n++) {
		tokens_expect(l, 5, 2, SEG_TAG_POST);
		tokens_expect(l, 5, 7, SEG_TAG_POST);
		assert_int_equal(num_requests(), 2);
		struct p2p_list list = p2p_list_begin(l);
		tokens_list(l, &list, 5, 2, SEG_TAG_POST);
		tokens_list(l, &list, 5, 7, SEG_TAG_POST);
		p2p_list_end(l, &list);
		p2p_wait(l, SEG_OPERATION_WAIT_ALL, OPERATION_CALL);
		assert_int_equal(l->seg->operation.kind, SEG_OPERATION_WAIT_ALL);
		assert_int_equal(l->seg->operation.num_waited, 2);
		assert_int_equal(l->seg->operation.flags, 0);
		assert_int_equal(waited(l, 1)->kind, SEG_REQUEST_RECV);
		assert_int_equal(waited(l, 1)->comm, 5);
		assert_int_equal(waited(l, 1)->peer, 7);
		assert_int_equal(waited(l, 1)->tag, SEG_TAG_POST);
		assert_int_equal(waited(l, 1)->ordinal, n);
		assert_int_equal(waited(l, 1)->site, 9);
		assert_int_equal(row_of(l, 5, 7, SEG_TAG_POST)->receives, n);
		assert_int_equal(row_of(l, 5, 7, SEG_TAG_POST)->receives_done, n - 1);
		p2p_complete_all(l);
		assert_int_equal(row_of(l, 5, 7, SEG_TAG_POST)->receives_done, n);
		assert_int_equal(num_requests(), 0);
		tokens_send(l, 5, 7, SEG_TAG_COMPLETE);
		assert_int_equal(row_of(l, 5, 7, SEG_TAG_COMPLETE)->sends, n);
		assert_int_equal(row_of(l, 5, 7, SEG_TAG_COMPLETE)->sends_done, n);
	}
}

/* The same peer in another window, with another token; the same of another thread's call. */
static void test_tokens_apart(void **state)
{
	struct lane *l = *state;

	tokens_expect(l, 5, 2, SEG_TAG_POST);
	tokens_expect(l, 6, 2, SEG_TAG_POST);
	tokens_expect(l, 5, 2, SEG_TAG_COMPLETE);
	tokens_expect(l, 5, 2, SEG_TAG_GROUP);
	l->index = 1;
	tokens_expect(l, 5, 2, SEG_TAG_GROUP);
	assert_int_equal(num_requests(), 5);
	/* A window's epoch may be ended by another thread than began it. */
	struct p2p_list list = p2p_list_begin(l);
	tokens_list(l, &list, 5, 2, SEG_TAG_POST);
	p2p_list_end(l, &list);
	assert_true(p2p_look_up(l));
	p2p_complete_all(l);
	assert_int_equal(num_requests(), 4);
	l->index = 0;
}

static void test_taken_back(void **state)
{
	struct lane *l = *state;

	tokens_send(l, 5, 2, SEG_TAG_POST);
	tokens_expect(l, 5, 2, SEG_TAG_COMPLETE);
	tokens_take_back_send(l, 5, 2, SEG_TAG_POST);
	tokens_take_back_expect(l, 5, 2, SEG_TAG_COMPLETE);
	assert_int_equal(row_of(l, 5, 2, SEG_TAG_POST)->sends, 0);
	assert_int_equal(row_of(l, 5, 2, SEG_TAG_POST)->sends_done, 0);
	assert_int_equal(row_of(l, 5, 2, SEG_TAG_COMPLETE)->receives, 0);
	assert_int_equal(num_requests(), 0);
}

static void test_collective(void **state)
{
	struct lane *l = *state;
	struct p2p_list list = p2p_list_begin(l);

	tokens_list_collective(l, &list, 3, 1, 42);
	tokens_expect(l, 0, 4, SEG_TAG_LEADER);
	tokens_list(l, &list, 0, 4, SEG_TAG_LEADER);
	p2p_list_end(l, &list);
	p2p_wait(l, SEG_OPERATION_WAIT_ALL, OPERATION_CALL);
	assert_int_equal(waited(l, 0)->kind, SEG_REQUEST_COLLECTIVE);
	assert_int_equal(waited(l, 0)->comm, 3);
	assert_int_equal(waited(l, 0)->peer, 1);
	assert_int_equal(waited(l, 0)->ordinal, 42);
	assert_int_equal(waited(l, 1)->tag, SEG_TAG_LEADER);
	p2p_complete_all(l);
	assert_int_equal(num_requests(), 0);
}

static void test_locks(void **state)
{
	struct lane *l = *state;
	const struct seg_operation *operation = &l->seg->operation;

	tokens_lock_operation(l, 5, 2, 1);
	assert_int_equal(operation->kind, SEG_OPERATION_LOCK);
	assert_int_equal(operation->transfers[0].comm, 5);
	assert_int_equal(operation->transfers[0].peer, 2);
	assert_int_equal(operation->transfers[0].tag, 1);
	tokens_locked(l, 5, 2, 1);
	tokens_locked(l, 5, 3, 0);
	assert_int_equal(num_requests(), 2);
	/* Flush and unlock go by what is held. */
	tokens_lock_operation(l, 5, 2, TOKENS_LOCK_HELD);
	assert_int_equal(operation->transfers[0].tag, 1);
	tokens_lock_operation(l, 5, 3, TOKENS_LOCK_HELD);
	assert_int_equal(operation->transfers[0].tag, 0);
	tokens_unlocked(l, 5, 2);
	tokens_unlocked(l, 5, 2);
	assert_int_equal(num_requests(), 1);
	tokens_unlocked(l, 5, 3);
	tokens_locked(l, 5, SEG_PEER_ANY, 0);
	tokens_lock_operation(l, 5, 2, TOKENS_LOCK_HELD);
	assert_int_equal(operation->transfers[0].tag, 0);
	tokens_unlocked(l, 5, SEG_PEER_ANY);
	assert_int_equal(num_requests(), 0);
}

/* Whose lock it is, is looked up again once one is exclusive. */
static void test_exclusive_lock(void **state)
{
	struct lane *l = *state;
	const struct seg_operation *operation = &l->seg->operation;

	tokens_locked(l, 5, SEG_PEER_ANY, 0);
	for (int i = 0; i < 2; i++) {
		tokens_locked(l, 6, 2, 1);
		tokens_lock_operation(l, 5, SEG_PEER_ANY, TOKENS_LOCK_HELD);
		assert_int_equal(operation->transfers[0].tag, 0);
		tokens_lock_operation(l, 6, 2, TOKENS_LOCK_HELD);
		assert_int_equal(operation->transfers[0].tag, 1);
		assert_int_equal(l->requests->exclusive_locks, 1);
		/* There is none any more: given back once too often, it does not count. */
		tokens_unlocked(l, 6, 2);
		tokens_unlocked(l, 6, 2);
		assert_int_equal(l->requests->exclusive_locks, 0);
		tokens_lock_operation(l, 6, 2, TOKENS_LOCK_HELD);
		assert_int_equal(operation->transfers[0].tag, 0);
	}
	tokens_unlocked(l, 5, SEG_PEER_ANY);
	assert_int_equal(num_requests(), 0);
}

#define TOKENS_TEST(f) cmocka_unit_test_setup_teardown(f, setup_site, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TOKENS_TEST(test_tokens),     TOKENS_TEST(test_tokens_apart),
		TOKENS_TEST(test_taken_back), TOKENS_TEST(test_collective),
		TOKENS_TEST(test_locks),      TOKENS_TEST(test_exclusive_lock),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
