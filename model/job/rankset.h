/* SPDX-License-Identifier: BSD-3-Clause
 * A set of MPI_COMM_WORLD ranks, kept as a compressed bitmap (CRoaring).
 *
 * As text: "0,3-5", "0-63:8" (every 8th), printed without stride as "0,3-5". */
#pragma once

#include "model/base.h"

struct rankset *rankset_create(void);
void rankset_destroy(struct rankset *set); /* NULL is fine */
struct rankset *rankset_copy(const struct rankset *set);
ARENA_DEFINE_IN(rankset)
SCOPE_DEFINE(rankset)

void rankset_add(struct rankset *set, int rank); /* rank >= 0 */
void rankset_add_range(struct rankset *set, int first, int last);
void rankset_remove(struct rankset *set, int rank);
void rankset_add_set(struct rankset *set, const struct rankset *other);    /* union */
void rankset_keep_set(struct rankset *set, const struct rankset *other);   /* intersection */
void rankset_remove_set(struct rankset *set, const struct rankset *other); /* difference */

bool rankset_contains(const struct rankset *set, int rank);
bool rankset_equal(const struct rankset *a, const struct rankset *b);
bool rankset_meets(const struct rankset *a, const struct rankset *b); /* is any in both? */
bool rankset_is_empty(const struct rankset *set);
int rankset_count(const struct rankset *set);

/* Iterate in ascending order: for (r = rankset_first(s); r >= 0; r = rankset_next(s, r)). */
int rankset_first(const struct rankset *set);
int rankset_next(const struct rankset *set, int after);

/* "N", "N-M", "N-M:S", separated by commas, all below `size` (< 0: INT_MAX). On success *set_ret is
 * the caller's, who destroys it; -1 and *err, which says the word. An empty text is refused. */
int rankset_decode(const char *text, int size, struct rankset **set_ret, struct pdb_error *err);

/* As "0-3,7"; with max_ranges > 0 ",..." stands for more. "" if empty. The caller frees. */
char *rankset_encode(const struct rankset *set, int max_ranges);

/* Portable binary form (CRoaring's). The caller frees *bytes. */
size_t rankset_serialize(const struct rankset *set, uint8_t **bytes);
/* From untrusted bytes; NULL and *err if they are not a valid set of ranks below `size`. */
struct rankset *rankset_deserialize(const uint8_t *bytes, size_t length, int size,
				    struct pdb_error *err);
