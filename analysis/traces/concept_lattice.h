/* SPDX-License-Identifier: BSD-3-Clause
 * The concept lattice of a formal context. A concept is a pair of sets: its *extent*, objects, and
 * its *intent*, attributes; the intent is all that these objects have in common, and the extent is
 * all objects that have these attributes. A concept is below another if its extent is part of the
 * other's. Made one row after the other with AddIntent (van der Merwe, Obiedkov and Kourie,
 * "AddIntent: A New Incremental Algorithm for Constructing Concept Lattices", ICFCA 2004). */
#ifndef PDB_ANALYSIS_CONCEPT_LATTICE_H
#define PDB_ANALYSIS_CONCEPT_LATTICE_H

#include "analysis/traces/formal_context.h"

struct pdb_error;

struct concept {
	uint64_t *intent;  /* as a row of the context */
	uint32_t *extent;  /* rows of the context, ascending */
	uint32_t *parents; /* next above: larger extents */
	size_t num_extent, num_parents, parents_capacity;
};

/* Concepts from the top (all objects) down: parents come first, then by their intents. */
struct concept_lattice {
	const struct formal_context *context; /* borrowed */
	struct concept *concepts;
	size_t num_concepts;
	/* Reduced labels: the lowest concept with the object, the highest with the attribute. */
	uint32_t *concept_of_row;       /* [num_rows] */
	uint32_t *concept_of_attribute; /* [num_attributes] */
};

/* NULL and *err (ERROR_UNSUPPORTED) when there are more than `most` concepts, of which there may be
 * exponentially many. It lives in the arena. */
struct concept_lattice *concept_lattice_create(struct arena *arena,
					       const struct formal_context *context, size_t most,
					       struct pdb_error *err);

#endif
