/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "model/error.h"
#include "shell/options/options.h"
#include "tests/unit/unit.h"

/* Set by names as typed; the setting's value as text, or NULL and the message in *err. */
static const char *set(struct setting_options *settings, const char *name, const char *value,
		       struct pdb_error *err)
{
	const struct option_spec *setting =
		option_find(&setting_option_table, 0, name, strlen(name), err);
	static char text[32];

	if (!setting || option_set(&setting_option_table, setting, value, settings, err) < 0)
		return NULL;
	return setting_text(settings, setting, text, sizeof(text));
}

static void the_table_is_complete(void **state)
{
	struct setting_options settings;

	(void)state;
	for (size_t i = 0; i < setting_option_table.num; i++) {
		const struct option_spec *setting = &setting_option_table.options[i];
		size_t length = strlen(setting->help);

		assert_non_null(setting->name);
		assert_true(length > 0 && setting->help[length - 1] == '.');
		if (i)
			assert_true(strcmp(setting[-1].name, setting->name) < 0);
		assert_non_null(setting->initial);
		assert_int_equal(option_set(&setting_option_table, setting, setting->initial,
					    &settings, NULL),
				 0);
	}
}

static void values(void **state)
{
	static const struct {
		const char *name, *value, *text;
	} cases[] = {
		{"width", "100", "100"}, {"width", "0", "0"},        {"wid", "10000", "10000"},
		{"color", "on", "on"},   {"color", "auto", "auto"},  {"color", "a", "auto"},
		{"u", "off", "off"},     {"frames", "line", "line"}, {"fr", "addr", "address"},
		{"stale", "1", "1"},     {"evidence", "all", "all"},
	};
	struct setting_options settings;

	(void)state;
	option_init(&setting_option_table, &settings);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *text = set(&settings, cases[i].name, cases[i].value, NULL);

		assert_non_null(text);
		assert_string_equal(text, cases[i].text);
	}
}

static void refusals(void **state)
{
	static const struct {
		const char *name, *value, *message; /* part of the message */
	} cases[] = {
		{"nosuch", "1", "setting \"nosuch\" is not one of: color, confirm"},
		{"", "1", "not one of"},
		{"s", "1", "ambiguous: samples, sources, stale"},
		{"color", "blue", "not one of: off, on, auto"},
		{"color", "o", "ambiguous: off, on"},
		{"color", "", "not one of"},
		{"width", "-1", "from 0 to 10000"},
		{"width", "10001", "from 0 to 10000"},
		{"width", "wide", "from 0 to 10000"},
		{"width", "80x", "from 0 to 10000"},
		{"width", "", "from 0 to 10000"},
		{"width", "99999999999999999999", "from 0 to 10000"},
	};
	struct setting_options settings, before;

	(void)state;
	option_init(&setting_option_table, &settings);
	before = settings;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pdb_error err;

		assert_null(set(&settings, cases[i].name, cases[i].value, &err));
		assert_int_equal(err.code, ERROR_USAGE);
		if (!strstr(err.text, cases[i].message))
			fail_msg("%s", err.text);
		assert_memory_equal(&settings, &before, sizeof(settings));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_is_complete),
		cmocka_unit_test(values),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
