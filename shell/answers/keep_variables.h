/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

struct session;

/* Before a snapshot is saved: read variables for it, of the ranks that the verdict names and of one
 * rank of each other group, in the innermost frames of the program's own code. Of a job whose
 * processes are gone, of one that is hidden, or where reading fails: none. What is kept is bounded:
 * some tens of KB. */
void keep_variables(struct session *session);
