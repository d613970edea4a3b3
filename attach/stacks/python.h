/* SPDX-License-Identifier: BSD-3-Clause
 * The Python functions that a CPython process is in. They are read from the interpreter's own
 * frames and replace the native frames that run them. CPython 3.11 (offsets from its headers) and
 * 3.13 (which has them at the start of _PyRuntime). */
#pragma once

#include "model/base.h"

struct maps;
struct memory;
struct unwind_frame;
struct variables;

/* What is known of the interpreter of one process. */
struct python;

/* NULL: no interpreter in the process or core, or an unknown one. The memory is copied. */
struct python *python_create(const struct memory *memory, const struct maps *maps);
void python_destroy(struct python *python); /* NULL is fine */

/* Python itself allows 1000 frames if it is not told otherwise. */
enum { PYTHON_MAX_FRAMES = 1024, PYTHON_MAX_PAGES = 32, PYTHON_PAGE = 4096 };

/* An interpreter's frame. */
struct python_frame {
	uint64_t code;        /* its code object; 0: none yet */
	uint64_t instruction; /* where it is in there */
	bool is_entry;        /* outermost of those that one native call of the interpreter runs */
	uint64_t address;     /* of the frame itself */
	/* By python_merge(): its module, and its place among the frames, 1 the innermost; 0: it has
	 * none. */
	uint32_t module;
	size_t place;
};

/* What is copied of a thread while it stands still. */
struct python_copy {
	/* In. */
	struct python *python;
	uint64_t thread; /* its thread state */
	/* Out. */
	struct python_frame frames[PYTHON_MAX_FRAMES]; /* innermost first */
	size_t num_frames;
	bool is_whole; /* up to the outermost */
	bool is_late;  /* time ran out before */
	/* Memory that the frames are in. */
	uint64_t page_addresses[PYTHON_MAX_PAGES];
	uint8_t pages[PYTHON_MAX_PAGES][PYTHON_PAGE];
	size_t num_pages;
};

/* Before the stop: find the thread. False if it is none of Python's, or not yet. */
bool python_prepare(struct python *python, pid_t tid, struct python_copy *copy);

/* While the thread stands still. Reads a few pages, and gives up after 100 us. */
void python_copy_frames(struct python_copy *copy);

/* Replace the interpreter's own frames among frames[*num], innermost first and at most `max`, by
 * what it runs; nothing is changed where the two do not fit together. Frames of Python code have
 * the source file as module, with function and line (modules_set_place). False if the outermost are
 * missing: more than can be copied, or no time. */
bool python_merge(struct python_copy *copy, struct modules *modules, struct unwind_frame *frames,
		  size_t *num, size_t max);

/* The variables of the program's own Python frames, after python_merge(), with what they are now:
 * the process runs on. Numbers, texts, and how large others are. num_frames: of the whole stack.
 * NULL: there are none. The caller destroys it. */
struct variables *python_variables(const struct python_copy *copy, const struct modules *modules,
				   size_t num_frames);
