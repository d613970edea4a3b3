/* SPDX-License-Identifier: BSD-3-Clause
 * Finds the values of expressions in many ranks: it finds the frame that has the name, makes a
 * probe for each place, samples all ranks once, and puts equal values together. */
#pragma once

#include "attach/values/values.h"
#include "shell/answers/frame.h"

struct callpath_node;
struct printed;
struct printed_locals;
struct session;

/* FRAME_ANY: the innermost frame that has the name, or a global variable. gdb is asked for what pdb
 * cannot read, of few ranks. The arena owns *ret. -1: ERROR_UNSUPPORTED, ERROR_USAGE, or sampling
 * failed. */
int print_expression(struct session *session, struct arena *arena, const char *expression,
		     const struct frame *frame, const struct rankset *ranks, struct printed *ret,
		     struct pdb_error *err);

/* The same of several, without gdb. All expressions are read at one moment of a rank. ret: `num`,
 * which the arena owns. -1: ERROR_UNSUPPORTED, ERROR_USAGE, or sampling failed. */
int print_values(struct session *session, struct arena *arena, const char *const *expressions,
		 size_t num, const struct frame *frame, const struct rankset *ranks,
		 struct printed *ret, struct pdb_error *err);

/* All variables of the frame, or its arguments; FRAME_ANY: the innermost frame of the program's own
 * code. Function by function, the one that the most ranks are in first. The arena owns *ret. -1: as
 * above. */
int print_locals(struct session *session, struct arena *arena, const struct frame *frame,
		 bool are_arguments, const struct rankset *ranks, struct printed_locals *ret,
		 struct pdb_error *err);

/* One expression in one frame, and what ranks have there. */
struct print_ask {
	const char *expression;
	struct frame frame;
	uint64_t variable; /* only the one with that debug information (values_found); 0: any */
};

struct print_read {
	uint32_t node;    /* as in struct printed */
	const char *type; /* the same */
	struct value_reading *readings;
	size_t num;
	struct rankset *for_gdb; /* ranks whose value gdb may know */
};

/* What print_values() makes of it. values: to find them with; NULL: new ones. is_keeping: variables
 * that come with the stacks (of Python frames) become those of the job's samples, where ranks are
 * at the same places. ret: `num`; the arena owns what is in there. -1: as above. */
int print_read(struct session *session, struct arena *arena, const struct print_ask *asks,
	       size_t num, const struct rankset *ranks, struct values *values, bool is_keeping,
	       struct print_read *ret, struct pdb_error *err);

/* What ranks have of an expression, equal values together. The arena owns *ret. */
void print_group(struct arena *arena, const char *expression, const struct print_read *read,
		 struct printed *ret);

/* Do answers come from what a snapshot keeps? */
bool print_is_kept(const struct session *session);
#define PRINT_NOT_KEPT "not in the snapshot; \"help save\" says which ranks are"
/* Is there memory, or anything kept? -1: *err. */
int print_check(struct session *session, struct pdb_error *err);
/* Bytes of a value's text in a snapshot. */
#define PRINT_KEPT_TEXT 240
/* The variables of a sample become those of the job's, in frames that both have. */
void print_keep_sample(struct job *job, const struct sample *sample);
/* Why a rank was not sampled. */
const char *print_no_sample(const struct job *job, int rank);
/* An interpreter in the stack that pdb cannot look into; NULL: there is none. */
const char *print_unknown_python(struct arena *arena, const struct job *job, uint32_t path);
/* Why nothing is known of the variables of a stack. */
const char *print_no_information(struct arena *arena, const struct job *job, uint32_t path);

/* The node as a frame; its padding is 0, so that it can be a key. */
struct values_frame print_frame(const struct callpath_node *node);
