/* SPDX-License-Identifier: BSD-3-Clause
 * From a call path to its site in the segment: frames as a prefix tree, sites by frame and
 * function. Callers hold the recorder's lock. */
#pragma once

#include "model/recorder/idhash.h"
#include "model/recorder/objects.h"
#include "model/recorder/recorder.h"
#include "model/recorder/unwind.h"

/* The last sites are kept for calls whose path does not fit any more: one for each function,
 * without a path. */
enum { INTERN_PATHLESS_SITES = 1024 };

struct intern {
	struct idhash frames, sites;
};

/* The site of a call, added if it is new; 0 when even a site without a path does not fit. */
uint32_t intern_site(struct intern *in, struct objects *objects, struct writer *w,
		     struct recorder_function *function, const struct call_path *path);

/* The frame that stands for a function of the program, by its address; SEG_NO_FRAME when it does
 * not fit. */
uint32_t intern_function(struct intern *in, struct objects *objects, struct writer *w,
			 uintptr_t address);
