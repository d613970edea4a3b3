/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/unit.h"

#include <string.h>

#include "attach/node/starved.h"

#define MS UINT64_C(1000000)

static void test_starved(void **state)
{
	static const struct {
		const char *what;
		struct starved_facts facts;
		bool is_starved;
	} cases[] = {
		{"polled just now, runnable, no processor",
		 {3, 5000 * MS, 4900 * MS, 70, 70, 'R'},
		 true},
		{"at the very moment of a poll", {1, 5000 * MS, 5000 * MS, 70, 70, 'R'}, true},
		{"a tick may be of the time before", {3, 5000 * MS, 4900 * MS, 70, 71, 'R'}, true},
		{"it ran", {3, 5000 * MS, 4900 * MS, 70, 72, 'R'}, false},
		{"never polled", {0, 5000 * MS, 4900 * MS, 70, 70, 'R'}, false},
		{"never polled, and no time of a poll", {0, 500 * MS, 0, 70, 70, 'R'}, false},
		{"polled nearly a second ago", {3, 5000 * MS, 4001 * MS, 70, 70, 'R'}, true},
		{"polled a second ago", {3, 5000 * MS, 4000 * MS, 70, 70, 'R'}, false},
		{"polled long ago", {3, 90000 * MS, 4000 * MS, 70, 70, 'R'}, false},
		{"sleeps", {3, 5000 * MS, 4900 * MS, 70, 70, 'S'}, false},
		{"stopped", {3, 5000 * MS, 4900 * MS, 70, 70, 'T'}, false},
		{"in the kernel", {3, 5000 * MS, 4900 * MS, 70, 70, 'D'}, false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++)
		if (starved_is(&cases[i].facts) != cases[i].is_starved)
			fail_msg("%s", cases[i].what);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_starved)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
