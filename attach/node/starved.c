/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach/node/starved.h"

enum { LATELY_NS = 1000 * 1000 * 1000 };

bool starved_is(const struct starved_facts *facts)
{
	/* Ticks are of 10 ms, so that one may pass without any time in it. */
	return facts->polls > 0 && facts->now_ns - facts->last_poll_ns < LATELY_NS &&
	       facts->cpu_ticks <= facts->cpu_ticks_before + 1 && facts->state == 'R';
}
