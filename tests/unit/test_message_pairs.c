/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "analysis/waits/message_pairs.h"
#include "model/arena.h"
#include "model/job/callpath.h"
#include "model/job/job_comms.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/modules.h"
#include "model/xalloc.h"
#include "tests/unit/unit.h"

enum { SIZE = 4, MAX_ROWS = 4 };

/* A row of the ledger of a rank of the world; sends and receives are all done but `open` receives.
 */
struct row {
	int rank, peer, tag;
	uint64_t sends, receives, taken, open;
	uint32_t cancelled;
	int lane;
};

struct fixture {
	struct modules *modules;
	struct callpaths *paths;
	struct job_model *jm;
	struct job_comms *comms;
	struct arena *arena;
	struct message_pairs *pairs;
};

static struct model *make_model(int rank, const struct row *rows, size_t num_rows)
{
	struct model *model = model_create();

	model->rank = rank;
	model->size = SIZE;
	model->strings = xcalloc(1, 6);
	strcpy(model->strings, "start");
	model->num_strings = 6;
	model->num_sites = 1;
	model->sites = xcalloc(1, sizeof(*model->sites));
	model->sites[0] = (struct model_site){.frame = SEG_NO_FRAME, .name = model->strings};
	model->num_comms = 1;
	model->comms = xcalloc(1, sizeof(*model->comms));
	model->comms[0] = (struct model_comm){.id = 1,
					      .rank = rank,
					      .size = SIZE,
					      .members = SEG_ALL_MEMBERS,
					      .remote_members = SEG_NO_MEMBERS,
					      .sources = SEG_NO_MEMBERS};
	model->num_lanes = 2;
	model->lanes = xcalloc(2, sizeof(*model->lanes));
	for (int l = 0; l < 2; l++) {
		struct model_lane *lane = &model->lanes[l];

		lane->is_main = l == 0;
		lane->state = SEG_STATE_EXIT(0);
		lane->longest_ns = xcalloc(2, sizeof(*lane->longest_ns));
		lane->state_polls = xcalloc(2, sizeof(*lane->state_polls));
		lane->ledger = xcalloc(MAX_ROWS, sizeof(*lane->ledger));
	}
	for (size_t i = 0; i < num_rows; i++) {
		struct model_lane *lane = &model->lanes[rows[i].lane];

		if (rows[i].rank != rank || (!rows[i].sends && !rows[i].receives && !rows[i].taken))
			continue;
		assert_in_range(lane->num_ledger, 0, MAX_ROWS - 1);
		lane->ledger[lane->num_ledger++] =
			(struct model_ledger){.peer = rows[i].peer,
					      .tag = rows[i].tag,
					      .cancelled = rows[i].cancelled,
					      .sends = rows[i].sends,
					      .sends_done = rows[i].sends,
					      .receives = rows[i].receives,
					      .receives_done = rows[i].receives - rows[i].open,
					      .taken = rows[i].taken};
	}
	return model;
}

/* Rank 3 has no recorder. */
static void set_up(struct fixture *f, const struct row *rows, size_t num_rows, int lost_rank)
{
	f->modules = modules_create();
	f->paths = callpaths_create();
	f->jm = job_model_create(f->modules, f->paths);
	for (int r = 0; r < SIZE - 1; r++) {
		struct model *model = make_model(r, rows, num_rows);

		model->lanes[1].dropped_ledger = r == lost_rank;
		job_model_add(f->jm, r, model, 0);
	}
	job_model_finish(f->jm);
	f->jm->lanes[2].has_moved = true; /* rank 1 */
	f->comms = job_comms_create(f->jm);
	f->arena = arena_create();
	f->pairs = message_pairs_create(f->jm, f->comms, f->arena);
}

static void tear_down(struct fixture *f)
{
	arena_destroy(f->arena);
	job_comms_destroy(f->comms);
	job_model_destroy(f->jm);
	callpaths_destroy(f->paths);
	modules_destroy(f->modules);
}

#define SENT(rank_, peer_, tag_, number_)                                                          \
	{                                                                                          \
		.rank = rank_, .peer = peer_, .tag = tag_, .sends = number_                        \
	}
#define RECEIVED(rank_, peer_, tag_, number_, open_)                                               \
	{                                                                                          \
		.rank = rank_, .peer = peer_, .tag = tag_, .receives = number_, .open = open_      \
	}
#define TAKEN(rank_, peer_, tag_, number_)                                                         \
	{                                                                                          \
		.rank = rank_, .peer = peer_, .tag = tag_, .taken = number_                        \
	}

/* ---- Both ends ---- */

static void test_differences(void **state)
{
	static const struct {
		struct row rows[MAX_ROWS];
		int from, to, tag;
		uint64_t sends, receives, wildcards;
		bool is_comparable, differs;
	} cases[] = {
		/* as many at both ends */
		{{SENT(0, 2, 7, 5), RECEIVED(2, 0, 7, 5, 0)}, 0, 2, 7, 5, 5, 0, true, false},
		/* one not sent, one not received */
		{{SENT(0, 2, 7, 5), RECEIVED(2, 0, 7, 6, 1)}, 0, 2, 7, 5, 6, 0, true, true},
		{{SENT(0, 2, 7, 6), RECEIVED(2, 0, 7, 5, 0)}, 0, 2, 7, 6, 5, 0, true, true},
		/* nothing at the other end, or nothing with this tag */
		{{SENT(0, 2, 7, 6)}, 0, 2, 7, 6, 0, 0, true, true},
		{{SENT(0, 2, 7, 6), RECEIVED(2, 0, 8, 6, 6)}, 0, 2, 8, 0, 6, 0, true, true},
		/* by wildcards, which may be open for more */
		{{SENT(0, 2, 7, 6), TAKEN(2, 0, 7, 6), RECEIVED(2, -2, 7, 6, 0)},
		 0,
		 2,
		 7,
		 6,
		 6,
		 0,
		 true,
		 false},
		{{SENT(0, 2, 7, 6), TAKEN(2, 0, 7, 5), RECEIVED(2, -2, -1, 7, 2)},
		 0,
		 2,
		 7,
		 6,
		 5,
		 2,
		 true,
		 true},
		{{SENT(0, 2, 7, 6), RECEIVED(2, 0, -1, 3, 3), RECEIVED(2, 1, -1, 3, 3)},
		 0,
		 2,
		 7,
		 6,
		 0,
		 3,
		 true,
		 true},
		{{SENT(0, 2, -3, 6), RECEIVED(2, -2, -1, 1, 1)}, 0, 2, -3, 6, 0, 0, true, true},
		/* several threads */
		{{SENT(0, 2, 7, 6),
		  {.rank = 0, .peer = 2, .tag = 7, .sends = 4, .lane = 1},
		  RECEIVED(2, 0, 7, 10, 0)},
		 0,
		 2,
		 7,
		 10,
		 10,
		 0,
		 true,
		 false},
		/* not to be compared: cancelled, no room, a rank of which nothing is known,
		   wildcards */
		{{{.rank = 0, .peer = 2, .tag = 7, .sends = 6, .cancelled = 1},
		  RECEIVED(2, 0, 7, 5, 0)},
		 0,
		 2,
		 7,
		 6,
		 5,
		 0,
		 false,
		 false},
		{{SENT(0, 2, 7, 6), SENT(0, 2, -2, 9), RECEIVED(2, 0, 7, 5, 0)},
		 0,
		 2,
		 7,
		 6,
		 5,
		 0,
		 false,
		 false},
		{{SENT(0, 3, 7, 6)}, 0, 3, 7, 6, 0, 0, false, false},
		{{RECEIVED(2, -2, 7, 6, 1)}, -2, 2, 7, 0, 6, 0, false, false},
		{{RECEIVED(2, 0, -1, 6, 1)}, 0, 2, -1, 0, 6, 0, false, false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const struct message_pair *pair;
		struct fixture f;

		set_up(&f, cases[i].rows, MAX_ROWS, -1);
		pair = message_pairs_find(f.pairs, 0, cases[i].from, cases[i].to, cases[i].tag);
		if (!pair)
			fail_msg("case %zu: no pair", i);
		if (pair->sends != cases[i].sends || pair->receives != cases[i].receives ||
		    pair->wildcards != cases[i].wildcards ||
		    pair->is_comparable != cases[i].is_comparable ||
		    message_pair_differs(pair) != cases[i].differs)
			fail_msg("case %zu: %d sent, %d received, %d wildcards, comparable %d", i,
				 (int)pair->sends, (int)pair->receives, (int)pair->wildcards,
				 pair->is_comparable);
		assert_null(message_pairs_find(f.pairs, 0, 2, 0, 99));
		assert_null(message_pairs_find(f.pairs, SEG_NO_COMM, 0, 2, 7));
		tear_down(&f);
	}
}

static void test_ends(void **state)
{
	static const struct row rows[] = {SENT(0, 2, 7, 5), RECEIVED(2, 0, 7, 4, 0),
					  SENT(1, 2, 7, 5), RECEIVED(2, 1, 7, 4, 0)};
	const struct message_pair *pair;
	struct fixture f;

	(void)state;
	set_up(&f, rows, NUM_OF(rows), -1);
	assert_int_equal(f.pairs->num_pairs, 2);
	assert_false(message_pairs_find(f.pairs, 0, 0, 2, 7)->is_moving);
	assert_true(message_pairs_find(f.pairs, 0, 1, 2, 7)->is_moving);
	tear_down(&f);
	/* A thread of rank 2 has a ledger without room: whatever it did, it may not be there. */
	set_up(&f, rows, NUM_OF(rows), 2);
	pair = message_pairs_find(f.pairs, 0, 0, 2, 7);
	assert_false(pair->is_comparable);
	assert_false(message_pair_differs(pair));
	tear_down(&f);
	set_up(&f, NULL, 0, -1);
	assert_int_equal(f.pairs->num_pairs, 0);
	assert_null(message_pairs_find(f.pairs, 0, 0, 2, 7));
	tear_down(&f);
}

/* ---- One message ---- */

static void test_match(void **state)
{
	static const struct message_pair even = {.sends = 5,
						 .receives = 5,
						 .num_senders = 1,
						 .num_receivers = 1,
						 .is_comparable = true};
	static const struct message_pair lacks = {.sends = 5,
						  .receives = 8,
						  .taken = 2,
						  .num_senders = 1,
						  .num_receivers = 1,
						  .is_comparable = true};
	static const struct message_pair extra = {.sends = 6,
						  .receives = 5,
						  .num_senders = 1,
						  .num_receivers = 1,
						  .is_comparable = true};
	static const struct message_pair open = {.sends = 6,
						 .receives = 5,
						 .wildcards = 1,
						 .num_senders = 1,
						 .num_receivers = 1,
						 .is_comparable = true};
	static const struct message_pair shared = {.sends = 6,
						   .receives = 5,
						   .num_senders = 2,
						   .num_receivers = 2,
						   .is_comparable = true};
	static const struct message_pair vague = {
		.sends = 6, .receives = 5, .num_senders = 1, .num_receivers = 1};
	static const struct {
		const struct message_pair *pair;
		bool is_send;
		uint64_t ordinal;
		enum message_match match;
	} cases[] = {
		{&even, true, 5, MESSAGE_MATCH_YES},
		{&even, false, 5, MESSAGE_MATCH_YES},
		{&even, false, 0, MESSAGE_MATCH_UNKNOWN},
		/* Of 5 messages wildcards took two: the own receives got three. */
		{&lacks, false, 3, MESSAGE_MATCH_YES},
		{&lacks, false, 4, MESSAGE_MATCH_NO},
		{&extra, true, 5, MESSAGE_MATCH_YES},
		{&extra, true, 6, MESSAGE_MATCH_NO},
		{&open, true, 6, MESSAGE_MATCH_UNKNOWN},
		{&shared, true, 6, MESSAGE_MATCH_UNKNOWN},
		{&shared, false, 6, MESSAGE_MATCH_UNKNOWN},
		{&vague, true, 6, MESSAGE_MATCH_UNKNOWN},
		{NULL, true, 6, MESSAGE_MATCH_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++)
		if (message_pair_match(cases[i].pair, cases[i].is_send, cases[i].ordinal) !=
		    cases[i].match)
			fail_msg("case %zu", i);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_match),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
