/* SPDX-License-Identifier: BSD-3-Clause
 * Graphs as DOT text for Graphviz. Nodes and edges are collected first and written at the end, so
 * large graphs can be folded. The nodes of most weight stay; all others become one box with their
 * number. A graph has at most DOT_MAX_EDGES edges, so that Graphviz can lay it out while a user
 * waits; a note counts the rest. */
#ifndef PDB_RENDER_DOT_H
#define PDB_RENDER_DOT_H

#include "model/std.h"

enum { DOT_MAX_NODES = 300, DOT_MAX_EDGES = 1000 };

/* How a node is drawn. */
enum dot_style {
	DOT_PLAIN,
	DOT_STRONG = 1,  /* a culprit, or the subject of the picture */
	DOT_ROUNDED = 2, /* states outside MPI; states inside MPI have corners */
	DOT_STRONG_ROUNDED = DOT_STRONG | DOT_ROUNDED,
};

struct arena;
struct pdb_error;

/* title: above the picture. what: what the nodes are, "groups". Texts are borrowed until
 * dot_write(). The result lives in the arena. */
struct dot *dot_create(struct arena *arena, const char *title, const char *what);

/* Align the lines of node labels left: they are listings with indents. */
void dot_list_lines(struct dot *dot);
/* Add a node; returns its index. Labels may have several lines. Among nodes of equal weight,
 * folding keeps the first ones. */
uint32_t dot_node(struct dot *dot, const char *label, uint64_t weight, enum dot_style style);
/* Link the node to a target, "#group-3", in pictures that can have links. */
void dot_link(struct dot *dot, uint32_t node, const char *link);
/* Add an edge between two nodes, which may be added later. label: or NULL. Edges that folding makes
 * parallel become one. */
void dot_edge(struct dot *dot, uint32_t from, uint32_t to, const char *label);

/* Write the graph as valid input for `dot`. */
void dot_write(const struct dot *dot, FILE *out);
/* Write text as a quoted string of the DOT language. */
void dot_quote(FILE *out, const char *text);

/* ---- Graphviz: graphviz.c ---- */

/* Lay out DOT text with libgvc and draw it as "svg", "png" or "pdf". graphviz_draw() draws into
 * memory; on success the caller frees *bytes_ret. graphviz_write() draws into the file `path` and
 * touches it only when the picture is complete. -1 and *err. */
int graphviz_draw(const char *dot, const char *format, char **bytes_ret, size_t *size_ret,
		  struct pdb_error *err);
int graphviz_write(const char *dot, const char *format, const char *path, struct pdb_error *err);
/* Write DOT text as an SVG element. -1: it cannot be drawn; *err says why, and so does a sentence
 * in `out`. */
int graphviz_html(FILE *out, const char *dot, const char *label, struct pdb_error *err);

#endif
