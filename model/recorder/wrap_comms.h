/* SPDX-License-Identifier: BSD-3-Clause
 * Communicators, windows and files in the wrappers: their handles, which differ between libraries.
 * Included by wrap.h after mpi.h. */
#ifndef PDB_RECORDER_WRAP_COMMS_H
#define PDB_RECORDER_WRAP_COMMS_H

#include "model/recorder/comms.h"
#include "model/recorder/next.h"
#include "model/recorder/recorder.h"

/* MPI's own function, whatever other tool is loaded; NULL where the library lacks it. */
#define WRAP_PMPI(function_)                                                                       \
	({                                                                                         \
		static void *pmpi;                                                                 \
		if (!__atomic_load_n(&pmpi, __ATOMIC_RELAXED))                                     \
			__atomic_store_n(&pmpi, next_symbol("P" #function_), __ATOMIC_RELAXED);    \
		(__typeof__(&function_))pmpi;                                                      \
	})

#ifdef OPEN_MPI
/* Handles are addresses, and those of Fortran indexes of a table. */
#define WRAP_HANDLE(handle_) ((uintptr_t)(handle_))
#else
#define WRAP_HANDLE(handle_) ((uintptr_t)(unsigned)(handle_))
#endif

static inline uint32_t wrap_comm(MPI_Comm comm)
{
	uint64_t key = comms_key(COMMS_C, WRAP_HANDLE(comm));
	uint32_t index = comms_find(&recorder_comms, key);

	return __builtin_expect(index != COMMS_UNKNOWN, 1) ? index
							   : recorder_adopt(key, SEG_COMM_INTRA);
}

#ifdef OPEN_MPI
static __attribute__((noinline, cold)) uint32_t wrap_new_comm_fortran(MPI_Fint handle)
{
	__typeof__(&MPI_Comm_f2c) f2c = WRAP_PMPI(MPI_Comm_f2c);
	uint32_t index = f2c ? wrap_comm(f2c(handle)) : SEG_NO_COMM;

	recorder_map(comms_key(COMMS_FORTRAN, (uint32_t)handle), index);
	return index;
}

static inline uint32_t wrap_comm_fortran(const MPI_Fint *handle)
{
	uint32_t index = comms_find(&recorder_comms, comms_key(COMMS_FORTRAN, (uint32_t)*handle));

	return __builtin_expect(index != COMMS_UNKNOWN, 1) ? index : wrap_new_comm_fortran(*handle);
}
#else
static inline uint32_t wrap_comm_fortran(const MPI_Fint *handle)
{
	return wrap_comm(*handle);
}
#endif

static void wrap_predefined(void (*map)(uint64_t key, uint32_t index))
{
#ifdef OPEN_MPI
	MPI_Comm world = next_variable("ompi_mpi_comm_world");
	MPI_Comm self = next_variable("ompi_mpi_comm_self");
	MPI_Comm none = next_variable("ompi_mpi_comm_null");
#else
	MPI_Comm world = MPI_COMM_WORLD, self = MPI_COMM_SELF, none = MPI_COMM_NULL;
#endif
	map(comms_key(COMMS_C, WRAP_HANDLE(world)), 0);
	map(comms_key(COMMS_C, WRAP_HANDLE(self)), 1);
	map(comms_key(COMMS_C, WRAP_HANDLE(none)), SEG_NO_COMM);
}

#endif
