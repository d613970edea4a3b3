/* SPDX-License-Identifier: BSD-3-Clause
 * The control flow of one function: basic blocks and their loop nest, which of two places comes
 * first, and how registers relate to the frame. */
#pragma once

#include "model/job/code.h"

struct flow_block {
	uint32_t first, num; /* instructions */
};

/* A register's distance from the canonical frame address, where it is known. */
struct flow_frame {
	bool is_known[CODE_NUM_REGISTERS];
	int64_t offset[CODE_NUM_REGISTERS];
};

struct flow {
	struct arena *arena;              /* all of it lives there */
	const struct code_function *code; /* borrowed */
	struct flow_block *blocks;
	size_t num_blocks;
	uint32_t *block_of; /* [instructions] */
	uint32_t entry;     /* block */
	struct graph *graph;
	struct loop_nest *nest;
	uint32_t *order;           /* [num_blocks] reverse postorder */
	size_t num_reachable;      /* so many of them can be reached from the entry */
	uint32_t *position;        /* [num_blocks] in `order` */
	struct flow_frame *frames; /* [num_blocks] where the block begins */
	/* code->effects, with stack slots relative to the CFA where that is known. */
	struct code_effect *effects;
	int64_t *taken; /* places in the frame that the function makes pointers to, ascending */
	size_t num_taken, taken_capacity;
};

/* Never fails. */
struct flow *flow_create(const struct code_function *code);
void flow_destroy(struct flow *flow); /* NULL is fine */

/* A place in a function: before an instruction, or inside the function that it calls. */
struct flow_place {
	uint32_t insn;
	bool is_inside;
};

/* Is it known how it is reached? Not of exceptions' handlers and where unknown jumps lead. */
bool flow_is_reachable(const struct flow *flow, uint32_t block);
/* The last instruction of a block; and is it a jump with an unknown target? */
const struct code_insn *flow_last_insn(const struct flow *flow, uint32_t block);
bool flow_is_unknown_jump(const struct flow *flow, uint32_t block);

/* The place of an address, or of the return address of a call. False: none of this function's. */
bool flow_find(const struct flow *flow, uint64_t address, bool is_return, struct flow_place *ret);

/* The innermost loop that contains it, or LOOP_NONE; and the innermost that contains both. */
uint32_t flow_loop(const struct flow *flow, struct flow_place place);
uint32_t flow_common_loop(const struct flow *flow, struct flow_place a, struct flow_place b);

enum flow_order {
	FLOW_BEFORE,
	FLOW_SAME,
	FLOW_AFTER,
	FLOW_BRANCHES,    /* no way leads from one to the other */
	FLOW_NOT_KNOWN,   /* a jump with an unknown target is on the way */
	FLOW_IRREDUCIBLE, /* each leads to the other, through a loop with several entries */
};

/* Which of two places comes first in one iteration of the innermost loop that contains both, or
 * where there is none in one call of the function. */
enum flow_order flow_compare(const struct flow *flow, struct flow_place a, struct flow_place b);

/* Does the edge lead back to the header of a loop? */
bool flow_is_back_edge(const struct flow *flow, uint32_t from, uint32_t to);

/* Before an instruction. */
struct flow_frame flow_frame_at(const struct flow *flow, uint32_t insn);
/* A place with a base register, if it has one, as seen there, relative to the CFA where that is
 * known. */
struct code_place flow_resolve(const struct flow_frame *frame, struct code_place place);

/* Can others change the stack slot? Those that the function makes a pointer to, and what is above
 * one, which may be a part of the same array, unless it is known to be a variable. */
bool flow_is_shared(const struct flow *flow, int64_t slot, unsigned int size, bool is_variable);
