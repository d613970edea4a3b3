/* SPDX-License-Identifier: BSD-3-Clause
 * The temporal order of stacks in words: loops, reasons, and what the verdict went by. */
#ifndef PDB_RENDER_ORDER_TEXT_H
#define PDB_RENDER_ORDER_TEXT_H

struct temporal_group;
struct temporal_loop;
struct temporal_reason;
struct temporal_result;
struct view;

/* Where a group of stacks is: "in MPI_Allreduce, halo() at solver.c:12". */
const char *order_text_where(const struct view *view, const struct temporal_group *group);

/* "the loop at solver.c:12 of relax()". The loop's line is the first of those of its ends, or of
 * its beginning where that is in the same file. */
const char *order_text_loop(const struct view *view, const struct temporal_loop *loop);

/* Why two groups are not ordered: "they are in different branches". */
const char *order_text_cause(const struct view *view, const struct temporal_reason *reason);

/* Why no stack is before another, or the first reason for two of them. */
const char *order_text_no_order(const struct view *view, const struct temporal_result *order);

/* Of a verdict by the order of stacks: what makes the culprits earlier than the other candidates, a
 * paragraph for each kind of reason. */
void order_text_print_choice(const struct view *view);

/* Of a verdict that the order could not choose for: why not, if there is an order at all. */
void order_text_print_doubt(const struct view *view);

#endif
