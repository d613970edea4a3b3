/* SPDX-License-Identifier: BSD-3-Clause
 * The hooks of point-to-point calls and of what completes later; see mpi_calls.def for when and
 * with what the wrappers call them. Included by wrap.h. */
#ifndef PDB_RECORDER_WRAP_P2P_H
#define PDB_RECORDER_WRAP_P2P_H

#include "model/recorder/operation.h"
#include "model/recorder/wrap_args.h"

/* Nothing is known of what such a call needs. */
static inline void wrap_unknown(struct wrap_call *w, enum operation_of of)
{
	operation_plain(w->lane, SEG_OPERATION_OTHER, of);
}

/* Returns without anybody's help. */
static inline void wrap_local_before(struct wrap_call *w)
{
	operation_plain(w->lane, SEG_OPERATION_LOCAL, OPERATION_CALL);
}

static inline void wrap_poll_before(struct wrap_call *w)
{
	wrap_unknown(w, OPERATION_POLL);
}

static inline void wrap_poll_some_before(struct wrap_call *w)
{
	wrap_unknown(w, OPERATION_POLL);
}

#endif
