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
#define REPLY_MAX (512u << 20)

/* A growing block of bytes. Start from zeroes; reply_deinit() frees it. */
struct reply {
	char *bytes;
	size_t length;
	size_t capacity;
};

void reply_deinit(struct reply *reply);

/* Append one of the possible answers to an empty block. Host and executable names, which are
 * nearly all the same, are written once each time they change. */
void reply_encode_error(struct reply *reply, const struct pdb_error *error);
void reply_encode_table(struct reply *reply, const struct proctable *table);
void reply_encode_spawned(struct reply *reply, const char *nspace);

/* Read it back. A table comes in *ret, finished; an error that was sent is returned as the error.
 * Anything else, cut off or beyond its bounds, is ERROR_FORMAT. */
int reply_decode(const char *bytes, size_t length, struct proctable **ret, struct pdb_error *err);

/* The same for the name of a job, which the caller frees. */
int reply_decode_spawned(const char *bytes, size_t length, char **ret, struct pdb_error *err);

#endif
