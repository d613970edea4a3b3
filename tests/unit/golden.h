/* SPDX-License-Identifier: BSD-3-Clause
 * What was printed beside what is to be printed: golden text is in tests/golden; after a change of
 * words GOLDEN=write writes it anew, and the difference is there to be read. */
#ifndef PDB_TESTS_GOLDEN_H
#define PDB_TESTS_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/xalloc.h"
#include "render/text/text.h"
#include "render/view.h"
#include "tests/unit/unit.h"

static inline char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (!file)
		return xstrdup("");
	if (getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = xstrdup("");
	}
	fclose(file);
	return text;
}

static inline void check_golden(const char *text, const char *path)
{
	const char *mode = getenv("GOLDEN");
	char *golden;

	if (mode && !strcmp(mode, "write")) {
		FILE *file = fopen(path, "w");

		assert_non_null(file);
		fputs(text, file);
		fclose(file);
	}
	golden = read_file(path);
	assert_string_equal(text, golden);
	free(golden);
}

/* No line wider than the view; in ASCII no byte beyond it. */
static inline void check_lines(const char *text, const struct view *view)
{
	char *copy = xstrdup(text), *rest = copy, *line;

	while ((line = strsep(&rest, "\n"))) {
		if ((int)text_columns(line) > view->width)
			fail_msg("wider than %d: %s", view->width, line);
		assert_int_not_equal(line[0] ? line[strlen(line) - 1] : 'x', ' ');
		for (const char *at = line; *at; at++)
			assert_true(view->use_unicode || !(*at & 0x80));
	}
	free(copy);
}

static inline void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

#endif
