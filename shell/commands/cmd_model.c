/* SPDX-License-Identifier: BSD-3-Clause
 * model: the Markov model of a rank. */
#include "render/view.h"
#include "shell/answers/answer.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"

const struct command cmd_model = {
	.name = "model",
	.topic = TOPIC_LOOKING,
	.usage = "model RANK",
	.summary = "Show the states of a rank and what followed each how often.",
	.text = "\"model RANK > FILE\" with .dot, .svg, .png or .pdf draws it as a graph.",
	.example = "model lp > model.svg",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_ANSWERS,
	.min_words = 1,
	.max_words = 2,
	.words = WORDS_RANK,
	.find = answer_take_model_rank,
	.views = {[FORMAT_TEXT] = view_model,
		  [FORMAT_JSON] = view_model_json,
		  [FORMAT_DOT] = view_model_dot},
};
