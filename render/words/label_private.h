/* SPDX-License-Identifier: BSD-3-Clause
 * Functions of label_blocked.c (waits in the kernel) that label_thread.c (waits for locks) uses. */
#pragma once

#include "model/base.h"

struct blocked;
struct view;

/* What the thread sleeps in outside MPI; NULL: not known. */
const struct blocked *label_find_blocked(const struct view *view, const struct sample *sample);
/* "process 812 (lmp)" becomes "rank 2 (process 812, lmp)" if that is a rank of this job, on the host
 * of `rank`. NULL stays NULL. */
const char *label_with_ranks(const struct view *view, int rank, const char *text);
/* The object that it sleeps in, with ranks in place of their processes. NULL: it has none. */
const char *label_blocked_object(const struct view *view, int rank, const struct blocked *of);
