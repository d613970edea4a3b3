/* SPDX-License-Identifier: BSD-3-Clause
 * Lines at the prompt, carried out on a small job. Not those that start programs, write files or
 * look at processes: of these only what they make of their words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/arena.h"
#include "model/error.h"
#include "shell/options/args.h"
#include "shell/command.h"
#include "shell/line/complete.h"
#include "shell/output.h"
#include "shell/session.h"
#include "shell/options/options.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/whole_job.h"

static const char *const harmful[] = {"shell",    "source", "save",    "gdb",    "watch",
				      "sample",   "define", "refresh", "detach", "quit",
				      "suspects", "diff",   "report"};

static bool is_harmful(const struct command *command)
{
	for (size_t i = 0; i < NUM_OF(harmful); i++)
		if (!strcmp(command->name, harmful[i]))
			return true;
	return false;
}

/* Only what a line says, without doing it. */
static void read_only(struct session *session, const struct command *command, const char *rest)
{
	struct watch_options options = {.save = NULL};
	struct output output;
	struct pdb_error err;
	struct args *args;
	char *text;

	if (output_split(rest, command, &text, &output, &err) < 0)
		return;
	if (!args_parse(text, &args, &err)) {
		option_init(&watch_option_table, &options);
		option_take_all(&watch_option_table, 1u << ACTION_WATCH, args, &options, NULL,
				&err);
		args_destroy(args);
	}
	output_close(&output, session, false, NULL);
	free(text);
}

static void run_line(struct session *session, const char *line)
{
	const struct command *command;
	struct pdb_error err;
	const char *rest = line;
	struct arena *arena = arena_create();

	complete_line(arena, session, line, strlen(line));
	arena_destroy(arena);
	command_repeats(line);
	if (command_take(&rest, &command, &err) < 0 || command->flags & CMD_RAW)
		return;
	if (is_harmful(command) || strpbrk(line, "|>"))
		read_only(session, command, rest);
	else
		command_execute(session, line, &err);
}

static struct session *make_session(void)
{
	static struct session session;

	session_init(&session);
	session.execute = command_execute;
	session.out = fopen("/dev/null", "w");
	session.is_batch = true;
	return &session;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct session *session;
	static char path[] = "/tmp/fuzz_command.XXXXXX";
	struct pdb_error err;
	char *text = fuzz_text(bytes, size), *line, *state;

	if (!session) {
		struct job *job = whole_job_create(true);

		session = make_session();
		if (mkstemp(path) < 0 || snapshot_save(job, path, &err) < 0 ||
		    session_load(session, path, &err) < 0)
			abort();
		unlink(path);
		job_destroy(job);
	}
	for (line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state))
		run_line(session, line);
	free(text);
	return 0;
}
