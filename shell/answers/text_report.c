/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/verdict/verdict.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "shell/banner.h"
#include "shell/command.h"
#include "shell/session.h"
#include "shell/answers/text_report.h"

/* One command as the user would type it, its output among that of the others. */
static void report_command(struct session *session, const char *line)
{
	struct pdb_error err;

	fprintf(session->out, "\n---- %s\n\n", line);
	if (command_execute(session, line, &err) < 0)
		fprintf(session->out, "%s\n", err.text);
}

void text_report_write(struct session *session, const char *about, FILE *out)
{
	static const char *const lines[] = {"lp",   "groups", "waits",   "progress",
					    "tree", "bt lp",  "info job"};
	const struct verdict *verdict = session->verdict;
	int waiting = rankset_first(verdict->waiting), culprit = rankset_first(verdict->culprits);
	FILE *outer = session->out;
	char line[40];

	session->out = out;
	banner_print(session, out);
	banner_print_holes(session, out);
	if (about)
		fprintf(out, "%s\n", about);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		report_command(session, lines[i]);
	if (session->job->model && culprit >= 0) {
		snprintf(line, sizeof(line), "history %d 20", culprit);
		report_command(session, line);
	}
	if (session->job->model && waiting >= 0) {
		snprintf(line, sizeof(line), "why %d", waiting);
		report_command(session, line);
	}
	session->out = outer;
}
