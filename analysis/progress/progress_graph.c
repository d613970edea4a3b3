/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/progress/eqgroup.h"
#include "model/arena.h"

/* Comparing all pairs and reducing the order is cubic (in words of 64 groups). With more groups
 * than this, edges are drawn to the least progressed groups only. */
enum { MAX_REDUCED = 1024 };

struct builder {
	const struct eqgroups *groups;
	struct progress_graph *graph;
	struct arena *scratch;
	size_t capacity;
};

static enum progress_order compare(const struct builder *b, size_t i, size_t k, uint32_t *loop_ret)
{
	return progress_explain(b->groups->progress, b->groups->groups[i].actors[0],
				b->groups->groups[k].actors[0], loop_ret);
}

static void add_edge(struct builder *b, size_t from, size_t to)
{
	struct progress_graph *graph = b->graph;
	struct progress_edge edge = {.from = (uint32_t)from, .to = (uint32_t)to};

	compare(b, from, to, &edge.loop);
	*ARENA_PUSH(b->groups->progress->arena, graph->edges, graph->num_edges, b->capacity) = edge;
}

static bool has_bit(const uint64_t *bits, size_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

static void add_reduced_edges(struct builder *b)
{
	size_t num = b->groups->num_groups, words = (num + 63) / 64;
	/* Row i: the groups that are less progressed than group i. */
	uint64_t *less = arena_array(b->scratch, num * words, sizeof(*less));
	uint64_t *implied = arena_array(b->scratch, words, sizeof(*implied));
	uint32_t loop;

	for (size_t i = 0; i < num; i++) {
		b->graph->is_least[i] = true;
		for (size_t k = 0; k < num; k++) {
			if (compare(b, k, i, &loop) != PROGRESS_LESS)
				continue;
			less[i * words + k / 64] |= UINT64_C(1) << k % 64;
			b->graph->is_least[i] = false;
		}
	}
	for (size_t i = 0; i < num; i++) {
		memset(implied, 0, words * sizeof(*implied));
		for (size_t k = 0; k < num; k++)
			for (size_t w = 0; has_bit(&less[i * words], k) && w < words; w++)
				implied[w] |= less[k * words + w];
		for (size_t k = 0; k < num; k++)
			if (has_bit(&less[i * words], k) && !has_bit(implied, k))
				add_edge(b, i, k);
	}
}

/* Keep the least of the groups seen so far; each group is compared with these alone. */
static void add_edges_to_least(struct builder *b)
{
	size_t num = b->groups->num_groups, num_least = 0;
	uint32_t *least = arena_array(b->scratch, num, sizeof(*least));
	uint32_t loop;

	for (uint32_t i = 0; i < num; i++) {
		bool is_least = true;
		size_t kept = 0;

		for (size_t k = 0; k < num_least; k++) {
			enum progress_order order = compare(b, i, least[k], &loop);

			if (order == PROGRESS_MORE)
				is_least = false;
			if (order != PROGRESS_LESS)
				least[kept++] = least[k];
		}
		num_least = kept;
		if (is_least)
			least[num_least++] = i;
	}
	for (size_t k = 0; k < num_least; k++)
		b->graph->is_least[least[k]] = true;
	for (size_t i = 0; i < num; i++)
		for (size_t k = 0; k < num_least; k++)
			if (compare(b, i, least[k], &loop) == PROGRESS_MORE)
				add_edge(b, i, least[k]);
}

struct progress_graph *progress_graph_create(const struct progress *progress,
					     const struct eqgroups *groups)
{
	struct arena *arena = progress->arena;
	struct progress_graph *graph = arena_alloc(arena, sizeof(*graph));
	struct builder b = {.groups = groups, .graph = graph, .scratch = arena_create()};

	graph->groups = groups;
	graph->is_least = arena_array(arena, groups->num_groups, sizeof(*graph->is_least));
	if (groups->num_groups <= MAX_REDUCED)
		add_reduced_edges(&b);
	else
		add_edges_to_least(&b);
	arena_destroy(b.scratch);
	return graph;
}
