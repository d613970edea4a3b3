/* SPDX-License-Identifier: BSD-3-Clause
 * A lane: events, polls, ring, transitions; and the checked cache of call paths. */
#include "model/recorder/lane.h"

#include "tests/unit/recorder_lanes.h"

/* Into a call; returns are not counted. */
static uint64_t count_of(const struct lane *l, uint32_t from, uint32_t to)
{
	uint32_t num = l->seg->tables[SEG_LANE_TRANSITIONS].count;

	for (uint32_t i = 0; i < num; i++)
		if (l->transitions[i].from == from && l->transitions[i].to == to)
			return l->transitions[i].count;
	return 0;
}

static void call(struct lane *l, uint32_t site)
{
	lane_enter(l, site, NULL, ticks_now());
	lane_leave(l, ticks_now());
}

/* A path of `num` return addresses, which are all that is on the stack. */
static struct call_path path_on(const uintptr_t *stack, uint32_t num)
{
	struct call_path path = {.num_frames = num, .cacheable = true};

	for (uint32_t i = 0; i < num; i++)
		path.slots[i] = (struct path_slot){&stack[i], stack[i]};
	return path;
}

static void poll(struct lane *l, uint32_t site, bool failed)
{
	lane_enter_poll(l, site, ticks_now());
	lane_leave_poll(l, failed);
}

static void test_transitions(void **state)
{
	struct lane *l = *state;

	/* start, then (1 2 2) five times */
	for (int i = 0; i < 5; i++) {
		call(l, 1);
		call(l, 2);
		call(l, 2);
	}
	assert_int_equal(count_of(l, 1, 2), 1);
	assert_int_equal(count_of(l, 3, 4), 5);
	assert_int_equal(count_of(l, 5, 4), 5);
	assert_int_equal(count_of(l, 5, 2), 4);
	assert_int_equal(l->seg->tables[SEG_LANE_TRANSITIONS].count, 4);
	assert_int_equal(l->seg->current.events, 30);
	assert_int_equal(l->seg->current.state, SEG_STATE_EXIT(2));
	assert_int_equal(l->seg->current.seq % 2, 0);
	assert_true(l->states[SEG_STATE_EXIT(1)].longest > 0);
}

/* The hint and the general way must count the same. */
static void test_expected_event(void **state)
{
	struct lane *l = *state;

	assert_false(lane_expects(l, 1)); /* not seen before */
	call(l, 1);
	call(l, 1);
	assert_true(lane_expects(l, 1));
	assert_false(lane_expects(l, 2));
	lane_enter_expected(l, 100);
	assert_int_equal(count_of(l, 3, 2), 2);
	assert_int_equal(l->seg->current.state, SEG_STATE_ENTER(1));
	assert_int_equal(l->seg->current.events, 5);
	lane_leave(l, 200);
	assert_int_equal(l->seg->current.state, SEG_STATE_EXIT(1));
	assert_int_equal(l->seg->current.events, 6);
	assert_true(lane_expects(l, 1));
}

static void test_many_transitions(void **state)
{
	struct lane *l = *state;
	const uint32_t sites = 5000;

	assert_true(lane_prepare_site(l, sites));
	for (int round = 0; round < 2; round++)
		for (uint32_t site = 1; site <= sites; site++)
			call(l, site);
	assert_int_equal(l->seg->tables[SEG_LANE_TRANSITIONS].count, sites + 1);
	assert_int_equal(count_of(l, SEG_STATE_EXIT(4998), SEG_STATE_ENTER(4999)), 2);
	assert_int_equal(count_of(l, SEG_STATE_EXIT(sites), SEG_STATE_ENTER(1)), 1);
}

static void test_ring_wraps(void **state)
{
	struct lane *l = *state;

	for (uint32_t i = 0; i < 100; i++)
		call(l, 1 + i % 3);
	/* 200 events in 64 places: event 199 is the exit of call 99, whose site is 1. */
	assert_int_equal(l->ring[199 % 64].state, SEG_STATE_EXIT(1));
	assert_int_equal(l->ring[198 % 64].state, SEG_STATE_ENTER(1));
	for (uint32_t e = 137; e < 200; e++)
		assert_true(l->ring[e % 64].ticks >= l->ring[(e - 1) % 64].ticks);
}

static void test_polls(void **state)
{
	struct lane *l = *state;
	struct seg_current *current = &l->seg->current;

	call(l, 1);
	for (int i = 0; i < 1000; i++)
		poll(l, 2, true);
	assert_int_equal(current->events, 2);
	assert_int_equal(current->state, SEG_STATE_EXIT(1));
	assert_int_equal(current->polls, 1000);
	/* What follows ends the polling, so it is not for the fast path, seen before or not. */
	assert_false(lane_expects(l, 1));
	assert_int_equal(current->poll_site, 2);
	assert_int_equal(current->in_poll, 0);
	lane_enter_poll(l, 2, ticks_now());
	assert_int_equal(current->in_poll, 1);
	uint64_t entered = current->poll_ticks;
	lane_leave_poll(l, false);
	assert_int_equal(current->events, 4);
	assert_int_equal(current->state, SEG_STATE_EXIT(2));
	assert_int_equal(current->polls, 0);
	assert_int_equal(current->poll_site, 0);
	assert_int_equal(current->in_poll, 0);
	assert_int_equal(l->ring[2].ticks, entered);
	assert_int_equal(l->states[SEG_STATE_ENTER(2)].polls, 1000);
	assert_int_equal(count_of(l, SEG_STATE_EXIT(1), SEG_STATE_ENTER(2)), 1);
}

/* What lies between two polls, or a poll and the call after it; nothing of before the first. */
static void test_gaps(void **state)
{
	struct lane *l = *state;
	const struct seg_state *stats = &l->states[SEG_STATE_EXIT(1)];
	const struct seg_current *current = &l->seg->current;
	uint64_t first, gap;

	call(l, 1);
	poll(l, 2, true);
	assert_int_equal(stats->polls, 0);
	first = current->poll_ticks;
	usleep(1000);
	poll(l, 2, true);
	gap = current->poll_ticks - first;
	assert_int_equal(stats->polls, gap);
	poll(l, 2, true);
	assert_int_equal(stats->polls, gap);
	first = current->poll_ticks;
	usleep(20000);
	lane_enter(l, 1, NULL, ticks_now());
	assert_int_equal(stats->polls, current->since - first);
	assert_true(stats->polls > gap);
	lane_leave(l, ticks_now());
	assert_true(stats->longest >= stats->polls);
}

/* The next call is expected to come by the same way, whether a poll has failed or not; but not when
 * code was unloaded meanwhile. */
static void test_poll_is_expected_again(void **state)
{
	struct lane *l = *state;
	static const uintptr_t stack = 7;
	const struct call_path path = path_on(&stack, 1);

	call(l, 1);
	l->entry = lane_remember(l, NULL, 1, 64, 2, &path);
	const struct path_entry *entry = l->entry;
	poll(l, 2, true);
	assert_ptr_equal(pathcache_at(&l->cache, l->hint->likely.line), entry);
	poll(l, 2, false);
	assert_ptr_equal(pathcache_at(&l->cache, l->hints[1].likely.line), entry);

	lane_enter_poll(l, 2, ticks_now());
	lane_forget(l);
	assert_int_equal(l->hint->likely.line, 0);
	lane_leave_poll(l, false);
	assert_int_equal(l->hints[2].likely.line, 0);
}

/* What was forgotten is expected again as soon as it is known again, and only of the call that
 * comes. */
static void test_hint_is_renewed(void **state)
{
	struct lane *l = *state;
	static const uintptr_t stack = 7;
	const struct call_path path = path_on(&stack, 1);
	const struct path_entry *entry;

	for (int i = 0; i < 2; i++) {
		lane_enter(l, 1, lane_remember(l, NULL, 1, 64, 1, &path), ticks_now());
		lane_leave(l, ticks_now());
	}
	lane_forget(l);
	assert_int_equal(l->hint->likely.line, 0);
	entry = lane_remember(l, NULL, 1, 64, 1, &path);
	lane_renew_hint(l, 2, entry);
	assert_int_equal(l->hint->likely.line, 0);
	lane_renew_hint(l, 1, entry);
	assert_ptr_equal(pathcache_at(&l->cache, l->hint->likely.line), entry);
	lane_enter_expected(l, 100);
	lane_leave(l, 200);
	assert_ptr_equal(pathcache_at(&l->cache, l->hint->likely.line), entry);
}

/* Calls in this order, and which of them were expected (+). */
static void test_likely_way(void **state)
{
	static const struct {
		const char *sites, *expected;
	} cases[] = {
		/* the end of a loop, once in a while, and its next round */
		{"abababcabababcababab", "...+++..+++++.++++++"},
		{"aaaaaabaaaaaabaaaaaab", "..++++..+++++.++++++."},
		/* another way for good */
		{"abababacacacacac", "...++++...++++++"},
		/* what has become likely, and does not come once, stays so, however often what
		 * was likely came */
		{"abababacacacabac", "...++++...+++.++"},
		{"ababacadacadac", "...++....++.++"},
		/* two other ways for good, in turns */
		{"xaxbxcxdxcxdxcxd", ".........++.+++."},
	};
	struct lane *l = *state;

	for (uint32_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		char seen[32] = "";
		for (uint32_t i = 0; cases[n].sites[i]; i++) {
			uint32_t site = 1 + 26 * n + cases[n].sites[i] - 'a';
			seen[i] = lane_expects(l, site) ? '+' : '.';
			call(l, site);
		}
		assert_string_equal(seen, cases[n].expected);
	}
}

/* After a state come the polls that came there before, and the call that did. */
static void test_polls_are_expected(void **state)
{
	struct lane *l = *state;
	static const uintptr_t stack = 7;
	const struct call_path path = path_on(&stack, 1);
	const struct path_entry *first = lane_remember(l, NULL, 1, 64, 2, &path),
				*second = lane_remember(l, NULL, 1, 128, 2, &path),
				*next = lane_remember(l, NULL, 1, 192, 3, &path);

	for (int round = 0; round < 2; round++) {
		call(l, 1);
		if (round == 1) {
			assert_ptr_equal(pathcache_at(&l->cache, l->hint->likely.line), next);
			assert_ptr_equal(pathcache_at(&l->cache, l->hint->polls[0]), first);
		}
		l->entry = first;
		poll(l, 2, true);
		assert_ptr_equal(pathcache_at(&l->cache, l->hint->likely.line), first);
		if (round == 1) {
			assert_ptr_equal(pathcache_at(&l->cache, l->hint->other.line), next);
			assert_ptr_equal(pathcache_at(&l->cache, l->hint->polls[0]), second);
		}
		l->entry = second;
		poll(l, 2, true);
		assert_ptr_equal(pathcache_at(&l->cache, l->hint->likely.line), second);
		/* and both in turns */
		for (int i = 0; i < 4; i++) {
			const struct path_entry *of[2] = {first, second};
			assert_ptr_equal(pathcache_at(&l->cache, l->hint->polls[0]), of[i % 2]);
			l->entry = of[i % 2];
			poll(l, 2, true);
		}
		lane_enter(l, 3, next, ticks_now());
		lane_leave(l, ticks_now());
	}
	call(l, 1);
	poll(l, 2, true);
	lane_forget(l);
	assert_int_equal(l->hint->other.line, 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(l->hint->polls[i], 0);
		assert_int_equal(l->hints[1].polls[i], 0);
	}
}

/* A handler's polls were later than when this one's time was read. */
static void test_poll_time_stands(void **state)
{
	struct lane *l = *state;
	const struct seg_current *current = &l->seg->current;

	call(l, 1);
	uint64_t since = current->since;
	lane_enter_poll(l, 2, since - 5);
	assert_int_equal(current->poll_ticks, since);
	lane_leave_poll(l, true);
	lane_enter_poll(l, 2, since + 100);
	lane_leave_poll(l, true);
	lane_enter_poll(l, 2, since + 50);
	assert_int_equal(current->poll_ticks, since + 100);
	lane_leave_poll(l, true);
	lane_enter(l, 1, NULL, since + 70);
	assert_int_equal(l->states[SEG_STATE_EXIT(1)].polls, 100);
}

/* A signal's handler made calls after the time of this one was read: time does not go back. */
static void test_time_stands(void **state)
{
	struct lane *l = *state;

	call(l, 1);
	call(l, 1);
	lane_enter_expected(l, UINT64_MAX / 4);
	lane_leave(l, UINT64_MAX / 4 + 1000);
	uint64_t longest = l->states[SEG_STATE_EXIT(1)].longest;
	lane_enter_expected(l, UINT64_MAX / 4 + 500);
	uint64_t events = l->seg->current.events;
	assert_int_equal(l->seg->current.since, UINT64_MAX / 4 + 1000);
	assert_int_equal(l->ring[(events - 1) & l->ring_mask].ticks, UINT64_MAX / 4 + 1000);
	assert_int_equal(l->states[SEG_STATE_EXIT(1)].longest, longest);
	lane_leave(l, UINT64_MAX / 4 + 1000 + (1ull << 40));
	assert_int_equal(l->states[SEG_STATE_ENTER(1)].longest, 1ull << 40);
}

/* Of stays of any length, which a hint has in fewer bits. */
static void test_longest_stay(void **state)
{
	struct lane *l = *state;
	const uint64_t stays[] = {
		1000,       999,        1001,       UINT32_MAX - 1,   UINT32_MAX,
		1ull << 32, 1ull << 40, UINT32_MAX, (1ull << 40) - 1, (1ull << 40) + 1,
		1};
	uint64_t now = UINT64_MAX / 4, longest = 0;

	call(l, 1);
	call(l, 1);
	lane_enter_expected(l, now);
	lane_leave(l, now); /* the first stays are longer than all of these */
	for (int s = 0; s < 2; s++) {
		l->states[SEG_STATE_ENTER(1) + s].longest = 0;
		l->hints[1].longest[s] = 0;
	}
	for (size_t i = 0; i < sizeof(stays) / sizeof(stays[0]); i++) {
		longest = stays[i] > longest ? stays[i] : longest;
		lane_enter_expected(l, now += stays[i]);
		assert_int_equal(l->states[SEG_STATE_EXIT(1)].longest, longest);
		lane_leave(l, now += stays[i]);
		assert_int_equal(l->states[SEG_STATE_ENTER(1)].longest, longest);
	}
	assert_int_equal(l->hints[1].longest[0], UINT32_MAX);
}

/* Another thread takes the lane: it starts anew, the counts stay. */
static void test_taken_again(void **state)
{
	struct lane *l = *state;

	call(l, 1);
	lane_take(l, 78, false);
	assert_int_equal(l->seg->tid, 78);
	assert_int_equal(l->seg->current.state, SEG_STATE_EXIT(0));
	call(l, 1);
	assert_int_equal(count_of(l, 1, 2), 2);
	assert_int_equal(count_of(l, 3, 2), 0);
	/* From a thread that ended in a call: its return is an event as well, but of the thread
	 * before and no stay. */
	lane_enter(l, 1, NULL, ticks_now());
	uint64_t longest = l->states[SEG_STATE_ENTER(1)].longest, since = l->seg->current.since;
	lane_take(l, 79, false);
	assert_int_equal(l->seg->current.state, SEG_STATE_EXIT(0));
	assert_int_equal(l->seg->current.events, 6);
	assert_int_equal(l->ring[5].state, SEG_STATE_EXIT(1));
	assert_int_equal(l->ring[5].ticks, since);
	assert_true(since < l->seg->first_ticks);
	assert_int_equal(l->seg->current.since, l->seg->first_ticks);
	assert_int_equal(l->states[SEG_STATE_ENTER(1)].longest, longest);
}

static uint32_t site_of(const struct pathcache *c, const void *f, uintptr_t ra, uintptr_t cfa)
{
	const struct path_entry *e = pathcache_find(c, f, ra, cfa);

	return e ? e->site : 0;
}

static void test_path_cache(void **state)
{
	struct pathcache *c = &((struct lane *)*state)->cache;
	uintptr_t stack[6] = {0xa, 0xb, 0xc, 0xd, 0xe, 0xf};
	struct call_path path = path_on(stack, 6);
	const void *f = &stack, *g = &path;
	uintptr_t cfa = (uintptr_t)&stack[1]; /* the call's own return address is below it */

	for (uint32_t n = 1; n <= 6; n++) {
		assert_int_equal(site_of(c, f, 0xa, cfa), 0);
		path.num_frames = n;
		pathcache_add(c, f, 0xa, cfa, 5, &path);
		assert_int_equal(site_of(c, f, 0xa, cfa), 5);
		assert_int_equal(site_of(c, g, 0xa, cfa), 0);
		assert_int_equal(site_of(c, f, 0xb, cfa), 0);
		assert_int_equal(site_of(c, f, 0xa, cfa + 16), 0);
		/* Any return address that changed makes it another path, the outermost too. */
		for (uint32_t i = 0; i < 6; i++) {
			stack[i] ^= 1;
			assert_int_equal(site_of(c, f, 0xa, cfa), i < n ? 0 : 5);
			stack[i] ^= 1;
		}
		pathcache_flush(c);
	}
	assert_int_equal(site_of(c, f, 0xa, cfa), 0);
}

/* Return addresses that have changed places make another path, and so do several that changed. */
static void test_path_cache_order(void **state)
{
	struct pathcache *c = &((struct lane *)*state)->cache;
	uintptr_t stack[40];
	uint32_t num = sizeof(stack) / sizeof(stack[0]);

	for (uint32_t i = 0; i < num; i++)
		stack[i] = 0x5500000000 + 16 * i;
	const struct call_path path = path_on(stack, num);
	uintptr_t cfa = (uintptr_t)&stack[1];
	pathcache_add(c, NULL, stack[0], cfa, 5, &path);
	for (uint32_t i = 1; i < num; i++) {
		for (uint32_t j = i + 1; j < num; j++) {
			uintptr_t first = stack[i], second = stack[j];
			stack[i] = second;
			stack[j] = first;
			assert_int_equal(site_of(c, NULL, stack[0], cfa), 0);
			stack[i] = first + 16;
			stack[j] = second - 16;
			assert_int_equal(site_of(c, NULL, stack[0], cfa), 0);
			stack[i] = first;
			stack[j] = second;
		}
	}
	assert_int_equal(site_of(c, NULL, stack[0], cfa), 5);
}

/* A call further in or out at any of some frames, in each of which there are three places to
 * call from: of these paths only one is the one that was added. */
static void only_one_fits(struct pathcache *c, uint32_t first, uint32_t step, uintptr_t stride)
{
	enum { CHOICES = 9, PATHS = 19683 /* 3 to the power of CHOICES */ };
	const uintptr_t base = 0x555555554000;
	uintptr_t stack[1 + 2 * CHOICES];
	const uint32_t num = sizeof(stack) / sizeof(stack[0]);
	uintptr_t cfa = (uintptr_t)&stack[1];

	for (uint32_t i = 0; i < num; i++)
		stack[i] = base + stride;
	const struct call_path path = path_on(stack, num);
	pathcache_add(c, NULL, 0xa, cfa, 5, &path);
	for (uint32_t n = 0; n < PATHS; n++) {
		for (uint32_t i = 0, rest = n; i < CHOICES; i++, rest /= 3)
			stack[first + i * step] = base + rest % 3 * stride;
		assert_int_equal(site_of(c, NULL, 0xa, cfa), n == PATHS / 2 ? 5 : 0);
	}
	pathcache_flush(c);
}

static void test_path_cache_recursion(void **state)
{
	struct pathcache *c = &((struct lane *)*state)->cache;

	for (unsigned bit = 0; bit < 40; bit += 3) {
		only_one_fits(c, 1, 1, 1ul << bit);
		only_one_fits(c, 1, 2, 1ul << bit);
		only_one_fits(c, 2, 2, 1ul << bit);
	}
}

/* Changes that cancel each other out modulo 2^32, by one of the factors. */
static void test_path_cache_halves(void **state)
{
	struct pathcache *c = &((struct lane *)*state)->cache;
	uintptr_t stack[5] = {0x555555554100, 0x555555554200, 0x555555554300, 0x55555555a400,
			      0x555555554500};
	const struct call_path path = path_on(stack, 5);
	uintptr_t cfa = (uintptr_t)&stack[1];

	pathcache_add(c, NULL, stack[0], cfa, 5, &path);
	assert_int_equal(site_of(c, NULL, stack[0], cfa), 5);
	stack[1] += 23075;
	stack[3] -= 11967;
	assert_int_equal(site_of(c, NULL, stack[0], cfa), 0);
}

/* Functions with large arrays on the stack. */
static void test_path_cache_far(void **state)
{
	enum { FAR = 1 << 20 };
	struct pathcache *c = &((struct lane *)*state)->cache;
	static uintptr_t stack[FAR + 1];
	/* words from the call's stack pointer, which is at the second word */
	static const uint32_t fars[] = {INT16_MAX, INT16_MAX + 1, UINT16_MAX, UINT16_MAX + 1,
					FAR - 1};
	uintptr_t cfa = (uintptr_t)&stack[1];

	for (uint32_t n = 0; n < sizeof(fars) / sizeof(fars[0]); n++) {
		uintptr_t *at = &stack[1 + fars[n]];
		uint32_t num = 1;
		struct call_path path = {.cacheable = true, .slots = {{&stack[0], 0xa}}};
		stack[0] = 0xa;
		for (; num < 30; num++)
			path.slots[num] = (struct path_slot){&stack[num], 0};
		*at = 0xb;
		path.slots[num++] = (struct path_slot){at, 0xb};
		path.num_frames = num;
		assert_int_equal(site_of(c, NULL, 0xa, cfa), 0);
		pathcache_add(c, NULL, 0xa, cfa, 5, &path);
		assert_int_equal(site_of(c, NULL, 0xa, cfa), 5);
		*at = 0xc;
		assert_int_equal(site_of(c, NULL, 0xa, cfa), 0);
		*at = 0xb;
		stack[17] = 1;
		assert_int_equal(site_of(c, NULL, 0xa, cfa), 0);
		stack[17] = 0;
		pathcache_flush(c);
	}
}

/* Many ways to one place, at one stack pointer, are all kept, up to a bound. */
static void test_path_cache_ways(void **state)
{
	struct pathcache *c = &((struct lane *)*state)->cache;
	uintptr_t stack[2] = {0xa};
	struct call_path path = path_on(stack, 2);
	const void *f = &stack;
	uintptr_t cfa = (uintptr_t)stack;

	for (uint32_t way = 1; way <= PATHCACHE_WAYS + 1; way++) {
		path.slots[1].value = stack[1] = way;
		assert_int_equal(site_of(c, f, 0xa, cfa), 0);
		assert_non_null(pathcache_add(c, f, 0xa, cfa, way, &path));
	}
	for (uint32_t way = 1; way <= PATHCACHE_WAYS + 1; way++) {
		stack[1] = way;
		assert_int_equal(site_of(c, f, 0xa, cfa), way == 1 ? 0 : way);
	}
}

/* More entries than the cache holds: it is emptied, the newest is there, and nothing is expected
 * that is no longer there. */
static void test_path_cache_full(void **state)
{
	struct lane *l = *state;
	static uintptr_t stack[256];
	const struct call_path path = path_on(stack, 256);
	uint32_t emptied = 0;

	assert_true(lane_prepare_site(l, 8000));
	for (uint32_t i = 1; i < 8000; i++) {
		uint32_t used = l->cache.used;
		uintptr_t cfa = (uintptr_t)stack - 64 * i;
		const struct path_entry *e = lane_remember(l, NULL, i, cfa, i, &path);
		assert_non_null(e);
		assert_int_equal(site_of(&l->cache, NULL, i, cfa), i);
		assert_true(l->cache.used * sizeof(*e) <= PATHCACHE_ARENA);
		if (l->cache.used < used) {
			emptied++;
			for (uint32_t s = 0; s < i; s++)
				assert_int_equal(l->hints[s].likely.line, 0);
		}
		lane_enter(l, i, e, ticks_now());
		lane_leave(l, ticks_now());
		assert_ptr_equal(pathcache_at(&l->cache, l->hints[i - 1].likely.line), e);
	}
	assert_true(emptied > 0);
}

/* Programs have thousands of call paths, and would pay for each again and again. */
static void test_path_cache_room(void **state)
{
	struct pathcache *c = &((struct lane *)*state)->cache;
	static uintptr_t stack[20];
	const struct call_path path = path_on(stack, 20);

	for (uint32_t i = 1; i <= 20000; i++)
		assert_non_null(pathcache_add(c, NULL, i, (uintptr_t)stack, i, &path));
}

#define LANE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LANE_TEST(test_transitions),
		LANE_TEST(test_expected_event),
		LANE_TEST(test_many_transitions),
		LANE_TEST(test_ring_wraps),
		LANE_TEST(test_polls),
		LANE_TEST(test_gaps),
		LANE_TEST(test_poll_is_expected_again),
		LANE_TEST(test_hint_is_renewed),
		LANE_TEST(test_taken_again),
		LANE_TEST(test_path_cache),
		LANE_TEST(test_path_cache_ways),
		LANE_TEST(test_path_cache_full),
		LANE_TEST(test_path_cache_room),
		LANE_TEST(test_path_cache_order),
		LANE_TEST(test_path_cache_far),
		LANE_TEST(test_path_cache_recursion),
		LANE_TEST(test_path_cache_halves),
		LANE_TEST(test_time_stands),
		LANE_TEST(test_likely_way),
		LANE_TEST(test_polls_are_expected),
		LANE_TEST(test_poll_time_stands),
		LANE_TEST(test_longest_stay),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
