/* SPDX-License-Identifier: BSD-3-Clause
 * Finds the states of a loop that mark its iterations, as defined in job_loops.h. */
#ifndef PDB_ANALYSIS_JOB_HEADS_H
#define PDB_ANALYSIS_JOB_HEADS_H

#include "analysis/progress/job_loops.h"
#include "model/job/job_model.h"

enum {
	NO_MARK = UINT32_MAX,
	MAX_ORDERED_CALLS = 128,
	MIN_ITERATIONS = 8, /* fewer say nothing about what recurs */
};

/* Ranks with one table of sites: a rank has a site in its table once it has called from there. */
struct shape {
	const uint32_t *site_map;
	size_t num_sites;
	uint32_t num_ranks;
};

/* A lane's transitions into the states "enter", by site: those into its site s are numbers
 * made[first[s]] to made[first[s + 1] - 1] of its transitions. */
struct arrivals {
	uint32_t *first, *made;
};

struct job_heads {
	struct arena *arena, *scratch; /* of what is found, and of all else */
	const struct job_model *jm;
	const struct progress_code *code;
	const struct graph *graph;
	struct shape *shapes;
	size_t num_shapes, shapes_capacity;
	struct pair_map *shape_of; /* by site_map */
	uint32_t num_ranks;
	uint32_t *visits;        /* [sites] ranks that have it */
	size_t *first_visitor;   /* [sites + 1] where in `visitors` a site's shapes begin */
	uint32_t *visitors;      /* shapes */
	uint32_t *visitor_sites; /* beside them: the site's number in that shape */
	uint32_t *shape_stamp;   /* [shapes] == part_stamp: has been counted */
	/* Lanes, without those that are like another. NULL: not asked for yet. */
	size_t *first_lane; /* [shapes + 1] where in `shape_lanes` those of a shape begin */
	uint32_t *shape_lanes;
	struct arrivals *arrivals; /* [lanes] */
	uint32_t *lane_stamp;      /* [lanes] == part_stamp: in the part */
	uint32_t *in_part;         /* [sites] == part_stamp: in the part that is looked at */
	uint32_t part_stamp;
	uint32_t *mark_of; /* [states] a number for those of the part */
	/* For searches, [states]. */
	uint32_t *unseen, *stack;
	uint32_t state_stamp;
	/* For regions, [call path nodes]. */
	uint32_t *ranks_below, *sites_below, *path_stamp;
	uint32_t stamp;
};

/* How often the ranks did something. */
struct range {
	uint64_t least, most;
};

static inline void range_extend(struct range *range, uint64_t count)
{
	if (count < range->least)
		range->least = count;
	if (count > range->most)
		range->most = count;
}

static inline uint64_t range_spread(const struct range *range)
{
	return range->most - range->least;
}

/* Do ranks agree better on x than on y? */
static inline bool range_is_closer(const struct range *x, const struct range *y)
{
	double spread_x = range_spread(x) ? (double)range_spread(x) : 1;
	double spread_y = range_spread(y) ? (double)range_spread(y) : 1;

	return spread_x * (double)y->least < spread_y * (double)x->least;
}

static inline uint32_t job_heads_path(const struct job_heads *jh, uint32_t state)
{
	return jh->jm->sites[SEG_STATE_SITE(state)].path;
}

/* Borrows jm, the graph of its states and code. Lives in `scratch`, what it adds to loops in
 * `arena`. */
struct job_heads *job_heads_create(struct arena *arena, struct arena *scratch,
				   const struct job_model *jm, const struct graph *graph,
				   const struct progress_code *code);

/* How many ranks visit the site of the state, and any site of the part. */
static inline uint32_t job_heads_count_visits(const struct job_heads *jh, uint32_t state)
{
	return jh->visits[SEG_STATE_SITE(state)];
}
uint32_t job_heads_count_runners(struct job_heads *jh, const struct loop_part *part);

/* Set header, region and is_comparable of the loop, and is_head of the part if the head is more
 * than one state. The header found first is given in the loop. */
void job_heads_choose(struct job_heads *jh, struct job_loop *loop, struct loop_part *part);

/* Does the code have the call of the state in a loop that other calls of the part are outside
 * of? */
enum progress_nesting job_heads_ask_code(const struct job_heads *jh, const struct loop_part *part,
					 uint32_t state);
/* By the code: can the mark, or a run of it, be what is once in each iteration of the loop around
 * that which the header is in? */
bool job_heads_can_be_around(const struct job_heads *jh, const struct loop_part *part,
			     uint32_t header, uint32_t mark, bool is_run);

/* For a header that all ranks visit equally often. Does nothing unless it is in a loop inside. */
void job_heads_leave_repeated_call(struct job_heads *jh, struct job_loop *loop,
				   struct loop_part *part);
/* For a loop without a call that all ranks make. False if none of its calls will do. */
bool job_heads_choose_first_calls(struct job_heads *jh, struct job_loop *loop,
				  struct loop_part *part);

#endif
