/* SPDX-License-Identifier: BSD-3-Clause
 * set, show: the settings. */
#include <stdio.h>

#include "model/error.h"
#include "render/text/gate.h"
#include "render/view.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/session.h"

static int run_set(struct session *session, const struct args *args, struct pdb_error *err);
static int run_show(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_set = {
	.name = "set",
	.topic = TOPIC_SHELL,
	.usage = "set SETTING VALUE",
	.summary = "Change a setting.",
	.text = "Settings and their values may be shortened as long as they are unique.\n"
		"\"show\" lists them all. Lines with set in ~/.pdbrc are kept.",
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
	.text = "Each line has the setting's name, its value and what it does.",
	.example = "show width",
	.max_words = 1,
	.words = WORDS_SETTINGS,
	.run = run_show,
};

static int run_set(struct session *session, const struct args *args, struct pdb_error *err)
{
	enum setting_id id;

	if (settings_find(args->words[0], &id, err) < 0)
		return -1;
	if (settings_set(&session->settings, id, args->words[1], err) < 0)
		return -1;
	gate_use_unicode(session_view(session, NULL).use_unicode);
	return 0;
}

static void show(const struct session *session, enum setting_id id)
{
	char value[32];

	fprintf(session->out, "  %-8s %-8s  %s\n", setting_table[id].name,
		settings_text(&session->settings, id, value, sizeof(value)),
		setting_table[id].text);
}

static int run_show(struct session *session, const struct args *args, struct pdb_error *err)
{
	enum setting_id id;

	if (args->num_words) {
		if (settings_find(args->words[0], &id, err) < 0)
			return -1;
		show(session, id);
		return 0;
	}
	for (int i = 0; i < NUM_SETTINGS; i++)
		show(session, i);
	return 0;
}
