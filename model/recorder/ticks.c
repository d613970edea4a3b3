/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/ticks.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum seg_clock ticks_clock = SEG_CLOCK_MONOTONIC;

uint64_t ticks_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#if defined(__x86_64__)
/* A kernel that finds the counters of its processors out of step falls back to one of these. */
static bool kernel_distrusts_tsc(void)
{
	static const char *const others[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies"};
	char name[32] = "";
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		      O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	ssize_t n = read(fd, name, sizeof(name) - 1);
	close(fd);
	name[n > 0 ? n : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(name, others[i]) == 0)
			return true;
	return false;
}

static bool tsc_is_fit(void)
{
	unsigned a, b, c, d;
	int mode = PR_TSC_ENABLE;

	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & (1u << 8)))
		return false;
	/* With PR_TSC_SIGSEGV reading the counter would kill the program. */
	if (prctl(PR_GET_TSC, &mode) == 0 && mode != PR_TSC_ENABLE)
		return false;
	return !kernel_distrusts_tsc();
}
#endif

void ticks_init(void)
{
#if defined(__x86_64__)
	ticks_clock = tsc_is_fit() ? SEG_CLOCK_TSC : SEG_CLOCK_MONOTONIC;
#elif defined(__aarch64__)
	ticks_clock = SEG_CLOCK_CNTVCT;
#endif
}
