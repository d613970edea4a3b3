/* SPDX-License-Identifier: BSD-3-Clause
 * What is none of the launchers that pdb knows, but has ranks below it. */
#include <stddef.h>

#include "attach/launchers/launcher_kind.h"

const struct launcher_kind launcher_other = {
	.name = "other launcher",
	/* It counts on one node only. */
	.is_rank_doubtful = true,
	.rank_variables = (const char *const[]){"MPI_LOCALRANKID", NULL},
};
