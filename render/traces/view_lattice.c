/* SPDX-License-Identifier: BSD-3-Clause
 * lattice: what ranks have in common. */
#include "analysis/traces/concept_lattice.h"
#include "analysis/traces/trace_runs.h"
#include "analysis/traces/trace_similarity.h"
#include "render/draw/ascii_graph.h"
#include "render/draw/dot.h"
#include "render/text/json.h"
#include "render/text/text.h"
#include "render/traces/trace_text.h"
#include "render/traces/view_traces.h"
#include "render/view.h"

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

/* Flags of the traces in the concept's extent (only_own: it is their lowest), and how many. */
static uint8_t *flag_traces(const struct view *view, size_t concept, bool only_own,
			    uint32_t *num_ret)
{
	const struct formal_context *context = found(view)->lattice->context;
	const struct concept *c = &found(view)->lattice->concepts[concept];
	uint8_t *rows = arena_array(view->arena, context->num_rows + 1, 1);
	uint8_t *flags = arena_array(view->arena, context->num_objects + 1, 1);

	for (size_t i = 0; i < c->num_extent; i++)
	rows[c->extent[i]] =
		!only_own || found(view)->lattice->concept_of_row[c->extent[i]] == concept;
	*num_ret = 0;
	for (uint32_t o = 0; o < context->num_objects; o++) {
		flags[o] = rows[context->row_of[o]];
		*num_ret += flags[o];
	}
	return flags;
}

static const char *ranks_text(const struct view *view, size_t concept, int width)
{
	uint32_t num;
	uint8_t *flags = flag_traces(view, concept, false, &num);

	return trace_text_threads(view->arena, found(view)->runs, flags, width);
}

static bool has_ranks(const struct view *view, size_t concept)
{
	return found(view)->lattice->concepts[concept].num_extent > 0;
}

static const char *attribute_text(const struct view *view, uint32_t attribute)
{
	return trace_text_attribute(view->arena, found(view)->runs, 0,
				    &found(view)->similarity->attributes->attributes[attribute],
				    found(view)->measure.frequency);
}

/* "entries, pairs with how often they are" */
static const char *measure_text(const struct view *view)
{
	static const enum attribute_kind kinds[] = {ATTRIBUTE_ENTRY, ATTRIBUTE_PAIR, ATTRIBUTE_LOOP,
						    ATTRIBUTE_END};
	static const char *const how[] = {
		[FREQUENCY_NONE] = "",
		[FREQUENCY_ACTUAL] = " with how often they are",
		[FREQUENCY_LOG10] = " with the logarithm of how often they are",
	};
	const struct trace_measure *measure = &found(view)->measure;
	struct text_list list = {view->arena, NULL};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		if (measure->kinds & kinds[k])
			text_list_add(&list, ", ", trace_text_kind(kinds[k]));
	text_list_add(&list, "", how[measure->frequency]);
	return list.text;
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
	nodes = arena_array(view->arena, lattice->num_concepts, sizeof(*nodes));
	node_of = arena_array(view->arena, lattice->num_concepts, sizeof(*node_of));
	edges = arena_array(view->arena, num_parents + 1, sizeof(*edges));
	for (size_t c = 0; c < lattice->num_concepts; c++) {
		const struct concept *concept = &lattice->concepts[c];

		if (!has_ranks(view, c))
			continue;
		node_of[c] = (uint32_t)num_nodes;
		nodes[num_nodes++].label = text_of(view, "#%zu %s", c + 1, ranks_text(view, c, 20));
		for (size_t p = 0; p < concept->num_parents; p++)
			edges[num_edges++] =
				(struct ascii_graph_edge){node_of[concept->parents[p]], node_of[c]};
	}
	if (num_nodes > 1 && ascii_graph_print(view, nodes, num_nodes, edges, num_edges) == 0)
		fputc('\n', view->out);
}

static void print_attributes(const struct view *view, size_t concept)
{
	const struct formal_context *context = found(view)->lattice->context;
	size_t num = 0, most = view->answer->is_full ? SIZE_MAX : MOST_ATTRIBUTES;

	for (uint32_t a = 0; a < context->num_attributes; a++) {
		if (found(view)->lattice->concept_of_attribute[a] != concept || num++ >= most)
			continue;
		fprintf(view->out, "      %s\n",
			text_fit(view->arena, attribute_text(view, a), (size_t)view->width - 6,
				 view->use_unicode));
	}
	if (num > most)
		fprintf(view->out, "      and %zu more (-all)\n", num - most);
}

static void print_concept(const struct view *view, size_t concept)
{
	const struct concept *c = &found(view)->lattice->concepts[concept];

	fprintf(view->out, "  #%zu %s", concept + 1, ranks_text(view, concept, view->width / 2));
	for (size_t p = 0; p < c->num_parents; p++)
		fprintf(view->out, "%s#%" PRIu32, p > 0 ? ", " : "  below ", c->parents[p] + 1);
	fputc('\n', view->out);
	print_attributes(view, concept);
}

void view_lattice(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;
	const char *ways = a->lattice->context->num_rows == 1
				   ? "in one way"
				   : text_of(view, "in %" PRIu32 " different ways",
					     a->lattice->context->num_rows);
	size_t num = 0, listed = 0;

	for (size_t c = 0; c < a->lattice->num_concepts; c++)
		num += has_ranks(view, c);
	text_wrap(view, 0,
		  "%zu trace%s %s, by %" PRIu32
		  " attribute%s (%s): %zu concept%s. The ranks of each share what is listed "
		  "there and above it.",
		  a->runs->num_threads, a->runs->num_threads == 1 ? "" : "s", ways,
		  a->lattice->context->num_attributes,
		  a->lattice->context->num_attributes == 1 ? "" : "s", measure_text(view), num,
		  num == 1 ? "" : "s");
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

/* Reduced labels: traces whose lowest concept this is, attributes whose highest it is. */
static const char *picture_label(const struct view *view, size_t concept, uint32_t *num_ret)
{
	const struct formal_context *context = found(view)->lattice->context;
	const struct trace_runs *runs = found(view)->runs;
	uint32_t num_own;
	uint8_t *flags = flag_traces(view, concept, false, num_ret);
	uint8_t *own = flag_traces(view, concept, true, &num_own);
	struct text_list lines = {view->arena, trace_text_threads(view->arena, runs, flags, 40)};
	size_t num = 0;

	if (num_own > 0 && num_own < *num_ret)
		text_list_add(&lines, "\nno more than this: ",
			      trace_text_threads(view->arena, runs, own, 40));
	for (uint32_t a = 0; a < context->num_attributes; a++)
		if (found(view)->lattice->concept_of_attribute[a] == concept &&
		    num++ < MOST_IN_PICTURE)
			text_list_add(&lines, "\n", attribute_text(view, a));
	if (num > MOST_IN_PICTURE)
		text_list_add(&lines, "\n", text_of(view, "and %zu more", num - MOST_IN_PICTURE));
	return lines.text;
}

void view_lattice_dot(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;
	uint32_t *node_of =
		arena_array(view->arena, a->lattice->num_concepts + 1, sizeof(*node_of));
	const char *title = text_of(
		view,
		"what ranks have in common (%s), and below it what fewer of them have as well",
		measure_text(view));
	struct dot *dot = dot_create(view->arena, title, "concepts");

	for (size_t c = 0; c < a->lattice->num_concepts; c++) {
		const struct concept *concept = &a->lattice->concepts[c];
		uint32_t num;
		const char *label = picture_label(view, c, &num);

		if (!has_ranks(view, c))
			continue;
		node_of[c] = dot_node(dot, label, num, DOT_PLAIN);
		for (size_t p = 0; p < concept->num_parents; p++)
			dot_edge(dot, node_of[concept->parents[p]], node_of[c], NULL);
	}
	dot_write(dot, view->out);
}

/* ---- JSON ---- */

static void write_concept(struct json *json, const struct view *view, size_t concept)
{
	const struct concept *c = &found(view)->lattice->concepts[concept];
	const struct trace_runs *runs = found(view)->runs;
	uint32_t num, num_own;
	uint8_t *flags = flag_traces(view, concept, false, &num);
	uint8_t *own = flag_traces(view, concept, true, &num_own);

	json_count(json, "number", concept + 1);
	json_count(json, "count", num);
	json_text(json, "ranks", trace_text_thread_list(view->arena, runs, flags));
	json_text(json, "own", trace_text_thread_list(view->arena, runs, own));
	json_array(json, "below");
	for (size_t p = 0; p < c->num_parents; p++)
		json_count(json, NULL, c->parents[p] + 1);
	json_end_array(json);
	json_array(json, "attributes");
	for (uint32_t a = 0; a < found(view)->lattice->context->num_attributes; a++)
		if (found(view)->lattice->concept_of_attribute[a] == concept)
			json_text(json, NULL, attribute_text(view, a));
	json_end_array(json);
}

void view_lattice_json(const struct view *view)
{
	struct json *json = view->json;

	JSON_OBJECTS(json, "concepts", c, found(view)->lattice->num_concepts)
		write_concept(json, view, c);
}
