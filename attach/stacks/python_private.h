/* SPDX-License-Identifier: BSD-3-Clause
 * What the parts of python.h share. */
#ifndef PDB_ATTACH_PYTHON_PRIVATE_H
#define PDB_ATTACH_PYTHON_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/process/memory.h"

struct modules;

/* A thread stands still for no longer than this because of a copy. Tests of what is copied allow
 * more, since a busy machine takes it. */
extern uint64_t python_copy_ns;

/* Where things are in CPython's structs: offsets in bytes. */
struct python_layout {
	uint64_t runtime_interpreters; /* _PyRuntimeState: the first interpreter */
	uint64_t interpreter_next, interpreter_threads;
	uint64_t thread_next, thread_native_id;
	uint64_t
		thread_frame; /* the innermost frame, or the place that points to it (has_cframe) */
	bool has_cframe;
	uint64_t cframe_frame;
	uint64_t frame_code, frame_previous, frame_instruction;
	/* 3.11: a byte that says whether it is an entry. Later: its owner; what is owned by the C
	 * stack is no frame of Python code but the mark of an entry. */
	uint64_t frame_entry;
	bool has_marks;
	uint64_t code_first_line, code_file, code_qualname, code_line_table, code_instructions;
	uint64_t object_type;
	uint64_t string_length, string_state, string_ascii, string_compact; /* the last two: data */
	uint64_t bytes_size, bytes_data;
};

/* A code object that was seen. */
struct python_code;

/* What the interpreters say of a thread: its own number, and the address of its state. */
struct python_thread {
	uint64_t number, address;
};

struct python {
	struct memory memory;
	struct python_layout layout;
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

/* Name a frame: its module (source file) and its offset there. -1 if the code object cannot be read
 * any more. */
int python_locate(struct python *python, uint64_t code, uint64_t instruction,
		  struct modules *modules, uint32_t *module_ret, uint64_t *offset_ret);
void python_forget_codes(struct python *python);

/* The line of the code unit `unit` (2 bytes each) by a location table of CPython 3.11 or later (its
 * Objects/locations.md says what is in there); 0 if it has none. */
int python_line(const uint8_t *table, size_t size, int first_line, int64_t unit);

#endif
