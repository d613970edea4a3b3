/* SPDX-License-Identifier: BSD-3-Clause
 * How far the members of a communicator are in its collectives: ranks by the last one they
 * started. */
#pragma once

#include "model/base.h"

struct job_comms;

/* What a member does in a collective. */
enum collective_stage {
	COLLECTIVE_IN,    /* inside the call */
	COLLECTIVE_BEGUN, /* a non-blocking one that is not complete */
	COLLECTIVE_AFTER, /* neither: done with it */
};

/* In what a group is not like most others with the same number. */
enum collective_difference {
	COLLECTIVE_OTHER_FUNCTION = 1,
	COLLECTIVE_OTHER_ROOT = 2,
	COLLECTIVE_OTHER_BYTES = 4,
};

struct collective_group {
	uint64_t number;      /* of the collective; 0: none yet */
	const char *function; /* "MPI_Bcast"; NULL with number 0 */
	uint32_t path;        /* call path, in the job's callpaths; CALLPATH_NONE with number 0 */
	int32_t root;         /* rank in the communicator, or enum seg_peer */
	uint64_t bytes;       /* or SEG_NO_BYTES */
	enum collective_stage stage;
	struct rankset *ranks;
	bool is_last;         /* false: these ranks are further; listed since it differs */
	bool is_awaited;      /* others are in, or have begun, a later one: they need these */
	unsigned differences; /* enum collective_difference */
	bool is_majority;     /* most are like this, and others differ */
};

struct collective_groups {
	struct collective_group *groups; /* latest number first; then the largest, by first rank */
	size_t num_groups;
	struct rankset *unknown;      /* members about which nothing is known */
	uint64_t largest, least;      /* numbers that members are at */
	bool is_active, is_differing; /* any group is in or has begun one; any differs */
};

/* Of the members that have a model. Collectives that members are past are compared as far back as
 * all of them are remembered. In the arena. Never fails. */
struct collective_groups *collective_groups_create(const struct job_model *jm,
						   const struct job_comms *comms, uint32_t comm,
						   struct arena *arena);
