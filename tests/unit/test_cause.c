/* SPDX-License-Identifier: BSD-3-Clause
 * What lp, why and waits say of deadlocks, mismatches and lost messages: the hung job of hung_job.h
 * with other faults, and the verdict as it would be. */
#include <string.h>

#include "analysis/waits/wait_groups.h"
#include "render/words/label.h"
#include "tests/unit/golden.h"
#include "tests/unit/hung_job.h"

static struct model *model_of(struct hung *hung, int rank)
{
	return (struct model *)hung->job.model->lanes[rank].model;
}

/* A job of 8 ranks; the culprit, rank 3, is to be inside MPI, too. */
static struct hung *create(uint32_t culprit_site)
{
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});
	uint32_t state = SEG_STATE_ENTER(culprit_site);

	hung->job.model->lanes[3].state = model_of(hung, 3)->lanes[0].state = state;
	hung->groups.groups[2].state = state;
	hung->groups.groups[2].activity = ACTIVITY_IN_MPI;
	hung->view.width = 100;
	return hung;
}

/* Look again, and say that this is the verdict. */
static void judge(struct hung *hung, enum verdict_kind kind)
{
	waitfor_destroy(hung->waitfor);
	evidence_destroy(hung->evidence);
	hung->evidence = evidence_create(&hung->job);
	hung->waitfor = waitfor_create(hung->evidence, hung->comms);
	hung->view.waitfor = hung->waitfor;
	hung->verdict.kind = kind;
	hung->verdict.deadlock = hung->waitfor->deadlocks;
	hung->verdict.mismatch = hung->waitfor->mismatches;
	hung->verdict.need = NULL;
	hung->verdict.witness.kind = WITNESS_NONE;
}

/* Rank 3 waits in MPI_Waitall for a message with tag 8 from rank 4, which waits for one of it. */
static struct hung *create_deadlock(void)
{
	struct hung *hung = create(SITE_WAITALL);
	struct model *model = model_of(hung, 3);
	struct model_lane *lane = &model->lanes[0];

	lane->ledger = xreallocarray(lane->ledger, 3, sizeof(*lane->ledger));
	lane->ledger[lane->num_ledger++] =
		(struct model_ledger){.peer = 4, .tag = 8, .receives = 1};
	model->num_requests = 1;
	model->requests = xcalloc(1, sizeof(*model->requests));
	model->requests[0] = (struct model_request){.kind = SEG_REQUEST_RECV,
						    .flags = SEG_REQUEST_ACTIVE,
						    .peer = 4,
						    .tag = 8,
						    .ordinal = 1,
						    .site = SITE_IRECV};
	lane->operation = (struct model_operation){.kind = SEG_OPERATION_WAIT_ALL};
	lane->operation.waited = xcalloc(1, sizeof(uint32_t));
	lane->operation.num_waited = 1;
	judge(hung, VERDICT_DEADLOCK);
	assert_int_equal(hung->waitfor->num_deadlocks, 1);
	return hung;
}

static void show_waits(struct hung *hung)
{
	struct wait_groups *groups =
		wait_groups_create(hung->waitfor, &hung->groups, hung->job.model->ranks,
				   hung->verdict.culprits, 100, hung->view.arena);

	hung->answer.waits = groups;
	view_waits(&hung->view);
}

/* The culprits are in another iteration of the outermost loop. */
static void move_culprits(struct hung *hung, int iterations)
{
	for (size_t i = 0; i < hung->verdict.num_culprit_groups; i++) {
		const struct place *place =
			hung->groups.groups[hung->verdict.culprit_groups[i]].place;

		place->iterations[0].count += (uint64_t)iterations;
	}
}

static void test_deadlock(void **state)
{
	struct hung *hung = create_deadlock();
	const char *text;

	(void)state;
	view_lp(&hung->view);
	text = hung_text(hung);
	check_lines(text, &hung->view);
	assert_contains(text, "Culprit: rank 3 of 8\n"
			      "  deadlock: ranks 3-4 wait for each other\n"
			      "    rank 3, in MPI_Waitall, halo() at solver.c:131, waits for "
			      "message 1 with tag 8 from rank 4\n"
			      "      (MPI_Irecv, halo() solver.c:128), which has sent none\n"
			      "    rank 4, in MPI_Waitall, halo() at solver.c:131, waits for "
			      "message 413 with tag 7 from rank 3\n"
			      "      (MPI_Irecv, halo() solver.c:128), which has sent 412\n"
			      "    ranks 0-2,5-7 wait for these\n");
	assert_contains(text, "  evidence: 8 of 8 ranks wait inside MPI: ");
	assert_contains(text, "next: \"waits\", \"gdb 3\"");
	show_waits(hung);
	text = hung_text(hung);
	assert_contains(text, "<=> culprit, wait for each other\n");
	assert_contains(text, "<-> wait for each other\n");
	/* Where all of it are named nobody has left out anything. */
	rankset_add(hung->verdict.culprits, 4);
	view_lp(&hung->view);
	assert_contains(hung_text(hung), "Deadlock: ranks 3-4 of 8\n");
	rankset_remove(hung->verdict.culprits, 4);
	hung_ask(hung, 0, view_why);
	text = hung_text(hung);
	assert_contains(text, "rank 0: in MPI_Allgather, exchange() at solver.c:141, for 72 s, "
			      "iteration 412\n"
			      "  waits for ranks 2-4 to call MPI_Allgather, number 1237 on "
			      "MPI_COMM_WORLD\n");
	assert_contains(text, " is the one above: these wait for each other\n");
	hung->verdict.doubt = DOUBT_THREAD;
	hung->verdict.witness =
		(struct verdict_witness){.kind = WITNESS_NOVEL, .rank = 3, .transition = 0};
	view_lp(&hung->view);
	text = hung_text(hung);
	assert_contains(text, "  likely, not certain: ");
	assert_contains(text, "    rank 3, and no other, once went straight from the start, to "
			      "MPI_Isend, halo() solver.c:125:");
	hung->verdict.witness.transition = 1; /* into and out of MPI_Isend */
	view_lp(&hung->view);
	assert_contains(hung_text(hung), "    rank 3, and no other, once called MPI_Isend, ");
	hung->verdict.doubt = DOUBT_DEPARTURE;
	hung->verdict.witness = (struct verdict_witness){.kind = WITNESS_DEPARTED, .rank = 4};
	hung->verdict.witness.departure = (struct departure){.last = SEG_STATE_ENTER(SITE_IRECV),
							     .call = SEG_STATE_ENTER(SITE_WAITALL),
							     .usual = SEG_STATE_ENTER(SITE_ISEND),
							     .num_usual = 30,
							     .num_times = 30,
							     .num_own = 30,
							     .num_memory = 1};
	view_lp(&hung->view);
	text = hung_text(hung);
	check_lines(text, &hung->view);
	assert_contains(text, "    rank 4, as the only one of these, left its usual course: from "
			      "MPI_Irecv, halo() solver.c:128, it\n"
			      "      went to MPI_Waitall, halo() solver.c:131. "
			      "Before, it had gone to MPI_Isend, halo()\n"
			      "      solver.c:125 30 times\n");
	assert_contains(text, "  likely, not certain: its unusual next call need not be the "
			      "cause\n");
	hung->verdict.witness.num_later = 2;
	hung->verdict.witness.departure.num_usual = 21;
	hung->verdict.witness.departure.num_own = 6;
	hung->verdict.witness.departure.num_memory = 4;
	view_lp(&hung->view);
	assert_contains(hung_text(hung), "Before, it and other ranks had gone");
	/* Who has left something out may be further than those who wait for it. */
	move_culprits(hung, 1);
	view_lp(&hung->view);
	assert_contains(
		hung_text(hung),
		"  loop run() at solver.c:120: in iteration 413; all others still in 412\n");
	move_culprits(hung, -2);
	view_lp(&hung->view);
	assert_contains(hung_text(hung),
			"  loop run() at solver.c:120: in iteration 411; all others in 412\n");
	hung_destroy(hung);
}

/* Ranks in a circle of 5,000: its beginning and end. */
static void test_long_circle(void **state)
{
	enum { SIZE = 5000 };
	struct hung *hung = hung_create((struct hung_options){.size = SIZE, .culprit = 3});
	const char *text;
	int lines = 0;

	(void)state;
	for (int r = 0; r < SIZE; r++) {
		struct model_lane *lane = &model_of(hung, r)->lanes[0];
		int peer = (r + 1) % SIZE;

		lane->ledger[0] = (struct model_ledger){.peer = peer, .tag = 7, .receives = 1};
		lane->num_ledger = 1;
		lane->operation.kind = SEG_OPERATION_RECV;
		lane->operation.transfers[0] =
			(struct model_transfer){.peer = peer, .tag = 7, .ordinal = 1};
		lane->state = hung->job.model->lanes[r].state = SEG_STATE_ENTER(SITE_IRECV);
	}
	judge(hung, VERDICT_DEADLOCK);
	assert_int_equal(hung->waitfor->num_deadlocks, 1);
	view_lp(&hung->view);
	text = hung_text(hung);
	check_lines(text, &hung->view);
	assert_contains(text, "  deadlock: ranks 0-4999 wait for each other\n");
	assert_contains(text, "    ... 4994 more like these ...\n");
	for (const char *at = text; *at; at++)
		lines += *at == '\n';
	assert_in_range(lines, 10, 40);
	hung_ask(hung, 17, view_why);
	text = hung_text(hung);
	check_lines(text, &hung->view);
	assert_contains(text, " more steps like these ...\n");
	assert_contains(text, "rank 17 is the one above: these wait for each other\n");
	hung_destroy(hung);
}

/* All are in number 1237, rank 1 in another function. */
static struct hung *create_mismatch(void)
{
	struct hung *hung = create(SITE_ALLGATHER);

	for (int r = 0; r < 8; r++) {
		struct model *model = model_of(hung, r);
		struct model_lane *lane = &model->lanes[0];
		uint32_t site = r == 1 ? SITE_SPLIT : SITE_ALLGATHER;

		model->num_requests = 0;
		model->comms[0].collectives = 1237;
		for (uint64_t i = 0; i < SEG_RECENT; i++)
			model->comms[0].recent[i].number = 1237 - i;
		model->comms[0].recent[0].site = site;
		lane->operation.kind = SEG_OPERATION_COLLECTIVE;
		lane->operation.number = 1237;
		lane->operation.transfers[0].comm = 0;
		lane->operation.num_waited = 0;
		lane->state = hung->job.model->lanes[r].state = SEG_STATE_ENTER(site);
	}
	judge(hung, VERDICT_MISMATCH);
	assert_int_equal(hung->waitfor->num_mismatches, 1);
	return hung;
}

static void test_mismatch(void **state)
{
	static const char parties[] =
		"mismatch: different functions as collective number 1237 on "
		"MPI_COMM_WORLD\n"
		"    rank 1: MPI_Comm_split, setup() at grid.c:40\n"
		"    ranks 0,2-7: MPI_Allgather, exchange() at solver.c:141\n";
	struct hung *hung = create_mismatch();
	struct waitfor_mismatch *mismatch = &hung->waitfor->mismatches[0];
	const char *text;

	(void)state;
	view_lp(&hung->view);
	text = hung_text(hung);
	assert_contains(text, parties);
	assert_contains(text, "next: \"collectives 1\", ");
	hung_ask(hung, 0, view_why);
	assert_contains(hung_text(hung), "mismatch: different functions as collective ");
	mismatch->what = WAITFOR_OTHER_ROOT;
	mismatch->parties[0].root = 5;
	mismatch->parties[1].root = 0;
	mismatch->parties[1].is_waiting = false;
	view_lp(&hung->view);
	text = hung_text(hung);
	assert_contains(text, "  mismatch: different roots in MPI_Comm_split, collective number "
			      "1237 on MPI_COMM_WORLD\n"
			      "    rank 1: MPI_Comm_split with root 5, setup() at grid.c:40\n"
			      "    ranks 0,2-7: MPI_Allgather with root 0, exchange() at "
			      "solver.c:141, and is done with it\n");
	mismatch->what = WAITFOR_OTHER_BYTES;
	mismatch->parties[0].bytes = 32;
	view_lp(&hung->view);
	text = hung_text(hung);
	assert_contains(text, "different sizes in MPI_Comm_split, collective number 1237 on "
			      "MPI_COMM_WORLD\n"
			      "    rank 1: MPI_Comm_split of 32 bytes, ");
	hung_destroy(hung);
}

/* Rank 3 has sent its message to rank 4 with tag 9, and gone on to the collective. */
static void test_lost(void **state)
{
	struct hung *hung = create(SITE_ALLGATHER);
	struct model *model = model_of(hung, 3);
	struct model_lane *lane = &model->lanes[0];
	const char *text;

	(void)state;
	lane->ledger = xreallocarray(lane->ledger, 3, sizeof(*lane->ledger));
	lane->ledger[lane->num_ledger++] =
		(struct model_ledger){.peer = 4, .tag = 9, .sends = 1, .sends_done = 1};
	model->comms[0].collectives = 1237;
	for (uint64_t i = 0; i < SEG_RECENT; i++)
		model->comms[0].recent[i].number = 1237 - i;
	lane->operation.kind = SEG_OPERATION_COLLECTIVE;
	lane->operation.number = 1237;
	lane->operation.transfers[0].comm = 0;
	judge(hung, VERDICT_LOST);
	assert_in_range(hung->waitfor->num_losts, 1, 2);
	hung->verdict.need = hung->waitfor->losts[0].need;
	hung->verdict.witness.kind = WITNESS_SLIP;
	hung->verdict.witness.lost = hung->waitfor->losts;
	view_lp(&hung->view);
	text = hung_text(hung);
	check_lines(text, &hung->view);
	assert_contains(text,
			"  lost message: rank 4 waits for message 413 with tag 7 from rank 3 "
			"(MPI_Irecv, halo()\n    solver.c:128), which has sent 412\n"
			"    rank 4: in MPI_Waitall, halo() at solver.c:131\n"
			"    rank 3 has sent to rank 4 a message with tag 9 on MPI_COMM_WORLD "
			"that no receive takes: meant\n      for this one? (the tags differ)\n"
			"  rank 3: in MPI_Allgather, exchange() at solver.c:141, for 72 s\n");
	assert_contains(text, "next: \"messages 4\", ");
	hung->verdict.doubt = DOUBT_THREAD;
	view_lp(&hung->view);
	assert_contains(hung_text(hung), "a thread that has not called MPI so far could");
	hung->verdict.doubt = DOUBT_ORDER;
	hung->verdict.witness.kind = WITNESS_LOST;
	view_lp(&hung->view);
	text = hung_text(hung);
	assert_null(strstr(text, "meant"));
	assert_contains(text, "found by the order of the calls alone\n");
	hung_destroy(hung);
}

/* What is matched and does not end: a message, a token, a lock. Collectives are in the other tests.
 */
static void test_transfers(void **state)
{
	static const struct {
		enum seg_comm_kind kind;
		int32_t tag;
		const char *text, *short_text;
	} cases[] = {
		{SEG_COMM_INTRA, 7,
		 "the transfer of a message with tag 7 to or from rank 4, which both ends have "
		 "begun",
		 "rank 4: transfer, tag 7"},
		{SEG_COMM_INTRA, SEG_TAG_ANY,
		 "the transfer of a message with any tag from any rank (MPI_ANY_SOURCE), which has "
		 "been sent",
		 "any rank: transfer, any tag"},
		{SEG_COMM_WINDOW, SEG_TAG_POST,
		 "the end of MPI_Win_post of rank 4, which it has called",
		 "rank 4: MPI_Win_post, called"},
		{SEG_COMM_INTRA, SEG_TAG_LEADER,
		 "the end of MPI_Intercomm_create of rank 4, which it has called",
		 "rank 4: MPI_Intercomm_create, called"},
		{SEG_COMM_WINDOW, 1,
		 "the lock of rank 4, which no rank is known to hold: rank 4 may have to call MPI "
		 "to give "
		 "it",
		 "rank 4: lock"},
	};
	struct hung *hung = create(SITE_WAITALL);
	struct rankset *peers = rankset_create();
	struct waitfor_need *need = NULL;

	(void)state;
	judge(hung, VERDICT_LIBRARY);
	for (size_t n = 0; n < hung->waitfor->num_needs && !need; n++)
		if (hung->waitfor->needs[n].peer == 3)
			need = &hung->waitfor->needs[n];
	assert_non_null(need);
	rankset_add(peers, 4);
	need->kind = WAITFOR_TRANSFER;
	need->request = WAITFOR_NONE;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const char *text, *short_text;

		need->tag = cases[i].tag;
		need->peer = cases[i].tag == SEG_TAG_ANY ? -1 : 4;
		hung->comms->comms[need->comm].kind = cases[i].kind;
		text = label_wait_need(&hung->view, need);
		short_text = label_wait_needs(&hung->view, need, peers, 30);
		assert_string_equal(text, cases[i].text);
		assert_string_equal(short_text, cases[i].short_text);
	}
	rankset_destroy(peers);
	hung_destroy(hung);
}

/* Nobody is accused: all wait for one that moves. */
static void test_awaited(void **state)
{
	struct hung *hung = create(SITE_WAITALL);

	(void)state;
	judge(hung, VERDICT_NONE);
	rankset_add(hung->verdict.moving, 3);
	rankset_add(hung->verdict.moving, 4);
	rankset_add(hung->verdict.awaited, 3);
	view_lp(&hung->view);
	assert_contains(hung_text(hung),
			" ranks wait for rank 3, which is still making progress.\n");
	hung_destroy(hung);
}

/* Nobody is accused: all wait for one that computes, as long as it did before. */
static void test_slow(void **state)
{
	struct hung *hung = create(SITE_WAITALL);

	(void)state;
	judge(hung, VERDICT_NONE);
	rankset_add(hung->verdict.moving, 4);
	rankset_add(hung->verdict.awaited, 3);
	rankset_add(hung->verdict.awaited, 4);
	hung->verdict.stay_ns = 8000000000;
	hung->verdict.longest_before_ns = 15000000000;
	hung->verdict.is_new_state = false;
	view_lp(&hung->view);
	assert_contains(hung_text(hung),
			" ranks wait for ranks 3-4; rank 3 is outside MPI.\n"
			"  rank 3: here for 8.0 s; the longest stay here before was 15 s\n"
			"  last move of any rank: 72 s ago\n"
			"  not sure that this is a hang: it may just take long; ");
	hung_destroy(hung);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deadlock),  cmocka_unit_test(test_long_circle),
		cmocka_unit_test(test_mismatch),  cmocka_unit_test(test_lost),
		cmocka_unit_test(test_transfers), cmocka_unit_test(test_awaited),
		cmocka_unit_test(test_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
