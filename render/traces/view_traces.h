/* SPDX-License-Identifier: BSD-3-Clause
 * What the commands about the traces of many ranks or several runs print: view.h's rules, but that
 * a job is not needed: traces bring theirs along. */
#ifndef PDB_RENDER_VIEW_TRACES_H
#define PDB_RENDER_VIEW_TRACES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/traces/clustering.h"
#include "analysis/traces/trace_attributes.h"

struct view;

/* What the attributes are and were made with. */
struct trace_measure {
	unsigned int kinds; /* enum attribute_kind, together */
	enum attribute_frequency frequency;
	enum linkage linkage;
};

/* What was found of traces. diff compares threads, of which it has the names. */
struct trace_answer {
	const struct trace_runs *runs;
	const char *names[2]; /* of the two runs as they were asked for; "rank 3 of good.pdb" */
	struct trace_measure measure;
	const struct trace_similarity *similarity;
	const struct concept_lattice *lattice;
	const struct trace_clusters *clusters; /* of all traces */
	const struct trace_suspects *suspects;
	const struct trace_diff *diff;
	size_t threads[2]; /* of runs->threads: left and right */
};

/* lattice: the concepts from the top down, as a drawing where it fits, and what the ranks of each
 * have that those above have not; in full every attribute. */
void view_lattice(const struct view *view);
void view_lattice_dot(const struct view *view);
void view_lattice_json(const struct view *view);

/* similar: a heat map, similar traces side by side, equal ones as one, clusters if there are too
 * many; then how they cluster. */
void view_similar(const struct view *view);
void view_similar_svg(const struct view *view);
void view_similar_json(const struct view *view);

/* suspects: the first line is kept for scripts: "Most suspicious: rank 3, of 8 ranks", "Most
 * suspicious: ranks 3,5, of 8 ranks", "No rank is suspicious." */
void view_suspects(const struct view *view);
void view_suspects_json(const struct view *view);

/* diff: two columns, what both have on one line; long pieces of it are folded, but for is_full. */
void view_diff(const struct view *view);
void view_diff_dot(const struct view *view);
void view_diff_json(const struct view *view);

/* trace: a thread's own with its loops nested, of many elements without the middle; in full each
 * event on a line. "[ Isend Irecv Waitall ]^412  exchange() halo.c:33-38": loops whose body is
 * short and of one function in a line, others with their bodies below. */
void view_trace(const struct view *view);
/* An object with the symbols, the bodies and the sequence; docs/traces.md says how. */
void view_trace_json(const struct view *view);

#endif
