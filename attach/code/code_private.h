/* SPDX-License-Identifier: BSD-3-Clause
 * What decoders of the architectures share: a function that is being put together. */
#ifndef PDB_ATTACH_CODE_PRIVATE_H
#define PDB_ATTACH_CODE_PRIVATE_H

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/job/code.h"

struct code_file;

/* A table of a switch as far as the instructions before the jump tell of it. */
enum table_step {
	TABLE_NOTHING,
	TABLE_CONSTANT, /* the register holds `address` */
	TABLE_ENTRY,    /* it holds an entry of the table at `address` */
	TABLE_TARGET,   /* it holds what an entry says to jump to */
};

struct table {
	uint8_t step; /* enum table_step */
	uint8_t entry_size;
	bool is_signed;
	uint8_t scale; /* log2 of what an entry counts */
	bool is_relative;
	uint64_t address;
	uint64_t base; /* what entries are relative to */
};

struct code_builder {
	struct code_function *function;
	size_t insns_capacity, effects_capacity, targets_capacity;
	const struct code_file *file;
	struct table tables[CODE_NUM_REGISTERS];
	/* Of the last comparison, if nothing has changed what it found. */
	bool has_compared;
	uint64_t compared; /* the constant */
	/* How many entries a table has that is used now, by the branch before; 0: not known. */
	uint64_t bound;
	uint64_t bound_at, bound_then; /* and what that is at the place which the branch leads to */
};

struct code_machine {
	cs_arch arch;
	cs_mode mode;
	uint64_t preserved;
	uint8_t stack_pointer;
	uint8_t entry_offset;
	/* Decode one instruction: set kind and target of *insn, add effects and targets. */
	void (*decode)(struct code_builder *builder, csh handle, const cs_insn *decoded,
		       struct code_insn *insn);
	/* May the instruction of a function with that range leave it: a return, a jump elsewhere,
	 * or one of which it is not known where to? */
	bool (*may_leave)(csh handle, const cs_insn *decoded, const struct code_range *range);
	/* The address of the pointer that the stub at `bytes` jumps through; 0: it is no stub. */
	uint64_t (*stub_pointer)(const uint8_t *bytes, size_t size, uint64_t address);
};

extern const struct code_machine code_machine_x86;
extern const struct code_machine code_machine_arm64;

/* Bytes of the file at an ELF virtual address; NULL if it has not so many there. */
const uint8_t *code_file_bytes(const struct code_file *file, uint64_t address, size_t size);

struct code_place code_register(unsigned int reg, unsigned int size);
struct code_place code_memory(unsigned int base, int64_t displacement, unsigned int size);
extern const struct code_value code_unknown;
struct code_value code_constant(int64_t constant);
struct code_value code_copy(struct code_place from);
void code_add_term(struct code_value *value, struct code_place place, int64_t factor);
void code_add_effect(struct code_builder *builder, struct code_insn *insn, struct code_place to,
		     struct code_value value);
/* A branch: to run on (or, if is_target, at the target) something is below `limit`, or else it is
 * not known how large anything is. */
void code_note_bound(struct code_builder *builder, uint64_t limit, bool is_target, uint64_t target);
/* A jump through a table: read what entries say as targets of the instruction. */
void code_add_table(struct code_builder *builder, struct code_insn *insn,
		    const struct table *table);

#endif
