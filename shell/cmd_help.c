/* SPDX-License-Identifier: BSD-3-Clause
 * help: the command table for people. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/error.h"
#include "shell/cmd.h"
#include "shell/command.h"
#include "shell/session.h"

static int run_help(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_help = {
	.name = "help",
	.alias = "h",
	.topic = TOPIC_SHELL,
	.usage = "help [COMMAND [WORD]]",
	.summary = "Explain a command, or list them all.",
	.text = "Commands may be shortened as long as they are unique. Ranks are written as\n"
		"0,3-5 or 0-63:8 (every 8th) or all; lp stands for the least-progressed ranks,\n"
		"\"group N\" for row N of groups, \"host NAME\" for the ranks of a host. Behind a\n"
		"command, \"| COMMAND\" and \"> FILE\" send its output elsewhere. An empty line "
		"does\n"
		"the last command again; Ctrl-C ends the command, never the job.",
	.example = "help graph",
	.max_words = 2,
	.words = WORDS_COMMANDS,
	.run = run_help,
};

static void list_topic(FILE *out, enum command_topic topic)
{
	fprintf(out, "%s:\n", command_topics[topic]);
	for (size_t i = 0; command_table[i]; i++)
		if (command_table[i]->topic == topic)
			fprintf(out, "  %-10s %s\n", command_table[i]->name,
				command_table[i]->summary);
	putc('\n', out);
}

static void list_all(const struct session *session)
{
	FILE *out = session->out;

	for (int topic = 0; topic < NUM_TOPICS; topic++)
		list_topic(out, topic);
	if (session->macros.first) {
		fprintf(out, "User-defined:\n ");
		for (const struct macro *macro = session->macros.first; macro; macro = macro->next)
			fprintf(out, " %s", macro->name);
		fprintf(out, "\n\n");
	}
	fprintf(out,
		"\"help COMMAND\" tells more; \"help help\" how ranks and output are written.\n");
}

static void explain(const struct command *command, FILE *out)
{
	fprintf(out, "%s\n", command->summary);
	fprintf(out, "usage: %s\n", command->usage);
	if (command->alias)
		fprintf(out, "alias: %s\n", command->alias);
	fprintf(out, "\n%s\n", command->text);
	if (command->family) {
		putc('\n', out);
		for (size_t i = 0; command->family[i]; i++)
			fprintf(out, "  %s %-10s %s\n", command->name, command->family[i]->name,
				command->family[i]->summary);
	}
	fprintf(out, "\nexample: %s\n", command->example);
}

static void explain_macro(const struct macro *macro, FILE *out)
{
	fprintf(out, "User-defined:\n");
	for (size_t i = 0; i < macro->num_lines; i++)
		fprintf(out, "  %s\n", macro->lines[i]);
}

static int run_help(struct session *session, const struct args *args, struct pdb_error *err)
{
	const struct macro *macro;
	const struct command *command;

	if (args->num_words == 0) {
		list_all(session);
		return 0;
	}
	macro = macros_find(&session->macros, args->words[0]);
	if (macro && args->num_words == 1) {
		explain_macro(macro, session->out);
		return 0;
	}
	if (command_find(command_table, "command", args->words[0], &command, err) < 0)
		return -1;
	if (args->num_words == 2) {
		if (!command->family)
			return error_set(err, ERROR_USAGE, "\"%s\" is one word", command->name);
		if (command_find(command->family, command->name, args->words[1], &command, err) < 0)
			return -1;
	}
	explain(command, session->out);
	return 0;
}
