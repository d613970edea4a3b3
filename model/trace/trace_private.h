/* SPDX-License-Identifier: BSD-3-Clause
 * Between trace.c and trace_copy.c. */
#ifndef PDB_MODEL_TRACE_PRIVATE_H
#define PDB_MODEL_TRACE_PRIVATE_H

#include "model/trace/trace.h"

/* Append what so many events of an open symbol are: whole iterations and, of a loop, the part of
 * one more. The bodies and the symbol have been checked. -1 and *err: too many. */
int trace_add_open(struct trace *trace, uint32_t symbol, uint64_t events, struct pdb_error *err);

#endif
