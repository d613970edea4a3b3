/* SPDX-License-Identifier: BSD-3-Clause
 * Names of call path nodes: function, file, line. They come from a resolver (attach/symbols) on
 * demand, or from a snapshot. So analysis and render need not know ELF.
 *
 * A node has a chain of names, from the innermost inlined function to the frame's own. Stacks show
 * them all, as gdb does; a place in one line is names_get(). */
#pragma once

#include "model/base.h"

struct name {
	/* demangled; "libfoo.so+0x1234" without symbol; "MPI_Send" of all symbols that are this
	 * function (mpi_name.h); never NULL */
	const char *function;
	const char *file;      /* last component only; NULL where there is no line information */
	const char *full_file; /* as in the debug information; NULL where there is none */
	int line;              /* 0 where there is none */
	bool is_symbol;        /* false: `function` is only module and offset */
	bool is_library;       /* its file is the compiler's, the standard library's or MPI's */
	const struct name *caller; /* it is inlined there, with the line of the call; NULL: none */
};

enum { NAMES_MAX_CHAIN = 256 }; /* of one node: deeper ones are left out */

/* Look up `address` (already moved off a return address) in a module, once a node. 0 and *ret, the
 * innermost name, whose strings and callers are copied; -1: not found. */
typedef int (*names_resolve_fn)(void *resolver, uint32_t module, uint64_t address,
				struct name *ret);

struct names;

/* Both tables must outlive the names. resolve NULL: names_set() tells, or module and offset. */
struct names *names_create(const struct modules *modules, const struct callpaths *paths,
			   names_resolve_fn resolve, void *resolver);
void names_destroy(struct names *names);

/* These never fail. Borrowed, valid until names_set() gives the node others. CALLPATH_NONE: "?".
 *
 * The innermost that is not a library's, for "where is it"; the frame's function if all are. */
const struct name *names_get(struct names *names, uint32_t node);
/* The innermost: all others are its callers. */
const struct name *names_innermost(struct names *names, uint32_t node);
/* The function that the frame is of, in which all others are inlined. */
const struct name *names_function(struct names *names, uint32_t node);
/* The name at a level: 0 is the frame's function, 1 is inlined into it, and so on; the innermost
 * where there are not so many. */
const struct name *names_at(struct names *names, uint32_t node, size_t level);
/* How many functions a name's is inlined into: its level. */
size_t name_level(const struct name *name);
/* Give a node its name and its callers, which are copied. */
void names_set(struct names *names, uint32_t node, const struct name *name);

/* Is it, by its whole path, a header of the compiler, the standard library or MPI? */
bool names_is_library_file(const char *path);

/* For "where is it": the innermost frame in a MODULE_PROGRAM whose function is no library's, or
 * the innermost in such a module; CALLPATH_NONE: there is none. */
uint32_t names_user_frame(struct names *names, uint32_t path);
/* What names_get() of that does not tell: the innermost function of the program between that place
 * and what lies beyond; NULL: that is the place itself. */
const struct name *names_behind(struct names *names, uint32_t path);

/* Is it the border between a signal's handler and what it interrupted, farther out? */
bool names_is_signal(const struct names *names, uint32_t node);

/* Is its code MPI's? In the program itself, entry points are known by name. */
bool names_is_mpi(struct names *names, uint32_t node);

/* Is it a function that only asks, in loops, whether something has come (MPI_Test, MPI_Iprobe)? */
bool names_is_poll(struct names *names, uint32_t node);

/* What a function of MPI waits for. */
enum names_mpi_kind {
	NAMES_MPI_OTHER, /* other collectives, those that do not wait, all that is not MPI's */
	NAMES_MPI_POLL,  /* names_is_poll() */
	/* one-sided, and may only look: what a loop that waits for a window to change is made of */
	NAMES_MPI_LOOK,
	NAMES_MPI_RECEIVE,
	NAMES_MPI_SEND,
	NAMES_MPI_SENDRECV,
	NAMES_MPI_WAIT,    /* MPI_Wait, MPI_Waitall, ... */
	NAMES_MPI_ONE_WAY, /* collectives that some leave before all have come, or never enter */
};
enum names_mpi_kind names_mpi_kind(struct names *names, uint32_t node);

/* "function() at file.c:88", "function() in libfoo.so", into a buffer of `size`. Returns buffer. */
char *names_place(struct names *names, uint32_t node, char *buffer, size_t size);
