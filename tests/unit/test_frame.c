/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/proctable.h"
#include "model/job/sample.h"
#include "shell/answers/frame.h"
#include "shell/options/args.h"
#include "shell/session.h"
#include "tests/unit/unit.h"

/* Frames by offset, outermost first: those from 100 on are libmpi's. */
static uint32_t make_path(struct job *job, const char *frames)
{
	uint32_t path = CALLPATH_NONE;
	char *end;

	for (const char *at = frames; *at; at = end + strspn(end, " ")) {
		unsigned long offset = strtoul(at, &end, 10);

		path = callpaths_intern(job->callpaths, path, offset >= 100, offset, true);
	}
	return path;
}

/* A job with a rank for each of these stacks, "" for none. */
static void make_job(struct session *session, const char *const *stacks, size_t num)
{
	struct job *job = job_create();

	*session = (struct session){.job = job};
	modules_intern(job->modules, "/bin/program", NULL, 0);
	modules_intern(job->modules, "/usr/lib/libmpi.so.40", NULL, 0);
	job->samples = job->samples ?: samples_create();
	for (size_t i = 0; i < num; i++) {
		struct sample sample = {.rank = (int)i, .is_main = true};

		sample.path = make_path(job, stacks[i]);
		sample.status = *stacks[i] ? SAMPLE_COMPLETE : SAMPLE_FAILED;
		proctable_add(job->proctable, (int)i, 100 + (int)i, "node", "program");
		samples_add(job->samples, &sample);
	}
	assert_int_equal(proctable_finish(job->proctable, NULL), 0);
}

static int take(struct session *session, const char *line, struct frame *ret, size_t *next,
		struct pdb_error *err)
{
	struct args *args;
	int result;

	*next = 0;
	assert_int_equal(args_parse(line, &args, NULL), 0);
	result = frame_take(session, args, next, ret, err);
	if (ret->function)
		ret->function = strcmp(ret->function, "solve") == 0 ? "solve" : "?";
	args_destroy(args);
	return result;
}

static void words(void **state)
{
	static const struct {
		const char *line;
		enum frame_kind kind;
		long number;
		size_t next;
	} cases[] = {
		{"", FRAME_ANY, 0, 0},           {"3", FRAME_ANY, 0, 0},
		{"all", FRAME_ANY, 0, 0},        {"lp", FRAME_ANY, 0, 0},
		{"group 2", FRAME_ANY, 0, 0},    {"host a", FRAME_ANY, 0, 0},
		{"solve", FRAME_FUNCTION, 0, 1}, {"solve 3", FRAME_FUNCTION, 0, 1},
		{"frame 2", FRAME_NUMBER, 2, 2}, {"frame 2 0-3", FRAME_NUMBER, 2, 2},
		{"parted", FRAME_PARTED, 0, 1},
	};
	static const char *const stacks[] = {"1 2 3", "1 2 4"};
	static const char *const refused[] = {"frame", "frame x", "frame -1", "frame 100000"};
	struct session session;
	struct frame frame;
	size_t next;

	(void)state;
	make_job(&session, stacks, NUM_OF(stacks));
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		assert_int_equal(take(&session, cases[i].line, &frame, &next, NULL), 0);
		assert_int_equal(frame.kind, cases[i].kind);
		assert_int_equal(frame.number, cases[i].number);
		assert_int_equal(next, cases[i].next);
		assert_int_equal(frame.function != NULL, frame.kind == FRAME_FUNCTION);
	}
	for (size_t i = 0; i < NUM_OF(refused); i++) {
		struct pdb_error err;

		assert_int_equal(take(&session, refused[i], &frame, &next, &err), -1);
		assert_int_equal(err.code, ERROR_USAGE);
	}
	job_destroy(session.job);
}

static void parted(void **state)
{
	static const struct {
		const char *stacks[3];
		/* Of each stack the frame where they part; NULL: they do not. */
		const char *expected[3];
	} cases[] = {
		{{"1 2 3", "1 2 4", "1 2 3"}, {"1 2 3", "1 2 4", "1 2 3"}},
		{{"1 2 3 5", "1 2 4 100", ""}, {"1 2 3", "1 2 4", ""}},
		{{"1 2 100 101", "1 2 100 102", "1 2 100 101 103"}, {"1 2", "1 2", "1 2"}},
		{{"1 2 3", "1 2 3", "1 2 3"}, {"1 2 3", "1 2 3", "1 2 3"}},
		{{"1 2", "1 2 3", "1 2 4 5"}, {"1 2", "1 2 3", "1 2 4"}},
		{{"1 2 3", "5 6", "1 2 3"}, {NULL}},
		{{"1 2 3", "", ""}, {NULL}},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct pdb_error err = {.code = ERROR_NONE};
		struct session session;
		struct frame frame;
		int result;

		make_job(&session, cases[i].stacks, 3);
		result = frame_parse(&session, "parted", &frame, &err);
		assert_int_equal(result, cases[i].expected[0] ? 0 : -1);
		if (result < 0)
			assert_int_equal(err.code, ERROR_NOT_FOUND);
		for (size_t k = 0; result == 0 && k < 3; k++)
			if (*cases[i].stacks[k])
				assert_int_equal(
					frame_find(session.job, &frame,
						   make_path(session.job, cases[i].stacks[k])),
					make_path(session.job, cases[i].expected[k]));
		job_destroy(session.job);
	}
}

/* What print takes for a frame in front of an expression. */
static void no_numbers(void **state)
{
	static const char *const refused[] = {"0-3", "2x", "0x1", "100000", "99999999999999999999"};
	struct session session;
	struct frame frame;

	(void)state;
	make_job(&session, NULL, 0);
	assert_int_equal(frame_parse(&session, "12", &frame, NULL), 0);
	assert_int_equal(frame.kind, FRAME_NUMBER);
	assert_int_equal(frame.number, 12);
	for (size_t i = 0; i < NUM_OF(refused); i++) {
		struct pdb_error err;

		assert_int_equal(frame_parse(&session, refused[i], &frame, &err), -1);
		assert_int_equal(err.code, ERROR_USAGE);
	}
	job_destroy(session.job);
}

static void numbers(void **state)
{
	static const char *const stacks[] = {"1 2 100 3 101"};
	static const char *const expected[] = {"1 2 100 3", "1 2", "1"};
	struct session session;

	(void)state;
	make_job(&session, stacks, 1);
	for (long i = 0; i < 4; i++) {
		const struct frame frame = {.kind = FRAME_NUMBER, .number = i};
		uint32_t found = frame_find(session.job, &frame, make_path(session.job, stacks[0]));

		assert_int_equal(found,
				 i < 3 ? make_path(session.job, expected[i]) : CALLPATH_NONE);
	}
	job_destroy(session.job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(parted),
		cmocka_unit_test(numbers),
		cmocka_unit_test(no_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
