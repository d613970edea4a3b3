/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/node/watch_digest.h"
#include "model/buffer.h"
#include "model/job/rankset.h"
#include "model/decoder.h"
#include "model/wire/proc_bytes.h"

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

void watch_digest_add_rank(struct watch_digest *digest, const struct watch_rank *rank)
{
	*XPUSH(digest->ranks, digest->num_ranks, digest->capacity) = *rank;
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

/* ---- As bytes ---- */

void watch_digest_encode(const struct watch_digest *digest, struct buffer *ret)
{
	buffer_put_bytes(ret, &digest->numbers, sizeof(digest->numbers));
	proc_bytes_put_ranks(ret, digest->inside);
	proc_bytes_put_ranks(ret, digest->outside);
	buffer_put(ret, digest->num_ranks);
	buffer_put_bytes(ret, digest->ranks, digest->num_ranks * sizeof(*digest->ranks));
}

static void take(struct decoder *in, int num_ranks, struct watch_digest *ret)
{
	const uint8_t *numbers = decoder_take_bytes(in, sizeof(ret->numbers));
	struct watch_rank rank;

	if (numbers)
		memcpy(&ret->numbers, numbers, sizeof(ret->numbers));
	rankset_destroy(ret->inside);
	ret->inside = proc_bytes_take_ranks(in, num_ranks);
	rankset_destroy(ret->outside);
	ret->outside = proc_bytes_take_ranks(in, num_ranks);
	size_t num = decoder_take_count(in, UINT32_MAX, sizeof(rank));
	for (size_t i = 0; i < num; i++) {
		memcpy(&rank, decoder_take_bytes(in, sizeof(rank)), sizeof(rank));
		if (rank.rank < (uint32_t)num_ranks)
			watch_digest_add_rank(ret, &rank);
	}
	decoder_end(in);
}

int watch_digest_decode(const uint8_t *bytes, size_t length, int num_ranks,
			struct watch_digest *ret, struct pdb_error *err)
{
	struct decoder in = {.at = bytes, .end = bytes + length};

	watch_digest_clear(ret);
	take(&in, num_ranks, ret);
	if (!in.is_bad)
		return 0;
	watch_digest_clear(ret);
	return error_set(err, ERROR_FORMAT, "a daemon's digest is damaged");
}

int watch_digest_merge(struct buffer *into, const uint8_t *part, size_t length, int num_ranks)
{
	struct watch_digest sum, other;
	int result = 0;

	if (length == 0) /* no ranks there */
		return 0;
	watch_digest_init(&sum);
	watch_digest_init(&other);
	if (watch_digest_decode(part, length, num_ranks, &other, NULL) < 0 ||
	    (into->num > 0 &&
	     watch_digest_decode(into->bytes, into->num, num_ranks, &sum, NULL) < 0)) {
		result = -1;
	} else {
		watch_digest_add(&sum, &other);
		into->num = 0;
		watch_digest_encode(&sum, into);
	}
	watch_digest_deinit(&sum);
	watch_digest_deinit(&other);
	return result;
}
