/* SPDX-License-Identifier: BSD-3-Clause
 * The file that `report` and `watch --report` write: an HTML page or text. */
#pragma once

#include "model/base.h"

struct session;

/* Write an HTML page if the file's name ends in .html, else text. `about` (or NULL) is a line above
 * the text. *undrawn: why pictures could not be drawn, or ERROR_NONE. -1 and *err: the file cannot
 * be written. */
int report_file_write(struct session *session, const char *path, const char *about,
		      struct pdb_error *undrawn, struct pdb_error *err);
