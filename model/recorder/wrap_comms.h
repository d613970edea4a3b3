/* SPDX-License-Identifier: BSD-3-Clause
 * Handles of communicators, windows and files in the wrappers: they differ between libraries, and
 * between C and Fortran. Included by wrap.h after mpi.h. */
#ifndef PDB_RECORDER_WRAP_COMMS_H
#define PDB_RECORDER_WRAP_COMMS_H

#include "model/recorder/comms.h"
#include "model/recorder/next.h"
#include "model/recorder/process.h"

/* MPI's own function, whatever other tool is loaded; NULL where the library lacks it. */
#define WRAP_PMPI(function_)                                                                       \
	({                                                                                         \
		static void *pmpi;                                                                 \
		if (!__atomic_load_n(&pmpi, __ATOMIC_RELAXED))                                     \
			__atomic_store_n(&pmpi, next_symbol("P" #function_), __ATOMIC_RELAXED);    \
		(__typeof__(&function_))pmpi;                                                      \
	})

/* Handles are addresses, or ints. */
#ifdef OPEN_MPI
#define WRAP_WORD(handle_) ((uintptr_t)(handle_))
#define WRAP_HANDLE(type_, word_) ((type_)(uintptr_t)(word_))
#define WRAP_CONSTANT(constant_, variable_) next_variable(variable_)
#else
#define WRAP_WORD(handle_) ((uintptr_t)(unsigned)(handle_))
#define WRAP_HANDLE(type_, word_) ((type_)(word_))
#define WRAP_CONSTANT(constant_, variable_) (constant_)
#endif

#define WRAP_F2C(type_, function_, fint_)                                                          \
	({                                                                                         \
		__typeof__(&function_) f2c = WRAP_PMPI(function_);                                 \
		f2c ? f2c(fint_) : (type_)0;                                                       \
	})

/* MPICH's files are addresses; its other handles are the same ints in both languages. */
#ifdef OPEN_MPI
#define WRAP_INT_F2C WRAP_F2C
#else
#define WRAP_INT_F2C(type_, function_, fint_) ((type_)(fint_))
#endif

/* The C handle that an argument of type MPI_X * points to, as the language has it. */
static inline MPI_Comm wrap_comm_at(const void *at, bool is_fortran)
{
	return is_fortran ? WRAP_INT_F2C(MPI_Comm, MPI_Comm_f2c, *(const MPI_Fint *)at)
			  : *(const MPI_Comm *)at;
}

static inline MPI_Win wrap_win_at(const void *at, bool is_fortran)
{
	return is_fortran ? WRAP_INT_F2C(MPI_Win, MPI_Win_f2c, *(const MPI_Fint *)at)
			  : *(const MPI_Win *)at;
}

static inline MPI_File wrap_file_at(const void *at, bool is_fortran)
{
	return is_fortran ? WRAP_F2C(MPI_File, MPI_File_f2c, *(const MPI_Fint *)at)
			  : *(const MPI_File *)at;
}

#ifdef MPI_SESSION_NULL /* Open MPI 5 has sessions and calls itself MPI 3.1 */
static inline MPI_Session wrap_session_at(const void *at, bool is_fortran)
{
	return is_fortran ? WRAP_INT_F2C(MPI_Session, MPI_Session_f2c, *(const MPI_Fint *)at)
			  : *(const MPI_Session *)at;
}
#endif

static inline uint64_t wrap_comm_key(MPI_Comm comm)
{
	return comms_key(COMMS_C, WRAP_WORD(comm));
}

static inline uint64_t wrap_win_key(MPI_Win win)
{
	return comms_key(COMMS_WINDOW_C, WRAP_WORD(win));
}

static inline uint64_t wrap_file_key(MPI_File file)
{
	return comms_key(COMMS_FILE_C, (uintptr_t)file);
}

/* The index in the segment's table, or SEG_NO_COMM: of a C handle, and of Fortran's. The latter is
 * remembered when it is seen first, since asking MPI for the C handle takes longer. */
#define WRAP_LOOKUP(name_, type_, fortran_space_, kind_)                                           \
	static ALWAYS_INLINE uint32_t wrap_##name_(type_ handle)                                   \
	{                                                                                          \
		uint64_t key = wrap_##name_##_key(handle);                                         \
		uint32_t index = comms_find(&comms_here, key);                                     \
		return likely(index != HANDLES_UNKNOWN) ? index : process_adopt(key, kind_);       \
	}                                                                                          \
	static COLD uint32_t wrap_first_##name_(const MPI_Fint *handle, uint64_t key)              \
	{                                                                                          \
		uint32_t index = wrap_##name_(wrap_##name_##_at(handle, true));                    \
		process_map(key, index);                                                           \
		return index;                                                                      \
	}                                                                                          \
	static ALWAYS_INLINE uint32_t wrap_##name_##_fortran(const MPI_Fint *handle)               \
	{                                                                                          \
		uint64_t key = comms_key(fortran_space_, (uint32_t)*handle);                       \
		uint32_t index = comms_find(&comms_here, key);                                     \
		return likely(index != HANDLES_UNKNOWN) ? index : wrap_first_##name_(handle, key); \
	}

WRAP_LOOKUP(comm, MPI_Comm, COMMS_FORTRAN, SEG_COMM_INTRA)
WRAP_LOOKUP(win, MPI_Win, COMMS_WINDOW_FORTRAN, SEG_COMM_WINDOW)
WRAP_LOOKUP(file, MPI_File, COMMS_FILE_FORTRAN, SEG_COMM_FILE)

static MPI_Comm wrap_world_comm(void)
{
	return WRAP_CONSTANT(MPI_COMM_WORLD, "ompi_mpi_comm_world");
}

static void wrap_predefined(void (*map)(uint64_t key, uint32_t index))
{
	map(wrap_comm_key(wrap_world_comm()), 0);
	map(wrap_comm_key(WRAP_CONSTANT(MPI_COMM_SELF, "ompi_mpi_comm_self")), 1);
	map(wrap_comm_key(WRAP_CONSTANT(MPI_COMM_NULL, "ompi_mpi_comm_null")), SEG_NO_COMM);
	map(wrap_win_key(WRAP_CONSTANT(MPI_WIN_NULL, "ompi_mpi_win_null")), SEG_NO_COMM);
	map(wrap_file_key(WRAP_CONSTANT(MPI_FILE_NULL, "ompi_mpi_file_null")), SEG_NO_COMM);
}

#endif
