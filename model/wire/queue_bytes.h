/* SPDX-License-Identifier: BSD-3-Clause
 * Message queues as bytes, in shares and in snapshots. Input is checked, so analyses can rely on
 * it. */
#pragma once

struct codec;
struct message_queues;

/* Those of `rank`. Peers are told as distances from it, so that ranks that do the same with their
 * neighbours have the same bytes. What is read belongs to the caller; NULL: bad input. */
void queue_bytes(struct codec *c, struct message_queues **queues, int rank);
