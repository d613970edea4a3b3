/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/arena.h"
#include "render/draw/dot.h"
#include "render/text/utf8.h"

struct dot_node {
	const char *label;
	const char *link; /* NULL: none */
	uint64_t weight;
	enum dot_style style;
	uint32_t index;
	bool is_kept;
};

struct dot_edge {
	uint32_t from, to;
	const char *label; /* NULL: none */
};

struct dot {
	struct arena *arena;
	const char *title, *what;
	bool has_listings;
	struct dot_node *nodes;
	size_t num_nodes, nodes_capacity;
	struct dot_edge *edges;
	size_t num_edges, edges_capacity;
};

struct dot *dot_create(struct arena *arena, const char *title, const char *what)
{
	struct dot *dot = arena_alloc(arena, sizeof(*dot));

	*dot = (struct dot){.arena = arena, .title = title, .what = what};
	return dot;
}

void dot_list_lines(struct dot *dot)
{
	dot->has_listings = true;
}

uint32_t dot_node(struct dot *dot, const char *label, uint64_t weight, enum dot_style style)
{
	dot->nodes = arena_grow(dot->arena, dot->nodes, dot->num_nodes, &dot->nodes_capacity,
				sizeof(*dot->nodes));
	dot->nodes[dot->num_nodes] = (struct dot_node){
		.label = label,
		.weight = weight,
		.style = style,
		.index = (uint32_t)dot->num_nodes,
	};
	return (uint32_t)dot->num_nodes++;
}

void dot_link(struct dot *dot, uint32_t node, const char *link)
{
	dot->nodes[node].link = link;
}

void dot_edge(struct dot *dot, uint32_t from, uint32_t to, const char *label)
{
	*ARENA_PUSH(dot->arena, dot->edges, dot->num_edges, dot->edges_capacity) =
		(struct dot_edge){from, to, label};
}

/* line_end: DOT's escape for the end of a centred or left-aligned line. */
static void write_quoted(FILE *out, const char *text, const char *line_end)
{
	bool is_left = strcmp(line_end, "\\l") == 0;
	const char *at = text;

	fputc('"', out);
	while (*at) {
		if (*at == '\n') {
			fputs(line_end, out);
			at++;
			continue;
		}
		if (*at == '"' || *at == '\\')
			fputc('\\', out);
		at += utf8_put(out, at);
	}
	if (is_left && at > text && at[-1] != '\n')
		fputs(line_end, out);
	fputc('"', out);
}

void dot_quote(FILE *out, const char *text)
{
	write_quoted(out, text, "\\n");
}

static int compare_weight(const void *a, const void *b)
{
	const struct dot_node *node_a = *(struct dot_node *const *)a;
	const struct dot_node *node_b = *(struct dot_node *const *)b;

	if (node_a->weight != node_b->weight)
		return node_a->weight > node_b->weight ? -1 : 1;
	return node_a->index < node_b->index ? -1 : 1;
}

/* Mark the nodes that are drawn as themselves; returns the number of folded ones. */
static size_t keep_nodes(const struct dot *dot)
{
	struct dot_node **order =
		arena_array(dot->arena, dot->num_nodes, sizeof(struct dot_node *));
	size_t kept = dot->num_nodes > DOT_MAX_NODES ? DOT_MAX_NODES : dot->num_nodes;

	for (size_t n = 0; n < dot->num_nodes; n++)
		order[n] = &dot->nodes[n];
	qsort(order, dot->num_nodes, sizeof(struct dot_node *), compare_weight);
	for (size_t n = 0; n < dot->num_nodes; n++)
		order[n]->is_kept = n < kept;
	return dot->num_nodes - kept;
}

static void write_node(const struct dot *dot, const struct dot_node *node, FILE *out)
{
	static const char *const styles[] = {
		[DOT_PLAIN] = "",
		[DOT_STRONG] = ", color=\"#c00000\", fontcolor=\"#c00000\", penwidth=2",
		[DOT_ROUNDED] = ", style=rounded",
		[DOT_STRONG_ROUNDED] =
			", style=rounded, color=\"#c00000\", fontcolor=\"#c00000\", penwidth=2",
	};

	fprintf(out, "\tn%u [label=", node->index);
	write_quoted(out, node->label, dot->has_listings ? "\\l" : "\\n");
	if (node->link) {
		fputs(", URL=", out);
		dot_quote(out, node->link);
	}
	fprintf(out, "%s];\n", styles[node->style]);
}

static int compare_edges(const void *a, const void *b)
{
	const struct dot_edge *edge_a = a, *edge_b = b;

	if (edge_a->from != edge_b->from)
		return edge_a->from < edge_b->from ? -1 : 1;
	return (edge_a->to > edge_b->to) - (edge_a->to < edge_b->to);
}

/* Edges to and from the folded box, each once. */
static void write_folded_edges(const struct dot *dot, FILE *out)
{
	struct dot_edge *edges = arena_array(dot->arena, dot->num_edges, sizeof(*edges));
	size_t number = 0;

	for (size_t e = 0; e < dot->num_edges; e++) {
		struct dot_edge edge = dot->edges[e];
		bool keeps_from = dot->nodes[edge.from].is_kept;
		bool keeps_to = dot->nodes[edge.to].is_kept;

		if (keeps_from == keeps_to)
			continue;
		if (keeps_from)
			edge.to = UINT32_MAX;
		else
			edge.from = UINT32_MAX;
		edges[number++] = edge;
	}
	qsort(edges, number, sizeof(*edges), compare_edges);
	for (size_t e = 0; e < number; e++) {
		if (e > 0 && !compare_edges(&edges[e - 1], &edges[e]))
			continue;
		if (edges[e].from == UINT32_MAX)
			fprintf(out, "\tfolded -> n%u [style=dashed];\n", edges[e].to);
		else
			fprintf(out, "\tn%u -> folded [style=dashed];\n", edges[e].from);
	}
}

/* Edges between kept nodes, the first DOT_MAX_EDGES of them. */
static void write_edges(const struct dot *dot, FILE *out)
{
	size_t number = 0;

	for (size_t e = 0; e < dot->num_edges; e++) {
		const struct dot_edge *edge = &dot->edges[e];

		if (!dot->nodes[edge->from].is_kept || !dot->nodes[edge->to].is_kept ||
		    ++number > DOT_MAX_EDGES)
			continue;
		fprintf(out, "\tn%u -> n%u", edge->from, edge->to);
		if (edge->label) {
			fputs(" [label=", out);
			dot_quote(out, edge->label);
			fputc(']', out);
		}
		fputs(";\n", out);
	}
	if (number > DOT_MAX_EDGES)
		fprintf(out, "\tmore [shape=plaintext, label=\"%zu more arrows, not drawn\"];\n",
			number - DOT_MAX_EDGES);
}

void dot_write(const struct dot *dot, FILE *out)
{
	size_t folded = keep_nodes(dot);

	fputs("digraph pdb {\n\tgraph [labelloc=t, fontname=\"sans-serif\", label=", out);
	dot_quote(out, dot->title);
	fputs("];\n\tnode [shape=box, fontname=\"sans-serif\", fontsize=11];\n"
	      "\tedge [fontname=\"sans-serif\", fontsize=10];\n",
	      out);
	for (size_t n = 0; n < dot->num_nodes; n++)
		if (dot->nodes[n].is_kept)
			write_node(dot, &dot->nodes[n], out);
	if (folded)
		fprintf(out, "\tfolded [style=dashed, label=\"%zu more %s, not drawn\"];\n", folded,
			dot->what);
	write_edges(dot, out);
	if (folded)
		write_folded_edges(dot, out);
	fputs("}\n", out);
}
