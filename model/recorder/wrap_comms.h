/* SPDX-License-Identifier: BSD-3-Clause
 * The first header of what is compiled for each MPI: a call, MPI's own functions, and handles,
 * which differ between libraries, and between C and Fortran. The recorder is not linked to
 * libmpi. */
#pragma once

#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#include "model/recorder/comms.h"
#include "model/recorder/next.h"
#include "model/recorder/process.h"
#include "model/recorder/recorder.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#ifndef __clang__
/* Constants and types that differ in one MPI are equal in the other. */
#pragma GCC diagnostic ignored "-Wlogical-op"
#pragma GCC diagnostic ignored "-Wduplicated-branches"
#endif

/* What the recorder asks of MPI, and whose wrappers these are (see jump.h). */
extern const struct process_mpi wrap_mpi __attribute__((visibility("hidden")));
void *wrap_resolve(struct recorder_function *function, const struct jump_info *info,
		   struct jump_frame *frame, void *arguments, uintptr_t caller);

/* A call from begin to end, for the hooks of its shape. */
struct wrap_call {
	struct lane *lane; /* of the thread; NULL: the call is not recorded */
	void *status;      /* what MPI gets for the argument with the mark "=" */
	bool is_fortran;   /* a constant in each wrapper */

	/* What a hook before the call leaves for the one after it. */
	uint32_t comm;      /* index of what is made from, or freed */
	uint32_t ordinal;   /* of what is made */
	uint64_t key;       /* of what is freed; tag of what is made */
	int32_t peer, kind; /* of a lock */
	bool is_leader;
	int num_peers; /* of a group; -1: not known */
	int32_t *peers;
	size_t peers_size; /* bytes */
};

/* MPI's own function, whatever other tool is loaded; NULL where the library lacks it. */
#define WRAP_PMPI(function_) WRAP_PMPI_OF(function_) /* whose name may be a macro */
#define WRAP_PMPI_OF(function_)                                                                    \
	({                                                                                         \
		static void *pmpi;                                                                 \
		if (!__atomic_load_n(&pmpi, __ATOMIC_RELAXED))                                     \
			__atomic_store_n(&pmpi, next_symbol("P" #function_), __ATOMIC_RELAXED);    \
		(__typeof__(&function_))pmpi;                                                      \
	})

/* Call it. Is it there, and does it say success? */
#define WRAP_ASK(function_, ...)                                                                   \
	({                                                                                         \
		__typeof__(&function_) ask = WRAP_PMPI(function_);                                 \
		ask &&ask(__VA_ARGS__) == MPI_SUCCESS;                                             \
	})

/* Handles are ints in MPICH, addresses elsewhere. Those that are always there are addresses of
 * variables in Open MPI. In MPI's own ABI they are small numbers, and others may be an MPICH's ints
 * with their sign. */
#if defined(OPEN_MPI) || defined(PDB_MPI_ABI)
#define WRAP_HAS_ADDRESSES
#define WRAP_WORD(handle_) ((uintptr_t)(handle_))
#define WRAP_HANDLE(type_, word_) ((type_)(uintptr_t)(word_))
#else
#define WRAP_WORD(handle_) ((uintptr_t)(unsigned)(handle_))
#define WRAP_HANDLE(type_, word_) ((type_)(word_))
#endif
#ifdef OPEN_MPI
#define WRAP_CONSTANT(constant_, variable_) next_variable(variable_)
#else
#define WRAP_CONSTANT(constant_, variable_) (constant_)
#endif

#define WRAP_F2C(type_, function_, fint_)                                                          \
	({                                                                                         \
		__typeof__(&function_) f2c = WRAP_PMPI(function_);                                 \
		f2c ? f2c(fint_) : (type_)0;                                                       \
	})

/* MPICH's files are addresses; its other handles are the same ints in both languages, and from 4.2
 * on its MPI_*_f2c are no macros any more. */
#ifdef WRAP_HAS_ADDRESSES
#define WRAP_INT_F2C WRAP_F2C
#else
#define WRAP_INT_F2C(type_, function_, fint_) ((type_)(fint_))
#endif

/* The C handle that an argument of type MPI_X * points to, as the language has it. */
#define WRAP_AT(name_, type_, convert_, f2c_)                                                      \
	static inline type_ wrap_##name_##_at(const void *at, bool is_fortran)                     \
	{                                                                                          \
		return is_fortran ? convert_(type_, f2c_, *(const MPI_Fint *)at)                   \
				  : *(const type_ *)at;                                            \
	}

WRAP_AT(comm, MPI_Comm, WRAP_INT_F2C, MPI_Comm_f2c)
WRAP_AT(win, MPI_Win, WRAP_INT_F2C, MPI_Win_f2c)
WRAP_AT(file, MPI_File, WRAP_F2C, MPI_File_f2c)
WRAP_AT(message, MPI_Message, WRAP_INT_F2C, MPI_Message_f2c)
#ifdef MPI_SESSION_NULL /* Open MPI 5 has sessions and calls itself MPI 3.1 */
WRAP_AT(session, MPI_Session, WRAP_INT_F2C, MPI_Session_f2c)
#endif

#define wrap_comm_key(comm_) comms_key(COMMS_C, WRAP_WORD(comm_))
#define wrap_win_key(win_) comms_key(COMMS_WINDOW_C, WRAP_WORD(win_))
#define wrap_file_key(file_) comms_key(COMMS_FILE_C, (uintptr_t)(file_))

/* The index in the segment's table, or SEG_NO_COMM. Fortran's handles are remembered, since asking
 * MPI for the C handle takes longer. */
#define WRAP_LOOKUP(name_, type_, fortran_space_, kind_)                                           \
	static ALWAYS_INLINE uint32_t wrap_c_##type_(type_ handle)                                 \
	{                                                                                          \
		uint64_t key = wrap_##name_##_key(handle);                                         \
		uint32_t index = comms_find(&comms_here, key);                                     \
		return likely(index != HANDLES_UNKNOWN) ? index : process_adopt(key, kind_);       \
	}                                                                                          \
	static COLD uint32_t wrap_first_##type_(const MPI_Fint *handle, uint64_t key)              \
	{                                                                                          \
		uint32_t index = wrap_c_##type_(wrap_##name_##_at(handle, true));                  \
		process_map(key, index);                                                           \
		return index;                                                                      \
	}                                                                                          \
	static inline uint32_t wrap_f_##type_(const MPI_Fint *handle)                              \
	{                                                                                          \
		uint64_t key = comms_key(fortran_space_, (uint32_t)*handle);                       \
		uint32_t index = comms_find(&comms_here, key);                                     \
		return likely(index != HANDLES_UNKNOWN) ? index : wrap_first_##type_(handle, key); \
	}

WRAP_LOOKUP(comm, MPI_Comm, COMMS_FORTRAN, SEG_COMM_INTRA)
WRAP_LOOKUP(win, MPI_Win, COMMS_WINDOW_FORTRAN, SEG_COMM_WINDOW)
WRAP_LOOKUP(file, MPI_File, COMMS_FILE_FORTRAN, SEG_COMM_FILE)

static inline MPI_Comm wrap_world_comm(void)
{
	return WRAP_CONSTANT(MPI_COMM_WORLD, "ompi_mpi_comm_world");
}
