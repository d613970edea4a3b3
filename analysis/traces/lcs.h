/* SPDX-License-Identifier: BSD-3-Clause
 * The longest common subsequence of two sequences of keys, exactly, 64 cells of the matrix at a
 * time (Hyyro, "Bit-Parallel LCS-length Computation Revisited", AWOCA 2004). If the matrix is too
 * large it is halved (Hirschberg, CACM 1975). The time does not depend on what the sequences have
 * in common: 10,000 of each take some milliseconds. */
#ifndef PDB_ANALYSIS_LCS_H
#define PDB_ANALYSIS_LCS_H

#include "model/std.h"

struct lcs_match {
	uint32_t a, b; /* indexes; both ascend */
};

/* One with the earliest elements. matches: room for the shorter one. Returns how many. */
size_t lcs_find(const uint64_t *a, size_t num_a, const uint64_t *b, size_t num_b,
		struct lcs_match *matches);

#endif
