/* SPDX-License-Identifier: BSD-3-Clause
 * The frame of a stack that print, locals, info args and list are asked about. */
#pragma once

#include "model/base.h"

struct args;
struct name;
struct session;

enum frame_kind {
	FRAME_ANY,      /* the innermost of the program's own code that has what is wanted */
	FRAME_NUMBER,   /* of those of the program's own code, 0 the innermost */
	FRAME_FUNCTION, /* the innermost of this function */
	FRAME_PARTED,   /* the outermost in which ranks differ */
	FRAME_NODE,     /* `common`, in the stacks that have it */
};

struct frame {
	enum frame_kind kind;
	long number;
	const char *function;
	uint32_t common; /* the innermost frame that all ranks share, in job->callpaths */
};

/* Is it machine code of the program's own, or a function of a Python program? */
bool frame_is_own(const struct job *job, uint32_t node);

/* "2", "parted", or a function's name. -1: ERROR_NOT_FOUND: the ranks do not part; ERROR_USAGE: a
 * word that begins with a digit is no number of a frame. */
int frame_parse(struct session *session, const char *word, struct frame *ret,
		struct pdb_error *err);

/* Take "frame 2", "parted" or a function's name at *next; nothing if there are no words, or the
 * next one begins a list of ranks. ret: FRAME_ANY then. -1: as above, ERROR_USAGE. */
int frame_take(struct session *session, const struct args *args, size_t *next, struct frame *ret,
	       struct pdb_error *err);

/* May only one frame of a stack be meant? */
bool frame_is_one(const struct frame *frame);

/* Is it the function that a user means: by its whole name, or its last components? */
bool frame_is_called(struct arena *arena, const struct name *name, const char *function);

/* The only frame of the stack that can be meant, of FRAME_NUMBER and FRAME_PARTED: of others the
 * innermost of the program's own code. CALLPATH_NONE: there is none. */
uint32_t frame_find(const struct job *job, const struct frame *frame, uint32_t path);

/* Why a stack has no such frame. Static text, or the arena's. */
const char *frame_missing(struct arena *arena, const struct frame *frame);
