/* SPDX-License-Identifier: BSD-3-Clause
 * Communicators of a program that has sessions and no MPI_COMM_WORLD. Writes what is true as
 * comms.c does. For 4 ranks. */
#include "checkpoint.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *truth;
static int rank;

static void note(MPI_Comm comm, const char *name)
{
	int members[4], own, num;

	MPI_Comm_set_name(comm, name);
	MPI_Comm_rank(comm, &own);
	MPI_Comm_size(comm, &num);
	MPI_Allgather(&rank, 1, MPI_INT, members, 1, MPI_INT, comm);
	fprintf(truth, "comm %s intra %d ", name, own);
	for (int i = 0; i < num; i++)
		fprintf(truth, i ? ",%d" : "%d", members[i]);
	fprintf(truth, " - 1\n");
}

int main(void)
{
	char path[512];
	MPI_Session session;
	MPI_Group world, group;
	MPI_Comm all, again, half, dup, split;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
	MPI_Group_rank(world, &rank);
	snprintf(path, sizeof(path), "%s/truth.%d", getenv("CHECK_DIR"), rank);
	truth = fopen(path, "w");
	if (!truth)
		return 1;
	MPI_Comm_create_from_group(world, "one", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &all);
	note(all, "all");
	MPI_Comm_create_from_group(world, "one", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &again);
	note(again, "again");
	int ranks[2] = {rank % 2 + 2, rank % 2};
	MPI_Group_incl(world, 2, ranks, &group);
	MPI_Comm_create_from_group(group, "two", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &half);
	note(half, rank % 2 ? "odd" : "even");
	MPI_Comm_dup(half, &dup);
	note(dup, rank % 2 ? "dup-odd" : "dup-even");
	MPI_Comm_split(all, rank / 2, 0, &split);
	note(split, rank / 2 ? "high" : "low");
	fclose(truth);
	checkpoint();
	MPI_Comm_free(&split);
	MPI_Comm_free(&dup);
	MPI_Comm_free(&half);
	MPI_Comm_free(&again);
	MPI_Comm_free(&all);
	MPI_Group_free(&group);
	MPI_Group_free(&world);
	MPI_Session_finalize(&session);
	return 0;
}
