/* SPDX-License-Identifier: BSD-3-Clause
 * graph, history, loops, model, progress: answers from the models. */
#include "model/job/rankset.h"
#include "model/wire/share.h"
#include "render/view.h"
#include "shell/answers/answer.h"
#include "shell/command.h"
#include "shell/options/args.h"
#include "shell/options/options.h"
#include "shell/session.h"

const struct command cmd_graph = {
	.name = "graph",
	.topic = TOPIC_ANSWERS,
	.usage = "graph",
	.summary = "Draw which groups are ahead of which.",
	.text = "An arrow leads from a group to a less progressed one. The groups at the ends\n"
		"are the least progressed. \"graph > FILE\" draws a picture if FILE ends in\n"
		".dot, .svg, .png or .pdf.",
	.example = "graph > hang.svg",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_ANSWERS,
	.views = {[FORMAT_TEXT] = view_graph,
		  [FORMAT_JSON] = view_graph_json,
		  [FORMAT_DOT] = view_graph_dot},
};

static int find_history(struct session *session, const struct args *args, struct answer *answer,
			struct pdb_error *err)
{
	struct rankset *ranks;
	size_t next = 0;
	long count = 0;

	if (session_take_model_rank(session, args, &next, &answer->rank, err) < 0 ||
	    (next < args->num_words &&
	     args_take_number(args, &next, "count", 1, 1 << 20, &count, err) < 0) ||
	    args_end(args, next, err) < 0)
		return -1;
	answer->count = (int)count;
	ranks = rankset_in(answer->arena, rankset_create());
	rankset_add(ranks, answer->rank);
	return session_get_more(session, ranks, SHARE_DETAILS, err);
}

const struct command cmd_history = {
	.name = "history",
	.topic = TOPIC_LOOKING,
	.usage = "history RANK [COUNT]",
	.summary = "List the last MPI calls of a rank, with times.",
	.text = "history lists the last COUNT transitions, or as many as fit the screen. The\n"
		"recorder keeps some thousands of them for each thread.",
	.example = "history 3 20",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_ANSWERS,
	.min_words = 1,
	.max_words = 3,
	.words = WORDS_RANK,
	.find = find_history,
	.views = {[FORMAT_TEXT] = view_history, [FORMAT_JSON] = view_history_json},
};

const struct command cmd_loops = {
	.name = "loops",
	.topic = TOPIC_LOOKING,
	.usage = "loops",
	.summary = "Show the loops around MPI calls, with iteration counts.",
	.text = "pdb finds loops in what the ranks did, not in the source. It counts iterations\n"
		"since the enclosing loop began its present iteration; the first is 1. \"about\"\n"
		"marks counts that are totals. One call may begin a loop and another loop inside\n"
		"it. The machine code shows whether there are two. If pdb cannot read the code,\n"
		"it counts them as one. \"loops > FILE\" draws a picture if FILE ends in .dot,\n"
		".svg, .png or .pdf.",
	.example = "loops",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_ANSWERS,
	.views = {[FORMAT_TEXT] = view_loops,
		  [FORMAT_JSON] = view_loops_json,
		  [FORMAT_DOT] = view_loops_dot},
};

static int find_model(struct session *session, const struct args *args, struct answer *answer,
		      struct pdb_error *err)
{
	struct model_options options = {.is_full = false};
	struct args rest;
	int result = option_take_all(&model_option_table, 0, args, &options, &rest, err);

	arena_keep(answer->arena, rest.words, free);
	answer->is_full = options.is_full;
	return result < 0 ? -1 : answer_take_model_rank(session, &rest, answer, err);
}

const struct command cmd_model = {
	.name = "model",
	.topic = TOPIC_LOOKING,
	.usage = "model RANK [--all]",
	.summary = "Show the states of a rank, and how often one followed another.",
	.text = "A state is an MPI call, or what the rank computes after one. model shows the\n"
		"present state, and those in the loops that the rank is in. \"model RANK > FILE\"\n"
		"with .dot, .svg, .png or .pdf draws all states as a graph.",
	.example = "model lp > model.svg",
	.options = &model_option_table,
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_ANSWERS,
	.min_words = 1,
	.max_words = 3,
	.words = WORDS_RANK,
	.find = find_model,
	.views = {[FORMAT_TEXT] = view_model,
		  [FORMAT_JSON] = view_model_json,
		  [FORMAT_DOT] = view_model_dot},
};

const struct command cmd_progress = {
	.name = "progress",
	.topic = TOPIC_ANSWERS,
	.usage = "progress",
	.summary = "Show how far each group got in the loops, as bars.",
	.text = "progress also shows which ranks moved between the two looks. So you see\n"
		"stragglers before anything hangs. \"refresh\" looks again.",
	.example = "progress",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_ANSWERS,
	.views = {[FORMAT_TEXT] = view_progress, [FORMAT_JSON] = view_progress_json},
};
