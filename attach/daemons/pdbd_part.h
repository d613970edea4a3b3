/* SPDX-License-Identifier: BSD-3-Clause
 * A node's own part of an answer. It can take seconds, so a thread makes it, one part at a time,
 * while the daemon goes on to speak with the others. */
#pragma once

#include "model/base.h"

struct pdbd_part;

/* Appends to *ret, which is empty. */
typedef void pdbd_part_fn(void *node, const uint8_t *payload, size_t length, struct buffer *ret);

struct pdbd_part *pdbd_part_create(void *node);

/* -1: a part is still being made after timeout_ms, and nothing is freed. */
int pdbd_part_destroy(struct pdbd_part *part, int timeout_ms);

/* No part is being made, nor waits to be taken. */
bool pdbd_part_is_idle(const struct pdbd_part *part);

/* Begin one; only when idle. The payload is copied. */
void pdbd_part_begin(struct pdbd_part *part, pdbd_part_fn *make, const uint8_t *payload,
		     size_t length);

/* The part, once it is made: its bytes are the caller's. False: it is not. */
bool pdbd_part_take(struct pdbd_part *part, struct buffer *ret);
