/* SPDX-License-Identifier: BSD-3-Clause
 * What a daemon answers when it is asked to look at its node's ranks, shares (model/wire/share.h),
 * or to watch them, digests (watch_digest.h). */
#ifndef PDB_ATTACH_DAEMON_LOOK_H
#define PDB_ATTACH_DAEMON_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct daemon_look;
struct daemon_rank;
struct sampler_cost;

/* For ranks that are processes of this host, borrowed. It keeps what does not change between two
 * looks: who the processes are, what they have mapped, and names. Nothing is opened before the first
 * question. NULL: one rank is there twice. */
struct daemon_look *daemon_look_create(const struct daemon_rank *ranks, size_t num_ranks);
void daemon_look_destroy(struct daemon_look *look); /* NULL is fine */

/* Answer PDBD_LOOK, PDBD_SAMPLE, PDBD_TRACES (as of the last look) and PDBD_WATCH (pdbd.h): append a
 * share or a digest to *ret, or nothing when the question is damaged or the look was given up.
 * sleep_until: as in struct node_look_options. */
void daemon_look_answer(struct daemon_look *look, const uint8_t *payload, size_t length,
			bool (*sleep_until)(uint64_t until_ns), struct buffer *ret);
void daemon_look_answer_samples(struct daemon_look *look, const uint8_t *payload, size_t length,
				bool (*sleep_until)(uint64_t until_ns), struct buffer *ret);
void daemon_look_answer_traces(struct daemon_look *look, const uint8_t *payload, size_t length,
			       struct buffer *ret);
void daemon_look_answer_watch(struct daemon_look *look, const uint8_t *payload, size_t length,
			      struct buffer *ret);

/* What sampling has cost so far. */
void daemon_look_get_cost(const struct daemon_look *look, struct sampler_cost *ret);

/* Unite the share *into, which may be empty, with another part; num_ranks: of the job, as it was in
 * the question. -1, and *into as before, when `part` is no share or tells of the same ranks. */
int daemon_look_merge(struct buffer *into, const uint8_t *part, size_t length, int num_ranks);

#endif
