/* SPDX-License-Identifier: BSD-3-Clause
 * Slots of requests, and who has them when threads complete requests at the same time. */
#include "model/recorder/requests.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static char dir[] = "/tmp/pdb-test-requests-XXXXXX";
static struct writer writer;
static struct requests requests;

static int setup(void **state)
{
	struct writer_identity identity = {.rank = 0, .job = "requests"};
	char why[512];

	(void)state;
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	if (!mkdtemp(dir) || writer_create(&writer, dir, &identity, 64, 0, why, sizeof(why)) != 0)
		return -1;
	return requests_init(&requests, &writer) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	writer_remove(&writer);
	return rmdir(dir);
}

static uint32_t add(uint64_t key)
{
	return requests_add(&requests, key, &(struct request){.kind = SEG_REQUEST_SEND});
}

static uint32_t kind_of(uint32_t slot)
{
	return requests.slots[slot].kind;
}

static void test_add_and_remove(void **state)
{
	const struct request halves[2] = {{.kind = SEG_REQUEST_SEND}, {.kind = SEG_REQUEST_RECV}};
	uint32_t first, slots[2];

	(void)state;
	assert_int_equal(requests_find(&requests, 8), REQUESTS_NONE);
	first = add(8);
	for (int i = 0; i < 2; i++) {
		slots[i] = requests_take(&requests);
		requests_fill(&requests, slots[i], &halves[i]);
		assert_int_equal(kind_of(slots[i]), SEG_REQUEST_FREE);
	}
	assert_int_equal(requests_find(&requests, 12), REQUESTS_NONE);
	requests_use_all(&requests, 12, slots, 2, 0);
	assert_int_equal(requests_find(&requests, 8), first);
	assert_int_equal(requests_find(&requests, 12), slots[0]);
	assert_int_equal(requests.own[slots[0]].half, slots[1]);
	assert_int_equal(kind_of(slots[0]), SEG_REQUEST_SEND);
	assert_int_equal(kind_of(slots[1]), SEG_REQUEST_RECV);
	requests_remove(&requests, slots[0]);
	assert_int_equal(requests_find(&requests, 12), REQUESTS_NONE);
	assert_int_equal(kind_of(slots[0]), SEG_REQUEST_FREE);
	assert_int_equal(kind_of(slots[1]), SEG_REQUEST_FREE);
	assert_int_equal(requests_find(&requests, 8), first);
}

/* All slots are taken: what comes then is counted as dropped, and no slot is lost by that. */
static void test_no_room(void **state)
{
	const struct request send = {.kind = SEG_REQUEST_SEND};
	uint32_t slots[2];

	(void)state;
	for (uint64_t i = 0; i < SEG_MAX_REQUESTS - 1; i++)
		assert_int_not_equal(add(i << 2), REQUESTS_NONE);
	for (int i = 0; i < 2; i++)
		slots[i] = requests_take(&requests);
	assert_int_equal(slots[1], REQUESTS_NONE);
	assert_int_equal(requests.table->dropped, 1); /* no more pages */
	requests_fill(&requests, slots[0], &send);
	requests_use_all(&requests, 3, slots, 2, 0);
	assert_int_equal(requests.table->dropped, 2);
	assert_int_equal(requests_find(&requests, 3), REQUESTS_NONE);
	assert_int_equal(add(3), slots[0]);
	assert_int_equal(add(7), REQUESTS_NONE);
	assert_int_equal(requests.table->dropped, 3);
}

/* A handle that comes again while nobody else can be in a call: what had it is complete. */
static void test_handle_comes_again(void **state)
{
	struct requests_ref ref;

	(void)state;
	requests.is_shared = false;
	ref = requests_ref(&requests, add(8));
	assert_int_equal(requests_slot(&requests, ref), ref.slot);
	assert_int_equal(requests_find(&requests, 8), add(8));
	assert_int_equal(requests_slot(&requests, ref), REQUESTS_NONE);
	assert_int_equal(requests_slot(&requests, requests_ref(&requests, REQUESTS_NONE)),
			 REQUESTS_NONE);
}

/* The same while another thread is about to count the first one as completed. */
static void test_handle_of_another_thread(void **state)
{
	struct requests_ref mine;
	uint32_t theirs;

	(void)state;
	requests.is_shared = true;
	mine = requests_ref(&requests, add(8));
	theirs = add(8);
	assert_int_not_equal(theirs, mine.slot);
	assert_int_equal(requests_find(&requests, 8), theirs);
	assert_int_equal(requests_slot(&requests, mine), mine.slot);
	assert_int_equal(kind_of(mine.slot), SEG_REQUEST_SEND);
	requests_remove(&requests, mine.slot);
	assert_int_equal(requests_slot(&requests, mine), REQUESTS_NONE);
	assert_int_equal(requests_find(&requests, 8), theirs);
	requests_remove(&requests, theirs);
	assert_int_equal(requests_find(&requests, 8), REQUESTS_NONE);
}

/* Those that nobody comes for do not pile up; one that is removed in time is not removed again. */
static void test_orphans(void **state)
{
	struct requests_ref refs[3 * REQUESTS_ORPHANS];
	int num_taken = 0;

	(void)state;
	requests.is_shared = true;
	for (size_t i = 0; i < NUM_OF(refs); i++) {
		refs[i] = requests_ref(&requests, add(8));
		if (i % 3 == 2)
			requests_remove(&requests, refs[i - 1].slot);
	}
	for (size_t i = 0; i < NUM_OF(refs); i++)
		num_taken += requests_slot(&requests, refs[i]) != REQUESTS_NONE;
	assert_in_range(num_taken, REQUESTS_ORPHANS / 2, REQUESTS_ORPHANS + 1);
	assert_int_equal(requests_find(&requests, 8), refs[NUM_OF(refs) - 1].slot);
	/* Every slot is in use, in the list of free ones, or not published yet. */
	for (uint32_t slot = requests.free; slot != REQUESTS_NONE; slot = requests.own[slot].next) {
		assert_int_equal(kind_of(slot), SEG_REQUEST_FREE);
		num_taken++;
	}
	assert_int_equal(num_taken, requests.table->count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_add_and_remove, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_room, setup, teardown),
		cmocka_unit_test_setup_teardown(test_handle_comes_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_handle_of_another_thread, setup, teardown),
		cmocka_unit_test_setup_teardown(test_orphans, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
