/* SPDX-License-Identifier: BSD-3-Clause
 * Messages counted in a lane's ledger, requests in the process's table, and the operation in
 * progress: what the wrappers' hooks call, without MPI. */
#include <pthread.h>

#include "tests/unit/recorder_messages.h"

/* Calls as the wrappers make them. */
static void isend(struct lane *l, uint64_t handle, int32_t peer, int32_t tag)
{
	struct p2p_message m = message(peer, tag);

	p2p_will_send(l, &m, 0);
	p2p_made(l, true, handle);
}

static void irecv(struct lane *l, uint64_t handle, int32_t peer, int32_t tag)
{
	struct p2p_message m = message(peer, tag);

	p2p_will_receive(l, &m, 0);
	p2p_made(l, true, handle);
}

static void list(struct lane *l, const uint64_t *keys, uint32_t num)
{
	struct p2p_list listed = p2p_list_begin(l);

	for (uint32_t i = 0; i < num; i++)
		p2p_list(&listed, keys[i]);
	p2p_list_end(l, &listed);
}

static void wait_for(struct lane *l, uint64_t handle, const struct p2p_status *status)
{
	list(l, &handle, 1);
	p2p_wait(l, SEG_OPERATION_WAIT_ALL, OPERATION_CALL);
	p2p_complete(l, 0, status);
}

static const struct p2p_status ignored = {.is_known = false};
static const struct p2p_status from_2_tag_5 = {.is_known = true, .source = 2, .tag = 5};

static void test_blocking(void **state)
{
	struct lane *l = fix.lanes[0];
	const struct seg_operation *op = &l->seg->operation;
	struct p2p_message m = message(2, 5), any = message(SEG_PEER_ANY, 5),
			   nobody = message(SEG_PEER_NULL, 5);

	(void)state;
	for (uint64_t i = 1; i <= 3; i++) {
		p2p_send(l, &m, SEG_OPERATION_BUFFERED);
		assert_int_equal(op->kind, SEG_OPERATION_SEND);
		assert_int_equal(op->flags, SEG_OPERATION_BUFFERED);
		assert_int_equal(op->event, l->current->events + 1);
		assert_int_equal(op->seq % 2, 0);
		assert_int_equal(op->transfers[0].comm, 3);
		assert_int_equal(op->transfers[0].peer, 2);
		assert_int_equal(op->transfers[0].tag, 5);
		assert_int_equal(op->transfers[0].ordinal, i);
		assert_int_equal(op->transfers[0].bytes, 40);
		assert_row(l, 2, 5, i, i - 1, 0, 0, 0, 0);
		p2p_end(l, P2P_DONE, NULL);
		assert_row(l, 2, 5, i, i, 0, 0, 0, 0);
	}
	p2p_receive(l, &any);
	assert_true(p2p_wants_status(l));
	p2p_end(l, P2P_DONE, &from_2_tag_5);
	assert_false(p2p_wants_status(l));
	assert_row(l, SEG_PEER_ANY, 5, 0, 0, 1, 1, 0, 0);
	assert_row(l, 2, 5, 3, 3, 0, 0, 1, 0);
	p2p_sendreceive(l, &m, &m);
	assert_int_equal(op->kind, SEG_OPERATION_SENDRECV);
	assert_int_equal(op->transfers[0].ordinal, 4);
	assert_int_equal(op->transfers[1].ordinal, 1);
	p2p_end(l, P2P_DONE, &ignored);
	assert_row(l, 2, 5, 4, 4, 1, 1, 1, 0);
	p2p_send(l, &nobody, 0);
	assert_int_equal(op->transfers[0].ordinal, 0);
	p2p_end(l, P2P_DONE, NULL);
	assert_null(row(l, SEG_PEER_NULL, 5));
	assert_int_equal(dropped(l), 0);
}

/* What MPI refuses or what is left by longjmp() has not happened; a truncated message has come. */
static void test_taken_back(void **state)
{
	struct lane *l = fix.lanes[0];
	struct p2p_message m = message(2, 5);

	(void)state;
	p2p_send(l, &m, 0);
	p2p_end(l, P2P_REFUSED, NULL);
	assert_row(l, 2, 5, 0, 0, 0, 0, 0, 0);
	p2p_sendreceive(l, &m, &m);
	p2p_abandon(l);
	assert_row(l, 2, 5, 0, 0, 0, 0, 0, 0);
	p2p_abandon(l); /* once */
	assert_row(l, 2, 5, 0, 0, 0, 0, 0, 0);
	p2p_receive(l, &m);
	p2p_end(l, P2P_TRUNCATED, &ignored);
	assert_row(l, 2, 5, 0, 0, 1, 1, 0, 0);
	p2p_will_send(l, &m, 0);
	p2p_made(l, false, 0);
	assert_row(l, 2, 5, 0, 0, 1, 1, 0, 0);
	assert_int_equal(num_requests(), 0);
	isend(l, key(16), 2, 5); /* and nothing is left of the refused one */
	assert_int_equal(num_requests(), 1);
}

static void test_lost_wildcard(void **state)
{
	struct lane *l = fix.lanes[0];
	struct p2p_message any = message(2, SEG_TAG_ANY);

	(void)state;
	p2p_receive(l, &any);
	p2p_end(l, P2P_DONE, &ignored);
	assert_int_equal(dropped(l), 1);
	irecv(l, REQUESTS_KEY_COMPLETE, SEG_PEER_ANY, 5);
	assert_int_equal(dropped(l), 2);
}

static void test_requests(void **state)
{
	struct lane *l = fix.lanes[0];
	const struct seg_operation *op = &l->seg->operation;
	const uint64_t keys[] = {key(16), REQUESTS_KEY_NULL, key(32), REQUESTS_KEY_COMPLETE,
				 key(48)};

	(void)state;
	isend(l, key(16), 2, 5);
	assert_int_equal(op->kind, SEG_OPERATION_LOCAL);
	irecv(l, key(32), SEG_PEER_ANY, 5);
	isend(l, key(48), 2, 5);
	isend(l, REQUESTS_KEY_COMPLETE, 2, 5);
	assert_int_equal(num_requests(), 3);
	assert_row(l, 2, 5, 3, 1, 0, 0, 0, 0);
	list(l, keys, 5);
	p2p_wait(l, SEG_OPERATION_WAIT_ANY, OPERATION_POLL);
	assert_int_equal(op->kind, SEG_OPERATION_WAIT_ANY);
	assert_int_equal(op->event, l->current->events);
	assert_int_equal(op->flags, 0);
	assert_int_equal(op->num_waited, 3);
	const uint32_t *waited = (void *)((char *)l->seg + l->seg->tables[SEG_LANE_WAITED].offset);
	const struct seg_request *third = &fix.requests.slots[waited[2]];
	assert_int_equal(third->kind, SEG_REQUEST_SEND);
	assert_int_equal(third->flags, SEG_REQUEST_ACTIVE);
	assert_int_equal(third->comm, 3);
	assert_int_equal(third->peer, 2);
	assert_int_equal(third->tag, 5);
	assert_int_equal(third->ordinal, 2);
	assert_int_equal(third->bytes, 40);
	assert_int_equal(third->lane, 0);
	assert_true(l->p2p.wants_status);
	assert_true(p2p_position_wants_status(l, 2));
	assert_false(p2p_position_wants_status(l, 0));
	assert_false(p2p_position_wants_status(l, 1));
	assert_false(p2p_position_wants_status(l, 99));
	p2p_complete(l, 2, &from_2_tag_5);
	p2p_complete(l, 2, &from_2_tag_5); /* not twice */
	p2p_complete(l, 1, &ignored);
	p2p_complete(l, 4, &ignored);
	assert_row(l, 2, 5, 3, 2, 0, 0, 1, 0);
	assert_row(l, SEG_PEER_ANY, 5, 0, 0, 1, 1, 0, 0);
	assert_int_equal(num_requests(), 1);
}

/* A handle that was never seen: the operation says that it is not all. */
static void test_unknown_request(void **state)
{
	struct lane *l = fix.lanes[0];
	const uint64_t keys[] = {key(16), key(32)};

	(void)state;
	isend(l, key(16), 2, 5);
	list(l, keys, 2);
	p2p_wait(l, SEG_OPERATION_WAIT_ALL, OPERATION_CALL);
	assert_int_equal(l->seg->operation.flags, SEG_OPERATION_INCOMPLETE);
	assert_int_equal(l->seg->operation.num_waited, 1);
	p2p_complete(l, 1, &ignored);
	list(l, keys, 1);
	p2p_wait(l, SEG_OPERATION_WAIT_ALL, OPERATION_CALL);
	assert_int_equal(l->seg->operation.flags, 0);
}

/* The same list again is not looked up again, unless something has changed. */
static void test_polling(void **state)
{
	struct lane *l = fix.lanes[0];
	const struct seg_operation *op = &l->seg->operation;
	const uint64_t both[] = {key(16), key(32)}, other[] = {key(32)};
	const struct p2p_message m = message(2, 5);

	(void)state;
	isend(l, both[0], 2, 5);
	irecv(l, both[1], SEG_PEER_ANY, 5);
	list(l, both, 2);
	p2p_wait(l, SEG_OPERATION_WAIT_ALL, OPERATION_POLL);
	uint32_t seq = op->seq;
	list(l, both, 2);
	p2p_wait(l, SEG_OPERATION_WAIT_ALL, OPERATION_POLL);
	assert_int_equal(op->seq, seq);
	assert_int_equal(op->num_waited, 2);
	assert_true(l->p2p.wants_status);
	/* Another list, another kind of wait, a probe between. */
	list(l, other, 1);
	p2p_wait(l, SEG_OPERATION_WAIT_ALL, OPERATION_POLL);
	assert_int_equal(op->num_waited, 1);
	list(l, both, 1);
	p2p_wait(l, SEG_OPERATION_WAIT_ALL, OPERATION_POLL);
	assert_false(l->p2p.wants_status);
	list(l, both, 2);
	p2p_wait(l, SEG_OPERATION_WAIT_ANY, OPERATION_POLL);
	assert_int_equal(op->kind, SEG_OPERATION_WAIT_ANY);
	assert_int_equal(op->num_waited, 2);
	p2p_probe(l, &m, OPERATION_POLL);
	list(l, both, 2);
	p2p_wait(l, SEG_OPERATION_WAIT_ANY, OPERATION_POLL);
	assert_int_equal(op->kind, SEG_OPERATION_WAIT_ANY);
	/* One completes, and its handle is given out again. */
	p2p_complete(l, 0, &ignored);
	list(l, both, 2);
	p2p_wait(l, SEG_OPERATION_WAIT_ANY, OPERATION_POLL);
	assert_int_equal(op->flags, SEG_OPERATION_INCOMPLETE);
	isend(l, both[0], 2, 6);
	list(l, both, 2);
	p2p_wait(l, SEG_OPERATION_WAIT_ANY, OPERATION_POLL);
	assert_int_equal(op->flags, 0);
	assert_int_equal(op->num_waited, 2);
	p2p_complete(l, 0, &ignored);
	assert_row(l, 2, 6, 1, 1, 0, 0, 0, 0);
}

/* A test of an inactive request, and its start. */
static void test_started_after_test(void **state)
{
	struct lane *l = fix.lanes[0];
	const struct p2p_message m = message(2, 5);
	const uint64_t handle = key(16);

	(void)state;
	p2p_will_send(l, &m, SEG_REQUEST_PERSISTENT);
	p2p_made(l, true, handle);
	for (int i = 0; i < 2; i++) {
		list(l, &handle, 1);
		p2p_wait(l, SEG_OPERATION_WAIT_ALL, OPERATION_POLL);
		p2p_complete(l, 0, &ignored);
	}
	list(l, &handle, 1);
	p2p_look_up(l);
	p2p_start(l);
	p2p_started(l, true);
	assert_row(l, 2, 5, 1, 0, 0, 0, 0, 0);
}

static void test_persistent(void **state)
{
	struct lane *l = fix.lanes[0];
	struct p2p_message m = message(2, 5), any = message(SEG_PEER_ANY, 5);
	const uint64_t keys[] = {key(16), key(32)};

	(void)state;
	p2p_will_send(l, &m, SEG_REQUEST_PERSISTENT);
	p2p_made(l, true, keys[0]);
	p2p_will_receive(l, &any, SEG_REQUEST_PERSISTENT);
	p2p_made(l, true, keys[1]);
	assert_null(row(l, 2, 5));
	list(l, keys, 2);
	p2p_wait(l, SEG_OPERATION_WAIT_ALL, OPERATION_CALL);
	assert_int_equal(l->seg->operation.num_waited, 0); /* inactive */
	p2p_complete(l, 0, &ignored);
	for (uint64_t i = 1; i <= 3; i++) {
		list(l, keys, 2);
		p2p_look_up(l);
		p2p_start(l);
		p2p_started(l, true);
		list(l, keys, 2);
		p2p_wait(l, SEG_OPERATION_WAIT_ALL, OPERATION_CALL);
		assert_int_equal(l->seg->operation.num_waited, 2);
		assert_int_equal(fix.requests.slots[l->p2p.listed[0].slot].ordinal, i);
		assert_int_equal(p2p_position_flags(l, 1),
				 SEG_REQUEST_ACTIVE | SEG_REQUEST_PERSISTENT);
		p2p_complete(l, 0, &ignored);
		p2p_complete(l, 1, &from_2_tag_5);
		assert_row(l, 2, 5, i, i, 0, 0, i, 0);
		assert_row(l, SEG_PEER_ANY, 5, 0, 0, i, i, 0, 0);
	}
	list(l, keys, 1);
	p2p_look_up(l);
	p2p_start(l);
	p2p_started(l, false);
	assert_row(l, 2, 5, 3, 3, 0, 0, 3, 0);
	list(l, keys, 1);
	p2p_look_up(l);
	p2p_freed(l);
	assert_row(l, 2, 5, 3, 3, 0, 0, 3, 0);
	assert_int_equal(num_requests(), 1);
}

static void test_cancelled_and_freed(void **state)
{
	struct lane *l = fix.lanes[0];
	const struct p2p_status cancelled = {.is_known = true, .is_cancelled = true};
	const uint64_t handle = key(16);

	(void)state;
	irecv(l, handle, 2, 5);
	list(l, &handle, 1);
	p2p_look_up(l);
	p2p_cancelled(l);
	assert_row(l, 2, 5, 0, 0, 1, 0, 0, 1);
	list(l, &handle, 1);
	assert_true(p2p_position_wants_status(l, 0));
	wait_for(l, handle, &cancelled);
	assert_row(l, 2, 5, 0, 0, 1, 0, 0, 1);
	isend(l, handle, 2, 5);
	list(l, &handle, 1);
	p2p_look_up(l);
	p2p_freed(l);
	assert_row(l, 2, 5, 1, 1, 1, 0, 0, 1);
	irecv(l, handle, SEG_PEER_ANY, 6);
	list(l, &handle, 1);
	p2p_look_up(l);
	p2p_freed(l);
	assert_row(l, SEG_PEER_ANY, 6, 0, 0, 1, 1, 0, 0);
	assert_int_equal(dropped(l), 1);
	assert_int_equal(num_requests(), 0);
}

static void test_two_halves(void **state)
{
	struct lane *l = fix.lanes[0];
	struct p2p_message to = message(2, 5), from = message(SEG_PEER_ANY, 6);

	(void)state;
	p2p_will_send(l, &to, 0);
	p2p_will_receive(l, &from, 0);
	p2p_made(l, true, key(16));
	assert_int_equal(num_requests(), 2);
	const uint64_t handle = key(16);
	list(l, &handle, 1);
	p2p_wait(l, SEG_OPERATION_WAIT_ALL, OPERATION_CALL);
	assert_int_equal(l->seg->operation.num_waited, 2);
	p2p_complete(l, 0, &from_2_tag_5);
	assert_row(l, 2, 5, 1, 1, 0, 0, 0, 0);
	assert_row(l, SEG_PEER_ANY, 6, 0, 0, 1, 1, 0, 0);
	assert_int_equal(dropped(l), 1); /* the status is of no use */
	assert_int_equal(num_requests(), 0);
}

static void test_matched(void **state)
{
	struct lane *l = fix.lanes[0];
	const uint64_t got = requests_key(REQUESTS_MESSAGE, 16);

	(void)state;
	p2p_matched(l, got, 3, &from_2_tag_5);
	assert_row(l, 2, 5, 0, 0, 0, 0, 1, 0);
	p2p_will_receive_matched(l, got);
	p2p_made(l, true, key(16)); /* the same handle value, of another kind */
	assert_int_equal(num_requests(), 1);
	uint32_t slot = requests_find(&fix.requests, key(16));
	assert_int_equal(fix.requests.slots[slot].kind, SEG_REQUEST_MATCHED);
	assert_int_equal(fix.requests.slots[slot].peer, 2);
	wait_for(l, key(16), &ignored);
	assert_row(l, 2, 5, 0, 0, 0, 0, 1, 0);
	assert_int_equal(num_requests(), 0);
}

/* A handle that MPI gives out again, for something that completed unseen. */
static void test_handle_again(void **state)
{
	struct lane *l = fix.lanes[0];

	(void)state;
	for (int i = 0; i < 1000; i++)
		isend(l, key(16), 2, i % 3);
	assert_int_equal(num_requests(), 1);
	assert_int_equal(fix.requests.slots[requests_find(&fix.requests, key(16))].tag, 0);
	assert_int_equal(requests_find(&fix.requests, key(32)), REQUESTS_NONE);
}

/* A request that is asked for by another key than it was made with. */
static void test_renamed(void **state)
{
	struct lane *l = fix.lanes[0];
	const uint64_t keys[2] = {key(9), REQUESTS_KEY_NULL};

	(void)state;
	irecv(l, key(16), 2, 5);
	list(l, keys, 2);
	assert_false(p2p_wait(l, SEG_OPERATION_WAIT_ALL, OPERATION_CALL));
	assert_int_equal(l->seg->operation.flags, SEG_OPERATION_INCOMPLETE);
	assert_false(p2p_rename(l, 0, REQUESTS_KEY_NULL));
	assert_false(p2p_rename(l, 0, key(32)));
	assert_false(p2p_rename(l, 1, key(16)));
	assert_true(p2p_rename(l, 0, key(16)));
	assert_true(p2p_wait(l, SEG_OPERATION_WAIT_ALL, OPERATION_CALL));
	assert_int_equal(l->seg->operation.flags, 0);
	assert_int_equal(l->seg->operation.num_waited, 1);
	assert_int_equal(requests_find(&fix.requests, key(16)), REQUESTS_NONE);
	assert_false(p2p_rename(l, 0, key(16)));
	assert_true(p2p_complete_all(l));
	assert_row(l, 2, 5, 0, 0, 1, 1, 0, 0);
	assert_int_equal(num_requests(), 0);
}

/* Only a status can tell whose message a wildcard got; the others need none. */
static void test_complete_all(void **state)
{
	struct lane *l = fix.lanes[0];
	const uint64_t keys[3] = {key(16), key(32), key(48)};

	(void)state;
	irecv(l, keys[0], 2, 5);
	irecv(l, keys[1], SEG_PEER_ANY, 5);
	isend(l, keys[2], 2, 5);
	list(l, keys, 3);
	p2p_wait(l, SEG_OPERATION_WAIT_ALL, OPERATION_CALL);
	assert_false(p2p_complete_all(l));
	assert_int_equal(num_requests(), 1);
	assert_row(l, 2, 5, 1, 1, 1, 1, 0, 0);
	p2p_complete(l, 0, &ignored); /* not twice */
	p2p_complete(l, 1, &from_2_tag_5);
	assert_row(l, 2, 5, 1, 1, 1, 1, 1, 0);
	assert_int_equal(num_requests(), 0);
}

/* More requests than slots: the rest is counted as dropped, waiting for it says so. */
static void test_too_many_requests(void **state)
{
	struct lane *l = fix.lanes[0];
	const uint64_t beyond = key(16ul * (SEG_MAX_REQUESTS + 5));

	(void)state;
	for (uint64_t i = 1; i <= SEG_MAX_REQUESTS + 10; i++)
		isend(l, key(16 * i), 2, 5);
	assert_int_equal(num_requests(), SEG_MAX_REQUESTS);
	assert_true(fix.requests.table->dropped >= 10);
	list(l, &beyond, 1);
	p2p_wait(l, SEG_OPERATION_WAIT_ALL, OPERATION_CALL);
	assert_int_equal(l->seg->operation.flags, SEG_OPERATION_INCOMPLETE);
	struct p2p_list all = p2p_list_begin(l);
	for (uint64_t i = 1; i <= SEG_MAX_REQUESTS; i++)
		p2p_list(&all, key(16 * i));
	p2p_list_end(l, &all);
	p2p_wait(l, SEG_OPERATION_WAIT_ALL, OPERATION_CALL);
	assert_int_equal(l->seg->operation.num_waited, SEG_MAX_WAITED);
	for (uint32_t i = 0; i < SEG_MAX_REQUESTS; i++)
		p2p_complete(l, i, &ignored);
	assert_int_equal(num_requests(), 0);
	isend(l, key(16), 2, 5);
	assert_int_equal(num_requests(), 1);
}

/* Rows of another thread are not this thread's to write to. */
static void test_completed_by_another(void **state)
{
	(void)state;
	fix.requests.is_shared = true;
	isend(fix.lanes[0], key(16), 2, 5);
	irecv(fix.lanes[0], key(32), SEG_PEER_ANY, 5);
	wait_for(fix.lanes[1], key(16), &ignored);
	wait_for(fix.lanes[1], key(32), &from_2_tag_5);
	assert_row(fix.lanes[0], 2, 5, 1, 0, 0, 0, 0, 0);
	assert_row(fix.lanes[0], SEG_PEER_ANY, 5, 0, 0, 1, 0, 0, 0);
	assert_row(fix.lanes[1], 2, 5, 0, 1, 0, 0, 1, 0);
	assert_row(fix.lanes[1], SEG_PEER_ANY, 5, 0, 0, 0, 1, 0, 0);
	assert_int_equal(fix.requests.owner, 0);
	/* A lock that this thread was thrown out of is its own. */
	requests_lock(&fix.requests, 1);
	isend(fix.lanes[1], key(16), 2, 5);
	assert_int_equal(fix.requests.owner, 0);
}

enum { ROUNDS = 20000 };

static void *hammer(void *lane_of_thread)
{
	struct lane *l = lane_of_thread;
	uint64_t base = 1 + l->index * 8;

	for (int i = 0; i < ROUNDS; i++) {
		for (uint64_t j = 0; j < 8; j++)
			isend(l, key(16 * (base + j)), 2, j);
		for (uint64_t j = 8; j-- > 0;)
			wait_for(l, key(16 * (base + j)), &ignored);
	}
	return NULL;
}

static void test_threads(void **state)
{
	pthread_t threads[2];

	(void)state;
	fix.requests.is_shared = true;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, hammer, fix.lanes[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(num_requests(), 0);
	for (int i = 0; i < 2; i++)
		for (int tag = 0; tag < 8; tag++)
			assert_row(fix.lanes[i], 2, tag, ROUNDS, ROUNDS, 0, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ALONE(test_blocking),
		ALONE(test_taken_back),
		ALONE(test_lost_wildcard),
		ALONE(test_requests),
		ALONE(test_unknown_request),
		ALONE(test_polling),
		ALONE(test_started_after_test),
		ALONE(test_persistent),
		ALONE(test_cancelled_and_freed),
		ALONE(test_two_halves),
		ALONE(test_matched),
		ALONE(test_handle_again),
		ALONE(test_renamed),
		ALONE(test_complete_all),
		ALONE(test_too_many_requests),
		cmocka_unit_test_setup_teardown(test_completed_by_another, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
