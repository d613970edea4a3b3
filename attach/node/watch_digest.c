/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "attach/node/watch_digest.h"
#include "model/buffer.h"
#include "model/error.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"

static const struct watch_numbers no_numbers = {.quiet_ns = WATCH_NEVER};

void watch_digest_init(struct watch_digest *digest)
{
	*digest = (struct watch_digest){
		.numbers = no_numbers,
		.inside = rankset_create(),
		.outside = rankset_create(),
	};
}

void watch_digest_deinit(struct watch_digest *digest)
{
	rankset_destroy(digest->inside);
	rankset_destroy(digest->outside);
	free(digest->ranks);
	*digest = (struct watch_digest){.numbers = no_numbers};
}

void watch_digest_clear(struct watch_digest *digest)
{
	watch_digest_deinit(digest);
	watch_digest_init(digest);
}

struct watch_rank *watch_digest_add_rank(struct watch_digest *digest, const struct watch_rank *rank)
{
	digest->ranks =
		xgrow(digest->ranks, digest->num_ranks, &digest->capacity, sizeof(*digest->ranks));
	digest->ranks[digest->num_ranks] = *rank;
	return &digest->ranks[digest->num_ranks++];
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
	a->num_unsure += b->num_unsure;
	a->num_active += b->num_active;
	a->num_suspended += b->num_suspended;
	a->events += b->events;
	if (b->quiet_ns < a->quiet_ns)
		a->quiet_ns = b->quiet_ns;
	if (b->outside_ns > a->outside_ns)
		a->outside_ns = b->outside_ns;
	rankset_add_set(into->inside, part->inside);
	rankset_add_set(into->outside, part->outside);
	for (size_t i = 0; i < part->num_ranks; i++)
		watch_digest_add_rank(into, &part->ranks[i]);
}

/* ---- As bytes: the numbers, the sizes of the other parts, and these ---- */

struct sizes {
	uint64_t inside, outside; /* bytes */
	uint64_t num_ranks;
};

void watch_digest_encode(const struct watch_digest *digest, struct buffer *ret)
{
	uint8_t *inside, *outside;
	struct sizes sizes = {
		.inside = rankset_serialize(digest->inside, &inside),
		.outside = rankset_serialize(digest->outside, &outside),
		.num_ranks = digest->num_ranks,
	};

	buffer_put_bytes(ret, &digest->numbers, sizeof(digest->numbers));
	buffer_put_bytes(ret, &sizes, sizeof(sizes));
	buffer_put_bytes(ret, inside, sizes.inside);
	buffer_put_bytes(ret, outside, sizes.outside);
	if (digest->num_ranks)
		buffer_put_bytes(ret, digest->ranks, digest->num_ranks * sizeof(*digest->ranks));
	free(inside);
	free(outside);
}

static int decode_sets(const uint8_t *bytes, const struct sizes *sizes, int num_ranks,
		       struct watch_digest *ret, struct pdb_error *err)
{
	struct rankset *inside, *outside;

	inside = rankset_deserialize(bytes, sizes->inside, num_ranks, err);
	if (!inside)
		return -1;
	outside = rankset_deserialize(bytes + sizes->inside, sizes->outside, num_ranks, err);
	if (!outside) {
		rankset_destroy(inside);
		return -1;
	}
	rankset_destroy(ret->inside);
	rankset_destroy(ret->outside);
	ret->inside = inside;
	ret->outside = outside;
	return 0;
}

int watch_digest_decode(const uint8_t *bytes, size_t length, int num_ranks,
			struct watch_digest *ret, struct pdb_error *err)
{
	const size_t head = sizeof(ret->numbers) + sizeof(struct sizes);
	struct sizes sizes;
	size_t left;

	watch_digest_clear(ret);
	if (length < head)
		return error_set(err, ERROR_FORMAT, "a daemon's digest is cut off");
	memcpy(&sizes, bytes + sizeof(ret->numbers), sizeof(sizes));
	left = length - head;
	if (sizes.inside > left || sizes.outside > left - sizes.inside ||
	    sizes.num_ranks != (left - sizes.inside - sizes.outside) / sizeof(*ret->ranks))
		return error_set(err, ERROR_FORMAT, "a daemon's digest is damaged");
	if (decode_sets(bytes + head, &sizes, num_ranks, ret, err) < 0)
		return -1;
	memcpy(&ret->numbers, bytes, sizeof(ret->numbers));
	bytes += head + sizes.inside + sizes.outside;
	for (size_t i = 0; i < sizes.num_ranks; i++, bytes += sizeof(*ret->ranks)) {
		struct watch_rank rank;

		memcpy(&rank, bytes, sizeof(rank));
		if (rank.rank < (uint32_t)num_ranks)
			watch_digest_add_rank(ret, &rank);
	}
	return 0;
}
