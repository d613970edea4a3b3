/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/symbols/debug_file.h"
#include "attach/symbols/source.h"
#include "model/job/modules.h"
#include "tests/unit/unit.h"

static const char *dir;

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int make_files(void **state)
{
	static char name[] = "/tmp/pdb-source.XXXXXX";

	(void)state;
	dir = mkdtemp(name);
	if (!dir || chdir(dir) || mkdir("here", 0700) || mkdir("here/src", 0700) ||
	    mkdir("there", 0700) || mkfifo("there/pipe.c", 0600))
		return -1;
	write_file("here/src/a.c", "one\ntwo\r\n\n\tlast");
	write_file("there/a.c", "other\n");
	write_file("there/empty.c", "");
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	unlink("here/src/a.c");
	unlink("there/a.c");
	unlink("there/empty.c");
	unlink("there/pipe.c");
	rmdir("here/src");
	rmdir("here");
	rmdir("there");
	return chdir("/") || rmdir(dir);
}

static void files(void **state)
{
	static const struct {
		const char *file, *dirs;
		const char *path; /* NULL: not found */
		size_t num;
	} cases[] = {
		{"/proj/src/a.c", "here", "here/src/a.c", 4},
		{"/proj/src/a.c", "there", "there/a.c", 1},
		{"/proj/src/a.c", "nowhere:there:here", "there/a.c", 1},
		{"/proj/src/a.c", "::here", "here/src/a.c", 4},
		{"src/a.c", "there:here", "there/a.c", 1},
		{"src/a.c", "here", "here/src/a.c", 4},
		{"a.c", "here/src", "here/src/a.c", 4},
		{"empty.c", "there", "there/empty.c", 0},
		{"/proj/src/a.c", "", NULL, 0},
		{"/proj/src/b.c", "here:there", NULL, 0},
		{"pipe.c", "there", NULL, 0}, /* nobody opens that */
		{"src", "here", NULL, 0},
		{"", "here", NULL, 0},
		{"/", "here", NULL, 0},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct arena *arena = arena_create();
		struct pdb_error err = {.code = ERROR_NONE};
		const struct source *source =
			source_open(arena, cases[i].file, 0, cases[i].dirs, &err);

		if (!cases[i].path) {
			assert_null(source);
			assert_int_equal(err.code, ERROR_NOT_FOUND);
		} else {
			assert_non_null(source);
			assert_string_equal(source->path, cases[i].path);
			assert_int_equal(source->num, cases[i].num);
		}
		arena_destroy(arena);
	}
}

static void lines(void **state)
{
	static const char *const expected[] = {"one", "two", "", "\tlast"};
	struct arena *arena = arena_create();
	const struct source *source = source_open(arena, "src/a.c", 0, "here", NULL);

	(void)state;
	assert_int_equal(source->num, NUM_OF(expected));
	for (size_t i = 0; i < source->num; i++)
		assert_string_equal(source->lines[i], expected[i]);
	arena_destroy(arena);
}

static void names(void **state)
{
	static const struct {
		const char *file, *tail;
		bool is_called;
	} cases[] = {
		{"/src/a.c", "a.c", true},      {"/src/a.c", "src/a.c", true},
		{"/src/a.c", "/src/a.c", true}, {"a.c", "a.c", true},
		{"/src/aa.c", "a.c", false},    {"/src/a.c", "b.c", false},
		{"/src/a.c", "", false},        {"a.c", "src/a.c", false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++)
		assert_int_equal(source_is_called(cases[i].file, cases[i].tail),
				 cases[i].is_called);
}

/* This program's own debug information. */
static void declarations(void **state)
{
	struct arena *arena = arena_create();
	struct modules *modules = modules_create();
	struct debug_modules files = {.modules = modules};
	char exe[4096] = "";
	const char *file;
	uint32_t module;
	int line;

	(void)state;
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	module = modules_intern(modules, exe, NULL, 0);
	assert_true(source_find_function(&files, arena, module, "write_file", &file, &line));
	assert_true(source_is_called(file, "tests/unit/test_source.c"));
	assert_int_equal(file[0], '/');
	assert_int_equal(line, 14);
	assert_false(source_find_function(&files, arena, module, "write_fil", &file, &line));
	assert_false(source_find_function(&files, arena, module, "no::write_file", &file, &line));
	assert_false(source_find_function(&files, arena, module + 1, "main", &file, &line));
	assert_non_null(source_find_file(&files, arena, module, "unit/test_source.c"));
	assert_null(source_find_file(&files, arena, module, "unit/test_sourc.c"));
	debug_modules_close(&files);
	modules_destroy(modules);
	arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files),
		cmocka_unit_test(lines),
		cmocka_unit_test(names),
		cmocka_unit_test(declarations),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
