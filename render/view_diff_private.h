/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by view_diff.c, which prints the lines of two traces side by side, and view_diff_data.c,
 * which draws them and writes them as data. */
#ifndef PDB_RENDER_VIEW_DIFF_PRIVATE_H
#define PDB_RENDER_VIEW_DIFF_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/traces/trace_diff.h"

struct arena;
struct trace_answer;
struct view;

enum diff_line_role { DIFF_EVENT, DIFF_BEGIN, DIFF_END }; /* of a loop */

struct diff_line {
	enum trace_diff_kind kind; /* not BODY */
	enum diff_line_role role;
	unsigned int depth;       /* loops around it */
	const char *left, *right; /* NULL: nothing on that side */
	bool is_kept; /* it differs, is near to what does or around it, or at an end of the traces
		       */
};

/* They live in the view's arena. */
struct diff_lines {
	struct arena *arena;
	const struct trace_answer *sides;
	struct diff_line *lines;
	size_t num, capacity;
	uint8_t *shown; /* [bodies of the set] loops whose bodies are in lines above */
};

struct diff_lines *diff_lines_create(const struct view *view);

/* How many lines from `at` on can be left out, as they are the same on both sides and not kept; 0:
 * so few that it is not worth it. */
size_t diff_lines_fold(const struct diff_lines *lines, size_t at);

#endif
