/* SPDX-License-Identifier: BSD-3-Clause
 * Who waits for what, in words. Labels hold names
 * of other people's programs, so print them as label.h says. */
#ifndef PDB_RENDER_WAIT_LABEL_H
#define PDB_RENDER_WAIT_LABEL_H

#include <stdbool.h>
#include <stdint.h>

#include "render/label.h"

struct rankset;

/* "rank 7", or "rank 7, main thread", "rank 7, thread 2" where the rank has several. lane: index
 * in the job model. */
const char *wait_label_who(const struct view *view, uint32_t lane);

/* "in MPI_Recv, exchange() at pair.c:31", "outside MPI, in compute() at force.c:88". */
const char *wait_label_where(const struct view *view, uint32_t lane);

/* What a need is for, after "waits for": "message 413 with tag 7 from rank 100, which has sent
 * 412", "ranks 99,101 to call MPI_Allgather, number 1237 on MPI_COMM_WORLD". */
const char *wait_label_need(const struct view *view, uint32_t need);

/* The same for many needs of one kind, without numbers: "messages with tag 7 from ranks 3-9". */
const char *wait_label_needs(const struct view *view, uint32_t need, const struct rankset *peers,
			     int width);

/* Why what a lane waits for is not known, or not all of it; NULL: it is. Static text. */
const char *wait_label_gap(const struct view *view, uint32_t lane);

/* " on halo", or "" for MPI_COMM_WORLD. */
const char *wait_label_on(const struct view *view, uint32_t comm);

#endif
