/* SPDX-License-Identifier: BSD-3-Clause
 * The views of commands about traces of several ranks or runs. The rules of view.h apply, but these
 * views need no job: traces bring their own. */
#pragma once

#include "analysis/traces/clustering.h"
#include "analysis/traces/trace_attributes.h"

struct view;

/* Which attributes are compared, and how. */
struct trace_measure {
	unsigned int kinds; /* bits of enum attribute_kind */
	enum attribute_frequency frequency;
	enum linkage linkage;
};

/* Results about traces. diff compares two threads and has their names. */
struct trace_answer {
	const struct trace_runs *runs;
	const char *names[2]; /* of the two runs as the user named them; "rank 3 of good.pdb" */
	struct trace_measure measure;
	const struct trace_similarity *similarity;
	const struct concept_lattice *lattice;
	const struct trace_clusters *clusters; /* of all traces */
	const struct trace_suspects *suspects;
	const struct trace_diff *diff;
	size_t threads[2]; /* indexes in runs->threads: left and right */
};

/* lattice: the concepts from the top down, drawn if they fit, and what each concept's ranks have
 * that the concepts above lack. In full: every attribute. */
void view_lattice(const struct view *view);
void view_lattice_dot(const struct view *view);
void view_lattice_json(const struct view *view);

/* similar: a heat map with similar traces side by side and equal traces as one, or clusters if
 * there are too many; then the clustering. */
void view_similar(const struct view *view);
void view_similar_svg(const struct view *view);
void view_similar_json(const struct view *view);

/* suspects: scripts rely on the first line: "Most suspicious: rank 3, of 8 ranks", "Most
 * suspicious: ranks 3,5, of 8 ranks", "No rank is suspicious." */
void view_suspects(const struct view *view);
void view_suspects_json(const struct view *view);

/* diff: two columns; what both have is on one line. Long equal pieces are folded, except with
 * is_full. */
void view_diff(const struct view *view);
void view_diff_dot(const struct view *view);
void view_diff_json(const struct view *view);

/* trace: the trace of one thread with nested loops; the middle of a long one is left out. In full:
 * one event per line. A loop is one line if its body is short and in one function: "[ Isend Irecv
 * Waitall ]^412  exchange() halo.c:33-38". Other loops have their bodies below. */
void view_trace(const struct view *view);
/* An object with symbols, bodies and sequence; docs/traces.md explains it. */
void view_trace_json(const struct view *view);
