/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by the parts of find_cause.h: stacks and frames (find_cause.c), one function's branches
 * (cause_branches.c), values (cause_values.c), whom ranks wait for (cause_waits.c). */
#pragma once

#include "analysis/cause/cause.h"
#include "model/job/code.h"
#include "model/monotonic.h"
#include "render/printed.h"

struct caused;
struct session;
struct value_reading;
struct value_type;

/* Ranks with the same stack, up to the function of a library that they have called. */
struct group {
	struct rankset *ranks;
	uint32_t example; /* the lowest rank's whole path */
	size_t order;     /* in finding.order */
	const char *library;
};

struct finding {
	struct session *session;
	struct arena *arena;
	struct values *values;
	const struct temporal_result *order; /* of the last look */
	struct group *groups;
	size_t num_groups, groups_capacity;
	uint64_t until_ns; /* monotonic_ns(): then pdb stops looking */
};

/* A variable that a branch goes by. */
struct wanted {
	const char *name, *function;
	uint64_t variable;
	const struct value_type *type;
	struct printed printed;
	/* Of a side at whose place it is still where the branch had it: what reads it there. */
	struct code_probe probes[2];
	bool has_probe[2];
	struct value_reading *readings;
	size_t num_readings;
	const struct value_groups *groups; /* of all ranks of the pair */
};

/* Two groups of ranks, and the function in which they part. */
struct pair {
	const struct group *groups[2];
	uint32_t module;
	struct cause_places places;
	struct rankset *ranks; /* of both */
	uint32_t nodes[2];     /* of its frames; CALLPATH_NONE: has_left */
	uint32_t nodes_of[2];  /* the same, but where is_tail, of what was called in its place */
	bool is_tail[2];
	struct wanted *wanted;
	size_t num_wanted, wanted_capacity;
};

struct judged {
	struct condition condition;
	bool is_known;
	int left, right;         /* in pair.wanted; -1: none */
	bool is_unchanged[2][2]; /* [side][left, right] */
};

/* Is the time over? What was not looked at is not known. */
static inline bool cause_is_late(const struct finding *finding)
{
	return monotonic_ns() >= finding->until_ns;
}

/* ---- cause_values.c ---- */

/* Its number in pair->wanted, added if it is new; -1: the term has no name. */
int cause_want(struct finding *finding, struct pair *pair, const struct condition_term *term);
/* Where the branch had it, it is what it was, even if debug information has it no more. */
void cause_want_there(const struct finding *finding, struct pair *pair,
		      const struct condition_term *term, int number, int side);
/* Read all that is wanted, of all ranks of the pair. */
void cause_read_values(struct finding *finding, struct pair *pair);
/* The rank's value of a term's name, whose number `wanted` is. True for constants. */
bool cause_value_of(const struct pair *pair, const struct condition_term *term, int wanted,
		    int rank, double *ret);

/* ---- cause_branches.c ---- */

/* Are they of one line? Without debug information only of one address. */
bool cause_is_same_line(const struct finding *finding, uint32_t module, uint64_t a, uint64_t b);

/* Choose among the branches of the pair's function by what ranks' values say. */
enum cause_result cause_choose_by_values(struct finding *finding, struct pair *pair,
					 const struct cause_branch *branches, size_t num,
					 struct caused *ret);

/* ---- cause_waits.c ---- */

/* Do all of a side surely wait at their place for all others, who have not been there before? */
bool cause_waits_for(const struct finding *finding, const struct pair *pair, int side);
