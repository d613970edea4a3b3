/* SPDX-License-Identifier: BSD-3-Clause
 * Collectives that somebody waits in, and the members that have not started them.
 *
 * Members may be missing from several collectives of a communicator: each collective has those that
 * the one before it does not have, and a chain to that. So edges are not more than the members.
 *
 * After some functions nobody goes on before all have come: these need all of the missing. In
 * others (broadcasts, reductions to a root, ...) it is not known which members a rank depends on:
 * it may go on when any of the missing comes, or when anybody who has come is still on the way. */
#include "analysis/waits/waitfor_private.h"

/* ---- Which collectives are waited in ---- */

static bool needs_all(const char *function)
{
	static const char *const names[] = {
		"Barrier",  "Allreduce",  "Alltoall",    "Allgather", "Reduce_scatter_block",
		"Comm_dup", "Comm_split", "Comm_create",
	};
	static const char *const ends[] = {"", "_c", "_init", "_init_c"};
	size_t length;

	function += strncmp(function, "MPI_", 4) == 0 ? 4 : 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		/* MPI_Ibarrier and MPI_Barrier. */
		const char *rest = function;

		if (rest[0] == 'I' && rest[1] == names[i][0] + ('a' - 'A'))
			rest++;
		length = strlen(names[i]);
		if (strncasecmp(rest, names[i], length) != 0)
			continue;
		for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++)
			if (strcmp(rest + length, ends[k]) == 0)
				return true;
	}
	return false;
}

struct collector {
	struct waitfor *w;
	bool *is_all;         /* [num_comms] all that are waited in there need all members */
	uint64_t *last;       /* [num_comms] the number added last */
	const char *function; /* the last name asked about */
	bool function_needs_all;
};

static void add_collective(struct collector *c, uint32_t l, uint32_t local, uint64_t number,
			   uint32_t site, bool has_owner)
{
	struct waitfor *w = c->w;
	struct waitfor_private *p = w->private;
	const struct job_lane *lane = &p->jm->lanes[l];
	uint32_t comm = job_comms_find(w->comms, lane->model, local);
	const char *function = p->jm->sites[lane->site_map[site]].name;

	if (comm == SEG_NO_COMM || number == 0)
		return;
	if (function != c->function) {
		c->function = function;
		c->function_needs_all = needs_all(function);
	}
	if (!has_owner) {
		c->is_all[comm] &=
			c->function_needs_all && w->comms->comms[comm].kind != SEG_COMM_INTER;
		if (c->last[comm] == number)
			return;
		c->last[comm] = number;
	}
	*ARENA_PUSH(p->arena, w->collectives, w->num_collectives, p->collectives_capacity) =
		(struct waitfor_collective){
			.comm = comm,
			.number = number,
			.function = function,
			.mismatch = WAITFOR_NONE,
			.owner = has_owner ? lane->rank : -1,
		};
}

static void add_lane(struct collector *c, uint32_t l)
{
	const struct job_lane *lane = &c->w->private->jm->lanes[l];
	const struct model_operation *op = &lane->data->operation;

	if (op->kind == SEG_OPERATION_COLLECTIVE)
		add_collective(c, l, op->transfers[0].comm, op->number,
			       SEG_STATE_SITE(lane->data->state),
			       op->flags & SEG_OPERATION_NEIGHBOURS);
	if (op->kind != SEG_OPERATION_WAIT_ALL && op->kind != SEG_OPERATION_WAIT_ANY)
		return;
	for (size_t i = 0; i < op->num_waited; i++) {
		const struct model_request *request = &lane->model->requests[op->waited[i]];

		if (request->kind == SEG_REQUEST_COLLECTIVE)
			add_collective(c, l, request->comm, request->ordinal, request->site,
				       request->flags & SEG_REQUEST_NEIGHBOURS);
	}
}

SORTED_BY(compare_collectives, struct waitfor_collective, comm, owner, number)

/* The same, and among equals always in one order. */
static int compare_with_functions(const void *a, const void *b)
{
	const struct waitfor_collective *x = a, *y = b;

	return compare_collectives(a, b) ?: strcmp(x->function, y->function);
}

uint32_t waitfor_find_collective(const struct waitfor *w, uint32_t comm, uint64_t number, int owner)
{
	const struct waitfor_collective key = {.comm = comm, .number = number, .owner = owner};
	const struct waitfor_collective *found;

	if (w->num_collectives == 0)
		return WAITFOR_NONE;
	found = bsearch(&key, w->collectives, w->num_collectives, sizeof(*w->collectives),
			compare_collectives);
	return found ? (uint32_t)(found - w->collectives) : WAITFOR_NONE;
}

/* ---- Who is missing ---- */

/* Did a rank without the communicator start nothing on it? Yes if its model is complete. */
static bool has_no_collectives(const struct waitfor_private *p, int rank)
{
	const struct model *model;

	if (rank < 0 || (size_t)rank >= p->num_ranks || p->ranks[rank].num == 0)
		return false;
	model = p->jm->lanes[p->ranks[rank].first].model;
	if (model->program->dropped_comms > 0 || model->num_comms == 0)
		return false;
	for (size_t i = 0; i < model->num_comms; i++)
		if (model_comm(model, i)->id == 0)
			return false;
	return true;
}

/* The members, by how many collectives they have started. */
struct members {
	struct waitfor *w;
	struct arena *scratch;
	uint32_t comm;
	uint32_t first, end; /* the collectives of this communicator */
	size_t *num; /* [end - first + 1] members before each collective, those past all last */
	struct member {
		int rank;
		uint32_t bracket;
	} * missing;
	size_t num_missing;
};

static int compare_started(const void *key, const void *element)
{
	const struct waitfor_collective *collective = element;

	return *(const uint64_t *)key >= collective->number ? 1 : -1;
}

/* The first collective that it has not started. */
static uint32_t find_bracket(const struct members *m, uint64_t started)
{
	return m->first + (uint32_t)sorted_first(&started, m->w->collectives + m->first,
						 m->end - m->first, sizeof(*m->w->collectives),
						 compare_started);
}

static uint32_t add_member(struct members *m, int rank, uint64_t started)
{
	uint32_t bracket = find_bracket(m, started);

	m->num[bracket - m->first]++;
	if (bracket < m->end)
		m->missing[m->num_missing++] = (struct member){rank, bracket};
	return bracket;
}

/* May the rank still do its part of a collective that it has started? */
static bool may_come(const struct waitfor *w, const struct job_comm_view *view)
{
	const struct rank_actors *lanes = &w->private->ranks[view->rank];
	bool is_outside = false;

	for (uint32_t l = lanes->first; l < lanes->first + lanes->num; l++) {
		enum activity activity = w->evidence->actors[l].activity;

		if (activity == ACTIVITY_MOVES)
			return true;
		is_outside |= activity == ACTIVITY_COMPUTING || activity == ACTIVITY_POLLING;
	}
	return is_outside && model_has_begun_collective(view->model, view->local, 0);
}

static void add_views(struct members *m, bool is_all)
{
	const struct job_comm *comm = &m->w->comms->comms[m->comm];
	uint32_t end = m->first;

	for (size_t i = 0; i < comm->num_views; i++) {
		struct job_comm_view view = job_comm_view(comm, i);
		uint32_t bracket = add_member(m, view.rank, job_comm_seen(&view)->collectives);

		if (!is_all && bracket > end && may_come(m->w, &view))
			end = bracket;
	}
	/* Those that somebody has started who may still do its part. */
	for (uint32_t c = m->first; c < end; c++)
		m->w->private->collectives[c].may_go_on = true;
}

static void add_others(struct members *m, bool is_all)
{
	const struct job_comm *comm = &m->w->comms->comms[m->comm];
	struct waitfor_private *p = m->w->private;
	uint32_t num_unknown = 0;
	bool is_elsewhere = false;

	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < comm->sizes[side]; i++) {
			int rank = comm->groups[side][i];

			if (rank >= 0 && job_comm_view_of(comm, rank).model)
				continue;
			if (has_no_collectives(p, rank)) {
				add_member(m, rank, 0);
				continue;
			}
			if (!p->unknown[m->comm])
				p->unknown[m->comm] = rankset_in(p->arena, rankset_create());
			if (rank >= 0)
				rankset_add(p->unknown[m->comm], rank);
			is_elsewhere |= rank < 0;
			num_unknown++;
		}
	}
	for (uint32_t c = m->first; num_unknown > 0 && c < m->end; c++) {
		m->w->collectives[c].num_unknown = num_unknown;
		p->collectives[c].may_go_on |= !is_all && is_elsewhere;
	}
}

static void sort_members(struct members *m)
{
	struct waitfor_private *p = m->w->private;
	int *ranks = arena_array(p->arena, m->num_missing, sizeof(*ranks));
	size_t num_before = 0, *next = arena_array(m->scratch, m->end - m->first, sizeof(*next));

	for (uint32_t c = m->first; c < m->end; c++) {
		struct group_node *group = &p->collectives[c];

		next[c - m->first] = num_before;
		group->ranks = ranks + num_before;
		group->num_ranks = m->num[c - m->first];
		group->back = c > m->first;
		num_before += group->num_ranks;
		group->num_all = num_before;
		m->w->collectives[c].num_missing = (uint32_t)num_before;
	}
	for (size_t i = 0; i < m->num_missing; i++)
		ranks[next[m->missing[i].bracket - m->first]++] = m->missing[i].rank;
}

static void find_missing(struct waitfor *w, uint32_t comm, uint32_t first, uint32_t end,
			 bool is_all)
{
	const struct job_comm *jc = &w->comms->comms[comm];
	size_t size = jc->sizes[0] + jc->sizes[1];
	struct members m = {.w = w, .comm = comm, .first = first, .end = end};

	m.scratch = arena_create();
	m.num = arena_array(m.scratch, end - first + 1, sizeof(*m.num));
	m.missing = arena_array(m.scratch, size, sizeof(*m.missing));
	for (uint32_t c = first; c < end; c++)
		w->collectives[c].needs_all = is_all;
	add_views(&m, is_all);
	if (jc->num_views < size)
		add_others(&m, is_all);
	sort_members(&m);
	arena_destroy(m.scratch);
}

/* ---- Neighbourhood collectives ---- */

/* Those of its sources that have started fewer. */
static void find_missing_sources(struct waitfor *w, uint32_t c)
{
	struct waitfor_private *p = w->private;
	struct waitfor_collective *collective = &w->collectives[c];
	struct group_node *group = &p->collectives[c];
	const struct job_comm *jc = &w->comms->comms[collective->comm];
	struct job_comm_view view = job_comm_view_of(jc, collective->owner);
	const struct model_comm *comm = job_comm_seen(&view);
	int *ranks;

	group->may_go_on = comm->num_sources > 0 && comm->sources == SEG_NO_MEMBERS;
	if (group->may_go_on)
		return;
	group->ranks = ranks = arena_array(p->arena, comm->num_sources, sizeof(*ranks));
	for (uint32_t i = 0; i < comm->num_sources && !group->may_go_on; i++) {
		int32_t source = model_members(view.model, comm->sources)[i];
		struct job_comm_view other = {0};
		int rank;

		if (source < 0)
			continue;
		rank = job_comms_peer(w->comms, view.model, view.local, source);
		if (rank >= 0)
			other = job_comm_view_of(jc, rank);
		if (other.model ? job_comm_seen(&other)->collectives < collective->number
				: has_no_collectives(p, rank))
			ranks[group->num_ranks++] = rank;
		else if (!other.model || may_come(w, &other))
			group->may_go_on = true;
	}
	group->num_all = group->num_ranks;
	collective->num_missing = (uint32_t)group->num_ranks;
}

/* ---- All of it ---- */

void waitfor_find_collectives(struct waitfor *w)
{
	struct arena *scratch = arena_create();
	size_t num_comms = w->comms->num_comms;
	struct collector c = {
		.w = w,
		.is_all = arena_array(scratch, num_comms, sizeof(*c.is_all)),
		.last = arena_array(scratch, num_comms, sizeof(*c.last)),
	};
	uint32_t first = 0, end;

	memset(c.is_all, true, num_comms * sizeof(*c.is_all));
	for (uint32_t l = 0; l < w->private->num_lanes; l++)
		if (actor_is_waiting(&w->evidence->actors[l]))
			add_lane(&c, l);
	sorted_make(w->collectives, w->num_collectives, sizeof(*w->collectives),
		    compare_with_functions);
	w->num_collectives = sorted_unique(w->collectives, w->num_collectives,
					   sizeof(*w->collectives), compare_collectives);
	w->private->collectives = arena_array(w->private->arena, w->num_collectives,
					      sizeof(*w->private->collectives));
	for (; first < w->num_collectives; first = end) {
		uint32_t comm = w->collectives[first].comm;

		end = first + 1;
		if (w->collectives[first].owner >= 0) {
			find_missing_sources(w, first);
			continue;
		}
		while (end < w->num_collectives && w->collectives[end].comm == comm &&
		       w->collectives[end].owner < 0)
			end++;
		find_missing(w, comm, first, end, c.is_all[comm]);
	}
	arena_destroy(scratch);
}
