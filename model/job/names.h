/* SPDX-License-Identifier: BSD-3-Clause
 * Names for people: call path node -> function, file, line. Filled on demand through a resolver
 * (attach/symbols on a live job), or from a snapshot. So analysis and render can name places
 * without knowing ELF.
 *
 * The code of a node may be inlined, one function in the other. So a node has a chain of names,
 * from the innermost function to the one that the frame is of. Who shows stacks shows them all, as
 * gdb does; where a place is told in one line it is names_get(). */
#ifndef PDB_MODEL_NAMES_H
#define PDB_MODEL_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct callpaths;
struct modules;

struct name {
	/* demangled; "libfoo.so+0x1234" where there is no symbol; never NULL */
	const char *function;
	const char *file;      /* last component only; NULL where there is no line information */
	const char *full_file; /* as in the debug information; NULL where there is none */
	int line;              /* 0 where there is none */
	bool is_symbol;        /* false: `function` is only module and offset */
	bool is_library;       /* its file is the compiler's, the standard library's or MPI's */
	const struct name
		*caller; /* that it is inlined into, with the line of the call; NULL: none */
};

/* Of one node: what is inlined deeper than that is left out, as its innermost. */
enum { NAMES_MAX_CHAIN = 256 };

/* Look up `address` (already moved off a return address) in module `module`. On success fill *ret,
 * the innermost name, with strings and callers that the names object copies, and return 0; -1: not
 * found. Called once a node. */
typedef int (*names_resolve_fn)(void *resolver, uint32_t module, uint64_t address,
				struct name *ret);

struct names;

/* Both tables are borrowed and must outlive the names. resolve may be NULL: only what was set by
 * names_set() is known, all else is module and offset. */
struct names *names_create(const struct modules *modules, const struct callpaths *paths,
			   names_resolve_fn resolve, void *resolver);
void names_destroy(struct names *names);

/* Of the names of a node these never fail. Borrowed, valid until names_set() gives the node
 * others. node may be CALLPATH_NONE: "?".
 *
 * The innermost that is not a library's, for "where is it"; the frame's function if all are. */
const struct name *names_get(struct names *names, uint32_t node);
/* The innermost: all others are its callers. */
const struct name *names_innermost(struct names *names, uint32_t node);
/* The function that the frame is of, in which all others are inlined. */
const struct name *names_function(struct names *names, uint32_t node);
/* The name that is so far inside the frame: 0 is that of its function, 1 that of one inlined into
 * it, and so on; where there are not so many, the innermost. */
const struct name *names_at(struct names *names, uint32_t node, size_t level);
/* How many functions a name's is inlined into: its level. */
size_t name_level(const struct name *name);
/* Give a node its name (from a snapshot, or in a test), with the callers that it is inlined into.
 * All is copied. */
void names_set(struct names *names, uint32_t node, const struct name *name);

/* Is a source file, by its whole path, the compiler's, the standard library's or MPI's: a header
 * whose functions are part of the programs that include it? */
bool names_is_library_file(const char *path);

/* The innermost frame of `path` that has code of the program's own, for "where is it": of a file
 * that is (MODULE_PROGRAM), and of a function that is no library's. Where all functions of such
 * files are a library's, the innermost of these; CALLPATH_NONE: there is none. */
uint32_t names_user_frame(struct names *names, uint32_t path);
/* What names_get() of the user's frame does not tell: the innermost function that is compiled into
 * the program, and comes between that place and what lies beyond; NULL: that is the place itself.
 */
const struct name *names_behind(struct names *names, uint32_t path);

/* Is the node no code, but the border between a signal's handler and what it interrupted, which is
 * farther out? */
bool names_is_signal(const struct names *names, uint32_t node);

/* Is the node's code MPI's? Entry points of a library that is linked into the program are known by
 * their names. */
bool names_is_mpi(struct names *names, uint32_t node);

/* Is the node one of MPI's functions that only ask whether something has come (MPI_Test, MPI_Iprobe
 * and their kin, in whatever language), so that they are called in loops? */
bool names_is_poll(struct names *names, uint32_t node);

/* What a function of MPI waits for. */
enum names_mpi_kind {
	NAMES_MPI_OTHER, /* collectives, those that do not wait, all that is not MPI's */
	NAMES_MPI_POLL,  /* names_is_poll() */
	NAMES_MPI_RECEIVE,
	NAMES_MPI_SEND,
	NAMES_MPI_SENDRECV,
	NAMES_MPI_WAIT, /* MPI_Wait, MPI_Waitall, ... */
};
enum names_mpi_kind names_mpi_kind(struct names *names, uint32_t node);

/* "function() at file.c:88", "function() in libfoo.so", into a buffer of `size`. Returns buffer. */
char *names_place(struct names *names, uint32_t node, char *buffer, size_t size);

#endif
