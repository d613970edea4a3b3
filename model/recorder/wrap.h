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
#include "model/recorder/wrap_comms.h"

#pragma GCC visibility push(default)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* The wrapper's own return address and stack pointer at the call: they name the call site. */
#define WRAP_BEGIN(symbol_, name_, class_, language_)                                             \
	static struct recorder_function function = {                                              \
		.symbol = symbol_,                                                                \
		.name = name_,                                                                    \
		.class_id = SEG_CLASS_##class_,                                                   \
		.language = SEG_LANGUAGE_##language_,                                             \
	};                                                                                        \
	void *next = next_function(&function)

#define WRAP_ENTER_BY(enter_)                                                                     \
	bool recorded = enter_(&function, (uintptr_t)__builtin_return_address(0),                 \
			       (uintptr_t)__builtin_dwarf_cfa())
#define WRAP_ENTER() WRAP_ENTER_BY(recorder_enter)
#define WRAP_LEAVE()                                                                              \
	do {                                                                                      \
		if (recorded)                                                                     \
			recorder_leave();                                                         \
	} while (0)

#define WRAP_BEFORE_CALL() WRAP_ENTER()
#define WRAP_AFTER_CALL() WRAP_LEAVE()

#define WRAP_BEFORE_POLL() WRAP_ENTER_BY(recorder_enter_poll)
/* A poll has failed when it says success and its flag or count is 0. */
#define WRAP_AFTER_POLL(ret_, outcome_)                                                           \
	do {                                                                                      \
		if (recorded)                                                                     \
			recorder_leave_poll((ret_) == MPI_SUCCESS && (outcome_) == 0);            \
	} while (0)

#define WRAP_BEFORE_INIT()                                                                        \
	recorder_before_init();                                                                   \
	WRAP_ENTER()
#define WRAP_AFTER_INIT()                                                                         \
	WRAP_LEAVE();                                                                             \
	recorder_after_init(&wrap_mpi)

#define WRAP_BEFORE_FINALIZE()                                                                    \
	recorder_before_finalize();                                                               \
	WRAP_ENTER()
#define WRAP_AFTER_FINALIZE()                                                                     \
	WRAP_LEAVE();                                                                             \
	recorder_after_finalize()

#define WRAP_BEFORE_ABORT()                                                                       \
	WRAP_ENTER();                                                                             \
	recorder_before_abort()
#define WRAP_AFTER_ABORT() WRAP_LEAVE()

#define WRAP_BEFORE_SESSION_INIT() WRAP_ENTER()
#define WRAP_AFTER_SESSION_INIT()                                                                 \
	WRAP_LEAVE();                                                                             \
	if (recorded)                                                                             \
	recorder_session(1)
#define WRAP_BEFORE_SESSION_FINALIZE() WRAP_ENTER()
#define WRAP_AFTER_SESSION_FINALIZE()                                                             \
	WRAP_LEAVE();                                                                             \
	if (recorded)                                                                             \
	recorder_session(-1)

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

static const struct recorder_mpi wrap_mpi = {
	.world = wrap_world,
	.thread_level = wrap_thread_level,
	.version = wrap_version,
	.predefined = wrap_predefined,
};

#endif
