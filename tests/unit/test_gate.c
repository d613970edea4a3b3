/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "render/text/gate.h"
#include "render/text/text.h"
#include "tests/unit/unit.h"
#include "tests/unit/with_arena.h"

/* What gets through when `text` comes in pieces of `step` bytes. The caller frees. */
static char *pass(const char *text, size_t size, size_t step)
{
	char *passed = NULL;
	size_t num;
	FILE *below = open_memstream(&passed, &num), *gate = gate_open(below);

	for (size_t at = 0; at < size; at += step) {
		fwrite(text + at, 1, step < size - at ? step : size - at, gate);
		fflush(gate);
	}
	fclose(gate);
	fclose(below);
	return passed;
}

/* The same as text_clean(arena, ) but for lines and columns, wherever it is cut. */
static void test_names(void **state)
{
	static const struct {
		const char *text, *passed;
	} cases[] = {
		{"", ""},
		{"halo() at halo.c:31", "halo() at halo.c:31"},
		{"two\nlines\tand columns", "two\nlines\tand columns"},
		{"f\u00fcr \u2502 \U0001f600", "f\u00fcr \u2502 \U0001f600"},
		{"\033]0;owned\007", "?]0;owned?"},
		{"\033[1;31mred", "?[1;31mred"},
		{"back\rto\bthe\vbegin\f", "back?to?the?begin?"},
		{"\x9b"
		 "2J",
		 "?2J"},
		{"\xc2\x9b"
		 "2J\xc2\x85",
		 "?2J?"},
		{"\x7f", "?"},
		{"\u202eright to left\u2066", "?right to left?"},
		{"no\u200bwidth\ufeff\u2028", "no?width??"},
		{"\xc0\xaf\xff\xe2\x94", "?????"},
		{"\xe2\x94|\xe2\x94\x82", "??|\u2502"},
		{"\xed\xa0\x80\xf4\x90\x80\x80", "???????"},
		{"\xe2", "?"},
		{"\xf8\x90\x80\x80\xff\x90", "??????"},
		{"\xe2\xe2\x94\x82\xf0\x9f", "?\u2502??"},
		{"\xe2\n\xe2\033", "?\n??"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		for (size_t step = 1; step < 6; step++) {
			char *passed = pass(cases[i].text, strlen(cases[i].text), step);

			assert_string_equal(passed, cases[i].passed);
			free(passed);
		}
		if (!strpbrk(cases[i].text, "\n\t")) {
			const char *clean = text_clean(arena, cases[i].text, true);

			assert_string_equal(clean, cases[i].passed);
		}
	}
}

/* No text that comes by %s or fputs() is taken for one of ours. */
static void test_marks(void **state)
{
	char *memory = NULL, *passed;
	size_t size;
	FILE *out = open_memstream(&memory, &size);

	(void)state;
	fputs("a", out);
	gate_color(out, "1;%d", 31);
	fprintf(out, "%s", "m1;31m\033[K");
	gate_color(out, "0");
	gate_return(out);
	gate_erase_line(out);
	fputs("\nb", out);
	fclose(out);
	for (size_t step = 1; step < 12; step++) {
		passed = pass(memory, size, step);
		assert_string_equal(passed, "a\033[1;31mm1;31m?[K\033[0m\r\r\033[K\nb");
		free(passed);
	}
	free(memory);
}

/* Nor is a 0 that is there for another reason, whatever follows it. */
static void test_broken_marks(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		const char *passed;
	} cases[] = {
		{"a\0", 2, "a?"},
		{"a\0\0b", 4, "a??b"},
		{"\0]0;owned", 9, "?]0;owned"},
		{"\0001;31", 5, "?1;31"},
		{"\0001;31H", 6, "?1;31H"},
		{"\0001111111111111111111111111111111111111m", 39,
		 "?1111111111111111111111111111111111111m"},
		{"\0001;\033[K", 6, "?1;?[K"},
		{"\0001;\xe2\x94\x82", 6, "?1;\u2502"},
		{"\0001\n", 3, "?1\n"},
		{"\0003\0"
		 "4mx",
		 6, "?3\033[4mx"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		for (size_t step = 1; step < 8; step++) {
			char *passed = pass(cases[i].text, cases[i].size, step);

			assert_string_equal(passed, cases[i].passed);
			free(passed);
		}
	}
}

static void test_skip(void **state)
{
	static const char text[] = "\0001;31mx\0rx\0004";
	const char *end = text + sizeof(text) - 1;

	(void)state;
	assert_ptr_equal(gate_skip(text, end), text + 6);
	assert_ptr_equal(gate_skip(text + 7, end), text + 9);
	assert_ptr_equal(gate_skip(text + 10, end), end);
	assert_ptr_equal(gate_skip(text + 10, text + 11), text + 11);
}

/* Terminals may show less than files hold. */
static void test_terminal(void **state)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
	char said[64] = "";
	FILE *below, *gate;

	(void)state;
	assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	below = fdopen(slave, "w");
	gate = gate_open(below);
	gate_use_unicode(false);
	/* A line is not held back. */
	fputs("\u00fc\xdb\x9b\x9b \n", gate);
	assert_int_equal(read(master, said, sizeof(said) - 1), 6);
	assert_string_equal(said, "??? \r\n");
	gate_use_unicode(true);
	fputs("\u00fc\xc2\x9b\n", gate);
	assert_int_equal(read(master, said, sizeof(said) - 1), 5);
	said[5] = '\0';
	assert_string_equal(said, "\u00fc?\r\n");
	fclose(gate);
	fclose(below);
	close(master);
}

/* What cannot be written below is an error before the gate. */
static void test_errors(void **state)
{
	FILE *gate = gate_open_file("/dev/full", "w", NULL);
	int fd = -1;

	(void)state;
	assert_non_null(gate);
	fputs("text", gate);
	errno = 0;
	assert_int_equal(fflush(gate), EOF);
	assert_int_equal(errno, ENOSPC);
	assert_true(ferror(gate));
	fclose(gate);
	gate = gate_open_file("/dev/full", "w", &fd);
	assert_true(fd >= 0);
	fputs("text", gate);
	assert_int_equal(fclose(gate), EOF);
	assert_null(gate_open_file("/no/such/file", "w", NULL));
	assert_int_equal(errno, ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),        cmocka_unit_test(test_marks),
		cmocka_unit_test(test_broken_marks), cmocka_unit_test(test_skip),
		cmocka_unit_test(test_terminal),     cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, begin_arena, end_arena);
}
