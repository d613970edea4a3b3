/* SPDX-License-Identifier: BSD-3-Clause
 * Deadlocks: the strongly connected components of what is stuck from which no edge leads to another
 * one. All that is stuck leads to one of these, or to a rank that has left. Components are found by
 * Tarjan's algorithm ("Depth-first search and linear graph algorithms", SIAM J. Comput. 1972), with
 * a stack of its own in place of recursion. */
#include <stdlib.h>
#include <string.h>

#include "analysis/waits/waitfor_private.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"

/* Lanes from which a shortest cycle is looked for. */
enum { MAX_STARTS = 16 };

struct finder {
	struct waitfor *w;
	const struct wait_graph *graph;
	const bool *is_released;
	bool polls_on;
	uint32_t *number, *low; /* [num_nodes] 0: not visited yet */
	uint32_t *stack, *path; /* nodes without a component; the way from the root */
	size_t *next_edge;      /* [num_nodes] */
	size_t num_stack, num_path;
	uint32_t num_visited;
	uint32_t *set_of;       /* [num_nodes] deadlock it is in or waits for, or WAITFOR_NONE */
	uint32_t *component_of; /* [num_nodes] number of the component's first node; 0: none yet */
	size_t capacity;        /* of deadlocks */
};

/* ---- The cycle to print ---- */

static bool is_in_set(const struct finder *f, uint32_t node, uint32_t component)
{
	return f->component_of[node] == component;
}

/* Does it lead from a receive from any rank to the receiver, who is one of the senders that
 * would do? */
static bool is_own_message(const struct finder *f, uint32_t start, const uint32_t *before,
			   uint32_t node, uint32_t to)
{
	const struct waitfor_private *p = f->w->private;

	return node >= p->first_any && node < p->first_lock && before[node] == start &&
	       to == p->first_rank + (uint32_t)p->jm->lanes[start].rank;
}

/* The shortest way from a lane back to itself inside a component: the nodes in order, without
 * the lane at the end. takes_own: a rank that receives from any one may be who is to send.
 * `before` and `queue` have room for all nodes; what is written to `before` is put back. 0:
 * there is none. */
static size_t find_way_back(const struct finder *f, uint32_t start, bool takes_own,
			    uint32_t *before, uint32_t *queue, uint32_t **way_ret)
{
	uint32_t component = f->component_of[start];
	size_t head = 0, tail = 0, length = 0;
	uint32_t last = WAITFOR_NONE;

	queue[tail++] = start;
	while (head < tail && last == WAITFOR_NONE) {
		uint32_t node = queue[head++];

		for (size_t e = f->graph->first[node]; e < f->graph->first[node + 1]; e++) {
			uint32_t to = f->graph->to[e];

			if (to == start) {
				last = node;
				break;
			}
			if (!is_in_set(f, to, component) || before[to] != WAITFOR_NONE ||
			    (!takes_own && is_own_message(f, start, before, node, to)))
				continue;
			before[to] = node;
			queue[tail++] = to;
		}
	}
	for (uint32_t n = last; n != WAITFOR_NONE; n = n == start ? WAITFOR_NONE : before[n])
		length++;
	*way_ret = xcalloc(length + 1, sizeof(**way_ret));
	for (uint32_t n = last, i = (uint32_t)length; i > 0; n = before[n])
		(*way_ret)[--i] = n;
	while (tail > 0)
		before[queue[--tail]] = WAITFOR_NONE;
	return length;
}

/* The lanes on a way, each with the need by which it goes on; the way is closed. */
static struct waitfor_step *make_steps(const struct waitfor *w, const uint32_t *way, size_t length,
				       size_t *num_ret)
{
	struct waitfor_step *steps = xcalloc(length, sizeof(*steps));
	size_t num = 0;

	for (size_t i = 0; i < length; i++) {
		if (way[i] >= w->private->first_rank)
			continue;
		steps[num++] = (struct waitfor_step){
			.lane = way[i],
			.rank = w->private->jm->lanes[way[i]].rank,
			.need = waitfor_find_need(w, way[i], way[(i + 1) % length]),
		};
	}
	*num_ret = num;
	return steps;
}

/* The shortest way back to one of the first lanes; NULL: none without own messages. The caller
 * frees. */
static uint32_t *find_shortest(const struct finder *f, const struct waitfor_deadlock *deadlock,
			       bool takes_own, uint32_t *before, uint32_t *queue,
			       size_t *length_ret)
{
	uint32_t *best = NULL, *way;

	*length_ret = SIZE_MAX;
	for (size_t i = 0; i < deadlock->num_lanes && i < MAX_STARTS; i++) {
		size_t length =
			find_way_back(f, deadlock->lanes[i], takes_own, before, queue, &way);

		if (length == 0 || length >= *length_ret) {
			free(way);
			continue;
		}
		free(best);
		best = way;
		*length_ret = length;
	}
	return best;
}

static void find_cycle(const struct finder *f, struct waitfor_deadlock *deadlock, uint32_t *before,
		       uint32_t *queue)
{
	size_t best_length;
	uint32_t *best = find_shortest(f, deadlock, false, before, queue, &best_length);

	if (!best)
		best = find_shortest(f, deadlock, true, before, queue, &best_length);
	deadlock->cycle = make_steps(f->w, best, best_length, &deadlock->num_cycle);
	free(best);
}

/* ---- Components ---- */

static bool is_choice(const struct finder *f, uint32_t node)
{
	enum node_mode mode = (enum node_mode)f->graph->mode[node];

	return (mode == NODE_ANY || mode == NODE_POLLS_ANY) &&
	       f->graph->first[node + 1] - f->graph->first[node] > 1;
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The nodes of a component that is a deadlock. */
static uint32_t add_deadlock(struct finder *f, const uint32_t *nodes, size_t num)
{
	struct waitfor *w = f->w;
	struct waitfor_deadlock *deadlock;

	w->deadlocks = xgrow(w->deadlocks, w->num_deadlocks, &f->capacity, sizeof(*w->deadlocks));
	deadlock = &w->deadlocks[w->num_deadlocks];
	*deadlock = (struct waitfor_deadlock){
		.ranks = rankset_create(),
		.behind = rankset_create(),
		.lanes = xcalloc(num, sizeof(*deadlock->lanes)),
		.is_likely = f->polls_on,
	};
	for (size_t i = 0; i < num; i++) {
		deadlock->has_or |= is_choice(f, nodes[i]);
		if (nodes[i] >= w->private->first_rank)
			continue;
		deadlock->lanes[deadlock->num_lanes++] = nodes[i];
		rankset_add(deadlock->ranks, w->private->jm->lanes[nodes[i]].rank);
	}
	qsort(deadlock->lanes, deadlock->num_lanes, sizeof(*deadlock->lanes), compare_numbers);
	return (uint32_t)w->num_deadlocks++;
}

/* The pass over what is only likely stuck adds those in which somebody polls. */
static bool is_new(const struct finder *f, const uint32_t *nodes, size_t num)
{
	bool has_poll = false;

	for (size_t i = 0; i < num; i++) {
		enum node_mode mode = (enum node_mode)f->graph->mode[nodes[i]];

		has_poll |= mode == NODE_POLLS_ALL || mode == NODE_POLLS_ANY;
	}
	return has_poll || !f->polls_on;
}

static void close_component(struct finder *f, uint32_t root)
{
	size_t begin = f->num_stack;
	uint32_t set = WAITFOR_NONE;
	bool is_cycle, leads_on = false;
	const uint32_t *nodes;
	size_t num;

	do
		begin--;
	while (f->stack[begin] != root);
	nodes = f->stack + begin;
	num = f->num_stack - begin;
	f->num_stack = begin;
	for (size_t i = 0; i < num; i++)
		f->component_of[nodes[i]] = f->number[root];
	is_cycle = num > 1;
	for (size_t i = 0; i < num; i++) {
		for (size_t e = f->graph->first[nodes[i]]; e < f->graph->first[nodes[i] + 1]; e++) {
			uint32_t to = f->graph->to[e];

			if (f->is_released[to])
				continue;
			is_cycle |= to == nodes[i];
			if (f->component_of[to] == f->number[root])
				continue;
			leads_on = true;
			if (set == WAITFOR_NONE)
				set = f->set_of[to];
		}
	}
	if (is_cycle && !leads_on && is_new(f, nodes, num))
		set = add_deadlock(f, nodes, num);
	for (size_t i = 0; i < num; i++)
		f->set_of[nodes[i]] = set;
}

static void enter(struct finder *f, uint32_t node)
{
	f->number[node] = f->low[node] = ++f->num_visited;
	f->next_edge[node] = f->graph->first[node];
	f->stack[f->num_stack++] = node;
	f->path[f->num_path++] = node;
}

static void visit(struct finder *f, uint32_t root)
{
	enter(f, root);
	while (f->num_path > 0) {
		uint32_t node = f->path[f->num_path - 1], to;

		if (f->next_edge[node] < f->graph->first[node + 1]) {
			to = f->graph->to[f->next_edge[node]++];
			if (f->is_released[to] || f->component_of[to])
				continue;
			if (!f->number[to])
				enter(f, to);
			else if (f->number[to] < f->low[node])
				f->low[node] = f->number[to];
			continue;
		}
		f->num_path--;
		if (f->low[node] == f->number[node])
			close_component(f, node);
		if (f->num_path > 0 && f->low[node] < f->low[f->path[f->num_path - 1]])
			f->low[f->path[f->num_path - 1]] = f->low[node];
	}
}

/* ---- All of it ---- */

/* Stuck ranks that are in none wait for one. */
static void add_behind(struct finder *f, size_t first_set)
{
	struct waitfor *w = f->w;

	for (uint32_t l = 0; l < w->num_lanes; l++) {
		uint32_t set = f->is_released[l] ? WAITFOR_NONE : f->set_of[l];

		if (set == WAITFOR_NONE || set < first_set)
			continue;
		if (!rankset_contains(w->deadlocks[set].ranks, w->private->jm->lanes[l].rank))
			rankset_add(w->deadlocks[set].behind, w->private->jm->lanes[l].rank);
	}
}

static void find_sets(struct waitfor *w, const bool *is_released, bool polls_on, size_t *capacity)
{
	size_t num = w->private->graph.num_nodes, first_set = w->num_deadlocks;
	struct finder f = {
		.w = w,
		.graph = &w->private->graph,
		.is_released = is_released,
		.polls_on = polls_on,
		.capacity = *capacity,
	};

	f.number = xcalloc(num, sizeof(*f.number));
	f.low = xcalloc(num, sizeof(*f.low));
	f.stack = xcalloc(num, sizeof(*f.stack));
	f.path = xcalloc(num, sizeof(*f.path));
	f.next_edge = xcalloc(num, sizeof(*f.next_edge));
	f.set_of = xcalloc(num, sizeof(*f.set_of));
	f.component_of = xcalloc(num, sizeof(*f.component_of));
	memset(f.set_of, 0xff, num * sizeof(*f.set_of));
	for (uint32_t n = 0; n < num; n++)
		if (!is_released[n] && !f.number[n])
			visit(&f, n);
	add_behind(&f, first_set);
	memset(f.low, 0xff, num * sizeof(*f.low));
	for (size_t i = first_set; i < w->num_deadlocks; i++)
		find_cycle(&f, &w->deadlocks[i], f.low, f.stack);
	*capacity = f.capacity;
	free(f.number);
	free(f.low);
	free(f.stack);
	free(f.path);
	free(f.next_edge);
	free(f.set_of);
	free(f.component_of);
}

static int compare_deadlocks(const void *a, const void *b)
{
	const struct waitfor_deadlock *x = a, *y = b;
	int num = rankset_count(y->ranks) - rankset_count(x->ranks);

	if (x->is_likely != y->is_likely)
		return x->is_likely - y->is_likely;
	return num ? num : rankset_first(x->ranks) - rankset_first(y->ranks);
}

static bool has_stuck(const struct waitfor *w, const bool *is_released)
{
	for (size_t l = 0; l < w->num_lanes; l++)
		if (!is_released[l] && w->lanes[l].state != WAITFOR_LEFT)
			return true;
	return false;
}

void waitfor_find_deadlocks(struct waitfor *w)
{
	const struct waitfor_private *p = w->private;
	size_t capacity = 0;

	if (has_stuck(w, p->is_released))
		find_sets(w, p->is_released, false, &capacity);
	if (has_stuck(w, p->is_likely_released))
		find_sets(w, p->is_likely_released, true, &capacity);
	if (w->num_deadlocks > 0)
		qsort(w->deadlocks, w->num_deadlocks, sizeof(*w->deadlocks), compare_deadlocks);
}
