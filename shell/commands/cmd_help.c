/* SPDX-License-Identifier: BSD-3-Clause
 * help, apropos: the command table and the topics for people. */
#include "render/view.h"
#include "render/text/text.h"
#include "shell/command.h"
#include "shell/session.h"
#include "shell/topics.h"

static void list_group(FILE *out, enum command_topic group)
{
	fprintf(out, "%s:\n", command_topics[group]);
	for (size_t i = 0; command_table[i]; i++)
		if (command_table[i]->topic == group)
			fprintf(out, "  %-11s  %s\n", command_table[i]->name,
				command_table[i]->summary);
}

static void list_macros(const struct session *session)
{
	if (!session->macros.first)
		return;
	fputs("User-defined:\n ", session->out);
	for (const struct macro *macro = session->macros.first; macro; macro = macro->next)
		fprintf(session->out, " %s", macro->name);
	putc('\n', session->out);
}

static void list_topics(FILE *out)
{
	fputs("Topics:\n", out);
	for (const struct topic *topic = topic_table; topic->name; topic++)
		fprintf(out, "  %-11s  %s\n", topic->name, topic->summary);
}

static void list_all(const struct session *session)
{
	for (int group = 0; group < NUM_TOPICS; group++) {
		list_group(session->out, group);
		putc('\n', session->out);
	}
	list_macros(session);
	list_topics(session->out);
}

enum { NAMES_COLUMN = 35 };

/* Print a word and a blank, on a new line if there is no room. */
static void list_name(FILE *out, const char *name, int *column, int width)
{
	int length = (int)strlen(name) + 1;

	if (*column + length > width) {
		fprintf(out, "\n%*s", NAMES_COLUMN, "");
		*column = NAMES_COLUMN;
	}
	fprintf(out, " %s", name);
	*column += length;
}

static void list_names(FILE *out, enum command_topic group, int width)
{
	int column = fprintf(out, "  %-9s %-*s", command_topic_words[group], NAMES_COLUMN - 12,
			     command_topics[group]);

	for (size_t i = 0; command_table[i]; i++)
		if (command_table[i]->topic == group)
			list_name(out, command_table[i]->name, &column, width);
	putc('\n', out);
}

/* The first screen has 24 lines, so that its first lines stay visible. */
static void list_short(struct session *session)
{
	struct view view = session_view(session, NULL);
	FILE *out = session->out;
	int column;

	fprintf(out, "When a job hangs:\n%s\n", topics_first_steps);
	fputs("All commands by purpose; \"help WORD\", such as \"help stacks\", explains a line:\n",
	      out);
	for (int group = 0; group < NUM_TOPICS; group++)
		list_names(out, group, view.width);
	list_macros(session);
	column = fprintf(out, "  %-*s", NAMES_COLUMN - 2, "topics");
	for (const struct topic *topic = topic_table; topic->name; topic++)
		list_name(out, topic->name, &column, view.width);
	fputs("\n\n\"help COMMAND\" explains one, \"help all\" lists all, \"apropos WORD\" "
	      "searches.\n\"tutorial\" goes through the first ones.\n",
	      out);
}

static void explain(const struct command *command, const struct view *view)
{
	char *text SCOPED(free) = command_text(command);
	FILE *out = view->out;

	fprintf(out, "%s\n", command->summary);
	fprintf(out, "usage: %s\n", command->usage);
	for (size_t i = 0; command->aliases[i]; i++)
		fprintf(out, "alias: %s\n", command->aliases[i]);
	fprintf(out, "\n%s\n", text);
	if (command->family) {
		putc('\n', out);
		for (size_t i = 0; command->family[i]; i++)
			text_wrap_behind(view,
					 text_of(view, "  %s %-9s ", command->name,
						 command->family[i]->name),
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

static bool begins_command(const char *word)
{
	for (size_t i = 0; command_table[i]; i++)
		if (strncmp(command_table[i]->name, word, strlen(word)) == 0 ||
		    command_is_called(command_table[i], word, strlen(word)))
			return true;
	return false;
}

/* Help for a word that is no command: a user-defined one, a group of commands, a topic. */
static bool explain_other(struct session *session, const char *word)
{
	const struct macro *macro = macros_find(&session->macros, word);
	const struct topic *topic;

	if (macro) {
		explain_macro(macro, session->out);
		return true;
	}
	if (strcmp(word, "all") == 0) {
		list_all(session);
		return true;
	}
	if (begins_command(word))
		return false;
	for (int group = 0; group < NUM_TOPICS; group++)
		if (strcmp(command_topic_words[group], word) == 0) {
			list_group(session->out, group);
			return true;
		}
	topic = topics_find(word);
	if (topic)
		fprintf(session->out, "%s\n\n%s\n", topic->summary, topic->text);
	return topic;
}

static int run_help(struct session *session, const struct args *args, struct pdb_error *err)
{
	const struct command *command;
	struct arena *arena SCOPED(arena) = NULL;
	struct view view;

	if (args->num_words == 0) {
		list_short(session);
		return 0;
	}
	if (args->num_words == 1 && explain_other(session, args->words[0]))
		return 0;
	if (command_find(command_table, "command or topic", args->words[0], &command, err) < 0)
		return -1;
	if (args->num_words == 2) {
		if (!command->family)
			return error_set(err, ERROR_USAGE, "help: \"%s\" takes no second word",
					 command->name);
		if (command_find(command->family, command->name, args->words[1], &command, err) < 0)
			return -1;
	}
	arena = arena_create();
	view = session_view(session, arena);
	explain(command, &view);
	return 0;
}

struct search {
	regex_t expression;
	FILE *out;
	size_t num_found;
};

/* Line breaks in the help text do not matter. */
static bool matches(const struct search *search, const char *text)
{
	char *line SCOPED(free) = text ? xstrdup(text) : NULL;

	for (char *at = line; at && *at; at++)
		if (*at == '\n')
			*at = ' ';
	return line && regexec(&search->expression, line, 0, NULL, 0) == 0;
}

static void found(struct search *search, const char *family, const char *name, const char *summary)
{
	char *words SCOPED(free) = xasprintf("%s%s", family, name);

	fprintf(search->out, "  %-14s %s\n", words, summary);
	search->num_found++;
}

static void search_commands(struct search *search, const struct command *const *table,
			    const char *family)
{
	for (size_t i = 0; table[i]; i++) {
		const struct command *command = table[i];
		char *text SCOPED(free) = command_text(command);

		if (matches(search, command->name) || matches(search, command->aliases[0]) ||
		    matches(search, command->aliases[1]) || matches(search, command->usage) ||
		    matches(search, command->summary) || matches(search, text))
			found(search, family, command->name, command->summary);
		if (command->family)
			search_commands(search, command->family, "info ");
	}
}

static int run_apropos(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct search search = {.out = session->out};
	char *expression SCOPED(free) = args_join(args, 0);
	int result = args_compile(expression, REG_ICASE, &search.expression, err);

	if (result < 0)
		return -1;
	search_commands(&search, command_table, "");
	for (size_t i = 0; i < setting_option_table.num; i++) {
		const struct option_spec *setting = &setting_option_table.options[i];

		if (matches(&search, setting->name) || matches(&search, setting->help))
			found(&search, "set ", setting->name, setting->help);
	}
	for (const struct topic *topic = topic_table; topic->name; topic++)
		if (matches(&search, topic->name) || matches(&search, topic->summary) ||
		    matches(&search, topic->text))
			found(&search, "help ", topic->name, topic->summary);
	regfree(&search.expression);
	if (!search.num_found)
		result = error_set(err, ERROR_NOT_FOUND, "help has nothing about \"%s\"",
				   expression);
	return result;
}

const struct command cmd_help = {
	.name = "help",
	.aliases = {"h"},
	.topic = TOPIC_SHELL,
	.usage = "help [COMMAND [WORD] | TOPIC | all]",
	.summary = "Explain a command or a topic, or list them.",
	.text = "\"help all\" lists every command with what it does, \"help answers\" those of\n"
		"one group. Topics explain what commands have in common: how to write ranks,\n"
		"where output goes. You can shorten commands as long as they are unique.",
	.example = "help graph",
	.max_words = 2,
	.words = WORDS_COMMANDS,
	.run = run_help,
};

const struct command cmd_apropos = {
	.name = "apropos",
	.topic = TOPIC_SHELL,
	.usage = "apropos RE",
	.summary = "List what help has about a word.",
	.text = "RE is a regular expression. apropos searches the names and texts of commands,\n"
		"settings and topics, and ignores upper and lower case.",
	.example = "apropos 'deadlock|lost'",
	.min_words = 1,
	.max_words = -1,
	.run = run_apropos,
};
