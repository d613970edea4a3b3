/* SPDX-License-Identifier: BSD-3-Clause
 * The answers about messages, collectives and requests on the hung job of hung_job.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/waits/collective_groups.h"
#include "analysis/waits/message_pairs.h"
#include "analysis/waits/wait_groups.h"
#include "model/job/job_comms.h"
#include "render/words/label.h"
#include "tests/unit/hung_golden.h"

/* ---- Golden text ---- */

static void print_messages(struct hung *hung, const char *ranks)
{
	struct message_pairs *pairs =
		message_pairs_create(hung->job.model, hung->comms, hung->view.arena);
	struct rankset *set;
	struct pdb_error err;

	assert_int_equal(rankset_decode(ranks, -1, &set, &err), 0);
	hung->answer.pairs = pairs;
	hung->answer.ranks = set;
	view_messages(&hung->view);
	rankset_destroy(set);
}

static void print_requests(struct hung *hung, int rank)
{
	struct message_pairs *pairs =
		message_pairs_create(hung->job.model, hung->comms, hung->view.arena);

	hung->answer.pairs = pairs;
	hung_ask(hung, rank, view_requests);
}

static void print_collectives(struct hung *hung)
{
	struct collective_groups *groups[64];

	assert_in_range(hung->comms->num_comms, 1, NUM_OF(groups));
	for (uint32_t c = 0; c < hung->comms->num_comms; c++)
		groups[c] =
			collective_groups_create(hung->job.model, hung->comms, c, hung->view.arena);
	hung->answer.collectives = groups;
	view_collectives(&hung->view);
	hung->answer.collectives = NULL;
}

static void print_collective(struct hung *hung, uint32_t comm)
{
	struct collective_groups *groups =
		collective_groups_create(hung->job.model, hung->comms, comm, hung->view.arena);

	hung->answer.comms = &comm;
	hung->answer.collectives = &groups;
	hung->answer.num_collectives = 1;
	view_collectives(&hung->view);
	hung->answer.comms = NULL;
}

static void print_waits(struct hung *hung, size_t max_groups)
{
	struct wait_groups *groups =
		wait_groups_create(hung->waitfor, &hung->groups, hung->job.model->ranks,
				   hung->verdict.culprits, max_groups, hung->view.arena);

	hung->answer.waits = groups;
	view_waits(&hung->view);
}

static void print_all(struct hung *hung)
{
	FILE *out = hung->view.out;
	int culprit = hung->options.culprit;

	hung->view.waitfor = hung->waitfor;
	fputs("== lp\n", out);
	view_lp(&hung->view);
	fputs("== why\n", out);
	hung_ask(hung, hung->options.size - 1, view_why);
	fputs("== why of a neighbour\n", out);
	hung_ask(hung, culprit - 1, view_why);
	fputs("== why of the culprit\n", out);
	hung_ask(hung, culprit, view_why);
	fputs("== waits\n", out);
	print_waits(hung, 24);
	fputs("== messages of a neighbour\n", out);
	print_messages(hung, culprit == 2 ? "1" : "101");
	fputs("== messages of all\n", out);
	print_messages(hung, hung->options.size == 4 ? "0-3" : "0-4095");
	fputs("== requests of a neighbour\n", out);
	print_requests(hung, culprit - 1);
	fputs("== requests of the culprit\n", out);
	print_requests(hung, culprit);
	fputs("== collectives\n", out);
	print_collectives(hung);
	fputs("== collectives 1\n", out);
	print_collective(hung, 0);
	fputs("== collectives 3\n", out);
	print_collective(hung, 2);
}

static const struct hung_case jobs[] = {
	{"4", {.size = 4, .culprit = 2}},
	{"4096", {.size = 4096, .culprit = 100}},
	{"cxx", {.size = 4096, .culprit = 100, .is_cxx = true}},
};

static void test_golden(void **state)
{
	(void)state;
	check_golden_jobs(jobs, NUM_OF(jobs), "evidence", print_all);
}

static void test_widths(void **state)
{
	(void)state;
	check_widths(jobs, NUM_OF(jobs), print_all);
}

/* ---- Names ---- */

static void test_comm_labels(void **state)
{
	static const struct {
		const char *name, *made_by, *label, *full;
		enum seg_comm_kind kind;
	} cases[] = {
		{"rows", "MPI_Comm_split", "rows", "rows", SEG_COMM_INTRA},
		{NULL, "MPI_Comm_split", "split at grid.c:40",
		 "split of MPI_COMM_WORLD at grid.c:40", SEG_COMM_INTRA},
		{NULL, "MPI_Comm_dup", "dup at grid.c:40", "dup of MPI_COMM_WORLD at grid.c:40",
		 SEG_COMM_INTRA},
		{NULL, "MPI_Cart_create", "Cartesian grid at grid.c:40",
		 "Cartesian grid of MPI_COMM_WORLD at grid.c:40", SEG_COMM_INTRA},
		{NULL, "MPI_Win_create", "window at grid.c:40",
		 "window of MPI_COMM_WORLD at grid.c:40", SEG_COMM_WINDOW},
		{NULL, "MPI_Strange", "MPI_Strange at grid.c:40",
		 "MPI_Strange of MPI_COMM_WORLD at grid.c:40", SEG_COMM_INTRA},
		{NULL, NULL, "unnamed intercommunicator", "unnamed intercommunicator",
		 SEG_COMM_INTER},
	};
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});
	struct job_comm *comm = &hung->comms->comms[2];

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const char *label, *full;

		comm->name = cases[i].name;
		comm->made_by = cases[i].made_by;
		comm->kind = cases[i].kind;
		/* Its sibling reads otherwise. */
		hung->comms->comms[1].name = "other";
		label = label_comm(&hung->view, 2, LABEL_SHORT);
		full = label_comm(&hung->view, 2, LABEL_FULL);
		assert_string_equal(label, cases[i].label);
		assert_string_equal(full, cases[i].full);
	}
	hung_destroy(hung);
}

/* Numbers for those of one name, parents without a name, and what the job does not know. */
static void test_numbered_labels(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});
	struct job_comm comms[24];
	struct job_comms all = {.comms = comms, .num_comms = NUM_OF(comms)};
	const struct model *model = hung->job.model->lanes[0].model;

	(void)state;
	assert_string_equal(label_comm_local(&hung->view, model, 0, LABEL_SHORT), "MPI_COMM_WORLD");
	assert_string_equal(label_comm_local(&hung->view, model, 1, LABEL_SHORT), "MPI_COMM_SELF");
	assert_string_equal(label_comm_local(&hung->view, model, 2, LABEL_SHORT),
			    "split at grid.c:40 (1st of 2)");
	assert_string_equal(label_comm_local(&hung->view, model, SEG_NO_COMM, LABEL_SHORT),
			    "unknown communicator");
	/* 21 splits of one without a name, the last made first; then two of one name. */
	comms[0] = hung->comms->comms[0];
	comms[0].name = NULL;
	for (uint32_t i = 1; i < NUM_OF(comms); i++) {
		comms[i] = hung->comms->comms[1];
		comms[i].ordinal = (uint32_t)NUM_OF(comms) - i;
		comms[i].name = i > 21 ? "rows" : NULL;
	}
	hung->view.comms = &all;
	assert_string_equal(label_comm(&hung->view, 1, LABEL_FULL),
			    "split of number 1 at grid.c:40 (21st of 21)");
	assert_string_equal(label_comm(&hung->view, 21, LABEL_SHORT),
			    "split at grid.c:40 (1st of 21)");
	assert_string_equal(label_comm(&hung->view, 20, LABEL_SHORT),
			    "split at grid.c:40 (2nd of 21)");
	assert_string_equal(label_comm(&hung->view, 19, LABEL_SHORT),
			    "split at grid.c:40 (3rd of 21)");
	assert_string_equal(label_comm(&hung->view, 11, LABEL_SHORT),
			    "split at grid.c:40 (11th of 21)");
	assert_string_equal(label_comm(&hung->view, 9, LABEL_SHORT),
			    "split at grid.c:40 (13th of 21)");
	assert_string_equal(label_comm(&hung->view, 22, LABEL_SHORT), "rows (2nd of 2)");
	hung->view.comms = hung->comms;
	hung_destroy(hung);
}

/* ---- What is rare ---- */

static struct model *model_of(struct hung *hung, int rank)
{
	return (struct model *)hung->job.model->lanes[rank].model;
}

static void test_messages(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});
	struct model_ledger *row = &model_of(hung, 7)->lanes[0].ledger[0]; /* with 6 */
	const char *text;

	(void)state;
	print_messages(hung, "0-1");
	assert_string_equal(hung_text(hung), "ranks 0-1 on MPI_COMM_WORLD: 1239 messages sent, "
					     "1239 received; both ends agree\n");
	/* Its receives were with a wildcard, one of which is open. */
	model_of(hung, 7)->lanes[0].num_ledger = 2;
	row[1] = (struct model_ledger){
		.peer = SEG_PEER_ANY, .tag = 7, .receives = 413, .receives_done = 412};
	row->taken = 412;
	row->receives = row->receives_done = 0;
	hung->view.width = 120;
	print_messages(hung, "7");
	text = hung_text(hung);
	assert_contains(text, "     6   7    7   413         412  <- 1 not received, but 1 receive "
			      "from any is open\n");
	assert_contains(text, "   any   7    7        412 of 413\n");
	assert_contains(text, "  any: receives with a wildcard");
	row->cancelled = 1;
	row->tag = SEG_TAG_MANY;
	print_messages(hung, "7");
	text = hung_text(hung);
	assert_contains(text, "  6   7  others     0         412\n");
	assert_contains(text, "  others: all tags for which");
	assert_null(strstr(text, "<-"));
	/* One of the two moves. */
	hung->job.model->lanes[2].has_moved = true;
	print_messages(hung, "2");
	text = hung_text(hung);
	assert_null(strstr(text, "<-"));
	assert_contains(text, "both ends agree where both stand still\n");
	assert_contains(text, "2 rows of ranks that are moving differ, ");
	hung_destroy(hung);
}

/* More rows than fit: those that differ are there. */
static void test_many_messages(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 4, .culprit = 2});
	struct model_lane *lane = &model_of(hung, 0)->lanes[0];
	const char *text;

	(void)state;
	free(lane->ledger);
	lane->ledger = xcalloc(1000, sizeof(*lane->ledger));
	lane->num_ledger = 1000;
	for (int i = 0; i < 1000; i++)
		lane->ledger[i] = (struct model_ledger){.peer = i == 999 ? 3 : 0,
							.tag = i,
							.sends = 1,
							.sends_done = 1,
							.receives = i != 999,
							.receives_done = i != 999};
	print_messages(hung, "0");
	text = hung_text(hung);
	check_lines(text, &hung->view);
	assert_contains(text, "     0   3  999     1         0  <- 1 not received\n");
	assert_contains(text, "... and 962 more rows in which both ends agree\n");
	hung_destroy(hung);
}

static void test_requests(void **state)
{
	static const struct {
		struct model_request request;
		const char *row;
	} cases[] = {
		{{.kind = SEG_REQUEST_SEND, .peer = 1, .tag = 7, .ordinal = 413, .bytes = 8},
		 "  send        1    7      8  MPI_Isend, halo() solver.c:125  72 s   receives\n"},
		{{.kind = SEG_REQUEST_SEND, .peer = 1, .tag = 7, .ordinal = 414},
		 "  send        1    7         MPI_Isend, halo() solver.c:125  72 s   no "
		 "receive\n"},
		{{.kind = SEG_REQUEST_RECV, .peer = 1, .tag = 7, .ordinal = 413},
		 "  receive     1    7         MPI_Isend, halo() solver.c:125  72 s   has sent\n"},
		{{.kind = SEG_REQUEST_MATCHED, .peer = 1, .tag = 7},
		 "  receive     1    7         MPI_Isend, halo() solver.c:125  72 s   has sent\n"},
		{{.kind = SEG_REQUEST_RECV, .peer = SEG_PEER_ANY, .tag = SEG_TAG_ANY},
		 "  receive   any  any         MPI_Isend, halo() solver.c:125  72 s   ?\n"},
		{{.kind = SEG_REQUEST_RECV, .peer = 99, .tag = 7},
		 "  receive     ?    7         MPI_Isend, halo() solver.c:125  72 s   ?\n"},
		{{.kind = SEG_REQUEST_COLLECTIVE, .ordinal = 1237},
		 "  number 1237                    MPI_Isend, halo() solver.c:125  72 s   5 of "
		 "8 "
		 "there\n"},
		{{.kind = SEG_REQUEST_LOCK, .peer = 1, .tag = 1},
		 "  exclusive lock     1              MPI_Isend, halo() solver.c:125  72 s\n"},
		{{.kind = SEG_REQUEST_LOCK, .peer = SEG_PEER_ANY},
		 "  shared lock   all              MPI_Isend, halo() solver.c:125  72 s\n"},
		{{.kind = SEG_REQUEST_RECV, .peer = 1, .tag = SEG_TAG_POST},
		 "  token       1  post         MPI_Isend, halo() solver.c:125  72 s   ?\n"},
		{{.kind = SEG_REQUEST_OTHER, .comm = SEG_NO_COMM},
		 "  other                      MPI_Isend, halo() solver.c:125  72 s\n"},
	};
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});
	struct model *model = model_of(hung, 0);
	const char *text;

	(void)state;
	hung->view.width = 120;
	model->requests = xcalloc(1, sizeof(*model->requests));
	model->num_requests = 1;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		model->requests[0] = cases[i].request;
		model->requests[0].flags |= SEG_REQUEST_ACTIVE;
		model->requests[0].site = SITE_ISEND;
		model->requests[0].since_ns = 928 * SECOND;
		print_requests(hung, 0);
		assert_contains(hung_text(hung), cases[i].row);
	}
	/* What is not met comes before what is older. */
	free(model->requests);
	model->requests = xcalloc(2, sizeof(*model->requests));
	model->num_requests = 2;
	for (int i = 0; i < 2; i++)
		model->requests[i] = (struct model_request){.kind = SEG_REQUEST_RECV,
							    .flags = SEG_REQUEST_ACTIVE,
							    .peer = 1,
							    .tag = 7,
							    .ordinal = 413 + (uint64_t)i,
							    .site = SITE_IRECV,
							    .since_ns = 900 * SECOND + (uint64_t)i};
	print_requests(hung, 0);
	text = hung_text(hung);
	assert_contains(text, "rank 0: 2 requests begun and not complete, all on MPI_COMM_WORLD\n");
	assert_true(strstr(text, "not sent\n") < strstr(text, "has sent\n"));
	model->num_requests = 1;
	model->requests[0].flags = SEG_REQUEST_PERSISTENT;
	model->program->dropped_requests = 5;
	print_requests(hung, 0);
	assert_string_equal(hung_text(hung), "rank 0 has begun nothing that is not complete.\n"
					     "  1 persistent request is not started\n"
					     "  5 more: the recorder had no room for them\n");
	print_requests(hung, 99);
	assert_string_equal(hung_text(hung), "There is no rank 99 in this job of 8 ranks.\n");
	hung_destroy(hung);
}

static void test_collectives(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});
	struct model_comm *world = &model_of(hung, 7)->comms[0];
	struct rankset *focus = rankset_create();
	const char *text;

	(void)state;
	hung->view.width = 120;
	world->recent[0].site = SITE_SPLIT;
	print_collectives(hung);
	assert_contains(hung_text(hung), "    1237  1:[7]        in MPI_Comm_split, setup() "
					 "grid.c:40          <- mismatch: another function\n");
	world->recent[0].site = SITE_ALLGATHER;
	world->recent[0].root = 2;
	print_collective(hung, 0);
	text = hung_text(hung);
	assert_contains(text, "     2     64  <- mismatch: another root\n");
	assert_contains(text, "last collective                               root  bytes\n");
	world->recent[0].root = SEG_PEER_NONE;
	world->recent[0].bytes = 8;
	print_collective(hung, 0);
	text = hung_text(hung);
	assert_contains(text, "      8  <- mismatch: another size\n");
	assert_null(strstr(text, "root"));
	rankset_add(focus, 7);
	hung->view.focus = focus;
	print_collectives(hung);
	text = hung_text(hung);
	assert_contains(text, "1:[7]");
	assert_null(strstr(text, "[2-4]"));
	assert_null(strstr(text, "1st of 2"));
	assert_contains(text, "2nd of 2");
	hung->view.focus = NULL;
	for (int r = 0; r < 8; r++)
		model_of(hung, r)->comms[2].is_freed = true;
	rankset_add(hung->verdict.moving, 5);
	print_collectives(hung);
	text = hung_text(hung);
	assert_null(strstr(text, "split at"));
	assert_contains(text, "2 freed by the program are not listed.\n");
	assert_contains(text, "rank 5 is moving: the numbers are of one moment.\n");
	rankset_destroy(focus);
	hung_destroy(hung);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),      cmocka_unit_test(test_widths),
		cmocka_unit_test(test_comm_labels), cmocka_unit_test(test_numbered_labels),
		cmocka_unit_test(test_messages),    cmocka_unit_test(test_many_messages),
		cmocka_unit_test(test_requests),    cmocka_unit_test(test_collectives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
