/* SPDX-License-Identifier: BSD-3-Clause
 * The calls of Fortran programs, through mpif.h and the module mpi; see fault.c. */
#include <dlfcn.h>

#include "tests/fault/fault.h"

/* All arguments are addresses, so one type does for them. */
typedef void *arg;

#define NEXT(function)                                                                             \
	({                                                                                         \
		static __typeof__(&function) next;                                                 \
		if (!next)                                                                         \
			*(void **)&next = dlsym(RTLD_NEXT, #function);                             \
		next;                                                                              \
	})

static MPI_Comm comm_of(arg comm)
{
	return MPI_Comm_f2c(*(MPI_Fint *)comm);
}

static void succeed(arg error)
{
	*(MPI_Fint *)error = MPI_SUCCESS;
}

#define LOSES(name, destination, tag, comm)                                                        \
	fault_loses_message(name, *(MPI_Fint *)(destination), *(MPI_Fint *)(tag), comm_of(comm))

#define SEND(function, name)                                                                       \
	void function(arg data, arg count, arg type, arg destination, arg tag, arg comm,           \
		      arg error);                                                                  \
	void function(arg data, arg count, arg type, arg destination, arg tag, arg comm,           \
		      arg error)                                                                   \
	{                                                                                          \
		if (LOSES(name, destination, tag, comm))                                           \
			succeed(error);                                                            \
		else                                                                               \
			NEXT(function)(data, count, type, destination, tag, comm, error);          \
	}

SEND(mpi_send_, "MPI_Send")
SEND(mpi_ssend_, "MPI_Ssend")
SEND(mpi_rsend_, "MPI_Rsend")

void mpi_isend_(arg data, arg count, arg type, arg destination, arg tag, arg comm, arg request,
		arg error);
void mpi_isend_(arg data, arg count, arg type, arg destination, arg tag, arg comm, arg request,
		arg error)
{
	if (LOSES("MPI_Isend", destination, tag, comm)) {
		*(MPI_Fint *)request = MPI_Request_c2f(MPI_REQUEST_NULL);
		succeed(error);
		return;
	}
	NEXT(mpi_isend_)(data, count, type, destination, tag, comm, request, error);
}

#define COLLECTIVE(function, name, parameters, arguments)                                          \
	void function parameters;                                                                  \
	void function parameters                                                                   \
	{                                                                                          \
		if (fault_skips_collective(name))                                                  \
			succeed(error);                                                            \
		else                                                                               \
			NEXT(function) arguments;                                                  \
	}

COLLECTIVE(mpi_barrier_, "MPI_Barrier", (arg comm, arg error), (comm, error))
COLLECTIVE(mpi_bcast_, "MPI_Bcast", (arg data, arg count, arg type, arg root, arg comm, arg error),
	   (data, count, type, root, comm, error))
COLLECTIVE(mpi_reduce_, "MPI_Reduce",
	   (arg data, arg got, arg count, arg type, arg op, arg root, arg comm, arg error),
	   (data, got, count, type, op, root, comm, error))
COLLECTIVE(mpi_allreduce_, "MPI_Allreduce",
	   (arg data, arg got, arg count, arg type, arg op, arg comm, arg error),
	   (data, got, count, type, op, comm, error))
COLLECTIVE(mpi_allgather_, "MPI_Allgather",
	   (arg data, arg count, arg type, arg got, arg got_count, arg got_type, arg comm,
	    arg error),
	   (data, count, type, got, got_count, got_type, comm, error))
COLLECTIVE(mpi_alltoall_, "MPI_Alltoall",
	   (arg data, arg count, arg type, arg got, arg got_count, arg got_type, arg comm,
	    arg error),
	   (data, count, type, got, got_count, got_type, comm, error))
COLLECTIVE(mpi_alltoallv_, "MPI_Alltoallv",
	   (arg data, arg counts, arg places, arg type, arg got, arg got_counts, arg got_places,
	    arg got_type, arg comm, arg error),
	   (data, counts, places, type, got, got_counts, got_places, got_type, comm, error))
