/* SPDX-License-Identifier: BSD-3-Clause
 * What the recorder asks of MPI, and whose wrappers these are. */
#ifndef PDB_RECORDER_WRAP_MPI_H
#define PDB_RECORDER_WRAP_MPI_H

#include "model/recorder/wrap_comms.h"

extern const struct process_mpi wrap_mpi __attribute__((visibility("hidden")));

/* See jump.h. */
void *wrap_resolve(struct recorder_function *function, const struct jump_info *info,
		   struct jump_frame *frame, void *arguments, uintptr_t caller);

#endif
