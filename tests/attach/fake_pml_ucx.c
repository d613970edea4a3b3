/* SPDX-License-Identifier: BSD-3-Clause
 * What of Open MPI 4 sends by UCX: a library of its own. fake_mpi.c has it built in, as Open MPI
 * 5 does. */
#include <stdint.h>

uint64_t ompi_pml_ucx[32];
