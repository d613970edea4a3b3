/* SPDX-License-Identifier: BSD-3-Clause
 * The reply of the process that speaks PMIx: an error, a process table, or the name of a job that
 * it has started. Nothing in it is trusted. */
#pragma once

#include "model/base.h"

/* Larger replies are refused: 16 Mi ranks need less. */
#define REPLY_MAX (512u << 20)

/* One of these into an empty buffer. */
void reply_put_error(struct buffer *reply, const struct pdb_error *error);
void reply_put_table(struct buffer *reply, const struct proctable *table);
void reply_put_spawned(struct buffer *reply, const char *nspace);

/* Read a table, finished, or the name of a job, which the caller frees. An error in the reply is
 * returned as the error. Anything else, cut off or out of bounds, is ERROR_FORMAT. */
int reply_take_table(const uint8_t *bytes, size_t length, struct proctable **ret,
		     struct pdb_error *err);
int reply_take_spawned(const uint8_t *bytes, size_t length, char **ret, struct pdb_error *err);
