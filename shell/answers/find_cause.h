/* SPDX-License-Identifier: BSD-3-Clause
 * Finds where ranks parted, and which values decided it: stacks and machine code tell the branch
 * (analysis/cause), debug information the variables, and the ranks their values. */
#pragma once

#include "model/base.h"

struct answer;
struct caused_list;
struct rankset;
struct session;

/* Where `ranks` have parted from all others; NULL: the ranks that the verdict names, or if it names
 * none, those that are not where most are. Looks at the job's latest samples. The arena owns *ret.
 * -1: there is no memory of the job to read.
 * ret->is_late: there may be more, but it took too long. */
int find_cause(struct session *session, struct arena *arena, const struct rankset *ranks,
	       struct caused_list *ret, struct pdb_error *err);

/* For lp and why: the same of the ranks that the verdict names, if it names some for a hang and
 * their processes live, or their cores are there. answer->caused stays NULL else,
 * and where it takes longer than some seconds. */
void find_cause_glance(struct session *session, struct answer *answer);
