/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PDB_MODEL_CLEAN_TEXT_H
#define PDB_MODEL_CLEAN_TEXT_H

#include <stddef.h>

/* Replace what a terminal could take as a command, so that names can be printed as they are. */
void segment_clean_text(char *text, size_t size);

#endif
