/* SPDX-License-Identifier: BSD-3-Clause
 * Flushes of windows: which of them have something to do. Two ranks. Behind each that has, its
 * number among those of its function is a comment; run.sh has their sums. */
#include "checkpoint.h"

#include <mpi.h>

static int memory[8], value, result, other;

static MPI_Win make(void)
{
	MPI_Win win;

	MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_lock_all(0, win);
	return win;
}

static void end(MPI_Win win)
{
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
}

static void repeat_flush(MPI_Win win, int times)
{
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < times; i++)
		MPI_Win_flush_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* After each kind of call: is there something to do on this side, and then still at the target? */
static void each_call(MPI_Win win)
{
	MPI_Request request = MPI_REQUEST_NULL;

	for (int kind = 0; kind < 10; kind++) {
		int none = 0;
		switch (kind) {
		case 0:
			MPI_Put(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win);
			break;
		case 1:
			MPI_Accumulate(&value, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_SUM, win);
			break;
		case 2:
			MPI_Rput(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win, &request);
			break;
		case 3:
			MPI_Raccumulate(&value, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_SUM, win,
					&request);
			break;
		/* 4: up to here there is. */
		case 4:
			MPI_Get(&result, 1, MPI_INT, other, 0, 1, MPI_INT, win);
			break;
		case 5:
			MPI_Rget(&result, 1, MPI_INT, other, 0, 1, MPI_INT, win, &request);
			break;
		case 6:
			MPI_Get_accumulate(&value, 1, MPI_INT, &result, 1, MPI_INT, other, 0, 1,
					   MPI_INT, MPI_SUM, win);
			break;
		case 7:
			MPI_Rget_accumulate(&value, 1, MPI_INT, &result, 1, MPI_INT, other, 0, 1,
					    MPI_INT, MPI_SUM, win, &request);
			break;
		case 8:
			MPI_Fetch_and_op(&value, &result, MPI_INT, other, 0, MPI_SUM, win);
			break;
		case 9:
			MPI_Compare_and_swap(&value, &none, &result, MPI_INT, other, 0, win);
			break;
		}
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Win_flush_local_all(win); /* 10 more */
		MPI_Win_flush_local(other, win);
		MPI_Win_flush_all(win); /* 4 more */
		MPI_Win_flush(other, win);
	}
}

/* Of a lock of one target, too, the first flush may be what gets it; and with the end of that of
 * all targets nothing is left to do. */
static void locks(MPI_Win locked, MPI_Win unlocked)
{
	MPI_Win_lock(MPI_LOCK_SHARED, other, 0, locked);
	MPI_Win_flush(other, locked); /* 3 */
	MPI_Win_unlock(other, locked);
	MPI_Win_unlock_all(unlocked);
	MPI_Win_lock_all(0, unlocked);
	MPI_Win_flush_all(unlocked); /* 7 */
}

static void whole_windows(MPI_Win a, MPI_Win b)
{
	MPI_Request request;

	MPI_Win_flush_all(a); /* 1: the lock */
	MPI_Win_flush_all(a);
	MPI_Win_flush_all(b); /* 2 */
	MPI_Put(&value, 1, MPI_INT, other, 0, 1, MPI_INT, a);
	MPI_Win_flush_all(b);
	MPI_Win_flush_local_all(a); /* 1 */
	MPI_Win_flush_local_all(a);
	MPI_Win_flush_all(a); /* 3 */
	MPI_Win_flush_all(a);
	MPI_Get(&result, 1, MPI_INT, other, 0, 1, MPI_INT, a);
	MPI_Win_flush_all(a); /* 4 */
	MPI_Get(&result, 1, MPI_INT, other, 0, 1, MPI_INT, a);
	MPI_Win_flush_local_all(a); /* 2 */
	MPI_Win_flush_all(a);
	MPI_Rput(&value, 1, MPI_INT, other, 0, 1, MPI_INT, a, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Win_flush_all(a); /* 5 */
	MPI_Fetch_and_op(&value, &result, MPI_INT, other, 0, MPI_SUM, a);
	MPI_Win_flush_local_all(a); /* 3 */
	MPI_Win_unlock_all(a);
	MPI_Win_lock_all(0, a);
	MPI_Win_flush_all(a); /* 6 */
}

static void one_target(MPI_Win win)
{
	MPI_Accumulate(&value, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_SUM, win);
	MPI_Win_flush(other, win); /* 1 */
	/* There may be another target. */
	MPI_Win_flush(other, win);       /* 2 */
	MPI_Win_flush_local(other, win); /* 1 */
	MPI_Win_flush_all(win);          /* 8 */
	MPI_Win_flush(other, win);
	MPI_Win_flush_local(other, win);
}

/* What was left to a window is not left to one that comes after it. */
static void window_after_window(void)
{
	for (int i = 0; i < 2; i++) {
		MPI_Win win = make();
		MPI_Win_flush_all(win); /* 9, 10 */
		MPI_Win_flush_all(win);
		MPI_Put(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win);
		end(win);
	}
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	other = 1 - rank;
	MPI_Win a = make(), b = make();
	whole_windows(a, b);
	MPI_Win c;
	MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &c);
	locks(c, b);
	MPI_Win_free(&c);
	one_target(b);
	window_after_window();
	/* Of very many in a row that have nothing to do, some. */
	repeat_flush(b, 191); /* 11, 12 */
	repeat_flush(b, 64);  /* 13 */
	repeat_flush(b, 63);
	each_call(b);
	MPI_Barrier(MPI_COMM_WORLD); /* a rank that sleeps does not answer the calls of the other */
	checkpoint();
	end(b);
	end(a);
	MPI_Finalize();
	return 0;
}
