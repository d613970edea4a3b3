/* SPDX-License-Identifier: BSD-3-Clause
 * A small MPI's ranks as models, with all evidence that a recorder would have. */
#ifndef PDB_TESTS_UNIT_SMALL_MODELS_H
#define PDB_TESTS_UNIT_SMALL_MODELS_H

#include "tests/unit/small_mpi.h"

/* The rank as of `stay_ms` after its last step, into job->model. */
void sm_put_rank(struct sm_job *small, int self, uint64_t stay_ms, struct job *job);

/* Everybody, at the end of the small job, which is freed. Those in "m" move. No model if all are
 * gone. */
struct job *sm_finish(struct sm_job *small, uint64_t stay_ms);

#endif
