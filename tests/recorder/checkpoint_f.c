/* SPDX-License-Identifier: BSD-3-Clause */
#include "checkpoint.h"

void checkpoint_f_(void);
void checkpoint_f_(void)
{
	checkpoint();
}
