/* SPDX-License-Identifier: BSD-3-Clause
 * The programs of this folder are two versions each, a good one and one with a fault:
 *
 *	PROGRAM [FAULT RANK STEP]
 *
 * Without arguments it is the good one. Else RANK does the wrong thing in step STEP, or from then
 * on. At its end each rank waits to be looked at, before MPI_Finalize: recordings end with that.
 * What is expected of a fault says a line "fault NAME: ..." of the program: "place" is found in a
 * line of the diff that differs. */
#ifndef PDB_TESTS_TRACES_VERSION_H
#define PDB_TESTS_TRACES_VERSION_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static const char *version_fault = "";
static int version_rank = -1;
static long version_step;

static inline void version_arguments(int argc, char **argv)
{
	if (argc > 3) {
		version_fault = argv[1];
		version_rank = atoi(argv[2]);
		version_step = atol(argv[3]);
	}
}

/* Does this rank do it wrong in this step? Faults that last do from then on. */
static inline bool version_is(const char *fault, int rank, long step)
{
	return rank == version_rank && step == version_step && strcmp(fault, version_fault) == 0;
}

static inline bool version_is_since(const char *fault, int rank, long step)
{
	return rank == version_rank && step >= version_step && strcmp(fault, version_fault) == 0;
}

/* At the end of a function that is to be found in call paths: its last call is no jump then. */
static volatile int version_places;

static inline void version_place(void)
{
	version_places = 1;
}

static NOINLINE void version_hold(void)
{
	for (;;)
		pause();
}

#endif
