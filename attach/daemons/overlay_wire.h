/* SPDX-License-Identifier: BSD-3-Clause
 * What pdb's daemons send each other, as bytes. A message is words in the machine's byte order
 *	magic, sequence, kind, total_ms, number of ranges, length of the payload
 * and then the ranges and the payload. */
#ifndef PDB_ATTACH_OVERLAY_WIRE_H
#define PDB_ATTACH_OVERLAY_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "attach/daemons/overlay.h"

struct pdb_error;

/* Longer payloads are not sent: their sender becomes a hole. */
#define OVERLAY_PAYLOAD_MAX (1u << 30)

/* No question may take longer. */
#define OVERLAY_TOTAL_MS_MAX 1000000u

/* Kinds of what is no question. */
#define OVERLAY_ANSWER 0u
#define OVERLAY_ALIVE 0xffffffffu /* still at work on the question */

struct overlay_message {
	uint32_t sequence; /* of the question */
	uint32_t kind;     /* of a question: what is asked */
	uint32_t total_ms; /* of a question: how long member 0 waits */
	/* Of a question: the daemons that are its members. Of an answer: the members that are
	 * missing in it, each range begun by the one that was silent. */
	struct overlay_ranges ranges;
	const uint8_t *payload; /* borrowed */
	size_t length;
};

/* The caller frees the bytes. */
uint8_t *overlay_encode(const struct overlay_message *message, size_t *length_ret);

/* The payload points into `bytes`; the caller deinits the ranges. -1 with ERROR_FORMAT for what is
 * cut off or beyond its bounds: ranges are not empty, in 0 .. limit-1 and no more than `limit`
 * numbers in all. */
int overlay_decode(const uint8_t *bytes, size_t length, uint32_t limit, struct overlay_message *ret,
		   struct pdb_error *err);

#endif
