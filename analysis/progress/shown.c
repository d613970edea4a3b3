/* SPDX-License-Identifier: BSD-3-Clause
 * The loops as people see them. Where one head is known to be that of several nested loops, each of
 * them is a loop of its own: iterations of the outermost are the arrivals of the highest level,
 * those of one inside the arrivals of its level since the last of a higher one, which has begun the
 * first. */
#include "analysis/progress/progress_private.h"
#include "model/arena.h"
#include "model/job/callpath.h"
#include "model/job/job_model.h"

/* So many loops are shown for a loop: one if it is not known that they are several. */
static unsigned int num_levels(const struct progress_private *p, uint32_t loop)
{
	return p->jl->parts[loop].nested ? p->jl->parts[loop].num_levels : 1;
}

/* Of these the actor is in those from the highest level to this one. */
static unsigned int level_in(const struct progress_private *p, uint32_t i)
{
	return p->jl->parts[p->iterations[i].loop].nested ? p->levels[i].level_in : 0;
}

/* The loop that is shown for a level of a loop. */
static uint32_t shown_as(const struct progress_private *p, uint32_t loop, unsigned int level)
{
	return p->first_shown[loop] + (num_levels(p, loop) - 1 - level);
}

/* The innermost one that contains the state, which the loop contains. */
static uint32_t shown_around(const struct progress_private *p, uint32_t loop, uint32_t state)
{
	return shown_as(p, loop,
			num_levels(p, loop) == 1 ? 0 : job_loops_level_in(p->jl, loop, state));
}

static uint32_t common_path(const struct progress_private *p, uint32_t loop, unsigned int level)
{
	const struct job_model *jm = p->jl->jm;
	const struct loop_part *part = &p->jl->parts[loop];
	uint32_t common = CALLPATH_NONE;
	bool is_first = true;

	for (size_t i = 0; i < part->num_states; i++) {
		uint32_t path = jm->sites[SEG_STATE_SITE(part->states[i])].path;

		if (part->levels_in[i] > level)
			continue;
		common = is_first ? path : callpaths_common(jm->callpaths, common, path);
		is_first = false;
	}
	return common;
}

/* The loops around have been added before. */
static void add_loop(struct progress *progress, uint32_t loop)
{
	struct progress_private *p = progress->private;
	const struct job_loop *found = &p->jl->loops[loop];
	uint32_t parent = LOOP_NONE;

	if (found->parent != LOOP_NONE)
		parent = shown_around(p, found->parent, p->jl->parts[loop].states[0]);
	p->first_shown[loop] = (uint32_t)progress->num_loops;
	for (unsigned int level = num_levels(p, loop); level-- > 0;) {
		struct job_loop *shown = &progress->loops[progress->num_loops];

		*shown = *found;
		shown->parent = parent;
		shown->depth = parent == LOOP_NONE ? 0 : progress->loops[parent].depth + 1;
		if (level + 1 < num_levels(p, loop))
			shown->path = common_path(p, loop, level);
		parent = (uint32_t)progress->num_loops++;
	}
}

static struct iteration find_iteration(const struct progress_private *p, uint32_t i,
				       unsigned int level)
{
	const struct iteration *whole = &p->iterations[i];
	const struct level_counts *counts = &p->levels[i];
	unsigned int highest = num_levels(p, whole->loop) - 1;
	struct iteration shown = *whole;

	shown.loop = shown_as(p, whole->loop, level);
	if (highest > 0) {
		shown.is_approximate = p->is_approximate[whole->loop] &&
				       (p->jl->loops[whole->loop].depth > 0 || level < highest);
		shown.total = 0;
		for (unsigned int l = level; l <= highest; l++)
			shown.total += counts->totals[l];
		shown.count = shown.is_approximate ? shown.total : counts->arrivals[level];
	}
	/* An arrival of a higher level has begun the first. */
	if (!shown.is_approximate && (level < highest || counts->is_before_head))
		shown.count++;
	return shown;
}

/* Those of the actor's place, from outside, into *ret. */
static size_t show_iterations(const struct progress *progress, uint32_t first, uint32_t num,
			      struct iteration **ret)
{
	const struct progress_private *p = progress->private;
	struct iteration *shown;
	size_t num_shown = 0;

	if (num == 0)
		return 0;
	if (!p->is_shown_otherwise) {
		*ret = &p->iterations[first];
		return num;
	}
	for (uint32_t i = first; i < first + num; i++)
		num_shown += num_levels(p, p->iterations[i].loop) - level_in(p, i);
	shown = *ret = arena_array(p->arena, num_shown, sizeof(*shown));
	for (uint32_t i = first; i < first + num; i++)
		for (unsigned int l = num_levels(p, p->iterations[i].loop); l-- > level_in(p, i);)
			*shown++ = find_iteration(p, i, l);
	return num_shown;
}

static void show_place(const struct progress *progress, size_t actor)
{
	const struct position *position = &progress->private->positions[actor];
	const struct job_lane *lane = &progress->jm->lanes[actor];
	struct place *place = &progress->places[actor];

	if (lane->like != actor) {
		*place = progress->places[lane->like];
		return;
	}
	place->state = lane->state;
	place->num_iterations =
		show_iterations(progress, position->first, position->num_loops, &place->iterations);
	place->num_frontier = show_iterations(progress, position->first_frontier,
					      position->num_frontier, &place->frontier);
}

void progress_show(struct progress *progress)
{
	struct progress_private *p = progress->private;
	const struct job_loops *jl = p->jl;
	size_t num_states = job_model_num_states(jl->jm), num = 0;

	for (uint32_t l = 0; l < jl->num_loops; l++) {
		num += num_levels(p, l);
		p->is_shown_otherwise |= jl->parts[l].nested || jl->parts[l].is_before_head;
	}
	progress->loops = arena_array(p->arena, num, sizeof(*progress->loops));
	p->first_shown = arena_array(p->arena, jl->num_loops, sizeof(*p->first_shown));
	for (uint32_t l = 0; l < jl->num_loops; l++)
		add_loop(progress, l);
	progress->loop_of = arena_array(p->arena, num_states, sizeof(*progress->loop_of));
	for (uint32_t s = 0; s < num_states; s++)
		progress->loop_of[s] = jl->loop_of[s] == LOOP_NONE
					       ? LOOP_NONE
					       : shown_around(p, jl->loop_of[s], s);
	progress->places =
		arena_array(p->arena, progress->jm->num_lanes, sizeof(*progress->places));
	for (size_t i = 0; i < progress->jm->num_lanes; i++)
		show_place(progress, i);
}

uint32_t progress_find_decisive(const struct progress_private *p, uint32_t iteration,
				uint32_t other)
{
	uint32_t loop = p->iterations[iteration].loop;
	unsigned int lowest = level_in(p, iteration), level = num_levels(p, loop);

	if (level_in(p, other) > lowest)
		lowest = level_in(p, other);
	while (level-- > lowest)
		if (find_iteration(p, iteration, level).count !=
		    find_iteration(p, other, level).count)
			return shown_as(p, loop, level);
	return LOOP_NONE;
}
