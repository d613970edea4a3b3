/* SPDX-License-Identifier: BSD-3-Clause
 * What the commands about the traces of many ranks or several runs print: view.h's rules, but that
 * a job is not needed: traces bring theirs along. */
#ifndef PDB_RENDER_VIEW_TRACES_H
#define PDB_RENDER_VIEW_TRACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/traces/clustering.h"
#include "analysis/traces/trace_attributes.h"

struct concept_lattice;
struct trace_clusters;
struct trace_diff;
struct trace_runs;
struct trace_similarity;
struct trace_suspects;
struct view;

/* What the attributes are and were made with. */
struct trace_measure {
	unsigned int kinds; /* enum attribute_kind, together */
	enum attribute_frequency frequency;
	enum linkage linkage;
};

/* lattice: the concepts from the top down, as a drawing where it fits, and what the ranks of each
 * have that those above have not; all: every attribute. */
void view_lattice(const struct view *view, const struct trace_runs *runs,
		  const struct trace_similarity *similarity, const struct concept_lattice *lattice,
		  const struct trace_measure *measure, bool all);
void view_lattice_dot(const struct view *view, const struct trace_runs *runs,
		      const struct trace_similarity *similarity,
		      const struct concept_lattice *lattice, const struct trace_measure *measure);
void view_lattice_json(const struct view *view, const struct trace_runs *runs,
		       const struct trace_similarity *similarity,
		       const struct concept_lattice *lattice, const struct trace_measure *measure);

/* similar: the matrix as a heat map, similar traces side by side, equal ones as one, and if there
 * are too many clusters of them; then how they cluster. clusters: of all traces. */
void view_similar(const struct view *view, const struct trace_runs *runs,
		  const struct trace_similarity *similarity, const struct trace_clusters *clusters,
		  const struct trace_measure *measure);
void view_similar_svg(const struct view *view, const struct trace_runs *runs,
		      const struct trace_similarity *similarity,
		      const struct trace_clusters *clusters, const struct trace_measure *measure);
void view_similar_json(const struct view *view, const struct trace_runs *runs,
		       const struct trace_similarity *similarity,
		       const struct trace_clusters *clusters, const struct trace_measure *measure);

/* suspects: the first line is kept for scripts: "Most suspicious: rank 3, of 8 ranks", "Most
 * suspicious: ranks 3,5, of 8 ranks", "No rank is suspicious." names: what the two runs are called,
 * as diff takes them. */
void view_suspects(const struct view *view, const struct trace_runs *runs,
		   const struct trace_suspects *suspects, const char *const *names, bool all);
void view_suspects_json(const struct view *view, const struct trace_runs *runs,
			const struct trace_suspects *suspects, const char *const *names);

/* What diff compares. */
struct trace_sides {
	const struct trace_runs *runs;
	const struct trace_diff *diff;
	size_t threads[2];    /* of runs->threads: left and right */
	const char *names[2]; /* "rank 3 of good.pdb" */
};

/* diff: two columns, what both have on the same line; long pieces that are the same are folded
 * unless all is wanted. */
void view_diff(const struct view *view, const struct trace_sides *sides, bool all);
void view_diff_dot(const struct view *view, const struct trace_sides *sides);
void view_diff_json(const struct view *view, const struct trace_sides *sides);

#endif
