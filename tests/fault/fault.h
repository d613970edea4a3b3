/* SPDX-License-Identifier: BSD-3-Clause
 * Is this call the one that the fault is about? Asked once at each, before it is made. */
#ifndef PDB_TESTS_FAULT_FAULT_H
#define PDB_TESTS_FAULT_FAULT_H

#include <mpi.h>
#include <stdbool.h>

/* True: this message is not to be sent, which has been said on the standard output. */
bool fault_loses_message(const char *function, int destination, int tag, MPI_Comm comm);

/* True: this collective is not to be entered, which has been said. */
bool fault_skips_collective(const char *function);

#endif
