/* SPDX-License-Identifier: BSD-3-Clause
 * An HTML page about a job, for people who were not there. It is one file that loads nothing from
 * elsewhere and is readable without JavaScript. It includes render/report/report.css and
 * report.js. */
#pragma once

#include "model/base.h"

struct calltree;

struct report {
	/* Written to view->out. Its answer has the tree, if there is one; and with models the
	 * waits, and the collectives of each of view->comms. */
	const struct view *view;
	const char *title;         /* of the job */
	const char *made;          /* a sentence: when, and by which version of pdb */
	const char *facts, *costs; /* lines of text about the job and pdb's cost; NULL: none */
};

/* Write the page. -1 and *err: the page is written, but a picture could not be drawn; the page says
 * so, too. */
int report_write(const struct report *report, struct pdb_error *err);

/* ---- Its parts that are drawn from the job: html_job.c ---- */

/* Merged stacks as nested lists that fold. */
void html_calltree(const struct view *view, const struct calltree *tree);
/* How far each rank is in the outermost loops, one chart per loop. */
void html_iterations(const struct view *view);
