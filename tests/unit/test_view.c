/* SPDX-License-Identifier: BSD-3-Clause
 * The answers as a whole, on the hung job of hung_job.h. Golden text is in tests/golden; after a
 * change of words GOLDEN=write writes it anew, and the difference is there to be read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/text/text.h"
#include "render/words/parts.h"
#include "tests/unit/hung_golden.h"

/* ---- Golden text ---- */

static void print_all(struct hung *hung)
{
	const struct view *view = &hung->view;
	int last = hung->options.size - 1;

	fputs("== lp\n", view->out);
	view_lp(view);
	fputs("== groups\n", view->out);
	view_groups(view);
	fputs("== graph\n", view->out);
	view_graph(view);
	/* By the order alone; waits are in test_view_evidence. */
	hung->view.waitfor = NULL;
	fputs("== why\n", view->out);
	hung_ask(hung, last, view_why);
	fputs("== why of the culprit\n", view->out);
	hung_ask(hung, hung->options.culprit, view_why);
	hung->view.waitfor = hung->waitfor;
	fputs("== loops\n", view->out);
	view_loops(view);
	fputs("== progress\n", view->out);
	view_progress(view);
	fputs("== history\n", view->out);
	hung_ask(hung, hung->options.culprit, view_history);
	fputs("== model\n", view->out);
	hung_ask(hung, hung->options.culprit, view_model);
	fputs("== bt\n", view->out);
	view_calltree(view);
}

static const struct hung_case jobs[] = {
	{"4", {.size = 4, .culprit = 2}},
	{"4096", {.size = 4096, .culprit = 100}},
	{"cxx", {.size = 4096, .culprit = 100, .is_cxx = true, .is_nested = true}},
	{"frontier", {.size = 16, .culprit = 5, .is_frontier = true}},
};

static void test_golden(void **state)
{
	(void)state;
	check_golden_jobs(jobs, NUM_OF(jobs), "view", print_all);
}

static void test_widths(void **state)
{
	(void)state;
	check_widths(jobs, NUM_OF(jobs), print_all);
}

/* ---- Without a recorder, with holes, in focus ---- */

static void test_stacks_only(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});
	struct job_model *model = hung->job.model;
	const char *text;

	(void)state;
	waitfor_destroy(hung->waitfor);
	evidence_destroy(hung->evidence);
	hung->job.model = NULL;
	hung->evidence = evidence_create(&hung->job);
	hung->view.waitfor = hung->waitfor = waitfor_create(hung->evidence, NULL);
	hung->view.progress = NULL;
	hung->view.groups = NULL;
	hung->view.graph = NULL;
	hung->verdict.basis = VERDICT_BY_STACKS;
	hung->verdict.num_culprit_groups = 0;
	view_lp(&hung->view);
	text = hung_text(hung);
	assert_contains(text, "Culprit: rank 3 of 8\n"
			      "  rank 3: in compute_forces() at force.c:88\n"
			      "  evidence: 7 of 8 ranks wait inside MPI\n");
	assert_contains(text, "by stack samples that agree for 72 s");
	assert_contains(text, "next: \"gdb 3\", \"bt 3\"\n");
	assert_null(strstr(text, "longest"));
	hung->verdict.kind = VERDICT_UNKNOWN;
	view_lp(&hung->view);
	text = hung_text(hung);
	assert_contains(text, "7 of 8 ranks were inside MPI in all their stack");
	assert_contains(text, "ranks 0-2,4-7: in MPI_Allgather, exchange() at solver.c:141\n");
	assert_contains(text, "next: \"bt 0\", \"classes\"\n");
	assert_null(strstr(text, "most"));
	rankset_add(hung->verdict.apart, 3);
	rankset_add(hung->verdict.waiting, 3);
	view_lp(&hung->view);
	text = hung_text(hung);
	assert_contains(text, "  rank 3 is not where most are: look there first.");
	assert_contains(text, "  rank 3: in compute_forces() at force.c:88\n  ranks 0-2,4-7: in ");
	assert_contains(text, "next: \"bt 3\", \"classes\"\n");
	view_groups(&hung->view);
	view_graph(&hung->view);
	view_loops(&hung->view);
	view_progress(&hung->view);
	hung_ask(hung, 1, view_why);
	hung_ask(hung, 1, view_history);
	hung_ask(hung, 1, view_model);
	text = hung_text(hung);
	assert_contains(text, "pdb run -- mpirun");
	check_lines(text, &hung->view);
	view_graph_dot(&hung->view);
	view_loops_dot(&hung->view);
	assert_string_equal(hung_text(hung), "");
	hung->job.model = model;
	hung_destroy(hung);
}

static void add_hole(struct job *job, int rank, const char *why)
{
	job->holes = xreallocarray(job->holes, job->num_holes + 1, sizeof(*job->holes));
	job->holes[job->num_holes++] = (struct job_hole){.rank = rank, .why = xstrdup(why)};
}

static void test_holes(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});

	(void)state;
	view_holes(&hung->view);
	assert_string_equal(hung_text(hung), "");
	add_hole(&hung->job, 9, "process has ended");
	add_hole(&hung->job, 20, "no recorder");
	add_hole(&hung->job, 21, "no recorder");
	view_holes(&hung->view);
	assert_string_equal(hung_text(hung), "Not known: rank 9 (1 of 8): process has ended.\n"
					     "Not known: ranks 20-21 (2 of 8): no recorder.\n");
	view_lp(&hung->view);
	assert_contains(hung_text(hung), "Not known: rank 9 (1 of 8): process has ended.\n");
	hung_ask(hung, 9, view_why);
	assert_string_equal(hung_text(hung),
			    "Nothing is known of the MPI calls of rank 9: process has ended.\n");
	hung_ask(hung, 12, view_history);
	assert_string_equal(hung_text(hung), "There is no rank 12 in this job of 8 ranks.\n");
	hung_ask(hung, -1, view_model);
	assert_string_equal(hung_text(hung), "There is no rank -1 in this job of 8 ranks.\n");
	hung_destroy(hung);
}

/* The culprit is gone: nothing of it can be shown, and gdb has nothing to be put on. */
static void test_ended(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});
	const char *text;

	(void)state;
	hung->verdict.kind = VERDICT_LEFT;
	hung->verdict.num_culprit_groups = 0;
	hung->job.samples->num_samples = 0;
	add_hole(&hung->job, 3, JOB_HOLE_ENDED);
	view_lp(&hung->view);
	text = hung_text(hung);
	assert_contains(text, "Culprit: rank 3 of 8\n"
			      "  rank 3: process has ended while the others wait\n"
			      "  evidence: 7 of 8 ranks wait inside MPI");
	assert_contains(text, "next: \"bt 0\", and what the job has printed\n");
	assert_null(strstr(text, "gdb"));
	check_lines(text, &hung->view);
	hung_destroy(hung);
}

static void test_focus(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});
	struct rankset *focus = NULL;
	const char *text;

	(void)state;
	view_groups(&hung->view);
	assert_null(strstr(hung_text(hung), "group"));
	/* Rows no longer tell what "group 3" is. */
	set_ranks(&focus, "3");
	hung->view.focus = focus;
	view_groups(&hung->view);
	assert_contains(hung_text(hung), "\n      3  1:[3]  computing");
	rankset_destroy(focus);
	focus = NULL;
	set_ranks(&focus, "0-2");
	hung->view.focus = focus;
	view_groups(&hung->view);
	text = hung_text(hung);
	assert_contains(text, "  2:[0-1]  in MPI_Allgather");
	assert_contains(text, "  1:[2]    in MPI_Waitall");
	assert_null(strstr(text, "compute_forces"));
	view_progress(&hung->view);
	assert_null(strstr(hung_text(hung), "compute_forces"));
	view_loops(&hung->view);
	text = hung_text(hung);
	assert_contains(text, "iteration 412: 3:[0-2]\n");
	assert_null(strstr(text, "cannot be compared"));
	hung->progress.loops[0].is_comparable = false;
	view_loops(&hung->view);
	assert_contains(hung_text(hung), "cannot be compared)");
	rankset_destroy(focus);
	hung_destroy(hung);
}

/* The culprit made 100 calls in the 0.1 s between the looks, one of its neighbours made one. */
static void test_rates(void **state)
{
	struct hung *hung =
		hung_create((struct hung_options){.size = 8, .culprit = 3, .is_moving = true});
	const char *text;

	(void)state;
	hung->view.width = 120;
	view_progress(&hung->view);
	text = hung_text(hung);
	assert_contains(text, "MPI_Allgather           0  72 s\n");
	assert_contains(text, "MPI_Waitall           5.0  72 s, 1 moving\n");
	assert_contains(text, "compute_forces()     1000  moving");
	hung_destroy(hung);
}

static void test_no_calls(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 4, .culprit = 2});
	size_t number = hung->groups.num_groups;

	(void)state;
	hung->groups.num_groups = 0;
	view_groups(&hung->view);
	view_graph(&hung->view);
	assert_string_equal(hung_text(hung),
			    "No rank has called MPI yet.\nNo rank has called MPI yet.\n");
	hung->groups.num_groups = number;
	hung_destroy(hung);
}

/* A second thread of a rank gets a column; polls are told below the history. */
static void test_threads_and_polls(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 4, .culprit = 2});
	struct model_lane *lane = &((struct model *)hung->job.model->lanes[2].model)->lanes[0];
	const char *text;

	(void)state;
	lane->poll_site = SITE_ISEND;
	lane->polls = 1234;
	hung_ask(hung, 2, view_history);
	assert_contains(hung_text(hung), "since then 1234 polls without success, the last of them "
					 "MPI_Isend, halo() at\n    solver.c:125\n");
	view_groups(&hung->view);
	assert_null(strstr(hung_text(hung), "thread"));
	lane->is_main = false;
	hung->job.model->lanes[2].lane = 1;
	view_groups(&hung->view);
	text = hung_text(hung);
	assert_contains(text, "  ranks    thread  where");
	assert_contains(text, "  1:[0]    main    in MPI_Allgather");
	assert_contains(text, "  1:[2]    1       computing");
	hung_ask(hung, 2, view_history);
	assert_contains(hung_text(hung), "rank 2, thread 4002: the last 4");
	hung_destroy(hung);
}

static void test_history_length(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 4, .culprit = 2});
	const char *text;

	(void)state;
	hung->answer.count = 2;
	hung_ask(hung, 2, view_history);
	text = hung_text(hung);
	assert_contains(text, "rank 2: the last 2 of 2470 transitions");
	assert_null(strstr(text, "MPI_Isend"));
	assert_contains(text, "<- now");
	hung->answer.count = 1000;
	hung_ask(hung, 2, view_history);
	assert_contains(hung_text(hung), "rank 2: the last 4 of 2470 transitions");
	hung_destroy(hung);
}

/* ---- Many groups ---- */

enum shape { CHAIN, STAR, COMPLETE };

/* Every rank a group of its own: behind each other, all behind the first, or the first half before
 * the second. The last is the culprit. */
static void split_groups(struct hung *hung, enum shape shape)
{
	size_t n = hung->job.model->num_lanes, half = n / 2;
	struct eqgroups *groups = &hung->groups;

	for (size_t g = 0; g < groups->num_groups; g++) {
		rankset_destroy(groups->groups[g].ranks);
		free(groups->groups[g].actors);
	}
	groups->groups = xreallocarray(groups->groups, n, sizeof(*groups->groups));
	groups->num_groups = n;
	for (size_t g = 0; g < n; g++) {
		uint32_t state = hung->job.model->lanes[g].state;

		groups->groups[g] = (struct eqgroup){
			.ranks = rankset_create(),
			.state = state,
			.activity = SEG_STATE_IS_EXIT(state) ? ACTIVITY_COMPUTING : ACTIVITY_IN_MPI,
			.actors = xcalloc(1, sizeof(uint32_t)),
			.num_actors = 1,
			.place = &hung->progress.places[g],
			.stay_max_ns = SECOND * g,
		};
		rankset_add(groups->groups[g].ranks, (int)g);
		groups->groups[g].actors[0] = (uint32_t)g;
		groups->group_of[g] = (uint32_t)g;
		hung->progress.places[g].iterations[0].count = 1000 + n - g;
	}
	hung->graph.num_edges = shape == COMPLETE ? half * (n - half) : n - 1;
	hung->graph.edges =
		xreallocarray(hung->graph.edges, hung->graph.num_edges, sizeof(*hung->graph.edges));
	for (size_t e = 0; e < hung->graph.num_edges; e++) {
		size_t from = shape == CHAIN ? e : shape == STAR ? 0 : e / (n - half);
		size_t to = shape == COMPLETE ? half + e % (n - half) : e + 1;

		hung->graph.edges[e] = (struct progress_edge){(uint32_t)from, (uint32_t)to, 0};
	}
	free(hung->graph.is_least);
	hung->graph.is_least = xcalloc(n, sizeof(bool));
	hung->graph.is_least[n - 1] = true;
	hung->verdict.culprit_groups[0] = (uint32_t)n - 1;
	set_ranks(&hung->verdict.culprits, "499");
}

static int count_lines(const char *text)
{
	int lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static int run_dot(const char *text)
{
	FILE *dot = popen("dot -Tsvg >/dev/null", "w");

	assert_non_null(dot);
	fputs(text, dot);
	return pclose(dot);
}

static void test_many_groups(void **state)
{
	(void)state;
	for (enum shape shape = CHAIN; shape <= COMPLETE; shape++) {
		struct hung *hung = hung_create((struct hung_options){.size = 500, .culprit = 499});
		const char *text;

		split_groups(hung, shape);
		view_groups(&hung->view);
		text = hung_text(hung);
		check_lines(text, &hung->view);
		assert_contains(text, "... and 459 smaller groups with 459 ranks");
		assert_contains(text, "1:[499]");
		view_graph(&hung->view);
		text = hung_text(hung);
		check_lines(text, &hung->view);
		assert_in_range(count_lines(text), 5, 60);
		assert_contains(text, "of the 500 groups; an arrow");
		assert_contains(text, "1:[499] co");
		assert_contains(text, "  *");
		hung_ask(hung, 0, view_why);
		text = hung_text(hung);
		check_lines(text, &hung->view);
		assert_in_range(count_lines(text), 3, 60);
		assert_contains(text, "<- culprit");
		view_loops(&hung->view);
		text = hung_text(hung);
		assert_contains(text, "iterations 1005 to 1496: 492:[4-495]");
		assert_in_range(count_lines(text), 5, 20);
		view_progress(&hung->view);
		check_lines(hung_text(hung), &hung->view);
		view_lp(&hung->view);
		assert_contains(hung_text(hung), "in iteration 1001; other ranks in 1002 to 1500");
		view_graph_dot(&hung->view);
		text = hung_text(hung);
		assert_contains(text, "200 more groups, not drawn");
		assert_contains(text, "1:[499] compute_forces()");
		if (shape == COMPLETE)
			assert_contains(text, "more arrows, not drawn");
		assert_int_equal(run_dot(text), 0);
		hung_destroy(hung);
	}
}

static void test_why_elsewhere(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});
	const char *text;

	(void)state;
	hung->view.waitfor = NULL; /* by the order alone */
	hung->graph.num_edges = 1; /* nothing leads to the culprit */
	hung_ask(hung, 0, view_why);
	text = hung_text(hung);
	assert_contains(text, "no rank is known to be further behind");
	assert_contains(text, "rank 3 holds up the others, though no order shows it: see");
	hung->verdict.kind = VERDICT_LEAST;
	hung_ask(hung, 0, view_why);
	assert_contains(hung_text(hung), "least progressed elsewhere: rank 3, see \"lp\"");
	hung->verdict.kind = VERDICT_COMPUTATION;
	hung->graph.num_edges = 2;
	hung->graph.edges[1].loop = 0;
	hung->progress.places[3].iterations[0].count = 411;
	hung_ask(hung, 0, view_why);
	text = hung_text(hung);
	assert_contains(text, "less progressed, in iteration 411, not 412, of loop run()");
	assert_null(strstr(text, "no order"));
	hung_destroy(hung);
}

/* ---- DOT ---- */

static void test_dot(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(jobs); i++) {
		struct hung *hung = hung_create(jobs[i].options);
		const char *text;

		view_graph_dot(&hung->view);
		text = hung_text(hung);
		assert_contains(text, "n0 -> n1");
		assert_int_equal(run_dot(text), 0);
		view_loops_dot(&hung->view);
		assert_int_equal(run_dot(hung_text(hung)), 0);
		hung_ask(hung, hung->options.culprit, view_model_dot);
		text = hung_text(hung);
		assert_contains(text, "411 (100 %)");
		assert_int_equal(run_dot(text), 0);
		view_calltree_dot(&hung->view);
		assert_int_equal(run_dot(hung_text(hung)), 0);
		hung_ask(hung, 1 << 20, view_model_dot);
		assert_string_equal(hung_text(hung), "");
		hung_destroy(hung);
	}
}

/* Names of a hostile program reach neither the terminal nor the DOT parser. */
static void test_hostile_names(void **state)
{
	static const struct name evil = {"\033]0;x\007\"]; evil -> \"\\", "\033[2J.c", NULL, 3,
					 .is_symbol = true};
	struct hung *hung = hung_create((struct hung_options){.size = 4, .culprit = 2});
	const char *text;

	(void)state;
	for (int frame = 0; frame < NUM_FRAMES; frame++)
		names_set(hung->job.names, hung_frame(hung, frame), &evil);
	print_all(hung);
	text = hung_text(hung);
	for (const char *at = text; *at; at++)
		assert_true(*at == '\n' || (*at >= ' ' && *at < 0x7f));
	view_graph_dot(&hung->view);
	view_loops_dot(&hung->view);
	hung_ask(hung, 2, view_model_dot);
	view_calltree_dot(&hung->view);
	text = hung_text(hung);
	assert_null(strchr(text, '\033'));
	assert_int_equal(run_dot(text), 0);
	hung_destroy(hung);
}

/* The state before the first call was left once, and is in no loop. */
static void test_model(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 8, .culprit = 3});
	const char *text;

	(void)state;
	hung_ask(hung, 3, view_model);
	text = hung_text(hung);
	assert_null(strstr(text, "before its first MPI call"));
	assert_contains(text, "  in MPI_Isend, halo() solver.c:125");
	assert_contains(text, "<- now\n");
	assert_contains(text, "\n  left out: 1 state outside the loops of the rank; \"model --all "
			      "3\" shows all\n");
	hung->answer.is_full = true;
	hung_ask(hung, 3, view_model);
	text = hung_text(hung);
	assert_contains(text, "  before its first MPI call");
	assert_contains(text, "<- now\n");
	assert_null(strstr(text, "left out"));
	hung_destroy(hung);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_stacks_only),
		cmocka_unit_test(test_holes),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_focus),
		cmocka_unit_test(test_history_length),
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_no_calls),
		cmocka_unit_test(test_threads_and_polls),
		cmocka_unit_test(test_many_groups),
		cmocka_unit_test(test_why_elsewhere),
		cmocka_unit_test(test_dot),
		cmocka_unit_test(test_hostile_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
