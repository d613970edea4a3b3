/* SPDX-License-Identifier: BSD-3-Clause
 * A library with the names by which Open MPI's message queues are found. What they hold a test
 * puts there. */
#include <stdint.h>

uint64_t ompi_mpi_communicators[15];
void *ompi_proc_local_proc;
uint64_t ompi_pml_ucx[32];
