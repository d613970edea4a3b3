/* SPDX-License-Identifier: BSD-3-Clause
 * suspects, diff: how a bad run differs from a good one. */
#include "analysis/traces/trace_diff.h"
#include "analysis/traces/trace_suspects.h"
#include "model/interrupt.h"
#include "render/traces/trace_text.h"
#include "render/view.h"
#include "shell/options/args.h"
#include "shell/command.h"
#include "shell/session.h"
#include "shell/answers/traces_of.h"

/* Open two runs, maybe the same one twice. NULL and *err. */
static struct trace_answer *open_two(struct session *session, const char *const *words,
				     const struct traces_asked *asked,
				     const struct trace_input **inputs, struct answer *answer,
				     struct pdb_error *err)
{
	struct trace_answer *found = arena_alloc(answer->arena, sizeof(*found));
	struct trace_run runs[2];

	answer->compared = found;
	for (int i = 0; i < 2; i++) {
		inputs[i] = trace_input_open(session, words[i], NULL, answer, err);
		if (!inputs[i])
			return NULL;
		runs[i] = trace_input_run(inputs[i]);
		found->names[i] = words[i];
	}
	found->runs = trace_runs_create(answer->arena, runs, 2, &asked->runs);
	return interrupt_check(err) < 0 ? NULL : found;
}

static int find_suspects(struct session *session, const struct args *args, struct answer *answer,
			 struct pdb_error *err)
{
	const char *words[2] = {NULL, "."};
	const struct trace_input *inputs[2];
	const struct traces_asked *asked;
	const struct traces_options *o;
	struct trace_answer *found;
	struct args rest;

	asked = trace_options_take(session, args, TRACES_ATTRIBUTES | TRACES_LINKAGE, answer, &rest,
				   err);
	if (!asked)
		return -1;
	o = &asked->options;
	for (size_t i = 0; i < rest.num_words && i < 2; i++)
		words[i] = rest.words[i];
	if (!words[0])
		return error_set(err, ERROR_USAGE, "a snapshot of the good run is missing");
	if (args_end(&rest, 2, err) < 0)
		return -1;
	found = open_two(session, words, asked, inputs, answer, err);
	if (!found)
		return -1;
	found->suspects = trace_suspects_create(
		answer->arena, found->runs,
		o->kinds ? o->kinds
			 : ATTRIBUTE_ENTRY | ATTRIBUTE_PAIR | ATTRIBUTE_LOOP | ATTRIBUTE_END,
		o->frequencies
			? o->frequencies
			: 1u << FREQUENCY_NONE | 1u << FREQUENCY_ACTUAL | 1u << FREQUENCY_LOG10,
		(enum linkage)o->linkage);
	if (!found->suspects)
		return error_set(err, ERROR_NOT_FOUND, "no rank's main thread has a trace");
	return 0;
}

/* One side as the user named it. */
struct side {
	const char *file; /* ".": the session's job */
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

/* "3" or "3.1"; for the session's job also any other word that names a rank. */
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
	return error_set(err, ERROR_USAGE, "\"%s\" is no rank; give RANK or FILE:RANK", word);
}

static int take_side(struct session *session, const char *word, struct side *side,
		     struct answer *answer, struct pdb_error *err)
{
	const char *colon = strrchr(word, ':');

	side->file = colon && colon > word
			     ? arena_strndup(answer->arena, word, (size_t)(colon - word))
			     : ".";
	return take_thread(session, arena_strdup(answer->arena, colon ? colon + 1 : word),
			   strcmp(side->file, ".") == 0, side, err);
}

static const char *side_name(struct arena *arena, const struct side *side,
			     const struct trace_thread *thread)
{
	const char *number = trace_text_thread(arena, thread);

	return strcmp(side->file, ".") == 0
		       ? arena_printf(arena, "rank %s", number)
		       : arena_printf(arena, "rank %s of %s", number, side->file);
}

static int find_thread(const struct trace_runs *runs, uint32_t i, const struct side *side,
		       const struct trace_input *input, size_t *ret, struct pdb_error *err)
{
	ptrdiff_t found = trace_runs_find(runs, i, side->rank, side->thread);
	const struct traces_lane *lane;

	if (found >= 0) {
		*ret = (size_t)found;
		return 0;
	}
	lane = traces_find(input->traces, side->rank);
	return error_set(err, ERROR_NOT_FOUND, "%s%srank %d has no trace%s%s%s",
			 input->is_own ? side->file : "", input->is_own ? ": " : "", side->rank,
			 side->thread ? " of that thread" : "", lane && lane->note ? ": " : "",
			 lane && lane->note ? lane->note : "");
}

static int find_diff(struct session *session, const struct args *args, struct answer *answer,
		     struct pdb_error *err)
{
	struct side sides[2] = {{.file = NULL}, {.file = NULL}};
	const struct trace_input *inputs[2];
	struct traces_asked *asked;
	struct trace_answer *found;
	const uint32_t *roots;
	struct args rest;

	asked = trace_options_take(session, args, 0, answer, &rest, err);
	if (!asked)
		return -1;
	asked->runs.all_threads = true;
	if (rest.num_words != 2)
		return error_set(err, ERROR_USAGE, "give two ranks, of this job or as FILE:RANK");
	for (int i = 0; i < 2; i++)
		if (take_side(session, rest.words[i], &sides[i], answer, err) < 0)
			return -1;
	found = open_two(session, (const char *[]){sides[0].file, sides[1].file}, asked, inputs,
			 answer, err);
	for (uint32_t i = 0; found && i < 2; i++) {
		if (find_thread(found->runs, i, &sides[i], inputs[i], &found->threads[i], err) < 0)
			return -1;
		found->names[i] = side_name(answer->arena, &sides[i],
					    &found->runs->threads[found->threads[i]]);
	}
	if (!found)
		return -1;
	roots = found->runs->set->roots;
	found->diff = trace_diff_create(answer->arena, found->runs->set, roots[found->threads[0]],
					roots[found->threads[1]]);
	return 0;
}

const struct command cmd_suspects = {
	.name = "suspects",
	.topic = TOPIC_TRACES,
	.usage = "suspects GOOD [BAD] [OPTION...]",
	.summary = "Find the ranks that behave differently in a bad run, by traces.",
	.text = "GOOD and BAD are snapshots (\"save\") of runs with traces. \".\" is the present\n"
		"job. If you name only GOOD, the present job is BAD. The most suspicious rank is\n"
		"the one whose similarity to the others changed most. A change in all ranks\n"
		"accuses none.\n"
		"Without options, suspects compares entries, pairs and bodies, each with and\n"
		"without their frequency. It also compares where the traces of the bad run end.\n"
		"The runs may be of different builds: calls are the same if the same functions\n"
		"make them in the same order. If the numbers of ranks differ, pdb compares each\n"
		"rank with the most similar one of the good run. Save the good run at its end,\n"
		"or at rest.\n"
		"\"> FILE.json\" writes the answer as data.",
	.options = &traces_option_table,
	.users = TRACES_ATTRIBUTES | TRACES_LINKAGE,
	.example = "suspects good.pdb bad.pdb",
	.flags = CMD_ANSWERS,
	.min_words = 1,
	.max_words = -1,
	.words = WORDS_FILES,
	.find = find_suspects,
	.views = {[FORMAT_TEXT] = view_suspects, [FORMAT_JSON] = view_suspects_json},
};

const struct command cmd_diff = {
	.name = "diff",
	.topic = TOPIC_TRACES,
	.usage = "diff [FILE:]RANK [FILE:]RANK [OPTION...]",
	.summary = "Show how the traces of two ranks, or of two runs, differ.",
	.text = "The answer has two columns. What both did stands side by side, with loops and\n"
		"their counts. \"<\" and \">\" mark what only one side did, \"|\" what differs\n"
		"in its count. FILE is a snapshot; \".\" or no FILE is the present job. \"3.1\"\n"
		"is the second thread of rank 3. \"> FILE\" writes a picture (.dot, .svg, .png,\n"
		".pdf) or .json.",
	.options = &traces_option_table,
	.example = "diff good.pdb:3 bad.pdb:3",
	.flags = CMD_ANSWERS,
	.min_words = 2,
	.max_words = -1,
	.words = WORDS_FILE_RANKS,
	.find = find_diff,
	.views = {[FORMAT_TEXT] = view_diff,
		  [FORMAT_JSON] = view_diff_json,
		  [FORMAT_DOT] = view_diff_dot},
};
