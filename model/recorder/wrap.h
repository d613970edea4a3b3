/* SPDX-License-Identifier: BSD-3-Clause
 * What the generated wrappers are made of; included by nothing else. mpi.h gives prototypes and
 * constants only: the library is not linked to libmpi. */
#ifndef PDB_RECORDER_WRAP_H
#define PDB_RECORDER_WRAP_H

#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop
#include <stddef.h>

#include "model/recorder/next.h"
#include "model/recorder/recorder.h"

#pragma GCC visibility push(default)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#ifndef __clang__
/* Constants and types that differ in one MPI are equal in the other. */
#pragma GCC diagnostic ignored "-Wlogical-op"
#pragma GCC diagnostic ignored "-Wduplicated-branches"
#endif

/* A call from begin to end, for the hooks of its shape. */
struct wrap_call {
	struct lane *lane; /* of the thread; NULL: the call is not recorded */
	void *status;      /* what MPI gets for the argument with the mark "=" */
	bool is_fortran;   /* a constant in each wrapper */

	/* What a hook before the call leaves for the one after it. */
	uint32_t comm;    /* index of what is made from, or freed */
	uint32_t ordinal; /* of what is made */
	uint64_t key;     /* of what is freed; tag of what is made */
	uint32_t peer_comm;
	int32_t peer, kind; /* of a lock; of a leader */
	bool is_leader;
	int num_peers; /* of a group; -1: not known */
	int32_t *peers;
	size_t peers_size; /* bytes */
};

#include "model/recorder/wrap_tokens.h"

/* What is exported; then begins its wrapper. */
#define WRAP_EXPORT(symbol_, name_, class_, language_, ierror_)                                    \
	__attribute__((visibility("hidden"))) void jump_first_##symbol_(void);                     \
	extern __attribute__((visibility("hidden"))) struct recorder_function jump_##symbol_;      \
	struct recorder_function jump_##symbol_ = {                                                \
		.go = (void *)jump_first_##symbol_,                                                \
		.name = name_,                                                                     \
		.class_id = SEG_CLASS_##class_,                                                    \
		.language = SEG_LANGUAGE_##language_,                                              \
	};                                                                                         \
	JUMP(symbol_, ierror_)
#define WRAP_BODY(symbol_) __attribute__((visibility("hidden"))) recorded_##symbol_
#define WRAP_FUNCTION(symbol_, language_)                                                          \
	__attribute__((unused)) const enum seg_language wrap_language = SEG_LANGUAGE_##language_;  \
	struct recorder_function *const function = &jump_##symbol_

/* The wrapper's own return address and stack pointer at the call: they name the call site. What
 * hooks leave for each other is not there yet. */
#define WRAP_BEGIN(status_)                                                                        \
	struct wrap_call wrap;                                                                     \
	wrap.lane = recorder_begin(function, (uintptr_t)__builtin_return_address(0),               \
				   (uintptr_t)__builtin_dwarf_cfa());                              \
	wrap.status = status_;                                                                     \
	wrap.is_fortran = wrap_language == SEG_LANGUAGE_FORTRAN

/* Call a Fortran function; its error code. */
#define WRAP_FORTRAN_CALL(next_, ...)                                                              \
	({                                                                                         \
		(next_)(__VA_ARGS__);                                                              \
		ierror ? *ierror : MPI_SUCCESS;                                                    \
	})

/* MPI's handles differ between libraries, so these questions are asked here. Each returns false
 * where the library has not got the function. */
static bool wrap_world(int *rank, int *size)
{
#ifdef OPEN_MPI
	MPI_Comm world = next_variable("ompi_mpi_comm_world");
	if (!world)
		return false;
#else
	MPI_Comm world = MPI_COMM_WORLD;
#endif
	__typeof__(&MPI_Initialized) initialized = next_symbol("PMPI_Initialized");
	__typeof__(&MPI_Comm_rank) comm_rank = next_symbol("PMPI_Comm_rank");
	__typeof__(&MPI_Comm_size) comm_size = next_symbol("PMPI_Comm_size");
	int yes = 0;
	return initialized && comm_rank && comm_size && initialized(&yes) == MPI_SUCCESS && yes &&
	       comm_rank(world, rank) == MPI_SUCCESS && comm_size(world, size) == MPI_SUCCESS;
}

static bool wrap_thread_level(int *level)
{
	__typeof__(&MPI_Query_thread) query = next_symbol("PMPI_Query_thread");
	return query && query(level) == MPI_SUCCESS;
}

static bool wrap_version(char *text, size_t size)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	int length = 0;
	__typeof__(&MPI_Get_library_version) get = next_symbol("PMPI_Get_library_version");
	if (!get || get(version, &length) != MPI_SUCCESS)
		return false;
	size_t i;
	for (i = 0; i + 1 < size && version[i] && version[i] != '\n'; i++)
		text[i] = version[i] == '\t' ? ' ' : version[i];
	text[i] = '\0';
	return true;
}

static const struct next_mpi wrap_own_mpi = {
#ifdef OPEN_MPI
	/* MPI's own ABI has no conversion of handles to Fortran, so that an Open MPI of that
	 * ABI, which needs the same libraries, has no such function. */
	.marks = {"ompi_mpi_comm_world", "PMPI_Comm_c2f"},
#else
	/* Of all that have the ABI of MPICH, and of none that has MPI's: mpi.h calls
	 * MPI_COMM_DUP_FN so. */
	.marks = {"MPIR_Dup_fn"},
#endif
	.no_function = MPI_ERR_OTHER,
};

JUMP_RESOLVE();
__attribute__((visibility("hidden"))) void *wrap_resolve(struct recorder_function *function,
							 const struct jump_info *info,
							 struct jump_frame *frame, void *arguments,
							 uintptr_t caller);
void *wrap_resolve(struct recorder_function *function, const struct jump_info *info,
		   struct jump_frame *frame, void *arguments, uintptr_t caller)
{
	return next_resolve(function, info, frame, arguments, caller, &wrap_own_mpi);
}

static const struct process_mpi wrap_mpi = {
	.world = wrap_world,
	.thread_level = wrap_thread_level,
	.multiple = MPI_THREAD_MULTIPLE,
	.version = wrap_version,
	.predefined = wrap_predefined,
};

#endif
