/* SPDX-License-Identifier: BSD-3-Clause
 * The part of messages_f.F90 that is in C. */
#include <mpi.h>

void receive_in_c_(MPI_Fint *request);
void receive_in_c_(MPI_Fint *request)
{
	static int value;
	MPI_Request handle;

	MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, &handle);
	*request = MPI_Request_c2f(handle);
}
