/* SPDX-License-Identifier: BSD-3-Clause
 * The graph and its least fixpoint, from what is released backwards: each node and edge once. */
#include <stdlib.h>
#include <string.h>

#include "analysis/waits/waitfor_private.h"
#include "model/xalloc.h"

/* ---- The graph ---- */

/* The graph is made in two passes over all edges: the first counts, the second fills. */
struct maker {
	struct waitfor *w;
	struct wait_graph *graph;
	bool is_filling;
	size_t num_edges;
};

static void add_edge(struct maker *m, uint32_t to)
{
	if (m->is_filling)
		m->graph->to[m->num_edges] = to;
	m->num_edges++;
}

/* The needs that hold a lane up, and how: analysis/waits/waitfor.h, struct waitfor_need. */
static enum node_mode add_needs(struct maker *m, const struct waitfor_lane *lane)
{
	const struct waitfor_need *needs = m->w->needs + lane->first_need;
	size_t num_certain = 0, num_weak = 0;
	bool is_complete = lane->gap == WAITFOR_COMPLETE;
	bool takes_all;

	for (uint32_t i = 0; i < lane->num_needs; i++) {
		num_certain += needs[i].is_certain;
		num_weak += needs[i].is_weak;
	}
	takes_all = !lane->is_or && num_certain > 0;
	/* Without one that is certain, any of the others may be what it waits for; unless it is
	 * something that is not known. */
	if (!takes_all && (!is_complete || num_weak > 0 || lane->num_needs == 0))
		return NODE_FREE;
	for (uint32_t i = 0; i < lane->num_needs; i++)
		if (!takes_all || needs[i].is_certain)
			add_edge(m, needs[i].node);
	return takes_all ? NODE_ALL : NODE_ANY;
}

static enum node_mode add_lane(struct maker *m, uint32_t l)
{
	const struct waitfor_lane *lane = &m->w->lanes[l];
	enum node_mode mode;

	if (lane->state == WAITFOR_LEFT)
		return NODE_ANY;
	if (lane->state != WAITFOR_BLOCKED && lane->state != WAITFOR_POLLS)
		return NODE_FREE;
	mode = add_needs(m, lane);
	if (lane->state == WAITFOR_POLLS && mode != NODE_FREE)
		return mode == NODE_ALL ? NODE_POLLS_ALL : NODE_POLLS_ANY;
	return mode;
}

static enum node_mode add_rank(struct maker *m, size_t rank)
{
	const struct waitfor_private *p = m->w->private;
	const struct rank_lanes *lanes = &p->ranks[rank];

	if (p->has_left[rank])
		return NODE_ANY;
	if (lanes->num == 0)
		return NODE_FREE;
	for (uint32_t l = 0; l < lanes->num; l++)
		add_edge(m, lanes->first + l);
	return NODE_ANY;
}

static enum node_mode add_collective(struct maker *m, size_t c)
{
	const struct waitfor_private *p = m->w->private;
	const struct collective_node *node = &p->collectives[c];

	if (node->may_go_on || m->w->collectives[c].num_missing == 0)
		return NODE_FREE;
	for (size_t i = 0; i < node->num_missing; i++)
		add_edge(m, p->first_rank + (uint32_t)p->missing[node->first_missing + i]);
	if (node->chain != WAITFOR_NONE && m->w->collectives[node->chain].num_missing > 0)
		add_edge(m, p->first_collective + node->chain);
	return m->w->collectives[c].needs_all ? NODE_ALL : NODE_ANY;
}

static enum node_mode add_any(struct maker *m, size_t comm)
{
	const struct waitfor_private *p = m->w->private;
	const struct job_comm *jc = &m->w->comms->comms[comm];

	if (!p->is_any_used[comm])
		return NODE_FREE;
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < jc->sizes[side]; i++)
			if (jc->groups[side][i] < 0)
				return NODE_FREE;
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < jc->sizes[side]; i++)
			add_edge(m, p->first_rank + (uint32_t)jc->groups[side][i]);
	return NODE_ANY;
}

static enum node_mode add_lock(struct maker *m, size_t index)
{
	const struct waitfor_private *p = m->w->private;
	const struct lock_node *lock = &p->locks[index];

	if (lock->may_go_on)
		return NODE_FREE;
	for (size_t i = 0; i < lock->num_holders; i++)
		add_edge(m, p->first_rank + (uint32_t)p->holder_ranks[lock->first_holder + i]);
	if (lock->chain != WAITFOR_NONE && p->locks[lock->chain].num_holders > 0)
		add_edge(m, p->first_lock + lock->chain);
	return NODE_ANY;
}

static void add_nodes(struct maker *m)
{
	const struct waitfor_private *p = m->w->private;

	m->num_edges = 0;
	for (uint32_t n = 0; n < m->graph->num_nodes; n++) {
		enum node_mode mode;

		m->graph->first[n] = m->num_edges;
		if (n < p->first_rank)
			mode = add_lane(m, n);
		else if (n < p->first_collective)
			mode = add_rank(m, n - p->first_rank);
		else if (n < p->first_any)
			mode = add_collective(m, n - p->first_collective);
		else if (n < p->first_lock)
			mode = add_any(m, n - p->first_any);
		else
			mode = add_lock(m, n - p->first_lock);
		m->graph->mode[n] = (uint8_t)mode;
	}
	m->graph->first[m->graph->num_nodes] = m->num_edges;
}

void waitfor_make_graph(struct waitfor *w)
{
	struct waitfor_private *p = w->private;
	struct maker m = {.w = w, .graph = &p->graph};

	p->graph.num_nodes = p->first_lock + p->num_locks;
	p->graph.first = xcalloc(p->graph.num_nodes + 1, sizeof(*p->graph.first));
	p->graph.mode = xcalloc(p->graph.num_nodes, sizeof(*p->graph.mode));
	add_nodes(&m);
	p->graph.to = xcalloc(m.num_edges + 1, sizeof(*p->graph.to));
	m.is_filling = true;
	add_nodes(&m);
}

/* ---- Release ---- */

struct releaser {
	const struct wait_graph *graph;
	size_t *first; /* edges backwards, as in the graph */
	uint32_t *from;
	size_t *num_open; /* [num_nodes] edges to what is not released yet */
	uint32_t *queue;
	size_t num_queue;
};

static void turn_around(struct releaser *r)
{
	const struct wait_graph *graph = r->graph;
	size_t num_edges = graph->first[graph->num_nodes], *next;

	r->first = xcalloc(graph->num_nodes + 2, sizeof(*r->first));
	r->from = xcalloc(num_edges + 1, sizeof(*r->from));
	for (size_t e = 0; e < num_edges; e++)
		r->first[graph->to[e] + 2]++;
	for (size_t n = 0; n < graph->num_nodes; n++)
		r->first[n + 2] += r->first[n + 1];
	/* One ahead, so that filling moves each to its place. */
	next = r->first + 1;
	for (uint32_t n = 0; n < graph->num_nodes; n++)
		for (size_t e = graph->first[n]; e < graph->first[n + 1]; e++)
			r->from[next[graph->to[e]]++] = n;
}

static bool is_free(enum node_mode mode, bool polls_on)
{
	return mode == NODE_FREE ||
	       (!polls_on && (mode == NODE_POLLS_ALL || mode == NODE_POLLS_ANY));
}

/* Lanes that are never released; is_lane[num] NULL: none. */
struct held {
	const bool *is_lane;
	size_t num;
};

static bool is_held(const struct held *held, uint32_t node)
{
	return held->is_lane && node < held->num && held->is_lane[node];
}

static void run(struct releaser *r, bool polls_on, struct held held, bool *is_released)
{
	const struct wait_graph *graph = r->graph;

	r->num_queue = 0;
	for (uint32_t n = 0; n < graph->num_nodes; n++) {
		r->num_open[n] = graph->first[n + 1] - graph->first[n];
		is_released[n] =
			is_free((enum node_mode)graph->mode[n], polls_on) && !is_held(&held, n);
		if (is_released[n])
			r->queue[r->num_queue++] = n;
	}
	for (size_t i = 0; i < r->num_queue; i++) {
		uint32_t node = r->queue[i];

		for (size_t e = r->first[node]; e < r->first[node + 1]; e++) {
			uint32_t n = r->from[e];
			bool takes_all =
				graph->mode[n] == NODE_ALL || graph->mode[n] == NODE_POLLS_ALL;

			if (is_released[n] || is_held(&held, n) ||
			    (--r->num_open[n] > 0 && takes_all))
				continue;
			is_released[n] = true;
			r->queue[r->num_queue++] = n;
		}
	}
}

static void releaser_init(struct releaser *r, const struct wait_graph *graph)
{
	r->graph = graph;
	turn_around(r);
	r->num_open = xcalloc(graph->num_nodes, sizeof(*r->num_open));
	r->queue = xcalloc(graph->num_nodes, sizeof(*r->queue));
}

static void releaser_deinit(struct releaser *r)
{
	free(r->num_open);
	free(r->queue);
	free(r->first);
	free(r->from);
}

void waitfor_release(struct waitfor *w)
{
	struct waitfor_private *p = w->private;
	struct releaser r;

	releaser_init(&r, &p->graph);
	p->is_released = xcalloc(p->graph.num_nodes, sizeof(*p->is_released));
	p->is_likely_released = xcalloc(p->graph.num_nodes, sizeof(*p->is_likely_released));
	run(&r, false, (struct held){0}, p->is_released);
	run(&r, true, (struct held){0}, p->is_likely_released);
	releaser_deinit(&r);
	for (size_t l = 0; l < w->num_lanes; l++) {
		bool has_left = w->lanes[l].state == WAITFOR_LEFT;

		w->lanes[l].is_stuck = !has_left && !p->is_released[l];
		w->lanes[l].is_likely_stuck = !has_left && !p->is_likely_released[l];
	}
	for (size_t c = 0; c < w->num_collectives; c++) {
		w->collectives[c].is_stuck = !p->is_released[p->first_collective + c];
		w->collectives[c].is_likely_stuck = !p->is_likely_released[p->first_collective + c];
	}
}

/* Is it known of all lanes that wait what they wait for, and are they released? */
static bool are_released(const struct waitfor *w, const bool *is_released)
{
	size_t num_waiting = 0;

	for (size_t l = 0; l < w->num_lanes; l++) {
		if (w->lanes[l].state != WAITFOR_BLOCKED && w->lanes[l].state != WAITFOR_POLLS)
			continue;
		if (w->private->graph.mode[l] == NODE_FREE || !is_released[l])
			return false;
		num_waiting++;
	}
	return num_waiting > 0;
}

bool waitfor_can_do_without(const struct waitfor *w, const bool *is_lane_held)
{
	struct releaser r;
	bool *is_released = xcalloc(w->private->graph.num_nodes, sizeof(*is_released));
	bool can;

	releaser_init(&r, &w->private->graph);
	run(&r, true, (struct held){is_lane_held, w->num_lanes}, is_released);
	can = are_released(w, is_released);
	releaser_deinit(&r);
	free(is_released);
	return can;
}
