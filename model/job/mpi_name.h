/* SPDX-License-Identifier: BSD-3-Clause
 * From the symbols of an MPI library to the functions of the standard and their names. */
#pragma once

#include "model/base.h"

enum { MPI_NAME_SIZE = 64 };

/* "MPI_Allreduce" of what libraries call it: PMPI_Allreduce, mpi_allreduce__, MPI_Allreduce_f,
 * mpi_allreduce_f08ts, and "MPI_Finalize" of what it jumps to, ompi_mpi_finalize. Into a buffer of
 * MPI_NAME_SIZE, which is returned; NULL: it is none of these, or has that name already.
 * is_library: of an MPI library. Else it may be any program's own, as mpi_setup(), and is one of
 * these only by the name of a function that programs call and wait in. */
const char *mpi_name_of(const char *symbol, bool is_library, char *buffer);
