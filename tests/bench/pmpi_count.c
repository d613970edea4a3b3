/* SPDX-License-Identifier: BSD-3-Clause
 * A PMPI library that does next to nothing, to set beside the recorder: it counts calls.
 * Compiled with BACKTRACE it asks glibc's backtrace() for the stack at each of them, as
 * libraries that tell calls apart by their call paths do. For the calls of recorder_bench that
 * recorder_bench.sh compares. */
#include <mpi.h>
#ifdef BACKTRACE
#include <execinfo.h>
#endif

enum { MAX_FRAMES = 32 };

static unsigned long num_calls;
#ifdef BACKTRACE
static void *frames[MAX_FRAMES];
#endif

static void count(void)
{
	num_calls++;
#ifdef BACKTRACE
	backtrace(frames, MAX_FRAMES);
#endif
}

int MPI_Send(const void *buffer, int num, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
	count();
	return PMPI_Send(buffer, num, type, to, tag, comm);
}

int MPI_Isend(const void *buffer, int num, MPI_Datatype type, int to, int tag, MPI_Comm comm,
	      MPI_Request *request)
{
	count();
	return PMPI_Isend(buffer, num, type, to, tag, comm, request);
}

int MPI_Irecv(void *buffer, int num, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	      MPI_Request *request)
{
	count();
	return PMPI_Irecv(buffer, num, type, from, tag, comm, request);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	count();
	return PMPI_Wait(request, status);
}

int MPI_Waitall(int num, MPI_Request requests[], MPI_Status statuses[])
{
	count();
	return PMPI_Waitall(num, requests, statuses);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	count();
	return PMPI_Test(request, flag, status);
}

int MPI_Barrier(MPI_Comm comm)
{
	count();
	return PMPI_Barrier(comm);
}

int MPI_Bcast(void *buffer, int num, MPI_Datatype type, int root, MPI_Comm comm)
{
	count();
	return PMPI_Bcast(buffer, num, type, root, comm);
}

int MPI_Allreduce(const void *in, void *out, int num, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
	count();
	return PMPI_Allreduce(in, out, num, type, op, comm);
}
