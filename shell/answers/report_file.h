/* SPDX-License-Identifier: BSD-3-Clause
 * What `report` and `watch --report` write: a page of HTML, or text. */
#ifndef PDB_SHELL_REPORT_FILE_H
#define PDB_SHELL_REPORT_FILE_H

struct pdb_error;
struct session;

/* A page if the file's name ends in .html, else text, with the line `about` (or NULL) above. -1:
 * it cannot be written. *undrawn: why pictures could not be drawn, or ERROR_NONE. */
int report_file_write(struct session *session, const char *path, const char *about,
		      struct pdb_error *undrawn, struct pdb_error *err);

#endif
