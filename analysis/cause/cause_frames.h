/* SPDX-License-Identifier: BSD-3-Clause
 * The frames in which two stacks part. */
#pragma once

#include "model/base.h"

struct callpaths;

/* Nodes of the first frames that differ, of the same depth. False: one stack is a part of the
 * other, or one is CALLPATH_NONE. */
bool cause_frames(const struct callpaths *callpaths, uint32_t a, uint32_t b, uint32_t ret[2]);

/* The next frame inwards from the node, on the way to `path`; CALLPATH_NONE: it is the last one. */
uint32_t cause_inner_frame(const struct callpaths *callpaths, uint32_t path, uint32_t node);
