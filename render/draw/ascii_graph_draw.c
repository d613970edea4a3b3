/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/draw/ascii_graph_private.h"
#include "render/text/text.h"
#include "render/view.h"

enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8, ARROW = 16 };

struct cell {
	unsigned lines;
	const struct drawing_node *owner; /* the node whose edges these are */
};

/* The horizontal line of a node's edges: from the leftmost to the rightmost column of them. */
struct track {
	const struct drawing_node *node;
	int left, right;
	int row; /* -1: all edges go straight down */
};

static struct track make_track(const struct drawing *drawing, const struct drawing_node *node)
{
	int column = drawing_center(node);
	struct track track = {.node = node, .left = column, .right = column};

	for (size_t e = 0; e < drawing->num_edges; e++) {
		const struct drawing_edge *edge = &drawing->edges[e];

		if (edge->from == node && edge->port < track.left)
			track.left = edge->port;
		if (edge->from == node && edge->port > track.right)
			track.right = edge->port;
	}
	track.row = track.left == track.right ? -1 : 0;
	return track;
}

/* Give each track the first row where it touches no other. Returns the number of rows. */
static int assign_rows(struct track *tracks, size_t num_tracks)
{
	int num_rows = 0;

	for (size_t t = 0; t < num_tracks; t++) {
		bool is_free = tracks[t].row < 0;

		for (int row = 0; !is_free; row++) {
			is_free = true;
			for (size_t other = 0; other < t; other++)
				if (tracks[other].row == row &&
				    tracks[other].left <= tracks[t].right + 1 &&
				    tracks[t].left <= tracks[other].right + 1)
					is_free = false;
			tracks[t].row = row;
		}
		if (tracks[t].row >= num_rows)
			num_rows = tracks[t].row + 1;
	}
	return num_rows;
}

static void add_lines(struct cell *cell, const struct drawing_node *owner, unsigned lines)
{
	/* Vertical lines are drawn last: at a crossing they go through. */
	if (cell->lines && cell->owner != owner)
		cell->lines = 0;
	cell->owner = owner;
	cell->lines |= lines;
}

static void draw_track(struct cell *grid, int width, const struct track *track)
{
	struct cell *row = grid + (track->row + 1) * width;

	for (int column = track->left; column <= track->right; column++) {
		unsigned lines =
			(column > track->left ? LEFT : 0u) | (column < track->right ? RIGHT : 0u);

		add_lines(&row[column], track->node, lines);
	}
}

static void draw_vertical(struct cell *grid, int width, const struct drawing_node *owner,
			  int column, int from, int to)
{
	for (int row = from; row <= to; row++) {
		unsigned lines = (row > from ? UP : 0u) | (row < to ? DOWN : 0u);

		add_lines(&grid[row * width + column], owner, lines);
	}
}

static const char *cell_text(const struct cell *cell, bool use_unicode)
{
	static const char *const box[16] = {
		[0] = " ",
		[UP] = "\u2502",
		[DOWN] = "\u2502",
		[UP | DOWN] = "\u2502",
		[LEFT] = "\u2500",
		[RIGHT] = "\u2500",
		[LEFT | RIGHT] = "\u2500",
		[UP | LEFT] = "\u2518",
		[UP | RIGHT] = "\u2514",
		[DOWN | LEFT] = "\u2510",
		[DOWN | RIGHT] = "\u250c",
		[UP | DOWN | LEFT] = "\u2524",
		[UP | DOWN | RIGHT] = "\u251c",
		[LEFT | RIGHT | UP] = "\u2534",
		[LEFT | RIGHT | DOWN] = "\u252c",
		[UP | DOWN | LEFT | RIGHT] = "\u253c",
	};
	unsigned lines = cell->lines & 15u;

	if (cell->lines & ARROW)
		return use_unicode ? "\u25bc" : "v";
	if (use_unicode)
		return box[lines];
	if (!lines)
		return " ";
	if (!(lines & (LEFT | RIGHT)))
		return "|";
	return lines & (UP | DOWN) ? "+" : "-";
}

static void print_grid(const struct view *view, const struct cell *grid, int rows)
{
	for (int row = 0; row < rows; row++) {
		const struct cell *cells = grid + row * view->width;
		int last = view->width - 1;

		while (last >= 0 && !cells[last].lines)
			last--;
		for (int column = 0; column <= last; column++)
			fputs(cell_text(&cells[column], view->use_unicode), view->out);
		fputc('\n', view->out);
	}
}

void drawing_print_edges(const struct drawing *drawing, int l)
{
	const struct drawing_layer *layer = &drawing->layers[l];
	struct track tracks[DRAWING_MAX_NODES];
	int width = drawing->view->width, rows;
	struct cell *grid;

	for (int i = 0; i < layer->num; i++)
		tracks[i] = make_track(drawing, layer->nodes[i]);
	rows = assign_rows(tracks, (size_t)layer->num) + 2;
	grid = arena_array(drawing->view->arena, (size_t)(rows * width), sizeof(*grid));
	for (int i = 0; i < layer->num; i++)
		if (tracks[i].row >= 0)
			draw_track(grid, width, &tracks[i]);
	for (int i = 0; i < layer->num; i++) {
		const struct drawing_node *node = tracks[i].node;
		int row = tracks[i].row;
		bool has_edges = false;

		for (size_t e = 0; e < drawing->num_edges; e++) {
			const struct drawing_edge *edge = &drawing->edges[e];

			if (edge->from != node)
				continue;
			has_edges = true;
			draw_vertical(grid, width, node, edge->port, row < 0 ? 0 : row + 1,
				      rows - 1);
			if (edge->to->label)
				grid[(rows - 1) * width + edge->port].lines |= ARROW;
		}
		if (has_edges && row >= 0)
			draw_vertical(grid, width, node, drawing_center(node), 0, row + 1);
	}
	print_grid(drawing->view, grid, rows);
}

void drawing_print_layer(const struct drawing *drawing, int l)
{
	const struct view *view = drawing->view;
	int column = 0;

	for (int i = 0; i < drawing->layers[l].num; i++) {
		const struct drawing_node *node = drawing->layers[l].nodes[i];
		const char *text = node->label ? node->label : view->use_unicode ? "\u2502" : "|";

		fprintf(view->out, "%*s%s", node->left - column, "", text);
		column = node->left + (int)text_columns(text);
	}
	fputc('\n', view->out);
}
