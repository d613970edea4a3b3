/* SPDX-License-Identifier: BSD-3-Clause
 * similar: how similar the traces of the ranks are, and how they cluster. */
#include "analysis/traces/trace_similarity.h"
#include "model/xalloc.h"
#include "render/draw/heat_map.h"
#include "render/draw/tree.h"
#include "render/text/json.h"
#include "render/text/text.h"
#include "render/traces/trace_text.h"
#include "render/traces/view_traces.h"
#include "render/view.h"

enum { LABEL_WIDTH = 22, MOST_MERGES = 24 };

static const struct trace_answer *found(const struct view *view)
{
	return view->answer->compared;
}

/* ---- The map ---- */

/* The parts that are drawn, each of one or more leaves. */
struct parts {
	uint32_t *part_of; /* [num_leaves] in the order of drawing */
	size_t num;
	const char **labels; /* [num] */
	double *values;      /* [num * num] mean over all pairs of their traces */
};

/* Flag the traces of a part. */
static void flag_part(const struct view *view, const struct parts *parts, uint32_t part,
		      uint8_t *flags)
{
	for (size_t t = 0; t < found(view)->clusters->num; t++)
		flags[t] = parts->part_of[found(view)->clusters->leaves[t]] == part;
}

/* Make flags for all traces, all 0. */
static uint8_t *make_flags(const struct view *view)
{
	return arena_array(view->arena, found(view)->runs->num_threads + 1, 1);
}

/* Number clusters in the order of the leaves. */
static void number_parts(const struct view *view, struct parts *parts)
{
	uint32_t num_leaves = found(view)->clusters->num_leaves;
	uint32_t *labels = arena_array(view->arena, num_leaves, sizeof(*labels));
	uint32_t *number =
		arena_array(view->arena, num_leaves, sizeof(*number)); /* + 1; 0: none yet */
	uint32_t num = 0;

	clustering_cut(view->arena, found(view)->clusters->clustering, (uint32_t)parts->num,
		       labels);
	for (uint32_t i = 0; i < num_leaves; i++) {
		uint32_t leaf = found(view)->clusters->order[i];

		if (!number[labels[leaf]])
			number[labels[leaf]] = ++num;
		parts->part_of[leaf] = number[labels[leaf]] - 1;
	}
}

static void fill_values(const struct view *view, struct parts *parts)
{
	const struct trace_clusters *clusters = found(view)->clusters;
	const struct trace_similarity *similarity = found(view)->similarity;
	uint32_t num_leaves = clusters->num_leaves;
	double *weights = arena_array(view->arena, parts->num * parts->num, sizeof(*weights));

	for (uint32_t a = 0; a < num_leaves; a++) {
		for (uint32_t b = 0; b < num_leaves; b++) {
			size_t at = parts->part_of[a] * parts->num + parts->part_of[b];
			double weight = (double)clusters->weights[a] * clusters->weights[b];

			parts->values[at] +=
				weight * similarity->values[(size_t)clusters->rows[a] *
								    similarity->context->num_rows +
							    clusters->rows[b]];
			weights[at] += weight;
		}
	}
	for (size_t i = 0; i < parts->num * parts->num; i++)
		parts->values[i] /= weights[i];
}

static struct parts *make_parts(const struct view *view, size_t most)
{
	struct parts *parts = arena_alloc(view->arena, sizeof(*parts));
	uint32_t num_leaves = found(view)->clusters->num_leaves;
	uint8_t *flags = make_flags(view);

	parts->num = num_leaves < most ? num_leaves : most;
	parts->part_of = arena_array(view->arena, num_leaves, sizeof(*parts->part_of));
	parts->labels = arena_array(view->arena, parts->num, sizeof(*parts->labels));
	parts->values = arena_array(view->arena, parts->num * parts->num, sizeof(*parts->values));
	number_parts(view, parts);
	fill_values(view, parts);
	for (uint32_t p = 0; p < parts->num; p++) {
		flag_part(view, parts, p, flags);
		parts->labels[p] =
			trace_text_threads(view->arena, found(view)->runs, flags, LABEL_WIDTH);
	}
	return parts;
}

/* The caption of the numbers. */
static const char *title_of(const struct view *view)
{
	return arena_printf(
		view->arena, "Jaccard similarity of %zu traces by %" PRIu32 " attributes",
		found(view)->runs->num_threads, found(view)->similarity->context->num_attributes);
}

/* ---- How they cluster ---- */

/* Flag the traces below a node of the clustering. */
static void flag_below(const struct view *view, uint32_t node, uint8_t *flags)
{
	const struct clustering *c = found(view)->clusters->clustering;
	uint8_t *below SCOPED(free) = xcalloc(2 * (size_t)c->num_leaves, 1);

	below[node] = 1;
	for (uint32_t n = node; n >= c->num_leaves; n--)
		if (below[n])
			below[c->merges[n - c->num_leaves].a] =
				below[c->merges[n - c->num_leaves].b] = 1;
	for (size_t t = 0; t < found(view)->clusters->num; t++)
		flags[t] = below[found(view)->clusters->leaves[t]];
}

static const char *node_text(const struct view *view, uint32_t node)
{
	const struct clustering *c = found(view)->clusters->clustering;
	uint8_t *flags = make_flags(view);
	const char *ranks;

	flag_below(view, node, flags);
	ranks = trace_text_threads(view->arena, found(view)->runs, flags, view->width / 2);
	return node < c->num_leaves ? ranks
				    : text_of(view, "%s at distance %.3f", ranks,
					      c->merges[node - c->num_leaves].height);
}

/* The last merges, from the top. */
static void print_clusters(const struct view *view)
{
	const struct clustering *c = found(view)->clusters->clustering;
	uint32_t num_nodes = c->num_leaves + c->num_merges, least;
	uint32_t *place = arena_array(view->arena, num_nodes, sizeof(*place));
	struct tree *tree;

	if (c->num_merges == 0)
		return;
	least = c->num_merges > MOST_MERGES ? c->num_merges - MOST_MERGES : 0;
	tree = tree_create(view->arena);
	place[num_nodes - 1] = TREE_ROOT;
	for (uint32_t n = num_nodes; n-- > 0;) {
		const struct merge *merge;
		uint32_t parent = place[n];

		if (n < num_nodes - 1 && parent == 0)
			continue; /* below the shown merges */
		parent = tree_add(tree, n == num_nodes - 1 ? TREE_ROOT : parent - 1,
				  node_text(view, n));
		if (n < c->num_leaves || n - c->num_leaves < least)
			continue;
		merge = &c->merges[n - c->num_leaves];
		place[merge->a] = place[merge->b] = parent + 1;
	}
	fprintf(view->out, "Clusters (%s linkage):\n",
		trace_text_linkage(found(view)->measure.linkage));
	tree_print_indented(tree, view, 2);
}

void view_similar(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;
	struct parts *parts = make_parts(view, heat_map_capacity(view, LABEL_WIDTH));
	const char *title = title_of(view);

	if (a->clusters->num_leaves == 1)
		text_wrap(view, 0, "%s, in percent; all are the same", title);
	else
		text_wrap(view, 0, "%s, in percent; %" PRIu32 " of them differ%s", title,
			  a->clusters->num_leaves,
			  parts->num < a->clusters->num_leaves
				  ? ", the most similar of these together"
				  : "");
	heat_map_print(view, &(struct heat_map){title, parts->labels, parts->values, parts->num});
	print_clusters(view);
	trace_text_print_holes(view, a->runs, NULL);
}

void view_similar_svg(const struct view *view)
{
	struct parts *parts = make_parts(view, HEAT_MAP_MAX_SVG);

	heat_map_svg(view,
		     &(struct heat_map){title_of(view), parts->labels, parts->values, parts->num});
}

void view_similar_json(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;
	const struct clustering *c = a->clusters->clustering;
	struct parts *parts = make_parts(view, a->clusters->num_leaves);
	uint8_t *flags = make_flags(view);
	struct json *json = view->json;

	json_array(json, "rows");
	for (uint32_t p = 0; p < parts->num; p++) {
		flag_part(view, parts, p, flags);
		json_text(json, NULL, trace_text_thread_list(view->arena, a->runs, flags));
	}
	json_end_array(json);
	json_array(json, "similarity");
	for (size_t row = 0; row < parts->num; row++) {
		json_array(json, NULL);
		for (size_t column = 0; column < parts->num; column++)
			json_fixed(json, NULL, parts->values[row * parts->num + column]);
		json_end_array(json);
	}
	json_end_array(json);
	json_text(json, "linkage", trace_text_linkage(a->measure.linkage));
	JSON_OBJECTS(json, "merges", m, c->num_merges) {
		flag_below(view, c->num_leaves + m, flags);
		json_text(json, "ranks", trace_text_thread_list(view->arena, a->runs, flags));
		json_fixed(json, "distance", c->merges[m].height);
	}
}
