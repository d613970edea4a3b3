/* SPDX-License-Identifier: BSD-3-Clause
 * Finds where in the frames of a program the values of expressions are, and their types, from its
 * debug information. It reads nothing from processes. The result is a probe for sampling
 * (model/job/code.h), so the values of all ranks come with their stacks.
 *
 * expression.c parses. values.c finds names in scopes, values_follow.c follows the steps of an
 * expression, values_finish.c makes the probe. value_types.c reads types, value_arrays.c the bounds
 * of arrays. value_locations.c makes operations of DWARF's location expressions, which
 * value_pieces.c uses; value_calls.c finds what a caller has passed. conditions.c finds the
 * expressions that jumps go by, operand_names.c what operands are called. */
#pragma once

#include "model/job/code.h"

struct code_function;
struct code_reader;
struct condition;
struct expression;
struct values;

/* The modules are borrowed. Of a value at most so many bytes are read, and never more than
 * CODE_MAX_BYTES: of arrays the first elements. */
struct values *values_create(const struct modules *modules, uint32_t max_bytes);
void values_destroy(struct values *values); /* NULL is fine */

/* Of a frame, as in a call path node. */
struct values_frame {
	uint32_t module;
	uint64_t offset;
	bool is_return;
};

struct values_found {
	uint64_t variable; /* the offset of its debug information in the module's file */
	const struct value_type *type;
	const char *trouble;     /* the name is there, but no value: why; NULL: there is one */
	bool is_for_gdb;         /* then: gdb may know it */
	size_t num_dimensions;   /* if not 0: an array whose counts come first (CODE_READ), and
				  * `type` is of its elements; the shortest stride is the last */
	const uint8_t *constant; /* the value, where no rank need be asked; else NULL */
	struct code_probe probe; /* else what reads it */
	/* If it is a pointer to characters, what reads some of these. Its number of bytes is 0
	 * else. */
	struct code_probe text;
};

/* Find the expression's name in the first of these frames, in the innermost scope that has it. The
 * others are its callers, which may tell what a parameter was. function: only in the function of
 * this name; NULL: in any. Returns 1: *ret, which lives as long as the arena. 0:
 * the frame has no such name. -1: ERROR_USAGE: the steps do not fit its type; ERROR_UNSUPPORTED. */
int values_find(struct values *values, struct arena *arena, const struct values_frame *frames,
		size_t num_frames, const char *function, const struct expression *expression,
		struct values_found *ret, struct pdb_error *err);

/* The same among the module's global variables. */
int values_find_global(struct values *values, struct arena *arena, uint32_t module,
		       const struct expression *expression, struct values_found *ret,
		       struct pdb_error *err);

enum values_kind { VALUES_LOCALS, VALUES_ARGUMENTS };

/* The variables, or the arguments, of the functions that the frame is in, from the blocks around
 * its place. Those of inner blocks come first, each name once. function: of the function of this
 * name; NULL: of all. *function_ret: the function that is not inlined, or that; NULL: not known, or
 * it is not there. The arena owns all. Returns how many there are. */
size_t values_names(struct values *values, struct arena *arena, const struct values_frame *frame,
		    const char *function, enum values_kind kind, const char ***names_ret,
		    const char **function_ret);

/* What the conditional jump at an address of the function asks, with the names of the source. Texts
 * live in the arena. False: not known. */
bool values_condition(struct values *values, struct arena *arena, struct code_reader *reader,
		      uint32_t module, const struct code_function *function, uint64_t address,
		      struct condition *ret);

/* The pointer that the call at an address goes through, as an expression. NULL: none is known. */
const char *values_called_through(struct values *values, struct arena *arena,
				  struct code_reader *reader, uint32_t module,
				  const struct code_function *function, uint64_t address);

/* Has the module debug information? */
bool values_has_information(struct values *values, uint32_t module);
