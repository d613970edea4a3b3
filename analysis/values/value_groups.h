/* SPDX-License-Identifier: BSD-3-Clause
 * The values that one expression has in many ranks, equal ones together. */
#ifndef PDB_ANALYSIS_VALUE_GROUPS_H
#define PDB_ANALYSIS_VALUE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct rankset;

/* What one rank has. */
struct value_reading {
	int rank;
	const char *text; /* the value; or why there is none */
	bool has_value;
	bool is_number;
	double number;
};

struct value_group {
	const char *text;
	bool has_value, is_number;
	double number;
	struct rankset *ranks;
};

struct value_groups {
	/* Values by their number of ranks, the most first, then by the first rank; behind them
	 * the reasons why ranks have none. */
	struct value_group *groups;
	size_t num, num_values;
	/* Are all values numbers? Then in `by_number` their groups, ascending, NaN last. */
	bool are_numbers;
	const struct value_group **by_number;
	size_t num_nan; /* at the end of these */
	/* The one that half of the ranks with a number are below or at; NULL: there is none. */
	const struct value_group *median;
};

/* The arena owns the result. Texts are borrowed. */
struct value_groups *value_groups_create(struct arena *arena, const struct value_reading *readings,
					 size_t num);

#endif
