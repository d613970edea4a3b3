/* SPDX-License-Identifier: BSD-3-Clause
 * What the conditional jumps of a function compare, and where that came from, instruction by
 * instruction: registers, memory, constants and what called functions have returned.
 *
 * condition.c finds the instruction that sets a register, by condition_insns.c. condition_x86.c
 * knows instructions; AArch64 is not understood so far. attach/values gives all this the names of
 * the source. */
#pragma once

#include <elfutils/libdw.h>

#include "model/job/condition.h"

struct code_function;
struct code_reader;

enum operand_kind {
	OPERAND_UNKNOWN,
	OPERAND_REGISTER,
	OPERAND_MEMORY, /* at reg + scale * index + constant, of which either may be none */
	OPERAND_CONSTANT,
	OPERAND_CALL, /* what the function at `constant` has returned; 0: not known which */
};

enum { OPERAND_NO_REGISTER = 255 };

/* As it is before the instruction at address `at`. Registers have their DWARF numbers. */
struct operand {
	enum operand_kind kind;
	uint8_t size; /* bytes */
	bool is_float;
	uint8_t reg, index, scale;
	int64_t constant;
	uint64_t at;
};

struct comparison {
	enum condition_relation relation;
	bool is_unsigned, is_true_for_nan;
	uint64_t mask; /* of `left`; 0: none */
	struct operand left, right;
};

enum source_kind {
	SOURCE_UNKNOWN,
	SOURCE_COPY,     /* of `from`, maybe made longer or a floating-point number */
	SOURCE_ADD,      /* from + by */
	SOURCE_AND,      /* from & by */
	SOURCE_ABSOLUTE, /* of `from` */
	SOURCE_MIX,      /* it depends on `from` and `other`, either of which may be unknown */
	SOURCE_COMPARE,  /* 1 or 0: `comparison` */
};

struct source {
	enum source_kind kind;
	struct operand from, other;
	int64_t by;
	struct comparison comparison;
};

/* Of one function, by its file on this host. NULL: the file is not there, or is not understood. All
 * is borrowed. From here to the end is for within a struct cut_guard (attach/symbols). */
struct conditions *conditions_create(struct code_reader *reader, uint32_t module,
				     const struct code_function *function);
void conditions_destroy(struct conditions *conditions); /* NULL is fine */

/* What a CODE_BRANCH at the address compares, or what a CODE_SWITCH goes by (CONDITION_TABLE).
 * False: not known. */
bool conditions_of(const struct conditions *conditions, uint64_t address, struct comparison *ret);

/* Where a register's content comes from. */
struct source conditions_source(const struct conditions *conditions, const struct operand *reg);

/* Where the register is stored, soon after the instruction that has set it. False: nowhere. */
bool conditions_stored(const struct conditions *conditions, const struct operand *reg,
		       struct operand *ret);

/* What a call goes through: a pointer that is there. False: it is no call through a pointer. */
bool conditions_call(const struct conditions *conditions, uint64_t address, struct operand *ret);

/* The name of the function at an address, or behind a stub there; NULL: not known. Borrowed from
 * the file. */
const char *conditions_name(const struct conditions *conditions, uint64_t address);

/* How frames are unwound, for dwarf_cfi_addrframe(); dwarf_cfi_end() ends it. NULL: not known. */
Dwarf_CFI *conditions_frames(const struct conditions *conditions);

/* Bytes of the file at an address that the program cannot write to; NULL: others. */
const uint8_t *conditions_constant(const struct conditions *conditions, uint64_t address,
				   size_t size);
