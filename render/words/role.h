/* SPDX-License-Identifier: BSD-3-Clause
 * What the ranks that a verdict names are called, in all answers: the first line says no more than
 * the evidence does. */
#ifndef PDB_RENDER_ROLE_H
#define PDB_RENDER_ROLE_H

struct view;

/* The words are kept for scripts (docs/json.md). */
struct role {
	const char *name; /* in JSON: "culprit" */
	/* The first words: "Culprit: "; of one who names nobody without ": ". Of a job that is
	 * known not to hang lp says "No hang" in their place. */
	const char *title;
	const char *mark; /* behind rows: "<- culprit"; NULL: nobody is named */
	const char *is;   /* "is a culprit", of one rank; NULL: nobody is named */
};

/* Of view->verdict. Static.
 *
 * Culprits have left something out, or do not get on; the least progressed are named by the
 * progress order alone; of a deadlock in which all are alike nobody has left out anything, and
 * neither has an end of a message that was sent and has not arrived. */
const struct role *role_of(const struct view *view);

#endif
