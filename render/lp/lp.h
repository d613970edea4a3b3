/* SPDX-License-Identifier: BSD-3-Clause
 * The parts of lp's answer that other answers also use. */
#pragma once

#include "model/base.h"

struct view;
struct waitfor_mismatch;
struct waitfor_need;

/* ---- What the waits show about the cause: cause.c ---- */

/* Print the lines below the first one: "deadlock: ...", "mismatch: ...", "lost message: ...", with
 * who waits for what. Prints nothing for other verdicts. */
void cause_print(const struct view *view);
/* Print ranks that wait for each other when the verdict names nobody. */
void cause_print_open(const struct view *view);
/* Do the lines of cause_print() show the culprits' places? */
bool cause_has_places(const struct view *view);
/* Print who waits for the culprits, directly and indirectly. Prints nothing if the waits do not
 * show it. */
void cause_print_waits(const struct view *view, int indent);
/* Print "mismatch: ..." with a line for each pair and each party: cause_mismatch.c. */
void cause_print_mismatch(const struct view *view, const struct waitfor_mismatch *mismatch,
			  int indent);
/* Print the other rank's request that would meet this need, if it was created but not started; else
 * nothing. */
void cause_print_unstarted(const struct view *view, const struct waitfor_need *need, int indent);
/* Commands that show the cause in more detail; "" for other verdicts. */
const char *cause_next(const struct view *view);

/* Print what culprits look for in windows that they poll, and who may have failed to write it:
 * looks.c. */
void looks_print(const struct view *view, int indent);

/* ---- Where ranks are: culprit_places.c ---- */

/* Print for each group of culprits, at most four, its place and its stay (unless has_places:
 * already printed), and its iterations of loops beside the others' iterations. */
void culprit_places_print(const struct view *view, bool has_places);
/* Print a line for each place of the main threads of these ranks, at most four, most ranks first:
 * "rank 3: in MPI_Recv, exchange() at halo.c:12". Prints nothing for ranks without a stack. */
void stack_places_print(const struct view *view, const struct rankset *ranks);

/* What the kernel says of the culprits' processes: whether they are stopped, held or inside it, and
 * limits that they have reached. */
void view_process_states(const struct view *view);
/* Print the ranks that have neither a stack nor a recorder because the kernel does not let them
 * stop, and what they wait for in the kernel. */
void view_unstoppable(const struct view *view);
