/* SPDX-License-Identifier: BSD-3-Clause
 * Message queues as bytes, in shares and in snapshots, whose numbers they are made of. What is
 * taken is checked, so that analyses can go by it. */
#ifndef PDB_MODEL_QUEUE_BYTES_H
#define PDB_MODEL_QUEUE_BYTES_H

struct buffer;
struct message_queues;
struct decoder;

/* Those of `rank`. Peers are told as distances from it, so that ranks that do the same with their
 * neighbours have the same bytes. */
void queue_bytes_put(struct buffer *b, const struct message_queues *queues, int rank);
/* NULL and in->is_bad: bad input; else the caller destroys them. */
struct message_queues *queue_bytes_take(struct decoder *in, int rank);

#endif
