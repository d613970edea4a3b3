/* SPDX-License-Identifier: BSD-3-Clause
 * set, show: the settings. */
#include "render/text/gate.h"
#include "shell/command.h"
#include "shell/session.h"

static int run_set(struct session *session, const struct args *args, struct pdb_error *err)
{
	const char *name = args->words[0];
	const struct option_spec *setting =
		option_find(&setting_option_table, 0, name, strlen(name), err);
	const char *value;

	if (!setting)
		return -1;
	session->texts = session->texts ?: arena_create();
	value = arena_strdup(session->texts, args->words[1]);
	if (option_set(&setting_option_table, setting, value, &session->settings, err) < 0)
		return -1;
	gate_use_unicode(session_view(session, NULL).use_unicode);
	return 0;
}

static int run_show(struct session *session, const struct args *args, struct pdb_error *err)
{
	const char *name = args->num_words ? args->words[0] : NULL;
	const struct option_spec *setting =
		name ? option_find(&setting_option_table, 0, name, strlen(name), err) : NULL;

	if (name && !setting)
		return -1;
	for (size_t i = 0; i < setting_option_table.num; i++) {
		const struct option_spec *one = &setting_option_table.options[i];
		char value[PATH_MAX];

		if (!setting || setting == one)
			fprintf(session->out, "  %-8s %-8s  %s\n", one->name,
				setting_text(&session->settings, one, value, sizeof(value)),
				one->help);
	}
	return 0;
}

const struct command cmd_set = {
	.name = "set",
	.topic = TOPIC_SHELL,
	.usage = "set SETTING VALUE",
	.summary = "Change a setting.",
	.text = "You can shorten settings and values as long as they are unique. \"show\" lists\n"
		"them all. To keep a setting, put the line into your startup file: \"help\n"
		"startup\".",
	.example = "set frames function",
	.min_words = 2,
	.max_words = 2,
	.words = WORDS_SETTINGS,
	.run = run_set,
};

const struct command cmd_show = {
	.name = "show",
	.topic = TOPIC_SHELL,
	.usage = "show [SETTING]",
	.summary = "Show one setting or all, with what they do.",
	.text = "Each line has the name, the value and what the setting does.",
	.example = "show width",
	.max_words = 1,
	.words = WORDS_SETTINGS,
	.run = run_show,
};
