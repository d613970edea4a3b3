/* SPDX-License-Identifier: BSD-3-Clause
 * A thread's trace as text: its loops nested, or all of its events one after the other. */
#ifndef PDB_RENDER_VIEW_TRACE_H
#define PDB_RENDER_VIEW_TRACE_H

struct view;

/* "[ Isend Irecv Waitall ]^412  exchange() halo.c:33-38": loops whose body is short and of one
 * function in a line, others with their bodies below. Of a sequence with more than a few hundred
 * elements the middle is left out. In full each event is on a line of its own. */
void view_trace(const struct view *view);
/* An object with the symbols, the bodies and the sequence; docs/traces.md says how. */
void view_trace_json(const struct view *view);

#endif
