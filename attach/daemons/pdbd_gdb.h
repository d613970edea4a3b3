/* SPDX-License-Identifier: BSD-3-Clause
 * gdb on ranks of the daemons' nodes, for a user at pdb's node. The daemon of the rank's node runs
 * gdb. Input and output of gdb go as messages of streams (stream.h): over the link (link.h) between
 * pdb and rank 0, as notes (pdbd_tree.h) between rank 0 and the daemon:
 *
 *	terminal -- pdb == link == rank 0 == MPI == daemon -- gdb -- rank
 *
 * Nothing listens anywhere. A part that ends also ends the stream for the next. The end of the
 * stream ends gdb, which lets the rank go. */
#pragma once

#include "model/base.h"

struct daemon_rank;
struct link;
struct overlay_ranges;
struct pdbd_gdb;
struct pdbd_tree;

struct pdbd_gdb *pdbd_gdb_create(struct pdbd_tree *tree);

/* Every gdb of this node ends and lets its rank go, within three seconds. */
void pdbd_gdb_destroy(struct pdbd_gdb *gdb);

/* Answer PDBD_GDB and PDBD_GDB_STATE (pdbd.h); nothing when another daemon is meant. */
void pdbd_gdb_answer_order(struct pdbd_gdb *gdb, const struct daemon_rank *ranks, size_t num_ranks,
			   const uint8_t *payload, size_t length, struct buffer *ret);
void pdbd_gdb_answer_state(struct pdbd_gdb *gdb, const uint8_t *payload, size_t length,
			   struct buffer *ret);

/* ---- At rank 0 ---- */

/* Its link to pdb; NULL: it is about to be destroyed. */
void pdbd_gdb_set_link(struct pdbd_gdb *gdb, struct link *link);

/* A question PDBD_GDB has come, before the others are asked; and what they have answered. */
void pdbd_gdb_hear_order(struct pdbd_gdb *gdb, const uint8_t *payload, size_t length);
void pdbd_gdb_hear_started(struct pdbd_gdb *gdb, const struct buffer *answer);

/* A message of a stream has come by the link. */
void pdbd_gdb_pass(struct pdbd_gdb *gdb, const uint8_t *bytes, size_t length);

/* These have given no sign of life. Streams of a daemon that is silent for the third time end. */
void pdbd_gdb_note_silent(struct pdbd_gdb *gdb, const struct overlay_ranges *silent);

/* ---- At all ---- */

/* Move waiting data, without blocking. */
void pdbd_gdb_turn(struct pdbd_gdb *gdb);

/* Data has moved in the last second, so more may come. */
bool pdbd_gdb_is_busy(const struct pdbd_gdb *gdb);
