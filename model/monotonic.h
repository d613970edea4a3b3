/* SPDX-License-Identifier: BSD-3-Clause
 * CLOCK_MONOTONIC: the same in all processes of a host, and no change of the date moves it. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline uint64_t monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline int64_t monotonic_ms(void)
{
	return (int64_t)(monotonic_ns() / 1000000);
}

/* For poll(): milliseconds until then, rounded up, an hour at most; for UINT64_MAX -1, for ever. */
static inline int monotonic_timeout(uint64_t until_ns)
{
	uint64_t now_ns = monotonic_ns(), ms;

	if (until_ns == UINT64_MAX)
		return -1;
	if (until_ns <= now_ns)
		return 0;
	ms = (until_ns - now_ns + 999999) / 1000000;
	return ms > 3600000 ? 3600000 : (int)ms;
}
