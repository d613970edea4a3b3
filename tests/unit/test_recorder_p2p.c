/* SPDX-License-Identifier: BSD-3-Clause
 * Messages counted in a lane's ledger, requests in the process's table, and the operation in
 * progress: what the wrappers' hooks call, without MPI. */
#include "model/recorder/p2p.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/recorder/pages.h"
#include "tests/unit/unit.h"

static char dir[] = "/tmp/pdb-test-p2p-XXXXXX";

static struct fixture {
	struct writer writer;
	struct requests requests;
	struct lane *lanes[2];
	uint32_t grown; /* times that a lane asked for room */
} f;

static bool grow_lane(struct lane *l, enum seg_lane_id table, uint32_t entries)
{
	f.grown++;
	return lane_reserve(l, &f.writer, table, entries);
}

static bool grow_requests(struct requests *r)
{
	return requests_extend(r, &f.writer);
}

static int setup(void **state)
{
	char why[512];

	(void)state;
	memset(&f, 0, sizeof(f));
	if (writer_create(&f.writer, dir, &(struct writer_identity){.job = "p2p"}, 64, 0, why,
			  sizeof(why)) != 0 ||
	    !requests_init(&f.requests, &f.writer, grow_requests))
		return -1;
	for (int i = 0; i < 2; i++) {
		f.lanes[i] = lane_create(&f.writer, i, grow_lane);
		if (!f.lanes[i])
			return -1;
		f.lanes[i]->requests = &f.requests;
		lane_take(f.lanes[i], 77 + i, i == 0);
	}
	f.requests.is_shared = false;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	writer_remove(&f.writer);
	return 0;
}

static struct p2p_message message(int32_t peer, int32_t tag)
{
	return (struct p2p_message){.comm = 3, .peer = peer, .tag = tag, .bytes = 40};
}

static uint64_t key(uint64_t handle)
{
	return requests_key(REQUESTS_REQUEST, handle);
}

static const struct seg_ledger *row(const struct lane *l, int32_t peer, int32_t tag)
{
	uint32_t num = l->seg->tables[SEG_LANE_LEDGER].count;

	for (uint32_t i = 0; i < num; i++)
		if (l->ledger[i].comm == 3 && l->ledger[i].peer == peer && l->ledger[i].tag == tag)
			return &l->ledger[i];
	return NULL;
}

/* sends, sends_done, receives, receives_done, taken, cancelled */
#define assert_row(lane_, peer_, tag_, ...)                                                        \
	do {                                                                                       \
		const struct seg_ledger *r = row(lane_, peer_, tag_);                              \
		const uint64_t should[6] = {__VA_ARGS__};                                          \
		assert_non_null(r);                                                                \
		const uint64_t is[6] = {r->sends,         r->sends_done, r->receives,              \
					r->receives_done, r->taken,      r->cancelled};            \
		for (int at_ = 0; at_ < 6; at_++)                                                  \
			assert_int_equal(is[at_], should[at_]);                                    \
	} while (0)

static uint32_t dropped(const struct lane *l)
{
	return l->seg->tables[SEG_LANE_LEDGER].dropped;
}

static uint32_t num_requests(void)
{
	uint32_t num = 0;

	for (uint32_t i = 0; i < f.requests.table->count; i++)
		num += f.requests.slots[i].kind != SEG_REQUEST_FREE;
	return num;
}

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
	struct lane *l = f.lanes[0];
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
	struct lane *l = f.lanes[0];
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
	struct lane *l = f.lanes[0];
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
	struct lane *l = f.lanes[0];
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
	const struct seg_request *third = &f.requests.slots[waited[2]];
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
	struct lane *l = f.lanes[0];
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
	struct lane *l = f.lanes[0];
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
	struct lane *l = f.lanes[0];
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
	struct lane *l = f.lanes[0];
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
		assert_int_equal(f.requests.slots[l->p2p.listed[0].slot].ordinal, i);
		assert_true(p2p_position_is_active(l, 1) && p2p_position_is_persistent(l, 1));
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
	struct lane *l = f.lanes[0];
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
	struct lane *l = f.lanes[0];
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
	struct lane *l = f.lanes[0];
	const uint64_t got = requests_key(REQUESTS_MESSAGE, 16);

	(void)state;
	p2p_matched(l, got, 3, &from_2_tag_5);
	assert_row(l, 2, 5, 0, 0, 0, 0, 1, 0);
	p2p_will_receive_matched(l, got);
	p2p_made(l, true, key(16)); /* the same handle value, of another kind */
	assert_int_equal(num_requests(), 1);
	uint32_t slot = requests_find(&f.requests, key(16));
	assert_int_equal(f.requests.slots[slot].kind, SEG_REQUEST_MATCHED);
	assert_int_equal(f.requests.slots[slot].peer, 2);
	wait_for(l, key(16), &ignored);
	assert_row(l, 2, 5, 0, 0, 0, 0, 1, 0);
	assert_int_equal(num_requests(), 0);
}

/* A handle that MPI gives out again, for something that completed unseen. */
static void test_handle_again(void **state)
{
	struct lane *l = f.lanes[0];

	(void)state;
	for (int i = 0; i < 1000; i++)
		isend(l, key(16), 2, i % 3);
	assert_int_equal(num_requests(), 1);
	assert_int_equal(f.requests.slots[requests_find(&f.requests, key(16))].tag, 0);
	assert_int_equal(requests_find(&f.requests, key(32)), REQUESTS_NONE);
}

/* A request that is asked for by another key than it was made with. */
static void test_renamed(void **state)
{
	struct lane *l = f.lanes[0];
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
	assert_int_equal(requests_find(&f.requests, key(16)), REQUESTS_NONE);
	assert_false(p2p_rename(l, 0, key(16)));
	assert_true(p2p_complete_all(l));
	assert_row(l, 2, 5, 0, 0, 1, 1, 0, 0);
	assert_int_equal(num_requests(), 0);
}

/* Only a status can tell whose message a wildcard got; the others need none. */
static void test_complete_all(void **state)
{
	struct lane *l = f.lanes[0];
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
	struct lane *l = f.lanes[0];
	const uint64_t beyond = key(16ul * (SEG_MAX_REQUESTS + 5));

	(void)state;
	for (uint64_t i = 1; i <= SEG_MAX_REQUESTS + 10; i++)
		isend(l, key(16 * i), 2, 5);
	assert_int_equal(num_requests(), SEG_MAX_REQUESTS);
	assert_true(f.requests.table->dropped >= 10);
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

static void test_too_many_tags(void **state)
{
	struct lane *l = f.lanes[0];
	uint32_t grown;

	(void)state;
	for (int tag = 0; tag < (int)LEDGER_MAX_TAGS + 100; tag++) {
		struct p2p_message m = message(tag % 2, tag);
		p2p_send(l, &m, 0);
		p2p_end(l, P2P_DONE, NULL);
	}
	assert_row(l, 1, 1, 1, 1, 0, 0, 0, 0);
	assert_null(row(l, 0, LEDGER_MAX_TAGS));
	assert_row(l, 0, SEG_TAG_MANY, 50, 50, 0, 0, 0, 0);
	assert_row(l, 1, SEG_TAG_MANY, 50, 50, 0, 0, 0, 0);
	assert_int_equal(dropped(l), 0);
	/* Tokens are not messages and share no row with them. */
	assert_int_equal(ledger_row(l, 3, 0, SEG_TAG_POST), LEDGER_NO_ROW);
	assert_int_equal(dropped(l), 1);
	for (int peer = 2; peer < SEG_MAX_LEDGER; peer++)
		ledger_row(l, 3, peer, 1);
	assert_int_equal(l->seg->tables[SEG_LANE_LEDGER].count, SEG_MAX_LEDGER);
	assert_true(dropped(l) > 1);
	/* A full table asks for no more room. */
	grown = f.grown;
	ledger_row(l, 3, 1 << 20, 1);
	assert_int_equal(f.grown, grown);
}

/* Whatever row is expected, the right one counts: also the very first, of zeros only, and rows that
 * differ in one thing. */
static void test_rows_in_any_order(void **state)
{
	static const struct p2p_message rows[] = {
		{.comm = 0, .peer = 0, .tag = 0}, {.comm = 0, .peer = 0, .tag = 1},
		{.comm = 0, .peer = 1, .tag = 0}, {.comm = 1, .peer = 0, .tag = 0},
		{.comm = 1, .peer = 1, .tag = 1},
	};
	enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
	static const char *const orders[] = {
		"0", "01234012340123401234", "00112233440011223344", "43210432100123401234",
		"0102030401020304", "0000111100001111222", "31415926535897932384626433832795",
	};
	struct lane *l = f.lanes[0];
	uint64_t num[ROWS] = {0};
	uint64_t handle = 16;

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		for (const char *c = orders[i]; *c; c++) {
			int row = (*c - '0') % ROWS;
			num[row]++;
			p2p_send(l, &rows[row], 0);
			assert_int_equal(l->seg->operation.transfers[0].ordinal, num[row]);
			p2p_end(l, P2P_DONE, NULL);
			p2p_will_receive(l, &rows[row], 0);
			p2p_made(l, true, key(handle++));
		}
	}
	assert_int_equal(l->seg->tables[SEG_LANE_LEDGER].count, ROWS);
	for (uint32_t i = 0; i < ROWS; i++) {
		const struct seg_ledger *r = &l->ledger[i];
		uint32_t at = 0;
		while (at < ROWS && !(rows[at].comm == r->comm && rows[at].peer == r->peer &&
				      rows[at].tag == r->tag))
			at++;
		assert_true(at < ROWS);
		assert_int_equal(r->sends, num[at]);
		assert_int_equal(r->sends_done, num[at]);
		assert_int_equal(r->receives, num[at]);
	}
}

/* The communicator's entry is another's now: its rows are there, and count from 0. */
static void test_forgotten(void **state)
{
	struct lane *l = f.lanes[0];
	const struct p2p_message other = {.comm = 4, .peer = 1, .tag = 7};
	uint32_t rows;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct p2p_message m = message(1, 7);
		p2p_send(l, &m, 0);
		p2p_end(l, P2P_DONE, NULL);
		p2p_send(l, &other, 0);
		p2p_end(l, P2P_DONE, NULL);
	}
	rows = l->seg->tables[SEG_LANE_LEDGER].count;
	ledger_forget(l, 3);
	assert_row(l, 1, 7, 0, 0, 0, 0, 0, 0);
	struct p2p_message m = message(1, 7);
	p2p_send(l, &m, 0);
	assert_int_equal(l->seg->operation.transfers[0].ordinal, 1);
	p2p_end(l, P2P_DONE, NULL);
	assert_row(l, 1, 7, 1, 1, 0, 0, 0, 0);
	p2p_send(l, &other, 0);
	assert_int_equal(l->seg->operation.transfers[0].ordinal, 4);
	p2p_end(l, P2P_DONE, NULL);
	assert_int_equal(l->seg->tables[SEG_LANE_LEDGER].count, rows);
}

/* Rows of another thread are not this thread's to write to. */
static void test_completed_by_another(void **state)
{
	(void)state;
	f.requests.is_shared = true;
	isend(f.lanes[0], key(16), 2, 5);
	irecv(f.lanes[0], key(32), SEG_PEER_ANY, 5);
	wait_for(f.lanes[1], key(16), &ignored);
	wait_for(f.lanes[1], key(32), &from_2_tag_5);
	assert_row(f.lanes[0], 2, 5, 1, 0, 0, 0, 0, 0);
	assert_row(f.lanes[0], SEG_PEER_ANY, 5, 0, 0, 1, 0, 0, 0);
	assert_row(f.lanes[1], 2, 5, 0, 1, 0, 0, 1, 0);
	assert_row(f.lanes[1], SEG_PEER_ANY, 5, 0, 0, 0, 1, 0, 0);
	assert_int_equal(f.requests.owner, 0);
	/* A lock that this thread was thrown out of is its own. */
	requests_lock(&f.requests, 1);
	isend(f.lanes[1], key(16), 2, 5);
	assert_int_equal(f.requests.owner, 0);
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
	f.requests.is_shared = true;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, hammer, f.lanes[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(num_requests(), 0);
	for (int i = 0; i < 2; i++)
		for (int tag = 0; tag < 8; tag++)
			assert_row(f.lanes[i], 2, tag, ROUNDS, ROUNDS, 0, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_blocking, setup, teardown),
		cmocka_unit_test_setup_teardown(test_taken_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost_wildcard, setup, teardown),
		cmocka_unit_test_setup_teardown(test_requests, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_request, setup, teardown),
		cmocka_unit_test_setup_teardown(test_polling, setup, teardown),
		cmocka_unit_test_setup_teardown(test_started_after_test, setup, teardown),
		cmocka_unit_test_setup_teardown(test_persistent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cancelled_and_freed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_halves, setup, teardown),
		cmocka_unit_test_setup_teardown(test_matched, setup, teardown),
		cmocka_unit_test_setup_teardown(test_handle_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_renamed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_complete_all, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_many_requests, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_many_tags, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rows_in_any_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forgotten, setup, teardown),
		cmocka_unit_test_setup_teardown(test_completed_by_another, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
	};
	if (!mkdtemp(dir))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(dir);
	return failed;
}
