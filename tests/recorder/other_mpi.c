/* SPDX-License-Identifier: BSD-3-Clause
 * A library with the names of MPI's functions that are called here, of a make that no recorder
 * knows: its communicators are numbers of 64 bits, none of which may be lost, and its version is
 * a long text. It says by the status whether all arguments came through. -DMARK=NAME... what it
 * exports besides, as another MPI does. */
#include <stdint.h>
#include <string.h>

#define WORLD UINT64_C(0xfedcba9876543210)
#define WEAK(name) __attribute__((weak, alias("P" #name)))

static int is_fine = 1;

static void expect(int yes)
{
	is_fine = is_fine && yes;
}

int PMPI_Init(int *argc, char ***argv)
{
	expect(argc && argv);
	return 0;
}
int MPI_Init(int *argc, char ***argv) WEAK(MPI_Init);

int PMPI_Get_library_version(char *text, int *length)
{
	/* Nobody but the program may have asked. */
	memset(text, 'x', 100000);
	*length = 100000;
	return 0;
}
int MPI_Get_library_version(char *text, int *length) WEAK(MPI_Get_library_version);

int PMPI_Comm_rank(uint64_t comm, int *rank)
{
	expect(comm == WORLD);
	*rank = 3;
	return 0;
}
int MPI_Comm_rank(uint64_t comm, int *rank) WEAK(MPI_Comm_rank);

/* More arguments than there are registers. */
int PMPI_Sendrecv(const void *from, int sent, uint64_t type, int to, int tag, void *into,
		  int received, uint64_t other_type, int source, int other_tag, uint64_t comm,
		  void *status)
{
	expect(from && sent == 1 && type == WORLD + 1 && to == 2 && tag == 3 && into &&
	       received == 4 && other_type == WORLD + 2 && source == 5 && other_tag == 6 &&
	       comm == WORLD && !status);
	return 77;
}
int MPI_Sendrecv(const void *from, int sent, uint64_t type, int to, int tag, void *into,
		 int received, uint64_t other_type, int source, int other_tag, uint64_t comm,
		 void *status) WEAK(MPI_Sendrecv);

void pmpi_barrier_(uint64_t *comm, int *ierror)
{
	expect(*comm == WORLD);
	*ierror = 5;
}
void mpi_barrier_(uint64_t *comm, int *ierror) __attribute__((weak, alias("pmpi_barrier_")));

int PMPI_Finalize(void)
{
	return is_fine ? 0 : 1;
}
int MPI_Finalize(void) WEAK(MPI_Finalize);

#ifdef MARK
int MARK;
#endif
