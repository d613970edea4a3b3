/* SPDX-License-Identifier: BSD-3-Clause
 * Another PMPI tool: counts MPI_Sendrecv and passes it on, to the next library's MPI_Sendrecv with
 * TOOL_NEXT, else to PMPI_Sendrecv. Tells its count at MPI_Finalize. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int num_calls;

int MPI_Sendrecv(const void *out, int n, MPI_Datatype type, int to, int tag, void *in, int m,
		 MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status *status)
{
	__typeof__(&MPI_Sendrecv) next = PMPI_Sendrecv;

	if (getenv("TOOL_NEXT"))
		*(void **)&next = dlsym(RTLD_NEXT, "MPI_Sendrecv");
	num_calls++;
	return next(out, n, type, to, tag, in, m, in_type, from, in_tag, comm, status);
}

int MPI_Finalize(void)
{
	__typeof__(&MPI_Finalize) next = PMPI_Finalize;

	if (getenv("TOOL_NEXT"))
		*(void **)&next = dlsym(RTLD_NEXT, "MPI_Finalize");
	printf("tool saw %d\n", num_calls);
	return next();
}
