/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/options/options.h"

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
#include "shell/options/options.def"

char *setting_text(const struct setting_options *settings, const struct option_spec *setting,
		   char *buffer, size_t size)
{
	unsigned int value = *(const unsigned int *)((const char *)settings + setting->place);

	if (setting->kind == OPTION_CHOICE)
		snprintf(buffer, size, "%s", setting->choices[value]);
	else if (setting->kind == OPTION_TEXT)
		snprintf(buffer, size, "%s",
			 *(const char *const *)((const char *)settings + setting->place));
	else
		snprintf(buffer, size, "%u", value);
	return buffer;
}
