/* SPDX-License-Identifier: BSD-3-Clause
 * Time stamps: the processor's counter if it is suitable, else CLOCK_MONOTONIC. */
#pragma once

#include <time.h>

#include "model/recorder/base.h"
#include "model/segment/segment.h"

/* The clock in use; SEG_CLOCK_MONOTONIC until ticks_init(). */
extern enum seg_clock ticks_clock __attribute__((visibility("hidden")));

/* Choose the clock: the counter if the processor calls it invariant, the kernel has not found it
 * unstable, and user code may read it. */
void ticks_init(void);

uint64_t ticks_ns(clockid_t clock);

/* The counter, if it is the clock in use. */
static inline bool ticks_fast(uint64_t *ret)
{
#if defined(__x86_64__)
	if (likely(ticks_clock == SEG_CLOCK_TSC)) {
		*ret = __builtin_ia32_rdtsc();
		return true;
	}
#elif defined(__aarch64__)
	if (likely(ticks_clock == SEG_CLOCK_CNTVCT)) {
		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(*ret));
		return true;
	}
#endif
	return false;
}

static inline uint64_t ticks_now(void)
{
	uint64_t ticks;

	return ticks_fast(&ticks) ? ticks : ticks_ns(CLOCK_MONOTONIC);
}
