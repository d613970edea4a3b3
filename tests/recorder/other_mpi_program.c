/* SPDX-License-Identifier: BSD-3-Clause
 * A program of that library (other_mpi.c): 0 when all of its calls did what they should. With
 * -DPLUGIN for a host, see preloaded.c. */
#include <stdint.h>
#include <stdio.h>

#define WORLD UINT64_C(0xfedcba9876543210)

int MPI_Init(int *argc, char ***argv);
int MPI_Get_library_version(char *text, int *length);
int MPI_Comm_rank(uint64_t comm, int *rank);
int MPI_Sendrecv(const void *, int, uint64_t, int, int, void *, int, uint64_t, int, int, uint64_t,
		 void *);
void mpi_barrier_(uint64_t *comm, int *ierror);
int MPI_Finalize(void);

static int calls(int argc, char **argv)
{
	static char version[100001];
	int rank = -1, length = 0, error = 0, value = 0;
	uint64_t world = WORLD;

	if (MPI_Init(&argc, &argv) || MPI_Comm_rank(WORLD, &rank) || rank != 3)
		return 1;
	for (int i = 0; i < 2; i++) {
		if (MPI_Sendrecv(&value, 1, WORLD + 1, 2, 3, &value, 4, WORLD + 2, 5, 6, WORLD,
				 NULL) != 77)
			return 2;
		mpi_barrier_(&world, &error);
		if (error != 5)
			return 3;
	}
	if (MPI_Get_library_version(version, &length) || length != 100000)
		return 4;
	puts("fine");
	return MPI_Finalize() ? 5 : 0;
}

#ifdef PLUGIN
int plugin(void)
{
	char *none = NULL;

	return calls(0, &none);
}
#else
int main(int argc, char **argv)
{
	return calls(argc, argv);
}
#endif
