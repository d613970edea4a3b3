/* SPDX-License-Identifier: BSD-3-Clause
 * All ranks but 0 wait in a barrier; rank 0 waits for a line on its standard input first. Says
 * "ready" when it has come that far, and "done" at the end. With the word "asleep" they do not wait
 * busily, as if each had a processor of its own that can be interrupted at once. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) static int wait_for_word(void)
{
	char word[8];

	puts("ready");
	fflush(stdout);
	return read(0, word, sizeof(word)) > 0;
}

__attribute__((noinline)) static int wait_for_others(void)
{
	return MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS;
}

__attribute__((noinline)) static int sleep_until_others(void)
{
	MPI_Request request;
	int is_done = 0, ok = MPI_Ibarrier(MPI_COMM_WORLD, &request) == MPI_SUCCESS;

	while (ok && !is_done) {
		ok = MPI_Test(&request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS;
		usleep(200000);
	}
	return ok;
}

int main(int argc, char **argv)
{
	int rank, ok = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		ok = wait_for_word();
	if (argc > 1 && strcmp(argv[1], "asleep") == 0)
		ok &= sleep_until_others();
	else
		ok &= wait_for_others();
	MPI_Finalize();
	if (rank == 0 && ok)
		puts("done");
	return !ok;
}
