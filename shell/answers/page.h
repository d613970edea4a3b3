/* SPDX-License-Identifier: BSD-3-Clause
 * The page of HTML about a job: what `report` and `watch --report FILE.html` write. */
#ifndef PDB_SHELL_PAGE_H
#define PDB_SHELL_PAGE_H

#include <stdbool.h>
#include <stdio.h>

struct pdb_error;
struct session;

/* Does the name of a file ask for a page? */
bool page_is_name(const char *path);

/* The job of the session, which has one. Errors of writing stay in `out`. -1 and *err: the page is
 * there, without a picture that could not be drawn. */
int page_write(struct session *session, FILE *out, struct pdb_error *err);

#endif
