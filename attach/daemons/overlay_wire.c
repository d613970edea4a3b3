/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "attach/daemons/overlay_wire.h"
#include "model/error.h"
#include "model/xalloc.h"

#define MAGIC 0x44626470u /* "pdbD" */

enum { MAGIC_WORD, SEQUENCE, KIND, TOTAL_MS, NUM_RANGES, LENGTH, NUM_WORDS };

uint8_t *overlay_encode(const struct overlay_message *message, size_t *length_ret)
{
	uint32_t words[NUM_WORDS] = {
		[MAGIC_WORD] = MAGIC,
		[SEQUENCE] = message->sequence,
		[KIND] = message->kind,
		[TOTAL_MS] = message->total_ms,
		[NUM_RANGES] = message->ranges.num,
		[LENGTH] = message->length,
	};
	size_t ranges_size = message->ranges.num * sizeof(*message->ranges.ranges);
	uint8_t *bytes = xmalloc(sizeof(words) + ranges_size + message->length);

	memcpy(bytes, words, sizeof(words));
	if (ranges_size > 0)
		memcpy(bytes + sizeof(words), message->ranges.ranges, ranges_size);
	if (message->length > 0)
		memcpy(bytes + sizeof(words) + ranges_size, message->payload, message->length);
	*length_ret = sizeof(words) + ranges_size + message->length;
	return bytes;
}

int overlay_decode(const uint8_t *bytes, size_t length, uint32_t limit, struct overlay_message *ret,
		   struct pdb_error *err)
{
	uint32_t words[NUM_WORDS], left = limit;
	size_t ranges_size;

	if (length < sizeof(words))
		return error_set(err, ERROR_FORMAT, "a daemon's message is cut off");
	memcpy(words, bytes, sizeof(words));
	ranges_size = words[NUM_RANGES] * sizeof(struct overlay_range);
	if (words[MAGIC_WORD] != MAGIC || words[NUM_RANGES] > limit ||
	    words[LENGTH] > OVERLAY_PAYLOAD_MAX || words[TOTAL_MS] > OVERLAY_TOTAL_MS_MAX ||
	    sizeof(words) + ranges_size + words[LENGTH] != length)
		return error_set(err, ERROR_FORMAT, "a daemon's message is damaged");

	struct overlay_message message = {
		.sequence = words[SEQUENCE],
		.kind = words[KIND],
		.total_ms = words[TOTAL_MS],
		.payload = bytes + sizeof(words) + ranges_size,
		.length = words[LENGTH],
	};
	for (uint32_t i = 0; i < words[NUM_RANGES]; i++) {
		struct overlay_range range;

		memcpy(&range, bytes + sizeof(words) + i * sizeof(range), sizeof(range));
		if (range.count == 0 || range.count > left || range.first > limit - range.count) {
			overlay_ranges_deinit(&message.ranges);
			return error_set(err, ERROR_FORMAT,
					 "a daemon's message names daemons that there are not");
		}
		left -= range.count;
		overlay_ranges_append(&message.ranges, range.first, range.count);
	}
	*ret = message;
	return 0;
}
