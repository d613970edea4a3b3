/* SPDX-License-Identifier: BSD-3-Clause
 * What MPI's handles mean. */
#include "model/recorder/handles.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint32_t num_slots(const struct handles *h)
{
	return h->table->mask + 1;
}

static void test_handles(void **state)
{
	struct handles h = {0};

	(void)state;
	assert_int_equal(handles_find(&h, 8), HANDLES_UNKNOWN);
	assert_true(handles_map(&h, 8, HANDLES_UNKNOWN));
	assert_true(handles_map(&h, 8, 5));
	assert_true(handles_map(&h, 16, 6));
	assert_int_equal(handles_find(&h, 8), 5);
	assert_int_equal(handles_find(&h, 16), 6);
	assert_int_equal(handles_find(&h, 24), HANDLES_UNKNOWN);
	assert_true(handles_map(&h, 8, 7));
	assert_int_equal(handles_find(&h, 8), 7);
	assert_int_equal(h.num, 2);
	assert_true(handles_map(&h, 8, HANDLES_UNKNOWN));
	assert_true(handles_map(&h, 8, HANDLES_UNKNOWN));
	assert_int_equal(handles_find(&h, 8), HANDLES_UNKNOWN);
	assert_int_equal(h.num, 1);
	assert_true(handles_map(&h, 8, 9));
	assert_int_equal(handles_find(&h, 8), 9);
	assert_int_equal(handles_find(&h, 16), 6);
}

/* As many as there may be: two of each of 2^14 communicators. */
static void test_many_at_a_time(void **state)
{
	enum { MANY = 1 << 15 };
	struct handles h = {0};

	(void)state;
	for (uint64_t i = 1; i <= MANY; i++)
		assert_true(handles_map(&h, i * 0x70, i));
	for (uint64_t i = 1; i <= MANY; i++)
		assert_int_equal(handles_find(&h, i * 0x70), i);
	assert_int_equal(num_slots(&h), HANDLES_MAX_SLOTS);
	assert_int_equal(handles_find(&h, 1ull << 40), HANDLES_UNKNOWN);
}

/* Without room those that are there are still known. */
static void test_too_many(void **state)
{
	struct handles h = {0};
	uint64_t fit = 0;

	(void)state;
	while (handles_map(&h, (fit + 1) * 0x70, fit))
		fit++;
	assert_true(fit < HANDLES_MAX_SLOTS);
	for (uint64_t i = 0; i < fit; i++)
		assert_int_equal(handles_find(&h, (i + 1) * 0x70), i);
	assert_int_equal(handles_find(&h, (fit + 1) * 0x70), HANDLES_UNKNOWN);
	assert_true(handles_map(&h, 0x70, HANDLES_UNKNOWN));
	assert_int_equal(handles_find(&h, 0x70), HANDLES_UNKNOWN);
}

enum { AT_A_TIME = 50 };

/* A program makes and frees all the time, and never gets the same handle again. */
static void test_always_new(void **state)
{
	enum { EVER = 1000000 };
	struct handles h = {0};

	(void)state;
	for (uint64_t i = 1; i <= EVER; i++) {
		assert_true(handles_map(&h, i * 16, i));
		if (i > AT_A_TIME)
			assert_true(handles_map(&h, (i - AT_A_TIME) * 16, HANDLES_UNKNOWN));
		assert_int_equal(handles_find(&h, i * 16), i);
	}
	for (uint64_t i = EVER - AT_A_TIME + 1; i <= EVER; i++)
		assert_int_equal(handles_find(&h, i * 16), i);
	assert_int_equal(handles_find(&h, 16), HANDLES_UNKNOWN);
	assert_int_equal(h.num, AT_A_TIME);
	assert_int_equal(num_slots(&h), HANDLES_FIRST_SLOTS);
}

/* Whoever looks up finds what is there while another thread makes and frees; and of what that
 * one is about, never what another key means. */
enum { KEPT = 40 };

struct looking {
	struct handles handles;
	_Atomic uint64_t newest; /* number i has the key 16 * i */
	_Atomic bool has_begun, has_ended;
	unsigned num_lost, num_mistaken;
};

static void *look(void *arg)
{
	struct looking *l = arg;

	while (!l->has_ended) {
		for (uint64_t i = 1; i <= KEPT; i++)
			l->num_lost += handles_find(&l->handles, i << 32) != i;
		for (uint64_t n = 0, newest = l->newest; n < newest && n <= AT_A_TIME + 1; n++) {
			uint32_t index = handles_find(&l->handles, (newest - n) * 16);
			l->num_mistaken += index != newest - n && index != HANDLES_UNKNOWN;
		}
		l->has_begun = true;
	}
	return NULL;
}

static void test_beside_changes(void **state)
{
	struct looking l = {0};
	pthread_t thread;

	(void)state;
	for (uint64_t i = 1; i <= KEPT; i++)
		assert_true(handles_map(&l.handles, i << 32, i));
	assert_int_equal(pthread_create(&thread, NULL, look, &l), 0);
	while (!l.has_begun)
		sched_yield();
	for (uint64_t i = 1; i <= 2000000; i++) {
		assert_true(handles_map(&l.handles, i * 16, i));
		if (i > AT_A_TIME)
			assert_true(handles_map(&l.handles, (i - AT_A_TIME) * 16, HANDLES_UNKNOWN));
		l.newest = i;
	}
	l.has_ended = true;
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(l.num_lost, 0);
	assert_int_equal(l.num_mistaken, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_handles),        cmocka_unit_test(test_many_at_a_time),
		cmocka_unit_test(test_too_many),       cmocka_unit_test(test_always_new),
		cmocka_unit_test(test_beside_changes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
