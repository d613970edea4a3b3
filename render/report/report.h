/* SPDX-License-Identifier: BSD-3-Clause
 * A page of HTML about a job, for people who were not there: in one file, without anything from
 * elsewhere, readable without JavaScript. render/report/report.css and report.js are part of it. */
#ifndef PDB_RENDER_REPORT_H
#define PDB_RENDER_REPORT_H

struct calltree;
struct pdb_error;

struct report {
	/* Written to view->out. Its answer has what there is of the tree, and with models the waits and
	 * the collectives of each of view->comms. */
	const struct view *view;
	const char *title;         /* of the job */
	const char *made;          /* when and by which pdb, a sentence */
	const char *facts, *costs; /* of the job, of pdb: lines of text; NULL: none */
};

/* -1 and *err: it is there, but a picture could not be drawn; the page says so, too. */
int report_write(const struct report *report, struct pdb_error *err);

/* ---- Its parts that are drawn from the job: html_job.c ---- */

/* Merged stacks as nested lists that fold. */
void html_calltree(const struct view *view, const struct calltree *tree);
/* How far each rank is in the outermost loops, as a chart for each of them. */
void html_iterations(const struct view *view);

#endif
