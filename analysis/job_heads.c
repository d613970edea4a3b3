/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "analysis/job_heads.h"
#include "analysis/job_loops.h"
#include "model/callpath.h"
#include "model/job_model.h"
#include "model/model.h"
#include "model/xalloc.h"

/* ---- Which ranks visit what ------------------------------------------------------------------ */

/* Ranks with one table of sites: a rank has a site in its table once it has called from there. */
struct shape {
	const uint32_t *site_map;
	size_t num_sites;
	uint32_t num_ranks;
};

struct job_heads {
	const struct job_model *jm;
	struct shape *shapes;
	size_t num_shapes, shapes_capacity;
	uint32_t num_ranks;
	uint32_t *visits;  /* [sites] ranks that have it */
	uint32_t *in_part; /* [sites] == part_stamp: in the part that is looked at */
	uint32_t part_stamp;
	/* For regions, [call path nodes]. */
	uint32_t *ranks_below, *sites_below, *path_stamp;
	uint32_t stamp;
};

static int compare_shapes(const void *a, const void *b)
{
	const struct shape *x = a, *y = b;

	return (x->site_map > y->site_map) - (x->site_map < y->site_map);
}

/* One entry for each run of ranks with one mapping first, so that sorting is cheap. */
static void collect_shapes(struct job_heads *jh)
{
	const struct job_model *jm = jh->jm;
	size_t num = 0;

	for (size_t i = 0; i < jm->num_lanes; i++) {
		const struct job_lane *lane = &jm->lanes[i];

		if (i > 0 && jm->lanes[i - 1].rank == lane->rank)
			continue;
		jh->num_ranks++;
		if (jh->num_shapes > 0 &&
		    jh->shapes[jh->num_shapes - 1].site_map == lane->site_map) {
			jh->shapes[jh->num_shapes - 1].num_ranks++;
			continue;
		}
		jh->shapes = xgrow(jh->shapes, jh->num_shapes, &jh->shapes_capacity,
				   sizeof(*jh->shapes));
		jh->shapes[jh->num_shapes++] = (struct shape){
			.site_map = lane->site_map,
			.num_sites = lane->model->num_sites,
			.num_ranks = 1,
		};
	}
	if (jh->num_shapes == 0)
		return;
	qsort(jh->shapes, jh->num_shapes, sizeof(*jh->shapes), compare_shapes);
	for (size_t i = 1; i < jh->num_shapes; i++) {
		if (jh->shapes[i].site_map == jh->shapes[num].site_map)
			jh->shapes[num].num_ranks += jh->shapes[i].num_ranks;
		else
			jh->shapes[++num] = jh->shapes[i];
	}
	jh->num_shapes = num + 1;
	for (size_t i = 0; i < jh->num_shapes; i++)
		for (size_t s = 0; s < jh->shapes[i].num_sites; s++)
			jh->visits[jh->shapes[i].site_map[s]] += jh->shapes[i].num_ranks;
}

static void mark_part(struct job_heads *jh, const struct loop_part *part)
{
	jh->part_stamp++;
	for (size_t i = 0; i < part->num_states; i++)
		jh->in_part[SEG_STATE_SITE(part->states[i])] = jh->part_stamp;
}

uint32_t job_heads_count_runners(struct job_heads *jh, const struct loop_part *part)
{
	uint32_t num = 0;

	mark_part(jh, part);
	for (size_t i = 0; i < jh->num_shapes; i++) {
		const struct shape *shape = &jh->shapes[i];

		for (size_t s = 0; s < shape->num_sites; s++) {
			if (jh->in_part[shape->site_map[s]] == jh->part_stamp) {
				num += shape->num_ranks;
				break;
			}
		}
	}
	return num;
}

uint32_t job_heads_count_visits(const struct job_heads *jh, uint32_t state)
{
	return jh->visits[SEG_STATE_SITE(state)];
}

/* ---- The head of a loop ---------------------------------------------------------------------- */

/* How often the ranks have been at a site: the least, and how far they are apart. */
static bool get_spread(const struct job_heads *jh, uint32_t enter, uint64_t *least_ret,
		       uint64_t *spread_ret)
{
	size_t index = job_model_find_transition(jh->jm, enter, enter + 1);
	const struct job_transition *transition;

	if (index == SIZE_MAX)
		return false;
	transition = &jh->jm->transitions[index];
	*least_ret = transition->counts[0].count;
	*spread_ret = transition->counts[transition->num_counts - 1].count - *least_ret;
	/* Somebody always is one ahead. */
	if (*spread_ret == 0)
		*spread_ret = 1;
	return true;
}

/* Of the states that all `num_runners` ranks visit: one on whose count they agree best, so that it
 * is not in an inner loop or branch that ranks take differently often. */
static uint32_t choose_common_state(const struct job_heads *jh, const struct loop_part *part,
				    uint32_t num_runners)
{
	uint32_t best = UINT32_MAX;
	uint64_t best_least = 0, best_spread = 0;

	for (size_t i = 0; i < part->num_states; i++) {
		uint32_t state = part->states[i];
		uint64_t least, spread;

		if (SEG_STATE_IS_EXIT(state) || jh->visits[SEG_STATE_SITE(state)] != num_runners ||
		    !get_spread(jh, state, &least, &spread))
			continue;
		if (best == UINT32_MAX || spread < best_spread ||
		    (spread == best_spread && least > best_least)) {
			best = state;
			best_least = least;
			best_spread = spread;
		}
	}
	return best;
}

static uint32_t path_of(const struct job_heads *jh, uint32_t state)
{
	return jh->jm->sites[SEG_STATE_SITE(state)].path;
}

static uint32_t parent_path(const struct job_heads *jh, uint32_t path)
{
	return callpaths_get(jh->jm->callpaths, path)->parent;
}

static void count_below(struct job_heads *jh, const struct loop_part *part)
{
	for (size_t i = 0; i < part->num_states; i++)
		for (uint32_t p = path_of(jh, part->states[i]); p != CALLPATH_NONE;
		     p = parent_path(jh, p))
			jh->ranks_below[p] = jh->sites_below[p] = 0;
	for (size_t i = 0; i < part->num_states; i++)
		for (uint32_t p = path_of(jh, part->states[i]); p != CALLPATH_NONE;
		     p = parent_path(jh, p))
			jh->sites_below[p]++;
	for (size_t i = 0; i < jh->num_shapes; i++) {
		const struct shape *shape = &jh->shapes[i];

		jh->stamp++;
		for (size_t s = 0; s < shape->num_sites; s++) {
			uint32_t site = shape->site_map[s];

			if (jh->in_part[site] != jh->part_stamp)
				continue;
			for (uint32_t p = jh->jm->sites[site].path;
			     p != CALLPATH_NONE && jh->path_stamp[p] != jh->stamp;
			     p = parent_path(jh, p)) {
				jh->path_stamp[p] = jh->stamp;
				jh->ranks_below[p] += shape->num_ranks;
			}
		}
	}
}

/* The longest part of a call path that all `num_runners` ranks visit and that does not hold all of
 * the loop (nobody would arrive there from outside). */
static uint32_t choose_region(struct job_heads *jh, const struct loop_part *part,
			      uint32_t num_runners)
{
	uint32_t best = CALLPATH_NONE, best_depth = 0;

	count_below(jh, part);
	for (size_t i = 0; i < part->num_states; i++) {
		for (uint32_t p = path_of(jh, part->states[i]); p != CALLPATH_NONE;
		     p = parent_path(jh, p)) {
			uint32_t depth = callpaths_get(jh->jm->callpaths, p)->depth;

			if (jh->ranks_below[p] != num_runners ||
			    jh->sites_below[p] == part->num_states)
				continue;
			if (best == CALLPATH_NONE || depth > best_depth) {
				best = p;
				best_depth = depth;
			}
		}
	}
	return best;
}

/* For want of a better one. */
static uint32_t most_visited(const struct job_heads *jh, const struct loop_part *part)
{
	uint32_t best = part->states[0];

	for (size_t i = 1; i < part->num_states; i++)
		if (jh->visits[SEG_STATE_SITE(part->states[i])] > jh->visits[SEG_STATE_SITE(best)])
			best = part->states[i];
	return best;
}

static void set_region(const struct job_heads *jh, struct job_loop *loop, struct loop_part *part)
{
	part->is_head = xcalloc(part->num_states, sizeof(*part->is_head));
	loop->header = UINT32_MAX;
	for (size_t i = 0; i < part->num_states; i++) {
		uint32_t state = part->states[i];

		part->is_head[i] =
			callpaths_has_prefix(jh->jm->callpaths, path_of(jh, state), loop->region);
		if (part->is_head[i] && loop->header == UINT32_MAX)
			loop->header = state;
	}
}

void job_heads_choose(struct job_heads *jh, struct job_loop *loop, struct loop_part *part)
{
	uint32_t num_runners = job_heads_count_runners(jh, part);
	uint32_t common = loop->header;

	loop->region = CALLPATH_NONE;
	loop->is_comparable = true;
	if (jh->visits[SEG_STATE_SITE(loop->header)] != num_runners)
		common = choose_common_state(jh, part, num_runners);
	if (common != UINT32_MAX) {
		loop->header = common;
		return;
	}
	loop->region = choose_region(jh, part, num_runners);
	if (loop->region != CALLPATH_NONE) {
		set_region(jh, loop, part);
		return;
	}
	loop->header = most_visited(jh, part);
	loop->is_comparable = false;
}

/* ---- Create and destroy ---------------------------------------------------------------------- */

struct job_heads *job_heads_create(const struct job_model *jm)
{
	size_t num_paths = callpaths_count(jm->callpaths);
	struct job_heads *jh = xcalloc(1, sizeof(*jh));

	jh->jm = jm;
	jh->visits = xcalloc(jm->num_sites, sizeof(*jh->visits));
	jh->in_part = xcalloc(jm->num_sites, sizeof(*jh->in_part));
	jh->ranks_below = xcalloc(num_paths, sizeof(*jh->ranks_below));
	jh->sites_below = xcalloc(num_paths, sizeof(*jh->sites_below));
	jh->path_stamp = xcalloc(num_paths, sizeof(*jh->path_stamp));
	collect_shapes(jh);
	return jh;
}

void job_heads_destroy(struct job_heads *jh)
{
	if (!jh)
		return;
	free(jh->path_stamp);
	free(jh->sites_below);
	free(jh->ranks_below);
	free(jh->in_part);
	free(jh->visits);
	free(jh->shapes);
	free(jh);
}
