/* SPDX-License-Identifier: BSD-3-Clause
 * Ranks that tell each other something that is no message. The word says what: rank 1 stops
 * before its part of it, so that the others can be seen waiting; or "all": everything, several
 * times, and all ranks stop after it. For 4 ranks. What the segments must say is in run.sh. */
#include "checkpoint.h"

#include <mpi.h>
#include <string.h>

static int rank;
static MPI_Win win;
static int memory;
static void (*before)(void);

static void nothing(void)
{
}

/* Rank 1 stops here, the others go into a call. */
static void stop_rank_1(void)
{
	if (rank == 1)
		checkpoint();
	else
		say_ready();
}

static MPI_Group group_of(int num, const int *ranks)
{
	MPI_Group world, group;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, num, ranks, &group);
	MPI_Group_free(&world);
	return group;
}

/* Rank 0 has access to the windows of 1 and 2. */
static void epochs(int test)
{
	MPI_Group targets = group_of(2, (int[]){2, 1}), origins = group_of(1, (int[]){0});
	int one = 1, flag = 0;

	before();
	if (rank == 0) {
		MPI_Win_start(targets, 0, win);
		MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
		MPI_Win_complete(win);
	} else if (rank < 3) {
		MPI_Win_post(origins, 0, win);
		if (test)
			while (!flag)
				MPI_Win_test(win, &flag);
		else
			MPI_Win_wait(win);
	}
	MPI_Group_free(&targets);
	MPI_Group_free(&origins);
}

/* Two epochs of rank 0 with each of two ranks in turn, by groups that exist once at a time, so that
 * the handle of one that was freed comes again for another. */
static void epochs_in_turn(void)
{
	MPI_Group origins = group_of(1, (int[]){0});

	for (int i = 0; i < 4; i++) {
		int target = 1 + i % 2;
		MPI_Group targets = group_of(1, &target);
		for (int j = 0; j < 2; j++) {
			if (rank == target) {
				MPI_Win_post(origins, 0, win);
				MPI_Win_wait(win);
			} else if (rank == 0) {
				MPI_Win_start(targets, 0, win);
				MPI_Win_complete(win);
			}
		}
		MPI_Group_free(&targets);
	}
	MPI_Group_free(&origins);
}

/* Rank 1 holds the lock of 3, and 0 wants it. */
static void locks(void)
{
	int value = 0;

	if (rank == 1)
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 3, 0, win);
	if (rank == 1)
		MPI_Put(&value, 1, MPI_INT, 3, 0, 1, MPI_INT, win);
	if (rank == 1)
		MPI_Win_flush(3, win);
	MPI_Barrier(MPI_COMM_WORLD);
	before();
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 3, 0, win);
		MPI_Get(&value, 1, MPI_INT, 3, 0, 1, MPI_INT, win);
		MPI_Win_unlock(3, win);
	}
	if (rank == 1)
		MPI_Win_unlock(3, win);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void lock_all(void)
{
	MPI_Win_lock_all(0, win);
	MPI_Win_flush_all(win);
	/* A rank that is asked for its lock may have to be inside MPI. */
	MPI_Barrier(MPI_COMM_WORLD);
	before();
	MPI_Win_unlock_all(win);
}

static void group(void)
{
	MPI_Group trio = group_of(3, (int[]){2, 0, 1});
	MPI_Comm comm;

	before();
	if (rank < 3) {
		MPI_Comm_create_group(MPI_COMM_WORLD, trio, 5, &comm);
		MPI_Comm_free(&comm);
	}
	MPI_Group_free(&trio);
}

/* The leaders are 0 and 1. */
static void leaders(void)
{
	MPI_Comm half, inter;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Comm_set_name(half, "half");
	before();
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &inter);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "all";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(&memory, sizeof(memory), sizeof(memory), MPI_INFO_NULL, MPI_COMM_WORLD,
		       &win);
	before = stop_rank_1;
	if (strcmp(what, "epochs") == 0)
		epochs(0);
	else if (strcmp(what, "epochs-test") == 0)
		epochs(1);
	else if (strcmp(what, "locks") == 0)
		locks();
	else if (strcmp(what, "lock-all") == 0)
		lock_all();
	else if (strcmp(what, "group") == 0)
		group();
	else if (strcmp(what, "leaders") == 0)
		leaders();
	else {
		before = nothing;
		for (int i = 0; i < 3; i++) {
			epochs(i % 2);
			epochs_in_turn();
			locks();
			lock_all();
			group();
			leaders();
		}
		checkpoint();
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
