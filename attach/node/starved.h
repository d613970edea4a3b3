/* SPDX-License-Identifier: BSD-3-Clause
 * Threads that poll but get no processor. Such a thread makes no poll, so it looks like one that
 * computes. On a crowded node that happens to many for the length of a look. */
#pragma once

#include "model/base.h"

/* Of a thread outside MPI, at the second look. */
struct starved_facts {
	uint64_t polls;                       /* that failed since its last transition */
	uint64_t now_ns, last_poll_ns;        /* on one clock; the second is not later */
	uint64_t cpu_ticks_before, cpu_ticks; /* of its process at the first look, and now */
	char state;                           /* of the thread, as in /proc/PID/stat */
};

/* Could the thread have been polling, but got no processor between the looks, nor did any other
 * thread of its process? Only for a second after its last poll: a thread that computes for ever
 * gets none in some look, too. Ticks are of 10 ms: one may pass without any time in it. */
static inline bool starved_is(const struct starved_facts *facts)
{
	return facts->polls > 0 && facts->now_ns - facts->last_poll_ns < 1000000000 &&
	       facts->cpu_ticks <= facts->cpu_ticks_before + 1 && facts->state == 'R';
}
