/* SPDX-License-Identifier: BSD-3-Clause
 * Who holds the others up: analysis.md, section 6. Never more than was seen. */
#ifndef PDB_ANALYSIS_VERDICT_H
#define PDB_ANALYSIS_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/eqgroup.h"

struct job;

enum verdict_kind {
	VERDICT_NONE,	     /* nobody is blocked, or what is waited for moves: "No rank is behind." */
	VERDICT_COMPUTATION, /* culprits are outside MPI and do not move while others wait inside */
	VERDICT_STOPPED,     /* the culprits' processes are stopped, zombies or uninterruptible */
	VERDICT_LEFT,	     /* the culprits have left MPI or vanished while others wait */
	VERDICT_LEAST,	     /* all static ranks are inside MPI: these are least in the order */
	VERDICT_UNDECIDED,   /* all are static and inside, and the order cannot pick */
	VERDICT_UNKNOWN,     /* too little is known (no models and no stacks) */
};

enum verdict_basis { VERDICT_BY_MODELS, VERDICT_BY_STACKS };

struct verdict {
	enum verdict_kind kind;
	enum verdict_basis basis;
	struct rankset *culprits;	/* empty for NONE and UNKNOWN; candidates for UNDECIDED */
	uint32_t *culprit_groups;	/* indexes in eqgroups, least progressed first */
	size_t num_culprit_groups;
	struct rankset *waiting; /* static and inside MPI (or polling), culprits apart */
	struct rankset *moving;	 /* made a transition between the looks or just before */
	bool is_hang;		 /* confident enough for exit status 1 */
	/* How sure: the culprits' shortest present stay against their own longest earlier stay in
	 * that state, or in any state of theirs if this one is new to them. */
	uint64_t stay_ns, longest_before_ns;
	bool is_new_state; /* no culprit ever left this state before */
	bool is_approximate; /* a comparison used cumulative counts of an inner loop */
	uint64_t quiet_ns; /* since the last transition of any rank */
};

/* A rank is static if it made no transition between the looks, or with one look none for 200 ms.
 * Nobody is accused for a present stay below 500 ms, nor for one that is not longer than its longest
 * earlier one in that state; in a state that it never left before, in any state of the same side.
 * is_hang takes ten times that and 1 s, or 3 s in a state never left before.
 *
 * The samples in the job, if any, tell stopped processes and main threads that wait for other
 * threads of their own rank, and they speak for ranks without a model. groups and graph may be
 * NULL: then the verdict is by stacks alone, stay_ns is the time over which they agree, and is_hang
 * takes 3 s of that, since earlier stays are not known. Never fails. */
struct verdict *verdict_create(const struct job *job, const struct eqgroups *groups,
			       const struct progress_graph *graph);
void verdict_destroy(struct verdict *verdict);

#endif
