/* SPDX-License-Identifier: BSD-3-Clause
 * suspects, diff: what a bad run does otherwise than a good one. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/traces/trace_diff.h"
#include "analysis/traces/trace_suspects.h"
#include "model/error.h"
#include "model/interrupt.h"
#include "model/xalloc.h"
#include "render/trace_text.h"
#include "render/view.h"
#include "shell/args.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/session.h"
#include "shell/trace_options.h"

static int run_suspects(struct session *session, const struct args *args, struct pdb_error *err);
static int run_diff(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_suspects = {
	.name = "suspects",
	.topic = TOPIC_ANSWERS,
	.usage = "suspects GOOD [BAD] [OPTION...]",
	.summary = "Tell which ranks behave differently in a bad run by their traces.",
	.text = "GOOD and BAD are snapshots (\"save\") of runs with traces; \".\" is the job "
		"here,\n"
		"and is BAD if only GOOD is named. Most suspicious is the rank whose similarity\n"
		"to the others has changed most. What has changed in all ranks accuses none. It\n"
		"is looked at by entries, pairs and bodies, each with and without how often they\n"
		"are, and by where the bad run's traces end, if options do not say which. Runs\n"
		"may be of different builds: calls are the same if the same functions make them\n"
		"in the same order. With other numbers of ranks each is compared with the most\n"
		"similar one of the good run, which is best saved at its end, or at "
		"rest.\n" TRACE_OPTIONS_ATTRIBUTES TRACE_OPTIONS_LINKAGE TRACE_OPTIONS_EVENTS
		"\n\"> FILE.json\" writes it as data.",
	.example = "suspects good.pdb bad.pdb",
	.flags = CMD_DATA | CMD_ANSWERS,
	.min_words = 1,
	.max_words = -1,
	.words = WORDS_FILES,
	.run = run_suspects,
};

const struct command cmd_diff = {
	.name = "diff",
	.topic = TOPIC_LOOKING,
	.usage = "diff [FILE:]RANK [FILE:]RANK [OPTION...]",
	.summary = "Show how the traces of two ranks, or of two runs, differ.",
	.text = "In two columns: what both did is side by side, with loops and how often they\n"
		"were; \"<\" and \">\" are what only one side did, \"|\" what was not as often. "
		"FILE is\n"
		"a snapshot, \".\" or nothing the job here. \"3.1\" is the second thread of rank "
		"3.\n" TRACE_OPTIONS_EVENTS
		"\n\"> FILE\" writes a picture (.dot, .svg, .png, .pdf) or .json.",
	.example = "diff good.pdb:3 bad.pdb:3",
	.flags = CMD_GRAPHIC | CMD_DATA | CMD_ANSWERS,
	.min_words = 2,
	.max_words = -1,
	.words = WORDS_FILE_RANKS,
	.run = run_diff,
};

/* Two runs, which may be the same one. */
struct two {
	struct trace_options options;
	struct trace_input inputs[2];
	struct trace_runs *runs;
};

static void close_two(struct two *two, struct args *rest)
{
	trace_runs_destroy(two->runs);
	trace_input_close(&two->inputs[0]);
	trace_input_close(&two->inputs[1]);
	trace_options_deinit(&two->options, rest);
}

static int open_two(struct session *session, const char *const *words, struct two *two,
		    struct pdb_error *err)
{
	struct trace_run runs[2];

	for (int i = 0; i < 2; i++) {
		if (trace_input_open(session, words[i], NULL, &two->inputs[i], err) < 0)
			return -1;
		runs[i] = trace_input_run(&two->inputs[i]);
	}
	two->runs = trace_runs_create(runs, 2, &two->options.runs);
	return interrupt_check(err);
}

/* ---- suspects ---- */

static int print_suspects(struct session *session, const struct two *two, struct pdb_error *err)
{
	const char *const names[] = {two->inputs[0].name, two->inputs[1].name};
	const struct trace_options *o = &two->options;
	struct view view = session_view(session);
	struct trace_suspects *suspects = trace_suspects_create(
		two->runs,
		o->kinds ? o->kinds
			 : ATTRIBUTE_ENTRY | ATTRIBUTE_PAIR | ATTRIBUTE_LOOP | ATTRIBUTE_END,
		o->frequencies
			? o->frequencies
			: 1u << FREQUENCY_NONE | 1u << FREQUENCY_ACTUAL | 1u << FREQUENCY_LOG10,
		o->linkage);

	if (!suspects)
		return error_set(err, ERROR_NOT_FOUND, "no rank's main thread has a trace");
	if (session->wants_data)
		view_suspects_json(&view, two->runs, suspects, names);
	else
		view_suspects(&view, two->runs, suspects, names, o->all);
	trace_suspects_destroy(suspects);
	return 0;
}

static int run_suspects(struct session *session, const struct args *args, struct pdb_error *err)
{
	const char *words[2] = {NULL, "."};
	struct two two = {.runs = NULL};
	struct args rest;
	int result;

	if (trace_options_take(session, args, TRACE_TAKES_ATTRIBUTES | TRACE_TAKES_LINKAGE,
			       &two.options, &rest, err) < 0)
		return -1;
	for (size_t i = 0; i < rest.num_words && i < 2; i++)
		words[i] = rest.words[i];
	if (!words[0])
		result = error_set(err, ERROR_USAGE, "a snapshot of the good run is missing");
	else
		result = args_end(&rest, 2, err);
	if (result == 0)
		result = open_two(session, words, &two, err);
	if (result == 0)
		result = print_suspects(session, &two, err);
	close_two(&two, &rest);
	return result;
}

/* ---- diff ---- */

/* A side as it was named. */
struct side {
	char *file; /* ".": the job here */
	int rank, thread;
};

static int take_number(const char **text, int *ret)
{
	char *end;
	long number;

	if (!isdigit((unsigned char)**text))
		return -1;
	number = strtol(*text, &end, 10);
	if (number > INT32_MAX)
		return -1;
	*text = end;
	*ret = (int)number;
	return 0;
}

/* "3" or "3.1"; of the job here any other word that stands for a rank. */
static int take_thread(struct session *session, char *word, bool is_here, struct side *side,
		       struct pdb_error *err)
{
	struct args one = {.words = &word, .num_words = 1};
	const char *at = word;
	size_t next = 0;

	if (take_number(&at, &side->rank) == 0) {
		if (*at == '.') {
			at++;
			if (take_number(&at, &side->thread) < 0)
				at = ".";
		}
		if (!*at)
			return 0;
	}
	if (is_here && session->job)
		return session_take_rank(session, &one, &next, &side->rank, err);
	return error_set(err, ERROR_USAGE, "\"%s\" is no rank; RANK or FILE:RANK is expected",
			 word);
}

static int take_side(struct session *session, const char *word, struct side *side,
		     struct pdb_error *err)
{
	const char *colon = strrchr(word, ':');
	char *rank = xstrdup(colon ? colon + 1 : word);
	int result;

	side->file = colon && colon > word ? xstrndup(word, (size_t)(colon - word)) : xstrdup(".");
	result = take_thread(session, rank, strcmp(side->file, ".") == 0, side, err);
	free(rank);
	return result;
}

static char *side_name(const struct side *side, const struct trace_thread *thread)
{
	char *number = trace_text_thread(thread), *name;

	if (strcmp(side->file, ".") == 0)
		name = xasprintf("rank %s", number);
	else
		name = xasprintf("rank %s of %s", number, side->file);
	free(number);
	return name;
}

static int find_trace(const struct two *two, int i, const struct side *side, size_t *ret,
		      struct pdb_error *err)
{
	ptrdiff_t found = trace_runs_find(two->runs, (uint32_t)i, side->rank, side->thread);
	const struct traces_lane *lane;

	if (found >= 0) {
		*ret = (size_t)found;
		return 0;
	}
	lane = traces_find(two->inputs[i].traces, side->rank);
	return error_set(err, ERROR_NOT_FOUND, "%s%srank %d%s has no trace%s%s",
			 two->inputs[i].is_own ? side->file : "", two->inputs[i].is_own ? ": " : "",
			 side->rank, side->thread ? ", of that thread," : "",
			 lane && lane->note ? ": " : "", lane && lane->note ? lane->note : "");
}

static int print_diff(struct session *session, const struct two *two, const struct side *sides,
		      struct pdb_error *err)
{
	struct trace_sides shown = {.runs = two->runs};
	const struct trace_set *set = two->runs->set;
	struct view view = session_view(session);
	struct trace_diff *diff;

	for (int i = 0; i < 2; i++)
		if (find_trace(two, i, &sides[i], &shown.threads[i], err) < 0)
			return -1;
	for (int i = 0; i < 2; i++)
		shown.names[i] = side_name(&sides[i], &two->runs->threads[shown.threads[i]]);
	shown.diff = diff =
		trace_diff_create(set, set->roots[shown.threads[0]], set->roots[shown.threads[1]]);
	if (session->wants_data)
		view_diff_json(&view, &shown);
	else if (session->wants_dot)
		view_diff_dot(&view, &shown);
	else
		view_diff(&view, &shown, two->options.all);
	trace_diff_destroy(diff);
	free((char *)shown.names[0]);
	free((char *)shown.names[1]);
	return 0;
}

static int run_diff(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct two two = {.runs = NULL};
	struct side sides[2] = {{.file = NULL}, {.file = NULL}};
	struct args rest;
	int result = 0;

	if (trace_options_take(session, args, 0, &two.options, &rest, err) < 0)
		return -1;
	two.options.runs.all_threads = true;
	if (rest.num_words != 2)
		result = error_set(err, ERROR_USAGE,
				   "two ranks are expected, of this job or FILE:RANK");
	for (int i = 0; i < 2 && result == 0; i++)
		result = take_side(session, rest.words[i], &sides[i], err);
	if (result == 0)
		result = open_two(session, (const char *[]){sides[0].file, sides[1].file}, &two,
				  err);
	if (result == 0)
		result = print_diff(session, &two, sides, err);
	free(sides[0].file);
	free(sides[1].file);
	close_two(&two, &rest);
	return result;
}
