/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/xalloc.h"
#include "render/draw/dot.h"
#include "render/view.h"
#include "tests/unit/unit.h"

/* The font library keeps memory until the program ends. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libfontconfig\n";
}

static int make_directory(void **state)
{
	static char directory[] = "/tmp/test_graphviz.XXXXXX";

	*state = mkdtemp(directory);
	return *state ? 0 : -1;
}

static int remove_directory(void **state)
{
	return rmdir(*state);
}

static void test_formats(void **state)
{
	static const struct {
		const char *format, *begins;
	} cases[] = {{"svg", "<?xml"}, {"png", "\x89PNG"}, {"pdf", "%PDF-"}};
	struct pdb_error err = {0};

	for (size_t i = 0; i < NUM_OF(cases); i++) {
		char *path = xasprintf("%s/graph.%s", (char *)*state, cases[i].format);
		char begins[8] = "";
		FILE *file;

		assert_int_equal(
			graphviz_write("digraph g { a -> b; b -> c }", cases[i].format, path, &err),
			0);
		file = fopen(path, "r");
		assert_non_null(file);
		assert_true(fread(begins, 1, sizeof(begins), file) == sizeof(begins));
		assert_memory_equal(begins, cases[i].begins, strlen(cases[i].begins));
		fclose(file);
		unlink(path);
		free(path);
	}
}

/* Nothing is written, and what is there already stays as it is. */
static void test_refused(void **state)
{
	static const struct {
		const char *dot, *format;
		enum error_code code;
		const char *text;
	} cases[] = {
		{"digraph g {}", "gif", ERROR_USAGE, "svg, png and pdf"},
		{"digraph g {}", "", ERROR_USAGE, "svg, png and pdf"},
		{"this is no graph {{{", "svg", ERROR_FORMAT, "not a graph"},
		{"", "svg", ERROR_FORMAT, "not a graph"},
	};
	char *path = xasprintf("%s/graph", (char *)*state);

	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct pdb_error err = {0};
		struct stat status;
		FILE *file = fopen(path, "w");

		assert_non_null(file);
		fputs("precious", file);
		fclose(file);
		assert_int_equal(graphviz_write(cases[i].dot, cases[i].format, path, &err), -1);
		assert_error(&err, cases[i].code, cases[i].text);
		assert_int_equal(stat(path, &status), 0);
		assert_int_equal(status.st_size, strlen("precious"));
		unlink(path);
	}
	free(path);
}

static void test_no_directory(void **state)
{
	struct pdb_error err = {0};
	char *path = xasprintf("%s/none/graph.svg", (char *)*state);

	assert_int_equal(graphviz_write("digraph g {}", "svg", path, &err), -1);
	assert_error(&err, ERROR_NOT_FOUND, path);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_directory),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
