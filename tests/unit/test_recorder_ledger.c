/* SPDX-License-Identifier: BSD-3-Clause
 * The rows of a ledger: which one counts, and what is done when there are too many. */
#include "model/recorder/ledger.h"

#include "tests/unit/recorder_messages.h"

static uint32_t num_rows(const struct lane *l)
{
	return l->seg->tables[SEG_LANE_LEDGER].count;
}

static void send_to(struct lane *l, int peer, int tag)
{
	struct p2p_message m = message(peer, tag);

	p2p_send(l, &m, 0);
	p2p_end(l, P2P_DONE, NULL);
}

static void test_too_many_tags(void **state)
{
	struct lane *l = fix.lanes[0];

	(void)state;
	for (int tag = 0; tag < (int)LEDGER_MANY + 100; tag++)
		send_to(l, tag % 2, tag);
	assert_row(l, 1, 1, 1, 1, 0, 0, 0, 0);
	assert_row(l, 1, LEDGER_MANY - 1, 1, 1, 0, 0, 0, 0);
	assert_null(row(l, 0, LEDGER_MANY));
	assert_row(l, 0, SEG_TAG_MANY, 50, 50, 0, 0, 0, 0);
	assert_row(l, 1, SEG_TAG_MANY, 50, 50, 0, 0, 0, 0);
	assert_int_equal(num_rows(l), LEDGER_MANY + 2);
	/* A tag that has a row keeps it. */
	send_to(l, 1, 1);
	assert_row(l, 1, 1, 2, 2, 0, 0, 0, 0);
	/* Peers that had none get one of their own for the first tag, and one for all others. */
	for (int tag = 7; tag < 10; tag++)
		send_to(l, 2, tag);
	assert_row(l, 2, 7, 1, 1, 0, 0, 0, 0);
	assert_row(l, 2, SEG_TAG_MANY, 2, 2, 0, 0, 0, 0);
	assert_int_equal(num_rows(l), LEDGER_MANY + 4);
	/* Tokens are not messages and share no row. */
	assert_int_equal(ledger_row(l, 3, 0, SEG_TAG_POST), LEDGER_MANY + 4);
	assert_int_equal(ledger_row(l, 3, 0, SEG_TAG_COMPLETE), LEDGER_MANY + 5);
	for (int peer = 3; peer < SEG_MAX_LEDGER; peer++)
		ledger_row(l, 3, peer, 1);
	assert_non_null(row(l, LEDGER_MAX_TAGS - LEDGER_MANY - 4, 1));
	assert_null(row(l, LEDGER_MAX_TAGS - LEDGER_MANY - 3, 1));
	assert_non_null(row(l, LEDGER_MAX_TAGS - LEDGER_MANY - 3, SEG_TAG_MANY));
	assert_int_equal(num_rows(l), SEG_MAX_LEDGER);
	assert_true(dropped(l) > 0);
	/* A full table asks for no more room. */
	ledger_row(l, 3, 1 << 20, 1);
	ledger_row(l, 3, 1 << 20, SEG_TAG_POST);
	assert_int_equal(l->refused, 0);
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
		"0",
		"01234012340123401234",
		"00112233440011223344",
		"43210432100123401234",
		"0102030401020304",
		"0000111100001111222",
		"31415926535897932384626433832795",
	};
	struct lane *l = fix.lanes[0];
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
	struct lane *l = fix.lanes[0];
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		ALONE(test_too_many_tags),
		ALONE(test_rows_in_any_order),
		ALONE(test_forgotten),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
