/* SPDX-License-Identifier: BSD-3-Clause
 * Functions of programs that were compiled with -finstrument-functions: the compiler has each of
 * them call __cyg_profile_func_enter() and __cyg_profile_func_exit(), which this library has. Who
 * else has them still gets the calls. */
#ifndef PDB_RECORDER_FUNCTIONS_H
#define PDB_RECORDER_FUNCTIONS_H

#include <stdint.h>

#include "model/recorder/intern.h"
#include "model/recorder/trace_filter.h"

/* The frame of a function in the segment; TRACER_SKIP: the filter is against it; SEG_NO_FRAME:
 * there is no room. The recorder's lock is held. */
uint32_t functions_intern(const struct trace_filter *filter, struct intern *in,
			  struct objects *objects, struct writer *w, uintptr_t address);

#endif
