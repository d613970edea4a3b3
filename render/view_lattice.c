/* SPDX-License-Identifier: BSD-3-Clause
 * lattice: what ranks have in common. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/traces/concept_lattice.h"
#include "analysis/traces/trace_runs.h"
#include "analysis/traces/trace_similarity.h"
#include "model/xalloc.h"
#include "render/ascii_graph.h"
#include "render/dot.h"
#include "render/json.h"
#include "render/text.h"
#include "render/trace_text.h"
#include "render/view.h"
#include "render/view_traces.h"

enum {
	MOST_DRAWN = 24,      /* concepts of a drawing in text */
	MOST_LISTED = 40,     /* and of the list */
	MOST_ATTRIBUTES = 8,  /* of a concept */
	MOST_IN_PICTURE = 12, /* and of one in a picture */
};

static const struct trace_answer *found(const struct view *view)
{
	return view->answer->compared;
}

/* The traces in the concept's extent, or of `only_own` those of which it is the lowest concept:
 * flags by trace, and how many. The caller frees. */
static uint8_t *flag_traces(const struct view *view, size_t concept, bool only_own,
			    uint32_t *num_ret)
{
	const struct formal_context *context = found(view)->lattice->context;
	const struct concept *c = &found(view)->lattice->concepts[concept];
	uint8_t *rows = xcalloc(context->num_rows + 1, 1);
	uint8_t *flags = xcalloc(context->num_objects + 1, 1);

	for (size_t i = 0; i < c->num_extent; i++)
	rows[c->extent[i]] =
		!only_own || found(view)->lattice->concept_of_row[c->extent[i]] == concept;
	*num_ret = 0;
	for (uint32_t o = 0; o < context->num_objects; o++) {
		flags[o] = rows[context->row_of[o]];
		*num_ret += flags[o];
	}
	free(rows);
	return flags;
}

static char *ranks_text(const struct view *view, size_t concept, int width)
{
	uint32_t num;
	uint8_t *flags = flag_traces(view, concept, false, &num);
	char *text = trace_text_threads(found(view)->runs, flags, width);

	free(flags);
	return text;
}

static bool has_ranks(const struct view *view, size_t concept)
{
	return found(view)->lattice->concepts[concept].num_extent > 0;
}

static char *attribute_text(const struct view *view, uint32_t attribute)
{
	return trace_text_attribute(found(view)->runs, 0,
				    &found(view)->similarity->attributes->attributes[attribute],
				    found(view)->measure.frequency);
}

/* "entries", "entries and pairs", with "how often they are". The caller frees. */
static char *measure_text(const struct trace_measure *measure)
{
	static const enum attribute_kind kinds[] = {ATTRIBUTE_ENTRY, ATTRIBUTE_PAIR, ATTRIBUTE_LOOP,
						    ATTRIBUTE_END};
	static const char *const how[] = {
		[FREQUENCY_NONE] = "",
		[FREQUENCY_ACTUAL] = " with how often they are",
		[FREQUENCY_LOG10] = " with the logarithm of how often they are",
	};
	char *text = xstrdup(""), *longer;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		if (!(measure->kinds & kinds[k]))
			continue;
		longer = xasprintf("%s%s%s", text, *text ? ", " : "", trace_text_kind(kinds[k]));
		free(text);
		text = longer;
	}
	longer = xasprintf("%s%s", text, how[measure->frequency]);
	free(text);
	return longer;
}

/* ---- Text ---- */

static void print_drawing(const struct view *view)
{
	const struct concept_lattice *lattice = found(view)->lattice;
	struct ascii_graph_node *nodes;
	struct ascii_graph_edge *edges;
	uint32_t *node_of;
	size_t num_nodes = 0, num_edges = 0, num_parents = 0;

	if (lattice->num_concepts > MOST_DRAWN || lattice->num_concepts < 2)
		return;
	for (size_t c = 0; c < lattice->num_concepts; c++)
		num_parents += lattice->concepts[c].num_parents;
	nodes = xcalloc(lattice->num_concepts, sizeof(*nodes));
	node_of = xcalloc(lattice->num_concepts, sizeof(*node_of));
	edges = xcalloc(num_parents + 1, sizeof(*edges));
	for (size_t c = 0; c < lattice->num_concepts; c++) {
		const struct concept *concept = &lattice->concepts[c];
		char *ranks;

		if (!has_ranks(view, c))
			continue;
		ranks = ranks_text(view, c, 20);
		node_of[c] = (uint32_t)num_nodes;
		nodes[num_nodes++].label = xasprintf("#%zu %s", c + 1, ranks);
		free(ranks);
		for (size_t p = 0; p < concept->num_parents; p++)
			edges[num_edges++] =
				(struct ascii_graph_edge){node_of[concept->parents[p]], node_of[c]};
	}
	if (num_nodes > 1 && ascii_graph_print(view, nodes, num_nodes, edges, num_edges) == 0)
		fputc('\n', view->out);
	for (size_t n = 0; n < num_nodes; n++)
		free((char *)nodes[n].label);
	free(nodes);
	free(node_of);
	free(edges);
}

static void print_attributes(const struct view *view, size_t concept)
{
	const struct formal_context *context = found(view)->lattice->context;
	size_t num = 0, most = view->answer->is_full ? SIZE_MAX : MOST_ATTRIBUTES;

	for (uint32_t a = 0; a < context->num_attributes; a++) {
		char *text, *fit;

		if (found(view)->lattice->concept_of_attribute[a] != concept || num++ >= most)
			continue;
		text = attribute_text(view, a);
		fit = text_fit(text, (size_t)view->width - 6, view->use_unicode);
		fprintf(view->out, "      %s\n", fit);
		free(fit);
		free(text);
	}
	if (num > most)
		fprintf(view->out, "      and %zu more (-all)\n", num - most);
}

static void print_concept(const struct view *view, size_t concept)
{
	const struct concept *c = &found(view)->lattice->concepts[concept];
	char *ranks = ranks_text(view, concept, view->width / 2);

	fprintf(view->out, "  #%zu %s", concept + 1, ranks);
	for (size_t p = 0; p < c->num_parents; p++)
		fprintf(view->out, "%s#%" PRIu32, p > 0 ? ", " : "  below ", c->parents[p] + 1);
	fputc('\n', view->out);
	free(ranks);
	print_attributes(view, concept);
}

void view_lattice(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;
	char *what = measure_text(&a->measure);
	char *ways = a->lattice->context->num_rows == 1 ? xstrdup("in one way")
							: xasprintf("in %" PRIu32 " different ways",
								    a->lattice->context->num_rows);
	size_t num = 0, listed = 0;

	for (size_t c = 0; c < a->lattice->num_concepts; c++)
		num += has_ranks(view, c);
	text_wrap(view, 0,
		  "%zu trace%s %s, by %" PRIu32 " attribute%s (%s): %zu "
		  "concept%s. The ranks of each have what is listed there and above it in common.",
		  a->runs->num_threads, a->runs->num_threads == 1 ? "" : "s", ways,
		  a->lattice->context->num_attributes,
		  a->lattice->context->num_attributes == 1 ? "" : "s", what, num,
		  num == 1 ? "" : "s");
	free(ways);
	free(what);
	print_drawing(view);
	for (size_t c = 0; c < a->lattice->num_concepts; c++) {
		if (!has_ranks(view, c) || (!view->answer->is_full && listed >= MOST_LISTED))
			continue;
		print_concept(view, c);
		listed++;
	}
	if (listed < num)
		fprintf(view->out, "  and %zu more concepts (-all)\n", num - listed);
	trace_text_print_holes(view, a->runs, NULL);
}

/* ---- DOT ---- */

/* As in reduced labels: the traces whose lowest concept it is, the attributes whose highest it is.
 */
static char *picture_label(const struct view *view, size_t concept, uint32_t *num_ret)
{
	const struct formal_context *context = found(view)->lattice->context;
	uint32_t num_own;
	uint8_t *flags = flag_traces(view, concept, false, num_ret);
	uint8_t *own = flag_traces(view, concept, true, &num_own);
	char *ranks = trace_text_threads(found(view)->runs, flags, 40), *label;
	size_t size, num = 0;
	FILE *out = open_memstream(&label, &size);

	fputs(ranks, out);
	free(ranks);
	if (num_own > 0 && num_own < *num_ret) {
		ranks = trace_text_threads(found(view)->runs, own, 40);
		fprintf(out, "\nno more than this: %s", ranks);
		free(ranks);
	}
	for (uint32_t a = 0; a < context->num_attributes; a++) {
		char *text;

		if (found(view)->lattice->concept_of_attribute[a] != concept ||
		    num++ >= MOST_IN_PICTURE)
			continue;
		text = attribute_text(view, a);
		fprintf(out, "\n%s", text);
		free(text);
	}
	if (num > MOST_IN_PICTURE)
		fprintf(out, "\nand %zu more", num - MOST_IN_PICTURE);
	fclose(out);
	free(flags);
	free(own);
	return label;
}

void view_lattice_dot(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;
	uint32_t *node_of = xcalloc(a->lattice->num_concepts + 1, sizeof(*node_of));
	char *what = measure_text(&a->measure);
	char *title = xasprintf("what ranks have in common (%s), and below it what fewer of them "
				"have as well",
				what);
	struct dot *dot = dot_create(title, "concepts");

	for (size_t c = 0; c < a->lattice->num_concepts; c++) {
		const struct concept *concept = &a->lattice->concepts[c];
		uint32_t num;
		char *label;

		if (!has_ranks(view, c))
			continue;
		label = picture_label(view, c, &num);
		node_of[c] = dot_node(dot, label, num, DOT_PLAIN);
		for (size_t p = 0; p < concept->num_parents; p++)
			dot_edge(dot, node_of[concept->parents[p]], node_of[c], NULL);
		free(label);
	}
	dot_write(dot, view->out);
	dot_destroy(dot);
	free(title);
	free(what);
	free(node_of);
}

/* ---- JSON ---- */

static void write_concept(const struct view *view, size_t concept)
{
	const struct concept *c = &found(view)->lattice->concepts[concept];
	FILE *out = view->out;
	bool is_first = true;
	uint32_t num, num_own;
	uint8_t *flags = flag_traces(view, concept, false, &num);
	uint8_t *own = flag_traces(view, concept, true, &num_own);
	char *ranks = trace_text_thread_list(found(view)->runs, flags);
	char *own_ranks = trace_text_thread_list(found(view)->runs, own);

	fprintf(out, "{\"number\": %zu, \"count\": %" PRIu32 ", \"ranks\": \"%s\", \"own\": \"%s\"",
		concept + 1, num, ranks, own_ranks);
	fputs(", \"below\": [", out);
	for (size_t p = 0; p < c->num_parents; p++)
		fprintf(out, "%s%" PRIu32, p > 0 ? ", " : "", c->parents[p] + 1);
	fputs("], \"attributes\": [", out);
	for (uint32_t a = 0; a < found(view)->lattice->context->num_attributes; a++) {
		char *text;

		if (found(view)->lattice->concept_of_attribute[a] != concept)
			continue;
		text = attribute_text(view, a);
		fputs(is_first ? "" : ", ", out);
		json_quote(out, text);
		is_first = false;
		free(text);
	}
	fputs("]}", out);
	free(flags);
	free(own);
	free(ranks);
	free(own_ranks);
}

void view_lattice_json(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;

	fputs("{\"concepts\": [", view->out);
	for (size_t c = 0; c < a->lattice->num_concepts; c++) {
		if (c > 0)
			fputs(", ", view->out);
		write_concept(view, c);
	}
	fputs("]}", view->out);
}
