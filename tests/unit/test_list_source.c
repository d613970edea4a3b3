/* SPDX-License-Identifier: BSD-3-Clause
 * list: places of ranks in parts of sources. */
#include <malloc.h>
#include <string.h>

#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/listed.h"
#include "shell/answers/frame.h"
#include "shell/answers/list_source.h"
#include "shell/session.h"
#include "tests/unit/unit.h"

/* A rank at each line of a file that is nowhere. */
static struct session make_session(const int *lines, size_t num)
{
	static char nowhere[] = "";
	struct session session = {.job = job_create(), .settings.sources = nowhere};
	struct job *job = session.job;

	modules_intern(job->modules, "/bin/program", NULL, 0);
	job->samples = job->samples ?: samples_create();
	for (size_t i = 0; i < num; i++) {
		struct sample sample = {.rank = (int)i, .is_main = true, .status = SAMPLE_COMPLETE};
		const struct name name = {"solve", "a.c", "/nowhere/a.c", lines[i], true,
					  false,   NULL};

		sample.path =
			callpaths_intern(job->callpaths, CALLPATH_NONE, 0, 16 * (i + 1), false);
		names_set(job->names, sample.path, &name);
		proctable_add(job->proctable, (int)i, 100 + (int)i, "node", "program");
		samples_add(job->samples, &sample);
	}
	assert_int_equal(proctable_finish(job->proctable, NULL), 0);
	return session;
}

static void parts(void **state)
{
	static const struct {
		int lines[4]; /* of ranks */
		size_t num, num_missing;
		struct {
			int first, last;
			size_t num_places;
		} parts[4];
	} cases[] = {
		{{20, 20, 20, 20}, 1, 0, {{15, 24, 1}}},
		{{20, 30, 40, 51}, 2, 0, {{15, 44, 3}, {46, 55, 1}}},
		{{100, 2, 102, 50}, 3, 0, {{95, 106, 2}, {1, 6, 1}, {45, 54, 1}}},
		{{0, -1, 7, 7}, 1, 1, {{2, 11, 1}}},
		/* What a snapshot may claim. */
		{{INT_MAX, INT_MIN, INT_MAX - 1, 7}, 1, 1, {{2, 11, 1}}},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct session session = make_session(cases[i].lines, 4);
		const struct frame any = {.kind = FRAME_ANY};
		struct rankset *all = rankset_create();
		struct arena *arena = arena_create();
		struct listed listed;

		rankset_add_range(all, 0, 3);
		assert_int_equal(list_frames(&session, arena, &any, all, &listed, NULL), 0);
		assert_int_equal(listed.num, cases[i].num);
		assert_int_equal(listed.num_missing, cases[i].num_missing);
		for (size_t k = 0; k < listed.num; k++) {
			const struct listed_part *part = &listed.parts[k];

			assert_int_equal(part->first, cases[i].parts[k].first);
			assert_int_equal(part->last, cases[i].parts[k].last);
			assert_int_equal(part->num_places, cases[i].parts[k].num_places);
			for (size_t n = 0; n < part->num_places; n++)
				assert_in_range(part->places[n]->name->line, part->first,
						part->last);
			assert_null(part->path);
			assert_non_null(part->trouble);
		}
		arena_destroy(arena);
		rankset_destroy(all);
		job_destroy(session.job);
	}
}

/* As many places as lines take memory for each, not for each two. */
static void many(void **state)
{
	enum { NUM = 4000 };
	int *lines = calloc(NUM, sizeof(*lines));
	const struct frame any = {.kind = FRAME_ANY};
	struct rankset *all = rankset_create();
	struct arena *arena = arena_create();
	struct session session;
	struct listed listed;
	struct mallinfo2 before, after;

	(void)state;
	for (int i = 0; i < NUM; i++)
		lines[i] = 1 + i;
	session = make_session(lines, NUM);
	rankset_add_range(all, 0, NUM - 1);
	before = mallinfo2();
	assert_int_equal(list_frames(&session, arena, &any, all, &listed, NULL), 0);
	assert_int_equal(listed.num, 1);
	assert_int_equal(listed.parts[0].num_places, NUM);
	after = mallinfo2();
	assert_in_range(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd, 0,
			1000 * NUM);
	arena_destroy(arena);
	rankset_destroy(all);
	job_destroy(session.job);
	free(lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
