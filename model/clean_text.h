/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "model/base.h"

/* Replace what a terminal could take as a command, so that names can be printed as they are. */
static inline void clean_text(char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] && ((unsigned char)text[i] < ' ' || text[i] == 0x7f))
			text[i] = '?';
}
