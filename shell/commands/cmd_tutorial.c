/* SPDX-License-Identifier: BSD-3-Clause
 * tutorial: runs the first commands on the session's job and explains them. */
#include "analysis/verdict/verdict.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "shell/command.h"
#include "shell/line/editor.h"
#include "shell/interrupt.h"
#include "shell/session.h"

/* When a step makes sense. */
enum need {
	NEEDS_MODEL = 1 << 0,
	NEEDS_LIVE = 1 << 1,
	NEEDS_LEAST = 1 << 2,  /* a rank is behind */
	NEEDS_NONE = 1 << 3,   /* no rank is behind */
	NEEDS_WAITER = 1 << 4, /* and a rank waits */
};

struct step {
	unsigned needs;
	const char *text;
	const char *command; /* line to run; "%W": a rank that waits. NULL: only text */
};

static const struct step steps[] = {
	{0,
	 "Which job is this, how did pdb find it, and is the recorder in its ranks?\n"
	 "Without the recorder pdb goes by stacks, and by the messages that the MPI\n"
	 "library holds.",
	 "info job"},
	{NEEDS_LEAST,
	 "The first question about a job that hangs: who holds it up? The first line\n"
	 "names the ranks that the others wait for. Below are where these ranks are, in\n"
	 "which iteration of which loop, and the evidence. \"here for ... the longest stay\n"
	 "here before\" shows how unusual that is.",
	 "lp"},
	{NEEDS_NONE,
	 "The first question about a job that hangs: who holds it up? Here lp names\n"
	 "nobody, as in any job that moves. In a job that hangs, the first line names\n"
	 "the ranks that the others wait for.",
	 "lp"},
	{0,
	 "Who does what? Ranks of one row are in the same call path, and in the same\n"
	 "iteration of every loop around it. \"since\" shows for how long. In other\n"
	 "commands \"group 2\" names the ranks of the second row.",
	 "groups"},
	{NEEDS_LEAST | NEEDS_MODEL,
	 "This draws the groups: an arrow leads from those ahead to those behind.\n"
	 "\"graph > hang.svg\" writes it to a file.",
	 "graph"},
	{NEEDS_WAITER | NEEDS_MODEL,
	 "Why does rank %W wait? Each step names what the rank waits for, by the counted\n"
	 "messages and collectives, down to the cause.",
	 "why %W"},
	{NEEDS_NONE | NEEDS_MODEL,
	 "If a job crawls, ask: how far is each group in its loops, and who moved between\n"
	 "the two looks that pdb takes?",
	 "progress"},
	{NEEDS_MODEL,
	 "These are the loops of the iterations. pdb found them in what the ranks did,\n"
	 "not in the source.",
	 "loops"},
	{NEEDS_LEAST, "These are the merged stacks of the ranks that hold the others up.", "bt lp"},
	{NEEDS_NONE, "These are the merged stacks of all ranks. Each frame has its ranks.",
	 "bt all"},
	{NEEDS_LIVE | NEEDS_LEAST,
	 "To see variables, type \"gdb lp\". It puts gdb on that rank, on its own node, in\n"
	 "the first frame of your code. The rank stands still until you leave gdb. (The\n"
	 "tutorial does not do this.)",
	 NULL},
	{NEEDS_LIVE,
	 "All these answers are of one look at the job. \"refresh\" looks again; the\n"
	 "prompt shows when a look is old. \"save hang.pdb\" keeps the look: pdb --load\n"
	 "hang.pdb answers the same questions anywhere, also after the job's end.",
	 NULL},
	{0,
	 "This was the tutorial. \"help\" lists all commands, \"help ranks\" explains how to\n"
	 "write ranks, \"apropos WORD\" searches. Tab completes everything.",
	 NULL},
};

enum { NUM_STEPS = sizeof(steps) / sizeof(steps[0]) };

static unsigned what_is_here(struct session *session)
{
	const struct verdict *verdict = session->verdict;
	bool has_least = !rankset_is_empty(verdict->culprits);

	return (session->job->model ? NEEDS_MODEL : 0) |
	       (session->is_live && !session_has_ended(session) ? NEEDS_LIVE : 0) |
	       (has_least ? NEEDS_LEAST : NEEDS_NONE) |
	       (has_least && !rankset_is_empty(verdict->waiting) ? NEEDS_WAITER : 0);
}

/* The line with the rank in place of "%W". The caller frees. */
static char *fill_in(const char *text, int rank)
{
	char *all = xstrdup(text), *place;

	while ((place = strstr(all, "%W"))) {
		char *longer = xasprintf("%.*s%d%s", (int)(place - all), all, rank, place + 2);

		free(all);
		all = longer;
	}
	return all;
}

static void carry_out(struct session *session, const char *line)
{
	struct pdb_error err;

	if (session->execute(session, line, &err) < 0)
		session_complain(&err);
}

/* Ask whether to continue, and run lines that the user types in between. False: leave the tutorial.
 * Without a terminal it does not ask. */
static bool goes_on(struct session *session)
{
	struct line_source *source;

	if (!session->editor)
		return !interrupt_pending();
	source = editor_source(session->editor);
	for (;;) {
		char *line SCOPED(free) =
			source->next(source, "\nEnter goes on, q leaves, or type a command: ");
		const char *word = line ? line + strspn(line, " \t") : "q";
		bool is_empty = !*word, is_end = strcmp(word, "q") == 0 || session->wants_quit;

		if (!is_empty && !is_end)
			carry_out(session, word);
		if (is_empty || is_end || session->wants_quit)
			return is_empty;
	}
}

static int run_tutorial(struct session *session, const struct args *args, struct pdb_error *err)
{
	unsigned here = what_is_here(session);
	int waiter = rankset_first(session->verdict->waiting), number = 0, num = 0;

	(void)args;
	for (size_t i = 0; i < NUM_STEPS; i++)
		num += (steps[i].needs & here) == steps[i].needs;
	for (size_t i = 0; i < NUM_STEPS; i++) {
		char *text, *command;

		if ((steps[i].needs & here) != steps[i].needs)
			continue;
		if (number > 0 && !goes_on(session))
			break;
		text = fill_in(steps[i].text, waiter);
		fprintf(session->out, "\nStep %d of %d\n%s\n", ++number, num, text);
		free(text);
		if (!steps[i].command)
			continue;
		command = fill_in(steps[i].command, waiter);
		fprintf(session->out, "\n(pdb) %s\n", command);
		fflush(session->out);
		carry_out(session, command);
		free(command);
	}
	if (interrupt_pending())
		return error_set(err, ERROR_INTERRUPTED, "interrupted");
	return 0;
}

const struct command cmd_tutorial = {
	.name = "tutorial",
	.topic = TOPIC_SHELL,
	.usage = "tutorial",
	.summary = "Explain the first commands step by step, on this job.",
	.text = "Each step says what a command is for, and runs it. Then Enter goes on, q\n"
		"leaves, and any other line is a command to try. The tutorial stops no rank for\n"
		"longer than a stack sample, and writes no file. It also works with a snapshot:\n"
		"pdb --load FILE.",
	.example = "tutorial",
	.flags = CMD_NEEDS_JOB | CMD_TERMINAL | CMD_NO_REPEAT,
	.run = run_tutorial,
};
