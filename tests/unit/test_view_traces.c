/* SPDX-License-Identifier: BSD-3-Clause
 * The answers about traces of many ranks and of two runs, from analysis to text. */
#include <stdbool.h>

#include "analysis/traces/concept_lattice.h"
#include "analysis/traces/trace_diff.h"
#include "analysis/traces/trace_similarity.h"
#include "analysis/traces/trace_suspects.h"
#include "model/arena.h"
#include "render/text/gate.h"
#include "render/text/json.h"
#include "render/traces/view_traces.h"
#include "tests/unit/golden.h"
#include "tests/unit/with_arena.h"
#include "tests/unit/traced_run.h"

/* ---- Programs ---- */

/* The program with one receiver (Taheri et al., "DiffTrace", table I). */
static const struct traced_call receiver_calls[] = {
	{"main:10", "MPI_Init", SEG_CLASS_INIT},
	{"main:11", "MPI_Comm_size", SEG_CLASS_OTHER},
	{"main:12", "MPI_Comm_rank", SEG_CLASS_OTHER},
	{"main:14", "MPI_Send", SEG_CLASS_SEND},
	{"main:16", "MPI_Recv", SEG_CLASS_RECV},
	{"main:17", "MPI_Recv", SEG_CLASS_RECV},
	{"main:18", "MPI_Recv", SEG_CLASS_RECV},
	{"main:20", "MPI_Finalize", SEG_CLASS_FINALIZE},
	{NULL, NULL, 0},
};
static const char *const receiver[] = {"abcefgh", "abcdh", "abcdh", "abcdh", NULL};

/* Neighbours in a row exchange 100 times; rank 2 of the bad run receives before it sends from the
 * 40th time on, and everybody hangs two times later. */
static const struct traced_call stencil_calls[] = {
	{"main:40", "MPI_Init", SEG_CLASS_INIT},
	{"main:45 step:30 left:12", "MPI_Send", SEG_CLASS_SEND},
	{"main:45 step:30 left:13", "MPI_Recv", SEG_CLASS_RECV},
	{"main:45 step:31 right:22", "MPI_Send", SEG_CLASS_SEND},
	{"main:45 step:31 right:23", "MPI_Recv", SEG_CLASS_RECV},
	{"main:46", "MPI_Allreduce", SEG_CLASS_COLLECTIVE},
	{"main:48", "MPI_Finalize", SEG_CLASS_FINALIZE},
	{NULL, NULL, 0},
};
static const char *const stencil_good[] = {"a[def]^100g",   "a[bcdef]^100g", "a[bcdef]^100g",
					   "a[bcdef]^100g", "a[bcf]^100g",   NULL};
static const char *const stencil_bad[] = {"a[def]^42d",   "a[bcdef]^42b", "a[bcdef]^40[cbedf]^2c",
					  "a[bcdef]^42b", "a[bcf]^42b",   NULL};

/* ---- One run ---- */

enum { ENTRIES = ATTRIBUTE_ENTRY, PAIRS = ATTRIBUTE_PAIR, BODIES = ATTRIBUTE_LOOP };

typedef void view_fn(const struct view *view);

/* What `show` shows of what was found. */
static void show_found(const struct view *how, const struct trace_answer *found, view_fn *show)
{
	struct answer answer = {.arena = arena_create(), .compared = found};
	struct json json = {.out = how->out};
	struct view view = *how;

	view.arena = answer.arena;
	view.answer = &answer;
	view.json = &json;
	if (how->json)
		json_object(&json, NULL);
	show(&view);
	if (how->json)
		json_end_object(&json);
	arena_destroy(answer.arena);
}

static void print_lattice(const struct view *view, struct trace_answer *found, view_fn *show)
{
	struct pdb_error err;
	struct concept_lattice *lattice =
		concept_lattice_create(arena, found->similarity->context, 1000, &err);

	assert_non_null(lattice);
	found->lattice = lattice;
	show_found(view, found, show);
}

static void print_similar(const struct view *view, struct trace_answer *found, view_fn *show)
{
	size_t num = found->runs->num_threads;
	uint32_t *traces = xcalloc(num, sizeof(*traces));
	struct trace_clusters *clusters;

	for (uint32_t t = 0; t < num; t++)
		traces[t] = t;
	clusters = trace_clusters_create(arena, found->similarity, traces, num,
					 found->measure.linkage);
	found->clusters = clusters;
	show_found(view, found, show);
	free(traces);
}

static void print_run(const struct view *view, const struct traced_call *calls,
		      const char *const *ranks, enum trace_detail detail,
		      const struct trace_measure *measure, view_fn *show)
{
	bool is_lattice =
		show == view_lattice || show == view_lattice_dot || show == view_lattice_json;
	struct traced_run run = traced_run_create(calls, ranks, 1);
	const struct trace_run one = traced_run_of(&run);
	const struct trace_runs_options options = {.detail = detail};
	struct trace_runs *runs = trace_runs_create(arena, &one, 1, &options);
	struct trace_similarity *similarity =
		trace_similarity_create(arena, runs->set, measure->kinds, measure->frequency);
	struct trace_answer found = {.runs = runs, .similarity = similarity, .measure = *measure};

	if (is_lattice)
		print_lattice(view, &found, show);
	else
		print_similar(view, &found, show);
	traced_run_destroy(&run);
}

/* ---- Two runs ---- */

struct both {
	struct traced_run good, bad;
	struct trace_runs *runs;
};

static struct both both_create(const struct traced_call *calls, const char *const *good,
			       const char *const *bad)
{
	const struct trace_runs_options options = {.detail = TRACE_BY_PATH};
	struct both both = {traced_run_create(calls, good, 1), traced_run_create(calls, bad, 2),
			    NULL};

	both.runs = trace_runs_create(
		arena, (struct trace_run[]){traced_run_of(&both.good), traced_run_of(&both.bad)}, 2,
		&options);
	return both;
}

static void both_destroy(struct both *both)
{
	traced_run_destroy(&both->good);
	traced_run_destroy(&both->bad);
}

static void print_suspects(const struct view *view, const struct both *both, view_fn *show)
{
	struct trace_suspects *suspects = trace_suspects_create(
		arena, both->runs, ENTRIES | PAIRS | BODIES | ATTRIBUTE_END, 7, LINKAGE_AVERAGE);
	const struct trace_answer found = {
		.runs = both->runs, .names = {"good.pdb", "bad.pdb"}, .suspects = suspects};

	show_found(view, &found, show);
}

static void print_diff(const struct view *view, const struct both *both, size_t left, size_t right,
		       view_fn *show)
{
	const struct trace_set *set = both->runs->set;
	struct trace_diff *diff =
		trace_diff_create(arena, set, set->roots[left], set->roots[right]);
	const struct trace_answer found = {
		.runs = both->runs,
		.names = {"rank 2 of good.pdb", "rank 2 of bad.pdb"},
		.diff = diff,
		.threads = {left, right},
	};

	show_found(view, &found, show);
}

/* ---- Golden text ---- */

static void print_all(const struct view *view)
{
	const struct trace_measure entries = {ENTRIES, FREQUENCY_NONE, LINKAGE_AVERAGE};
	const struct trace_measure log = {ENTRIES | BODIES, FREQUENCY_LOG10, LINKAGE_WARD};
	struct both both = both_create(stencil_calls, stencil_good, stencil_bad);

	fputs("== lattice of the program with one receiver, by calls\n", view->out);
	print_run(view, receiver_calls, receiver, TRACE_BY_CALL, &entries, view_lattice);
	fputs("== the same with their places\n", view->out);
	print_run(view, receiver_calls, receiver, TRACE_BY_PATH, &entries, view_lattice);
	fputs("== its similarity\n", view->out);
	print_run(view, receiver_calls, receiver, TRACE_BY_CALL, &entries, view_similar);
	fputs("== lattice of the stencil\n", view->out);
	print_run(view, stencil_calls, stencil_good, TRACE_BY_PATH, &log, view_lattice);
	fputs("== similarity of the stencil\n", view->out);
	print_run(view, stencil_calls, stencil_bad, TRACE_BY_PATH, &log, view_similar);
	fputs("== suspects\n", view->out);
	print_suspects(view, &both, view_suspects);
	fputs("== diff\n", view->out);
	print_diff(view, &both, 2, 7, view_diff);
	fputs("== diff of others\n", view->out);
	print_diff(view, &both, 0, 3, view_diff);
	fputs("== diff with itself\n", view->out);
	print_diff(view, &both, 1, 1, view_diff);
	both_destroy(&both);
	both = both_create(stencil_calls, stencil_good, stencil_good);
	fputs("== no suspects\n", view->out);
	print_suspects(view, &both, view_suspects);
	both_destroy(&both);
}

static void check_views(bool use_unicode, const char *path)
{
	struct view view = {.width = 80, .use_unicode = use_unicode};
	char *text = NULL;
	size_t size;

	view.out = open_memstream(&text, &size);
	print_all(&view);
	fclose(view.out);
	check_lines(text, &view);
	check_golden(text, path);
	free(text);
}

static void test_views(void **state)
{
	(void)state;
	check_views(false, "tests/golden/traces_ascii.txt");
	check_views(true, "tests/golden/traces_utf8.txt");
}

static void test_files(void **state)
{
	const struct trace_measure entries = {ENTRIES, FREQUENCY_NONE, LINKAGE_AVERAGE};
	struct both both = both_create(stencil_calls, stencil_good, stencil_bad);
	struct view view = {.width = 80}, with_json;
	char *text = NULL;
	size_t size;

	(void)state;
	view.out = open_memstream(&text, &size);
	with_json = view;
	with_json.json = &(struct json){0};
	print_run(&view, receiver_calls, receiver, TRACE_BY_CALL, &entries, view_lattice_dot);
	print_run(&with_json, receiver_calls, receiver, TRACE_BY_CALL, &entries, view_lattice_json);
	print_run(&view, receiver_calls, receiver, TRACE_BY_CALL, &entries, view_similar_svg);
	print_run(&with_json, receiver_calls, receiver, TRACE_BY_CALL, &entries, view_similar_json);
	print_suspects(&with_json, &both, view_suspects_json);
	print_diff(&view, &both, 2, 7, view_diff_dot);
	print_diff(&with_json, &both, 2, 7, view_diff_json);
	fclose(view.out);
	check_golden(text, "tests/golden/traces_files.txt");
	free(text);
	both_destroy(&both);
}

/* Forty ranks that all do something else: fewer rows than ranks, with shades or colours. */
static void test_many(void **state)
{
	const struct trace_measure actual = {ENTRIES | PAIRS | ATTRIBUTE_END, FREQUENCY_ACTUAL,
					     LINKAGE_WARD};
	char *ranks[41] = {NULL};

	(void)state;
	for (int r = 0; r < 40; r++)
		ranks[r] = xasprintf("a[bcf]^%d[def]^%dg", 1 + r, 40 - r % 20);
	for (int look = 0; look < 3; look++) {
		struct view view = {.width = 60, .use_unicode = look == 1, .use_color = look == 2};
		char *text = NULL;
		size_t size;

		FILE *below = open_memstream(&text, &size);

		view.out = gate_open(below);
		print_run(&view, stencil_calls, (const char *const *)ranks, TRACE_BY_PATH, &actual,
			  view_similar);
		print_run(&view, stencil_calls, (const char *const *)ranks, TRACE_BY_PATH, &actual,
			  view_lattice);
		fclose(view.out);
		fclose(below);
		assert_contains(text, "40 of them differ");
		assert_contains(text, "40:[0-39] at distance");
		assert_contains(text, look == 0 ? "same \"##\"" : look == 1 ? "██" : "\033[48;2;");
		if (look < 2)
			check_lines(text, &view);
		free(text);
	}
	for (int r = 0; r < 40; r++)
		free(ranks[r]);
}

static void test_same(void **state)
{
	const struct trace_measure actual = {ENTRIES, FREQUENCY_ACTUAL, LINKAGE_WARD};
	static const char *const ranks[] = {"a[bcf]^3g", "a[bcf]^3g", NULL};
	struct view view = {.width = 60};
	char *text = NULL;
	size_t size;

	(void)state;
	view.out = open_memstream(&text, &size);
	print_run(&view, stencil_calls, ranks, TRACE_BY_PATH, &actual, view_similar);
	print_run(&view, stencil_calls, ranks, TRACE_BY_PATH, &actual, view_lattice);
	fclose(view.out);
	assert_contains(text, "all are the same\n");
	assert_contains(text, "2 traces in one way, by ");
	free(text);
}

/* ---- Who is suspected ---- */

static const struct {
	const char *what;
	const char *bad[6];
	const char *first; /* line */
} faults[] = {
	{"other order",
	 {"a[def]^42d", "a[bcdef]^42b", "a[bcdef]^40[cbedf]^2c", "a[bcdef]^42b", "a[bcf]^42b"},
	 "rank 2,"},
	{"skips a collective",
	 {"a[def]^50", "a[bcdef]^50", "a[bcdef]^50", "a[bcdef]^49bcdebc", "a[bcf]^50"},
	 "rank 3,"},
	{"never gets there",
	 {"a[def]^50d", "a[bcdef]^20", "a[bcdef]^21b", "a[bcdef]^21bc", "a[bcf]^21"},
	 "rank 0,"},
	{"misses an exchange",
	 {"a[def]^100g", "a[bcdef]^50[bcf]^50g", "a[bcdef]^100g", "a[bcdef]^100g", "a[bcf]^100g"},
	 "rank 1,"},
};

static void test_suspects(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(faults); i++) {
		struct both both = both_create(stencil_calls, stencil_good, faults[i].bad);
		struct view view = {.width = 80};
		char *text = NULL, *expected = xasprintf("Most suspicious: %s", faults[i].first);
		size_t size;

		view.out = open_memstream(&text, &size);
		print_suspects(&view, &both, view_suspects);
		fclose(view.out);
		if (strncmp(text, expected, strlen(expected)) != 0)
			fail_msg("%s: %s", faults[i].what, text);
		free(text);
		free(expected);
		both_destroy(&both);
	}
}

/* A run of three more ranks, each of which is like one that there was, but one. */
static void test_other_sizes(void **state)
{
	static const char *const more[] = {"a[def]^100g",   "a[bcdef]^100g", "a[bcdef]^100g",
					   "a[bcdef]^100g", "a[bcdef]^100g", "a[bdcef]^100g",
					   "a[bcdef]^100g", "a[bcf]^100g",   NULL};
	struct both both = both_create(stencil_calls, stencil_good, more);
	struct trace_suspects *suspects = trace_suspects_create(
		arena, both.runs, ENTRIES | PAIRS | BODIES | ATTRIBUTE_END, 7, LINKAGE_AVERAGE);

	(void)state;
	assert_false(suspects->are_namesakes);
	assert_int_equal(suspects->num_pairs, 8);
	assert_int_equal(suspects->ranking[0].pair, 5);
	assert_int_equal(suspects->pairs[0].good, 0);
	assert_int_equal(suspects->pairs[4].good, 1);
	assert_int_equal(suspects->pairs[7].good, 4);
	both_destroy(&both);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_views),    cmocka_unit_test(test_files),
		cmocka_unit_test(test_many),     cmocka_unit_test(test_same),
		cmocka_unit_test(test_suspects), cmocka_unit_test(test_other_sizes),
	};

	return cmocka_run_group_tests(tests, begin_arena, end_arena);
}
