/* SPDX-License-Identifier: BSD-3-Clause
 * source, define, safe-path: lines from files and under names. */
#include "shell/command.h"
#include "shell/script/script.h"
#include "shell/session.h"

static int run_source(struct session *session, const struct args *args, struct pdb_error *err)
{
	return script_run_file(session, args->words[0], err);
}

static bool is_own_command(const char *name)
{
	for (size_t i = 0; command_table[i]; i++)
		if (command_is_called(command_table[i], name, strlen(name)))
			return true;
	return false;
}

static bool is_end(const char *line)
{
	while (isblank((unsigned char)*line))
		line++;
	if (strncmp(line, "end", 3) != 0)
		return false;
	for (line += 3; isblank((unsigned char)*line); line++)
		;
	return !*line;
}

static int run_define(struct session *session, const struct args *args, struct pdb_error *err)
{
	const char *name = args->words[0];
	struct macro *macro;
	char *line;

	if (!macro_name_is_valid(name))
		return error_set(err, ERROR_USAGE,
				 "\"%s\" is no name: begin with a letter; letters, digits, - and _ "
				 "may follow",
				 name);
	if (is_own_command(name))
		return error_set(err, ERROR_USAGE,
				 "\"%s\" is a command of pdb; choose another name", name);
	if (!session->source)
		return error_set(err, ERROR_USAGE,
				 "define needs lines to follow it: put them all into a file, then "
				 "type: source FILE");
	macro = macro_create(name);
	while ((line = session->source->next(session->source, "> ")) && !is_end(line)) {
		macro_add_line(macro, line);
		free(line);
	}
	if (!line) {
		macro_destroy(macro);
		return error_set(err, ERROR_USAGE, "the \"end\" of \"define %s\" is missing", name);
	}
	free(line);
	macros_set(&session->macros, macro);
	return 0;
}

const struct command cmd_source = {
	.name = "source",
	.topic = TOPIC_SHELL,
	.usage = "source FILE",
	.summary = "Run the commands of a file.",
	.text = "The file has one command a line. pdb skips empty lines and lines that begin\n"
		"with #. It stops at the first command that fails, and names the file and the\n"
		"line.",
	.example = "source look.pdb",
	.flags = CMD_TERMINAL | CMD_NO_REPEAT,
	.min_words = 1,
	.max_words = 1,
	.words = WORDS_FILES,
	.run = run_source,
};

const struct command cmd_define = {
	.name = "define",
	.topic = TOPIC_SHELL,
	.usage = "define NAME",
	.summary = "Give a list of commands a name.",
	.text = "pdb keeps the lines that follow under NAME, until a line has only the word end.\n"
		"To run them, type NAME. In them $arg0, $arg1, ... stand for the words behind\n"
		"NAME, and $argc for their number. NAME cannot be a command of pdb.",
	.example = "define why0",
	.flags = CMD_TERMINAL | CMD_NO_REPEAT,
	.min_words = 1,
	.max_words = 1,
	.run = run_define,
};

static int run_safe_path(struct session *session, const struct args *args, struct pdb_error *err)
{
	if (args->num_words)
		return safe_paths_add(&session->safe_paths, args->words[0], err);
	for (size_t i = 0; i < session->safe_paths.num; i++)
		fprintf(session->out, "  %s\n", session->safe_paths.paths[i]);
	if (!session->safe_paths.num)
		fputs("  none\n", session->out);
	return 0;
}

const struct command cmd_safe_path = {
	.name = "safe-path",
	.topic = TOPIC_SHELL,
	.usage = "safe-path [DIRECTORY]",
	.summary = "Allow pdb to run the .pdbrc of a directory and of those below it.",
	.text = "Put this line into your own startup file. Commands in a project's .pdbrc can\n"
		"start programs, so pdb runs it only if you allowed its directory. Without\n"
		"DIRECTORY, safe-path lists the allowed ones. See \"help startup\".",
	.example = "safe-path ~/src/solver",
	.max_words = 1,
	.words = WORDS_FILES,
	.run = run_safe_path,
};
