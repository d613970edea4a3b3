/* SPDX-License-Identifier: BSD-3-Clause
 * Both unwinders see the same frames, and find where return addresses are. */
#include "tests/unit/unit.h"

#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "model/recorder/unwind.h"

enum { MAX_FRAMES = 200 };

struct frames {
	size_t num;
	struct {
		uintptr_t ip, sp;
		const uintptr_t *at;
	} all[MAX_FRAMES];
};

static struct frames seen[2];
static struct call_path path;
static uintptr_t low, high;

static bool take(void *arg, uintptr_t ip, uintptr_t sp, const uintptr_t *at)
{
	struct frames *frames = arg;

	frames->all[frames->num].ip = ip;
	frames->all[frames->num].sp = sp;
	frames->all[frames->num].at = at;
	return ++frames->num < MAX_FRAMES;
}

/* What both see from here; the innermost frames are their own. */
static __attribute__((noinline)) void look(void)
{
	memset(seen, 0, sizeof(seen));
	unwinder_libunwind.walk(low, high, take, &seen[1]);
	unwinder_gcc.walk(low, high, take, &seen[0]);
	unwind_call_path((uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_dwarf_cfa(),
			 low, high, NULL, &path);
	__asm__ volatile("" ::: "memory");
}

/* The frames are the same from where both are outside this function; `num` of them at least. */
static void assert_same(size_t num, bool is_cacheable)
{
	size_t a, b;

	for (a = 0; a < seen[0].num && seen[0].all[a].ip != path.slots[0].value; a++)
		;
	for (b = 0; b < seen[1].num && seen[1].all[b].ip != path.slots[0].value; b++)
		;
	assert_true(seen[0].num - a >= num);
	assert_int_equal(seen[0].num - a, seen[1].num - b);
	assert_int_equal(seen[0].num - a, path.num_frames);
	for (size_t i = 0; i < path.num_frames; i++) {
		assert_int_equal(seen[0].all[a + i].ip, seen[1].all[b + i].ip);
		assert_int_equal(seen[0].all[a + i].sp, seen[1].all[b + i].sp);
		assert_ptr_equal(seen[0].all[a + i].at, seen[1].all[b + i].at);
		assert_int_equal(seen[0].all[a + i].ip, path.slots[i].value);
		assert_ptr_equal(seen[0].all[a + i].at, path.slots[i].at);
	}
	assert_int_equal(path.cacheable, is_cacheable);
}

static __attribute__((noinline)) void recurse(int depth)
{
	if (depth == 0)
		look();
	else
		recurse(depth - 1);
	__asm__ volatile("" ::: "memory");
}

/* A frame of variable size. */
static __attribute__((noinline)) void with_array(size_t size)
{
	char *array = alloca(size);

	__asm__ volatile("" : : "r"(array) : "memory");
	recurse(3);
	__asm__ volatile("" : : "r"(array) : "memory");
}

static void on_signal(int number)
{
	(void)number;
	look();
}

static void test_frames(void **state)
{
	(void)state;
	recurse(0);
	assert_same(3, true);
	recurse(40);
	assert_same(43, true);
	for (size_t size = 1; size < 3000; size += 500) {
		with_array(size);
		assert_same(7, true);
	}
}

/* A path from here, of a depth, by what is known. */
static __attribute__((noinline)) void find_path(int depth, const struct call_path *known,
						struct call_path *ret)
{
	if (depth > 0)
		find_path(depth - 1, known, ret);
	else
		unwind_call_path((uintptr_t)__builtin_return_address(0),
				 (uintptr_t)__builtin_dwarf_cfa(), low, high, known, ret);
	__asm__ volatile("" ::: "memory");
}

static void assert_equal_paths(const struct call_path *a, const struct call_path *b)
{
	assert_int_equal(a->num_frames, b->num_frames);
	assert_int_equal(a->elided_at, b->elided_at);
	assert_int_equal(a->cacheable, b->cacheable);
	assert_memory_equal(a->slots, b->slots, a->num_frames * sizeof(a->slots[0]));
}

/* What a known path and the call's have in common outside is taken from there, if it still
 * holds. */
static void test_known(void **state)
{
	/* Frames more than the known path has, or fewer; what is wrong with that. MIDDLE: a
	 * frame farther in than those that are missing. */
	enum fault { NOTHING, SHORT, MIDDLE, OTHER_VALUE, NOT_CACHEABLE, ELIDED };
	enum { TOTAL = 1000 }; /* and more: so many frames in all */
	static const struct {
		int depth, known_depth;
		enum fault fault;
		int missing; /* frames of the result: proof that the known ones were taken */
	} cases[] = {
		{5, 5, NOTHING, 0},
		{5, 9, NOTHING, 0},
		{9, 5, NOTHING, 0},
		{0, 20, NOTHING, 0},
		{20, 0, NOTHING, 0},
		{5, 5, SHORT, 1},
		{5, 9, SHORT, 1},
		{9, 5, SHORT, 1},
		{9, 5, OTHER_VALUE, 0},
		{9, 5, NOT_CACHEABLE, 0},
		{9, 5, ELIDED, 0},
		{300, 5, NOTHING, 0},
		{5, 300, NOTHING, 0},
		{240, 5, SHORT, 1},
		{300, 5, SHORT, 0},
		{9, 5, MIDDLE, 1},
		{5, 9, MIDDLE, 1},
		{TOTAL + PATH_MAX_FRAMES, 5, NOTHING, 0},
		{TOTAL + PATH_MAX_FRAMES + 1, 5, NOTHING, 0},
		/* The known ones just have room, and have not. */
		{TOTAL + PATH_MAX_FRAMES + 1, 5, SHORT, 1},
		{TOTAL + PATH_MAX_FRAMES + 2, 5, SHORT, 0},
	};
	static struct call_path known, with, without;
	int outside = 0; /* frames */

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int depth =
			cases[i].depth < TOTAL ? cases[i].depth : cases[i].depth - TOTAL - outside;
		/* All by one call, so that they have the frames outside in common: not unrolled. */
		for (volatile int round = 0; round < 3; round++) {
			static struct call_path *const paths[] = {&known, &without, &with};
			find_path(round == 0 ? cases[i].known_depth : depth,
				  round == 2 ? &known : NULL, paths[round]);
			if (round > 0)
				continue;
			known.num_frames -= cases[i].fault == SHORT || cases[i].fault == MIDDLE;
			known.slots[known.num_frames / 2].value += cases[i].fault == MIDDLE;
			known.slots[known.num_frames - 1].value += cases[i].fault == OTHER_VALUE;
			known.cacheable &= cases[i].fault != NOT_CACHEABLE;
			known.elided_at += cases[i].fault == ELIDED;
		}
		if (i == 0)
			outside = (int)without.num_frames - depth;
		assert_true(without.num_frames > (uint32_t)cases[i].missing);
		/* A path that is too long for the call is not too long without its outermost
		 * frame. */
		if (cases[i].missing && without.elided_at) {
			assert_int_equal(with.num_frames, PATH_MAX_FRAMES);
			assert_int_equal(with.elided_at, 0);
			continue;
		}
		without.num_frames -= cases[i].missing;
		assert_equal_paths(&with, &without);
	}
}

/* What a signal interrupted has no return address in a slot. */
static void test_signal(void **state)
{
	(void)state;
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	assert_same(4, false);
}

/* Slots of another stack are not given. */
static void test_other_stack(void **state)
{
	uintptr_t was_high = high;

	(void)state;
	high = (uintptr_t)__builtin_frame_address(0);
	recurse(5);
	assert_same(8, false);
	high = was_high;
}

static int find_stack(void **state)
{
	pthread_attr_t attr;
	void *address;
	size_t size;

	(void)state;
	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return -1;
	pthread_attr_getstack(&attr, &address, &size);
	pthread_attr_destroy(&attr);
	low = (uintptr_t)address;
	high = low + size;
	return !unwind_init() && unwind_load(&unwinder_libunwind) ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_other_stack),
	};

	if (!unwind_load(&unwinder_gcc)) /* not on this machine: there is nothing to compare */
		return 0;
	return cmocka_run_group_tests(tests, find_stack, NULL);
}
