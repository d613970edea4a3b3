/* SPDX-License-Identifier: BSD-3-Clause
 * Messages of a thread, and what its ledger counts of them. */
#ifndef PDB_TESTS_UNIT_RECORDER_MESSAGES_H
#define PDB_TESTS_UNIT_RECORDER_MESSAGES_H

#include "model/recorder/p2p.h"
#include "tests/unit/recorder_lanes.h"

/* No two threads call at the same time. */
static inline int setup_alone(void **state)
{
	if (setup(state) != 0)
		return -1;
	fix.requests.is_shared = false;
	return 0;
}

#define ALONE(test) cmocka_unit_test_setup_teardown(test, setup_alone, teardown)

static inline struct p2p_message message(int32_t peer, int32_t tag)
{
	return (struct p2p_message){.comm = 3, .peer = peer, .tag = tag, .bytes = 40};
}

static inline uint64_t key(uint64_t handle)
{
	return requests_key(REQUESTS_REQUEST, handle);
}

static inline const struct seg_ledger *row(const struct lane *l, int32_t peer, int32_t tag)
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

static inline uint32_t dropped(const struct lane *l)
{
	return l->seg->tables[SEG_LANE_LEDGER].dropped;
}

#endif
