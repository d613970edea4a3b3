/* SPDX-License-Identifier: BSD-3-Clause
 * The role of the ranks that a verdict names, in the words of all answers. The words claim no more
 * than the evidence shows. */
#pragma once

struct view;

/* Scripts rely on these words (docs/json.md). */
struct role {
	const char *name; /* in JSON: "culprit" */
	/* First words of the answer: "Culprit: "; without ": " if nobody is named. For a job that
	 * is known not to hang, lp says "No hang" instead. */
	const char *title;
	const char *mark; /* behind rows: "<- culprit"; NULL: nobody is named */
	const char *is;   /* "is a culprit", about one rank; NULL: nobody is named */
};

/* The role in view->verdict. Static.
 *
 * Culprits left something out, or do not continue. Of ranks that a short look without the recorder
 * has found outside MPI, it is not known whether they continue. Least progressed ranks are named by
 * the progress order alone. Of a deadlock's ranks nothing tells who has gone wrong, if anyone. The
 * two ends of a message that was sent and has not arrived have left nothing out. */
const struct role *role_of(const struct view *view);
