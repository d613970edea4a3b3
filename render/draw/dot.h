/* SPDX-License-Identifier: BSD-3-Clause
 * Graphs as text for Graphviz. Nodes and edges are collected first and written at once, so that a
 * graph with more nodes than a picture can show is folded: the nodes of most weight are kept, all
 * others become one box that says how many they are. Edges beyond a number that Graphviz can lay
 * out while somebody waits are counted in a note. */
#ifndef PDB_RENDER_DOT_H
#define PDB_RENDER_DOT_H

#include <stdint.h>
#include <stdio.h>

enum { DOT_MAX_NODES = 300, DOT_MAX_EDGES = 1000 };

/* How a node is drawn. */
enum dot_style {
	DOT_PLAIN,
	DOT_STRONG = 1,  /* a culprit, or what the picture is about */
	DOT_ROUNDED = 2, /* computing states, in distinction from states inside MPI */
	DOT_STRONG_ROUNDED = DOT_STRONG | DOT_ROUNDED,
};

struct arena;
struct pdb_error;

/* title: above the picture; what: the nodes are, "groups". Text is borrowed until it is written. */
struct dot *dot_create(struct arena *arena, const char *title, const char *what);

/* Let the lines of labels of nodes begin at the left: they are listings, with indents. */
void dot_list_lines(struct dot *dot);
/* Returns the node's index. Labels may have several lines. Of equal weights the first are kept. */
uint32_t dot_node(struct dot *dot, const char *label, uint64_t weight, enum dot_style style);
/* What the node leads to in a picture that has links: "#group-3". */
void dot_link(struct dot *dot, uint32_t node, const char *link);
/* Indexes of nodes added before or after. label: or NULL. What folding makes parallel is one. */
void dot_edge(struct dot *dot, uint32_t from, uint32_t to, const char *label);

/* Write the graph: valid for plain `dot`. */
void dot_write(const struct dot *dot, FILE *out);
/* Text as a quoted string of the DOT language. */
void dot_quote(FILE *out, const char *text);

/* ---- Graphviz: graphviz.c ---- */

/* Lay out DOT text with libgvc and draw it as "svg", "png" or "pdf": into memory, which on success
 * the caller frees; or to `path`, where a file is touched only when there is a picture. */
int graphviz_draw(const char *dot, const char *format, char **bytes_ret, size_t *size_ret,
		  struct pdb_error *err);
int graphviz_write(const char *dot, const char *format, const char *path, struct pdb_error *err);
/* DOT text as an SVG element. -1 and *err: it cannot be drawn, and a sentence there says why. */
int graphviz_html(FILE *out, const char *dot, const char *label, struct pdb_error *err);

#endif
