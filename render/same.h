/* SPDX-License-Identifier: BSD-3-Clause
 * Ranks of which the same is to be said, together: texts, each with the ranks that it is true of.
 */
#ifndef PDB_RENDER_SAME_H
#define PDB_RENDER_SAME_H

#include <stddef.h>

struct rankset;

struct same_entry {
	char *text;
	struct rankset *ranks;
};

/* In the order in which they were added until same_sort(); all zero at first. */
struct same {
	struct same_entry *entries; /* [num] */
	size_t num, capacity;
};

void same_deinit(struct same *same);

/* The text is copied. */
void same_add(struct same *same, const char *text, int rank);
void same_add_set(struct same *same, const char *text, const struct rankset *ranks);

/* Those of most ranks first; of as many, the one with the lowest rank. */
void same_sort(struct same *same);

/* "ranks 4,7" and the like for the entry; the caller frees. */
char *same_who(const struct same_entry *entry);

/* How many ranks there are in the entries from `first` on. */
size_t same_count_from(const struct same *same, size_t first);

#endif
