/* SPDX-License-Identifier: BSD-3-Clause
 * similar: how similar the traces of the ranks are, and how they cluster. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/traces/trace_runs.h"
#include "analysis/traces/trace_similarity.h"
#include "model/xalloc.h"
#include "render/heat_map.h"
#include "render/text.h"
#include "render/trace_text.h"
#include "render/tree.h"
#include "render/view.h"
#include "render/view_traces.h"

enum { LABEL_WIDTH = 22, MOST_MERGES = 24 };

static const struct trace_answer *found(const struct view *view)
{
	return view->answer->compared;
}

/* ---- The map ---- */

/* What is drawn: parts of the leaves, each of one or more. */
struct parts {
	uint32_t *part_of; /* [num_leaves] in the order of drawing */
	size_t num;
	char **labels;  /* [num] */
	double *values; /* [num * num] mean over all pairs of their traces */
};

static char *part_label(const struct view *view, const struct parts *parts, uint32_t part)
{
	uint8_t *flags = xcalloc(found(view)->runs->num_threads + 1, 1);
	char *label;

	for (size_t t = 0; t < found(view)->clusters->num; t++)
		flags[t] = parts->part_of[found(view)->clusters->leaves[t]] == part;
	label = trace_text_threads(found(view)->runs, flags, LABEL_WIDTH);
	free(flags);
	return label;
}

/* Number clusters in the order of the leaves. */
static void number_parts(const struct view *view, struct parts *parts)
{
	uint32_t num_leaves = found(view)->clusters->num_leaves;
	uint32_t *labels = xcalloc(num_leaves, sizeof(*labels));
	uint32_t *number = xcalloc(num_leaves, sizeof(*number)); /* + 1; 0: none yet */
	uint32_t num = 0;

	clustering_cut(view->arena, found(view)->clusters->clustering, (uint32_t)parts->num,
		       labels);
	for (uint32_t i = 0; i < num_leaves; i++) {
		uint32_t leaf = found(view)->clusters->order[i];

		if (!number[labels[leaf]])
			number[labels[leaf]] = ++num;
		parts->part_of[leaf] = number[labels[leaf]] - 1;
	}
	free(labels);
	free(number);
}

static double leaf_similarity(const struct view *view, uint32_t a, uint32_t b)
{
	return found(view)->similarity->values[(size_t)found(view)->clusters->rows[a] *
						       found(view)->similarity->context->num_rows +
					       found(view)->clusters->rows[b]];
}

static void fill_values(const struct view *view, struct parts *parts)
{
	uint32_t num_leaves = found(view)->clusters->num_leaves;
	double *weights = xcalloc(parts->num * parts->num, sizeof(*weights));

	for (uint32_t a = 0; a < num_leaves; a++) {
		for (uint32_t b = 0; b < num_leaves; b++) {
			size_t at = parts->part_of[a] * parts->num + parts->part_of[b];
			double weight = (double)found(view)->clusters->weights[a] *
					found(view)->clusters->weights[b];

			parts->values[at] += weight * leaf_similarity(view, a, b);
			weights[at] += weight;
		}
	}
	for (size_t i = 0; i < parts->num * parts->num; i++)
		parts->values[i] /= weights[i];
	free(weights);
}

static struct parts *make_parts(const struct view *view, size_t most)
{
	struct parts *parts = xcalloc(1, sizeof(*parts));
	uint32_t num_leaves = found(view)->clusters->num_leaves;

	parts->num = num_leaves < most ? num_leaves : most;
	parts->part_of = xcalloc(num_leaves, sizeof(*parts->part_of));
	parts->labels = xcalloc(parts->num, sizeof(*parts->labels));
	parts->values = xcalloc(parts->num * parts->num, sizeof(*parts->values));
	number_parts(view, parts);
	fill_values(view, parts);
	for (uint32_t p = 0; p < parts->num; p++)
		parts->labels[p] = part_label(view, parts, p);
	return parts;
}

static void destroy_parts(struct parts *parts)
{
	for (size_t p = 0; p < parts->num; p++)
		free(parts->labels[p]);
	free(parts->labels);
	free(parts->values);
	free(parts->part_of);
	free(parts);
}

/* What the numbers are. The caller frees. */
static char *title_of(const struct view *view)
{
	return xasprintf("Jaccard similarity of %zu traces by %" PRIu32 " attributes",
			 found(view)->runs->num_threads,
			 found(view)->similarity->context->num_attributes);
}

/* ---- How they cluster ---- */

/* Flag the traces below a node of the clustering. */
static void flag_below(const struct view *view, uint32_t node, uint8_t *flags)
{
	const struct clustering *c = found(view)->clusters->clustering;
	uint8_t *below = xcalloc(2 * (size_t)c->num_leaves, 1);

	below[node] = 1;
	for (uint32_t n = node; n >= c->num_leaves; n--)
		if (below[n])
			below[c->merges[n - c->num_leaves].a] =
				below[c->merges[n - c->num_leaves].b] = 1;
	for (size_t t = 0; t < found(view)->clusters->num; t++)
		flags[t] = below[found(view)->clusters->leaves[t]];
	free(below);
}

static char *node_text(const struct view *view, uint32_t node)
{
	const struct clustering *c = found(view)->clusters->clustering;
	uint8_t *flags = xcalloc(found(view)->runs->num_threads + 1, 1);
	char *ranks, *text;

	flag_below(view, node, flags);
	ranks = trace_text_threads(found(view)->runs, flags, view->width / 2);
	if (node >= c->num_leaves)
		text = xasprintf("%s at distance %.3f", ranks,
				 c->merges[node - c->num_leaves].height);
	else
		text = xasprintf("%s", ranks);
	free(ranks);
	free(flags);
	return text;
}

/* The last merges, from the top. */
static void print_clusters(const struct view *view)
{
	const struct clustering *c = found(view)->clusters->clustering;
	uint32_t num_nodes = c->num_leaves + c->num_merges, least;
	uint32_t *place = xcalloc(num_nodes, sizeof(*place));
	struct tree *tree;

	if (c->num_merges == 0) {
		free(place);
		return;
	}
	least = c->num_merges > MOST_MERGES ? c->num_merges - MOST_MERGES : 0;
	tree = tree_create();
	place[num_nodes - 1] = TREE_ROOT;
	for (uint32_t n = num_nodes; n-- > 0;) {
		const struct merge *merge;
		uint32_t parent = place[n];
		char *text;

		if (n < num_nodes - 1 && parent == 0)
			continue; /* below what is shown */
		text = node_text(view, n);
		parent = tree_add(tree, n == num_nodes - 1 ? TREE_ROOT : parent - 1, text);
		free(text);
		if (n < c->num_leaves || n - c->num_leaves < least)
			continue;
		merge = &c->merges[n - c->num_leaves];
		place[merge->a] = place[merge->b] = parent + 1;
	}
	fprintf(view->out, "Clusters (%s linkage):\n",
		trace_text_linkage(found(view)->measure.linkage));
	tree_print_indented(tree, view, 2);
	tree_destroy(tree);
	free(place);
}

void view_similar(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;
	struct parts *parts = make_parts(view, heat_map_capacity(view, LABEL_WIDTH));
	char *title = title_of(view);

	if (a->clusters->num_leaves == 1)
		text_wrap(view, 0, "%s, in percent; all are the same", title);
	else
		text_wrap(view, 0, "%s, in percent; %" PRIu32 " of them differ%s", title,
			  a->clusters->num_leaves,
			  parts->num < a->clusters->num_leaves
				  ? ", the most similar of these together"
				  : "");
	heat_map_print(view, &(struct heat_map){title, (const char *const *)parts->labels,
						parts->values, parts->num});
	print_clusters(view);
	trace_text_print_holes(view, a->runs, NULL);
	free(title);
	destroy_parts(parts);
}

void view_similar_svg(const struct view *view)
{
	struct parts *parts = make_parts(view, HEAT_MAP_MAX_SVG);
	char *title = title_of(view);

	heat_map_svg(view, &(struct heat_map){title, (const char *const *)parts->labels,
					      parts->values, parts->num});
	free(title);
	destroy_parts(parts);
}

/* ---- JSON ---- */

void view_similar_json(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;
	const struct clustering *c = a->clusters->clustering;
	struct parts *parts = make_parts(view, a->clusters->num_leaves);
	FILE *out = view->out;

	fputs("{\"rows\": [", out);
	for (uint32_t p = 0; p < parts->num; p++) {
		uint8_t *flags = xcalloc(a->runs->num_threads + 1, 1);
		char *ranks;

		for (size_t t = 0; t < a->clusters->num; t++)
			flags[t] = parts->part_of[a->clusters->leaves[t]] == p;
		ranks = trace_text_thread_list(a->runs, flags);
		fprintf(out, "%s\"%s\"", p > 0 ? ", " : "", ranks);
		free(ranks);
		free(flags);
	}
	fputs("], \"similarity\": [", out);
	for (size_t row = 0; row < parts->num; row++) {
		fputs(row > 0 ? ", [" : "[", out);
		for (size_t column = 0; column < parts->num; column++)
			fprintf(out, "%s%.6f", column > 0 ? ", " : "",
				parts->values[row * parts->num + column]);
		fputc(']', out);
	}
	fprintf(out, "], \"linkage\": \"%s\", \"merges\": [",
		trace_text_linkage(a->measure.linkage));
	for (uint32_t m = 0; m < c->num_merges; m++) {
		uint8_t *flags = xcalloc(a->runs->num_threads + 1, 1);
		char *ranks;

		flag_below(view, c->num_leaves + m, flags);
		ranks = trace_text_thread_list(a->runs, flags);
		fprintf(out, "%s{\"ranks\": \"%s\", \"distance\": %.6f}", m > 0 ? ", " : "", ranks,
			c->merges[m].height);
		free(ranks);
		free(flags);
	}
	fputs("]}", out);
	destroy_parts(parts);
}
