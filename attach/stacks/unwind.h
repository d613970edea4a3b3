/* SPDX-License-Identifier: BSD-3-Clause
 * Unwinds copied stacks with libunwind. Its accessors get the copied registers and stack, and the
 * unwind tables from images. The process itself runs on meanwhile. */
#pragma once

#include "model/base.h"
#include "model/job/code.h"

struct images;
struct maps;
struct memory;
struct tracee;
struct variables;

/* What is known of one process and kept from sample to sample. */
struct unwind_space;

/* The memory is copied, the maps become owned, the images are borrowed. */
struct unwind_space *unwind_space_create(const struct memory *memory, struct maps *maps,
					 struct images *images);
/* Bound all walks together, in looks at memory and tables (some a frame); else each is by
 * itself. */
void unwind_space_limit(struct unwind_space *space, uint64_t looks);
/* Was that reached? */
bool unwind_space_is_exhausted(const struct unwind_space *space);
void unwind_space_destroy(struct unwind_space *space); /* NULL is fine */
const struct maps *unwind_space_maps(const struct unwind_space *space);

/* A frame of a stack being unwound. */
struct unwind_frame {
	uint64_t address; /* in the process */
	uint32_t module;
	uint64_t offset;
	bool is_return;
};

struct unwind_result {
	uint32_t path;    /* in the call paths; at least the program counter's frame */
	bool is_complete; /* reached the outermost frame */
	bool is_too_deep; /* gave up after thousands of frames */
	bool is_late;     /* frames of an interpreter are missing: there was no time to copy them */
	uint64_t missing; /* stack memory that would have been needed and was not copied; 0: none */
	struct sample_value *values; /* of probes, by depth; the caller frees */
	size_t num_values;
	struct variables *variables; /* NULL: not asked for, or none; the caller destroys it */
};

struct unwind_probe {
	struct code_probe probe;
	uint32_t number; /* what it is called in values */
};

/* What to read in frames on the way. */
struct unwind_probes {
	struct unwind_probe *list; /* by module, offset and is_return */
	size_t num;
	bool wants_contents;  /* of each frame SAMPLE_CONTENTS, too */
	bool wants_variables; /* of Python frames */
	bool wants_vectors;   /* some read vector registers */
};

/* The probes are copied; a probe's number is its place among them. */
void unwind_probes_init(struct unwind_probes *probes, const struct code_probe *list, size_t num);
void unwind_probes_deinit(struct unwind_probes *probes);

/* Unwind what was copied of a thread and intern its frames, Python's in the place of the
 * interpreter's. Of a core only the registers need be copied. probes may be NULL; values that
 * cannot be read are left out, and all where there is Python. */
void unwind_walk(struct unwind_space *space, const struct tracee *tracee,
		 const struct unwind_probes *probes, struct callpaths *callpaths,
		 struct unwind_result *ret);
