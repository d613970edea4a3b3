/* SPDX-License-Identifier: BSD-3-Clause
 * For programs that make every MPI call there is: a trace of what was called and what came of
 * it, in $CHECK_DIR/trace.RANK. A line "MPI_X CLASS" (of error) for each call that the recorder
 * must have counted, other lines for results. It must be the same with and without the recorder. */
#ifndef PDB_TESTS_COVERAGE_H
#define PDB_TESTS_COVERAGE_H

#include <mpi.h>

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define HAVE_MPI4 1 /* sessions, partitioned and persistent collective operations */
#else
#define HAVE_MPI4 0
#endif
#define HAVE_LARGE_COUNTS (MPI_VERSION >= 4)
/* Buffers of communicators, more questions about requests. */
#define HAVE_MPI41 (MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1))

void trace_open(int rank);
void trace_close(void);

/* Returns the code, so that a test may look at it. */
int did(const char *name, int code);
/* A poll that failed is not a call to the recorder. */
int did_poll(const char *name, int code, int found);
void show(const char *what, const int *values, int num);

/* As DO(MPI_Send, buffer, 1, ...); in POLL the second argument is the flag or the count. */
#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)
#define DO(name, ...) did(TEXT(name), name(__VA_ARGS__))
#define POLL(name, found, ...)                                                                     \
	do {                                                                                       \
		int code_ = name(__VA_ARGS__);                                                     \
		did_poll(TEXT(name), code_, found);                                                \
	} while (0)
#define POLL_UNTIL(name, found, ...)                                                               \
	do {                                                                                       \
		found = 0;                                                                         \
		POLL(name, found, __VA_ARGS__);                                                    \
	} while (!found)

#endif
