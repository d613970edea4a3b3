/* SPDX-License-Identifier: BSD-3-Clause
 * What communicators, windows and files are called: as the program named them, else by the call
 * that made them. Labels hold names of other people's
 * programs, so print them as label.h says. */
#ifndef PDB_RENDER_COMM_LABEL_H
#define PDB_RENDER_COMM_LABEL_H

#include <stdint.h>

#include "render/label.h"

struct model;

/* One of job->comms. Short: "MPI_COMM_WORLD", "rows (2nd of 4)", "split at grid.c:40 (2nd of 4)".
 * Full: "split of MPI_COMM_WORLD at grid.c:40 (2nd of 4)". Those of one name, or made by one call,
 * are counted in the order of making, then of members. SEG_NO_COMM: "unknown communicator". */
const char *comm_label(const struct view *view, uint32_t comm, enum label_detail detail);

/* The same for entry `local` of a rank's own table, or SEG_NO_COMM: also MPI_COMM_SELF and others
 * that job->comms leaves out. */
const char *comm_label_local(const struct view *view, const struct model *model, uint32_t local,
			     enum label_detail detail);

/* "communicator", "intercommunicator", "window" or "file". Static text. */
const char *comm_label_kind(const struct view *view, uint32_t comm);

#endif
