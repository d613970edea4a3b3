/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/options/options.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define FOR(action) (1u << ACTION_##action)
#define WATCHING .users = FOR(WATCH) | 1u << NUM_ACTIONS
#define SOME .min = 1, .max = 100000, .otherwise = "1"
#define CHOICES(...)                                                                               \
	.choices = (const char *const[])                                                           \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

#define OPTIONS(owner) static const struct option_spec owner##_options[] = {
#define OPTION(owner, type, member, text, takes, what, ...)                                        \
	{.name = text,                                                                             \
	 .kind = OPTION_##type,                                                                    \
	 .place = offsetof(struct owner##_options, member),                                        \
	 .argument = takes,                                                                        \
	 .help = what,                                                                             \
	 __VA_ARGS__},
#define OPTION_MORE OPTION
#define END_OPTIONS(owner, dashes, note)                                                           \
	}                                                                                          \
	;                                                                                          \
	const struct option_table owner##_option_table = {                                         \
		owner##_options, sizeof(owner##_options) / sizeof(owner##_options[0]), dashes,     \
		note};
#define SETTING(...)
#include "shell/options/options.def"
#undef OPTIONS
#undef OPTION
#undef END_OPTIONS
#undef SETTING

#define OPTIONS(...)
#define OPTION(...)
#define END_OPTIONS(...)
#define SETTING(type, id, text, takes, what, ...)                                                  \
	[SETTING_##id] = {.name = text,                                                            \
			  .kind = OPTION_##type,                                                   \
			  .place = offsetof(struct settings, values[SETTING_##id]),                \
			  .argument = takes,                                                       \
			  .help = what,                                                            \
			  __VA_ARGS__},
const struct option_spec setting_table[NUM_SETTINGS] = {
#include "shell/options/options.def"
};

/* ---- Settings ---- */

static const struct option_table settings_of = {setting_table, NUM_SETTINGS, "", NULL};

void settings_init(struct settings *settings)
{
	option_init(&settings_of, settings);
}

int settings_find(const char *name, enum setting_id *ret, struct pdb_error *err)
{
	const struct option_spec *found = option_find(&settings_of, 0, name, strlen(name), err);

	if (!found)
		return -1;
	*ret = (enum setting_id)(found - setting_table);
	return 0;
}

int settings_set(struct settings *settings, enum setting_id id, const char *value,
		 struct pdb_error *err)
{
	return option_set(&settings_of, &setting_table[id], value, settings, err);
}

char *settings_text(const struct settings *settings, enum setting_id id, char *buffer, size_t size)
{
	const struct option_spec *setting = &setting_table[id];

	if (setting->kind == OPTION_CHOICE)
		snprintf(buffer, size, "%s", setting->choices[settings->values[id]]);
	else
		snprintf(buffer, size, "%d", settings->values[id]);
	return buffer;
}
