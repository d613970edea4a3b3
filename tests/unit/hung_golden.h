/* SPDX-License-Identifier: BSD-3-Clause
 * What is printed of hung jobs of several kinds, beside golden text and in windows of any width. */
#ifndef PDB_TESTS_UNIT_HUNG_GOLDEN_H
#define PDB_TESTS_UNIT_HUNG_GOLDEN_H

#include "tests/unit/golden.h"
#include "tests/unit/hung_job.h"

struct hung_case {
	const char *name;
	struct hung_options options;
};

/* What print() prints of each job is in tests/golden/WHAT_NAME_*.txt. */
static inline void check_golden_jobs(const struct hung_case *jobs, size_t num, const char *what,
				     void (*print)(struct hung *hung))
{
	for (size_t i = 0; i < num; i++) {
		struct hung *hung = hung_create(jobs[i].options);

		for (int unicode = 0; unicode < 2; unicode++) {
			char *path = xasprintf("tests/golden/%s_%s_%s.txt", what, jobs[i].name,
					       unicode ? "utf8" : "ascii");
			const char *text;

			hung->view.use_unicode = unicode;
			print(hung);
			text = hung_text(hung);
			check_lines(text, &hung->view);
			check_golden(text, path);
			free(path);
		}
		hung_destroy(hung);
	}
}

/* No line of it is wider than the window. */
static inline void check_widths(const struct hung_case *jobs, size_t num,
				void (*print)(struct hung *hung))
{
	static const int widths[] = {40, 41, 50, 64, 80, 99, 132, 200, 250};

	for (size_t i = 0; i < num; i++) {
		struct hung *hung = hung_create(jobs[i].options);

		for (size_t w = 0; w < NUM_OF(widths); w++) {
			hung->view.width = widths[w];
			hung->view.use_unicode = w % 2;
			print(hung);
			check_lines(hung_text(hung), &hung->view);
		}
		hung_destroy(hung);
	}
}

/* The ranks of `text`; NULL for none. */
static inline void set_ranks(struct rankset **set, const char *text)
{
	struct pdb_error err;

	rankset_destroy(*set);
	*set = NULL;
	if (text)
		assert_int_equal(rankset_decode(text, -1, set, &err), 0);
	else
		*set = rankset_create();
}

#endif
