/* SPDX-License-Identifier: BSD-3-Clause
 * A program with phases that does something wrong after a while, or nothing, or only what looks
 * like it: for `watch`.
 *
 *	phases KIND [SECONDS [RANK]]
 *
 * Steps of some milliseconds, of two sorts in turns: much computing and little, and every 50 steps
 * rank 0 is alone for a while. After SECONDS (5) the RANK (1) does what KIND says: */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const kinds[] = {
	"none",     /* all end, status 0 */
	"status",   /* all end, status 7 */
	"endless",  /* computes for ever */
	"setup",    /* the same after all ranks have computed for 10 s at the beginning */
	"sleep",    /* sleeps for ever */
	"read",     /* reads what never comes */
	"stopped",  /* is stopped by a signal */
	"deadlock", /* waits for the next rank, which waits for it */
	"lost",     /* does not send what the next rank waits for */
	"mismatch", /* calls another collective than the others */
	"exit",     /* is gone */
	"long",     /* computes for 8 s, and goes on to the end */
	"deeper",   /* computes for 40 s deeper and deeper in its code, and goes on to the end */
	"output",   /* writes a file for 8 s, and goes on to the end */
	"slow",     /* takes ten times as long for each step, from the beginning to the end */
	NULL,
};

static volatile double sink = 1;

static void nap(double seconds)
{
	struct timespec time = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};

	nanosleep(&time, NULL);
}

/* Processor time, so that many ranks on few processors are no different; mostly sleeping. */
static void __attribute__((noinline)) work(double seconds)
{
	for (int i = 0; i < 20000; i++)
		sink = sink * 1.0000001 + 1e-9;
	nap(seconds);
}

static void __attribute__((noinline)) compute_for_ever(void)
{
	for (;;)
		sink = sink * 1.0000001 + 1e-9;
}

static void __attribute__((noinline)) read_for_ever(void)
{
	int ends[2];
	char byte;

	if (pipe(ends) < 0 || read(ends[0], &byte, 1) != 0)
		exit(3);
}

static void __attribute__((noinline)) compute_long(double until)
{
	while (MPI_Wtime() < until)
		work(0);
}

static void __attribute__((noinline)) compute_deeper(double until)
{
	work(0.3);
	if (MPI_Wtime() < until)
		compute_deeper(until);
	work(0);
}

static void __attribute__((noinline)) write_output(double until)
{
	FILE *file = tmpfile();

	while (file && MPI_Wtime() < until) {
		fputs("a line of output\n", file);
		fflush(file);
		nap(0.01);
	}
	if (file)
		fclose(file);
}

static int is_kind(const char *kind, const char *name)
{
	return strcmp(kind, name) == 0;
}

/* What the faulty rank does. Returns whether it still takes part in this step's exchange. */
static int do_wrong(const char *kind, int rank, int size)
{
	int next = (rank + 1) % size, x = 0;
	char line[64];

	snprintf(line, sizeof(line), "fault: rank %d %s\n", rank, kind);
	if (write(STDOUT_FILENO, line, strlen(line)) < 0)
		exit(3);
	if (is_kind(kind, "endless") || is_kind(kind, "setup"))
		compute_for_ever();
	if (is_kind(kind, "sleep"))
		for (;;)
			nap(1000);
	if (is_kind(kind, "read"))
		read_for_ever();
	if (is_kind(kind, "stopped"))
		raise(SIGSTOP);
	if (is_kind(kind, "deadlock"))
		MPI_Recv(&x, 1, MPI_INT, next, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (is_kind(kind, "mismatch"))
		MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (is_kind(kind, "exit"))
		_exit(0);
	if (is_kind(kind, "long"))
		compute_long(MPI_Wtime() + 8);
	if (is_kind(kind, "deeper"))
		compute_deeper(MPI_Wtime() + 40);
	if (is_kind(kind, "output"))
		write_output(MPI_Wtime() + 8);
	return !is_kind(kind, "lost");
}

/* To the right and from the left. */
static void exchange(int rank, int size, int sends)
{
	int right = (rank + 1) % size, left = (rank + size - 1) % size, x = rank, got;
	MPI_Request request = MPI_REQUEST_NULL;

	if (sends)
		MPI_Isend(&x, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &request);
	MPI_Recv(&got, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "none";
	double seconds = argc > 2 ? atof(argv[2]) : 5, began, past, all_past;
	int rank, size, faulty = argc > 3 ? atoi(argv[3]) : 1, known = 0;

	for (int i = 0; kinds[i]; i++)
		known |= is_kind(kind, kinds[i]);
	if (!known)
		return 2;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (is_kind(kind, "setup")) {
		MPI_Barrier(MPI_COMM_WORLD);
		compute_long(MPI_Wtime() + 10);
	}
	began = MPI_Wtime();
	for (long step = 0, is_late = 0; !is_late; step++) {
		int sends = 1;

		work((step / 100 % 2 ? 0.004 : 0.001) *
		     (rank == faulty && is_kind(kind, "slow") ? 10 : 1));
		if (rank == 0 && step % 50 == 0)
			work(0.1);
		past = MPI_Wtime() - began;
		MPI_Allreduce(&past, &all_past, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
		is_late = all_past > seconds;
		if (is_late && rank == faulty)
			sends = do_wrong(kind, rank, size);
		else if (is_late && is_kind(kind, "mismatch"))
			MPI_Barrier(MPI_COMM_WORLD);
		exchange(rank, size, sends);
	}
	/* So that all of those that are not faulty come here. */
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return is_kind(kind, "status") ? 7 : 0;
}
