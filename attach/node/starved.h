/* SPDX-License-Identifier: BSD-3-Clause
 * Threads that poll but get no processor. Such a thread makes no poll, so it looks like one that
 * computes. On a crowded node many threads get no processor for the length of a look. */
#pragma once

#include "model/base.h"

/* Of a thread outside MPI, at the second look. */
struct starved_facts {
	uint64_t polls;                       /* that failed since its last transition */
	uint64_t now_ns, last_poll_ns;        /* on one clock; the second is not later */
	uint64_t cpu_ticks_before, cpu_ticks; /* of its process at the first look, and now */
	char state;                           /* of the thread, as in /proc/PID/stat */
};

/* Could the thread have been polling, although it and all other threads of its process got no
 * processor between the looks? True only for a second after its last poll: a thread that computes
 * for ever gets no processor in some looks, too. A tick is 10 ms. One may pass without any time in
 * it. */
static inline bool starved_is(const struct starved_facts *facts)
{
	return facts->polls > 0 && facts->now_ns - facts->last_poll_ns < 1000000000 &&
	       facts->cpu_ticks <= facts->cpu_ticks_before + 1 && facts->state == 'R';
}
