/* SPDX-License-Identifier: BSD-3-Clause
 * What `report` and `watch --report` write: a page of HTML, or text. */
#ifndef PDB_SHELL_REPORT_FILE_H
#define PDB_SHELL_REPORT_FILE_H

struct pdb_error;
struct session;

/* The job of the session, which has one: a page if the file's name ends in .html, else text, with
 * the line `about` above the answers (NULL: none). -1: it cannot be written. What a page lacks,
 * pictures that could not be drawn, is in *undrawn; else that has ERROR_NONE. */
int report_file_write(struct session *session, const char *path, const char *about,
		      struct pdb_error *undrawn, struct pdb_error *err);

#endif
