/* SPDX-License-Identifier: BSD-3-Clause
 * The temporal order of stacks, without recorder and source: which of two stacks is of an earlier
 * moment of the same program. Frames are compared from the outermost inwards. In each, first the
 * loops that contain both are compared, outermost first, by the iteration that a loop variable
 * gives; then the positions in the innermost of them. The first difference decides.
 *
 * The order of Ahn et al., "Scalable Temporal Order Analysis for Large Scale Debugging" (SC 2009),
 * from machine code. */
#ifndef PDB_ANALYSIS_TEMPORAL_H
#define PDB_ANALYSIS_TEMPORAL_H

#include "analysis/stacks/loop_variables.h"
#include "model/scope.h"

struct callpaths;
struct modules;
struct pdb_error;
struct rankset;
struct sample;
struct samples;
struct temporal;

/* Where machine code comes from. What is returned must live as long as the struct temporal. */
struct temporal_source {
	const struct code_function *(*get_function)(void *context, uint32_t module,
						    uint64_t address, struct pdb_error *err);
	const struct code_variables *(*get_variables)(void *context, uint32_t module,
						      const struct code_function *function);
	void *context;
};

/* A loop in which stacks are. */
struct temporal_loop {
	uint32_t module;
	uint64_t header; /* where it begins */
	/* Instructions that are in no loop within it, those that end its iterations among them. */
	uint64_t *places;
	size_t num_places;
	struct loop_variable variable;
};

/* All borrowed. */
struct temporal *temporal_create(const struct callpaths *callpaths, const struct modules *modules,
				 const struct temporal_source *source);
void temporal_destroy(struct temporal *temporal); /* NULL is fine */

/* Look at the frames of a stack. Is any at a new place? */
bool temporal_add(struct temporal *temporal, uint32_t path);
/* Choose the loops' variables for all places seen so far. What is to be read in their frames;
 * borrowed, valid until the next call. Those of the last call keep their numbers, so that values
 * that have been read stay what they are; of a loop with another variable now they are not used. */
const struct code_probe *temporal_choose(struct temporal *temporal, size_t *num_ret);

/* The headers and places of the loops that stacks are in. Returns how many; the caller frees
 * *ret. */
size_t temporal_loop_places(const struct temporal *temporal, struct code_address **ret);

enum temporal_order { TEMPORAL_BEFORE, TEMPORAL_SAME, TEMPORAL_AFTER, TEMPORAL_UNORDERED };

enum temporal_cause {
	TEMPORAL_BY_NOTHING,      /* they are the same */
	TEMPORAL_BY_VARIABLE,     /* the loop's variable has these values */
	TEMPORAL_BY_POSITION,     /* one place leads to the other */
	TEMPORAL_NO_VARIABLE,     /* unordered: loop->variable.result says why */
	TEMPORAL_NO_VALUE,        /* it could not be read in one of them */
	TEMPORAL_AT_END,          /* it does not change any more */
	TEMPORAL_BRANCHES,        /* different branches */
	TEMPORAL_UNKNOWN_JUMP,    /* a jump with an unknown target is on the way */
	TEMPORAL_SEVERAL_ENTRIES, /* a loop with several entries leads from each to the other */
	TEMPORAL_OTHER_FUNCTIONS, /* one place called different ones, or the programs differ */
	TEMPORAL_NO_CODE,         /* no machine code of the function */
	TEMPORAL_NO_STACK,        /* outermost frames are missing */
};

struct temporal_reason {
	enum temporal_cause cause;
	uint32_t frame_a, frame_b; /* call path nodes of the frames that differ */
	const struct temporal_loop *loop;
	int64_t value_a, value_b; /* of the loop's variable */
};

/* Ranks whose stacks are the same, as far as it matters. */
struct temporal_group {
	uint32_t path;    /* without what is inside libraries; CALLPATH_NONE: no complete stack */
	uint32_t example; /* the lowest rank's whole path */
	struct rankset *ranks;
	struct sample_value *values;
	size_t num_values;
	/* 0: no group is before it. Else one more than the highest level of those before it. */
	uint32_t level;
	size_t row; /* of the result's is_before */
};

struct temporal_result {
	const struct temporal *temporal;
	struct temporal_group *groups; /* by level, then by their lowest ranks */
	size_t num_groups;
	bool *is_before; /* [num_groups][num_groups] by rows: see temporal_is_before() */
};

/* More groups than this are not compared, whatever the `max`. */
#define TEMPORAL_MAX_GROUPS 2048

/* Compare the latest samples of the ranks' main threads, which have been taken with the probes of
 * the last choice. NULL with ERROR_UNSUPPORTED: there are more than `max` groups. */
struct temporal_result *temporal_compare(const struct temporal *temporal,
					 const struct samples *samples, const struct rankset *ranks,
					 size_t max, struct pdb_error *err);
void temporal_result_destroy(struct temporal_result *result); /* NULL is fine */
SCOPE_DEFINE(temporal_result)

/* The order of two groups, by index. reason_ret may be NULL. */
enum temporal_order temporal_order_of(const struct temporal_result *result, size_t a, size_t b,
				      struct temporal_reason *reason_ret);

bool temporal_is_before(const struct temporal_result *result, size_t a, size_t b);

/* Ranks of the groups that are first in the order, or last, and in `num` steps along it from there.
 * Those that are before or after no others are in no step. The caller frees. */
struct rankset *temporal_steps(const struct temporal_result *result, size_t num, bool from_last);

/* Are samples of a rank in different iterations of a loop? *reason_ret: of the outermost known. */
bool temporal_has_moved(const struct temporal *temporal, const struct sample *a,
			const struct sample *b, struct temporal_reason *reason_ret);

/* Is any frame of the path in the loop? Is it the innermost around the program's last frame? */
bool temporal_is_in_loop(const struct temporal *temporal, const struct temporal_loop *loop,
			 uint32_t path);
bool temporal_is_innermost_loop(const struct temporal *temporal, const struct temporal_loop *loop,
				uint32_t path);

/* Is the iteration of every loop around every frame of the group known? */
bool temporal_is_known(const struct temporal_result *result, size_t group);

/* The loops around the frame of a group, outermost first, and the values of their variables there.
 * Returns how many; the arrays have room for max. */
size_t temporal_loops_of(const struct temporal_result *result, size_t group, uint32_t frame,
			 const struct temporal_loop **loops, int64_t *values, bool *has_value,
			 size_t max);

#endif
