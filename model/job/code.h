/* SPDX-License-Identifier: BSD-3-Clause
 * Machine code for analyses: the instructions of one function, their effects on integer registers
 * and memory, and its variables. Filled by attach/. Addresses are ELF virtual ones. */
#pragma once

#include "model/base.h"

/* Registers have their DWARF numbers. One more stands for the canonical frame address, the stack
 * pointer's value in the caller, so that a stack slot is memory at CFA + displacement. */
#define CODE_CFA 32
#define CODE_NUM_REGISTERS 33

enum code_place_kind { CODE_REGISTER, CODE_MEMORY };

struct code_place {
	uint8_t kind;         /* enum code_place_kind */
	uint8_t reg;          /* the register, or the base of the address */
	uint8_t size;         /* bytes */
	bool is_signed;       /* how it is read into a wider one */
	int64_t displacement; /* of memory */
};

#define CODE_MAX_TERMS 2

/* (factor * place + factor * place + constant) >> shift; of other forms nothing is known. */
struct code_value {
	bool is_known;
	bool is_unsigned; /* the shift brings in zeros */
	uint8_t num_terms;
	uint8_t shift;
	int64_t constant;
	struct {
		struct code_place place;
		int64_t factor;
	} terms[CODE_MAX_TERMS];
};

/* An instruction writes that there. Effects of one instruction take place one after the other. */
struct code_effect {
	struct code_place to;
	struct code_value value;
};

enum code_kind {
	CODE_PLAIN,
	CODE_JUMP,   /* to its target */
	CODE_BRANCH, /* to its target, or on */
	CODE_SWITCH, /* to one of `targets`; without any it is not known where to */
	CODE_CALL,   /* on, after the function has returned */
	CODE_END,    /* a return, tail call, trap, call of a function that does not return */
};

struct code_insn {
	uint64_t address;
	uint64_t target; /* 0: none, or not known */
	uint8_t length;
	uint8_t kind; /* enum code_kind */
	uint32_t first_effect, num_effects;
	uint32_t first_target, num_targets; /* of a CODE_SWITCH */
};

struct code_range {
	uint64_t begin, end;
};

struct code_function {
	uint64_t entry;
	/* The function's own first, then those of parts that the compiler has put elsewhere. */
	struct code_range *ranges;
	size_t num_ranges;
	struct code_insn *insns; /* by address */
	size_t num_insns;
	struct code_effect *effects;
	size_t num_effects;
	uint64_t *targets;
	size_t num_targets;
	uint64_t preserved; /* set of registers that a called function leaves as they were */
	uint8_t stack_pointer;
	uint8_t entry_offset; /* the CFA is so much above the stack pointer at the entry */
};

void code_function_destroy(struct code_function *function); /* NULL is fine */
/* The instruction that holds the address; NULL if it is in none. */
const struct code_insn *code_function_find(const struct code_function *function, uint64_t address);

/* An integer variable or parameter is there, for the addresses of the range. */
struct code_location {
	struct code_range range;
	struct code_value value;
};

struct code_variable {
	char *name;
	char *file; /* last component, or NULL */
	int line;   /* of its declaration; 0: not known */
	uint8_t size;
	bool is_signed;
	bool is_protected; /* called functions that have its address do not change it (Fortran) */
	struct code_location *locations;
	size_t num_locations;
};

struct code_variables {
	bool has_debug_info;
	struct code_variable *variables;
	size_t num_variables;
};

void code_variables_destroy(struct code_variables *variables); /* NULL is fine */

#define CODE_MAX_BYTES 65536
#define CODE_MAX_OPS 1024
#define CODE_MAX_DIMENSIONS 8

/* What the operations of a read do, on a stack of 64-bit words. They have no loops. */
enum code_op_kind {
	CODE_OP_CONSTANT,     /* push the operand */
	CODE_OP_REGISTER,     /* push the register of that number */
	CODE_OP_BIAS,         /* push how far the module's addresses are above those of its file */
	CODE_OP_LOAD,         /* so many bytes at the address on top take its place */
	CODE_OP_ADD_CONSTANT, /* add the operand to what is on top */
	CODE_OP_SIGNED,       /* keep so many low bytes, as a signed or an unsigned number */
	CODE_OP_UNSIGNED,
	/* Of the two on top, whose place the result takes. */
	CODE_OP_ADD,
	CODE_OP_SUBTRACT,
	CODE_OP_MULTIPLY,
	CODE_OP_DIVIDE,
	CODE_OP_MODULO,
	CODE_OP_AND,
	CODE_OP_OR,
	CODE_OP_XOR,
	CODE_OP_SHIFT_LEFT,
	CODE_OP_SHIFT_RIGHT,
	CODE_OP_SHIFT_RIGHT_SIGNED,
	CODE_OP_EQUAL,
	CODE_OP_NOT_EQUAL,
	CODE_OP_LESS,
	CODE_OP_LESS_EQUAL,
	CODE_OP_GREATER,
	CODE_OP_GREATER_EQUAL,
	CODE_OP_PICK, /* push the one that is so far below the top */
	CODE_OP_DROP,
	CODE_OP_SWAP,
	CODE_OP_ROTATE,      /* the top goes below the next two */
	CODE_OP_FRAME,       /* registers are those of so many frames up from here on */
	CODE_OP_THREAD,      /* an offset among the module's thread-locals becomes an address */
	CODE_OP_OBJECT,      /* what is on top, and stays, is where the object is */
	CODE_OP_PUSH_OBJECT, /* push that */
	CODE_OP_REQUIRE,     /* pop it; if it is 0, end with the operand, an enum code_status */
	/* Pop a stride, an upper and a lower bound. The address below moves to the index. */
	CODE_OP_INDEX,
	/* Pop the last and the first index that are wanted, and the same three. The address moves
	 * to the first, and the dimension is one of the result. With operand 1: pop the three
	 * alone, and take all of the dimension. */
	CODE_OP_RANGE,
	/* What gives bytes of the result. */
	CODE_OP_WORD,     /* so many low bytes of what is popped */
	CODE_OP_BYTES,    /* so many at the address that is popped */
	CODE_OP_TEXT,     /* the same, fewer where the memory ends, then zeros */
	CODE_OP_VECTOR,   /* of the vector register operand / 256 the low operand % 256 */
	CODE_OP_ELEMENTS, /* of so many bytes, at the address that is popped and along dimensions */
};

struct code_op {
	uint8_t kind; /* enum code_op_kind */
	int64_t operand;
};

/* How a read has ended: the first word of its values. */
enum code_status {
	CODE_READ, /* behind it the counts of dimensions, the first one's first, then the bytes */
	CODE_NO_MEMORY,
	CODE_LOST_REGISTER,
	CODE_NOT_ALLOCATED,
	CODE_NOT_ASSOCIATED,
	CODE_NO_ELEMENT,    /* behind it the lower and the upper bound */
	CODE_NO_THREAD,     /* its thread-locals are not found */
	CODE_NO_THREAD_YET, /* the thread has not used them, so that they are not there */
	CODE_TOO_LARGE,
	CODE_NO_VALUE, /* division by zero and the like */
};

/* What the operations lead to. */
struct code_read {
	uint32_t num_bytes;  /* at most; 0: the value itself is what is wanted */
	bool is_global;      /* no registers take part: once for each stack */
	struct code_op *ops; /* borrowed, but of a question that was taken from bytes */
	size_t num_ops;
};

/* What is to be read in every frame that is at this place. */
struct code_probe {
	uint32_t module;
	uint64_t offset; /* as in a call path node */
	bool is_return;
	uint8_t size; /* of the variable: the value is cut to so many bytes */
	bool is_signed;
	struct code_value value;
	struct code_read read; /* for questions only: neither shares nor snapshots keep it */
};

bool code_value_is_same(const struct code_value *a, const struct code_value *b);
/* Do both read the same in the same frames? */
bool code_probe_is_same(const struct code_probe *a, const struct code_probe *b);

/* An ELF virtual address. */
struct code_address {
	uint32_t module;
	uint64_t address;
};

/* What is asked of a process' machine code, wherever it runs. */
struct code_question {
	const struct code_probe *probes; /* what to read in its frames */
	size_t num_probes;
	const struct code_address *names; /* of these; as frames' that are not return addresses */
	size_t num_names;
	const struct code_address *functions; /* those that hold these */
	size_t num_functions;
	bool wants_variables; /* of Python frames, too */
};

/* Free what a question that was taken from bytes holds. */
void code_question_deinit(struct code_question *question);

/* A value as the variable has it, and how a value is made of what its places hold. */
int64_t code_extend(int64_t bits, unsigned size, bool is_signed);
int64_t code_evaluate(const struct code_value *value, const int64_t places[CODE_MAX_TERMS]);
