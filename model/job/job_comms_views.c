/* SPDX-License-Identifier: BSD-3-Clause
 * What is asked of communicators, and the runs of views. */
#include "model/job/job_comms_private.h"

static const struct job_comms_member *find_member(const struct job_comms *comms,
						  const struct model *model)
{
	const struct job_comms_private *p = comms->private;

	if (model->number >= p->num_members)
		return NULL;
	const struct job_comms_member *member = &p->members[p->member_of[model->number]];
	return member->of->model == model ? member : NULL;
}

/* As job_comms_local(), of any model. */
static uint32_t find_local(const struct job_comms *comms, const struct model *model, uint32_t local)
{
	const struct job_comms_member *member = find_member(comms, model);

	if (!member || local >= model->num_comms)
		return LOCAL_NONE;
	return job_comms_local(comms->private, member, local);
}

uint32_t job_comms_find(const struct job_comms *comms, const struct model *model, uint32_t local)
{
	uint32_t found = find_local(comms, model, local);

	return found >= LOCAL_SPECIAL ? SEG_NO_COMM : found >> 1;
}

int job_comms_peer(const struct job_comms *comms, const struct model *model, uint32_t local,
		   int32_t peer)
{
	uint32_t found = find_local(comms, model, local), side;

	if (found == LOCAL_SELF)
		return peer == 0 ? find_member(comms, model)->rank : -1;
	if (found >= LOCAL_SPECIAL || peer < 0)
		return -1;
	const struct job_comm *comm = &comms->comms[found >> 1];
	side = comm->kind == SEG_COMM_INTER ? !(found & 1) : 0;
	return (size_t)peer < comm->sizes[side] ? comm->groups[side][peer] : -1;
}

/* Most communicators have one run. */
static void add_run(struct job_comm *comm, const struct job_comm_run *run)
{
	size_t num = comm->num_runs;

	/* There is room for 1, 2, 4, ... */
	if ((num & (num - 1)) == 0)
		comm->runs = xreallocarray(comm->runs, num ? 2 * num : 1, sizeof(*comm->runs));
	comm->runs[comm->num_runs++] = *run;
}

void job_comm_add_view(struct job_comm *comm, uint32_t member, uint32_t local, uint32_t side)
{
	struct job_comm_run *last = comm->num_runs ? &comm->runs[comm->num_runs - 1] : NULL;
	struct job_comm_run run = {member, 1, 1, (uint32_t)comm->num_views, side & 1, local};

	comm->num_views++;
	if (last && last->local == local && last->side == side) {
		if (last->num == 1)
			last->step = member - last->first;
		if (member == last->first + last->num * last->step) {
			last->num++;
			return;
		}
	}
	add_run(comm, &run);
}

const struct model_comm *job_comm_seen(const struct job_comm_view *view)
{
	return model_comm(view->model, view->local);
}

static struct job_comm_view view_of_run(const struct job_comm *comm, const struct job_comm_run *run,
					uint32_t member)
{
	return (struct job_comm_view){
		.rank = comm->members[member].rank,
		.side = run->side,
		.local = run->local,
		.model = comm->members[member].of->model,
	};
}

/* The last run that begins at a view or member, or before. */
static const struct job_comm_run *find_run(const struct job_comm *comm, uint32_t number,
					   bool is_member)
{
	size_t low = 0, high = comm->num_runs;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		const struct job_comm_run *run = &comm->runs[middle];

		if ((is_member ? run->first : run->before) <= number)
			low = middle;
		else
			high = middle;
	}
	return &comm->runs[low];
}

struct job_comm_view job_comm_view(const struct job_comm *comm, size_t i)
{
	const struct job_comm_run *run = find_run(comm, (uint32_t)i, false);

	return view_of_run(comm, run, run->first + ((uint32_t)i - run->before) * run->step);
}

struct job_comm_view job_comm_view_of(const struct job_comm *comm, int rank)
{
	const struct job_comms_member *members = comm->members;
	uint32_t member = (uint32_t)(rank - members[0].rank), after;

	/* As it is when all ranks from the first on have a model. */
	if (member >= comm->num_members || members[member].rank != rank) {
		member = (uint32_t)sorted_first_rank(rank, members, comm->num_members,
						     sizeof(*members));
		if (member == comm->num_members || members[member].rank != rank)
			return (struct job_comm_view){.rank = rank};
	}
	const struct job_comm_run *run = find_run(comm, member, true);
	after = member - run->first;
	if (member < run->first || after % run->step || after / run->step >= run->num)
		return (struct job_comm_view){.rank = rank};
	return view_of_run(comm, run, member);
}
