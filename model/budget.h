/* SPDX-License-Identifier: BSD-3-Clause
 * How much memory input may take: in proportion to its real bytes, for all parts of a file
 * together. */
#pragma once

#include "model/base.h"

/* Compressed: a job of some ten thousand ranks that do the same takes less than BUDGET_SMALL. Real
 * jobs take up to 60 bytes for each rank in the file. Files below BUDGET_SMALL are alike. */
#define BUDGET_SMALL ((uint64_t)1 << 20)
#define BUDGET_LEAST ((uint64_t)40 << 20)
#define BUDGET_MOST ((uint64_t)8 << 30)

static inline uint64_t budget_compressed(uint64_t bytes)
{
	uint64_t more = bytes > BUDGET_SMALL ? bytes - BUDGET_SMALL : 0;

	return more > (BUDGET_MOST - BUDGET_LEAST) / 128 ? BUDGET_MOST : BUDGET_LEAST + more * 128;
}

/* Not compressed: stored or sent. A table that becomes a model's is charged five times at most. */
static inline uint64_t budget_stored(uint64_t bytes)
{
	const uint64_t least = 256 << 10;

	return bytes > (BUDGET_MOST - least) / 16 ? BUDGET_MOST : least + bytes * 16;
}
