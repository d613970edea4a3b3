/* SPDX-License-Identifier: BSD-3-Clause
 * tutorial: the first commands, carried out and explained on the job that is here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/verdict/verdict.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "shell/command.h"
#include "shell/line/editor.h"
#include "shell/interrupt.h"
#include "shell/session.h"

/* When a step makes sense. */
enum need {
	NEEDS_MODEL = 1 << 0,
	NEEDS_LIVE = 1 << 1,
	NEEDS_LEAST = 1 << 2,  /* somebody is behind */
	NEEDS_NONE = 1 << 3,   /* nobody is */
	NEEDS_WAITER = 1 << 4, /* and somebody waits */
};

struct step {
	unsigned needs;
	const char *text;
	const char *command; /* carried out; "%W" is a rank that waits. NULL: only told */
};

static const struct step steps[] = {
	{0,
	 "Which job is it, how was it found, and is the recorder in its ranks? Without the\n"
	 "recorder pdb goes by stacks alone.",
	 "info job"},
	{NEEDS_LEAST,
	 "The first question to a job that hangs. The first line is the answer: the ranks\n"
	 "that the others wait for. Below it: where they are, in which iteration of which\n"
	 "loop, and the evidence. \"here for ... the longest stay here before\" says how\n"
	 "unusual that is.",
	 "lp"},
	{NEEDS_NONE,
	 "The first question to a job that hangs: who holds it up? Here nobody does, and\n"
	 "pdb accuses nobody of a job that moves. Of one that hangs the first line names\n"
	 "the ranks that the others wait for.",
	 "lp"},
	{0,
	 "Who does what? Ranks of a row are in the same call path, and in the same\n"
	 "iteration of every loop around it; \"since\" is how long. In other commands\n"
	 "\"group 2\" stands for the ranks of the second row.",
	 "groups"},
	{NEEDS_LEAST | NEEDS_MODEL,
	 "The same as a picture: an arrow goes from those who are ahead to those who are\n"
	 "behind. \"graph > hang.svg\" makes a file of it.",
	 "graph"},
	{NEEDS_WAITER | NEEDS_MODEL,
	 "Why does rank %W wait? Each step names what is waited for, by the messages and\n"
	 "collectives that were counted, down to the cause.",
	 "why %W"},
	{NEEDS_NONE | NEEDS_MODEL,
	 "A job that crawls: how far is each group in its loops, and who moved between the\n"
	 "two looks that pdb takes?",
	 "progress"},
	{NEEDS_MODEL,
	 "The loops that these iterations are of. They were found in what the ranks did,\n"
	 "not in the source.",
	 "loops"},
	{NEEDS_LEAST, "The stacks of the ranks that hold the others up, merged.", "bt lp"},
	{NEEDS_NONE, "The stacks of all ranks, merged: which ranks are at which frame.", "bt all"},
	{NEEDS_LIVE | NEEDS_LEAST,
	 "For its variables: \"gdb lp\" puts gdb on that rank, on its own node, in the first\n"
	 "frame of your code. It stands still until you leave gdb. (Not done here.)",
	 NULL},
	{NEEDS_LIVE,
	 "All this is about one look at the job. \"refresh\" looks again; the prompt tells\n"
	 "when a look is old. \"save hang.pdb\" keeps it: pdb --load hang.pdb answers the\n"
	 "same questions anywhere, when the job is long gone.",
	 NULL},
	{0,
	 "That was the tutorial. \"help\" lists all commands, \"help ranks\" tells how ranks are\n"
	 "written, \"apropos WORD\" searches. Tab completes everything.",
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

/* With the rank in the place of "%W". The caller frees. */
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

/* Ask to go on, or carry out commands in between. False: leave. No terminal: nobody is asked. */
static bool goes_on(struct session *session)
{
	struct line_source *source;

	if (!session->editor)
		return !interrupt_pending();
	source = editor_source(session->editor);
	for (;;) {
		char *line = source->next(source, "\n(Enter: go on, q: leave, or a command) ");
		const char *word = line ? line + strspn(line, " \t") : "q";
		bool is_empty = !*word, is_end = strcmp(word, "q") == 0 || session->wants_quit;

		if (!is_empty && !is_end)
			carry_out(session, word);
		free(line);
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
	.summary = "Explain the first commands step by step, on the job that is here.",
	.text = "Each step says what a command is for and carries it out. Then Enter goes on, q\n"
		"leaves, and anything else is a command to try in between. Nothing that it does\n"
		"stops a rank for longer than a stack sample, and no file is written. Any\n"
		"snapshot will do as well: pdb --load FILE.",
	.example = "tutorial",
	.flags = CMD_NEEDS_JOB | CMD_TERMINAL | CMD_NO_REPEAT,
	.run = run_tutorial,
};
