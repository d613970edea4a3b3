/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/xalloc.h"
#include "render/draw/ascii_graph.h"
#include "render/text/text.h"
#include "render/view.h"
#include "tests/unit/unit.h"
#include "tests/unit/with_arena.h"

static int print(const struct ascii_graph_node *nodes, size_t num_nodes,
		 const struct ascii_graph_edge *edges, size_t num_edges, int width,
		 bool use_unicode, char **text_ret)
{
	struct view view = {.arena = arena, .width = width, .use_unicode = use_unicode};
	size_t length;
	int result;

	view.out = open_memstream(text_ret, &length);
	result = ascii_graph_print(&view, nodes, num_nodes, edges, num_edges);
	fclose(view.out);
	return result;
}

static void check(const struct ascii_graph_node *nodes, size_t num_nodes,
		  const struct ascii_graph_edge *edges, size_t num_edges, bool use_unicode,
		  const char *expected)
{
	char *text;

	assert_int_equal(print(nodes, num_nodes, edges, num_edges, 80, use_unicode, &text), 0);
	assert_string_equal(text, expected);
	free(text);
}

static void test_chain(void **state)
{
	static const struct ascii_graph_node nodes[] = {
		{"509:[0-98,102-511] MPI_Allgather", false},
		{"2:[99,101] MPI_Waitall", false},
		{"1:[100] compute_forces()", true},
	};
	static const struct ascii_graph_edge edges[] = {{0, 1}, {1, 2}};

	(void)state;
	check(nodes, 3, edges, 2, false,
	      "  509:[0-98,102-511] MPI_Allgather\n"
	      "                  |\n"
	      "                  v\n"
	      "       2:[99,101] MPI_Waitall\n"
	      "                  |\n"
	      "                  v\n"
	      "     1:[100] compute_forces()  *\n");
	check(nodes, 1, NULL, 0, false, "  509:[0-98,102-511] MPI_Allgather\n");
	check(nodes, 0, NULL, 0, false, "");
}

static void test_fork(void **state)
{
	static const struct ascii_graph_node nodes[] = {
		{"6:[0-5] MPI_Allgather", false},
		{"1:[6] MPI_Send", true},
		{"1:[7] MPI_Recv", true},
	};
	static const struct ascii_graph_edge edges[] = {{0, 1}, {0, 2}};

	(void)state;
	check(nodes, 3, edges, 2, false,
	      "         6:[0-5] MPI_Allgather\n"
	      "                   |\n"
	      "          +--------+----------+\n"
	      "          v                   v\n"
	      "  1:[6] MPI_Send  *   1:[7] MPI_Recv  *\n");
	check(nodes, 3, edges, 2, true,
	      "         6:[0-5] MPI_Allgather\n"
	      "                   │\n"
	      "          ┌────────┴──────────┐\n"
	      "          ▼                   ▼\n"
	      "  1:[6] MPI_Send  *   1:[7] MPI_Recv  *\n");
}

static void test_refused(void **state)
{
	static const struct ascii_graph_edge cycle[] = {{0, 1}, {1, 0}}, self[] = {{0, 0}};
	struct ascii_graph_node nodes[12];
	char *text;

	(void)state;
	for (size_t n = 0; n < NUM_OF(nodes); n++)
		nodes[n] = (struct ascii_graph_node){"a group of ranks", false};
	assert_int_equal(print(nodes, 2, cycle, 2, 80, false, &text), -1);
	assert_string_equal(text, "");
	free(text);
	assert_int_equal(print(nodes, 1, self, 1, 80, false, &text), -1);
	free(text);
	/* Side by side: six fit into 80 columns, twelve do not. */
	assert_int_equal(print(nodes, 6, NULL, 0, 80, false, &text), 0);
	free(text);
	assert_int_equal(print(nodes, 12, NULL, 0, 80, false, &text), -1);
	assert_string_equal(text, "");
	free(text);
}

/* ---- Random graphs: every arrow is followed back to where it comes from ---- */

enum { MAX_LINES = 400, MAX_COLUMNS = 200, NUM_NODES = 10 };

/* A character of the drawing: lines that leave it, or the number of the node written there. */
enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8, ARROW = 16, LABEL = 32 };

struct sheet {
	unsigned lines[MAX_LINES][MAX_COLUMNS];
	int node[MAX_LINES][MAX_COLUMNS];
	int num_lines;
};

static unsigned lines_of(const char *at)
{
	static const struct {
		const char *text;
		unsigned lines;
	} known[] = {
		{"\u2502", UP | DOWN},
		{"\u2500", LEFT | RIGHT},
		{"\u2518", UP | LEFT},
		{"\u2514", UP | RIGHT},
		{"\u2510", DOWN | LEFT},
		{"\u250c", DOWN | RIGHT},
		{"\u2524", UP | DOWN | LEFT},
		{"\u251c", UP | DOWN | RIGHT},
		{"\u2534", LEFT | RIGHT | UP},
		{"\u252c", LEFT | RIGHT | DOWN},
		{"\u253c", UP | DOWN | LEFT | RIGHT},
		{"\u25bc", ARROW},
	};

	for (size_t i = 0; i < NUM_OF(known); i++) {
		if (!strncmp(at, known[i].text, 3))
			return known[i].lines;
	}
	return 0;
}

/* Labels are "<number>" and letters, such as "<3>aaaa". */
static struct sheet *read_sheet(char *text)
{
	struct sheet *sheet = xcalloc(1, sizeof(*sheet));
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n")) && sheet->num_lines < MAX_LINES) {
		int column = 0, node = -1;

		for (char *at = line; *at; column++) {
			int row = sheet->num_lines;
			unsigned lines = lines_of(at);

			assert_in_range(column, 0, MAX_COLUMNS - 1);
			if (*at == '<')
				node = atoi(at + 1);
			else if (*at == ' ')
				node = -1;
			sheet->node[row][column] = node;
			sheet->lines[row][column] =
				*at != ' ' && node >= 0 ? (unsigned)LABEL : lines;
			at += *at & 0x80 ? 3 : 1; /* box drawing or an ellipsis */
		}
		sheet->num_lines++;
	}
	return sheet;
}

/* The column where the horizontal line through (row, column) is joined from above. */
static int find_trunk(const struct sheet *sheet, int row, int column)
{
	int trunk = -1;

	for (int step = -1; step <= 1; step += 2) {
		unsigned ahead = step < 0 ? LEFT : RIGHT;
		int at = column;

		for (;;) {
			unsigned lines = sheet->lines[row][at];

			/* Lines that only cross are not joined. */
			if (lines != (UP | DOWN)) {
				if ((lines & UP) && (at != column || step < 0)) {
					assert_int_equal(trunk, -1);
					trunk = at;
				}
				if (!(lines & ahead))
					break;
			}
			at += step;
		}
	}
	assert_int_not_equal(trunk, -1);
	return trunk;
}

/* The node that the arrow at (row, column) comes from. */
static int follow(const struct sheet *sheet, int row, int column)
{
	for (row--; row >= 0; row--) {
		unsigned lines = sheet->lines[row][column];

		if (lines & LABEL)
			return sheet->node[row][column];
		assert_true(lines & DOWN);
		if (lines & (LEFT | RIGHT))
			column = find_trunk(sheet, row, column);
	}
	fail();
	return -1;
}

static void check_arrows(const struct sheet *sheet, const bool *is_edge)
{
	bool is_found[NUM_NODES * NUM_NODES] = {false};

	for (int row = 0; row < sheet->num_lines; row++) {
		for (int column = 0; column < MAX_COLUMNS; column++) {
			int from, to;

			if (!(sheet->lines[row][column] & ARROW))
				continue;
			from = follow(sheet, row, column);
			assert_true(sheet->lines[row + 1][column] & LABEL);
			to = sheet->node[row + 1][column];
			assert_true(is_edge[from * NUM_NODES + to]);
			assert_false(is_found[from * NUM_NODES + to]);
			is_found[from * NUM_NODES + to] = true;
		}
	}
	assert_memory_equal(is_found, is_edge, sizeof(is_found));
}

static void test_random(void **state)
{
	int num_drawn = 0;

	(void)state;
	srand(3);
	for (int round = 0; round < 400; round++) {
		char labels[NUM_NODES][40];
		struct ascii_graph_node nodes[NUM_NODES];
		struct ascii_graph_edge edges[NUM_NODES * NUM_NODES];
		bool is_edge[NUM_NODES * NUM_NODES] = {false};
		size_t num_edges = 0;
		struct sheet *sheet;
		char *text;

		for (int n = 0; n < NUM_NODES; n++) {
			snprintf(labels[n], sizeof(labels[n]), "<%d>%.*s", n, rand() % 20 + 4,
				 "abcdefghijklmnopqrstuvwxyz");
			nodes[n] = (struct ascii_graph_node){labels[n], false};
		}
		for (int from = 0; from < NUM_NODES; from++) {
			for (int to = from + 1; to < NUM_NODES; to++) {
				if (rand() % (3 + round % 8))
					continue;
				is_edge[from * NUM_NODES + to] = true;
				edges[num_edges++] =
					(struct ascii_graph_edge){(uint32_t)from, (uint32_t)to};
			}
		}
		if (print(nodes, NUM_NODES, edges, num_edges, 120, true, &text) == 0) {
			sheet = read_sheet(text);
			check_arrows(sheet, is_edge);
			free(sheet);
			num_drawn++;
		} else {
			assert_string_equal(text, "");
		}
		free(text);
	}
	print_message("drawn: %d of 400\n", num_drawn);
	assert_in_range(num_drawn, 300, 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, begin_arena, end_arena);
}
