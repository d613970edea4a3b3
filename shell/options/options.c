/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/options/options.h"

#include <limits.h>

#include "shell/options/settings.h"

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
