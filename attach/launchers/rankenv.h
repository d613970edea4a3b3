/* SPDX-License-Identifier: BSD-3-Clause
 * The rank that a process has according to its environment, whatever launcher wrote it. */
#pragma once

#include "model/base.h"

struct procfs_stat;

struct rankenv {
	int rank;             /* in MPI_COMM_WORLD; -1: not a rank's environment */
	int size;             /* of MPI_COMM_WORLD; 0: not said */
	char job[128];        /* the launcher's name of the job; "": not said */
	const char *variable; /* that said the rank, a constant; NULL: none */
	bool is_whole;        /* there are variables; false where a program has written over them */
};

/* From the text of an environ file. */
void rankenv_parse(const char *variables, size_t size, struct rankenv *ret);

/* Of a process; -1 with errno set if it cannot be read. */
int rankenv_read(pid_t pid, struct rankenv *ret);

/* Has the process an MPI library mapped? */
bool rankenv_has_mpi(pid_t pid);

/* The process that is the rank, given one that carries its environment: that one, or where it is
 * only a wrapper (a shell, numactl, a profiler), the outermost process below it that has the same
 * rank and job and an MPI library mapped. */
pid_t rankenv_process(const struct procfs_stat *list, size_t num, pid_t pid,
		      const struct rankenv *env);
