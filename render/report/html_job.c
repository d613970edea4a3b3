/* SPDX-License-Identifier: BSD-3-Clause
 * The parts of a report that are drawn from the job: merged stacks and iterations by rank. */
#include <sys/param.h>

#include "analysis/progress/loop_nest.h"
#include "analysis/progress/progress.h"
#include "analysis/stacks/calltree.h"
#include "analysis/verdict/verdict.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/rankset.h"
#include "render/report/report.h"
#include "render/text/html.h"
#include "render/words/parts.h"

enum {
	MAX_FRAMES = 3000,
	MAX_DEPTH = 200,
	MAX_CHARTS = 6,
	MAX_OPEN = 24,
	LABEL_WIDTH = 60,
	CHART_HEIGHT = 100
};

/* ---- Stacks ---- */

struct writer {
	const struct view *view;
	const struct calltree *tree;
	size_t left; /* frames that may still be written */
};

static void write_frame(struct writer *writer, uint32_t n, uint32_t depth)
{
	const struct calltree_node *node = &writer->tree->nodes[n];
	FILE *out = writer->view->out;
	bool is_rare = calltree_deviates(writer->tree, n);

	/* Browsers nest no deeper. */
	if (writer->left == 0 || depth > MAX_DEPTH)
		return;
	writer->left--;
	fputs(is_rare ? "<li class=\"rare\">" : "<li>", out);
	if (node->num_children)
		fputs(depth < MAX_OPEN ? "<details open><summary>" : "<details><summary>", out);
	html_printf(out, "%s <span class=\"ranks\">%s</span>",
		    label_frame(writer->view, writer->tree, n),
		    label_ranks(writer->view->arena, node->ranks, LABEL_WIDTH));
	if (node->num_children) {
		fputs("</summary><ul>\n", out);
		for (size_t i = 0; i < node->num_children; i++)
			write_frame(writer, node->children[i], depth + 1);
		fputs("</ul></details>", out);
	}
	fputs("</li>\n", out);
}

void html_calltree(const struct view *view, const struct calltree *tree)
{
	struct writer writer = {view, tree, MAX_FRAMES};

	fputs("<ul class=\"tree\">\n", view->out);
	for (size_t i = 0; i < tree->num_roots; i++)
		write_frame(&writer, tree->roots[i], 0);
	fputs("</ul>\n", view->out);
	if (tree->num_nodes > MAX_FRAMES)
		fprintf(view->out, "<p>%zu more frames are not listed.</p>\n",
			tree->num_nodes - MAX_FRAMES);
}

/* ---- Iterations ---- */

struct chart {
	uint32_t loop;
	uint64_t first, last;
	int64_t *counts; /* [size]; -1: the rank is not in the loop */
	int size;
};

/* Returns how many ranks are in the loop. */
static int fill_chart(const struct view *view, struct chart *chart)
{
	int number = 0;

	chart->first = UINT64_MAX;
	chart->last = 0;
	for (int r = 0; r < chart->size; r++)
		chart->counts[r] = -1;
	for (size_t i = 0; i < view->job->model->num_lanes; i++) {
		const struct iteration *iteration = parts_outermost(&view->progress->places[i]);
		int rank = view->job->model->lanes[i].rank;

		if (!iteration || iteration->loop != chart->loop || rank >= chart->size)
			continue;
		number += chart->counts[rank] < 0;
		chart->counts[rank] = (int64_t)iteration->count;
		chart->first = MIN(chart->first, iteration->count);
		chart->last = MAX(chart->last, iteration->count);
	}
	return number;
}

/* The bars of ranks that are, or are not, culprits. Neighbours of equal height are one bar. */
static void write_bars(FILE *out, const struct chart *chart, const struct rankset *culprits,
		       bool of_culprits)
{
	uint64_t base = chart->last - chart->first < 10 ? (chart->last > 10 ? chart->last - 10 : 0)
							: chart->first;
	uint64_t span = chart->last > base ? chart->last - base : 1;

	fprintf(out, "<path class=\"%s\" d=\"", of_culprits ? "least" : "bar");
	for (int r = 0; r < chart->size;) {
		int end = r + 1, height;

		if (chart->counts[r] < 0 || rankset_contains(culprits, r) != of_culprits) {
			r++;
			continue;
		}
		while (end < chart->size && chart->counts[end] == chart->counts[r] &&
		       rankset_contains(culprits, end) == of_culprits)
			end++;
		/* Even the smallest bar stays visible. */
		height = 5 + (int)((double)(chart->counts[r] - (int64_t)base) / (double)span *
				   (CHART_HEIGHT - 5));
		fprintf(out, "M%d %dV%dH%dV%dZ", r, CHART_HEIGHT, CHART_HEIGHT - height, end,
			CHART_HEIGHT);
		r = end;
	}
	fputs("\"/>", out);
}

static void write_chart(const struct view *view, const struct chart *chart, int number)
{
	const char *loop = label_loop(view, chart->loop, LABEL_FULL);
	FILE *out = view->out;

	html_printf(out,
		    "<figure class=\"chart\"><figcaption>%s: %d ranks, iterations %zu to "
		    "%zu</figcaption><svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
		    "role=\"img\" aria-label=\"Iteration of each rank, from 0 to %d, in the %s\">",
		    loop, number, (size_t)chart->first, (size_t)chart->last, chart->size,
		    CHART_HEIGHT, chart->size - 1, loop);
	write_bars(out, chart, view->verdict->culprits, false);
	write_bars(out, chart, view->verdict->culprits, true);
	fprintf(out,
		"</svg><div class=\"axis\"><span>rank 0</span><span>rank "
		"%d</span></div></figure>\n",
		chart->size - 1);
}

void html_iterations(const struct view *view)
{
	struct chart chart = {.size = parts_num_ranks(view)};
	int charts = 0;

	if (!view->progress || chart.size < 1)
		return;
	chart.counts = arena_array(view->arena, (size_t)chart.size, sizeof(*chart.counts));
	for (chart.loop = 0; chart.loop < view->progress->num_loops && charts < MAX_CHARTS;
	     chart.loop++) {
		int number = view->progress->loops[chart.loop].parent == LOOP_NONE
				     ? fill_chart(view, &chart)
				     : 0;

		if (number == 0)
			continue;
		write_chart(view, &chart, number);
		charts++;
	}
}
