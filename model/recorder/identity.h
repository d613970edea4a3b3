/* SPDX-License-Identifier: BSD-3-Clause
 * Who this process is in its job, as the launcher says in the environment; so that a rank that
 * hangs in MPI_Init has a segment as well. */
#ifndef PDB_RECORDER_IDENTITY_H
#define PDB_RECORDER_IDENTITY_H

#include "model/recorder/writer.h"

void identity_from_environment(struct writer_identity *ret);

/* Is this the first rank of its job on this node, or does nobody say that it is not? */
bool identity_is_first_here(void);

#endif
