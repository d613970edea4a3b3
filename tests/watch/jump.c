/* SPDX-License-Identifier: BSD-3-Clause
 * Preloaded, it makes the date jump: by ten years, there and back, at every other look at it. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long jump(void)
{
	static int looks;

	return looks++ % 2 ? 10 * 365 * 86400L : 0;
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int result = (int)syscall(SYS_clock_gettime, clock, ret);

	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
		ret->tv_sec += jump();
	return result;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	ret->tv_sec = now.tv_sec;
	ret->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *ret)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (ret)
		*ret = now.tv_sec;
	return now.tv_sec;
}
