/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by the parts of code.h: files with code (code_file.c), a function under construction
 * (code_build.c), decoders of the architectures (code_x86.c, code_arm64.c), variables
 * (variables.c). */
#pragma once

#include <capstone/capstone.h>

#include "attach/symbols/debug_file.h"
#include "model/job/code.h"

struct code_reader;

/* ---- Files ---- */

struct code_segment {
	uint64_t address, size;
	const uint8_t *bytes;
	bool is_writable;
};

/* A module's file, with what tells where functions are in it. */
struct code_file {
	struct debug_files files;
	uint64_t frames; /* address of .eh_frame_hdr, for files without symbols; 0: none */
	struct code_segment *segments;
	size_t num_segments, segments_capacity;
	const struct code_machine *machine;
	csh handle;       /* 0: none */
	uint64_t stored;  /* bytes */
	uint64_t *effort; /* what is left of it for the function that is being read */
};

struct code_bounds {
	struct code_range range;
	const char *name; /* NULL where there is no symbol */
};

/* Zeroed before; without machine and handle. */
void code_file_open(const struct module *module, struct code_file *file);
void code_file_close(struct code_file *file); /* never opened is fine */

/* Bytes of the file at an ELF virtual address; NULL if it has not so many there. */
const uint8_t *code_file_bytes(const struct code_file *file, uint64_t address, size_t size);

/* The name of the function at an address, or behind a stub there; NULL: not known. */
const char *code_file_name(const struct code_file *file, uint64_t address);

/* Does the file say what is there as long as the program runs? */
bool code_file_is_constant(const struct code_file *file, uint64_t address);

/* Take that from the effort. False: there is not so much left. */
bool code_file_spend(const struct code_file *file, uint64_t effort);

/* The function, or a part put elsewhere, at the address: by symbol, else unwind information. */
bool code_file_bounds(const struct code_file *file, uint64_t address, struct code_bounds *ret);

/* The symbol that the dynamic linker puts into the pointer at `address`; NULL: none. */
const char *code_file_relocated_name(const struct code_file *file, uint64_t address);

/* As code_reader_calls(), on x86-64. */
size_t code_file_calls(const struct code_file *file, uint64_t target, uint64_t *ret, size_t max);
/* Is the text, with its end, anywhere in what is loaded? */
bool code_file_has_text(const struct code_file *file, const char *text);

/* The integer variables and parameters of a function and of what is inlined into it, and where they
 * are at which addresses, by DWARF. The file may be closed, or have no debug information. Variables
 * and locations that are no sums of registers and stack slots are left out. Never fails; free with
 * code_variables_destroy(). */
struct code_variables *variables_read(struct debug_file *file,
				      const struct code_function *function);

/* The module's file, with new effort. NULL: there is none. Borrowed, valid until the next call. */
const struct code_file *code_reader_file(struct code_reader *reader, uint32_t module);

/* ---- Decoding ---- */

/* The DWARF number of the integer register that holds this one; CODE_NO_REGISTER: none does. */
unsigned int code_x86_register(x86_reg reg);

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
	/* May it leave a function with that range, by a return or a jump, maybe an unknown one? */
	bool (*may_leave)(csh handle, const cs_insn *decoded, const struct code_range *range);
	/* The address of the pointer that the stub at `bytes` jumps through; 0: it is no stub. */
	uint64_t (*stub_pointer)(const uint8_t *bytes, size_t size, uint64_t address);
};

extern const struct code_machine code_machine_x86;
extern const struct code_machine code_machine_arm64;

enum { CODE_NO_REGISTER = 255 };

struct code_place code_register(unsigned int reg, unsigned int size);
struct code_place code_memory(unsigned int base, int64_t displacement, unsigned int size);
extern const struct code_value code_unknown;
struct code_value code_constant(int64_t constant);
struct code_value code_copy(struct code_place from);
void code_add_term(struct code_value *value, struct code_place place, int64_t factor);
/* *value + factor * *other; it becomes unknown where that is no sum. */
void code_add(struct code_value *value, const struct code_value *other, int64_t factor);
/* Of a value of one term, not shifted yet. */
void code_shift_right(struct code_value *value, unsigned int by, bool is_signed);
void code_add_effect(struct code_builder *builder, struct code_insn *insn, struct code_place to,
		     struct code_value value);
/* The register, by its DWARF number, becomes that; it has nothing to do with a table any more. */
void code_set_register(struct code_builder *builder, struct code_insn *insn, unsigned int reg,
		       unsigned int size, struct code_value value);
/* A branch: to run on (or, if is_target, at the target) something is below the constant that it was
 * compared with and `more`. */
void code_note_bound(struct code_builder *builder, uint64_t more, bool is_target, uint64_t target);
/* target: 0 where it is not known. */
void code_note_call(struct code_builder *builder, struct code_insn *insn, uint64_t target);
/* A jump through a table: read what entries say as targets of the instruction. */
void code_add_table(struct code_builder *builder, struct code_insn *insn,
		    const struct table *table);
