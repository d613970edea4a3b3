/* SPDX-License-Identifier: BSD-3-Clause
 * A tree drawn with lines, one line of text per node:
 *
 *	4:[0-3] main() app.c:10
 *	        run() app.c:22
 *	|-- 3:[0,2-3] halo() app.c:31
 *	|             MPI_Waitall()
 *	`-- 1:[1] compute() app.c:40
 *
 * An only child stands below its parent without a connecting line. */
#ifndef PDB_RENDER_TREE_H
#define PDB_RENDER_TREE_H

#include "model/std.h"

#define TREE_ROOT UINT32_MAX /* parent of outermost nodes */

struct arena;
struct view;

struct tree *tree_create(struct arena *arena);

/* Add a last child to `parent`. The text is borrowed. Returns its index. */
uint32_t tree_add(struct tree *tree, uint32_t parent, const char *text);
void tree_mark(struct tree *tree, uint32_t node); /* print it in the colour of culprits */
/* End the node's line with an arrow; long text is cut to make room for it. */
void tree_point(struct tree *tree, uint32_t node);

/* Print the tree; lines are cut at view->width. Where connecting lines fill half of the width,
 * deeper nodes are only counted. */
void tree_print(const struct tree *tree, const struct view *view);
/* The same, `indent` columns (at most 16) further right. */
void tree_print_indented(const struct tree *tree, const struct view *view, int indent);

#endif
