/* SPDX-License-Identifier: BSD-3-Clause
 * A node's own part of an answer, made by a thread of its own, while the daemon goes on to speak
 * with the others: to look at many ranks, and to find the names of their functions, can take
 * seconds. One part is made at a time. */
#ifndef PDB_ATTACH_PDBD_PART_H
#define PDB_ATTACH_PDBD_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct pdbd_part;

/* Appends to *ret, which is empty. */
typedef void pdbd_part_fn(void *node, const uint8_t *payload, size_t length, struct buffer *ret);

struct pdbd_part *pdbd_part_create(void *node);

/* Wait for the part that is being made, for at most timeout_ms. -1: it is still being made, and
 * nothing is freed. NULL is fine. */
int pdbd_part_destroy(struct pdbd_part *part, int timeout_ms);

/* No part is being made or waits to be taken. */
bool pdbd_part_is_idle(const struct pdbd_part *part);

/* Begin one; only when idle. The payload is copied. */
void pdbd_part_begin(struct pdbd_part *part, pdbd_part_fn *make, const uint8_t *payload,
		     size_t length);

/* The part, once it is made: its bytes are the caller's. False as long as it is not. */
bool pdbd_part_take(struct pdbd_part *part, struct buffer *ret);

#endif
