/* SPDX-License-Identifier: BSD-3-Clause
 * Graphviz as it is where "dot -c" has not been run: without any plugin. Its context is one for the
 * life of the program, so this is a program of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/error.h"
#include "render/draw/dot.h"
#include "render/text/html.h"
#include "render/view.h"
#include "tests/unit/unit.h"

static const char graph[] = "digraph g { a -> b; b -> c }";
static char directory[] = "/tmp/test_graphviz_bare.XXXXXX";

/* Each of the ways to a picture, twice: nothing of the first is left. */
static void test_memory(void **state)
{
	(void)state;
	for (int round = 0; round < 2; round++) {
		struct pdb_error err = {0};
		char *bytes = NULL;
		size_t size;

		assert_int_equal(graphviz_draw(graph, "svg", &bytes, &size, &err), -1);
		assert_error(&err, ERROR_UNSUPPORTED, "dot -c");
		assert_null(bytes);
		assert_int_equal(graphviz_draw(graph, "svg", &bytes, &size, NULL), -1);
		assert_null(strchr(err.text, '\n'));
	}
}

static void test_file(void **state)
{
	static const char *const formats[] = {"svg", "png", "pdf"};

	(void)state;
	for (size_t i = 0; i < NUM_OF(formats); i++) {
		struct pdb_error err = {0};
		char path[64];

		snprintf(path, sizeof(path), "%s/graph.%s", directory, formats[i]);
		assert_int_equal(graphviz_write(graph, formats[i], path, &err), -1);
		assert_error(&err, ERROR_UNSUPPORTED, "dot -c");
		assert_int_equal(access(path, F_OK), -1);
	}
}

/* A page says why it has no picture. */
static void test_page(void **state)
{
	(void)state;
	for (int has_error = 0; has_error < 2; has_error++) {
		struct pdb_error err = {0};
		char *page = NULL;
		size_t size;
		FILE *out = open_memstream(&page, &size);

		assert_int_equal(graphviz_html(out, graph, "waits", has_error ? &err : NULL), -1);
		fclose(out);
		assert_non_null(strstr(page, "no picture"));
		assert_non_null(strstr(page, "dot -c"));
		assert_null(strstr(page, "<svg"));
		if (has_error)
			assert_error(&err, ERROR_UNSUPPORTED, "dot -c");
		free(page);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_page),
	};
	int failed;

	if (!mkdtemp(directory))
		return 1;
	setenv("GVBINDIR", directory, 1);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(directory);
	return failed;
}
