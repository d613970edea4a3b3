/* SPDX-License-Identifier: BSD-3-Clause
 * The times of a segment, by the clock that its writer had. */
#include "model/job/model.h"
#include "tests/unit/segment_sample.h"

static void test_foreign_clock(void **state)
{
	static const struct {
		const char *what;
		uint32_t clock;
		uint64_t start_ticks, start_ns, later_ticks, later_ns;
		uint64_t event_ticks, now_ns, since_ns;
	} table[] = {
		{"not booted for so long", SEG_CLOCK_MONOTONIC, 1ull << 60, 1ull << 60,
		 (1ull << 60) + 500, (1ull << 60) + 500, (1ull << 60) + 400, (1ull << 60) + 500,
		 (1ull << 60) + 400},
		{"events after the later moment", SEG_CLOCK_MONOTONIC, 1ull << 60, 1ull << 60,
		 1ull << 60, 1ull << 60, (1ull << 60) + 700, (1ull << 60) + 700,
		 (1ull << 60) + 700},
		{"a counter of 2 GHz, of the future", SEG_CLOCK_TSC, 1ull << 62, 1ull << 50,
		 (1ull << 62) + 2000000, (1ull << 50) + 1000000, (1ull << 62) + 1000000,
		 (1ull << 50) + 1000000, (1ull << 50) + 500000},
		{"no rate", SEG_CLOCK_CNTVCT, 1ull << 62, 1ull << 60, 1ull << 62, 1ull << 60,
		 (1ull << 62) + 5, (1ull << 60) + 5, (1ull << 60) + 5},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct segment_writer *w = make_sample();
		struct seg_header *h = &w->header;
		struct model *model;

		h->clock = table[i].clock;
		h->start_ticks = table[i].start_ticks;
		h->start_mono_ns = table[i].start_ns;
		h->later_ticks = table[i].later_ticks;
		h->later_mono_ns = table[i].later_ns;
		h->start_real_ns = 7;
		w->num_lanes = 1;
		w->lanes[0].head.current.since = table[i].event_ticks;
		model = segment_writer_model(w);
		if (model->now_ns != table[i].now_ns ||
		    model->lanes[0].since_ns != table[i].since_ns)
			fail_msg("%s: now %llu since %llu", table[i].what,
				 (unsigned long long)model->now_ns,
				 (unsigned long long)model->lanes[0].since_ns);
		assert_int_equal(model->now_real_ns, 7 + table[i].now_ns - table[i].start_ns);
		model_destroy(model);
		w->num_lanes = 2;
		segment_writer_destroy(w);
	}
}

#if defined(__x86_64__)
#include <x86intrin.h>

/* The counter of this machine, over the time since it was started. The later moment was taken
 * inexactly, or on another machine. */
static void test_own_counter(void **state)
{
	static const struct {
		int64_t later_off_ns;
		bool is_own;
	} table[] = {{0, true}, {40000000, true}, {-30000000, true}, {3600000000000, false}};
	struct segment_writer *w = make_sample();
	struct seg_header *h = &w->header;
	uint64_t ticks, ns;

	(void)state;
	h->clock = SEG_CLOCK_TSC;
	h->start_mono_ns = clock_ns();
	h->start_ticks = __rdtsc();
	do {
		ns = clock_ns();
		ticks = __rdtsc();
	} while (ns < h->start_mono_ns + 50000000);
	/* Corrupt: in the future. */
	w->lanes[1].head.current.since = UINT64_MAX;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		uint64_t off = (uint64_t)table[i].later_off_ns;
		struct model *model;

		h->later_ticks = ticks;
		h->later_mono_ns = ns + off;
		w->lanes[0].head.current.since = ticks;
		while (clock_ns() < ns + 60000000)
			;
		model = segment_writer_model(w);
		if (table[i].is_own) {
			/* Within what a preemption of this program could be. */
			assert_in_range(model->lanes[0].since_ns, ns - 20000000, ns + 20000000);
			assert_true(model->now_ns >= ns + 60000000);
		} else {
			assert_true(model->now_ns >= h->later_mono_ns);
		}
		assert_int_equal(model->lanes[1].since_ns, model->now_ns);
		model_destroy(model);
	}
	segment_writer_destroy(w);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_foreign_clock),
#if defined(__x86_64__)
		cmocka_unit_test(test_own_counter),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
