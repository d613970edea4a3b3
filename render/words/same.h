/* SPDX-License-Identifier: BSD-3-Clause
 * Ranks of which the same is to be said, together: texts, each with the ranks that it is true of.
 */
#ifndef PDB_RENDER_SAME_H
#define PDB_RENDER_SAME_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct rankset;
struct view;

struct same_entry {
	const char *text;
	struct rankset *ranks;
	uint32_t lane, need; /* for who adds them: of the first */
};

/* In the order in which they were added until same_sort(); all but the arena zero at first. */
struct same {
	struct arena *arena;
	struct same_entry *entries; /* [num] */
	size_t num, capacity;
};

/* The text is borrowed. Returns the entry. */
struct same_entry *same_add(struct same *same, const char *text, int rank);
void same_add_set(struct same *same, const char *text, const struct rankset *ranks);

/* Those of most ranks first; of as many, the one with the lowest rank. */
void same_sort(struct same *same);

/* Print the first `max` of them, "ranks 4,7: in MPI_Recv", with `link` between. Returns how many
 * are left. */
size_t same_print(const struct same *same, const struct view *view, const char *link, size_t max);

/* How many ranks there are in the entries from `first` on. */
size_t same_count_from(const struct same *same, size_t first);

#endif
