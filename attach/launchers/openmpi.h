/* SPDX-License-Identifier: BSD-3-Clause
 * What the launchers of all versions of Open MPI have in common. */
#ifndef PDB_ATTACH_OPENMPI_H
#define PDB_ATTACH_OPENMPI_H

#include "attach/launchers/launcher_kind.h"

/* launcher_kind.preload */
void openmpi_preload(struct words *argv, const char *value, const char *const *others);

#endif
