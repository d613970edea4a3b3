/* SPDX-License-Identifier: BSD-3-Clause
 * report: an HTML page or text, for people who were not there. */
#include <unistd.h>

#include "shell/options/args.h"
#include "shell/command.h"
#include "shell/line/editor.h"
#include "shell/answers/report_file.h"
#include "shell/session.h"

static int run_report(struct session *session, const struct args *args, struct pdb_error *err)
{
	const char *path = args->words[0];
	struct pdb_error undrawn;

	if (access(path, F_OK) == 0 && !editor_confirm(session, "%s exists. Overwrite it?", path))
		return error_set(err, ERROR_USAGE, "not written: %s", path);
	if (report_file_write(session, path, NULL, &undrawn, err) < 0)
		return -1;
	if (undrawn.code != ERROR_NONE) {
		error_prefix(&undrawn, "%s has no pictures", path);
		session_complain(&undrawn);
	}
	fprintf(session->out, "written: %s\n", path);
	return 0;
}

const struct command cmd_report = {
	.name = "report",
	.topic = TOPIC_JOB,
	.usage = "report FILE",
	.summary = "Write an HTML page, or text, about the job, to mail to others.",
	.text = "FILE.html becomes a page with the verdict and its evidence, the progress graph,\n"
		"and each group with its stack and source. Below are loops, waits, collectives,\n"
		"merged stacks, the job, and what pdb cost it. The page is one file. It needs no\n"
		"other file and no JavaScript. It shows the source lines that pdb can read here\n"
		"and now. Any other FILE becomes text: the answers of lp, groups, waits, tree\n"
		"and others.",
	.example = "report hang.html",
	.flags = CMD_NEEDS_JOB | CMD_ANSWERS | CMD_KEEPS,
	.min_words = 1,
	.max_words = 1,
	.words = WORDS_FILES,
	.run = run_report,
};
