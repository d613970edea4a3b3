/* SPDX-License-Identifier: BSD-3-Clause
 * What a daemon answers when its node's ranks are watched: digests (watch_digest.h). */
#ifndef PDB_ATTACH_DAEMON_WATCH_H
#define PDB_ATTACH_DAEMON_WATCH_H

#include <stddef.h>
#include <stdint.h>

struct buffer;
struct daemon_rank;
struct daemon_watch;

/* For ranks that are processes of this host. Nothing is opened before the first question. */
struct daemon_watch *daemon_watch_create(const struct daemon_rank *ranks, size_t num_ranks);
void daemon_watch_destroy(struct daemon_watch *watch); /* NULL is fine */

/* Answer PDBD_WATCH (pdbd.h): append an encoded digest to *ret, or nothing when the question is
 * damaged. */
void daemon_watch_answer(struct daemon_watch *watch, const uint8_t *payload, size_t length,
			 struct buffer *ret);

/* Unite *into, which may be empty, with another part. -1, and *into as before, when `part` is
 * damaged. */
int daemon_watch_merge(int num_ranks, struct buffer *into, const uint8_t *part, size_t length);

#endif
