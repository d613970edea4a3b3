/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by condition.c, condition_insns.c and condition_x86.c. */
#pragma once

#include "attach/code/code_private.h"
#include "attach/code/condition.h"

/* Instructions by their indexes. */
struct edge {
	uint32_t to, from;
};

struct conditions {
	const struct code_file *file;
	const struct code_function *function;
	cs_insn *decoded;   /* for one instruction at a time */
	struct edge *edges; /* by `to` */
	size_t num_edges;
	bool (*sets_flags)(const cs_insn *decoded);
};

/* The index of the instruction at an address; UINT32_MAX: none. */
uint32_t conditions_index(const struct code_function *function, uint64_t address);
void conditions_find_edges(struct conditions *conditions);
/* The instructions that may run right before this one. */
const struct edge *conditions_before(const struct conditions *conditions, uint32_t insn,
				     size_t *num_ret);

/* Decode an instruction; valid until the next call. NULL: it is not understood. */
const cs_insn *conditions_decode(const struct conditions *conditions, uint32_t insn);

/* The instruction whose flags are those before `insn`. False: not known. */
bool conditions_flags(const struct conditions *conditions, uint32_t insn, uint32_t *ret);

/* What a conditional instruction asks of the flags. */
enum flags_code {
	FLAGS_OTHER,
	FLAGS_E,
	FLAGS_NE,
	FLAGS_L,
	FLAGS_LE,
	FLAGS_G,
	FLAGS_GE,
	FLAGS_B,
	FLAGS_BE,
	FLAGS_A,
	FLAGS_AE,
	FLAGS_S,
	FLAGS_NS,
	FLAGS_P,
	FLAGS_NP,
};

enum flags_code condition_x86_code(unsigned int id);
bool condition_x86_sets_flags(const cs_insn *decoded);
/* The instruction sets flags, of which that is asked. */
bool condition_x86_compare(const cs_insn *decoded, enum flags_code code, struct comparison *ret);
bool condition_x86_switch(const struct conditions *conditions, uint32_t insn,
			  struct comparison *ret);
/* Does the instruction store the register? *ret: where. */
bool condition_x86_store(const cs_insn *decoded, unsigned int reg, struct operand *ret);
bool condition_x86_pointer(const cs_insn *decoded, struct operand *ret);
/* Does the instruction change the register, by its DWARF number? */
bool condition_x86_sets(const struct conditions *conditions, uint32_t insn, const cs_insn *decoded,
			unsigned int reg);
/* What it sets the register to. */
struct source condition_x86_source(const struct conditions *conditions, uint32_t insn,
				   const cs_insn *decoded, const struct operand *reg);
