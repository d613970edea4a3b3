/* SPDX-License-Identifier: BSD-3-Clause
 * Groups of ranks that wait alike, and which of these groups wait for which: the wait-for graph for
 * display. */
#ifndef PDB_ANALYSIS_WAIT_GROUPS_H
#define PDB_ANALYSIS_WAIT_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct eqgroups;
struct waitfor;
struct waitfor_need;

struct wait_group {
	struct rankset *ranks;
	uint32_t actor;                  /* the first of them */
	uint32_t num_needs;              /* that one's, weak ones apart */
	const struct waitfor_need *need; /* the first of these; NULL: none is known */
	struct rankset *peers;           /* whom all of them wait for */
	bool is_deadlocked;              /* all of them, with each other or with other groups */
	bool is_likely;                  /* only if those that poll go on polling */
	bool is_apart;                   /* of the ranks that were to be kept apart */
};

/* Somebody in group `from` waits for somebody in `to`, which may be the same group. */
struct wait_edge {
	uint32_t from, to;
};

struct wait_groups {
	struct wait_group *groups; /* largest first, ties by first rank */
	size_t num_groups;
	struct wait_edge *edges; /* by from, then to */
	size_t num_edges;
};

/* Of the actors of `ranks`. groups: NULL without a recorder. Alike are those in one place that wait
 * for the same; if these are more than max_groups, those that wait for messages with one tag on one
 * communicator, whoever sends them. `apart` and deadlocks are not mixed with others. In the arena.
 * Never fails. */
struct wait_groups *wait_groups_create(const struct waitfor *waitfor, const struct eqgroups *groups,
				       const struct rankset *ranks, const struct rankset *apart,
				       size_t max_groups, struct arena *arena);

#endif
