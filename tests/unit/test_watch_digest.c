/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "attach/node/watch_digest.h"
#include "model/buffer.h"
#include "model/job/rankset.h"
#include "tests/unit/unit.h"

enum { SIZE = 100 };

/* Of the node with these ranks, of which every third is outside MPI. */
static void fill(struct watch_digest *digest, int first, int last)
{
	watch_digest_init(digest);
	digest->numbers.num_ranks = digest->numbers.num_recorded = last - first + 1;
	digest->numbers.num_moved = 2;
	digest->numbers.num_unsure = 3;
	digest->numbers.events = 1000;
	digest->numbers.quiet_ns = 500 + first;
	digest->numbers.outside_ns = first;
	for (int rank = first; rank <= last; rank++) {
		const struct watch_rank facts = {
			.rank = rank,
			.flags = rank % 3 ? 0 : WATCH_RANK_OUTSIDE,
			.place = rank * 7,
			.stay_ns = rank * 1000,
		};

		rankset_add(rank % 3 ? digest->inside : digest->outside, rank);
		watch_digest_add_rank(digest, &facts);
	}
}

static void encode(int first, int last, struct buffer *ret)
{
	struct watch_digest digest;

	fill(&digest, first, last);
	watch_digest_encode(&digest, ret);
	watch_digest_deinit(&digest);
}

static void test_merge(void **state)
{
	struct buffer into = {.bytes = NULL}, part = {.bytes = NULL};
	struct watch_digest sum;
	struct pdb_error err;
	uint64_t stays = 0;

	(void)state;
	/* Parts in any order, one of a node without ranks. */
	encode(50, 79, &part);
	assert_int_equal(watch_digest_merge(&into, part.bytes, part.num, SIZE), 0);
	assert_int_equal(watch_digest_merge(&into, NULL, 0, SIZE), 0);
	part.num = 0;
	encode(0, 49, &part);
	assert_int_equal(watch_digest_merge(&into, part.bytes, part.num, SIZE), 0);
	watch_digest_init(&sum);
	assert_int_equal(watch_digest_decode(into.bytes, into.num, SIZE, &sum, &err), 0);
	assert_int_equal(sum.numbers.num_ranks, 80);
	assert_int_equal(sum.numbers.num_recorded, 80);
	assert_int_equal(sum.numbers.num_moved, 4);
	assert_int_equal(sum.numbers.num_unsure, 6);
	assert_int_equal(sum.numbers.events, 2000);
	assert_int_equal(sum.numbers.quiet_ns, 500);
	assert_int_equal(sum.numbers.outside_ns, 50);
	assert_int_equal(rankset_count(sum.outside), 27);
	assert_int_equal(rankset_count(sum.inside), 53);
	assert_int_equal(sum.num_ranks, 80);
	for (size_t i = 0; i < sum.num_ranks; i++)
		stays += sum.ranks[i].stay_ns;
	assert_int_equal(stays, 79 * 80 / 2 * 1000);
	watch_digest_deinit(&sum);
	free(into.bytes);
	free(part.bytes);
}

/* Cut off anywhere, or with a byte changed: refused, or ranks of the job and nothing else. */
static void test_damage(void **state)
{
	struct buffer part = {.bytes = NULL};
	struct watch_digest digest;
	struct pdb_error err;

	(void)state;
	encode(0, 20, &part);
	watch_digest_init(&digest);
	for (size_t length = 0; length < part.num; length++) {
		assert_int_equal(watch_digest_decode(part.bytes, length, SIZE, &digest, &err), -1);
		assert_int_equal(err.code, ERROR_FORMAT);
		assert_int_equal(digest.num_ranks, 0);
	}
	for (size_t i = 0; i < part.num; i++) {
		part.bytes[i] ^= 0xff;
		if (watch_digest_decode(part.bytes, part.num, SIZE, &digest, &err) == 0) {
			for (size_t j = 0; j < digest.num_ranks; j++)
				assert_true(digest.ranks[j].rank < SIZE);
			assert_true(rankset_count(digest.inside) <= SIZE);
		}
		part.bytes[i] ^= 0xff;
	}
	/* The job is smaller than the daemon says. */
	assert_int_equal(watch_digest_decode(part.bytes, part.num, 10, &digest, &err), -1);
	watch_digest_deinit(&digest);
	free(part.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
