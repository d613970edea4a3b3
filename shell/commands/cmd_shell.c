/* SPDX-License-Identifier: BSD-3-Clause
 * shell, echo, quit: around the debugging. */
#include "shell/start/child.h"
#include "shell/command.h"
#include "shell/session.h"

static int run_shell(struct session *session, const struct args *args, struct pdb_error *err)
{
	const char *argv[] = {"sh", "-c", args->rest, NULL};
	int status;

	return child_run(argv, NULL, session->out_fd, NULL, &status, err);
}

static int run_echo(struct session *session, const struct args *args, struct pdb_error *err)
{
	(void)err;
	for (size_t i = 0; i < args->num_words; i++)
		fprintf(session->out, "%s%s", i ? " " : "", args->words[i]);
	putc('\n', session->out);
	return 0;
}

static int run_quit(struct session *session, const struct args *args, struct pdb_error *err)
{
	(void)args;
	(void)err;
	session->wants_quit = true;
	return 0;
}

const struct command cmd_shell = {
	.name = "shell",
	.aliases = {"!"},
	.topic = TOPIC_SHELL,
	.usage = "shell COMMAND",
	.summary = "Run a command of the system's shell.",
	.text = "The whole line goes to sh as it is. \"!COMMAND\" does the same.",
	.example = "shell ps x",
	.flags = CMD_RAW,
	.min_words = 1,
	.words = WORDS_FILES,
	.run = run_shell,
};

const struct command cmd_echo = {
	.name = "echo",
	.topic = TOPIC_SHELL,
	.usage = "echo [WORD...]",
	.summary = "Print its words.",
	.text = "Command files use it to say what they do.",
	.example = "echo \"who it is:\"",
	.max_words = -1,
	.run = run_echo,
};

const struct command cmd_quit = {
	.name = "quit",
	.aliases = {"exit"},
	.topic = TOPIC_SHELL,
	.usage = "quit",
	.summary = "Leave pdb; the job goes on.",
	.text = "Ctrl-D does the same. A job that pdb attached to goes on. If \"pdb run\" started\n"
		"the job and it still runs, pdb asks whether to end it: y ends it, n lets it go\n"
		"on. The exit status says what the last look found: \"help status\".",
	.example = "quit",
	.flags = CMD_NO_REPEAT,
	.run = run_quit,
};
