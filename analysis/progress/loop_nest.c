/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/progress/loop_nest.h"

#define NO_NODE UINT32_MAX

/* A node on the path of the search, with the next of its successors to look at. */
struct visit {
	uint32_t node;
	size_t next;
};

struct search {
	const struct graph *graph;
	uint32_t *header; /* of the innermost loop around the node, the node's own apart */
	uint32_t *depth;  /* on the path of the search, from 1; 0: not on it */
	uint32_t *order;  /* nodes as they were reached */
	size_t num_order;
	bool *is_reached, *is_header;
	bool *is_irreducible; /* of headers */
	struct visit *path;
	uint32_t *postorder; /* nodes as they were left */
	size_t num_left;
};

/* `node` lies in the loop of `header`: merge it into the chain of headers, sorted by depth. */
static void tag_header(struct search *s, uint32_t node, uint32_t header)
{
	if (node == header || header == NO_NODE)
		return;
	while (s->header[node] != NO_NODE) {
		uint32_t inner = s->header[node];

		if (inner == header)
			return;
		if (s->depth[inner] < s->depth[header]) {
			s->header[node] = header;
			node = header;
			header = inner;
		} else {
			node = inner;
		}
	}
	s->header[node] = header;
}

/* An edge from the path to `node`, which has been left: an entry besides its header into each loop
 * around that has been left, too. */
static void meet_left_node(struct search *s, uint32_t from, uint32_t node)
{
	uint32_t header = s->header[node];

	while (header != NO_NODE && !s->depth[header]) {
		s->is_irreducible[header] = true;
		header = s->header[header];
	}
	tag_header(s, from, header);
}

static void reach(struct search *s, uint32_t node, uint32_t depth)
{
	s->is_reached[node] = true;
	s->depth[node] = depth;
	s->order[s->num_order++] = node;
	s->path[depth - 1] = (struct visit){.node = node};
}

static void search_from(struct search *s, uint32_t root)
{
	uint32_t depth = 1;

	reach(s, root, depth);
	while (depth > 0) {
		struct visit *visit = &s->path[depth - 1];
		uint32_t node = visit->node;
		size_t num;
		const uint32_t *successors = graph_successors(s->graph, node, &num);

		if (visit->next == num) {
			s->depth[node] = 0;
			s->postorder[s->num_left++] = node;
			if (--depth > 0)
				tag_header(s, s->path[depth - 1].node, s->header[node]);
			continue;
		}

		uint32_t next = successors[visit->next++];

		if (!s->is_reached[next]) {
			reach(s, next, ++depth);
		} else if (s->depth[next]) {
			s->is_header[next] = true;
			tag_header(s, node, next);
		} else {
			meet_left_node(s, node, next);
		}
	}
}

/* Headers in the order reached: the header of an outer loop is reached before those inside. */
static void collect_loops(struct arena *arena, const struct search *s, struct loop_nest *nest)
{
	size_t capacity = 0;

	for (size_t i = 0; i < s->num_order; i++) {
		uint32_t node = s->order[i];
		uint32_t around =
			s->header[node] == NO_NODE ? LOOP_NONE : nest->loop_of[s->header[node]];

		nest->loop_of[node] = around;
		if (!s->is_header[node])
			continue;
		nest->loops = arena_grow(arena, nest->loops, nest->num_loops, &capacity,
					 sizeof(*nest->loops));
		nest->loop_of[node] = (uint32_t)nest->num_loops;
		nest->loops[nest->num_loops++] = (struct loop){
			.header = node,
			.parent = around,
			.depth = around == LOOP_NONE ? 0 : nest->loops[around].depth + 1,
			.is_irreducible = s->is_irreducible[node],
		};
	}
}

struct loop_nest *loop_nest_create(struct arena *arena, const struct graph *graph, uint32_t root)
{
	size_t num = graph_num_nodes(graph);
	struct loop_nest *nest = arena_alloc(arena, sizeof(*nest));
	struct search s = {
		.graph = graph,
		.header = arena_array(arena, num, sizeof(*s.header)),
		.depth = arena_array(arena, num, sizeof(*s.depth)),
		.order = arena_array(arena, num, sizeof(*s.order)),
		.is_reached = arena_array(arena, num, sizeof(*s.is_reached)),
		.is_header = arena_array(arena, num, sizeof(*s.is_header)),
		.is_irreducible = arena_array(arena, num, sizeof(*s.is_irreducible)),
		.path = arena_array(arena, num, sizeof(*s.path)),
		.postorder = arena_array(arena, num, sizeof(*s.postorder)),
	};

	for (size_t i = 0; i < num; i++)
		s.header[i] = NO_NODE;
	if (root < num)
		search_from(&s, root);
	nest->postorder = s.postorder;
	nest->num_reachable = s.num_left;
	for (uint32_t node = 0; node < num; node++)
		if (!s.is_reached[node])
			search_from(&s, node);
	nest->loop_of = arena_array(arena, num, sizeof(*nest->loop_of));
	collect_loops(arena, &s, nest);
	return nest;
}

bool loop_nest_contains(const struct loop_nest *nest, uint32_t loop, uint32_t node)
{
	uint32_t around = nest->loop_of[node];

	while (around != LOOP_NONE && nest->loops[around].depth > nest->loops[loop].depth)
		around = nest->loops[around].parent;
	return around == loop;
}

uint32_t loop_nest_common(const struct loop_nest *nest, uint32_t node_a, uint32_t node_b)
{
	uint32_t a = nest->loop_of[node_a], b = nest->loop_of[node_b];

	while (a != b && a != LOOP_NONE && b != LOOP_NONE) {
		if (nest->loops[a].depth >= nest->loops[b].depth)
			a = nest->loops[a].parent;
		else
			b = nest->loops[b].parent;
	}
	return a == b ? a : LOOP_NONE;
}
