/* SPDX-License-Identifier: BSD-3-Clause
 * Names for people: call path node -> function, file, line. Filled on demand through a resolver
 * (attach/symbols on a live job), or from a snapshot. So analysis and render can name places
 * without knowing ELF. */
#ifndef PDB_MODEL_NAMES_H
#define PDB_MODEL_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct callpaths;
struct modules;

struct name {
	const char *function; /* demangled; "libfoo.so+0x1234" where there is no symbol; never NULL */
	const char *file;     /* last component only; NULL where there is no line information */
	const char *full_file; /* as in the debug information; NULL where there is none */
	int line;	       /* 0 where there is none */
	bool is_symbol;	       /* false: `function` is only module and offset */
};

/* Look up `address` (already moved off a return address) in module `module`. On success fill *ret
 * with strings that the names object copies, and return 0; -1: not found. Called once a node. */
typedef int (*names_resolve_fn)(void *resolver, uint32_t module, uint64_t address,
				struct name *ret);

struct names;

/* Both tables are borrowed and must outlive the names. resolve may be NULL: only what was set by
 * names_set() is known, all else is module and offset. */
struct names *names_create(const struct modules *modules, const struct callpaths *paths,
			   names_resolve_fn resolve, void *resolver);
void names_destroy(struct names *names);

/* Never fails; borrowed, valid as long as `names`. node may be CALLPATH_NONE: "?". */
const struct name *names_get(struct names *names, uint32_t node);
/* Give a node its name (from a snapshot, or in a test). Strings are copied. */
void names_set(struct names *names, uint32_t node, const struct name *name);

/* The innermost frame of `path` that is the program's own code (MODULE_PROGRAM), for "where is
 * it": CALLPATH_NONE if there is none. */
uint32_t names_user_frame(const struct names *names, uint32_t path);

/* Is the node's code MPI's? Entry points of a library that is linked into the program are known by
 * their names. */
bool names_is_mpi(struct names *names, uint32_t node);

/* Is the node one of MPI's functions that only ask whether something has come (MPI_Test, MPI_Iprobe
 * and their kin, in whatever language), so that they are called in loops? */
bool names_is_poll(struct names *names, uint32_t node);

/* What a function of MPI waits for. */
enum names_mpi_kind {
	NAMES_MPI_OTHER, /* collectives, those that do not wait, all that is not MPI's */
	NAMES_MPI_POLL,	 /* names_is_poll() */
	NAMES_MPI_RECEIVE,
	NAMES_MPI_SEND,
	NAMES_MPI_SENDRECV,
	NAMES_MPI_WAIT, /* MPI_Wait, MPI_Waitall, ... */
};
enum names_mpi_kind names_mpi_kind(struct names *names, uint32_t node);

/* "function() at file.c:88", "function() in libfoo.so", into a buffer of `size`. Returns buffer. */
char *names_place(struct names *names, uint32_t node, char *buffer, size_t size);

#endif
