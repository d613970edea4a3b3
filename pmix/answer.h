/* SPDX-License-Identifier: BSD-3-Clause
 * What the process that speaks PMIx tells pdb: an error, a process table, or the name of a job
 * that it has started. One block of bytes in this machine's own byte order; each count and
 * length is checked when it is read. */
#ifndef PDB_PMIX_ANSWER_H
#define PDB_PMIX_ANSWER_H

#include <stddef.h>
#include <stdint.h>

struct pdb_error;
struct proctable;

/* Larger answers are refused: 16 Mi ranks need about this much. */
#define ANSWER_MAX (512u << 20)

/* A growing block of bytes. Start from zeroes; answer_deinit() frees it. */
struct answer {
	char *bytes;
	size_t length;
	size_t capacity;
};

void answer_deinit(struct answer *answer);

/* Append one of the possible answers to an empty block. Host and executable names, which are
 * nearly all the same, are written once each time they change. */
void answer_encode_error(struct answer *answer, const struct pdb_error *error);
void answer_encode_table(struct answer *answer, const struct proctable *table);
void answer_encode_spawned(struct answer *answer, const char *nspace);

/* Read it back. A table comes in *ret, finished; an error that was sent is returned as the error.
 * Anything else, cut off or beyond its bounds, is ERROR_FORMAT. */
int answer_decode(const char *bytes, size_t length, struct proctable **ret, struct pdb_error *err);

/* The same for the name of a job, which the caller frees. */
int answer_decode_spawned(const char *bytes, size_t length, char **ret, struct pdb_error *err);

#endif
