/* SPDX-License-Identifier: BSD-3-Clause
 * A page of HTML about a job, for people who were not there: in one file, without anything from
 * elsewhere, readable without JavaScript. render/report.css and report.js are part of it. */
#ifndef PDB_RENDER_REPORT_H
#define PDB_RENDER_REPORT_H

#include <stddef.h>

struct calltree;
struct collective_groups;
struct pdb_error;
struct view;
struct wait_groups;

struct report {
	const struct view *view;         /* written to view->out */
	const char *title;               /* of the job */
	const char *made;                /* when and by which pdb, a sentence */
	const char *facts, *costs;       /* of the job, of pdb: lines of text; NULL: none */
	const struct calltree *tree;     /* NULL: no stacks */
	const struct wait_groups *waits; /* NULL without models, as the next */
	struct collective_groups *const *collectives; /* of each of view->comms */
};

/* -1 and *err: it is there, but a picture could not be drawn; the page says so, too. */
int report_write(const struct report *report, struct pdb_error *err);

#endif
