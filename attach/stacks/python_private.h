/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by the parts of python.h. */
#pragma once

#include "attach/process/memory.h"

/* No thread stands still for longer because of a copy; tests allow more, for busy machines. */
extern uint64_t python_copy_ns;

/* Where things are in CPython's structs, offsets in bytes: the beginning of _PyRuntime in 3.13,
 * _Py_DebugOffsets, with which debuggers are told. */
struct python_offsets {
	char cookie[8];
	uint64_t version, free_threaded;
	struct {
		uint64_t size, finalizing, interpreters_head;
	} runtime;
	struct {
		uint64_t size, id, next, threads_head, gc, imports_modules, sysdict, builtins;
		uint64_t ceval_gil, gil, gil_enabled, gil_locked, gil_holder;
	} interpreter;
	struct {
		uint64_t size, prev, next, interp, current_frame, thread_id, native_thread_id;
		uint64_t datastack_chunk, status;
	} thread;
	struct {
		uint64_t size, previous, executable, instr_ptr, localsplus, owner;
	} frame;
	struct {
		uint64_t size, filename, name, qualname, linetable, firstlineno, argcount;
		uint64_t localsplusnames, localspluskinds, code_adaptive;
	} code;
	struct {
		uint64_t size, type;
	} object;
	uint64_t type_object[4], tuple_object[3], list_object[3], dict_object[3];
	uint64_t float_object[2], long_object[3];
	struct {
		uint64_t size, ob_size, ob_sval;
	} bytes;
	struct {
		uint64_t size, state, length, ascii_size;
	} string;
};

/* A code object that was seen. */
struct python_code;

/* What the interpreters say of a thread: its own number, and the address of its state. */
struct python_thread {
	uint64_t number, address;
};

struct python {
	struct memory memory;
	struct python_offsets offsets;
	/* The thread has the place that points to its innermost frame, and a frame a byte that says
	 * whether it is an entry. Later the thread has the frame, and a frame its owner; what is
	 * owned by the C stack is no frame of Python code but the mark of an entry. */
	bool is_3_11;
	uint64_t runtime;              /* address of _PyRuntime */
	uint64_t code_type;            /* address of PyCode_Type */
	uint64_t eval_start, eval_end; /* _PyEval_EvalFrameDefault */
	uint64_t start, end;           /* the program or library that holds all that */
	struct python_code *codes;
	size_t code_bytes;             /* of their location tables */
	size_t line_bytes;             /* of tables that may still be read or gone through */
	struct python_thread *threads; /* as of listed_ns; 0: never */
	size_t num_threads, threads_capacity;
	uint64_t listed_ns;
};

/* A frame's module (source file) and offset there. -1: the code object cannot be read any more. */
int python_locate(struct python *python, uint64_t code, uint64_t instruction,
		  struct modules *modules, uint32_t *module_ret, uint64_t *offset_ret);
/* A str as UTF-8. The caller frees; NULL if it is none, or has more characters than `most`. With
 * is_cut_ret those beyond are left out. At most 1024. */
char *python_string(const struct python *python, uint64_t object, uint64_t most, bool *is_cut_ret);
void python_forget_codes(struct python *python);

/* The line of the code unit `unit` (2 bytes each) by a location table of CPython 3.11 or later; 0
 * if it has none. An entry of the table begins with a byte: 128 + 8 * kind + code units - 1. After
 * it come, by kind: 0 to 9 columns on the same line; 10 to 12 the same, kind - 10 lines further; 13
 * a signed difference of lines; 14 the same, then columns; 15 nothing: it has no line. No byte
 * after the first has bit 7. */
int python_line(const uint8_t *table, size_t size, int first_line, int64_t unit);
