/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "attach/watch_digest.h"
#include "model/buffer.h"
#include "model/error.h"
#include "model/rankset.h"

static const struct watch_numbers no_numbers = {.quiet_ns = WATCH_NEVER};

void watch_digest_init(struct watch_digest *digest)
{
	*digest = (struct watch_digest){no_numbers, rankset_create(), rankset_create()};
}

void watch_digest_deinit(struct watch_digest *digest)
{
	rankset_destroy(digest->inside);
	rankset_destroy(digest->outside);
	*digest = (struct watch_digest){no_numbers, NULL, NULL};
}

void watch_digest_clear(struct watch_digest *digest)
{
	watch_digest_deinit(digest);
	watch_digest_init(digest);
}

void watch_digest_add(struct watch_digest *into, const struct watch_digest *part)
{
	struct watch_numbers *a = &into->numbers;
	const struct watch_numbers *b = &part->numbers;

	a->num_ranks += b->num_ranks;
	a->num_ended += b->num_ended;
	a->num_recorded += b->num_recorded;
	a->num_left += b->num_left;
	a->num_moved += b->num_moved;
	a->num_sampled += b->num_sampled;
	a->num_refused += b->num_refused;
	a->num_changed += b->num_changed;
	a->num_active += b->num_active;
	a->events += b->events;
	if (b->quiet_ns < a->quiet_ns)
		a->quiet_ns = b->quiet_ns;
	if (b->outside_ns > a->outside_ns)
		a->outside_ns = b->outside_ns;
	rankset_add_set(into->inside, part->inside);
	rankset_add_set(into->outside, part->outside);
}

/* ---- As bytes: the numbers, the length of the first set, both sets --------------------------- */

void watch_digest_encode(const struct watch_digest *digest, struct buffer *ret)
{
	uint8_t *inside, *outside;
	uint64_t inside_length = rankset_serialize(digest->inside, &inside);
	size_t outside_length = rankset_serialize(digest->outside, &outside);

	buffer_put_bytes(ret, &digest->numbers, sizeof(digest->numbers));
	buffer_put_bytes(ret, &inside_length, sizeof(inside_length));
	buffer_put_bytes(ret, inside, inside_length);
	buffer_put_bytes(ret, outside, outside_length);
	free(inside);
	free(outside);
}

int watch_digest_decode(const uint8_t *bytes, size_t length, int num_ranks,
			struct watch_digest *ret, struct pdb_error *err)
{
	const size_t head = sizeof(ret->numbers) + sizeof(uint64_t);
	struct rankset *inside, *outside;
	uint64_t inside_length;

	watch_digest_clear(ret);
	if (length < head)
		return error_set(err, ERROR_FORMAT, "a daemon's digest is cut off");
	memcpy(&inside_length, bytes + sizeof(ret->numbers), sizeof(inside_length));
	if (inside_length > length - head)
		return error_set(err, ERROR_FORMAT, "a daemon's digest is damaged");
	inside = rankset_deserialize(bytes + head, inside_length, num_ranks, err);
	if (!inside)
		return -1;
	outside = rankset_deserialize(bytes + head + inside_length, length - head - inside_length,
				      num_ranks, err);
	if (!outside) {
		rankset_destroy(inside);
		return -1;
	}
	rankset_destroy(ret->inside);
	rankset_destroy(ret->outside);
	ret->inside = inside;
	ret->outside = outside;
	memcpy(&ret->numbers, bytes, sizeof(ret->numbers));
	return 0;
}
