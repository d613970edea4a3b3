/* SPDX-License-Identifier: BSD-3-Clause
 * safe-path: which projects' command files may be run. */
#include <stdio.h>

#include "model/error.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/session.h"

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
	.summary = "Allow the .pdbrc of a directory, and of those below it, to be run.",
	.text = "For the user's own file: the commands in a project's .pdbrc can start programs,\n"
		"so it is run at the start only if its directory was allowed there. Without\n"
		"DIRECTORY those that are allowed are listed. See \"help startup\".",
	.example = "safe-path ~/src/solver",
	.max_words = 1,
	.words = WORDS_FILES,
	.run = run_safe_path,
};
