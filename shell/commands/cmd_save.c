/* SPDX-License-Identifier: BSD-3-Clause
 * save, refresh: the snapshot. */
#include <unistd.h>

#include "model/job/job.h"
#include "shell/banner.h"
#include "shell/command.h"
#include "shell/line/editor.h"
#include "shell/session.h"
#include "shell/answers/keep_variables.h"
#include "shell/answers/stack_order.h"
#include "model/wire/share.h"

static int run_save(struct session *session, const struct args *args, struct pdb_error *err)
{
	const char *path = args->words[0];
	struct pdb_error trouble;

	if (access(path, F_OK) == 0 && !editor_confirm(session, "%s exists. Overwrite it?", path))
		return error_set(err, ERROR_USAGE, "not saved");
	/* If this fails, the rest is still worth saving. */
	if (stack_order_complete(session, &trouble) < 0)
		session_complain(&trouble);
	if (session_get_more(session, NULL, SHARE_TRACES, &trouble) < 0)
		session_complain(&trouble);
	keep_variables(session);
	if (snapshot_save(session->job, path, err) < 0)
		return -1;
	fprintf(session->out, "saved: look at it with \"pdb --load %s\"\n", path);
	return 0;
}

static int run_refresh(struct session *session, const struct args *args, struct pdb_error *err)
{
	(void)args;
	if (session_refresh(session, err) < 0)
		return -1;
	if (!session->is_batch)
		banner_print_moves(session, session->out);
	banner_print_holes(session, session->is_batch ? stderr : session->out);
	return 0;
}

const struct command cmd_save = {
	.name = "save",
	.topic = TOPIC_JOB,
	.usage = "save FILE",
	.summary = "Save the snapshot; pdb --load shows it anywhere.",
	.text = "The file holds the process table, models, traces, stack samples, all names and\n"
		"what order needs. To look at it you need neither the job nor its programs. It\n"
		"shows the job at the last look; \"refresh\" makes a new one.\n"
		"For print, locals and info args, save keeps variables, as text: those of up to\n"
		"four frames of the ranks that lp names (at most eight), and of one rank of each\n"
		"other group or place. It reads them when it is typed. A variable is left out if\n"
		"its rank has left the frame since the last look.\n"
		"To report a wrong answer, type \"set evidence all\" and \"refresh\" first. The\n"
		"file then holds all evidence that pdb uses, with a recorder or without.",
	.example = "save hang.pdb",
	.flags = CMD_NEEDS_JOB | CMD_ANSWERS | CMD_KEEPS,
	.min_words = 1,
	.max_words = 1,
	.words = WORDS_FILES,
	.run = run_save,
};

const struct command cmd_refresh = {
	.name = "refresh",
	.topic = TOPIC_JOB,
	.usage = "refresh",
	.summary = "Look at the job again.",
	.text = "refresh reads the models twice, samples stacks and repeats all analyses. If\n"
		"nothing is left of the job, the last snapshot stays.",
	.example = "refresh",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_LIVE,
	.run = run_refresh,
};
