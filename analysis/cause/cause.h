/* SPDX-License-Identifier: BSD-3-Clause
 * Where ranks that run the same function parted: the branch whose sides lead to one place and to
 * the other. By control dependence (Ferrante, Ottenstein and Warren, "The Program Dependence Graph
 * and Its Use in Optimization", TOPLAS 1987): a place depends on the branches of which one side
 * leads there in any case, and the other need not. Those of one place and not of the other are
 * candidates; what the ranks' values say of them decides. */
#pragma once

#include "analysis/stacks/flow.h"
#include "model/job/condition.h"

#define CAUSE_NONE UINT32_MAX

/* Two sides: 0 and 1, ranks that are at one place, and those at the other. */
struct cause_places {
	const struct flow *flow;
	struct flow_place place[2];
	/* Compilers may have copied it: the side is there, or at one of these instructions. */
	const uint32_t *copies[2];
	size_t num_copies[2];
	bool has_left[2]; /* they have left the function: there is no such place */
	/* What it calls there is a library's, which changes none of the program's variables. */
	bool is_in_library[2];
	/* The side that is in an earlier iteration of a loop around both, -1: in the same one; -2:
	 * not known, or maybe in another call of the function. */
	int earlier;
};

struct cause_branch {
	uint32_t block;
	uint64_t address; /* of the jump */
	/* The successor, a block, that each side must have taken; CAUSE_NONE: it need not have come
	 * here. */
	uint32_t to[2];
};

/* What the values now say of a branch. */
struct cause_evidence {
	uint32_t line; /* equal ones are one line of the source */
	/* The successor that all ranks of the side would take now; CAUSE_NONE: not known. */
	uint32_t now[2];
	/* Had they left it by another side than they must have, the same would still be there. */
	bool is_unchanged[2];
	/* Those who are still in the loop have only not come so far. */
	bool is_behind;
	/* The side is in a loop that the other has left by this branch, and no count tells that it
	 * should have left, too. */
	bool is_inside[2];
	bool is_counted; /* it goes by what the loop counts, which differs between iterations */
};

enum cause_result {
	CAUSE_FOUND,     /* *branch_ret */
	CAUSE_LIKELY,    /* the same, unless values that an earlier branch goes by have changed */
	CAUSE_ELSEWHERE, /* not in this function, but in one that a side is in */
	CAUSE_NOT_KNOWN,
};

/* The candidates, in the order in which the function comes to them. Returns how many; the arena
 * owns them. *is_known_ret false: jumps are not understood, or the places are not there. */
size_t cause_branches(struct arena *arena, const struct cause_places *places,
		      struct cause_branch **ret, bool *is_known_ret);

/* Does the function come to one of these instructions in any case just as often as to the other? */
bool cause_are_equivalent(const struct flow *flow, uint32_t insn_a, uint32_t insn_b);

/* The successor that a branch takes; CAUSE_NONE: not known. */
uint32_t cause_successor(const struct flow *flow, const struct cause_branch *branch,
			 const struct condition *condition, double left, double right);

/* What was there before the instruction at `at`, in a register, in the frame or elsewhere: is it
 * the same on all ways to the side's place? The ways begin at the successor that the side must have
 * taken; if there is none, at those that the other side has not taken. */
bool cause_is_unchanged(const struct cause_places *places, const struct cause_branch *branch,
			uint32_t side, const struct code_place *place, uint64_t at);

/* Does the loop around the branch add a constant to what is there? */
bool cause_is_counter(const struct cause_places *places, const struct cause_branch *branch,
		      const struct code_place *place);

/* Is the side still in a loop that the other side has left by this branch? */
bool cause_is_in_loop(const struct cause_places *places, const struct cause_branch *branch,
		      uint32_t side);

/* is_together[side]: it surely waits at its place for all ranks of the other side, so these have
 * not been there before. evidence: [num]. */
enum cause_result cause_choose(const struct cause_places *places,
			       const struct cause_branch *branches,
			       const struct cause_evidence *evidence, size_t num,
			       const bool is_together[2], uint32_t *branch_ret);
