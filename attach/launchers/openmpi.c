/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "attach/launchers/openmpi.h"
#include "attach/launchers/words.h"
#include "model/xalloc.h"

void openmpi_preload(struct words *argv, const char *value, const char *const *others)
{
	words_add(argv, "-x");
	words_add_owned(argv, xasprintf("LD_PRELOAD=%s", value));
	for (; *others; others++)
		if (getenv(*others))
			words_add_all(argv, (const char *const[]){"-x", *others, NULL});
}
