/* SPDX-License-Identifier: BSD-3-Clause
 * What pdb has to say of a job as text: what `report` and `watch --report` write to files that
 * are no pages (shell/answers/page.h). */
#ifndef PDB_SHELL_TEXT_REPORT_H
#define PDB_SHELL_TEXT_REPORT_H

#include <stdio.h>

struct session;

/* The job of the session, which has one. about: a line above the answers, or NULL. Errors of
 * writing stay in `out`. */
void text_report_write(struct session *session, const char *about, FILE *out);

#endif
