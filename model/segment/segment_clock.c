/* SPDX-License-Identifier: BSD-3-Clause */
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "model/monotonic.h"
#include "model/segment/segment_private.h"

enum {
	SHIFT = 40,
	NS_PER_TICK_MAX = 1000, /* a clock of 1 MHz */
	INEXACT_NS = 50 * 1000 * 1000,
};

/* The counter of this processor; false: it is not the segment's kind. */
static bool read_counter(uint32_t clock, uint64_t *ticks)
{
#if defined(__x86_64__)
	if (clock == SEG_CLOCK_TSC) {
		*ticks = __rdtsc();
		return true;
	}
#elif defined(__aarch64__)
	if (clock == SEG_CLOCK_CNTVCT) {
		__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(*ticks));
		return true;
	}
#endif
	return clock == SEG_CLOCK_MONOTONIC && (*ticks = clock_ns(CLOCK_MONOTONIC), true);
}

/* Counter and CLOCK_MONOTONIC at one moment: of a few tries the one with the least in between. */
static bool read_pair(uint32_t clock, uint64_t *ticks, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t before, between, after;

		if (!read_counter(clock, &before))
			return false;
		between = clock_ns(CLOCK_MONOTONIC);
		read_counter(clock, &after);
		if (after - before < best) {
			best = after - before;
			*ticks = before + best / 2;
			*ns = between;
		}
	}
	if (clock == SEG_CLOCK_MONOTONIC)
		*ns = *ticks;
	return true;
}

/* ns for each tick, times 2^SHIFT; 0: not a rate that a clock can have. */
static uint64_t rate_of(uint64_t ticks0, uint64_t ns0, uint64_t ticks1, uint64_t ns1)
{
	if (ticks1 <= ticks0 || ns1 <= ns0)
		return 0;
	unsigned __int128 rate = ((unsigned __int128)(ns1 - ns0) << SHIFT) / (ticks1 - ticks0);
	if (rate == 0 || rate > (unsigned __int128)NS_PER_TICK_MAX << SHIFT)
		return 0;
	return (uint64_t)rate;
}

/* Were the segment's own two moments taken by the clock that is read now? Else it was written on
 * another host, or here before a reboot. A writer that was preempted between its two clocks, or
 * that stores a new moment just now, makes the moment inexact; hence the wide bounds. */
static bool is_same_clock(const struct seg_header *header, const struct segment_clock *now)
{
	uint64_t later_ticks = header->later_ticks, later_ns = header->later_mono_ns;
	uint64_t by_rate, by_clock, difference;

	if (header->start_mono_ns > now->now_ns || later_ns > now->now_ns ||
	    header->start_ticks > now->now_ticks || later_ticks > now->now_ticks)
		return false;
	if (header->clock == SEG_CLOCK_MONOTONIC)
		return header->start_ticks == header->start_mono_ns;
	if (later_ticks < header->start_ticks || later_ns < header->start_mono_ns)
		return false;
	by_rate = segment_clock_duration(now, later_ticks - header->start_ticks);
	by_clock = later_ns - header->start_mono_ns;
	difference = by_rate > by_clock ? by_rate - by_clock : by_clock - by_rate;
	return difference <= INEXACT_NS + by_clock / 64;
}

void segment_clock_init(struct segment_clock *clock, const struct seg_header *header,
			uint64_t last_ticks)
{
	clock->now_real_ns = clock_ns(CLOCK_REALTIME);
	if (read_pair(header->clock, &clock->now_ticks, &clock->now_ns)) {
		clock->ns_per_tick = (uint64_t)1 << SHIFT;
		if (header->clock != SEG_CLOCK_MONOTONIC)
			clock->ns_per_tick = rate_of(header->start_ticks, header->start_mono_ns,
						     clock->now_ticks, clock->now_ns);
		if (clock->ns_per_tick && is_same_clock(header, clock))
			return;
	}
	/* Time ends with the last thing that the segment knows of. */
	clock->now_ticks = header->later_ticks;
	clock->now_ns = header->later_mono_ns;
	clock->ns_per_tick = rate_of(header->start_ticks, header->start_mono_ns,
				     header->later_ticks, header->later_mono_ns);
	if (header->clock == SEG_CLOCK_MONOTONIC || !clock->ns_per_tick)
		clock->ns_per_tick = (uint64_t)1 << SHIFT;
	if (last_ticks > clock->now_ticks) {
		clock->now_ns += segment_clock_duration(clock, last_ticks - clock->now_ticks);
		clock->now_ticks = last_ticks;
	}
	clock->now_real_ns = header->start_real_ns + (clock->now_ns - header->start_mono_ns);
}

uint64_t segment_clock_duration(const struct segment_clock *clock, uint64_t ticks)
{
	unsigned __int128 ns = ((unsigned __int128)ticks * clock->ns_per_tick) >> SHIFT;

	/* No clock has run for longer than this; corrupt ticks must not overflow sums. */
	return ns > INT64_MAX / 4 ? INT64_MAX / 4 : (uint64_t)ns;
}

uint64_t segment_clock_time(const struct segment_clock *clock, uint64_t ticks)
{
	if (ticks >= clock->now_ticks)
		return clock->now_ns;
	uint64_t ago = segment_clock_duration(clock, clock->now_ticks - ticks);
	return ago < clock->now_ns ? clock->now_ns - ago : 0;
}
