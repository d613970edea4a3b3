/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by the parts of unwind.h: the process as shown to libunwind (unwind_space.c), a walk
 * along one of its stacks (unwind.c), and what is read in its frames (unwind_read.c). */
#pragma once

#include <libunwind.h>

#include "attach/process/memory.h"
#include "attach/stacks/unwind.h"

struct tracee_part;

/* Integer registers, whose numbers in libunwind are those of DWARF. */
#if defined(__x86_64__)
#define WALK_REGISTERS UNW_X86_64_RIP
_Static_assert(UNW_X86_64_RAX == 0 && UNW_X86_64_RSP == 7 && UNW_X86_64_R15 == 15, "as in DWARF");
#elif defined(__aarch64__)
#define WALK_REGISTERS (UNW_AARCH64_SP + 1)
_Static_assert(UNW_AARCH64_X0 == 0 && UNW_AARCH64_SP == 31, "as in DWARF");
#endif

struct unwind_space {
	struct memory memory;
	struct maps *maps;
	struct images *images;
	struct image **by_object; /* of each of the maps' objects, filled when asked for */
	unw_addr_space_t as;
	bool is_limited;
	uint64_t looks_left; /* of all walks if it is limited, else of this one */
};

/* What libunwind's accessors are given. */
struct walk {
	struct unwind_space *space;
	const struct tracee *tracee;
	const struct unwind_probes *probes;
	uint64_t missing;
	uint64_t looks_left; /* of this step */
	uint64_t blocked;    /* signals in the frame at hand; 0 where that is not known */
	bool is_guessed; /* a frame had no unwind information: registers of those outside are not
			  * known */
	uint64_t bytes_read;         /* by probes, behind addresses */
	struct sample_value *values; /* depth: from the innermost frame, until all are known */
	size_t num_values, values_capacity;
};

#define WALK_FRAME_LOOKS 16 /* what a frame counts as, at least */

/* Take so many looks. False: it has taken too many, or was interrupted. */
bool walk_look(struct walk *walk, uint64_t num);

/* A word of what was copied; of anything that an unwinder may read, which takes a look. */
bool walk_read_part(const struct tracee_part *part, uint64_t address, unw_word_t *value);
bool walk_read(struct walk *walk, uint64_t address, unw_word_t *value);

/* The module's addresses in the process are so much above those in its file. False: it is not
 * loaded. */
bool unwind_bias(struct unwind_space *space, uint32_t module, uint64_t *ret);

/* Where code is. */
void unwind_locate(struct unwind_space *space, uint64_t ip, bool is_return,
		   struct unwind_frame *ret);

/* A register of the frame by its DWARF number, or CODE_CFA. False: it is not known. */
bool walk_register(const unw_cursor_t *cursor, unsigned int number, unw_word_t *ret);

/* Of a probe with that number; frame: 0 is the innermost. Words come in reverse order. */
void walk_add_value(struct walk *walk, size_t frame, uint32_t number, int64_t value);

/* Carry out the operations of the probe's read, and add how it ended and what it has read. */
void walk_read_ops(struct walk *walk, const unw_cursor_t *cursor, const struct code_probe *probe,
		   uint32_t number, size_t frame);
