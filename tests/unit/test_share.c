/* SPDX-License-Identifier: BSD-3-Clause
 * What a daemon sends: there and back, and what is refused. */
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "model/hash.h"
#include "model/wire/share_private.h"
#include "model/xalloc.h"
#include "tests/unit/answers.h"
#include "tests/unit/share_sample.h"

/* ---- Round trips ---- */

static void test_round_trip(void **state)
{
	struct job *job = whole_job_create(true), *again;
	struct share *share = send_share(job, NULL, SHARE_ALL);

	(void)state;
	assert_int_equal(share_num_ranks(share), 3);
	again = to_job(share);
	assert_same_contents(job, again);
	assert_string_equal(names_get(again->names, 0)->function, "main");
	assert_true(num_inlined(again) > 0);
	job_destroy(again);
	share_destroy(share);
	job_destroy(job);
}

static void test_empty(void **state)
{
	struct job *job = job_create(), *again;
	struct share *share = send_share(job, NULL, SHARE_ALL);

	(void)state;
	again = to_job(share);
	assert_null(again->model);
	share_destroy(share);
	job_destroy(again);
	/* A model without ranks is not the same as none. */
	job->model = job_model_create(job->modules, job->callpaths);
	job_model_finish(job->model);
	share = send_share(job, NULL, SHARE_ALL);
	again = to_job(share);
	assert_non_null(again->model);
	assert_int_equal(share_num_ranks(share), 0);
	share_destroy(share);
	job_destroy(again);
	job_destroy(job);
	share_destroy(NULL);
}

/* ---- Answers first, then details ---- */

static void test_details(void **state)
{
	struct job *job = whole_job_create(true), *again, *third;
	struct share *share = send_share(job, NULL, SHARE_ANSWERS | SHARE_NAMES);
	struct rankset *ranks = rankset_create();
	const struct model_lane *lane, *own;
	struct pdb_error err = {0};

	(void)state;
	again = to_job(share);
	share_destroy(share);
	lane = again->model->lanes[0].data;
	own = job->model->lanes[0].data;
	assert_int_equal(lane->num_ring, own->num_ring);
	assert_int_equal(lane->ring[0].state, own->ring[0].state);
	assert_int_equal(lane->ring[0].ns, 0);
	assert_true(model_lane_stay(own, own->state) > 0);
	assert_int_equal(model_lane_stay(lane, own->state), model_lane_stay(own, own->state));
	/* Of one rank, then of the others. */
	rankset_add(ranks, 1);
	share = send_share(job, ranks, SHARE_DETAILS);
	assert_int_equal(share_num_ranks(share), 1);
	assert_int_equal(share_add(share, again, &err), 0);
	share_destroy(share);
	assert_int_equal(lane->ring[0].ns, 0);
	/* What some ranks alone have goes on. */
	share = share_create();
	share_fill(share, again, NULL, SHARE_ALL);
	third = to_job(share);
	share_destroy(share);
	for (size_t i = 0; i < third->model->num_lanes; i++)
		assert_int_equal(model_has_details(third->model->lanes[i].model),
				 third->model->lanes[i].rank == 1);
	job_destroy(third);
	rankset_remove(ranks, 1);
	rankset_add_range(ranks, 0, 2);
	rankset_remove(ranks, 1);
	share = send_share(job, ranks, SHARE_DETAILS);
	assert_int_equal(share_add(share, again, &err), 0);
	share_destroy(share);
	assert_same_contents(job, again);
	rankset_destroy(ranks);
	job_destroy(again);
	job_destroy(job);
}

/* Details of another moment are left out. */
static void test_wrong_details(void **state)
{
	struct job *job = whole_job_create(true), *other;
	struct share *share = send_share(job, NULL, SHARE_ANSWERS), *details;
	struct pdb_error err = {0};
	struct model_lane *lane = (struct model_lane *)job->model->lanes[0].data;

	(void)state;
	other = to_job(share);
	lane->num_ring--;
	details = send_share(job, NULL, SHARE_DETAILS);
	assert_int_equal(share_add(details, other, &err), 0);
	for (size_t i = 0; i < other->model->num_lanes; i++)
		assert_int_equal(other->model->lanes[i].data->is_borrowing, i == 0);
	share_destroy(details);
	share_destroy(share);
	job_destroy(other);
	job_destroy(job);
}

/* ---- Bad input ---- */

static void assert_refused(const uint8_t *bytes, size_t size, int num_ranks, enum error_code code,
			   const char *part)
{
	struct pdb_error err = {0};
	struct share *share = NULL;

	assert_int_equal(share_decode(bytes, size, num_ranks, &share, &err), -1);
	assert_null(share);
	assert_error(&err, code, part);
	assert_int_equal(share_decode(bytes, size, num_ranks, &share, NULL), -1);
}

static struct buffer encode_whole_job(void)
{
	struct job *job = whole_job_create(true);
	struct share *share = share_create();
	struct buffer bytes;

	share_fill(share, job, NULL, SHARE_ALL);
	bytes = encode(share);
	share_destroy(share);
	job_destroy(job);
	return bytes;
}

/* One byte changed, anywhere, to anything near or far; cut off anywhere; too long. */
static void test_damaged(void **state)
{
	struct buffer bytes = encode_whole_job();

	(void)state;
	for (size_t at = 0; at < bytes.num; at++) {
		uint8_t old = bytes.bytes[at];

		for (int bit = 0; bit < 8; bit++) {
			bytes.bytes[at] = (uint8_t)(old ^ 1 << bit);
			assert_refused(bytes.bytes, bytes.num, NUM_RANKS,
				       at >= 8 && at < 12 ? ERROR_VERSION : ERROR_FORMAT, "share");
		}
		bytes.bytes[at] = old;
	}
	for (size_t size = 0; size < bytes.num; size++) {
		uint8_t *copy = xmalloc(size + 1);

		memcpy(copy, bytes.bytes, size);
		assert_refused(copy, size, NUM_RANKS, ERROR_FORMAT, "share");
		free(copy);
	}
	buffer_put(&bytes, 0);
	assert_refused(bytes.bytes, bytes.num, NUM_RANKS, ERROR_FORMAT, "corrupt");
	/* Rank 3 has a sample. */
	bytes.num--;
	assert_refused(bytes.bytes, bytes.num, 3, ERROR_FORMAT, "corrupt");
	free(bytes.bytes);
}

enum { HEADER = 36, CHECKSUM_AT = 12, SIZES_AT = 20 };

static void store(uint8_t *at, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

/* Contents with all sizes and the checksum right. */
static struct buffer wrap(const uint8_t *plain, size_t size, uint64_t claimed)
{
	struct buffer bytes = {.capacity = HEADER + ZSTD_compressBound(size)};
	size_t packed;

	bytes.bytes = xcalloc(1, bytes.capacity);
	memcpy(bytes.bytes, SHARE_MAGIC, 8);
	bytes.bytes[8] = SHARE_VERSION;
	packed = ZSTD_compress(bytes.bytes + HEADER, bytes.capacity - HEADER, plain, size, 1);
	store(bytes.bytes + SIZES_AT, claimed);
	store(bytes.bytes + SIZES_AT + 8, packed);
	store(bytes.bytes + CHECKSUM_AT,
	      hash_bytes(bytes.bytes + SIZES_AT, HEADER - SIZES_AT + packed));
	bytes.num = HEADER + packed;
	return bytes;
}

static uint8_t *unwrap(const struct buffer *bytes, size_t *size_ret)
{
	size_t capacity = 1 << 20;
	uint8_t *plain = xmalloc(capacity);

	*size_ret = ZSTD_decompress(plain, capacity, bytes->bytes + HEADER, bytes->num - HEADER);
	assert_false(ZSTD_isError(*size_ret));
	return plain;
}

/* 0: read to a job; else the error. */
static enum error_code try(const struct buffer *bytes)
{
	struct pdb_error err = {0};
	struct share *share = NULL;
	struct job *job;

	if (share_decode(bytes->bytes, bytes->num, NUM_RANKS, &share, &err) < 0)
		return err.code;
	job = job_create();
	if (share_to_job(share, job, &err) == 0 && job->model) {
		struct answers answers = answers_of(job);

		answers_deinit(&answers);
	}
	job_destroy(job);
	share_destroy(share);
	return err.code;
}

/* Hostile: the checksum is right, what is inside is not. */
static void test_hostile(void **state)
{
	struct buffer bytes = encode_whole_job(), bad;
	size_t size;
	uint8_t *plain = unwrap(&bytes, &size), *copy = xmalloc(size);
	int taken = 0, refused = 0;

	(void)state;
	bad = wrap(plain, size, size);
	assert_int_equal(try(&bad), ERROR_NONE);
	free(bad.bytes);
	for (size_t cut = 0; cut < size; cut++) {
		bad = wrap(plain, cut, cut);
		assert_int_equal(try(&bad), ERROR_FORMAT);
		free(bad.bytes);
	}
	/* More than there is, and more than may be. */
	bad = wrap(plain, size, size + 1);
	assert_int_equal(try(&bad), ERROR_FORMAT);
	free(bad.bytes);
	bad = wrap(plain, size, (uint64_t)1 << 40);
	assert_int_equal(try(&bad), ERROR_FORMAT);
	free(bad.bytes);
	srandom(5);
	for (int round = 0; round < 8000; round++) {
		enum error_code code;

		memcpy(copy, plain, size);
		for (int n = 1 + (int)(random() % 2); n > 0; n--) {
			uint8_t *at = &copy[(size_t)random() % size];

			*at = (uint8_t)(random() % 2 ? random() : *at + random() % 3 - 1);
		}
		bad = wrap(copy, size, size);
		code = try(&bad);
		free(bad.bytes);
		if (code == ERROR_NONE)
			taken++;
		else
			refused++;
		assert_true(code == ERROR_NONE || code == ERROR_FORMAT);
	}
	assert_in_range(taken, 100, 7900);
	assert_in_range(refused, 100, 7900);
	free(copy);
	free(plain);
	free(bytes.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_empty),
		cmocka_unit_test(test_details),    cmocka_unit_test(test_wrong_details),
		cmocka_unit_test(test_damaged),    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
