/* SPDX-License-Identifier: BSD-3-Clause
 * Communicators in order: parents before children, then as first seen. */

#include "model/job/job_comms_private.h"
#include "model/job/model_pool.h"

/* PAIR_NONE: it has none that is of use. */
static uint32_t find_parent(const struct job_comms_private *p, const struct draft *draft)
{
	uint32_t parent;

	if (draft->parent_id == 0 || draft->is_world)
		return PAIR_NONE;
	parent = pair_map_get(&p->draft_of, job_comms_key(p, draft->world, draft->parent_id));
	if (parent == PAIR_NONE)
		parent = pair_map_get(&p->draft_of, draft->parent_id);
	return parent == PAIR_NONE || p->drafts[parent].is_bad ? PAIR_NONE : parent;
}

/* Levels from the worlds down: parents have lower ones than children. Circles are cut. */
static void set_level(struct job_comms_private *p, uint32_t number, uint32_t *chain)
{
	static const uint32_t unknown = 0, on_chain = UINT32_MAX;
	size_t length = 0;
	uint32_t level = 0;

	while (number != SEG_NO_COMM && p->drafts[number].level == unknown) {
		struct draft *draft = &p->drafts[number];
		uint32_t parent = find_parent(p, draft);

		if (parent == number ||
		    (parent != PAIR_NONE && p->drafts[parent].level == on_chain))
			parent = PAIR_NONE;
		draft->comm.parent = parent == PAIR_NONE ? SEG_NO_COMM : parent;
		draft->level = on_chain;
		chain[length++] = number;
		number = draft->comm.parent;
	}
	if (number != SEG_NO_COMM)
		level = p->drafts[number].level;
	else
		level = p->drafts[chain[length - 1]].is_world ? 0 : 1;
	while (length > 0)
		p->drafts[chain[--length]].level = ++level;
}

/* The place of each draft among those that are kept: by level, then as first seen. */
static uint32_t *sort_drafts(struct job_comms_private *p, size_t *num_ret)
{
	uint32_t *places = xcalloc(p->num_drafts, sizeof(*places));
	size_t *starts = xcalloc(p->num_drafts + 4, sizeof(*starts));
	uint32_t *chain = xcalloc(p->num_drafts, sizeof(*chain));

	for (size_t i = 0; i < p->num_drafts; i++)
		if (!p->drafts[i].is_bad && p->drafts[i].level == 0)
			set_level(p, (uint32_t)i, chain);
	for (size_t i = 0; i < p->num_drafts; i++)
		if (!p->drafts[i].is_bad)
			starts[p->drafts[i].level + 1]++;
	for (size_t i = 1; i < p->num_drafts + 4; i++)
		starts[i] += starts[i - 1];
	*num_ret = starts[p->num_drafts + 3];
	for (size_t i = 0; i < p->num_drafts; i++)
		places[i] =
			p->drafts[i].is_bad ? SEG_NO_COMM : (uint32_t)starts[p->drafts[i].level]++;
	free(starts);
	free(chain);
	return places;
}

/* From the number of a draft to that of a communicator. */
static void put_in_order(uint32_t *local, const uint32_t *places)
{
	if (*local >= LOCAL_SPECIAL)
		return;
	uint32_t place = places[*local >> 1];
	*local = place == SEG_NO_COMM ? LOCAL_NONE : place << 1 | (*local & 1);
}

void job_comms_finish(struct job_comms *comms)
{
	struct job_comms_private *p = comms->private;
	uint32_t *places = sort_drafts(p, &comms->num_comms);

	comms->comms = arena_array(p->arena, comms->num_comms, sizeof(*comms->comms));
	for (size_t i = 0; i < p->num_drafts; i++) {
		struct draft *draft = &p->drafts[i];

		if (draft->is_bad) {
			free(draft->comm.runs);
			continue;
		}
		for (int side = 0; side < 2; side++)
			draft->comm.groups[side] = draft->lists[side].ranks;
		draft->comm.members = p->members;
		draft->comm.num_members = p->num_members;
		if (draft->comm.parent != SEG_NO_COMM)
			draft->comm.parent = places[draft->comm.parent];
		comms->comms[places[i]] = draft->comm;
	}
	for (size_t i = 0; i < p->num_members; i++)
		for (size_t c = 0; p->members[i].locals && c < p->members[i].of->model->num_comms;
		     c++)
			put_in_order(&p->members[i].locals[c], places);
	for (size_t i = 0; p->known && i < p->pool->num_comms; i++)
		put_in_order(&p->known[i].local, places);
	free(places);
	free(p->drafts);
	free(p->draft_of.slots);
}
